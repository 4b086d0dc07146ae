//! Shows the effect of each threshold on a history: how much is recalled for its questions, and for
//! how many questions nothing is. Rendered as a table and as a picture.

use std::fmt::Write as _;

use crate::memory::recall::rank::least_best;

/// The thresholds shown, in ascending order.
pub const THRESHOLDS: [f64; 12] = [
    0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8,
];

/// Counts over the questions of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    questions: usize,
    /// Number of exchanges recalled in total, by threshold.
    exchanges: [usize; THRESHOLDS.len()],
    /// Number of questions for which nothing is recalled, by threshold.
    silent: [usize; THRESHOLDS.len()],
}

/// The effect of one threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdPoint {
    pub threshold: f64,
    /// Mean number of exchanges recalled per question.
    pub exchanges: f64,
    /// Share of the questions for which nothing is recalled.
    pub silent: f64,
}

impl Curve {
    /// Adds a question, given the probabilities of what is recalled for it at the lowest threshold.
    pub fn add(&mut self, probabilities: &[f64]) {
        self.questions += 1;
        let counts = self.exchanges.iter_mut().zip(&mut self.silent);
        let best = probabilities.iter().copied().fold(0.0, f64::max);
        for ((exchanges, silent), threshold) in counts.zip(THRESHOLDS) {
            let recalled = if best < least_best(threshold) {
                0
            } else {
                probabilities
                    .iter()
                    .filter(|one| **one >= threshold)
                    .count()
            };
            *exchanges += recalled;
            *silent += usize::from(recalled == 0);
        }
    }

    /// Number of questions asked.
    pub fn questions(&self) -> usize {
        self.questions
    }

    /// One point per threshold, ascending.
    pub fn points(&self) -> Vec<ThresholdPoint> {
        let questions = self.questions.max(1) as f64;
        let counts = self.exchanges.iter().zip(&self.silent);
        counts
            .zip(THRESHOLDS)
            .map(|((&exchanges, &silent), threshold)| ThresholdPoint {
                threshold,
                exchanges: exchanges as f64 / questions,
                silent: silent as f64 / questions,
            })
            .collect()
    }

    /// One line per threshold; the one in use is marked.
    pub fn table(&self, in_use: f64) -> String {
        let mut table = "threshold  exchanges a question  nothing recalled\n".to_owned();
        for point in self.points() {
            let mark = if (point.threshold - in_use).abs() < 1e-9 {
                "  <- in use"
            } else {
                ""
            };
            let _ = writeln!(
                table,
                "{:>9.3}  {:>20.2}  {:>14.0} %{mark}",
                point.threshold,
                point.exchanges,
                point.silent * 100.0
            );
        }
        table
    }

    /// An SVG picture of both lines over the threshold, with the one in use marked.
    pub fn svg(&self, embedder: &str, in_use: f64) -> String {
        let points = self.points();
        let most = points.iter().map(|point| point.exchanges);
        let most = top(most.fold(0.0, f64::max));
        let exchanges = points.iter().map(|point| point.exchanges / most);
        let exchanges = line(&points, exchanges, "#1f5fa8");
        let silent = line(&points, points.iter().map(|point| point.silent), "#b8541a");
        let (mark, grid) = (across(in_use), grid(most));
        let (questions, embedder) = (self.questions, escaped(embedder));
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 420" font-family="sans-serif" font-size="12">
<rect width="720" height="420" fill="white"/>
<text x="360" y="24" text-anchor="middle" font-size="15">Recall by {embedder}: {questions} questions of the history</text>
{grid}<line x1="{mark:.1}" y1="50" x2="{mark:.1}" y2="350" stroke="#888888" stroke-dasharray="4 4"/>
<text x="{mark:.1}" y="46" text-anchor="middle" fill="#555555">in use: {in_use}</text>
{exchanges}{silent}<text x="360" y="392" text-anchor="middle">threshold (probability, logarithmic)</text>
<text x="60" y="410" fill="#1f5fa8">exchanges recalled a question (left)</text>
<text x="660" y="410" text-anchor="end" fill="#b8541a">questions with nothing recalled (right)</text>
</svg>
"##
        )
    }
}

/// The top of the left axis, chosen so that its quarters are short numbers.
fn top(most: f64) -> f64 {
    if most <= 2.0 {
        most.ceil().max(1.0)
    } else {
        (most / 4.0).ceil() * 4.0
    }
}

/// A line with a dot at each measured point.
fn line(points: &[ThresholdPoint], heights: impl Iterator<Item = f64>, colour: &str) -> String {
    let (mut line, mut dots) = (String::new(), String::new());
    for (point, height) in points.iter().zip(heights) {
        let (x, y) = (across(point.threshold), down(height));
        let _ = write!(line, "{x:.1},{y:.1} ");
        let _ = writeln!(
            dots,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#
        );
    }
    let line = line.trim_end();
    format!(
        "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n{dots}"
    )
}

/// The horizontal position of a threshold.
fn across(threshold: f64) -> f64 {
    let (least, most) = (THRESHOLDS[0].ln(), 0.0);
    let share = (threshold.max(THRESHOLDS[0]).ln() - least) / (most - least);
    60.0 + 600.0 * share.min(1.0)
}

/// The vertical position of a share of the height.
fn down(share: f64) -> f64 {
    350.0 - 300.0 * share
}

fn grid(most: f64) -> String {
    let mut grid = String::new();
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        let (y, left, right) = (down(share), share * most, share * 100.0);
        let middle = y + 4.0;
        let _ = write!(
            grid,
            r##"<line x1="60" y1="{y}" x2="660" y2="{y}" stroke="#dddddd"/>
<text x="54" y="{middle}" text-anchor="end" fill="#1f5fa8">{left}</text>
<text x="666" y="{middle}" fill="#b8541a">{right:.0} %</text>
"##
        );
    }
    for threshold in [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0] {
        let x = across(threshold);
        let _ = writeln!(
            grid,
            r#"<text x="{x:.1}" y="370" text-anchor="middle">{threshold}</text>"#
        );
    }
    grid
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_threshold_recalls_less() {
        let mut curve = Curve::default();
        curve.add(&[0.9, 0.025, 0.004]);
        curve.add(&[]);
        let points = curve.points();
        let at = |threshold: f64| {
            let mut points = points.iter();
            *points.find(|one| one.threshold == threshold).unwrap()
        };
        assert_eq!((at(0.002).exchanges, at(0.002).silent), (1.5, 0.5));
        assert_eq!((at(0.02).exchanges, at(0.8).exchanges), (1.0, 0.5));
        let table = curve.table(0.02);
        assert!(
            table.contains("1.00              50 %  <- in use"),
            "{table}"
        );
    }

    #[test]
    fn the_picture_is_whole_whatever_it_shows() {
        for curve in [Curve::default(), {
            let mut curve = Curve::default();
            curve.add(&[1.0; 20]);
            curve
        }] {
            let svg = curve.svg("a<b>&\u{1}", 0.0);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("a&lt;b>&amp;:"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.matches("<circle").count(), 2 * THRESHOLDS.len());
        }
        assert_eq!(
            [0.0, 0.6, 1.3, 2.1, 19.9].map(top),
            [1.0, 1.0, 2.0, 4.0, 20.0]
        );
    }
}

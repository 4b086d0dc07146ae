//! Formats a report for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use muninn::memory::evaluation::compare::{ComparisonResult, Difference, Interval};
use muninn::memory::evaluation::figures::{Figure, Figures, Share};
use muninn::memory::evaluation::report::{EvaluationRun, Report};
use muninn::memory::evaluation::{RelevanceSignal, Replayed};
use muninn_platform::count_with_noun;
use serde::Serialize;
use serde_json::{Value, json};

use super::findings::ReportFindings;

/// Maximum channels and weeks in a table; JSON has all.
const MOST_CHANNELS: usize = 20;
const MOST_WEEKS: usize = 13;
/// Maximum questions shown for which nothing was found.
const MOST_MISSED: usize = 20;

/// The results of questions that were asked again.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct ReplayResults {
    questions: usize,
    found: f64,
    /// The mean reciprocal rank.
    place: Option<f64>,
    meaning: Option<f64>,
    tokens: f64,
}

impl ReplayResults {
    fn of<'a>(replayed: impl Iterator<Item = &'a Replayed>) -> Option<Self> {
        let replayed: Vec<&Replayed> = replayed.collect();
        let mean = |values: Vec<f64>| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let has_target = replayed.iter().filter(|it| !it.kind.has_nothing());
        Some(Self {
            questions: replayed.len(),
            found: Share::of(
                replayed.iter().filter(|it| it.found).count(),
                replayed.len(),
            )
            .value()?,
            place: mean(has_target.map(|it| it.rank).collect()),
            meaning: mean(replayed.iter().filter_map(|it| it.meaning).collect()),
            tokens: mean(replayed.iter().map(|it| it.tokens as f64).collect())?,
        })
    }

    fn by<K: Ord>(run: &EvaluationRun, key: impl Fn(&Replayed) -> K) -> BTreeMap<K, Self> {
        let keys: BTreeSet<K> = run.replayed.iter().map(&key).collect();
        let of = |wanted: K| {
            let own = run.replayed.iter().filter(|it| key(it) == wanted);
            Some((Self::of(own)?, wanted))
        };
        let all = keys.into_iter().filter_map(of);
        all.map(|(asked, key)| (key, asked)).collect()
    }
}

pub(super) fn text(report: &Report, found: &ReportFindings) -> String {
    let mut out = head(report);
    out.push_str("\n\nWhat happened");
    for figure in Figure::ALL {
        let share = report.total.get(figure);
        if share.whole > 0 {
            let _ = write!(out, "\n  {:<52}{:>18}", figure.label(), counts(share));
        }
    }
    for run in &report.runs {
        out.push_str("\n\n");
        out.push_str(&asked_again(run));
    }
    let channels = report.channels.iter();
    let mut channels: Vec<(&String, &Figures)> = channels.collect();
    channels.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.answers()));
    channels.truncate(MOST_CHANNELS);
    let by_channel = parts(report, |it| it.channel.clone(), &channels);
    let weeks: Vec<(&String, &Figures)> = report.weeks.iter().rev().take(MOST_WEEKS).collect();
    let by_week = parts(report, |it| it.week.clone(), &weeks);
    for (title, rows) in [("By channel", &by_channel), ("By week", &by_week)] {
        if !rows.is_empty() {
            let _ = write!(out, "\n\n{}", table(title, rows));
        }
    }
    if let [_, with] = &report.runs[..] {
        let title = format!("As deployed, and with {}", with.name);
        out.push_str(&differences(&title, &found.with));
    }
    if let Some(against) = &found.against {
        out.push_str(&differences("The earlier report, and since then", against));
    }
    for sentence in sentences(found) {
        let _ = write!(out, "\n\n{sentence}");
    }
    out
}

fn head(report: &Report) -> String {
    let day = |at: Option<chrono::DateTime<chrono::Utc>>| {
        at.map(|at| at.format("%Y-%m-%d").to_string())
            .unwrap_or_default()
    };
    format!(
        "{} in {}, {} to {}",
        count_with_noun(
            usize::try_from(report.total.answers()).unwrap_or_default(),
            "answer"
        ),
        count_with_noun(report.channels.len(), "channel"),
        day(report.first),
        day(report.last)
    )
}

/// "31 of 35, 89 %".
fn counts(share: Share) -> String {
    format!(
        "{} of {} {:>6}",
        share.part,
        share.whole,
        percent(share.value())
    )
}

fn percent(part: Option<f64>) -> String {
    part.map_or("-".to_owned(), |part| format!("{:.0} %", part * 100.0))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}

fn asked_again(run: &EvaluationRun) -> String {
    let with = match run.name.as_str() {
        "" => "Asked again, of what was known then".to_owned(),
        name => format!("Asked again with {name}"),
    };
    let columns = ["questions", "found", "place", "meaning", "tokens"];
    let mut out = String::new();
    if run.replayed.is_empty() {
        let _ = write!(out, "{with}: no questions");
    } else {
        let _ = write!(out, "{with:<48}");
        for column in columns {
            let _ = write!(out, "{column:>11}");
        }
    }
    let mut line = |name: &str, asked: ReplayResults| {
        let cells = [
            asked.questions.to_string(),
            percent(Some(asked.found)),
            number(asked.place),
            number(asked.meaning),
            format!("{:.0}", asked.tokens),
        ];
        let _ = write!(out, "\n  {name:<46}");
        for cell in cells {
            let _ = write!(out, "{cell:>11}");
        }
    };
    for (kind, asked) in ReplayResults::by(run, |it| it.kind.clone()) {
        line(&kind.label(), asked);
    }
    if let Some(all) = ReplayResults::of(run.replayed.iter()) {
        line("all", all);
    }
    let embedder = &run.embedder;
    let _ = write!(out, "\n  embedder {}", embedder.name);
    let sense = embedder.sense_now.or(embedder.sense_kept);
    if let Some(Interval {
        mean,
        low,
        high,
        of,
    }) = sense
    {
        let _ = write!(
            out,
            ": alike by words is near by meaning, {mean:.2} ({low:.2} to {high:.2} of {of}; 0.5 is chance)"
        );
    }
    out
}

/// A table row for a channel or a week: outcomes, and results of questions asked again.
struct ReportRow {
    name: String,
    figures: Figures,
    asked: Option<ReplayResults>,
}

fn parts(
    report: &Report,
    key: impl Fn(&Replayed) -> String,
    all: &[(&String, &Figures)],
) -> Vec<ReportRow> {
    let asked = report.runs.first().map(|run| ReplayResults::by(run, key));
    let asked = asked.unwrap_or_default();
    let part = |(name, figures): &(&String, &Figures)| ReportRow {
        name: (*name).clone(),
        figures: (*figures).clone(),
        asked: asked.get(*name).copied(),
    };
    all.iter().map(part).collect()
}

fn table(title: &str, parts: &[ReportRow]) -> String {
    let columns = [
        "answers",
        "good",
        "again",
        "silent",
        "used",
        "outdated",
        "questions",
        "found",
        "meaning",
    ];
    let mut out = format!("{title:<30}");
    for column in columns {
        let _ = write!(out, "{column:>10}");
    }
    for ReportRow {
        name,
        figures,
        asked,
    } in parts
    {
        let of = |figure| percent(figures.get(figure).value());
        let cells = [
            figures.answers().to_string(),
            of(Figure::RatedGood),
            of(Figure::AskedAgain),
            of(Figure::Silent),
            of(Figure::Used),
            of(Figure::Outdated),
            asked.map_or("-".to_owned(), |it| it.questions.to_string()),
            percent(asked.map(|it| it.found)),
            number(asked.and_then(|it| it.meaning)),
        ];
        let _ = write!(out, "\n  {name:<28}");
        for cell in cells {
            let _ = write!(out, "{cell:>10}");
        }
    }
    out
}

fn differences(title: &str, differences: &[Difference]) -> String {
    let columns = ["before", "after", "difference (99 %)"];
    let mut out = format!(
        "\n\n{title:<52}{:>9}{:>9}  {}",
        columns[0], columns[1], columns[2]
    );
    for it in differences {
        let verdict = match it.verdict {
            ComparisonResult::Same => "may be the same",
            ComparisonResult::Better => "better",
            ComparisonResult::Worse => "WORSE",
            ComparisonResult::TooFew => "too few to tell",
        };
        let Interval {
            mean,
            low,
            high,
            of,
        } = it.difference;
        let _ = write!(
            out,
            "\n  {:<50}{:>9.2}{:>9.2}  {mean:+.2} ({low:+.2} to {high:+.2}, of {of}): {verdict}",
            it.figure, it.before, it.after
        );
    }
    if differences.is_empty() {
        out.push_str("\n  nothing can be compared");
    }
    out
}

/// Returns sentences about what is broken, what is worse, and what may help.
fn sentences(found: &ReportFindings) -> Vec<String> {
    let broken = found.broken.iter().map(|it| format!("PROBLEM  {it}"));
    let worse = found.regressions().map(|it| {
        let Interval { mean, low, high, of } = it.difference;
        let least = low.abs().min(high.abs());
        format!(
            "REGRESSION  {}: {:.2} before, {:.2} now, of {of}; the difference is {:.2}, and at least {least:.2} with 99 % confidence",
            it.figure,
            it.before,
            it.after,
            mean.abs()
        )
    });
    let advice = found.advice.iter().map(|it| format!("note  {it}"));
    broken.chain(worse).chain(advice).collect()
}

/// `shows_missed`: with the questions for which nothing was found.
pub(super) fn json(report: &Report, found: &ReportFindings, shows_missed: bool) -> Value {
    let run = |run: &EvaluationRun| {
        let kind = |kind: &RelevanceSignal| kind.label();
        json!({
            "with": run.name,
            "is_by_words": run.is_by_words,
            "embedder": run.embedder,
            "all": ReplayResults::of(run.replayed.iter()),
            "kinds": ReplayResults::by(run, |it| kind(&it.kind)),
            "channels": ReplayResults::by(run, |it| it.channel.clone()),
            "weeks": ReplayResults::by(run, |it| it.week.clone()),
        })
    };
    let mut json = json!({
        "made_at": report.made_at,
        "muninn": report.muninn,
        "first": report.first,
        "last": report.last,
        "total": report.total,
        "channels": report.channels,
        "weeks": report.weeks,
        "asked_again": report.runs.iter().map(run).collect::<Vec<Value>>(),
        "with": found.with,
        "against": found.against,
        "broken": found.broken,
        "notes": found.advice,
        "is_well": found.is_well(),
    });
    if shows_missed {
        let missed = missed(report).map(|it| {
            let [asked, expected] = &it.words;
            json!({
                "channel": it.channel, "kind": it.kind.label(), "asked": asked,
                "should_find": expected,
            })
        });
        json["not_found"] = missed.collect();
    }
    json
}

/// The questions for which nothing was found.
fn missed(report: &Report) -> impl Iterator<Item = &Replayed> {
    let runs = report.runs.first();
    let replayed = runs.into_iter().flat_map(|run| &run.replayed);
    replayed.filter(|it| !it.found)
}

/// Shows questions for which nothing was found.
pub(super) fn missed_text(report: &Report) -> String {
    let mut out = "\nNot found".to_owned();
    for it in missed(report).take(MOST_MISSED) {
        let [asked, expected] = &it.words;
        let short = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ").chars().take(100).collect::<String>()
        };
        let _ = write!(
            out,
            "\n  {}, {}: {}\n    should find: {}",
            it.channel,
            it.kind.label(),
            short(asked),
            short(expected)
        );
    }
    out
}

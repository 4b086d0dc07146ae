//! The messages of a conversation from before the bot joined it, as evidence for a prompt. Pure.
//!
//! A thread may be longer than what fits. Its beginning tells the subject and its end the current
//! state, so both are kept. In between, the lines with rare words of the question are kept.

use std::collections::{HashMap, HashSet};

use muninn_platform::redact::without_secrets;
use muninn_platform::{Cut, Ends, PriorMessage, PriorMessages, TimeZone, one_line};

/// A word is common, and so not telling, if more than one in this many messages contain it.
const RARE: usize = 20;

/// The messages in order, one per line, in about `chars` characters at most, with times of a time zone.
pub(super) fn prior_text(
    prior: &PriorMessages,
    question: &str,
    chars: usize,
    zone: TimeZone,
) -> String {
    let lines: Vec<String> = prior.said.iter().map(|it| line(it, zone)).collect();
    let text = without_secrets(&lines.join("\n"));
    // A secret may span several lines; then the lines can no longer be matched to messages.
    let redacted: Vec<&str> = text.lines().collect();
    let is_same = redacted.len() == lines.len();
    let chosen = chosen(&redacted, if is_same { question } else { "" }, chars);
    let mut shown: Vec<String> = prior.cut.iter().map(note).collect();
    let mut next = 0;
    for number in chosen {
        shown.extend(gap(number - next));
        shown.push(redacted[number].to_owned());
        next = number + 1;
    }
    shown.extend(gap(redacted.len() - next));
    shown.join("\n")
}

fn line(said: &PriorMessage, zone: TimeZone) -> String {
    let author = one_line(&said.author);
    let author: String = author
        .chars()
        .filter(|c| !c.is_control())
        .take(100)
        .collect();
    let at = said.at.with_timezone(&zone).format("%Y-%m-%d %H:%M");
    format!("[{at}] {author}: {}", one_line(&said.text))
}

fn note(cut: &Cut) -> String {
    format!("[Not all of it was read: {cut}.]")
}

fn gap(left_out: usize) -> Option<String> {
    (left_out > 0).then(|| {
        let messages = muninn_platform::count_with_noun(left_out, "message");
        format!("[{messages} left out here]")
    })
}

/// The numbers of the lines that are shown, in order.
fn chosen(lines: &[&str], question: &str, chars: usize) -> Vec<usize> {
    let length = |number: &usize| lines[*number].chars().count() + 1;
    let all: usize = (0..lines.len()).map(|number| length(&number)).sum();
    if all <= chars {
        return (0..lines.len()).collect();
    }
    let mut left = chars / 4;
    let mut matching: Vec<usize> = matching(lines, question);
    matching.retain(|number| {
        let fits = length(number) <= left;
        left -= if fits { length(number) } else { 0 };
        fits
    });
    let used: usize = matching.iter().map(length).sum();
    let matching: HashSet<usize> = matching.into_iter().collect();
    let mut ends = Ends::new(lines.len(), chars - used);
    for number in (0..lines.len()).filter(|number| !matching.contains(number)) {
        // A line that alone exceeds the limit would leave no room for the newest messages.
        ends.push(number, length(&number));
    }
    let (first, _, last) = ends.into_parts();
    let mut chosen: Vec<usize> = matching.into_iter().chain(first).chain(last).collect();
    chosen.sort_unstable();
    chosen
}

/// The lines that contain rare words of the question; those with the most and rarest words first.
fn matching(lines: &[&str], question: &str) -> Vec<usize> {
    let asked = words(question);
    let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
    let folded: Vec<HashSet<String>> = lines.iter().map(|line| words(line)).collect();
    for word in &asked {
        let with = folded.iter().enumerate();
        let with = with.filter(|(_, words)| words.contains(word));
        found.insert(word, with.map(|(number, _)| number).collect());
    }
    let mut scores: HashMap<usize, f64> = HashMap::new();
    for numbers in found.into_values() {
        if numbers.len() * RARE > lines.len() {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a few thousand messages")]
        let weight = (lines.len() as f64 / numbers.len() as f64).ln();
        for number in numbers {
            *scores.entry(number).or_default() += weight;
        }
    }
    let mut scored: Vec<(usize, f64)> = scores.into_iter().collect();
    // With equal scores, the newest first.
    scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    scored.into_iter().map(|(number, _)| number).collect()
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() > 2);
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    const LOS_ANGELES: TimeZone = TimeZone::America__Los_Angeles;

    fn prior(texts: &[String]) -> PriorMessages {
        let said = texts.iter().map(|text| PriorMessage {
            event: None,
            author_id: None,
            author: "Ann\nB".to_owned(),
            text: text.clone(),
            at: DateTime::UNIX_EPOCH,
        });
        PriorMessages {
            said: said.collect(),
            cut: None,
        }
    }

    #[test]
    fn what_fits_is_shown_as_it_is() {
        let shown = prior_text(
            &prior(&["one\ntwo".to_owned(), "three".to_owned()]),
            "?",
            500,
            TimeZone::Pacific__Auckland,
        );
        assert_eq!(
            shown,
            "[1970-01-01 12:00] Ann B: one two\n[1970-01-01 12:00] Ann B: three"
        );
        let one = prior_text(&prior(&["one".to_owned()]), "?", 500, LOS_ANGELES);
        assert_eq!(one, "[1969-12-31 16:00] Ann B: one");
        assert_eq!(prior_text(&prior(&[]), "?", 500, LOS_ANGELES), "");
        let cut = PriorMessages {
            cut: Some(Cut::Limited),
            ..prior(&["one".to_owned()])
        };
        let shown = prior_text(&cut, "?", 500, LOS_ANGELES);
        assert!(shown.starts_with("[Not all of it was read: the platform limits"));
    }

    #[test]
    fn of_a_long_thread_stay_its_ends_and_what_is_asked_for() {
        let mut texts: Vec<String> = (0..1_200).map(|n| format!("chatter number {n}")).collect();
        texts[0] = "The mast on the ridge is down.".to_owned();
        texts[600] = "Password rotation: the winch key hangs behind the door.".to_owned();
        texts[1_199] = "Then Thursday.".to_owned();
        let question = "Where is the winch key?";
        let shown = prior_text(&prior(&texts), question, 4_000, LOS_ANGELES);
        for part in [
            "mast on the ridge",
            "winch key hangs",
            "Then Thursday",
            "messages left out here]",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.chars().count() < 4_200);
        let place = |part: &str| shown.find(part).unwrap();
        assert!(place("mast") < place("winch") && place("winch") < place("Thursday"));
        let newest = shown.matches("chatter number 11").count();
        assert!(newest > 30, "{newest}");
    }
}

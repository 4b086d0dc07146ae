//! Plans a search from the question, the questions before it, and the triggered policies. Pure.

use super::policy::StemmedText;
use super::weights::HistoryWeights;
use super::{KnowledgeIndex, Policy};
use crate::retrieval::language::{self, WordList};
use crate::retrieval::speech::is_numbered_record;
use crate::retrieval::text::year;

/// Words before a number that make it a time. Other languages than English have them, too.
const BEFORE_TIMES: WordList = WordList::of(
    "in since until till by before after during from to between around may year years \
    im seit bis vor nach ab jahr jahre en depuis avant après dès année années desde hasta antes después año años em até depois \
    ano anos dal dalla nel prima dopo anno anni sinds voor na jaar od w przed po rok roku до в после год году года",
);

/// What the asker wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryIntent {
    /// An answer.
    #[default]
    Answer,
    /// The records themselves.
    Records,
}

/// A planned search.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The text for the search by words and names.
    pub text: String,
    /// Which sources are visible.
    pub seen: Vec<bool>,
    /// The numbers of the triggered policies.
    pub policies: Vec<usize>,
    /// The numbers of the records whose identifiers are in the question: they are hits, whatever
    /// else is similar.
    pub identified: Vec<usize>,
}

/// Returns the words of a question that may be identifiers, in lower case: with a digit, and too
/// long for a year or amount, unless the word before marks an identifier, or it is a version. One
/// that is as long as a year is an identifier where it is all that the question is about.
pub fn identifiers(text: &str) -> Vec<String> {
    const SAY_SO: &[&str] = &[
        "collection",
        "group",
        "id",
        "identifier",
        "naid",
        "no",
        "nr",
        "number",
        "record",
        "series",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> = whole_words(&lower).collect();
    let mut found = Vec::new();
    let mut before = "";
    for &word in &words {
        let has_digit = word.chars().any(|it| it.is_ascii_digit());
        let is_said = SAY_SO.contains(&before);
        let is_sought =
            || is_long(word) || is_version(word) || is_sought_number(before, word, &words);
        if has_digit && (is_said || is_sought()) {
            found.push(word.to_owned());
        }
        before = word;
    }
    found
}

/// Returns the numbers of the records that a question names by their identifiers.
pub fn identified(index: &KnowledgeIndex, text: &str) -> Vec<usize> {
    let mut found = index.identified(&identifiers(text));
    for (word, number) in named_numbers(text) {
        found.extend(index.numbered(&word, &number));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Words behind which a verb stands: "when did we order 300 chairs?"
const BEFORE_VERBS: WordList =
    WordList::of("to i we you they he she ich wir ihr sie er man je nous vous ils elles on");

/// Returns the numbers of three digits in a text, each with the word before it: "room 214". They are in too many texts to
/// be identifiers of anything else than what the word names.
fn named_numbers(text: &str) -> Vec<(String, String)> {
    const DIGITS: usize = 3;
    let lower = text.to_lowercase();
    let words: Vec<&str> = whole_words(&lower).collect();
    let is_number = |word: &str| word.len() == DIGITS && word.bytes().all(|it| it.is_ascii_digit());
    let is_name = |word: &str| {
        word.chars().all(char::is_alphabetic)
            && !BEFORE_TIMES.has(word)
            && !language::is_function_word(word)
    };
    let is_verb = |at: usize| at > 0 && BEFORE_VERBS.has(words[at - 1]);
    let pairs = words.windows(2).enumerate();
    let pairs = pairs.filter(|(at, pair)| is_name(pair[0]) && is_number(pair[1]) && !is_verb(*at));
    let pairs = pairs.map(|(_, pair)| (pair[0].to_owned(), pair[1].to_owned()));
    pairs.collect()
}

/// Whether a number of four digits names something in a question: "order 1042", "what about 2042?",
/// "who paid 1042?". In "revenue 2024" and "what was in 1789?" it is a year.
fn is_sought_number(before: &str, number: &str, words: &[&str]) -> bool {
    if !is_short_number(number) || BEFORE_TIMES.has(before) {
        return false;
    }
    let is_content = |word: &&&str| {
        // Shorter ones are what is left of "what's".
        word.chars().nth(1).is_some()
            && !(language::is_function_word(word)
                || language::is_asking(word)
                || language::is_auxiliary(word))
    };
    let others = words.iter().filter(|word| **word != number);
    let others = others.filter(is_content).count();
    // In a sentence, a year that people talk about is no order's number.
    is_numbered_record(before) || others <= usize::from(year(number).is_none())
}

/// Whether a text has one of these identifiers as a word of its own. Those that are shorter than
/// four digits are in too many texts.
pub(super) fn has_one_of(text: &str, identifiers: &[String]) -> bool {
    let is_rare = |it: &&String| is_long(it) || is_short_number(it);
    let sought: Vec<&String> = identifiers.iter().filter(is_rare).collect();
    if sought.is_empty() {
        return false;
    }
    let lower = text.to_lowercase();
    whole_words(&lower).any(|word| sought.iter().any(|it| *it == word))
}

/// Returns the versions in a text, such as `2.39.2`.
pub(super) fn versions(text: &str) -> Vec<String> {
    let words = whole_words(text).map(|word| word.trim_start_matches(['v', 'V']));
    let versions = words.filter(|word| is_version(word));
    versions.map(str::to_owned).collect()
}

/// Whether a name may be meant by a text with these versions: it has none, or one of them, or one
/// of a release that is among them.
pub(super) fn is_of_version(name: &str, versions: &[String]) -> bool {
    let own = self::versions(name);
    let is_meant = |own: &String| {
        let mut rests = versions
            .iter()
            .filter_map(|one| own.strip_prefix(one.as_str()));
        rests.any(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    own.is_empty() || own.iter().any(is_meant)
}

/// Whether a word consists of numbers with dots between them.
fn is_version(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    word.contains('.') && word.split('.').all(is_number)
}

/// Whether a word is a number that is as long as a year.
fn is_short_number(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|it| it.is_ascii_digit())
}

/// Whether a word is longer than years, prices and page numbers.
fn is_long(word: &str) -> bool {
    const MIN_IDENTIFIER_CHARS: usize = 5;
    word.chars().count() >= MIN_IDENTIFIER_CHARS
}

/// Returns the words of a text, each with its dashes, dots and slashes.
fn whole_words(text: &str) -> impl Iterator<Item = &str> {
    let separates = |it: char| !(it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | '/'));
    let words = text.split(separates);
    let words = words.map(|word| word.trim_matches(['-', '_', '.', '/']));
    words.filter(|word| !word.is_empty())
}

/// The meaning of a message: vectors of its sentences and of the whole, as far as available.
#[derive(Clone, Copy, Debug)]
pub struct QueryVectors<'a> {
    pub vectors: &'a [Vec<f32>],
    /// Minimum similarity to a trigger, beyond chance.
    pub least: f32,
}

/// Returns the policies of visible sources that a message triggers by words or meaning, or that one
/// before it triggers by words.
pub fn triggered_policies(
    index: &KnowledgeIndex,
    text: &str,
    earlier: &[&str],
    meant: QueryVectors<'_>,
    seen: &[bool],
) -> Vec<usize> {
    let policies = index.policies();
    if policies.is_empty() {
        return Vec::new();
    }
    // Separately: a trigger must not span two messages.
    let said: Vec<StemmedText> = std::iter::once(&text)
        .chain(earlier)
        .map(|text| StemmedText::of(text))
        .collect();
    let is_triggered = |policy: &Policy| {
        seen[index.source_number(policy.entry)]
            && (said.iter().any(|said| policy.is_triggered_by(said))
                || policy.is_meant_by(meant.vectors.iter(), meant.least))
    };
    let mut found: Vec<usize> = (0..policies.len())
        .filter(|&at| is_triggered(&policies[at]))
        .collect();
    found.sort_by(|&a, &b| {
        let heavier = policies[b].weight.total_cmp(&policies[a].weight);
        heavier.then_with(|| policies[a].name.cmp(&policies[b].name))
    });
    found
}

/// Returns the vector to search for: the question's, with a small share of earlier ones, the newer
/// the larger.
pub fn weighted(
    question: &[f32],
    earlier: &[Option<Vec<f32>>],
    weights: &HistoryWeights,
) -> Vec<f32> {
    let mut sum: Vec<f32> = question.iter().map(|x| x * weights.question).collect();
    let mut weight = weights.earlier;
    for vector in earlier.iter().rev() {
        if let Some(vector) = vector.as_ref().filter(|it| it.len() == question.len()) {
            for (sum, x) in sum.iter_mut().zip(vector) {
                *sum += weight * x;
            }
        }
        weight *= weights.fading;
    }
    sum
}

/// Returns whether a question asks for records or for an answer, judged by its words.
pub fn want(text: &str) -> QueryIntent {
    const SHOW: &[&str] = &["show", "list", "display", "give"];
    const RECORDS: &[&str] = &[
        "catalog",
        "document",
        "documents",
        "file",
        "files",
        "item",
        "items",
        "material",
        "materials",
        "record",
        "records",
        "series",
        "source",
        "sources",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty() && !matches!(*word, "please" | "can" | "could" | "you"))
        .collect();
    let shows = words.first().is_some_and(|first| SHOW.contains(first));
    if shows && words.iter().any(|word| RECORDS.contains(word)) {
        QueryIntent::Records
    } else {
        QueryIntent::Answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_told_from_a_year() {
        for (text, expected) in [
            ("What is naId 4711?", &["4711"][..]),
            ("Show me 12345678, please.", &["12345678"]),
            ("the record A1-7/b", &["a1-7/b"]),
            ("Who was president in 1952?", &[]),
            ("What was on page 12 of it", &[]),
            ("What changed in git 2.39?", &["2.39"]),
        ] {
            assert_eq!(identifiers(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_as_long_as_a_year_is_an_identifier_where_it_is_what_is_asked_about() {
        for (text, expected) in [
            ("1042", &["1042"][..]),
            ("#1042", &["1042"]),
            ("2024", &["2024"]),
            ("order 1042", &["1042"]),
            ("What is the status of order 2024 from Jensen?", &["2024"]),
            ("what about 1042?", &["1042"]),
            ("What's with 1042?", &["1042"]),
            ("Was ist mit 1042?", &["1042"]),
            ("Rechnung 1042", &["1042"]),
            ("Who paid 1042?", &["1042"]),
            ("status of 1042", &["1042"]),
            ("What happened in 2024?", &[]),
            ("What about in 2024?", &[]),
            ("Was war im Jahr 2024?", &[]),
            ("revenue 2024", &[]),
            ("What was in 1789?", &[]),
            ("Do 4500 euros pay for the summer party?", &[]),
            ("order 42", &[]),
        ] {
            assert_eq!(identifiers(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_of_three_digits_counts_with_the_word_before_it() {
        for (text, expected) in [
            ("What's in Room 214?", &[("room", "214")][..]),
            ("ticket #512", &[("ticket", "512")]),
            (
                "Zimmer 214 und Zimmer 215",
                &[("zimmer", "214"), ("zimmer", "215")],
            ),
            ("214", &[]),
            ("in 214", &[]),
            ("room 21", &[]),
            ("order 1042", &[]),
            ("When did we order 300 chairs?", &[]),
            ("1 214", &[]),
        ] {
            let found = named_numbers(text);
            let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
            assert_eq!(found, expected, "{text}");
        }
        assert!(identifiers("room 214").is_empty());
    }

    #[test]
    fn a_text_has_an_identifier_only_as_a_whole_word() {
        for (text, expected) in [
            ("Paid: B-1042, in cash.", true),
            ("b-1042", true),
            ("B-10421", false),
            ("AB-1042", false),
            ("The answer is 42", false),
        ] {
            let sought = identifiers("Who ordered B-1042, no 42?");
            assert_eq!(sought, ["b-1042", "42"]);
            assert_eq!(has_one_of(text, &sought), expected, "{text}");
        }
        assert!(has_one_of("Paid: 1042", &identifiers("order 1042")));
        assert!(!has_one_of("Paid: 10421", &identifiers("order 1042")));
    }

    #[test]
    fn a_version_means_neither_another_one_nor_less_than_all_of_it() {
        let asked = versions("What changed in v2.39.0, and what in 3.1?");
        assert_eq!(asked, ["2.39.0", "3.1"]);
        for (name, expected) in [
            ("2.39.0", true),
            ("Git v2.39.0 Release Notes", true),
            ("3.1.4", true),
            ("Releases", true),
            ("2.39.2", false),
            ("2.39", false),
            ("3.14", false),
        ] {
            assert_eq!(is_of_version(name, &asked), expected, "{name}");
        }
    }

    #[test]
    fn records_are_wanted_where_they_are_asked_for() {
        for (text, expected) in [
            ("Show me documents about politics.", QueryIntent::Records),
            ("Could you please list the sources?", QueryIntent::Records),
            ("Give me all related records", QueryIntent::Records),
            ("Why is the sky blue?", QueryIntent::Answer),
            ("Which documents show that?", QueryIntent::Answer),
            ("Show me how it works", QueryIntent::Answer),
            ("", QueryIntent::Answer),
        ] {
            assert_eq!(want(text), expected, "{text}");
        }
    }

    #[test]
    fn the_newer_of_the_questions_before_counts_more() {
        let weights = HistoryWeights {
            question: 0.8,
            earlier: 0.2,
            fading: 0.5,
        };
        let earlier = [
            Some(vec![0.0, 0.0, 1.0]),
            None,
            Some(vec![0.0, 1.0, 0.0]),
            Some(vec![1.0]),
        ];
        let vector = weighted(&[1.0, 0.0, 0.0], &earlier, &weights);
        assert_eq!(vector, [0.8, 0.1, 0.025]);
    }
}

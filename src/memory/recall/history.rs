//! Context for questions like "Tell me more about it": a question that depends on what was said just before is searched
//! together with that.

use super::index::AudienceIndex;
use crate::retrieval::language::{self, WordList};
use crate::retrieval::postings::WeightedWords;
use crate::retrieval::text::lowercase_words;
use crate::retrieval::vectors::Quantised;

/// A question with this many words says by itself what it is about. With fewer, it depends on the turn before.
const SELF_CONTAINED_WORDS: usize = 3;
/// Weight of the previous turn's vector, for a question that depends on it.
const VECTOR_WEIGHT: f32 = 0.6;
/// Weight of each of its words.
const WORD_WEIGHT: f32 = 0.3;
/// Factor by which each earlier turn counts less than the next.
const FADING: f32 = 0.5;
/// Number of turns before the question that are considered.
const REACH: usize = 2;

/// Words that point back and hardly do anything else.
const POINTERS: WordList = WordList::of(
    "it its that this these those then they them their he him his she her there more else davon dazu daran dafür \
    damit darüber ihm ihn dort ça cela eso ello allí isso isto ciò esso daarvan hem daar tego tym jego это этого этом его её там",
);
/// With these words, "it" refers to nothing that was said: "will it rain", "which day is it".
const WEATHER: WordList =
    WordList::of("rain raining rains snow snowing snows sunny windy freezing");
const DATES: WordList = WordList::of("day date weekday month year week time");
/// After these words the meaning of "it" follows: "is it safe to drill there".
const TOLD_BEHIND: WordList = WordList::of("to that if");
/// Words that point to a time and not back, before one of [`TIMES`].
const THIS: WordList = WordList::of("this that these those");
const TIMES: WordList = WordList::of(
    "morning afternoon evening week weekend month quarter year sprint time spring summer autumn fall winter \
    monday tuesday wednesday thursday friday saturday sunday",
);
/// Words that continue what was said, at the beginning of a text.
const GOING_ON: WordList = WordList::of("and und et y e en i и");
/// Stems of words that ask for more without saying of what.
const ASKING_STEMS: &[&str] = &[
    "tell", "more", "explain", "say", "said", "mean", "again", "know", "els", "happen", "thing",
    "detail", "still", "go", "remind", "much", "mani", "long", "exact", "exactli", "until", "till",
];
/// Stems of other words without content.
const EMPTY_STEMS: &[&str] = &[
    "pleas", "ok", "okay", "thank", "sure", "yes", "get", "okey", "hey", "hi", "hello",
];
/// Words for the person addressed: a question without another content word is about them.
const YOU: WordList = WordList::of(
    "you u du dir dich bist kannst toi tu vous tú eres puedes usted você sei stai puoi jij jou kunt ty jesteś możesz вы ты тебя вас",
);
/// Question words that ask for something of their own, not for one of several things mentioned.
const SELF_CONTAINED_QUESTIONS: WordList = WordList::of(
    "who when where why wer wann wo warum qui quand où pourquoi quién cuándo dónde quem quando onde chi dove wanneer waar waarom \
    kto kiedy gdzie dlaczego кто когда где почему",
);
/// Maximum words of a question without a verb that completes what was said before: "which colour?"
const ELLIPSIS: usize = 3;

/// What was said before the question in the same session.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    pub text: &'a str,
    pub vector: Option<&'a [f32]>,
}

/// How much a question depends on what was said before it: 0 (not at all) to 1. A question that names its subject, or
/// that is about the person addressed, depends on nothing, however short it is.
pub(in crate::memory) fn dependence(index: &AudienceIndex, text: &str) -> f32 {
    let (mut substance, mut asks_for_more) = (0, false);
    index.postings().words().each(text, |stem| {
        let asks = ASKING_STEMS.contains(&stem);
        asks_for_more |= asks;
        substance += usize::from(!asks && !EMPTY_STEMS.contains(&stem));
    });
    let words = lowercase_words(text);
    match (substance, does_point_back(&words)) {
        (0, points) if points || asks_for_more || asks_of_another(&words) => 1.0,
        (1.., true) if substance <= SELF_CONTAINED_WORDS => 1.0 - 0.25 * (substance - 1) as f32,
        (1, false) if is_elliptic(&words) => 0.5,
        (0.., true | false) => 0.0,
    }
}

/// Whether words without content ask about something other than the person addressed: "why?", but not "who are you?".
fn asks_of_another(words: &[String]) -> bool {
    words.iter().any(|word| language::is_asking(word)) && !words.iter().any(|word| YOU.has(word))
}

/// Whether a verb is missing: "which colour?", but not "who bakes?".
fn is_elliptic(words: &[String]) -> bool {
    words.len() <= ELLIPSIS
        && !words
            .iter()
            .any(|word| SELF_CONTAINED_QUESTIONS.has(word) || language::is_auxiliary(word))
}

/// Whether a text points back to what was said before it.
pub(in crate::memory) fn points_back(text: &str) -> bool {
    does_point_back(&lowercase_words(text))
}

fn does_point_back(words: &[String]) -> bool {
    let goes_on = words.first().is_some_and(|word| GOING_ON.has(word));
    goes_on || (0..words.len()).any(|at| POINTERS.has(&words[at]) && !points_to_nothing(words, at))
}

/// Whether the pointing word at a position refers to nothing that was said.
fn points_to_nothing(words: &[String], at: usize) -> bool {
    let word = &words[at];
    let before = at.checked_sub(1).map_or("", |at| words[at].as_str());
    let after = words.get(at + 1).map_or("", String::as_str);
    let then = words.get(at + 2).map_or("", String::as_str);
    let is_date = || {
        let named = at.checked_sub(2).is_some_and(|at| DATES.has(&words[at]));
        named && language::is_auxiliary(before)
    };
    let is_told_behind = || language::is_auxiliary(before) && TOLD_BEHIND.has(then);
    if word == "there" {
        at == 0 || YOU.has(before) || [before, after].into_iter().any(language::is_auxiliary)
    } else if word == "it" {
        words.iter().any(|word| WEATHER.has(word)) || is_date() || is_told_behind()
    } else {
        THIS.has(word) && TIMES.has(after)
    }
}

/// The turns on which a question depends, nearest first, with their weights: the turn before it, and the one before
/// that if the nearer turn depends on it.
pub(in crate::memory) fn leant_on<'a>(
    index: &AudienceIndex,
    earlier: &'a [Earlier<'a>],
    leaning_of_question: f32,
) -> Vec<(&'a Earlier<'a>, f32)> {
    let mut weight = leaning_of_question;
    let mut leant_on = Vec::new();
    for one in earlier.iter().rev().take(REACH) {
        if weight <= 0.0 {
            break;
        }
        leant_on.push((one, weight));
        weight *= FADING * dependence(index, one.text).ceil();
    }
    leant_on
}

/// The words to search with.
pub(in crate::memory) fn words(
    index: &AudienceIndex,
    text: &str,
    leant_on: &[(&Earlier<'_>, f32)],
) -> WeightedWords {
    let mut words = WeightedWords::new();
    index.postings().weighted(text, 1.0, &mut words);
    for (one, weight) in leant_on {
        let weight = WORD_WEIGHT * weight;
        index.postings().weighted(one.text, weight, &mut words);
    }
    words
}

/// The vector to search with: the weighted sum of unit vectors.
pub(in crate::memory) fn vector(
    text: Option<&[f32]>,
    leant_on: &[(&Earlier<'_>, f32)],
    dimension: usize,
) -> Option<Quantised> {
    let mut sum = vec![0.0_f32; dimension];
    let mut any = false;
    let mut add = |vector: Option<&[f32]>, weight: f32| {
        let unit = vector
            .filter(|vector| vector.len() == dimension)
            .and_then(Quantised::new);
        if let Some(unit) = unit {
            any = true;
            for (sum, &value) in sum.iter_mut().zip(&unit.values) {
                *sum += weight * unit.scale * f32::from(value);
            }
        }
    };
    add(text, 1.0);
    for (one, weight) in leant_on {
        add(one.vector, VECTOR_WEIGHT * weight);
    }
    any.then(|| Quantised::new(&sum)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_leans_on_what_was_said_only_where_it_points_there() {
        let index = AudienceIndex::new(None, 0);
        for (text, leans) in [
            ("why?", true),
            ("until when?", true),
            ("and on Wednesday?", true),
            ("how much was it?", true),
            ("what does he need for it?", true),
            ("who do I call there?", true),
            ("tell me more", true),
            ("what do you mean?", true),
            ("which colour?", true),
            ("wann?", true),
            ("when is the premiere?", false),
            ("who bakes?", false),
            ("do we have wifi?", false),
            ("who are you", false),
            ("how are you today?", false),
            ("what can you do?", false),
            ("are you there?", false),
            ("wer bist du?", false),
            ("really?", false),
            ("will it rain tomorrow?", false),
            ("what day is it today?", false),
            ("is it safe to drill?", false),
            ("is there milk?", false),
            ("how many rabbits are there?", false),
        ] {
            assert_eq!(dependence(&index, text) > 0.0, leans, "{text}");
        }
    }

    #[test]
    fn what_is_leant_on_reaches_further_only_where_it_leans_itself() {
        let index = AudienceIndex::new(None, 0);
        let reach = |texts: [&str; 2]| {
            let earlier = texts.map(|text| Earlier { text, vector: None });
            let leant_on = leant_on(&index, &earlier, 1.0);
            leant_on
                .iter()
                .map(|(one, _)| one.text.to_owned())
                .collect::<Vec<_>>()
        };
        let (told, whole, dependence) = ("Timo does the fog", "who plays Firs?", "and since when?");
        assert_eq!(reach([told, whole]), [whole]);
        assert_eq!(reach([whole, dependence]), [dependence, whole]);
    }
}

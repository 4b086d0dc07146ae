//! "Tell me more about it": a question that leans on what was said just before is searched with
//! what was said before, too.

use super::index::AudienceIndex;
use crate::retrieval::language::WordList;
use crate::retrieval::postings::WeightedWords;
use crate::retrieval::text::written;
use crate::retrieval::vectors::Quantised;

/// Words of a question that says by itself what it is about. Fewer, and it leans on the turn
/// before.
const ENOUGH_WORDS: usize = 3;
/// How much the vector of the turn before counts beside a question that leans on it.
const VECTOR_WEIGHT: f32 = 0.6;
/// How much each of its words counts.
const WORD_WEIGHT: f32 = 0.3;
/// The turn before that counts for this much of the last one.
const FADING: f32 = 0.5;
/// Turns before the question that are looked at.
const REACH: usize = 2;

/// Words that point back, of those that hardly do anything else.
const POINTERS: WordList = WordList::of(
    "it its that this these those they them their he him his she her there more else davon dazu daran dafür \
    damit darüber ihm ihn dort ça cela eso ello allí isso isto ciò esso daarvan hem daar tego tym jego это этого этом его её там",
);
/// Words that point to a time, and not back, before one of [`TIMES`].
const THIS: WordList = WordList::of("this that these those");
const TIMES: WordList = WordList::of(
    "morning afternoon evening week weekend month quarter year sprint time spring summer autumn fall winter \
    monday tuesday wednesday thursday friday saturday sunday",
);
/// Words that go on with what was said, where a text begins with them.
const GOING_ON: WordList = WordList::of("and und et y e en i и");
/// Stems of words that ask without saying for what.
const EMPTY_STEMS: &[&str] = &[
    "tell", "more", "explain", "say", "said", "mean", "again", "pleas", "know", "els", "happen",
    "ok", "okay", "thank", "thing", "detail", "still", "sure", "yes", "get", "go", "remind",
    "much", "mani", "long", "exact", "exactli", "okey", "hey", "hi", "hello",
];

/// What was said before the question in the same session.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    pub text: &'a str,
    pub vector: Option<&'a [f32]>,
}

/// How much a question leans on what was said before it: 0 (not at all) to 1.
pub(super) fn leaning(index: &AudienceIndex, text: &str) -> f32 {
    let mut substance = 0;
    index.postings().words().each(text, |stem| {
        substance += usize::from(!EMPTY_STEMS.contains(&stem));
    });
    match (substance, points_back(text)) {
        (0, _) => 1.0,
        (1.., true) if substance <= ENOUGH_WORDS => 1.0 - 0.25 * (substance - 1) as f32,
        (1, false) => 0.5,
        (1.., true | false) => 0.0,
    }
}

/// Whether a text points back to what was said before it.
pub(super) fn points_back(text: &str) -> bool {
    let words = written(text);
    let goes_on = words.first().is_some_and(|word| GOING_ON.has(word));
    let next = words.iter().skip(1).map(Some).chain([None]);
    let is_time = |word: &String, next: Option<&String>| {
        THIS.has(word) && next.is_some_and(|next| TIMES.has(next))
    };
    let mut pairs = words.iter().zip(next);
    goes_on || pairs.any(|(word, next)| POINTERS.has(word) && !is_time(word, next))
}

/// The words to search with.
pub(super) fn words(
    index: &AudienceIndex,
    text: &str,
    earlier: &[Earlier<'_>],
    leaning: f32,
) -> WeightedWords {
    let mut words = WeightedWords::new();
    index.postings().weighted(text, 1.0, &mut words);
    let mut weight = WORD_WEIGHT * leaning;
    for one in earlier.iter().rev().take(REACH).filter(|_| leaning > 0.0) {
        index.postings().weighted(one.text, weight, &mut words);
        weight *= FADING;
    }
    words
}

/// The vector to search with: the sum of unit vectors by their weights.
pub(super) fn vector(
    text: Option<&[f32]>,
    earlier: &[Earlier<'_>],
    leaning: f32,
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
    let mut weight = VECTOR_WEIGHT * leaning;
    for one in earlier.iter().rev().take(REACH).filter(|_| leaning > 0.0) {
        add(one.vector, weight);
        weight *= FADING;
    }
    any.then(|| Quantised::new(&sum)).flatten()
}

//! Tells whether two exchanges say the same, so that only one of them is recalled.

use crate::memory::hints::first_person::text_speaks_of_self;
use crate::memory::recall::index::{AudienceIndex, IndexedExchange};

/// Cosine from which two exchanges may say the same in other words.
const SAME_COSINE: f32 = 0.95;
/// Minimum share of the words of the longer one that both have in the same order.
const SAME_WORDS: f32 = 0.9;

/// Whether two exchanges say the same in nearly the same words, with the same numbers. "I am allergic to nuts" is not
/// the same from two people.
pub(super) fn say_the_same(index: &AudienceIndex, a: usize, b: usize) -> bool {
    let (postings, vectors) = (index.postings(), index.vectors());
    let (one, other) = (postings.wording_of(a), postings.wording_of(b));
    let (fewer, more) = (one.words.min(other.words), one.words.max(other.words));
    // A cheap check first: the texts rarely have to be compared.
    if one.numbers != other.numbers || f32::from(fewer) < SAME_WORDS * f32::from(more) {
        return false;
    }
    let cosine = vectors.get(a).and_then(|a| vectors.cosine(b, &a));
    if cosine.is_some_and(|cosine| cosine < SAME_COSINE) {
        return false;
    }
    let (one, other) = (index.entry(a), index.entry(b));
    let speaks_of_self = |entry: &IndexedExchange| text_speaks_of_self(entry.input());
    let are_of_two_people =
        one.account != other.account && (speaks_of_self(one) || speaks_of_self(other));
    !are_of_two_people && have_the_same_wording(&words(index, one), &words(index, other))
}

fn words(index: &AudienceIndex, entry: &IndexedExchange) -> Vec<String> {
    let stemmer = index.postings().words();
    let mut words = stemmer.list(entry.input());
    words.extend(stemmer.list(entry.output()));
    words
}

/// Whether two lists have nearly the same words, and the same numbers, in the same order: "Tom owes Ann" is not "Ann
/// owes Tom".
fn have_the_same_wording(one: &[String], other: &[String]) -> bool {
    let is_number = |word: &&String| word.contains(char::is_numeric);
    let numbers = |words: &[String]| -> Vec<String> {
        let numbers = words.iter().filter(is_number);
        numbers.cloned().collect()
    };
    let longer = one.len().max(other.len()) as f32;
    numbers(one) == numbers(other) && common_in_order(one, other) as f32 >= SAME_WORDS * longer
}

/// The length of the longest common subsequence.
fn common_in_order(one: &[String], other: &[String]) -> usize {
    let begins = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[begins..], &other[begins..]);
    let ends = one.iter().rev().zip(other.iter().rev());
    let ends = ends.take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - ends], &other[..other.len() - ends]);
    // The lengths for the words of `one` so far and each beginning of `other`.
    let mut lengths = vec![0; other.len() + 1];
    for word in one {
        let mut diagonal = 0;
        for (at, beside) in other.iter().enumerate() {
            let above = lengths[at + 1];
            lengths[at + 1] = if word == beside {
                diagonal + 1
            } else {
                above.max(lengths[at])
            };
            diagonal = above;
        }
    }
    begins + ends + lengths[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_in_another_order_say_something_else() {
        let long = "the keys of the cellar are with the caretaker in the house at the back behind the big gate";
        for (one, other, same) in [
            ("tom owes ann 50 euros", "tom owes ann 50 euros", true),
            ("tom owes ann 50 euros", "ann owes tom 50 euros", false),
            ("tom owes ann 50 euros", "tom owes ann 60 euros", false),
            ("moved from 10 to 11", "moved from 11 to 10", false),
            (long, &format!("{long} now"), true),
            (long, &long.replace("gate", "door"), true),
            (long, "the keys of the cellar", false),
            ("", "", true),
        ] {
            let words = |text: &str| -> Vec<String> {
                let words = text.split_whitespace();
                words.map(str::to_owned).collect()
            };
            let (a, b) = (words(one), words(other));
            assert_eq!(have_the_same_wording(&a, &b), same, "{one} / {other}");
            assert_eq!(have_the_same_wording(&b, &a), same, "{other} / {one}");
        }
    }
}

//! Tells whether two exchanges say the same, so that only one of them is recalled.

use std::collections::HashMap;

use crate::memory::hints::first_person::text_speaks_of_self;
use crate::memory::recall::index::{AudienceIndex, IndexedExchange};

/// Cosine from which two exchanges may say the same in other words.
const SAME_COSINE: f32 = 0.95;
/// Minimum share of the words of the longer one that both have in the same order.
const SAME_WORDS: f32 = 0.9;
/// Maximum words that only one of two has. It bounds what comparing long texts costs.
const MOST_OTHER_WORDS: usize = 100;

/// The words of exchanges that were compared, in their order.
pub(super) type Wordings = HashMap<usize, Vec<String>>;

/// Whether two exchanges say the same in nearly the same words, with the same numbers. "I am allergic to nuts" is not
/// the same from two people.
pub(super) fn say_the_same(
    index: &AudienceIndex,
    wordings: &mut Wordings,
    a: usize,
    b: usize,
) -> bool {
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
    let speaks_of_self = |entry: &IndexedExchange| text_speaks_of_self(entry.said());
    let are_of_two_people =
        one.account != other.account && (speaks_of_self(one) || speaks_of_self(other));
    if are_of_two_people {
        return false;
    }
    for entry in [a, b] {
        wordings.entry(entry).or_insert_with(|| words(index, entry));
    }
    have_the_same_wording(&wordings[&a], &wordings[&b])
}

fn words(index: &AudienceIndex, entry: usize) -> Vec<String> {
    let (stemmer, entry) = (index.postings().words(), index.entry(entry));
    // With the names of files: the same words about another file say something else.
    let mut words = stemmer.list(entry.input());
    words.extend(stemmer.list(entry.output()));
    words
}

/// Whether two lists have nearly the same words, and the same numbers, in the same order: "Tom owes Ann" is not "Ann
/// owes Tom".
fn have_the_same_wording(one: &[String], other: &[String]) -> bool {
    let is_number = |word: &&String| word.contains(char::is_numeric);
    let longer = one.len().max(other.len()) as f32;
    let in_both = (SAME_WORDS * longer).ceil() as usize;
    let Some(most) = (one.len() + other.len()).checked_sub(2 * in_both) else {
        return false;
    };
    let lengths = (one.len(), other.len());
    one.iter()
        .filter(is_number)
        .eq(other.iter().filter(is_number))
        && differ_by_at_most(most.min(MOST_OTHER_WORDS), lengths, |a, b| {
            one[a] == other[b]
        })
}

/// Whether at most so many words are in only one of two lists, by Myers' algorithm. The rest is in both in the same order.
/// It ends once there are more, as in two long lists of the same words in another order.
fn differ_by_at_most(
    most: usize,
    (one, other): (usize, usize),
    mut is_same: impl FnMut(usize, usize) -> bool,
) -> bool {
    let middle = most + 1;
    // By how many words more or less of `one` than of `other` were read, from the middle: how many of `one` at most.
    let mut furthest = vec![0; 2 * most + 3];
    for differing in 0..=most {
        let (least, greatest) = (middle - differing, middle + differing);
        for at in (least..=greatest).step_by(2) {
            let skips_other =
                at == least || (at != greatest && furthest[at - 1] < furthest[at + 1]);
            let mut a = match skips_other {
                true => furthest[at + 1],
                false => furthest[at - 1] + 1,
            };
            let mut b = a + middle - at;
            while a < one && b < other && is_same(a, b) {
                (a, b) = (a + 1, b + 1);
            }
            furthest[at] = a;
            if a >= one && b >= other {
                return true;
            }
        }
    }
    false
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

    #[test]
    fn long_texts_with_the_same_words_in_another_order_cost_little() {
        let words = 4_000;
        let mut comparisons = 0;
        let is_same = |a, b: usize| {
            comparisons += 1;
            a == words - 1 - b
        };
        assert!(!differ_by_at_most(
            MOST_OTHER_WORDS,
            (words, words),
            is_same
        ));
        assert!(comparisons < 10_000, "{comparisons}");
    }
}

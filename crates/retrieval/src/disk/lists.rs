//! Posting lists: the entries that contain a word, with a small number for each, such as how often it occurs or how many
//! words the entry's name has.
//!
//! A list is written in consecutive parts; each begins with its length and its first number.

use std::ops::Range;

use super::blocks::BlockFile;
use super::bytes::{Bytes, put_number};

/// An entry's number and its value.
pub type Having = (u32, u16);

/// Encodes a part of a list, in the order of the numbers.
pub fn encode_part(list: impl ExactSizeIterator<Item = Having>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * list.len() + 10);
    put_number(&mut bytes, list.len() as u64);
    let mut before = 0;
    for (number, told) in list {
        put_number(&mut bytes, u64::from(number - before));
        put_number(&mut bytes, u64::from(told));
        before = number;
    }
    bytes
}

/// Joins parts to a whole list.
pub fn join_parts(stretches: &[Vec<u8>]) -> Vec<u8> {
    let lengths = stretches.iter().filter_map(|it| Bytes(it).number());
    let mut bytes = Vec::with_capacity(stretches.iter().map(Vec::len).sum::<usize>() + 10);
    put_number(&mut bytes, lengths.sum());
    bytes.extend(stretches.iter().flatten());
    bytes
}

/// The number of entries of a list, from its first bytes.
fn length(list: &[u8]) -> usize {
    Bytes(list).small().unwrap_or_default()
}

/// Maximum bytes that [`length`] needs.
const LENGTH_BYTES: u64 = 10;

/// The number of entries of a list in a file.
pub fn length_in(file: &BlockFile, place: &Range<u64>) -> usize {
    let most = (place.end - place.start).min(LENGTH_BYTES);
    length(&file.read(place.start, most as usize).unwrap_or_default())
}

/// The entries of a list in a file with numbers below `count`; a sound file has no others. An unreadable list marks the
/// file as [damaged](BlockFile::mark_damaged).
pub fn read(file: &BlockFile, place: &Range<u64>, count: usize) -> Vec<Having> {
    let list = file.read(place.start, (place.end - place.start) as usize);
    let list = list.unwrap_or_default();
    let mut all = Vec::with_capacity(length(&list).min(count));
    let is_list = each(&list, |number, told| {
        if (number as usize) < count {
            all.push((number, told));
        }
    });
    if !is_list {
        file.mark_damaged();
    }
    all
}

/// Calls `each` with every entry of a list. Returns `false` if it is invalid.
fn each(list: &[u8], mut each: impl FnMut(u32, u16)) -> bool {
    let mut read = Bytes(list);
    let mut stretches = || {
        read.number()?;
        while !read.is_empty() {
            let (count, mut number) = (read.number()?, 0_u32);
            for _ in 0..count {
                number = number.checked_add(read.small()?)?;
                each(number, read.small()?);
            }
        }
        Some(())
    };
    stretches().is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_are_one_list(lists in prop::collection::vec(
            prop::collection::btree_map(any::<u32>(), any::<u16>(), 1..30), 0..4,
        )) {
            let stretches: Vec<Vec<u8>> =
                lists.iter().map(|list| encode_part(list.iter().map(|(a, b)| (*a, *b)))).collect();
            let list = join_parts(&stretches);
            let mut found = Vec::new();
            prop_assert!(each(&list, |number, told| found.push((number, told))));
            let expected: Vec<Having> = lists.iter().flatten().map(|(a, b)| (*a, *b)).collect();
            prop_assert_eq!(length(&list), expected.len());
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn what_is_no_list_is_told(bytes: Vec<u8>) {
            each(&bytes, |_, _| {});
        }
    }
}

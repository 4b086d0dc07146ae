//! Which chunks' vectors are worth a look.
//!
//! Vectors are on disk, their signs in memory. Up to [`ALL`] vectors every one is compared; beyond, those whose signs
//! differ least from the question's are.

use super::index::KnowledgeIndex;
use crate::retrieval::vectors::Quantised;

/// Vectors up to which every one is compared.
const ALL: usize = 16_384;
/// Vectors that are compared because of their signs.
const COMPARED: usize = 2_048;

/// The chunks of the sources that are seen whose vectors are compared, in their order.
pub(super) fn compared(index: &KnowledgeIndex, seen: &[bool], query: &Quantised) -> Vec<usize> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut distances: Vec<u16> = Vec::new();
    index.sign_distances(seen, query, |number, distance| {
        numbers.push(number as u32);
        distances.push(distance);
    });
    let most = if numbers.len() <= ALL { ALL } else { COMPARED };
    nearest(&distances, most)
        .map(|at| numbers[at] as usize)
        .collect()
}

/// The places of the least distances, in their order; of those that are as far as the last ones, the first.
fn nearest(distances: &[u16], most: usize) -> impl Iterator<Item = usize> {
    let farthest = distances.iter().copied().max().unwrap_or_default();
    let mut counts = vec![0_usize; usize::from(farthest) + 1];
    for distance in distances {
        counts[usize::from(*distance)] += 1;
    }
    let mut left = most;
    let mut limit = counts.len();
    for (distance, count) in counts.into_iter().enumerate() {
        if count > left {
            limit = distance;
            break;
        }
        left -= count;
    }
    let is_near = move |distance: u16| {
        let distance = usize::from(distance);
        if distance == limit && left > 0 {
            left -= 1;
            return true;
        }
        distance < limit
    };
    let mut is_near = is_near;
    let places = distances.iter().enumerate();
    places.filter_map(move |(at, distance)| is_near(*distance).then_some(at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nearest_are_those_of_a_sorted_list(
            distances in prop::collection::vec(0..9_u16, 0..60), most in 0..70_usize,
        ) {
            let found: Vec<usize> = nearest(&distances, most).collect();
            let mut expected: Vec<usize> = (0..distances.len()).collect();
            expected.sort_by_key(|at| distances[*at]);
            expected.truncate(most);
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

//! Selects the best of many values without sorting all of them.

/// Stands for a missing distance.
pub const NOWHERE: u16 = u16::MAX;

/// The indices of the smallest distances, in order; of equally distant ones, the first.
pub fn nearest(distances: &[u16], most: usize) -> Vec<usize> {
    let counts = counts(distances);
    let mut left = most;
    // Below the limit all are taken; at the limit, as many as there is room for.
    let mut limit = counts.len();
    for (distance, count) in counts.into_iter().enumerate() {
        if count > left {
            limit = distance;
            break;
        }
        left -= count;
    }
    let mut places = Vec::new();
    for (place, &distance) in distances.iter().enumerate() {
        let far = usize::from(distance);
        if far > limit || distance == NOWHERE {
            continue;
        }
        if far == limit {
            if left == 0 {
                continue;
            }
            left -= 1;
        }
        places.push(place);
    }
    places
}

/// The number of entries for each distance.
fn counts(distances: &[u16]) -> Vec<usize> {
    let there = distances.iter().copied().filter(|it| *it != NOWHERE);
    let farthest = there.clone().max().unwrap_or_default();
    let mut counts = vec![0; usize::from(farthest) + 1];
    for distance in there {
        counts[usize::from(distance)] += 1;
    }
    counts
}

/// The indices of the best scores above zero, unordered; of equals the first.
pub fn best(scores: &[f32], most: usize) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(2 * most);
    let mut least = 0.0;
    for (place, &score) in scores.iter().enumerate() {
        // A later one with the score of the worst kept one is not better.
        if score > least {
            best.push((place, score));
            if best.len() == 2 * most {
                keep_best(&mut best, most);
                least = best.iter().fold(f32::INFINITY, |least, it| least.min(it.1));
            }
        }
    }
    keep_best(&mut best, most);
    best
}

/// Keeps the best, unordered.
pub fn keep_best(scored: &mut Vec<(usize, f32)>, most: usize) {
    if scored.len() > most {
        scored.select_nth_unstable_by(most, better);
        scored.truncate(most);
    }
}

/// Orders the best first; of equals the one with the lower index.
pub fn better(a: &(usize, f32), b: &(usize, f32)) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// The highest score; zero if none is above it.
pub fn greatest(scores: &[f32]) -> f32 {
    let larger = |most: f32, score: &f32| if *score > most { *score } else { most };
    scores.iter().fold(0.0, larger)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nearest_are_those_of_a_sorted_list(
            distances in prop::collection::vec(prop_oneof![0..9_u16, Just(NOWHERE)], 0..60),
            most in 0..70_usize,
        ) {
            let mut expected: Vec<usize> = (0..distances.len()).collect();
            expected.retain(|at| distances[*at] != NOWHERE);
            expected.sort_by_key(|at| distances[*at]);
            expected.truncate(most);
            expected.sort_unstable();
            prop_assert_eq!(nearest(&distances, most), expected);
        }

        #[test]
        fn the_best_are_those_of_a_sorted_list(
            scores in prop::collection::vec(prop_oneof![Just(f32::NAN), (0..7_u8).prop_map(f32::from)], 0..80),
            most in 1..12_usize,
        ) {
            let there = scores.iter().copied().enumerate();
            let mut expected: Vec<(usize, f32)> = there.filter(|(_, score)| *score > 0.0).collect();
            expected.sort_by(better);
            let first = expected.first().map_or(0.0, |best| best.1);
            prop_assert_eq!(greatest(&scores), first);
            expected.truncate(most);
            let mut found = best(&scores, most);
            found.sort_by(better);
            prop_assert_eq!(found, expected);
        }
    }
}

//! Tells apart what has one name.

use std::collections::HashSet;

/// Numbers names that are there twice, `note` and `note_2`, so that none of what has them is lost.
pub(super) fn numbered(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let name = |name: String| {
        if seen.insert(name.clone()) {
            return name;
        }
        let mut number = 2_u64;
        let mut other = format!("{name}_{number}");
        while !taken.insert(other.clone()) {
            number += 1;
            other = format!("{name}_{number}");
        }
        other
    };
    names.into_iter().map(name).collect()
}

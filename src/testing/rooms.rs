//! Which room imports which: the rule of `docs/ARCHITECTURE.md`. Circles between files are found by
//! `.ci/import-circles`.

use std::collections::BTreeSet;
use std::path::Path;

/// A room imports only rooms that stand before it.
const ROOMS: [&str; 13] = [
    "extract",
    "graph",
    "demo",
    "memory",
    "knowledge",
    "agent",
    "config",
    "conversation",
    "wiring",
    "http",
    "mcp",
    "web",
    "cli",
];

/// Neither rooms nor imported by any outside tests: the roots of both crates, and what tests share.
const ROOTS: [&str; 3] = ["lib", "main", "testing"];

/// The room of a file, by its path below `src`.
fn room(path: &Path) -> String {
    let first = path.iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// The rooms that a text imports by a full path, whatever it does with them.
fn imported(text: &str) -> BTreeSet<&'static str> {
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let lines: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    let text = lines.join("\n");
    let paths = ["crate::", "muninn::"].into_iter().flat_map(|root| {
        let rests = text
            .match_indices(root)
            .map(|(at, _)| &text[at + root.len()..]);
        rests.collect::<Vec<_>>()
    });
    let names = paths.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    });
    let names: BTreeSet<&str> = names.collect();
    ROOMS
        .into_iter()
        .filter(|room| names.contains(room))
        .collect()
}

#[test]
fn a_room_imports_only_rooms_that_stand_before_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in ignore::Walk::new(&src).map(Result::unwrap) {
        let below = file.path().strip_prefix(&src).unwrap();
        if below.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let room = room(below);
        if ROOTS.contains(&room.as_str()) {
            continue;
        }
        let place = ROOMS.iter().position(|it| *it == room);
        let place = place.unwrap_or_else(|| panic!("{room} is no room of docs/ARCHITECTURE.md"));
        let text = std::fs::read_to_string(file.path()).unwrap();
        let others = imported(&text).into_iter().filter(|other| *other != room);
        wrong.extend(
            others
                .filter(|other| !ROOMS[..place].contains(other))
                .map(|other| format!("{} imports {other}", below.display())),
        );
        seen.insert(room);
    }
    assert_eq!(seen, ROOMS.into_iter().map(str::to_owned).collect());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

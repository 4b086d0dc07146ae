//! Compares the name of a thing with the name of a list of such things.

/// Whether a word in lower case is another one, or that with an ending of the plural: "room" and "rooms",
/// "rechnung" and "rechnungen".
pub(super) fn is_one_of(thing: &str, list: &str) -> bool {
    const ENDINGS: [&str; 6] = ["", "s", "es", "e", "n", "en"];
    let ending = list.strip_prefix(thing);
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_one_of_a_list_that_has_its_name() {
        for (thing, list, expected) in [
            ("room", "rooms", true),
            ("zimmer", "zimmer", true),
            ("rechnung", "rechnungen", true),
            ("salle", "salles", true),
            ("car", "cards", false),
            ("rooms", "room", false),
            ("room", "offices", false),
        ] {
            assert_eq!(is_one_of(thing, list), expected, "{thing} {list}");
        }
    }
}

//! Writes names in Latin letters. The embedded engine reads no others in a pattern, not even
//! between backticks, so a label or property of other letters could not be asked for.

/// Lower-case letters with what is written for them.
const LETTERS: &[(&str, &str)] = &[
    ("àáâãåāăąаαά", "a"),
    ("äæ", "ae"),
    ("б", "b"),
    ("çćĉċč", "c"),
    ("чχ", "ch"),
    ("ďđðдδ", "d"),
    ("èéêëēĕėęěеёэєεέ", "e"),
    ("фφ", "f"),
    ("ĝğġģгґγ", "g"),
    ("ĥħ", "h"),
    ("ìíîïĩīĭįıийіїηήιίϊΐ", "i"),
    ("ĵј", "j"),
    ("ķкκ", "k"),
    ("х", "kh"),
    ("ĺļľŀłлλ", "l"),
    ("мμ", "m"),
    ("ñńņňŋнν", "n"),
    ("òóôõōŏőоοόωώ", "o"),
    ("öøœ", "oe"),
    ("пπ", "p"),
    ("ψ", "ps"),
    ("ŕŗřрρ", "r"),
    ("śŝşšșсσς", "s"),
    ("ш", "sh"),
    ("щ", "shch"),
    ("ß", "ss"),
    ("ţťŧțтτ", "t"),
    ("þθ", "th"),
    ("ц", "ts"),
    ("ùúûũūŭůűųуў", "u"),
    ("ü", "ue"),
    ("вβ", "v"),
    ("ŵ", "w"),
    ("ξ", "x"),
    ("ýÿŷыυύϋΰ", "y"),
    ("я", "ya"),
    ("ю", "yu"),
    ("źżžзζ", "z"),
    ("ж", "zh"),
    ("ъь", ""),
];

/// The mark of `ä`, where it is a character of its own, as in the file names of a Mac.
const DIAERESIS: char = '\u{308}';

/// Replaces letters that have Latin ones. Other characters stay.
pub(super) fn latin(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        let lower = c.to_lowercase().next().unwrap_or(c);
        let known = LETTERS.iter().find(|(letters, _)| letters.contains(lower));
        match known {
            Some((_, latin)) if c.is_uppercase() => {
                let mut letters = latin.chars();
                written.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                written.push_str(letters.as_str());
            }
            Some((_, latin)) => written.push_str(latin),
            None if c == DIAERESIS && written.ends_with(['a', 'o', 'u', 'A', 'O', 'U']) => {
                written.push('e');
            }
            None if matches!(c, '\u{300}'..='\u{36F}') => {}
            None => written.push(c),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_several_scripts_become_latin_ones() {
        for (text, expected) in [
            ("Größe", "Groesse"),
            ("Straße", "Strasse"),
            ("ÄRGER", "AeRGER"),
            ("Auftra\u{308}ge", "Auftraege"),
            ("re\u{301}fe\u{301}rence", "reference"),
            ("référence", "reference"),
            ("Łódź", "Lodz"),
            ("Название", "Nazvanie"),
            ("Щука", "Shchuka"),
            ("Τιμή", "Timi"),
            ("Price € 2", "Price € 2"),
            ("日本", "日本"),
        ] {
            assert_eq!(latin(text), expected, "{text}");
        }
    }
}

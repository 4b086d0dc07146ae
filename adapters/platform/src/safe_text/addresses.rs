//! What counts as the address of something, and whose it is.

/// The host of an address, without `www.` and port.
pub(super) fn host(address: &str) -> String {
    let lower = address.to_lowercase();
    let rest = lower
        .split_once("://")
        .map_or(lower.as_str(), |(_, rest)| rest);
    let rest = rest.strip_prefix("mailto:").unwrap_or(rest);
    let rest = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let rest = rest.rsplit('@').next().unwrap_or_default();
    let rest = rest.split(':').next().unwrap_or_default();
    rest.strip_prefix("www.").unwrap_or(rest).to_owned()
}

pub(super) fn looks_like_address(word: &str) -> bool {
    if word.contains("://") || word.starts_with("www.") || word.starts_with("mailto:") {
        return true;
    }
    let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let last = labels.last().copied().unwrap_or_default();
    labels.len() > 1
        && labels.iter().all(is_label)
        && last.chars().count() >= 2
        && last.chars().all(char::is_alphabetic)
}

/// Returns lower-case text without marks, with lookalike dots and letters replaced by plain ones.
pub(super) fn plain(words: &str) -> String {
    let decoded = decoded_text(words);
    let shown = decoded.chars().filter_map(|c| match c {
        '*' | '`' | '~' | '\\' | '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' => {
            None
        }
        '\u{3002}' | '\u{FF61}' | '\u{2024}' | '\u{FE52}' | '\u{B7}' | '\u{2219}' => Some('.'),
        '\u{2044}' | '\u{2215}' | '\u{29F8}' => Some('/'),
        '\u{2236}' | '\u{A789}' => Some(':'),
        // Full-width characters.
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0),
        other => Some(other),
    });
    shown.collect::<String>().to_lowercase()
}

/// Returns a target as a client follows it: without escapes, entities, blanks and control
/// characters.
pub(super) fn decoded(written: &str) -> String {
    let text = decoded_text(written);
    let mut target = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let escapes = c == '\\' && characters.peek().is_some_and(char::is_ascii_punctuation);
        if !escapes && !c.is_whitespace() && !c.is_control() {
            target.push(c);
        }
    }
    target
}

fn decoded_text(text: &str) -> String {
    const NAMED: [(&str, char); 16] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("colon", ':'),
        ("sol", '/'),
        ("period", '.'),
        ("commat", '@'),
        ("lpar", '('),
        ("rpar", ')'),
        ("Tab", '\t'),
        ("NewLine", '\n'),
        ("num", '#'),
        ("quest", '?'),
        ("equals", '='),
        ("bsol", '\\'),
    ];
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let end = after.find(';').filter(|end| *end <= 10);
        let sign = end.and_then(|end| {
            let name = &after[..end];
            let number = match name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => name
                    .strip_prefix('#')
                    .and_then(|digits| digits.parse().ok()),
            };
            let named = NAMED.iter().find(|(known, _)| *known == name);
            number
                .and_then(char::from_u32)
                .or(named.map(|(_, sign)| *sign))
        });
        match (sign, end) {
            (Some(sign), Some(end)) => {
                decoded.push(sign);
                rest = &after[end + 1..];
            }
            _ => {
                decoded.push('&');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

//! Removes the markup within a line of reStructuredText.

/// Converts ``:ref:`text <target>` `` to `text`.
pub(super) fn inline(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        if let Some(code) = from.strip_prefix("``") {
            let end = code.find("``").map_or(from.len(), |end| end + 4);
            text.push_str(before);
            text.push('`');
            text.push_str(from[..end].trim_matches('`'));
            text.push('`');
            rest = &from[end..];
            continue;
        }
        let Some(end) = from[1..].find('`') else {
            break;
        };
        text.push_str(without_role(before));
        let inside = &from[1..=end];
        let shown = inside
            .rsplit_once(" <")
            .filter(|(_, link)| link.ends_with('>'));
        text.push_str(
            shown
                .map_or(inside, |(shown, _)| shown)
                .trim_start_matches(['~', '!']),
        );
        rest = from[end + 2..].trim_start_matches('_');
    }
    text.push_str(rest);
    text
}

/// Removes the name of a role at the end, as in ``:func:`x` `` and ``:py:func:`x` ``.
fn without_role(text: &str) -> &str {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | ':');
    let begin = text.trim_end_matches(is_of_name).len();
    let role = text[begin..].find(':').map(|at| begin + at);
    // A role begins no word's second half, and has a name.
    let is_role = |at: &usize| {
        text.ends_with(':')
            && text.len() - at > 2
            && !text[..*at].ends_with(|c: char| c.is_alphanumeric())
    };
    role.filter(is_role).map_or(text, |at| &text[..at])
}

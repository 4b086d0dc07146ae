//! What a line of Markdown is.

use super::inline;

/// Whether it is a rule: three or more of one sign and nothing else.
pub(super) fn is_rule(content: &str) -> bool {
    let mut signs = content.chars().filter(|c| *c != ' ');
    let Some(first) = signs.next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    signs.clone().all(|c| c == first) && signs.count() >= 2
}

pub(super) fn heading(content: &str) -> Option<String> {
    let text = content.trim_start_matches('#');
    let level = content.len() - text.len();
    let text = text.strip_prefix(' ')?.trim();
    if !(1..=6).contains(&level) || text.is_empty() {
        return None;
    }
    let text = text.trim_end_matches('#').trim_end();
    let shown = inline::convert(text);
    Some(if level <= 3 {
        format!("{} {shown}", &content[..level])
    } else {
        format!("**{}**", shown.replace("**", ""))
    })
}

/// Parses a list item: Discord's marker, and the text.
pub(super) fn item(content: &str) -> Option<(&'static str, &str)> {
    let (marker, item) = content.split_once(' ')?;
    if !matches!(marker, "-" | "*" | "+") {
        return None;
    }
    let item = item.trim_start();
    let task = |box_: &str| item.strip_prefix(box_);
    if let Some(task) = task("[ ] ") {
        return Some(("- ☐", task));
    }
    if let Some(task) = task("[x] ").or_else(|| task("[X] ")) {
        return Some(("- ☑", task));
    }
    Some(("-", item))
}

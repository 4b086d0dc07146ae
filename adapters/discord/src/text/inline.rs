//! Converts inline Markdown.

use muninn_platform::{backticks, balanced, closing_backticks};

use super::fence::{ZERO_WIDTH_SPACE, unfenced};

/// Tags that become Discord's marks, if they are closed in the same line.
const MARKS: [(&str, &str); 11] = [
    ("b", "**"),
    ("strong", "**"),
    ("summary", "**"),
    ("i", "*"),
    ("em", "*"),
    ("u", "__"),
    ("s", "~~"),
    ("del", "~~"),
    ("strike", "~~"),
    ("code", "`"),
    ("kbd", "`"),
];

/// Tags of which only the content is shown.
const BARE: [&str; 8] = [
    "p", "div", "span", "sub", "sup", "small", "details", "center",
];

const ENTITIES: [(&str, &str); 6] = [
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&nbsp;", " "),
];

/// Converts a line for Discord.
pub(super) fn convert(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let used = match c {
            '`' => code(rest, &mut shown),
            '\\' => escaped(rest, &mut shown),
            '<' => bracketed(rest, &mut shown),
            '[' => link(rest, &mut shown),
            '&' => entity(rest, &mut shown),
            '|' => bars(rest, &mut shown),
            'h' => address(rest, &mut shown),
            _ => None,
        };
        let used = used.unwrap_or_else(|| {
            shown.push(c);
            c.len_utf8()
        });
        rest = &rest[used..];
    }
    shown
}

/// Returns the text of a table cell without marks, which a code block would show.
pub(super) fn plain(cell: &str) -> String {
    let mut plain = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(c) = rest.chars().next() {
        let used = match c {
            '[' => link(rest, &mut plain),
            '&' => entity(rest, &mut plain),
            '<' => line_break(rest).inspect(|_| plain.push(' ')),
            'h' => address(rest, &mut plain),
            '*' | '~' if rest.starts_with("**") || rest.starts_with("~~") => Some(2),
            '`' => span(rest).map(|(code, used)| {
                plain.push_str(code);
                used
            }),
            _ => None,
        };
        let used = used.unwrap_or_else(|| {
            plain.push(c);
            c.len_utf8()
        });
        rest = &rest[used..];
    }
    plain
}

/// Parses inline code: its text without backticks, and its end.
fn span(rest: &str) -> Option<(&str, usize)> {
    let ticks = backticks(rest);
    let end = ticks + closing_backticks(&rest[ticks..], ticks)?;
    let code = &rest[ticks..end - ticks];
    let bare = code.strip_prefix(' ').and_then(|it| it.strip_suffix(' '));
    let code = bare.filter(|it| !it.trim().is_empty()).unwrap_or(code);
    Some((code, end))
}

/// Copies inline code unchanged. Discord would read three backticks as a block.
fn code(rest: &str, shown: &mut String) -> Option<usize> {
    let ticks = backticks(rest);
    let Some(closing) = closing_backticks(&rest[ticks..], ticks) else {
        shown.push_str(&rest[..ticks]);
        return Some(ticks);
    };
    let end = ticks + closing;
    if ticks < 3 {
        shown.push_str(&unfenced(&rest[..end]));
    } else {
        shown.push_str(&format!("``{}``", unfenced(&rest[ticks..end - ticks])));
    }
    Some(end)
}

/// Keeps an escaped sign escaped. A backslash at the end is a line break, which is there anyway.
fn escaped(rest: &str, shown: &mut String) -> Option<usize> {
    let Some(next) = rest[1..].chars().next() else {
        return Some(1);
    };
    next.is_ascii_punctuation().then(|| {
        shown.push_str(&rest[..2]);
        2
    })
}

/// Copies an address unchanged, whatever signs it contains.
fn address(rest: &str, shown: &mut String) -> Option<usize> {
    if !rest.starts_with("https://") && !rest.starts_with("http://") {
        return None;
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | ')' | ']' | '|' | '`' | '*');
    let length = rest.find(ends).unwrap_or(rest.len());
    shown.push_str(&rest[..length]);
    Some(length)
}

/// Converts `[words](address)`: Discord would hide the address behind the words, so both are shown.
fn link(rest: &str, shown: &mut String) -> Option<usize> {
    let words_end = balanced(rest, '[', ']')?;
    let target = rest[words_end..]
        .strip_prefix('(')
        .map(|_| &rest[words_end..])?;
    let target_end = balanced(target, '(', ')')?;
    let words = rest[1..words_end - 1].trim();
    let target = target[1..target_end - 1].trim();
    // A title in quotes may follow.
    let target = target.split([' ', '\t']).next().unwrap_or_default();
    let target = target.trim_start_matches('<').trim_end_matches('>');
    let used = words_end + target_end;
    let is_address = target.starts_with("https://") || target.starts_with("http://");
    let target = if is_address {
        format!("<{target}>")
    } else {
        target.to_owned()
    };
    let bare = target.trim_matches(['<', '>']);
    let without_scheme = bare.split_once("://").map_or(bare, |(_, rest)| rest);
    if words.is_empty() || words == bare || words == without_scheme.trim_end_matches('/') {
        shown.push_str(&target);
    } else if words.chars().all(|c| c.is_ascii_digit()) {
        shown.push_str(&format!("[{words}] {target}"));
    } else {
        shown.push_str(&format!("{} ({target})", convert(words)));
    }
    Some(used)
}

fn entity(rest: &str, shown: &mut String) -> Option<usize> {
    let (entity, sign) = ENTITIES
        .iter()
        .find(|(entity, _)| rest.starts_with(entity))?;
    match *sign {
        // A bare bracket must not become a tag or a mention.
        "<" => {
            shown.push('<');
            shown.push(ZERO_WIDTH_SPACE);
        }
        ">" if shown.is_empty() => shown.push_str("\\>"),
        sign => shown.push_str(sign),
    }
    Some(entity.len())
}

/// Escapes double bars: Discord would hide what is between two of them.
fn bars(rest: &str, shown: &mut String) -> Option<usize> {
    let length = rest.len() - rest.trim_start_matches('|').len();
    (length > 1).then(|| {
        shown.push_str(&"\\|".repeat(length));
        length
    })
}

/// Converts `<…>`: an address or a tag.
fn bracketed(rest: &str, shown: &mut String) -> Option<usize> {
    if let Some(length) = line_break(rest) {
        shown.push('\n');
        return Some(length);
    }
    if let Some(comment) = rest.strip_prefix("<!--") {
        let end = comment.find("-->")?;
        return Some("<!--".len() + end + "-->".len());
    }
    let end = rest.find('>')?;
    let inside = &rest[1..end];
    if inside.starts_with("https://") || inside.starts_with("http://") {
        shown.push_str(&rest[..=end]);
        return Some(end + 1);
    }
    let name = inside.trim_start_matches('/');
    let name = name
        .split([' ', '/'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    if BARE.contains(&name.as_str()) {
        return Some(end + 1);
    }
    if name == "a" {
        return anchor(rest, end, shown);
    }
    let (_, mark) = MARKS.iter().find(|(tag, _)| *tag == name)?;
    paired(rest, end, &name, mark, shown)
}

/// Breaks Discord's own forms between angle brackets, and runs of three backticks. It works on the
/// result, since a removed tag or an entity may have joined them.
pub(super) fn defused(shown: &str) -> String {
    let mut defused = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = rest.find(['<', '`']) {
        let (before, from) = rest.split_at(at);
        defused.push_str(before);
        let ticks = backticks(from);
        let used = match ticks {
            0 => {
                defused.push('<');
                if from[1..]
                    .split_once('>')
                    .is_some_and(|(inside, _)| is_discords(inside))
                {
                    defused.push(ZERO_WIDTH_SPACE);
                }
                1
            }
            1 | 2 => {
                let code = closing_backticks(&from[ticks..], ticks).unwrap_or(0);
                defused.push_str(&from[..ticks + code]);
                ticks + code
            }
            3.. => {
                defused.push_str(&unfenced(&from[..ticks]));
                ticks
            }
        };
        rest = &from[used..];
    }
    defused + rest
}

/// Whether it is a form of Discord's: `#123`, `:name:123`, `a:name:123`, `t:123`, `/name:123`,
/// `id:guide`, `@123`, or a future one.
fn is_discords(inside: &str) -> bool {
    let has_id = inside.chars().any(|c| c.is_ascii_digit());
    let is_timed = inside.starts_with("t:") || inside.starts_with("a:") || inside.starts_with("/");
    inside.starts_with(['#', ':', '@'])
        || inside.starts_with("id:")
        || inside.starts_with("sound:")
        || (is_timed && has_id && inside.contains(':'))
}

fn line_break(rest: &str) -> Option<usize> {
    let end = rest.find('>')?;
    let tag: String = rest[1..end].chars().filter(|c| *c != ' ').collect();
    matches!(tag.to_lowercase().as_str(), "br" | "br/").then_some(end + 1)
}

/// Converts `<b>words</b>`, if it is closed.
fn paired(rest: &str, end: usize, name: &str, mark: &str, shown: &mut String) -> Option<usize> {
    if rest.starts_with("</") {
        return None;
    }
    let close = format!("</{name}>");
    let at = rest.to_ascii_lowercase()[end + 1..].find(&close)?;
    let words = &rest[end + 1..end + 1 + at];
    if words.trim().is_empty() {
        return None;
    }
    let words = if mark == "`" {
        words.replace('`', "'")
    } else {
        convert(words)
    };
    shown.push_str(&format!("{mark}{words}{mark}"));
    Some(end + 1 + at + close.len())
}

/// Converts `<a href="address">words</a>`.
fn anchor(rest: &str, end: usize, shown: &mut String) -> Option<usize> {
    let tag = &rest[..end];
    let target = tag.split(['"', '\'']).nth(1)?;
    let at = rest.to_ascii_lowercase()[end + 1..].find("</a>")?;
    let words = &rest[end + 1..end + 1 + at];
    let as_link = format!("[{}]({target})", words.replace(['[', ']'], ""));
    link(&as_link, shown)?;
    Some(end + 1 + at + "</a>".len())
}

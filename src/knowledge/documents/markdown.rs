//! Splits a Markdown text into sections.

use super::outline::{Outline, Section};

/// Returns title and sections. The first heading is the title if it is the only one of the highest
/// level.
pub(super) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut fence: Option<Fence> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let was_open = fence.is_some();
        if let Some(found) = Fence::of(line) {
            match fence {
                None => fence = Some(found),
                Some(open) if found.closes(open) => fence = None,
                Some(_other) => {}
            }
        }
        let heading = if was_open || fence.is_some() {
            None
        } else {
            let underlined = lines.peek().and_then(|next| underlined(line, next));
            if underlined.is_some() {
                lines.next();
            }
            hashed(line).or(underlined)
        };
        match heading {
            Some((level, heading)) => outline.sections.push(Section {
                level,
                heading,
                ..Section::default()
            }),
            None => {
                let body = match outline.sections.last_mut() {
                    Some(section) => &mut section.body,
                    None => &mut outline.opening,
                };
                body.push_str(line);
                body.push('\n');
            }
        }
    }
    lift_title(&mut outline);
    outline
}

fn lift_title(outline: &mut Outline) {
    let Some(first) = outline.sections.first() else {
        return;
    };
    let is_alone = outline.sections[1..]
        .iter()
        .all(|other| other.level > first.level);
    if is_alone && outline.opening.trim().is_empty() {
        let first = outline.sections.remove(0);
        outline.title = Some(first.heading);
        outline.opening = first.body;
    }
}

/// A line that opens or closes a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    /// Nothing follows the marks.
    is_bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        let mark = line
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.chars().take_while(|other| *other == mark).count();
        let rest = &line[length..];
        // Inline code may also stand between three marks.
        let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        is_fence.then_some(Self {
            mark,
            length,
            is_bare: rest.is_empty(),
        })
    }

    /// A nested code block has fewer marks, or other ones.
    fn closes(self, open: Self) -> bool {
        self.is_bare && self.mark == open.mark && self.length >= open.length
    }
}

/// `## Heading ##`
fn hashed(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let heading = &line[level..];
    if !(1..=6).contains(&level) || !heading.starts_with([' ', '\t']) {
        return None;
    }
    let heading = without_closing(without_anchor(heading));
    (!heading.is_empty()).then(|| (level, heading.to_owned()))
}

/// Removes the marks behind a heading; those of a word, such as `C#`, stay.
fn without_closing(heading: &str) -> &str {
    let bare = heading.trim_end_matches('#');
    match bare.is_empty() || bare.ends_with([' ', '\t']) {
        true => bare.trim(),
        false => heading,
    }
}

/// Removes the braces of `Heading { #anchor .class }`, as written for Pandoc, `MkDocs` and
/// Docusaurus.
fn without_anchor(heading: &str) -> &str {
    let heading = heading.trim();
    let braces = heading
        .strip_suffix('}')
        .and_then(|rest| rest.rsplit_once('{'));
    match braces {
        Some((before, inside)) if inside.trim_start().starts_with('#') => before.trim(),
        Some(_) | None => heading,
    }
}

/// Parses a heading underlined with `=` or `-`.
fn underlined(line: &str, next: &str) -> Option<(usize, String)> {
    let (line, next) = (line.trim(), next.trim_end());
    let is_line_of = |mark: char| next.len() >= 3 && next.chars().all(|c| c == mark);
    let is_text = !line.is_empty() && !line.starts_with(['#', '-', '*', '|', '>', '=']);
    match (is_text, is_line_of('='), is_line_of('-')) {
        (true, true, _) => Some((1, line.to_owned())),
        (true, false, true) => Some((2, line.to_owned())),
        (_, _, _) => None,
    }
}

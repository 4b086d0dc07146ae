//! The sections of a Markdown text.

use super::Outline;

/// A heading and what stands under it, up to the next heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Section {
    /// 1 for the highest.
    pub(super) level: usize,
    pub(super) heading: String,
    pub(super) body: String,
    /// It is a page of a PDF, which has no heading of its own.
    pub(super) is_page: bool,
    /// The page's number.
    pub(super) page: usize,
}

/// Title and sections. A single highest heading that comes first is the title.
pub(super) fn outline(text: &str) -> Outline {
    let text = without_front_matter(text);
    let mut outline = Outline::default();
    let mut fence: Option<&str> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(mark) = fence_mark(line) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_other) => {}
            }
        }
        let heading = if fence.is_some() {
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

/// Drops the settings between two lines of dashes with which some tools begin a file.
fn without_front_matter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else {
        return text;
    };
    rest.split_once("\n---\n")
        .map_or(text, |(_settings, body)| body)
}

fn fence_mark(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    ["```", "~~~"]
        .into_iter()
        .find(|mark| line.starts_with(mark))
}

/// `## Heading ##`
fn hashed(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let heading = &line[level..];
    if !(1..=6).contains(&level) || !heading.starts_with([' ', '\t']) {
        return None;
    }
    let heading = heading.trim().trim_end_matches('#').trim();
    (!heading.is_empty()).then(|| (level, heading.to_owned()))
}

/// A line over a line of `=` or `-`.
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

//! Converts the bot's Markdown for Slack. Pure.
//!
//! A `markdown` block takes Markdown unchanged, including tables and code; only Slack's own control
//! sequences (`<!here>`, `<@U…>`, `<#C…>`) are escaped. In addition every message has a `text` in
//! Slack's own markup, for notifications and clients without blocks. In it `&`, `<` and `>` are
//! escaped, so that every remaining `<` belongs to a link made here.

use muninn_platform::{Columns, SafeText, TextLimit};
use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Splits a word for machines, invisibly for readers.
const ZERO_WIDTH_SPACE: char = '\u{200B}';

/// Maximum bytes of a `text` when a message is edited, after escaping.
pub(crate) const EDITED_TEXT: usize = 4_000;

/// Bytes of Markdown for the `text` of a message; its blocks have all of it.
const FALLBACK: usize = 3_000;

/// Indentation per level of a nested list.
const INDENT: &str = "    ";

/// Words after `<` and `!` that notify people in Slack.
const MASS_MENTIONS: [&str; 5] = ["channel", "here", "everyone", "group", "subteam"];

/// Converts for a `markdown` block: escapes the `<` of control sequences as Slack documents it, in
/// code too, where Slack still shows it as `<`. Nothing else changes, so copied code is as written.
/// [`SafeText`] never ends within such a sequence, so the result for a longer text extends the
/// result for its beginning: a stream can be appended to.
pub(crate) fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        match c {
            '<' if is_control(after) => safe.push_str("&lt;"),
            // Regardless of what follows: a stream that ends here cannot know it yet.
            '@' | '#' | '!' if is_behind_an_entity(&text[..at]) => {
                safe.push(ZERO_WIDTH_SPACE);
                safe.push(c);
            }
            other => safe.push(other),
        }
    }
    safe
}

/// Whether this text after a `<` makes a mention or a channel link.
fn is_control(after: &str) -> bool {
    let mut characters = after.chars();
    match (characters.next(), characters.next()) {
        (Some('@'), Some(next)) => matches!(next, 'U' | 'W'),
        (Some('#'), Some(next)) => matches!(next, 'C' | 'G' | 'D'),
        (Some('!'), Some(_)) => MASS_MENTIONS.iter().any(|word| {
            let said = after.as_bytes().get(1..=word.len());
            said.is_some_and(|said| said.eq_ignore_ascii_case(word.as_bytes()))
        }),
        (Some(_) | None, _) => false,
    }
}

/// Whether the text ends in a `<` written as an entity.
fn is_behind_an_entity(before: &str) -> bool {
    let written = ["&lt;", "&LT;"];
    written.iter().any(|written| before.ends_with(written))
        || before.ends_with(';') && is_zero_padded(before)
}

/// `&#0060;` is a `<` too.
fn is_zero_padded(before: &str) -> bool {
    let Some(at) = before.rfind("&#") else {
        return false;
    };
    let number = &before[at + 2..before.len() - 1];
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    u32::from_str_radix(digits, radix) == Ok(u32::from(b'<'))
}

/// Escapes a text as Slack documents it.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        push_escaped(c, &mut escaped);
    }
    escaped
}

fn push_escaped(c: char, escaped: &mut String) {
    match c {
        '&' => escaped.push_str("&amp;"),
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        other => escaped.push(other),
    }
}

/// Converts the beginning of a text to Slack's markup, for notifications and old clients.
pub(crate) fn fallback(text: &SafeText) -> String {
    let beginning = |bytes| {
        let parts = text.split(TextLimit::Bytes(bytes));
        let first = parts.first().map_or("", SafeText::as_str).to_owned();
        (first, if parts.len() > 1 { "\n…" } else { "" })
    };
    let whole = [FALLBACK, FALLBACK / 2, FALLBACK / 4].into_iter();
    let mut whole = whole.map(|bytes| {
        let (first, more) = beginning(bytes);
        mrkdwn(&first) + more
    });
    whole
        .find(|text| text.len() <= EDITED_TEXT)
        .unwrap_or_else(|| {
            let (first, more) = beginning(FALLBACK / 4);
            escape(&first) + more
        })
}

/// Converts Markdown to Slack's own markup.
pub(crate) fn mrkdwn(text: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MrkdwnWriter::default();
    for event in Parser::new_ext(text, options) {
        writer.take(event);
    }
    writer.out.trim().to_owned()
}

#[derive(Default)]
struct MrkdwnWriter {
    out: String,
    /// The numbers of the next items; `None` for bullets.
    lists: Vec<Option<u64>>,
    quotes: usize,
    in_code: bool,
    /// Targets of the open links; `None` for a target that must not become a link.
    links: Vec<Option<String>>,
    table: Option<MonospaceTable>,
}

/// A table, shown in monospaced columns.
#[derive(Default)]
struct MonospaceTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl MrkdwnWriter {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => {
                self.mark('`');
                self.text(&code);
                self.mark('`');
            }
            Event::InlineHtml(html) | Event::Html(html) => self.text(&html),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.block();
                self.push_str("──────────");
            }
            Event::TaskListMarker(done) => self.push_str(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => self.text(&name),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.text(&math),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.block(),
            Tag::Heading { level, .. } => {
                self.block();
                if level != HeadingLevel::H6 {
                    self.mark('*');
                }
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
                self.push_str("> ");
            }
            Tag::CodeBlock(_) => {
                self.block();
                self.push_str("```");
                self.line_break();
                self.in_code = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.block();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.mark('_'),
            Tag::Strong => self.mark('*'),
            Tag::Strikethrough => self.mark('~'),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.open_link(&dest_url),
            Tag::Table(alignments) => {
                self.block();
                self.table = Some(MonospaceTable {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(String::new());
                }
            }
            Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) if level != HeadingLevel::H6 => self.mark('*'),
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::CodeBlock => {
                self.in_code = false;
                if !self.out.ends_with('\n') && !self.out.ends_with("> ") {
                    self.line_break();
                }
                self.push_str("```");
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Emphasis => self.mark('_'),
            TagEnd::Strong => self.mark('*'),
            TagEnd::Strikethrough => self.mark('~'),
            TagEnd::Link | TagEnd::Image => {
                if self.links.pop().flatten().is_some() {
                    self.push_str(">");
                }
            }
            TagEnd::Table => self.close_table(),
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::Item
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::HtmlBlock
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Returns where text goes: to the open cell, or to the output.
    fn target(&mut self) -> &mut String {
        match self.table.as_mut().and_then(|table| table.rows.last_mut()) {
            Some(row) if !row.is_empty() => row.last_mut().unwrap_or(&mut self.out),
            Some(_) | None => &mut self.out,
        }
    }

    fn push_str(&mut self, text: &str) {
        self.target().push_str(text);
    }

    /// Adds a mark for bold, italics and the like; monospaced text has none.
    fn mark(&mut self, mark: char) {
        if self.table.is_none() && self.links.iter().flatten().next().is_none() {
            self.out.push(mark);
        }
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' if self.table.is_none() => self.line_break(),
                '\n' => self.push_str(" "),
                // It would end the label of a link.
                '|' if !self.links.is_empty() => self.push_str("¦"),
                '`' if self.in_code && self.out.ends_with("``") => {
                    self.out.push(ZERO_WIDTH_SPACE);
                    self.out.push('`');
                }
                other => push_escaped(other, self.target()),
            }
        }
    }

    fn line_break(&mut self) {
        if self.table.is_some() {
            return self.push_str(" ");
        }
        self.out.push('\n');
        if self.quotes > 0 {
            self.out.push_str("> ");
        } else if !self.in_code {
            let levels = self.lists.len();
            self.out.push_str(&INDENT.repeat(levels.saturating_sub(1)));
        }
    }

    /// Begins a block, after an empty line outside of lists.
    fn block(&mut self) {
        let is_fresh = self.out.is_empty() || self.out.ends_with("> ") || self.out.ends_with("• ");
        if is_fresh || self.out.ends_with(". ") && !self.lists.is_empty() {
            return;
        }
        if self.lists.is_empty() && !self.out.ends_with("\n\n") {
            self.line_break();
        }
        self.line_break();
    }

    fn item(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") && !self.out.ends_with("> ") {
            self.line_break();
        }
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            Some(None) | None => "• ".to_owned(),
        };
        self.out.push_str(&bullet);
    }

    fn open_link(&mut self, target: &str) {
        let safe = |c: char| !c.is_whitespace() && !c.is_control();
        let is_link = ["https://", "http://", "mailto:"]
            .iter()
            .any(|scheme| target.starts_with(scheme))
            && target.chars().all(safe)
            && self.table.is_none()
            && self.links.iter().all(Option::is_none);
        if !is_link {
            return self.links.push(None);
        }
        let target = target
            .replace('&', "&amp;")
            .replace('<', "%3C")
            .replace('>', "%3E")
            .replace('|', "%7C");
        self.push_str(&format!("<{target}|"));
        self.links.push(Some(target));
    }

    fn close_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        self.push_str("```");
        self.line_break();
        for line in table.lines() {
            self.push_str(&line);
            self.line_break();
        }
        self.push_str("```");
    }
}

impl MonospaceTable {
    fn lines(&self) -> Vec<String> {
        let columns = Columns {
            between: "  ",
            crossing: "  ",
            // The width as shown, without escapes.
            width: |cell| {
                let shown = cell.replace("&lt;", "<").replace("&gt;", ">");
                shown.replace("&amp;", "&").chars().count()
            },
        };
        columns.lines(&self.rows, |column| {
            self.alignments.get(column) == Some(&Alignment::Right)
        })
    }
}

#[cfg(test)]
mod tests;

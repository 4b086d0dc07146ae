//! Converts an e-mail to Markdown.

use mail_parser::{Address, Message, MessageParser, MimeHeaders as _, PartType};
use serde_json::json;

use super::about;
use super::office::Marked;
use super::text::of_html;

/// Maximum depth of messages that are attached to messages.
const DEPTH: usize = 6;

/// Maximum number of messages within a mail. They are nested values: when those of 20,000 messages within one another are
/// dropped, the stack overflows.
const MAX_MESSAGES: usize = 500;
/// What makes a part a message. The parts of a digest are messages without saying so.
const MESSAGE_TYPES: [&str; 3] = ["message/rfc822", "message/global", "multipart/digest"];

/// Converts a mail without its attachments, except messages; the subject is the title. Also returns
/// how many attached messages are too deep.
///
/// # Errors
/// Fails with the reason, in words.
pub(super) fn of_eml(bytes: &[u8]) -> Result<(Marked, usize), String> {
    let lower = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let messages = MESSAGE_TYPES.map(|kind| lower.matches(kind).count());
    if messages.iter().sum::<usize>() > MAX_MESSAGES {
        return Err(format!(
            "it has more than {MAX_MESSAGES} messages within it"
        ));
    }
    let mail = MessageParser::default().parse(bytes);
    let mail = mail.filter(|mail| mail.from().is_some() || mail.subject().is_some());
    let mail = mail.ok_or("it is no mail: it has neither sender nor subject")?;
    let fields = json!({
        "title": mail.subject().unwrap_or_default(),
        "author": names(mail.from()),
        "date": day(&mail),
    });
    let about = about::of(fields.as_object().unwrap_or(&serde_json::Map::new()));
    let mut writer = MailWriter::default();
    writer.message(&mail, 0)?;
    Ok(((about, writer.markdown), writer.too_deep))
}

fn names(address: Option<&Address<'_>>) -> String {
    let all = address.into_iter().flat_map(Address::iter);
    let names = all.filter_map(|one| one.name().or(one.address()));
    names.collect::<Vec<_>>().join(", ")
}

fn day(mail: &Message<'_>) -> Option<String> {
    mail.date()
        .map(|date| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day))
}

#[derive(Debug, Default)]
struct MailWriter {
    markdown: String,
    /// The number of attached messages that were left out.
    too_deep: usize,
}

impl MailWriter {
    /// Writes the receivers, the text, and the attached messages of a message.
    fn message(&mut self, mail: &Message<'_>, depth: usize) -> Result<(), String> {
        self.field("To", &names(mail.to()));
        let mut text = body(mail, &mail.text_body)?;
        if text.trim().is_empty() {
            text = body(mail, &mail.html_body)?;
        }
        self.markdown.push_str(&text);
        let attached = mail.attachments().filter_map(|part| part.attachment_name());
        self.field("Attached", &attached.collect::<Vec<_>>().join(", "));
        for part in mail.attachments() {
            match &part.body {
                PartType::Message(_) if depth >= DEPTH => self.too_deep += 1,
                PartType::Message(inner) => self.attached(inner, depth + 1)?,
                PartType::Text(_)
                | PartType::Html(_)
                | PartType::Binary(_)
                | PartType::InlineBinary(_)
                | PartType::Multipart(_) => {}
            }
        }
        Ok(())
    }

    fn attached(&mut self, mail: &Message<'_>, depth: usize) -> Result<(), String> {
        let subject = mail.subject().unwrap_or_default();
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let heading = match subject.is_empty() {
            true => "Attached message",
            false => &subject,
        };
        let marks = "#".repeat(depth);
        self.markdown.push_str(&format!("\n{marks} {heading}\n\n"));
        self.field("From", &names(mail.from()));
        self.field("Date", &day(mail).unwrap_or_default());
        self.message(mail, depth)
    }

    fn field(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.markdown.push_str(&format!("{name}: {value}\n\n"));
        }
    }
}

/// Converts the parts of a body, each as its own kind: pictures may stand between texts, and a list
/// adds a plain footer to a page.
fn body(mail: &Message<'_>, parts: &[u32]) -> Result<String, String> {
    let mut markdown = String::new();
    for part in parts.iter().filter_map(|at| mail.part(*at)) {
        let text = match &part.body {
            PartType::Text(text) => plain(text),
            PartType::Html(html) => {
                let page = of_html(html).map_err(|error| error.to_string())?;
                page.markdown
            }
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => continue,
        };
        markdown.push_str(text.trim_end());
        markdown.push_str("\n\n");
    }
    Ok(markdown)
}

/// Escapes lines of plain text that look like Markdown headings.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with('#') {
        true => format!(" {line}\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}

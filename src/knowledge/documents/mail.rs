//! Converts an e-mail to Markdown.

use mail_parser::{Address, MessageParser};
use serde_json::json;

use super::about;
use super::office::Marked;
use super::text::of_html;

/// Converts its body without attachments; the subject is the title.
///
/// # Errors
/// Fails with the reason, in words.
pub(super) fn of_eml(bytes: &[u8]) -> Result<Marked, String> {
    let mail = MessageParser::default().parse(bytes);
    let mail = mail.filter(|mail| mail.from().is_some() || mail.subject().is_some());
    let mail = mail.ok_or("it is no mail: it has neither sender nor subject")?;
    let named = |address: Option<&Address<'_>>| {
        let all = address.into_iter().flat_map(Address::iter);
        let names = all.filter_map(|one| one.name().or(one.address()));
        names.collect::<Vec<_>>().join(", ")
    };
    let day = mail
        .date()
        .map(|date| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day));
    let fields = json!({
        "title": mail.subject().unwrap_or_default(),
        "author": named(mail.from()),
        "date": day,
    });
    let about = about::of(fields.as_object().unwrap_or(&serde_json::Map::new()));
    let mut markdown = String::new();
    let to = named(mail.to());
    if !to.is_empty() {
        markdown.push_str(&format!("To: {to}\n\n"));
    }
    let has_text = mail.text_body.iter().any(|part| {
        mail.parts
            .get(*part as usize)
            .is_some_and(|part| part.is_text() && !part.is_text_html())
    });
    match (has_text, mail.body_html(0)) {
        (false, Some(html)) => {
            let page = of_html(&html).map_err(|error| error.to_string())?;
            markdown.push_str(&page.markdown);
        }
        (_, _) => markdown.push_str(&plain(&mail.body_text(0).unwrap_or_default())),
    }
    let attached = mail.attachments().filter_map(|part| {
        use mail_parser::MimeHeaders as _;
        part.attachment_name().map(str::to_owned)
    });
    let attached: Vec<String> = attached.collect();
    if !attached.is_empty() {
        markdown.push_str(&format!("\n\nAttached: {}\n", attached.join(", ")));
    }
    Ok((about, markdown))
}

/// Escapes lines of plain text that look like Markdown headings.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with('#') {
        true => format!(" {line}\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}

//! Files that come with messages, and which of their content a model can read.
//!
//! Nobody in the conversation said what a file contains. Its text reaches the prompt as quoted
//! evidence, is kept apart from what the person said, and is never embedded.

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{Attachment, Cut, DownloadError, PriorMessages, Reply, TimeZone, one_line};

use crate::config::AttachmentConfig;
use crate::conversation::prior::prior_text;
use crate::extract;
use crate::extract::text::without_inline_files;
use crate::graph::{AttachedText, Turn, file_note, file_notes};
use crate::llm::Image;
use muninn_platform::redact::without_secrets;

/// Maximum number of files read per message.
const MOST_FILES: usize = 5;
/// Longest wait for one file.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum characters of a file's text in a prompt.
pub(super) const PROMPT_CHARS: usize = 24_000;
/// Maximum characters of a file's text kept with the turn, for later questions about it.
pub(super) const KEPT_CHARS: usize = 8_000;
/// Image types that the common services accept. Any other type would make them refuse the whole
/// request.
const IMAGES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// Reads files.
#[derive(Clone, Debug)]
pub struct Attachments {
    config: AttachmentConfig,
}

/// The content of the files that came with a message.
#[derive(Debug, Default)]
pub struct Files {
    pub texts: Vec<AttachedText>,
    pub images: Vec<Image>,
    /// One note per file, in order.
    notes: Vec<String>,
    /// The names of those that were not read to their end.
    read_in_part: Vec<String>,
    /// Why the earlier messages could not be read completely.
    pub cut: Option<Cut>,
    /// Whether this is the first answer of a conversation, and is given earlier messages.
    pub follows_prior_messages: bool,
}

/// What a model can read of one file.
enum Content {
    Text(String),
    Image(Image),
}

/// Why a model can read nothing of a file.
#[derive(Debug, thiserror::Error)]
enum NoContent {
    #[error(transparent)]
    Download(#[from] DownloadError),
    #[error("it is neither text nor a kind I know")]
    Kind,
    /// The reason, in words.
    #[error("{0}")]
    NoText(String),
    #[error("the model sees no images")]
    NoVision,
}

impl Attachments {
    pub fn new(config: AttachmentConfig) -> Self {
        Self { config }
    }

    /// Reads the files of a message. Notes say which files could not be read, so that the model
    /// knows too.
    pub async fn read(&self, reply: &mut dyn Reply, attachments: &[Attachment]) -> Files {
        let mut files = Files::default();
        for attachment in attachments.iter().take(MOST_FILES) {
            let name = safe_name(&attachment.name);
            match self.content(reply, attachment).await {
                Ok(Content::Text(whole)) => {
                    let whole = without_inline_files(&whole);
                    let read = bounded(&whole);
                    let clean = without_secrets(read);
                    let text = cut(&clean, PROMPT_CHARS);
                    if read.len() < whole.len() || text != clean {
                        files.read_in_part.push(name.clone());
                    }
                    files.notes.push(name.clone());
                    files.texts.push(AttachedText { name, text });
                }
                Ok(Content::Image(image)) => {
                    files.notes.push(name);
                    files.images.push(image);
                }
                Err(why) => {
                    tracing::debug!(error = &why as &dyn std::error::Error, "an unread file");
                    files
                        .notes
                        .push(format!("{name}, which was not read: {why}"));
                }
            }
        }
        if let Some(more @ 1..) = attachments.len().checked_sub(MOST_FILES) {
            files
                .notes
                .push(format!("{more} more, which were not read"));
        }
        files
    }

    /// Reads the images of a message alone, of which nothing is kept.
    pub async fn read_images(
        &self,
        reply: &mut dyn Reply,
        attachments: &[Attachment],
    ) -> Vec<Image> {
        let mut images = Vec::new();
        for attachment in attachments.iter().take(MOST_FILES) {
            if !media_type(attachment).starts_with("image/") {
                continue;
            }
            match self.content(reply, attachment).await {
                Ok(Content::Image(image)) => images.push(image),
                Ok(Content::Text(_)) => {}
                Err(why) => {
                    tracing::debug!(error = &why as &dyn std::error::Error, "an unread image");
                }
            }
        }
        images
    }

    async fn content(
        &self,
        reply: &mut dyn Reply,
        attachment: &Attachment,
    ) -> Result<Content, NoContent> {
        let media_type = media_type(attachment);
        let is_image = media_type.starts_with("image/");
        if is_image && !self.config.vision {
            return Err(NoContent::NoVision);
        }
        let most = self.config.bytes;
        if attachment.size.is_some_and(|size| size > most as u64) {
            return Err(DownloadError::TooLarge { most }.into());
        }
        let bytes = tokio::time::timeout(DOWNLOAD_TIMEOUT, reply.download(attachment, most))
            .await
            .unwrap_or(Err(DownloadError::TimedOut))?;
        if is_image {
            let known = IMAGES.iter().find(|known| media_type == **known);
            let media_type = known.ok_or(NoContent::Kind)?;
            return Ok(Content::Image(Image {
                media_type,
                bytes: Arc::from(bytes),
            }));
        }
        let is_pdf = media_type == "application/pdf" || bytes.starts_with(b"%PDF-");
        let read = tokio::task::spawn_blocking(move || match is_pdf {
            true => extract::pdf::pages(bytes)
                .map(|pages| pages.join("\n"))
                .map_err(|error| NoContent::NoText(error.to_string())),
            false => extract::text::decoded(&bytes).map_err(|_| NoContent::Kind),
        });
        let text = read.await.unwrap_or(Err(NoContent::Kind))?;
        Ok(Content::Text(text))
    }
}

impl Files {
    /// Restores the files from what a turn kept of them.
    pub fn of_turn(turn: &Turn) -> Self {
        let notes = file_notes(&turn.input).into_iter();
        // A cut text is longer by its mark.
        let is_cut = |file: &&AttachedText| file.text.chars().nth(KEPT_CHARS).is_some();
        let read_in_part = turn.files().filter(is_cut);
        Self {
            texts: turn.files().cloned().collect(),
            notes: notes.map(str::to_owned).collect(),
            read_in_part: read_in_part.map(|file| file.name.clone()).collect(),
            follows_prior_messages: turn.was_given_prior_messages(),
            ..Self::default()
        }
    }

    /// The person's text followed by a note per file: its name, or why it was not read.
    pub fn text_with_file_notes(&self, text: &str) -> String {
        if self.notes.is_empty() {
            return text.to_owned();
        }
        let notes: Vec<String> = self.notes.iter().map(|note| file_note(note)).collect();
        let parts = [text.trim(), &notes.join("\n")];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Adds the messages from before the bot joined the conversation, in about `chars` characters at
    /// most, with times of a time zone. They are evidence and are not kept.
    pub fn add_prior_messages(
        &mut self,
        prior: &PriorMessages,
        question: &str,
        chars: usize,
        zone: TimeZone,
    ) {
        if !prior.said.is_empty() {
            self.texts.push(AttachedText {
                text: prior_text(prior, question, chars, zone),
                ..AttachedText::of_prior_messages()
            });
        }
    }

    /// Whether files came with the message, also unreadable ones.
    pub fn were_sent(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Whether images came with the message that are not here, as they were read for an earlier answer.
    pub fn lack_images(&self) -> bool {
        let is_unread = |note: &str| {
            note.contains(", which was not read: ") || note.ends_with(", which were not read")
        };
        let is_text = |note: &String| self.texts.iter().any(|file| file.name == *note);
        let read = self.notes.iter().filter(|note| !is_unread(note));
        read.filter(|note| !is_text(note)).count() > self.images.len()
    }

    /// Whether there are files, not counting the earlier messages.
    pub fn has_files(&self) -> bool {
        let is_file = |file: &AttachedText| !file.is_prior_messages();
        self.texts.iter().any(is_file) || !self.images.is_empty()
    }

    /// The names of the files of which the model was given only a part, if there are any. `cut` are those of which the
    /// prompt had only a part of what was read.
    pub fn given_in_part(&self, cut: &[String]) -> Option<Vec<String>> {
        let files = self.texts.iter().filter(|it| !it.is_prior_messages());
        let names = files.map(|file| file.name.clone());
        let names = names.filter(|name| self.read_in_part.contains(name) || cut.contains(name));
        Some(names.collect()).filter(|names: &Vec<String>| !names.is_empty())
    }

    /// The texts to keep with the turn, shorter than those in the prompt. Of the earlier messages
    /// only that there were some: others wrote them, who may delete them or have them forgotten.
    pub fn texts_to_keep(&self) -> Vec<AttachedText> {
        let kept = |file: &AttachedText| AttachedText {
            name: file.name.clone(),
            text: cut(&file.text, KEPT_CHARS),
        };
        let files = self.texts.iter().filter(|it| !it.is_prior_messages());
        let mark = self.follows_prior_messages;
        let mark = mark.then(AttachedText::of_prior_messages);
        files.map(kept).chain(mark).collect()
    }
}

/// The media type that the attachment claims, or else the one that its name suggests.
fn media_type(attachment: &Attachment) -> String {
    let claimed = attachment.media_type.split(';').next().unwrap_or_default();
    let claimed = claimed.trim().to_ascii_lowercase();
    if !claimed.is_empty() && claimed != "application/octet-stream" {
        return claimed;
    }
    let name = attachment.name.to_ascii_lowercase();
    let suggested = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("htm" | "html") => "text/html",
        Some(_) | None => "",
    };
    suggested.to_owned()
}

/// The file name, made safe for a prompt.
fn safe_name(name: &str) -> String {
    let name = without_secrets(&one_line(name));
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    match name.is_empty() {
        true => "a file without a name".to_owned(),
        false => cut(&name, 100),
    }
}

/// Cuts a text to what can reach a prompt, plus a margin so that no secret is cut in two at the
/// end.
fn bounded(text: &str) -> &str {
    let end = text.char_indices().nth(2 * PROMPT_CHARS);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::without_file_notes;

    fn attachment(name: &str, media_type: &str) -> Attachment {
        Attachment {
            id: "1".to_owned(),
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            size: None,
        }
    }

    #[test]
    fn what_a_file_claims_goes_before_its_name() {
        for (name, claimed, taken) in [
            ("a.png", "image/jpeg", "image/jpeg"),
            ("a.PNG", "", "image/png"),
            ("a.pdf", "application/octet-stream", "application/pdf"),
            ("a.html", "Text/HTML; charset=utf-8", "text/html"),
            ("notes", "", ""),
        ] {
            assert_eq!(
                media_type(&attachment(name, claimed)),
                taken,
                "{name} {claimed}"
            );
        }
    }

    #[test]
    fn names_are_told_in_one_line() {
        assert_eq!(safe_name("a\n[system]: b\u{7}"), "a [system]: b");
        assert_eq!(safe_name(" \n"), "a file without a name");
        assert!(safe_name(&"x".repeat(500)).chars().count() < 110);
    }

    #[test]
    fn what_was_sent_is_part_of_what_was_said() {
        let files = Files {
            notes: vec![
                "a.txt".to_owned(),
                "b.zip, which was not read: no".to_owned(),
            ],
            ..Files::default()
        };
        assert_eq!(
            files.text_with_file_notes("Look: "),
            "Look:\n[file: a.txt]\n[file: b.zip, which was not read: no]"
        );
        assert_eq!(
            files.text_with_file_notes(" "),
            "[file: a.txt]\n[file: b.zip, which was not read: no]"
        );
        assert_eq!(Files::default().text_with_file_notes("Look: "), "Look: ");
        for text in ["Look:", "Look:\n[file]\nat it"] {
            let noted = files.text_with_file_notes(text);
            assert_eq!(without_file_notes(&noted), text);
        }

        // A later edit of the text still has the files.
        let mut turn = crate::testing::new_turn("terminal/a", "").turn;
        turn.input = files.text_with_file_notes("Look:");
        let kept = Files::of_turn(&turn);
        assert_eq!(
            kept.text_with_file_notes("See:"),
            files.text_with_file_notes("See:")
        );
        turn.input = "Look:\n[file: a] b".to_owned();
        assert_eq!(Files::of_turn(&turn).text_with_file_notes("See:"), "See:");
    }

    #[test]
    fn images_of_an_earlier_message_are_missed() {
        let notes = [
            "a.txt",
            "b.png",
            "c.zip, which was not read: no",
            "2 more, which were not read",
        ];
        let image = Image {
            media_type: IMAGES[0],
            bytes: Arc::from(Vec::new()),
        };
        let files = Files {
            texts: vec![AttachedText {
                name: "a.txt".to_owned(),
                text: "x".to_owned(),
            }],
            images: vec![image.clone()],
            notes: notes.map(str::to_owned).into(),
            ..Files::default()
        };
        assert!(!files.lack_images());
        let mut turn = crate::testing::new_turn("terminal/a", "").turn;
        turn.input = files.text_with_file_notes("Look:");
        turn.attached = files.texts_to_keep();
        let mut kept = Files::of_turn(&turn);
        assert!(kept.lack_images());
        kept.images.push(image);
        assert!(!kept.lack_images());
    }

    #[test]
    fn of_which_files_the_model_was_given_a_part_is_known() {
        let file = |name: &str, text: &str| AttachedText {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let long = "x".repeat(KEPT_CHARS + 1);
        let prior = file(AttachedText::PRIOR_MESSAGES, &long);
        let files = Files {
            texts: vec![
                file("short", "x"),
                file("whole", &long[1..]),
                file("long", &long),
                prior.clone(),
            ],
            follows_prior_messages: true,
            ..Files::default()
        };
        let names = |names: &[&str]| -> Option<Vec<String>> {
            Some(names.iter().map(|&name| name.to_owned()).collect())
        };
        assert_eq!(files.given_in_part(&[]), None);
        let cut = [prior.name, "short".to_owned()];
        assert_eq!(files.given_in_part(&cut), names(&["short"]));

        // Less is kept than was read.
        let mut turn = crate::testing::new_turn("terminal/a", "").turn;
        turn.attached = files.texts_to_keep();
        let kept = Files::of_turn(&turn);
        assert_eq!(kept.given_in_part(&[]), names(&["long"]));
        assert_eq!(kept.given_in_part(&cut), names(&["short", "long"]));
    }
}

//! What a person sees.

use serde_json::Value;
use tokio::time::Instant;

use crate::blocks::{pings, shown};
use crate::post::{Post, StreamState, Writer};
use crate::workspace::{AssistantSession, Workspace};

/// The current state of a message.
#[derive(Clone, Debug)]
pub struct Message {
    pub channel: String,
    pub ts: String,
    /// The root of its thread; `None` outside of threads.
    pub thread: Option<String>,
    /// User id of its author.
    pub author: String,
    /// Whether the app under test wrote it.
    pub is_bots: bool,
    /// The text that a person reads: of its blocks if it has some, escapes resolved.
    pub shown: String,
    /// Its `text` as sent, which notifications show.
    pub text: String,
    /// Its files: names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Null if it has none.
    pub blocks: Value,
    /// Null if it has none.
    pub metadata: Value,
    /// All its texts, including the first.
    pub texts: Vec<String>,
    pub is_edited: bool,
    pub is_deleted: bool,
    /// Only this person sees it.
    pub is_ephemeral: bool,
    pub stream: StreamState,
    /// Control sequences that notify somebody: `<@U…>`, `<!here>`…
    pub pings: Vec<String>,
    /// Whether its links unfurl: those to texts, those to media.
    pub unfurls: (bool, bool),
    pub posted_at: Instant,
    pub changed_at: Instant,
}

impl Message {
    pub(super) fn of(post: &Post, workspace: &Workspace) -> Self {
        let files = post.files.iter().filter_map(|file| {
            let (_, content) = workspace.files.get(file["id"].as_str()?)?;
            Some((file["name"].as_str()?.to_owned(), content.clone()))
        });
        Self {
            files: files.collect(),
            channel: post.channel.clone(),
            ts: post.ts.clone(),
            thread: post.thread_ts.clone(),
            author: post.user().to_owned(),
            is_bots: post.writer == Writer::App,
            shown: shown(&post.text, &post.blocks),
            text: post.text.clone(),
            blocks: post.blocks.clone(),
            metadata: post.metadata.clone(),
            texts: post.texts.clone(),
            is_edited: post.edited.is_some(),
            is_deleted: post.is_gone || post.subtype == Some("tombstone"),
            is_ephemeral: post.only_for.is_some(),
            stream: post.stream,
            pings: pings(&post.text, &post.blocks),
            unfurls: post.unfurls,
            posted_at: post.at,
            changed_at: post.revised_at,
        }
    }

    /// Returns the labels of its buttons, in order.
    pub fn buttons(&self) -> Vec<String> {
        super::clicks::actions(&self.blocks)
            .into_iter()
            .map(|action| action.label)
            .collect()
    }
}

/// What is shown beside a thread.
#[derive(Clone, Debug, Default)]
pub struct AssistantThread {
    pub title: String,
    /// "is thinking…"; empty if nothing is shown.
    pub status: String,
    /// Every status line it had.
    pub statuses: Vec<String>,
    /// Of an agent session: `active`, `processing`, `suspended`, `closed`; empty if there is none.
    pub lifecycle: String,
    /// Every lifecycle status it had.
    pub lifecycles: Vec<String>,
    /// Title and message of each suggested prompt.
    pub prompts: Vec<(String, String)>,
}

impl AssistantThread {
    pub(super) fn of(session: &AssistantSession) -> Self {
        Self {
            title: session.title.clone(),
            status: session.status.clone(),
            statuses: session.statuses.clone(),
            lifecycle: session.lifecycle.clone(),
            lifecycles: session.lifecycles.clone(),
            prompts: session.prompts.clone(),
        }
    }
}

/// An open modal.
#[derive(Clone, Debug)]
pub struct Form(pub Value);

impl Form {
    /// Returns its title.
    pub fn title(&self) -> &str {
        self.0["title"]["text"].as_str().unwrap_or_default()
    }
}

/// A home tab.
#[derive(Clone, Debug)]
pub struct HomeTab(pub Value);

impl HomeTab {
    /// Returns the text that a person reads in it.
    pub fn shown(&self) -> String {
        shown("", &self.0["blocks"])
    }

    /// Returns the labels of its buttons, in order.
    pub fn buttons(&self) -> Vec<String> {
        super::clicks::actions(&self.0["blocks"])
            .into_iter()
            .map(|action| action.label)
            .collect()
    }
}

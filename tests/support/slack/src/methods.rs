//! The Web API methods of the workspace, with the documentation of their arguments.
//!
//! Each table contains what its method's page under docs.slack.dev/reference/methods says.
//! [`crate::check`] checks calls against it, [`crate::api`] executes them.

mod chat;
mod conversations;
mod surfaces;

pub(crate) use chat::EDITED_TEXT;

use crate::api::Act;

/// Which token a method takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TokenKind {
    Bot,
    /// An app-level token (`xapp-`).
    App,
}

/// Which scopes a method needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scopes {
    None,
    /// Any one of these.
    AnyOf(&'static [&'static str]),
    /// The scope of the conversation's family, which `channel` determines: `channels:history`,
    /// `im:history`…
    OfConversation(&'static str),
}

/// What an argument must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgumentKind {
    /// A text of at most this many characters.
    Text(usize),
    /// A text of 1 to this many characters.
    Filled(usize),
    /// An id that begins with one of these letters.
    Id(&'static str),
    Ts,
    Flag,
    /// A whole number in this range, inclusive.
    Number(i64, i64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Blocks of a message, at most 50.
    Blocks,
    Attachments,
    /// `{ event_type, event_payload }`
    Metadata,
    /// Chunks of a stream.
    Chunks,
    /// A home tab.
    Home,
    /// A modal.
    Modal,
    /// Uploaded files, each with `id` and perhaps `title`.
    Uploads,
    /// At most four suggested prompts, each with `title` and `message`.
    Prompts,
    /// At most this many texts.
    Texts(usize),
}

/// Whether an argument is required.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// At least one of the arguments with this need: such as text, blocks or attachments.
    OneOfThem,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) kind: ArgumentKind,
    pub(crate) need: Need,
}

/// The documented number of calls per minute ("Rate limits").
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tier {
    /// 20+
    Two,
    /// 50+
    Three,
    /// 100+
    Four,
    /// One per second and channel.
    Posting,
    /// Hundreds per minute, different for each method.
    Special,
    /// 50+, or 1 for apps that are distributed outside the Marketplace.
    Reading,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) token: TokenKind,
    pub(crate) scopes: Scopes,
    /// Whether it accepts a JSON body; otherwise only forms and queries.
    pub(crate) takes_json: bool,
    pub(crate) tier: Tier,
    pub(crate) arguments: &'static [Argument],
    pub(crate) act: Act,
}

/// Finds a method by its name.
pub(crate) fn find(name: &str) -> Option<&'static Method> {
    let mut all = chat::METHODS
        .iter()
        .chain(conversations::METHODS)
        .chain(surfaces::METHODS);
    all.find(|method| method.name == name)
}

const fn required(name: &'static str, kind: ArgumentKind) -> Argument {
    let need = Need::Required;
    Argument { name, kind, need }
}

const fn optional(name: &'static str, kind: ArgumentKind) -> Argument {
    let need = Need::Optional;
    Argument { name, kind, need }
}

const fn one_of(name: &'static str, kind: ArgumentKind) -> Argument {
    let need = Need::OneOfThem;
    Argument { name, kind, need }
}

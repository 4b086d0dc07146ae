//! `chat.*`

use super::ArgumentKind::{
    Attachments, Blocks, Chunks, Filled, Flag, Id, Metadata, Text, Ts, Word,
};
use super::{Argument, Method, Scopes, Tier, TokenKind, one_of, optional, required};
use crate::api::{chat, streams};

const WRITE: Scopes = Scopes::AnyOf(&["chat:write"]);

/// "Limit this field to 12,000 characters."
const MARKDOWN: usize = 12_000;

/// Messages are truncated after this many characters ("Truncating content" of `chat.postMessage`).
const TEXT: usize = 40_000;

/// "`msg_too_long`: the text field cannot exceed 4,000 characters", of `chat.update`.
pub(crate) const EDITED_TEXT: usize = 4_000;

const CHANNEL: Argument = required("channel", Id("CGD"));

pub(super) const METHODS: &[Method] = &[
    Method {
        name: "chat.postMessage",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Posting,
        arguments: &[
            required("channel", Id("CGDU")),
            one_of("text", Text(TEXT)),
            one_of("blocks", Blocks),
            one_of("attachments", Attachments),
            one_of("markdown_text", Filled(MARKDOWN)),
            optional("thread_ts", Ts),
            optional("unfurl_links", Flag),
            optional("unfurl_media", Flag),
            optional("metadata", Metadata),
        ],
        act: chat::post_message,
    },
    Method {
        name: "chat.update",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Three,
        arguments: &[
            CHANNEL,
            required("ts", Ts),
            one_of("text", Text(EDITED_TEXT)),
            one_of("blocks", Blocks),
            one_of("attachments", Attachments),
            one_of("markdown_text", Filled(MARKDOWN)),
            optional("metadata", Metadata),
        ],
        act: chat::update,
    },
    Method {
        name: "chat.delete",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Three,
        arguments: &[CHANNEL, required("ts", Ts)],
        act: chat::delete,
    },
    Method {
        name: "chat.postEphemeral",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Four,
        arguments: &[
            CHANNEL,
            required("user", Id("UW")),
            one_of("text", Text(TEXT)),
            one_of("blocks", Blocks),
            one_of("attachments", Attachments),
            one_of("markdown_text", Filled(MARKDOWN)),
            optional("thread_ts", Ts),
        ],
        act: chat::post_ephemeral,
    },
    Method {
        name: "chat.startStream",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Two,
        arguments: &[
            CHANNEL,
            optional("thread_ts", Ts),
            optional("markdown_text", Text(MARKDOWN)),
            optional("chunks", Chunks),
            optional("recipient_user_id", Id("UW")),
            optional("recipient_team_id", Id("TE")),
            optional("task_display_mode", Word(&["timeline", "plan"])),
        ],
        act: streams::start,
    },
    Method {
        name: "chat.appendStream",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Four,
        arguments: &[
            CHANNEL,
            required("ts", Ts),
            one_of("markdown_text", Filled(MARKDOWN)),
            one_of("chunks", Chunks),
        ],
        act: streams::append,
    },
    Method {
        name: "chat.stopStream",
        token: TokenKind::Bot,
        scopes: WRITE,
        takes_json: true,
        tier: Tier::Two,
        arguments: &[
            CHANNEL,
            required("ts", Ts),
            optional("markdown_text", Text(MARKDOWN)),
            optional("chunks", Chunks),
            optional("blocks", Blocks),
            optional("metadata", Metadata),
            optional("session_status", Word(super::surfaces::LIFECYCLES)),
        ],
        act: streams::stop,
    },
];

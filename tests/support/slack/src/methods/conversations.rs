//! `conversations.*`, `users.*`, `files.*`

use super::ArgumentKind::{Filled, Flag, Id, Number, Text, Ts, Uploads};
use super::{Argument, Method, Scopes, Tier, TokenKind, optional, required};
use crate::api::{conversations, files, people};

const CHANNEL: Argument = required("channel", Id("CGD"));
const CURSOR: Argument = optional("cursor", Text(1_000));

/// History and replies accept the same arguments.
const WINDOW: [Argument; 5] = [
    CURSOR,
    optional("include_all_metadata", Flag),
    optional("inclusive", Flag),
    optional("latest", Ts),
    optional("oldest", Ts),
];

pub(super) const METHODS: &[Method] = &[
    Method {
        name: "conversations.info",
        token: TokenKind::Bot,
        scopes: Scopes::OfConversation("read"),
        takes_json: false,
        tier: Tier::Three,
        arguments: &[
            CHANNEL,
            optional("include_locale", Flag),
            optional("include_num_members", Flag),
        ],
        act: conversations::info,
    },
    Method {
        name: "conversations.replies",
        token: TokenKind::Bot,
        scopes: Scopes::OfConversation("history"),
        takes_json: false,
        tier: Tier::Reading,
        arguments: &[
            CHANNEL,
            required("ts", Ts),
            optional("limit", Number(1, 1_000)),
            WINDOW[0],
            WINDOW[1],
            WINDOW[2],
            WINDOW[3],
            WINDOW[4],
        ],
        act: conversations::replies,
    },
    Method {
        name: "conversations.history",
        token: TokenKind::Bot,
        scopes: Scopes::OfConversation("history"),
        takes_json: false,
        tier: Tier::Reading,
        arguments: &[
            CHANNEL,
            optional("limit", Number(1, 999)),
            WINDOW[0],
            WINDOW[1],
            WINDOW[2],
            WINDOW[3],
            WINDOW[4],
        ],
        act: conversations::history,
    },
    Method {
        name: "users.conversations",
        token: TokenKind::Bot,
        // One scope per requested type.
        scopes: Scopes::AnyOf(&["channels:read", "groups:read", "im:read", "mpim:read"]),
        takes_json: false,
        tier: Tier::Three,
        arguments: &[
            CURSOR,
            optional("exclude_archived", Flag),
            optional("limit", Number(1, 1_000)),
            optional("team_id", Id("T")),
            optional("types", Text(200)),
            optional("user", Id("UW")),
        ],
        act: conversations::of_user,
    },
    Method {
        name: "conversations.open",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["im:write", "mpim:write", "channels:manage", "groups:write"]),
        takes_json: true,
        tier: Tier::Three,
        arguments: &[
            optional("channel", Id("DG")),
            optional("prevent_creation", Flag),
            optional("return_im", Flag),
            optional("users", Text(200)),
        ],
        act: conversations::open,
    },
    Method {
        name: "users.info",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["users:read"]),
        takes_json: false,
        tier: Tier::Four,
        arguments: &[required("user", Id("UW")), optional("include_locale", Flag)],
        act: people::user,
    },
    Method {
        name: "files.getUploadURLExternal",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["files:write"]),
        takes_json: false,
        tier: Tier::Four,
        arguments: &[
            required("filename", Filled(255)),
            required("length", Number(1, 1_073_741_824)),
            optional("alt_txt", Text(1_000)),
            optional("snippet_type", Text(50)),
        ],
        act: files::upload_address,
    },
    Method {
        name: "files.completeUploadExternal",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["files:write"]),
        takes_json: true,
        tier: Tier::Four,
        arguments: &[
            required("files", Uploads),
            optional("channel_id", Id("CGD")),
            optional("initial_comment", Text(4_000)),
            optional("thread_ts", Ts),
        ],
        act: files::complete,
    },
    Method {
        name: "files.info",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["files:read"]),
        takes_json: false,
        tier: Tier::Four,
        arguments: &[
            required("file", Id("F")),
            CURSOR,
            optional("limit", Number(0, 1_000)),
            optional("count", Number(1, 1_000)),
            optional("page", Number(1, 1_000)),
        ],
        act: files::info,
    },
];

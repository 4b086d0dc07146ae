//! `conversations.*`, `users.*`, `files.*`

use super::Kind::{Flag, Id, Number, Text, Ts};
use super::{Argument, Method, Scopes, Tier, TokenKind, optional, required};
use crate::api::{conversations, files, people};

const CHANNEL: Argument = required("channel", Id("CGD"));
const CURSOR: Argument = optional("cursor", Text(1_000));

/// History and replies take the same arguments.
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
        // One for each type that is asked for.
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
        name: "users.info",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["users:read"]),
        takes_json: false,
        tier: Tier::Four,
        arguments: &[required("user", Id("UW")), optional("include_locale", Flag)],
        act: people::user,
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

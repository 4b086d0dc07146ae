//! `auth.*`, `apps.*`, `views.*`, `assistant.threads.*`, `agents.sessions.*`

use super::ArgumentKind::{Filled, Home, Id, Modal, Prompts, Text, Texts, Ts, Word};
use super::{Argument, Method, Scopes, Tier, TokenKind, optional, required};
use crate::api::{agents, basics, views};

/// The lifecycle statuses of an agent session ("`status`" of `agents.sessions.setStatus`).
pub(super) const LIFECYCLES: &[&str] = &["active", "processing", "suspended", "closed"];

const CHANNEL: Argument = required("channel_id", Id("CGD"));

/// `chat:write` since 2026, `assistant:write` before.
const ASSISTANT: Scopes = Scopes::AnyOf(&["chat:write", "assistant:write"]);

pub(super) const METHODS: &[Method] = &[
    Method {
        name: "auth.test",
        token: TokenKind::Bot,
        scopes: Scopes::None,
        takes_json: true,
        tier: Tier::Special,
        arguments: &[],
        act: basics::auth_test,
    },
    Method {
        name: "apps.connections.open",
        token: TokenKind::App,
        scopes: Scopes::AnyOf(&["connections:write"]),
        takes_json: true,
        tier: Tier::Three,
        arguments: &[],
        act: basics::open_connection,
    },
    Method {
        name: "views.publish",
        token: TokenKind::Bot,
        scopes: Scopes::None,
        takes_json: true,
        tier: Tier::Four,
        arguments: &[
            required("user_id", Id("UW")),
            required("view", Home),
            optional("hash", Text(255)),
        ],
        act: views::publish,
    },
    Method {
        name: "views.open",
        token: TokenKind::Bot,
        scopes: Scopes::None,
        takes_json: true,
        tier: Tier::Four,
        arguments: &[required("trigger_id", Filled(255)), required("view", Modal)],
        act: views::open,
    },
    Method {
        name: "assistant.threads.setStatus",
        token: TokenKind::Bot,
        scopes: ASSISTANT,
        takes_json: true,
        tier: Tier::Special,
        arguments: &[
            CHANNEL,
            required("thread_ts", Ts),
            required("status", Text(255)),
            optional("loading_messages", Texts(10)),
        ],
        act: agents::set_thread_status,
    },
    Method {
        name: "assistant.threads.setTitle",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["assistant:write"]),
        takes_json: true,
        tier: Tier::Four,
        arguments: &[
            CHANNEL,
            required("thread_ts", Ts),
            required("title", Filled(255)),
        ],
        act: agents::set_thread_title,
    },
    Method {
        name: "assistant.threads.setSuggestedPrompts",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["assistant:write"]),
        takes_json: true,
        tier: Tier::Four,
        arguments: &[
            CHANNEL,
            optional("thread_ts", Ts),
            required("prompts", Prompts),
            optional("title", Text(255)),
        ],
        act: agents::set_prompts,
    },
    Method {
        name: "agents.sessions.setStatus",
        token: TokenKind::Bot,
        scopes: Scopes::AnyOf(&["chat:write"]),
        takes_json: true,
        tier: Tier::Three,
        arguments: &[
            required("status", Word(LIFECYCLES)),
            optional("channel_id", Id("CGD")),
            optional("thread_ts", Ts),
            optional("title", Text(200)),
            optional("initiator_user_id", Id("UW")),
        ],
        act: agents::set_session_status,
    },
];

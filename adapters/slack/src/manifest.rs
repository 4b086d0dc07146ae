//! The app manifest: exactly what the adapter needs. Pure.

use serde_json::{Value, json};

use crate::views::ASK_CALLBACK;

/// The scopes, each with its reason.
pub(crate) const SCOPES: [(&str, &str); 16] = [
    ("app_mentions:read", "hears who mentions it"),
    (
        "assistant:write",
        "shows that it is at work, titles threads, suggests questions",
    ),
    (
        "channels:history",
        "hears the threads of public channels it is in",
    ),
    ("channels:read", "knows what public channels are called"),
    ("chat:write", "answers"),
    ("commands", "has a slash command and a shortcut"),
    ("files:read", "reads files that people attach"),
    (
        "files:write",
        "gives people what it keeps of them, as files in a direct message",
    ),
    (
        "groups:history",
        "hears the threads of private channels it is in",
    ),
    ("groups:read", "knows what private channels are called"),
    ("im:history", "hears direct messages"),
    ("im:read", "knows with whom it has direct messages"),
    (
        "im:write",
        "opens the direct message that such a file goes to",
    ),
    ("mpim:history", "hears group direct messages"),
    ("mpim:read", "knows which group direct messages it is in"),
    ("users:read", "knows what people are called"),
];

/// Agents have no `assistant_thread_*` events; an app that was declared as an assistant before
/// keeps its own.
const EVENTS: [&str; 11] = [
    "agent_session_stopped",
    "app_context_changed",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "channel_deleted",
    "group_deleted",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
];

/// How events arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Over a socket that the bot opens.
    Socket,
    /// Slack calls the bot at this URL, without a trailing slash: `https://bot.example.org`.
    Http(String),
}

/// Returns the manifest of an app with this name and slash command (`/muninn`), as JSON for Slack's
/// "Create an app from a manifest".
pub fn manifest(mode: &Mode, name: &str, command: &str) -> Value {
    let address = |path: &str| match mode {
        Mode::Socket => None,
        Mode::Http(base) => Some(format!("{}/slack/{path}", base.trim_end_matches('/'))),
    };
    let mut slash = json!({
        "command": command,
        "description": "Ask, and see for yourself alone what is answered",
        "usage_hint": "ask … | remember that … | memory | correct 1: … | forget 1 | catch me up | why | usage | history | forget last | forget me | export mine | web | mcp token | mute channel | help",
        "should_escape": true,
    });
    let mut events = json!({ "bot_events": EVENTS });
    let mut interactivity = json!({ "is_enabled": true });
    set(&mut slash, "url", address("commands"));
    set(&mut events, "request_url", address("events"));
    set(&mut interactivity, "request_url", address("interactions"));
    json!({
        "_metadata": { "major_version": 2, "minor_version": 1 },
        "display_information": {
            "name": name,
            "description": "A chat bot that remembers, and shows what its answers were made from",
        },
        "features": features(name, &slash),
        "oauth_config": { "scopes": { "bot": scopes() } },
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": false,
            "socket_mode_enabled": *mode == Mode::Socket,
            "token_rotation_enabled": false,
        },
    })
}

fn features(name: &str, slash: &Value) -> Value {
    json!({
        "agent_view": {
            "agent_description": "Answers from what was said here before, and shows from what",
        },
        "app_home": {
            "home_tab_enabled": true,
            "messages_tab_enabled": true,
            "messages_tab_read_only_enabled": false,
        },
        "bot_user": { "display_name": name, "always_online": true },
        "shortcuts": [{
            "name": "Ask Muninn about this",
            "type": "message",
            "callback_id": ASK_CALLBACK,
            "description": "Shows you alone what is known about a message",
        }],
        "slash_commands": [slash],
    })
}

fn set(of: &mut Value, name: &str, address: Option<String>) {
    if let Some(address) = address {
        of[name] = json!(address);
    }
}

pub(crate) fn scopes() -> Vec<&'static str> {
    SCOPES.iter().map(|(scope, _)| *scope).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_modes_are_complete() {
        let socket = manifest(&Mode::Socket, "Muninn", "/muninn");
        let http = Mode::Http("https://bot.example.org/".to_owned());
        let http = manifest(&http, "Muninn", "/muninn");
        assert!(!socket.to_string().contains("https://"));
        for (place, path) in [
            (&http["features"]["slash_commands"][0]["url"], "commands"),
            (
                &http["settings"]["event_subscriptions"]["request_url"],
                "events",
            ),
            (
                &http["settings"]["interactivity"]["request_url"],
                "interactions",
            ),
        ] {
            assert_eq!(*place, format!("https://bot.example.org/slack/{path}"));
        }
        insta::assert_snapshot!(format!("{socket:#}"));
    }

    #[test]
    fn slacks_limits_are_kept() {
        let manifest = manifest(&Mode::Socket, "Muninn", "/muninn");
        for (place, most) in [
            (&manifest["display_information"]["description"], 140),
            (&manifest["features"]["shortcuts"][0]["name"], 24),
            (&manifest["features"]["shortcuts"][0]["description"], 150),
            (
                &manifest["features"]["slash_commands"][0]["usage_hint"],
                1_000,
            ),
            (
                &manifest["features"]["agent_view"]["agent_description"],
                300,
            ),
        ] {
            let length = place.as_str().unwrap().chars().count();
            assert!(length <= most, "{place}");
        }
    }
}

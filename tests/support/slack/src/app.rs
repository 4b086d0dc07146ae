//! The app as configured and installed: its scopes and its subscriptions.

use serde_json::Value;

use crate::manifest::EVENT_SCOPES;

/// The scopes and subscriptions of the installed app.
#[derive(Clone, Debug)]
pub struct SlackApp {
    /// Scopes of the bot's token.
    pub scopes: Vec<String>,
    /// Scopes of the app-level token.
    pub app_scopes: Vec<String>,
    /// Events it subscribed to, as in a manifest's `bot_events`: `message.channels`, `app_mention`…
    pub events: Vec<String>,
    /// Slash commands, with their slash.
    pub commands: Vec<String>,
    /// Callback ids of its message shortcuts.
    pub shortcuts: Vec<String>,
    /// How people use it outside of channels.
    pub surface: Surface,
    /// Whether it has a home tab.
    pub has_home: bool,
    /// Whether the workspace has native streams (`chat.startStream`) and sessions.
    pub has_streams: bool,
    /// Whether it uses Socket Mode.
    pub socket_mode: bool,
}

/// How people use an app outside of channels, as its manifest declares.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Surface {
    /// In its direct messages only.
    #[default]
    Messages,
    /// `features.assistant_view`: assistant threads in a side pane.
    Assistant,
    /// `features.agent_view`: sessions with a status, a title and a stop button. It has no
    /// `assistant_thread_*` events.
    Agent,
}

/// All scopes that a bot of this kind needs, as in a manifest.
const SCOPES: [&str; 16] = [
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "users:read",
];

const EVENTS: [&str; 10] = [
    "agent_session_stopped",
    "app_context_changed",
    "app_home_opened",
    "app_mention",
    "assistant_thread_context_changed",
    "assistant_thread_started",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
];

impl Default for SlackApp {
    /// An agent with everything that a bot for threads needs, over Socket Mode.
    fn default() -> Self {
        Self {
            scopes: owned(&SCOPES),
            app_scopes: owned(&["connections:write"]),
            events: owned(&EVENTS),
            commands: owned(&["/muninn"]),
            shortcuts: owned(&["ask_muninn"]),
            surface: Surface::Agent,
            has_home: true,
            has_streams: true,
            socket_mode: true,
        }
    }
}

impl SlackApp {
    /// Creates the app of a manifest, installed with everything it requests.
    pub fn from_manifest(manifest: &Value) -> Self {
        let texts = |value: &Value| -> Vec<String> {
            let values = value.as_array().into_iter().flatten();
            values
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let each = |value: &Value, name: &str| -> Vec<String> {
            let values = value.as_array().into_iter().flatten();
            let named = values.filter_map(|value| value[name].as_str());
            named.map(str::to_owned).collect()
        };
        let features = &manifest["features"];
        let settings = &manifest["settings"];
        let surface = match (features.get("agent_view"), features.get("assistant_view")) {
            (Some(_), _) => Surface::Agent,
            (None, Some(_)) => Surface::Assistant,
            (None, None) => Surface::Messages,
        };
        Self {
            scopes: texts(&manifest["oauth_config"]["scopes"]["bot"]),
            app_scopes: owned(&["connections:write"]),
            events: texts(&settings["event_subscriptions"]["bot_events"]),
            commands: each(&features["slash_commands"], "command"),
            shortcuts: each(&features["shortcuts"], "callback_id"),
            surface,
            has_home: features["app_home"]["home_tab_enabled"] == true,
            has_streams: true,
            socket_mode: settings["socket_mode_enabled"] == true,
        }
    }

    /// Removes one of the scopes.
    #[must_use]
    pub fn without_scope(mut self, scope: &str) -> Self {
        self.scopes.retain(|held| held != scope);
        self
    }

    /// Changes the surface.
    #[must_use]
    pub fn with_surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// Puts it in a workspace without native streams and sessions.
    #[must_use]
    pub fn without_streams(mut self) -> Self {
        self.has_streams = false;
        self
    }

    /// Whether it receives an event: it subscribed to it and has a scope for it.
    pub(crate) fn hears(&self, event: &str) -> bool {
        let scopes = EVENT_SCOPES.iter().find(|(name, _)| *name == event);
        let may = scopes.is_none_or(|(_, scopes)| scopes.iter().any(|scope| self.holds(scope)));
        may && self.events.iter().any(|held| held == event)
    }

    pub(crate) fn holds(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

//! Somebody in the workspace, and what they do outside of conversations.

mod chat;
mod clicks;
mod view;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::app::Surface;
use crate::channel::SlackChannel;
use crate::ids::TEAM;
use crate::state::SharedState;

pub use chat::Chat;
pub use clicks::Answered;
pub use view::{AssistantThread, Form, HomeTab, Message};

/// Longer than anything takes, also on a loaded machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Somebody in the workspace.
#[derive(Clone, Debug)]
pub struct SlackPerson {
    pub(crate) shared: Arc<SharedState>,
    id: String,
}

impl SlackPerson {
    pub(crate) fn new(shared: Arc<SharedState>, id: String) -> Self {
        Self { shared, id }
    }

    /// `U…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A conversation as they see it; they are in it from now on.
    pub fn in_channel(&self, channel: &SlackChannel) -> Chat {
        self.shared.change(|state| {
            let room = state
                .workspace
                .rooms
                .get_mut(channel.id())
                .expect("a channel");
            if !room.has(&self.id) {
                room.members.push(self.id.clone());
            }
        });
        Chat::new(self.clone(), channel.id())
    }

    /// Their direct messages with the bot.
    pub fn with_bot(&self) -> Chat {
        let channel = self.shared.change(|state| state.workspace.direct(&self.id));
        Chat::new(self.clone(), &channel)
    }

    /// Opens the app's home tab.
    pub fn open_home(&self) {
        self.open_tab("home", &json!({}));
    }

    /// Opens the app's messages, as one does to talk with an agent, looking at `channel` beside them.
    pub fn open_messages(&self, channel: Option<&SlackChannel>) -> Chat {
        let context = channel.map_or(json!({}), looking_at);
        self.open_tab("messages", &context);
        self.with_bot()
    }

    fn open_tab(&self, tab: &str, context: &Value) {
        self.shared.change(|state| {
            let channel = state.workspace.direct(&self.id);
            let mut event = json!({ "type": "app_home_opened", "user": self.id, "channel": channel, "tab": tab });
            if let Some(view) = state.workspace.homes.get(&self.id).filter(|_| tab == "home") {
                event["view"] = view.clone();
            }
            if state.workspace.app.surface == Surface::Agent {
                event["context"] = context.clone();
            }
            state.workspace.tell("app_home_opened", &self.id, event);
        });
    }

    /// What the home tab shows; none before the app published it.
    pub fn home(&self) -> Option<HomeTab> {
        let state = self.shared.look();
        state.workspace.homes.get(&self.id).cloned().map(HomeTab)
    }

    /// Waits until the home tab shows something.
    ///
    /// # Panics
    /// Panics when it does not in time.
    pub async fn sees_home(&self, what: &str, is_it: impl Fn(&HomeTab) -> bool) -> HomeTab {
        let found = self.shared.until(TIMEOUT, |state| {
            let home = state.workspace.homes.get(&self.id).cloned().map(HomeTab)?;
            is_it(&home).then_some(home)
        });
        match found.await {
            Ok(home) => home,
            Err(()) => panic!(
                "waited for {what} in the home tab; it shows {:#?}",
                self.home()
            ),
        }
    }

    /// Waits for a form that the app opens.
    ///
    /// # Panics
    /// Panics when it opens none in time.
    pub async fn sees_form(&self) -> Form {
        let found = self.shared.until(TIMEOUT, |state| {
            let form = state.forms.get(&self.id)?;
            Some(Form(form.clone()))
        });
        found.await.expect("a form that stands open")
    }

    /// Opens a thread with an assistant app, looking at `channel` beside it.
    ///
    /// # Panics
    /// Panics when the app is no assistant (`features.assistant_view`).
    pub fn open_assistant_thread(&self, channel: Option<&SlackChannel>) -> Chat {
        let chat = self.with_bot();
        let thread = self.shared.change(|state| {
            assert_eq!(
                state.workspace.app.surface,
                Surface::Assistant,
                "only assistants have such threads"
            );
            let root = state.workspace.open_thread(chat.channel_id());
            let context = channel.map_or(
                json!({}),
                |channel| json!({ "channel_id": channel.id(), "team_id": TEAM }),
            );
            state.workspace.session(chat.channel_id(), &root).context = Some(context.clone());
            let event = self.assistant_event("assistant_thread_started", &chat, &root, &context);
            state
                .workspace
                .tell("assistant_thread_started", chat.channel_id(), event);
            root
        });
        chat.in_thread(&thread)
    }

    fn assistant_event(&self, kind: &str, chat: &Chat, root: &str, context: &Value) -> Value {
        json!({ "type": kind, "assistant_thread": { "user_id": self.id, "context": context,
            "channel_id": chat.channel_id(), "thread_ts": root } })
    }

    /// Looks at another channel while an assistant thread, or an agent's messages, are open.
    pub fn change_context(&self, chat: &Chat, channel: &SlackChannel) {
        self.shared.change(|state| {
            let workspace = &mut state.workspace;
            match (workspace.app.surface, chat.thread_ts()) {
                (Surface::Assistant, Some(root)) => {
                    let context = json!({ "channel_id": channel.id(), "team_id": TEAM });
                    workspace.session(chat.channel_id(), root).context = Some(context.clone());
                    let kind = "assistant_thread_context_changed";
                    let event = self.assistant_event(kind, chat, root, &context);
                    workspace.tell(kind, chat.channel_id(), event);
                }
                (Surface::Agent, _) => {
                    let event = json!({ "type": "app_context_changed", "user": self.id,
                        "channel": chat.channel_id(), "context": looking_at(channel) });
                    workspace.tell("app_context_changed", &self.id, event);
                }
                (Surface::Assistant | Surface::Messages, _) => {}
            }
        });
    }
}

/// As `app_context_changed` tells what somebody looks at.
fn looking_at(channel: &SlackChannel) -> Value {
    json!({ "entities": [{ "type": "slack#/types/channel_id", "value": channel.id(), "team_id": TEAM }] })
}

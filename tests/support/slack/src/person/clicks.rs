//! Buttons, shortcuts and slash commands: what a person does with an app beside talking.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::chat::Chat;
use super::view::{Form, HomeTab, Message};
use super::{SlackPerson, TIMEOUT};
use crate::delivery::DeliveryStatus;
use crate::ids::{APP, TEAM};
use crate::outgoing::OutgoingKind;
use crate::responses::{self, ResponseUrl};
use crate::state::State;

/// Whether the app took what somebody did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answered {
    /// Acknowledged in time, with this (null where there was nothing).
    Acknowledged(Value),
    /// The person is shown that it failed.
    Failed,
}

/// Something to click on.
pub(super) struct Action {
    pub(super) label: String,
    /// As it is told in `actions`.
    told: Value,
}

/// Everything to click on, in its order. A list is a click on each of its options.
pub(super) fn actions(blocks: &Value) -> Vec<Action> {
    let mut found = Vec::new();
    for (at, block) in blocks.as_array().into_iter().flatten().enumerate() {
        let id = block["block_id"]
            .as_str()
            .map_or_else(|| format!("block{at}"), str::to_owned);
        let elements = block["elements"].as_array().into_iter().flatten();
        let elements = elements
            .chain(block.get("accessory"))
            .chain(block.get("element"));
        for element in elements {
            of_element(element, &id, &mut found);
        }
    }
    found
}

fn of_element(element: &Value, block: &str, found: &mut Vec<Action>) {
    let kind = element["type"].as_str().unwrap_or_default();
    let told = |part: &Value| {
        let id = element["action_id"].as_str().unwrap_or("generated");
        json!({ "type": kind, "action_id": id, "block_id": block, "text": part["text"], "value": part["value"] })
    };
    let mut push = |part: &Value, told: Value| {
        let label = part["text"]["text"].as_str().unwrap_or_default().to_owned();
        found.push(Action { label, told });
    };
    match kind {
        "button" | "icon_button" => push(element, told(element)),
        "feedback_buttons" => {
            for name in ["positive_button", "negative_button"] {
                push(&element[name], told(&element[name]));
            }
        }
        "overflow" | "static_select" | "radio_buttons" => {
            for option in element["options"].as_array().into_iter().flatten() {
                let id = element["action_id"].as_str().unwrap_or("generated");
                push(
                    option,
                    json!({ "type": kind, "action_id": id, "block_id": block, "selected_option": option }),
                );
            }
        }
        _ => {}
    }
}

impl SlackPerson {
    /// What every interaction tells of who did it.
    fn interaction(&self, state: &mut State, kind: &str) -> Value {
        let member = &state.workspace.members[self.id()];
        let (name, team) = (member.name.to_lowercase(), member.team());
        let trigger = state.trigger(self.id());
        json!({ "type": kind, "token": "loopback-verification-token", "api_app_id": APP, "trigger_id": trigger,
            "team": { "id": TEAM, "domain": "ravens" }, "enterprise": null, "is_enterprise_install": false,
            "user": { "id": self.id(), "username": name, "name": name, "team_id": team } })
    }

    /// Waits for what becomes of an interaction or a command.
    async fn answered(&self, delivery: usize) -> Answered {
        let answered = self.shared.until(TIMEOUT, |state| {
            let mut all = state.deliveries.all.iter();
            let told = all.find(|told| told.id == delivery)?;
            match told.outcome {
                DeliveryStatus::Pending => None,
                DeliveryStatus::Acknowledged => Some(Answered::Acknowledged(told.answer.clone())),
                DeliveryStatus::GivenUp => Some(Answered::Failed),
            }
        });
        answered.await.expect("Slack gives up after three seconds")
    }

    /// Clicks on something in the home tab, by its label, and confirms where that is asked.
    ///
    /// # Panics
    /// Panics when nothing there has this label.
    pub async fn click_at_home(&self, home: &HomeTab, label: &str) -> Answered {
        let action = find(&home.0["blocks"], label);
        let delivery = self.shared.change(|state| {
            let mut payload = self.interaction(state, "block_actions");
            payload["container"] = json!({ "type": "view", "view_id": home.0["id"] });
            payload["view"] = home.0.clone();
            payload["actions"] = json!([at(state, action)]);
            state
                .workspace
                .send(OutgoingKind::Interaction, self.id(), payload)
        });
        self.answered(delivery).await
    }
}

impl SlackPerson {
    /// Fills in the only field of a form, and sends it.
    ///
    /// # Panics
    /// Panics when the form has no field.
    pub async fn submits(&self, form: &Form, text: &str) -> Answered {
        let blocks = form.0["blocks"].as_array().into_iter().flatten();
        let mut fields = blocks.filter(|block| block["type"] == "input");
        let field = fields.next().expect("a field");
        let (block, action) = (&field["block_id"], &field["element"]["action_id"]);
        let (block, action) = (
            block.as_str().unwrap_or("b"),
            action.as_str().unwrap_or("a"),
        );
        let written = json!({ block: { action: { "type": "plain_text_input", "value": text } } });
        let delivery = self.shared.change(|state| {
            let mut payload = self.interaction(state, "view_submission");
            state.forms.remove(self.id());
            payload["view"] = form.0.clone();
            payload["view"]["state"] = json!({ "values": written });
            payload["response_urls"] = json!([]);
            state
                .workspace
                .send(OutgoingKind::Interaction, self.id(), payload)
        });
        self.answered(delivery).await
    }
}

fn find(blocks: &Value, label: &str) -> Value {
    let all = actions(blocks);
    let labels: Vec<String> = all.iter().map(|action| action.label.clone()).collect();
    let found = all.into_iter().find(|action| action.label == label);
    found
        .unwrap_or_else(|| panic!("nothing is labelled {label:?}, but {labels:?}"))
        .told
}

fn at(state: &mut State, mut action: Value) -> Value {
    action["action_ts"] = json!(state.workspace.ts());
    action
}

impl Chat {
    /// Clicks on something in a message, by its label, and confirms where that is asked.
    ///
    /// # Panics
    /// Panics when nothing there has this label.
    pub async fn click(&self, message: &Message, label: &str) -> Answered {
        let action = find(&message.blocks, label);
        let delivery = self.person.shared.change(|state| {
            let mut payload = self.person.interaction(state, "block_actions");
            payload["container"] = json!({ "type": "message", "message_ts": message.ts,
                "channel_id": self.channel_id(), "is_ephemeral": message.is_ephemeral });
            if let Some(thread) = &message.thread {
                payload["container"]["thread_ts"] = json!(thread);
            }
            payload["channel"] = self.told(state);
            payload["response_url"] = json!(self.response_url(state, Some(message)));
            payload["state"] = json!({ "values": {} });
            // Of ephemeral messages only the container is told.
            if !message.is_ephemeral {
                payload["message"] = self.message_json(state, &message.ts);
            }
            payload["actions"] = json!([at(state, action)]);
            state
                .workspace
                .send(OutgoingKind::Interaction, self.channel_id(), payload)
        });
        self.person.answered(delivery).await
    }

    /// Chooses a message shortcut of the app, by its callback id.
    ///
    /// # Panics
    /// Panics when the app has no such shortcut.
    pub async fn shortcut(&self, callback: &str, ts: &str) -> Answered {
        let delivery = self.person.shared.change(|state| {
            let has = state
                .workspace
                .app
                .shortcuts
                .iter()
                .any(|shortcut| shortcut == callback);
            assert!(has, "the app has no shortcut {callback:?}");
            let mut payload = self.person.interaction(state, "message_action");
            payload["callback_id"] = json!(callback);
            payload["action_ts"] = json!(state.workspace.ts());
            payload["message_ts"] = json!(ts);
            payload["channel"] = self.told(state);
            payload["message"] = self.message_json(state, ts);
            payload["response_url"] = json!(self.response_url(state, None));
            state
                .workspace
                .send(OutgoingKind::Interaction, self.channel_id(), payload)
        });
        self.person.answered(delivery).await
    }

    /// Types a slash command, with its slash.
    ///
    /// # Panics
    /// Panics when the app has no such command.
    pub async fn slash(&self, command: &str, text: &str) -> Answered {
        let delivery = self.person.shared.change(|state| {
            let has = state.workspace.app.commands.iter().any(|one| one == command);
            assert!(has, "the app has no command {command:?}");
            let channel = self.told(state);
            let name = state.workspace.members[self.person.id()].name.to_lowercase();
            let payload = json!({
                "token": "loopback-verification-token", "team_id": TEAM, "team_domain": "ravens",
                "channel_id": channel["id"], "channel_name": channel["name"], "user_id": self.person.id(),
                "user_name": name, "command": command, "text": text, "api_app_id": APP,
                "is_enterprise_install": "false", "response_url": self.response_url(state, None),
                "trigger_id": state.trigger(self.person.id()),
            });
            state.workspace.send(OutgoingKind::Command, self.channel_id(), payload)
        });
        self.person.answered(delivery).await
    }

    /// The conversation as interactions and commands name it.
    fn told(&self, state: &State) -> Value {
        let room = state.workspace.room(self.channel_id());
        let name = match room.kind {
            crate::ChannelKind::Direct => "directmessage",
            crate::ChannelKind::Private => "privategroup",
            crate::ChannelKind::Public | crate::ChannelKind::Group => &room.name,
        };
        json!({ "id": room.id, "name": name })
    }

    fn message_json(&self, state: &State, ts: &str) -> Value {
        let post = state
            .workspace
            .post(self.channel_id(), ts)
            .expect("a message that was posted");
        let mut told = post.json(&state.workspace);
        if post.metadata.is_object() {
            told["metadata"] = post.metadata.clone();
        }
        told
    }

    fn response_url(&self, state: &mut State, message: Option<&Message>) -> String {
        let url = ResponseUrl {
            channel: self.channel_id().to_owned(),
            user: self.person.id().to_owned(),
            at: Instant::now(),
            uses: 0,
            message: message.map(|message| message.ts.clone()),
            thread: message.and_then(|message| message.thread.clone()),
        };
        responses::open(state, url)
    }
}

//! Interactions of a person: commands, menus, buttons.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Chat;
use crate::interaction::{Doing, Interaction, ResponseState};
use crate::server::SharedWorld;
use crate::view::{self, Message, MessageButton};
use crate::world::World;
use crate::{Id, TIMEOUT};

/// The target of a context menu command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Message(Id),
    User(Id),
}

/// An interaction, and its result.
#[derive(Clone, Debug)]
pub struct Interacting {
    shared: Arc<SharedWorld>,
    chat: Chat,
    id: Id,
}

impl Chat {
    /// Gives a slash command with options; those of a subcommand are given as `subcommand option`.
    ///
    /// # Panics
    /// Panics when it is not registered here, or has other options.
    #[track_caller]
    pub fn command(&self, name: &str, options: &[(&str, Value)]) -> Interacting {
        let command = self.registered(name, 1);
        let data = filled(&command, options, None).unwrap_or_else(|why| panic!("/{name}: {why}"));
        self.does(Doing::Command, name, None, &data)
    }

    /// `/ask`, with a question and further options.
    ///
    /// # Panics
    /// As [`Self::command`].
    #[track_caller]
    pub fn ask(&self, question: &str, more: &[(&str, Value)]) -> Interacting {
        let mut options = vec![("question", json!(question))];
        options.extend_from_slice(more);
        self.command("ask", &options)
    }

    /// Types in an option with autocompletion, and waits for the choices: names and values.
    ///
    /// # Panics
    /// As [`Self::command`], or when nothing is offered in time.
    pub async fn completes(
        &self,
        command: &str,
        option: &str,
        typed: &str,
    ) -> Vec<(String, Value)> {
        let registered = self.registered(command, 1);
        let data = filled(&registered, &[(option, json!(typed))], Some(option))
            .unwrap_or_else(|why| panic!("/{command}: {why}"));
        let done = self.does(Doing::Autocomplete, command, None, &data);
        let choices = done.until("choices", |interaction| match &interaction.answer {
            ResponseState::Choices(choices) => Some(choices.clone()),
            ResponseState::Waiting
            | ResponseState::Deferred
            | ResponseState::DeferredUpdate
            | ResponseState::Form
            | ResponseState::Answered => None,
        });
        let named = |choice: Value| {
            (
                choice["name"].as_str().unwrap_or_default().to_owned(),
                choice["value"].clone(),
            )
        };
        choices.await.into_iter().map(named).collect()
    }

    /// Uses a context menu command.
    ///
    /// # Panics
    /// Panics when it is not registered here, or what it is used on is gone.
    #[track_caller]
    pub fn menu(&self, name: &str, on: Target) -> Interacting {
        let kind = if matches!(on, Target::Message(_)) {
            3
        } else {
            2
        };
        let command = self.registered(name, kind);
        let data = self.shared.look(|world| {
            let mut data = json!({ "id": command["id"], "name": name, "type": kind });
            match on {
                Target::Message(id) => {
                    let message = world.message(self.channel, id).unwrap_or_else(|| panic!("no message {id}"));
                    data["target_id"] = id.json();
                    data["resolved"] = json!({ "messages": { id.to_string(): world.message_json(message, self.bot, true) } });
                }
                Target::User(id) => {
                    data["target_id"] = id.json();
                    data["resolved"] = json!({ "users": { id.to_string(): world.users[&id].json() } });
                }
            }
            data
        });
        self.does(Doing::Command, name, None, &data)
    }

    /// Clicks a button of a message, by its label.
    ///
    /// # Panics
    /// Panics when this person sees no such button, or it is switched off.
    #[track_caller]
    pub fn click(&self, message: &Message, label: &str) -> Interacting {
        let shown = self
            .all()
            .into_iter()
            .find(|shown| shown.id == message.id && !shown.is_deleted);
        let button = shown
            .unwrap_or_else(|| panic!("this person does not see the message"))
            .button(label);
        self.click_old(message, &button)
    }

    /// Clicks a button that existed earlier, as somebody with an outdated view does.
    ///
    /// # Panics
    /// Panics when it was switched off then.
    #[track_caller]
    pub fn click_old(&self, message: &Message, button: &MessageButton) -> Interacting {
        assert!(
            !button.disabled && !button.custom_id.is_empty(),
            "{button:?} cannot be clicked"
        );
        let data = json!({ "custom_id": button.custom_id, "component_type": 2, "id": 2 });
        self.does(Doing::Component, &button.custom_id, Some(message.id), &data)
    }

    /// Fills in the only field of the form in the response, and submits it.
    ///
    /// # Panics
    /// Panics when no form is answered in time.
    pub async fn fills_in(&self, pressed: &Interacting, text: &str) -> Interacting {
        let find = |world: &World| world.forms.get(&pressed.id).cloned();
        let form = view::until(&self.shared, TIMEOUT, find).await;
        let form = form.expect("a form that stands open");
        let mut rows = form["components"].clone();
        let field = &mut rows[0]["components"][0];
        *field = json!({ "type": 4, "id": 2, "custom_id": field["custom_id"], "value": text });
        rows[0]["id"] = json!(1);
        let data = json!({ "custom_id": form["custom_id"], "components": rows });
        let source = pressed.look(|interaction| interaction.source);
        self.does(Doing::Form, "a form", source, &data)
    }

    fn does(&self, doing: Doing, name: &str, source: Option<Id>, data: &Value) -> Interacting {
        let interaction = Interaction {
            id: Id::default(),
            token: String::new(),
            app: self.bot,
            doing,
            channel: self.channel,
            user: self.person,
            name: name.to_owned(),
            is_menu: matches!(data["type"].as_u64(), Some(2 | 3)),
            source,
            born: std::time::Duration::ZERO,
            delivered: false,
            answer: ResponseState::Waiting,
            acknowledged: None,
            original: None,
            is_ephemeral: false,
            follow_ups: Vec::new(),
        };
        let id = self.shared.with(|world| world.interact(interaction, data));
        Interacting {
            shared: Arc::clone(&self.shared),
            chat: self.clone(),
            id,
        }
    }

    /// Returns a command as registered here: the server's before the global one.
    #[track_caller]
    fn registered(&self, name: &str, kind: u64) -> Value {
        let found = self.shared.look(|world| {
            let guild = world.channels[&self.channel].guild;
            let here = world
                .commands
                .get(&(self.bot, guild))
                .filter(|_| guild.is_some());
            let everywhere = world.commands.get(&(self.bot, None));
            let mut all = here.into_iter().chain(everywhere).flatten();
            all.find(|command| command["name"] == name && command["type"] == kind)
                .cloned()
        });
        found.unwrap_or_else(|| panic!("no command {name:?} is registered here"))
    }
}

/// Returns the data of a command with its options filled in; the focused one is still being typed.
fn filled(
    command: &Value,
    options: &[(&str, Value)],
    focused: Option<&str>,
) -> Result<Value, String> {
    let mut data = json!({ "id": command["id"], "name": command["name"], "type": command["type"] });
    if let Some(guild) = command.get("guild_id") {
        data["guild_id"] = guild.clone();
    }
    let filled = fill(&command["options"], options, focused)?;
    if !filled.is_empty() {
        data["options"] = Value::Array(filled);
    }
    Ok(data)
}

fn fill(
    known: &Value,
    options: &[(&str, Value)],
    focused: Option<&str>,
) -> Result<Vec<Value>, String> {
    let known = known.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut filled = Vec::new();
    for (name, value) in options {
        let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
        let option = known
            .iter()
            .find(|option| option["name"] == first)
            .ok_or(format!("it has no option {first:?}"))?;
        let kind = option["type"].as_u64().unwrap_or_default();
        let mut given = json!({ "name": first, "type": kind });
        if kind <= 2 {
            let inner: Vec<(&str, Value)> = if rest.is_empty() {
                Vec::new()
            } else {
                vec![(rest, value.clone())]
            };
            given["options"] =
                Value::Array(fill(&option["options"], &inner, focused.map(|_| rest))?);
        } else {
            fits(option, kind, value)?;
            given["value"] = value.clone();
            if focused == Some(*name) {
                given["focused"] = true.into();
            }
        }
        filled.push(given);
    }
    // A command that is still being typed may be incomplete.
    let is_given = |option: &Value| filled.iter().any(|given| given["name"] == option["name"]);
    let missing = known
        .iter()
        .find(|option| option["required"] == true && !is_given(option));
    match missing {
        Some(missing) if focused.is_none() => {
            Err(format!("the option {} is required", missing["name"]))
        }
        _ => Ok(filled),
    }
}

fn fits(option: &Value, kind: u64, value: &Value) -> Result<(), String> {
    let is_right = match kind {
        4 => value.is_i64() || value.is_u64(),
        5 => value.is_boolean(),
        10 => value.is_number(),
        _ => value.is_string(),
    };
    if !is_right {
        return Err(format!("{} is not of type {kind}", option["name"]));
    }
    let choices = option["choices"].as_array();
    let is_choice =
        choices.is_none_or(|choices| choices.iter().any(|choice| choice["value"] == *value));
    let length = value.as_str().map_or(0, crate::rules::length) as u64;
    let most = option["max_length"].as_u64().unwrap_or(6_000);
    match (is_choice, length <= most) {
        (false, _) => Err(format!("{} is none of its choices", option["name"])),
        (_, false) => Err(format!("{} is longer than {most}", option["name"])),
        (true, true) => Ok(()),
    }
}

impl Interacting {
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns the token for answering it.
    pub fn token(&self) -> String {
        self.look(|interaction| interaction.token.clone())
    }

    /// Waits until the bot acknowledges it, within Discord's time limit.
    ///
    /// # Panics
    /// Panics when it does not.
    pub async fn is_acknowledged(&self) {
        self.until("an acknowledgement", |interaction| {
            (interaction.answer != ResponseState::Waiting).then_some(())
        })
        .await;
    }

    /// Waits for the answer, once it has content.
    ///
    /// # Panics
    /// Panics when there is none in time.
    pub async fn is_answered(&self) -> Message {
        let id = self
            .until("an answer", |interaction| {
                (interaction.answer == ResponseState::Answered)
                    .then_some(interaction.original)
                    .flatten()
            })
            .await;
        self.chat
            .sees("the answer", |all| {
                all.iter().find(|said| said.id == id).cloned()
            })
            .await
    }

    /// Returns the answer, in any state; `None` before there is one.
    pub fn answer(&self) -> Option<Message> {
        let original = self.look(|interaction| interaction.original)?;
        self.chat.all().into_iter().find(|said| said.id == original)
    }

    /// Waits until the answer is exactly this.
    ///
    /// # Panics
    /// Panics when it is not in time.
    pub async fn hears(&self, text: &str) -> Message {
        self.finds(text, |said| said.text == text).await
    }

    /// Waits until the answer or a follow-up matches.
    ///
    /// # Panics
    /// Panics when nothing does in time.
    pub async fn finds(&self, what: &str, fits: impl Fn(&Message) -> bool) -> Message {
        let find = |world: &World| {
            let interaction = &world.interactions[&self.id];
            let shown = world.shown(self.chat.channel, self.chat.person);
            let is_its = |said: &Message| {
                interaction.original == Some(said.id) || interaction.follow_ups.contains(&said.id)
            };
            shown
                .into_iter()
                .find(|said| is_its(said) && !said.is_deleted && fits(said))
        };
        match view::until(&self.shared, TIMEOUT, find).await {
            Some(found) => found,
            None => panic!(
                "{what:?} was not answered, but {:#?} with {:#?}",
                self.look(Clone::clone),
                self.answer()
            ),
        }
    }

    /// Returns the follow-ups, in order.
    pub fn follow_ups(&self) -> Vec<Message> {
        let ids = self.look(|interaction| interaction.follow_ups.clone());
        self.chat
            .all()
            .into_iter()
            .filter(|said| ids.contains(&said.id))
            .collect()
    }

    /// Whether it was acknowledged without a message, as a button can be.
    pub fn is_silent(&self) -> bool {
        self.look(|interaction| interaction.answer == ResponseState::DeferredUpdate)
    }

    fn look<T>(&self, look: impl FnOnce(&Interaction) -> T) -> T {
        self.shared
            .look(|world| look(&world.interactions[&self.id]))
    }

    async fn until<T>(&self, what: &str, find: impl Fn(&Interaction) -> Option<T>) -> T {
        let found = view::until(&self.shared, TIMEOUT, |world| {
            find(&world.interactions[&self.id])
        })
        .await;
        found.unwrap_or_else(|| panic!("{what} did not come, but {:#?}", self.look(Clone::clone)))
    }
}

//! Interactions: from a person's action to the response, within Discord's time limits.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Id;
use crate::error::ApiError;
use crate::world::{EventScope, World, intents};

/// How long a client may answer.
pub(crate) const LIFE: Duration = Duration::from_mins(15);

/// What kind of interaction, by Discord's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Command = 2,
    Component = 3,
    Autocomplete = 4,
    /// A form was sent.
    Form = 5,
}

/// The state of the response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResponseState {
    Waiting,
    /// "Muninn is thinking".
    Deferred,
    /// Acknowledged without a word, as a button can be.
    DeferredUpdate,
    Answered,
    /// A form is open.
    Form,
    Choices(Vec<Value>),
}

#[derive(Clone, Debug)]
pub(crate) struct Interaction {
    pub(crate) id: Id,
    pub(crate) token: String,
    pub(crate) app: Id,
    pub(crate) doing: Doing,
    pub(crate) channel: Id,
    pub(crate) user: Id,
    /// The command's name, or the button's id.
    pub(crate) name: String,
    /// Of a context menu's command, which shows another kind of answer.
    pub(crate) is_menu: bool,
    /// The message with the button.
    pub(crate) source: Option<Id>,
    /// On the server's clock.
    pub(crate) born: Duration,
    /// Whether a client was connected to receive it.
    pub(crate) delivered: bool,
    pub(crate) answer: ResponseState,
    pub(crate) acknowledged: Option<Duration>,
    pub(crate) original: Option<Id>,
    pub(crate) is_ephemeral: bool,
    pub(crate) follow_ups: Vec<Id>,
}

impl Interaction {
    /// Returns the metadata of its responses that tells their origin.
    pub(crate) fn metadata(&self, world: &World) -> Value {
        let mut metadata = json!({
            "id": self.id.json(), "type": self.doing as u8, "user": world.users[&self.user].json(),
            "authorizing_integration_owners": self.owners(world),
        });
        if self.doing == Doing::Component
            && let Some(source) = self.source
        {
            metadata["interacted_message_id"] = source.json();
        }
        if self.doing == Doing::Form
            && let Some(opened) = self.opened_by(world)
        {
            metadata["triggering_interaction_metadata"] = opened.metadata(world);
        }
        metadata
    }

    /// Returns the button press that was answered with the form.
    fn opened_by<'a>(&self, world: &'a World) -> Option<&'a Self> {
        let earlier = world.interactions.values().rev();
        let mut presses = earlier.filter(|it| it.doing == Doing::Component && it.user == self.user);
        presses.find(|it| it.source == self.source && it.answer == ResponseState::Form)
    }

    fn owners(&self, world: &World) -> Value {
        let guild = world
            .channels
            .get(&self.channel)
            .and_then(|channel| channel.guild);
        json!({ "0": guild.map_or_else(|| Value::from("0"), Id::json) })
    }
}

impl World {
    /// Delivers an interaction to the application; `data` is Discord's field of that name.
    pub(crate) fn interact(&mut self, mut interaction: Interaction, data: &Value) -> Id {
        let id = self.new_id();
        interaction.id = id;
        interaction.token = format!(
            "token{}{:x}",
            id,
            id.get().wrapping_mul(0x9e37_79b9_7f4a_7c15)
        );
        interaction.born = self.clock.elapsed();
        let guild = self.channels[&interaction.channel].guild;
        let is_there = |session: &&crate::gateway::GatewaySession| {
            session.app == interaction.app && session.link.is_some()
        };
        interaction.delivered = self.sessions.iter().any(|session| is_there(&session));
        let payload = self.interaction_json(&interaction, data);
        let app = interaction.app;
        self.interactions.insert(id, interaction);
        self.tell(
            "INTERACTION_CREATE",
            EventScope::App(app, guild),
            intents::ALWAYS,
            |_, _| payload.clone(),
        );
        id
    }

    fn interaction_json(&self, interaction: &Interaction, data: &Value) -> Value {
        let channel = &self.channels[&interaction.channel];
        let permissions = self.permissions(interaction.user, channel).json();
        let mut place = self.channel_json(channel, None);
        place["permissions"] = permissions.clone();
        let mut json = json!({
            "id": interaction.id.json(), "application_id": interaction.app.json(), "type": interaction.doing as u8,
            "token": interaction.token, "version": 1, "data": data, "channel": place, "channel_id": channel.id.json(),
            "app_permissions": self.permissions(interaction.app, channel).json(), "locale": self.users[&interaction.user].locale,
            "entitlements": [], "entitlement_sku_ids": [], "attachment_size_limit": 10_485_760,
            "authorizing_integration_owners": interaction.owners(self), "context": u8::from(channel.guild.is_none()),
        });
        let guild = channel.guild.and_then(|guild| self.guilds.get(&guild));
        if let Some(guild) = guild {
            let mut member = self.member_json(guild, interaction.user);
            member["permissions"] = permissions;
            json["member"] = member;
            json["guild_id"] = guild.id.json();
            json["guild"] = json!({ "id": guild.id.json(), "locale": "en-US", "features": [] });
            json["guild_locale"] = "en-US".into();
        } else {
            json["user"] = self.users[&interaction.user].json();
        }
        if let Some(source) = interaction
            .source
            .and_then(|source| self.message(channel.id, source))
        {
            json["message"] = self.message_json(source, interaction.app, true);
        }
        json
    }

    /// Returns the interaction if it may still be acknowledged.
    pub(crate) fn acknowledge(
        &mut self,
        id: Id,
        token: &str,
    ) -> Result<&mut Interaction, ApiError> {
        let now = self.clock.elapsed();
        let known = self
            .interactions
            .get(&id)
            .filter(|known| known.token == token);
        let Some(known) = known else {
            return Err(ApiError::unknown_interaction());
        };
        if known.answer != ResponseState::Waiting {
            return Err(ApiError::already_acknowledged());
        }
        if now - known.born > self.acknowledge_within {
            return Err(ApiError::unknown_interaction());
        }
        let known = self.interactions.get_mut(&id).expect("found above");
        known.acknowledged = Some(now);
        Ok(known)
    }

    /// Returns the interaction if its response may still be changed or followed up.
    pub(crate) fn by_token(&self, app: Id, token: &str) -> Result<&Interaction, ApiError> {
        let known = self
            .interactions
            .values()
            .find(|known| known.token == token && known.app == app);
        let known = known.ok_or_else(ApiError::unknown_webhook)?;
        if self.clock.elapsed() - known.born > LIFE {
            return Err(ApiError::bad_webhook_token());
        }
        if known.answer == ResponseState::Waiting {
            return Err(ApiError::unknown_webhook());
        }
        Ok(known)
    }

    /// Returns interactions that no connected client acknowledged in time.
    pub(crate) fn unacknowledged(&self) -> Vec<String> {
        let now = self.clock.elapsed();
        let late = |known: &&Interaction| {
            known.delivered
                && known.answer == ResponseState::Waiting
                && now - known.born > self.acknowledge_within
        };
        let late = self.interactions.values().filter(late);
        late.map(|known| {
            format!(
                "nobody acknowledged the interaction {} ({})",
                known.id, known.name
            )
        })
        .collect()
    }
}

//! Passes messages in channels to the bot.

mod answering;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_platform::{
    Addressed, Author, Body, Command, IgnoreReason, Inbox, InboxClosed, Incoming, IncomingMessage,
    Language, Readdress, Reply, Request, clamp_platform_time,
};
use serenity::model::id::{ChannelId, GuildId, MessageId};

use crate::directory::{DiscordChannelKind, DiscordLocation};
use crate::earlier;
use crate::hub::{DiscordHub, Unaddressed};
use crate::ids::{self, DiscordPlace};
use crate::intent::{
    AnswerDestination, MessageContext, MessageIntent, channels_named, edited, intent, is_admin,
    overheard, thread_name, toward,
};
use crate::message::{DiscordMessage, Person};
use crate::reply::{DiscordReplyTarget, reply};
use answering::{Answering, edit_nonce, prior_messages_of, target, target_again, where_it_may};

/// Delivers events to the bot.
#[derive(Clone)]
pub(crate) struct DiscordEventHandler {
    pub(crate) hub: Arc<DiscordHub>,
    pub(crate) inbox: Inbox,
}

impl DiscordEventHandler {
    /// Delivers a message if it is meant for the bot; waits until the bot has accepted it.
    pub(crate) async fn deliver_message(&self, said: DiscordMessage) -> Result<(), InboxClosed> {
        // Checked before any lookup: most messages are from others to others.
        if said.author.is_bot || said.author.id == self.hub.me || !said.is_regular {
            return Ok(());
        }
        let Some(facts) = self.facts(&said).await else {
            tracing::warn!(channel = %said.channel, "not answered: Discord does not say what channel this is");
            return Ok(());
        };
        let (addressed, wants, place, stand) = match intent(&said, &facts) {
            MessageIntent::Nothing(why) => {
                if why == IgnoreReason::NotAddressed {
                    self.hub.unaddressed.insert(said.id, Unaddressed::Untold);
                }
                if why.is_worth_telling() {
                    let allow = &self.hub.options.allow;
                    allow.note_not_answered(said.channel, said.author.id);
                }
                return Ok(());
            }
            MessageIntent::Said {
                addressed,
                wants,
                place,
                stand,
            } => (addressed, wants, place, stand),
        };
        let unaddressed = match addressed {
            Addressed::Directly => Unaddressed::No,
            Addressed::InConversation => Unaddressed::Overheard,
            // The bot keeps it without answering, so it gets it again when an edit adds the
            // mention.
            Addressed::Overheard => Unaddressed::Untold,
        };
        self.hub.unaddressed.insert(said.id, unaddressed);
        if addressed == Addressed::Overheard {
            let mut message = self.message(&said, &facts, place, addressed, wants.into());
            message.attachments = said.files;
            return self.inbox.deliver(Incoming::Overheard(message)).await;
        }
        let at = where_it_may(&self.hub, &said, &facts, place, stand);
        self.deliver_question(&said, &facts, addressed, wants, at)
            .await
    }

    async fn deliver_question(
        &self,
        said: &DiscordMessage,
        facts: &MessageContext,
        addressed: Addressed,
        wants: Request,
        (place, stand): (DiscordPlace, AnswerDestination),
    ) -> Result<(), InboxClosed> {
        let question = match &wants {
            Request::Text(text) => Some(text.clone()),
            Request::Command(_) => None,
        };
        let mut message = self.message(said, facts, place, addressed, wants.into());
        message.attachments = said.files.clone();
        let before = prior_messages_of(said, facts);
        let asked_in = DiscordPlace::new(said.guild, said.channel);
        let target = target(
            &self.hub,
            Answering {
                place,
                asker: said.author.id,
                stand,
                channel: said.channel,
                question: said.id,
                name: self.thread_name(question.as_deref().unwrap_or_default(), asked_in),
                has_buttons: question.is_some(),
                nonce: said.id.to_string(),
            },
        );
        let question = ids::DiscordEventId::Message {
            channel: said.channel,
            message: said.id,
            is_first: true,
        };
        let target = DiscordReplyTarget {
            before: Some(before),
            unconfirmed: earlier::answer_search_criteria(&place, &question),
            ..target
        };
        self.deliver(message, target).await
    }

    /// Delivers what somebody said to others before the bot listened. Returns false if it is not a
    /// person's message.
    pub(crate) async fn deliver_earlier_message(
        &self,
        said: DiscordMessage,
    ) -> Result<bool, InboxClosed> {
        if said.author.is_bot || said.author.id == self.hub.me || !said.is_regular {
            return Ok(false);
        }
        let Some(facts) = self.facts(&said).await else {
            return Ok(false);
        };
        let Some(text) = overheard(&said, &facts) else {
            return Ok(false);
        };
        let (place, addressed) = (
            DiscordPlace::new(said.guild, said.channel),
            Addressed::Overheard,
        );
        let mut message = self.message(&said, &facts, place, addressed, Body::Text(text));
        message.attachments = said.files;
        let delivered = self.inbox.deliver(Incoming::Overheard(message)).await;
        delivered.map(|()| true)
    }

    /// Like [`DiscordEventHandler::deliver_message`], for messages from while the bot was offline. Returns false if it
    /// would have been answered, but is too old.
    pub(crate) async fn deliver_missed_message(
        &self,
        said: DiscordMessage,
        oldest: DateTime<Utc>,
    ) -> Result<bool, InboxClosed> {
        if said.at < oldest
            && let Some(facts) = self.facts(&said).await
            && let MessageIntent::Said { addressed, .. } = intent(&said, &facts)
            && addressed != Addressed::Overheard
        {
            return Ok(false);
        }
        self.deliver_message(said).await.map(|()| true)
    }

    /// Delivers the new text of a message.
    pub(crate) async fn deliver_edit(
        &self,
        said: DiscordMessage,
        at: chrono::DateTime<Utc>,
    ) -> Result<(), InboxClosed> {
        if said.author.is_bot || said.author.id == self.hub.me {
            return Ok(());
        }
        let Some(facts) = self.facts(&said).await else {
            return Ok(());
        };
        let Some((addressed, text, place, stand)) = edited(&said, &facts) else {
            return Ok(());
        };
        let now = Unaddressed::SinceEdit(at);
        let before = match addressed {
            Addressed::Directly => self.hub.unaddressed.insert(said.id, now),
            Addressed::InConversation | Addressed::Overheard => None,
        };
        let before = before.unwrap_or_default();
        if before == now {
            return Ok(());
        }
        // Where only the mention is left, what was heard is to be forgotten first.
        if before == Unaddressed::Untold && !text.is_empty() {
            let id = said.id;
            self.deliver_message(said).await?;
            self.hub.unaddressed.insert(id, now);
            return Ok(());
        }
        let (place, stand) = where_it_may(&self.hub, &said, &facts, place, stand);
        let of = ids::message(said.channel, said.id);
        let name = self.thread_name(&text, DiscordPlace::new(said.guild, said.channel));
        let body = Body::Edit { of, text };
        let message = IncomingMessage {
            event: ids::edit(said.channel, said.id, at),
            attachments: said.files.clone(),
            sent_at: clamp_platform_time(at),
            ..self.message(&said, &facts, place, addressed, body)
        };
        let target = target(
            &self.hub,
            Answering {
                place,
                asker: said.author.id,
                stand,
                channel: said.channel,
                question: said.id,
                name,
                has_buttons: true,
                nonce: edit_nonce(said.id, at),
            },
        );
        let target = DiscordReplyTarget {
            before: Some(prior_messages_of(&said, &facts)),
            ..target
        };
        self.deliver(message, target).await?;
        // If it was answered, the bot knows its new text already.
        match before {
            Unaddressed::Overheard | Unaddressed::Untold => self.deliver_message(said).await,
            Unaddressed::No | Unaddressed::SinceEdit(_) => Ok(()),
        }
    }

    /// Delivers deletions of messages, except the bot's own.
    pub(crate) async fn deliver_deletions(
        &self,
        guild: Option<GuildId>,
        channel: ChannelId,
        messages: Vec<MessageId>,
    ) -> Result<(), InboxClosed> {
        let spot = self.hub.spot(guild, channel).await;
        // A deleted channel cannot be answered in, but its messages are forgotten.
        let spot = spot.unwrap_or_else(|| DiscordLocation {
            guild,
            ..DiscordLocation::direct(channel)
        });
        let by_others = messages.into_iter().filter(|id| !self.hub.removed.has(id));
        for id in by_others {
            let place = DiscordPlace::new(guild, channel);
            let of = ids::message(channel, id);
            let message = IncomingMessage {
                addressed: Addressed::InConversation,
                ..IncomingMessage::new(
                    ids::deletion(channel, id),
                    place.conversation(),
                    self.hub.audience(&spot, None),
                    Author::somebody(ids::SOMEBODY),
                    Body::Deletion { of },
                )
            };
            let target = target(
                &self.hub,
                Answering {
                    place,
                    asker: self.hub.me,
                    stand: AnswerDestination::Here,
                    channel,
                    question: id,
                    name: String::new(),
                    has_buttons: false,
                    nonce: format!("{id}d"),
                },
            );
            self.deliver(message, target).await?;
        }
        Ok(())
    }

    /// Returns the name of a question's thread, without secrets.
    pub(crate) fn thread_name(&self, question: &str, asked_in: DiscordPlace) -> String {
        let language = self.hub.language_there(asked_in);
        thread_name(self.inbox.sanitize_for_quoting(question).as_str(), language)
    }

    /// Returns the language for somebody in a place: the place's, or in direct messages the
    /// person's own.
    pub(crate) fn language_for(&self, who: &Person, spot: &DiscordLocation) -> Language {
        let alone = match spot.kind {
            DiscordChannelKind::Direct => self.hub.directory.language_of(who.id, who.language),
            DiscordChannelKind::Text
            | DiscordChannelKind::Forum
            | DiscordChannelKind::PublicThread
            | DiscordChannelKind::PrivateThread
            | DiscordChannelKind::Flat => None,
        };
        alone.unwrap_or_else(|| {
            self.hub
                .language_there(DiscordPlace::new(spot.guild, spot.channel))
        })
    }

    pub(crate) async fn facts(&self, said: &DiscordMessage) -> Option<MessageContext> {
        let hub = &self.hub;
        let spot = hub.spot(said.guild, said.channel).await?;
        let guild = said.guild;
        let named = channels_named(&said.text).filter_map(|id| {
            let name = hub.directory.name(guild?, id)?;
            Some((id, name))
        });
        Some(MessageContext {
            me: hub.me,
            my_role: guild.and_then(|guild| hub.directory.my_own_role(guild)),
            is_allowed: hub.is_allowed(&said.author, &spot),
            mode: hub.mode(&spot),
            is_heard: self.inbox.hears(&hub.audience(&spot, None).id),
            reads_messages: hub.options.reads_messages,
            language: self.language_for(&said.author, &spot),
            channels: named.collect(),
            spot,
        })
    }

    fn message(
        &self,
        said: &DiscordMessage,
        facts: &MessageContext,
        place: DiscordPlace,
        addressed: Addressed,
        body: Body,
    ) -> IncomingMessage {
        let message = IncomingMessage {
            addressed,
            toward: toward(said, facts),
            reply_to: said
                .replies_to
                .as_ref()
                .map(|to| ids::message(said.channel, to.id)),
            link: Some(ids::link(said.guild, said.channel, Some(said.id))),
            sent_at: clamp_platform_time(said.at),
            workspace_language: self.workspace_language(said.guild),
            ..IncomingMessage::new(
                ids::message(said.channel, said.id),
                place.conversation(),
                self.hub.audience(&facts.spot, None),
                self.author(&said.author, &facts.spot),
                body,
            )
        };
        match said.guild {
            Some(_) => message,
            None => message.said_alone(),
        }
    }

    /// Returns a person with their permissions: from the interaction, or computed.
    pub(crate) fn author(&self, who: &Person, spot: &DiscordLocation) -> Author {
        let permissions = who
            .permissions
            .or_else(|| self.hub.directory.permissions(spot, who.id, &who.roles));
        Author {
            id: ids::author(who.id),
            name: who.name.clone(),
            is_admin: is_admin(permissions),
            time_zone: None,
            language: self.hub.directory.language_of(who.id, who.language),
        }
    }

    pub(crate) fn workspace_language(&self, guild: Option<GuildId>) -> Option<Language> {
        self.hub.directory.language_in(guild?)
    }

    pub(crate) async fn deliver(
        &self,
        message: IncomingMessage,
        target: DiscordReplyTarget,
    ) -> Result<(), InboxClosed> {
        // Before the delivery, because the search for deleted places asks the bot which places it
        // knows.
        self.hub.record_use(target.transport.belongs.place);
        let reply = Box::new(reply(target));
        self.inbox
            .deliver(Incoming::Message { message, reply })
            .await
    }
}

#[async_trait]
impl Readdress for DiscordEventHandler {
    async fn reply_again(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>> {
        if message.body == Body::Command(Command::PlaceGone) {
            return Some(self.silent());
        }
        let target = target_again(&self.hub, message, |text, place| {
            self.thread_name(text, place)
        })?;
        self.hub.record_use(target.transport.belongs.place);
        Some(Box::new(reply(target)))
    }
}

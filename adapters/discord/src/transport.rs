//! Sends the messages of an answer: as the bot, or with the token of the interaction it answers.
//!
//! A token is valid for fifteen minutes and is lost with the process. After that an answer is an
//! ordinary message that names the asker, or for a private question a direct message.

use std::sync::Arc;

use muninn_platform::{Language, ShownItem};
use parking_lot::Mutex;
use secrecy::SecretString;
use serde_json::Value;
use serenity::model::Permissions;
use serenity::model::id::{ChannelId, MessageId, UserId};

use crate::answer_thread::AnswerThread;
use crate::archived::in_open_thread;
use crate::buttons::{ButtonOwner, Row, item_rows};
use crate::content;
use crate::earlier::{self, EarlierAnswerQuery};
use crate::errors::{Failure, RefusalReason};
use crate::hub::DiscordHub;
use crate::interaction_token::{EditRoute, InteractionToken};
use crate::objects::Sent;
use crate::rights;

/// The separator between the answer's nonce and the part's number. For a message with the nonce of
/// a deleted one, Discord may return the deleted one, so the next mark makes another nonce. Discord
/// allows 25 characters.
const NONCE_MARKS: [char; 3] = ['.', ':', ';'];

/// A posted message of an answer.
#[derive(Clone, Debug)]
pub(crate) struct DiscordLiveMessage {
    pub(crate) channel: ChannelId,
    pub(crate) id: MessageId,
    pub(crate) via: EditRoute,
    /// `None` if unknown.
    pub(crate) text: Option<String>,
    pub(crate) row: Option<Row>,
    /// It begins with the line that names the asker.
    pub(crate) is_addressed: bool,
}

impl DiscordLiveMessage {
    /// Creates one of which only the id is known.
    pub(crate) fn of(channel: ChannelId, id: MessageId, via: EditRoute) -> Self {
        Self {
            channel,
            id,
            via,
            text: None,
            row: None,
            is_addressed: false,
        }
    }

    pub(crate) fn says(&self, words: MessageContent<'_>) -> bool {
        // Discord trims messages.
        let text = self.text.as_deref().map(str::trim);
        text == Some(words.text.trim()) && self.row == Some(words.row)
    }
}

/// What a message says.
#[derive(Clone, Copy)]
pub(crate) struct MessageContent<'a> {
    pub(crate) text: &'a str,
    pub(crate) row: Row,
    /// The language of its buttons.
    pub(crate) language: Language,
    /// The items that it lists, for [`Row::Items`].
    pub(crate) items: &'a [ShownItem],
}

impl<'a> MessageContent<'a> {
    /// A text without buttons.
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            text,
            row: Row::None,
            language: Language::default(),
            items: &[],
        }
    }
}

/// The messages of an answer that were posted with the token.
#[derive(Debug, Default)]
pub(crate) struct FollowUps {
    confirmed: Vec<MessageId>,
    /// Discord may have posted one more.
    is_in_doubt: bool,
}

impl FollowUps {
    fn confirm(&mut self, id: MessageId) {
        self.confirmed.push(id);
        self.is_in_doubt = false;
    }
}

/// What all messages of an answer share.
pub(crate) struct AnswerTransport {
    pub(crate) hub: Arc<DiscordHub>,
    pub(crate) answer_thread: Arc<AnswerThread>,
    pub(crate) belongs: ButtonOwner,
    /// The owner of the answer, if somebody else regenerates it: the buttons stay theirs.
    pub(crate) owner: Option<UserId>,
    /// What the first message replies to.
    pub(crate) reply_to: Option<MessageId>,
    pub(crate) token: Option<Arc<InteractionToken>>,
    /// Only the asker may see the answer.
    pub(crate) is_private: bool,
    /// Ordinary messages name the asker.
    pub(crate) names_asker: bool,
    /// By which Discord recognises a repeated message.
    pub(crate) nonce: String,
    pub(crate) follow_ups: Mutex<FollowUps>,
}

impl AnswerTransport {
    /// Creates the transport of a public answer, as ordinary messages.
    pub(crate) fn new(answer_thread: AnswerThread, belongs: ButtonOwner, nonce: String) -> Self {
        Self {
            hub: Arc::clone(&answer_thread.hub),
            answer_thread: Arc::new(answer_thread),
            belongs,
            owner: None,
            reply_to: None,
            token: None,
            is_private: false,
            names_asker: false,
            nonce,
            follow_ups: Mutex::default(),
        }
    }

    /// Returns what the buttons hold.
    fn buttons(&self) -> ButtonOwner {
        ButtonOwner {
            asker: self.owner.unwrap_or(self.belongs.asker),
            ..self.belongs
        }
    }

    pub(crate) fn token(&self) -> Option<&SecretString> {
        self.token.as_deref().and_then(InteractionToken::secret)
    }

    /// Turns the interaction's original response into this message. `None`: there is no
    /// interaction, or it has expired.
    pub(crate) async fn fill_original(
        &self,
        words: MessageContent<'_>,
    ) -> Result<Option<DiscordLiveMessage>, Failure> {
        let Some(token) = self.token() else {
            return Ok(None);
        };
        let body = content::edit(words.text, words.row, self.buttons(), words.language);
        let body = listing(body, words);
        let filled = self.hub.api.edit_original(token, &body).await;
        let filled = self.unless_over(filled)?;
        if let Some(sent) = &filled {
            self.follow_ups.lock().confirmed.push(sent.id);
        }
        Ok(filled.map(|sent| shown(&sent, EditRoute::Original, words)))
    }

    /// Gives a public "thinking…" a content, which the end of the answer removes. Otherwise Discord
    /// would turn it into the first private message, for everybody to read. Returns whether private
    /// messages may be posted with the token.
    pub(crate) async fn end_deferral(&self) -> bool {
        let filling = || self.fill_original(MessageContent::of("…"));
        self.hub.outbox.retry(filling).await.is_ok()
    }

    /// Posts a message for the asker alone: with the token, or as a direct message.
    pub(crate) async fn create_private(
        &self,
        part: usize,
        words: MessageContent<'_>,
        by_token: bool,
    ) -> Result<DiscordLiveMessage, Failure> {
        if by_token {
            self.create(part, words, true).await
        } else {
            self.create_ordinary(part, words, true).await
        }
    }

    /// Posts a further message: as a follow-up to the interaction if possible, otherwise as an
    /// ordinary one.
    pub(crate) async fn create(
        &self,
        part: usize,
        words: MessageContent<'_>,
        is_private: bool,
    ) -> Result<DiscordLiveMessage, Failure> {
        match self.follow_up(words, is_private).await? {
            Some(sent) => Ok(sent),
            None => self.create_ordinary(part, words, is_private).await,
        }
    }

    /// Posts a follow-up to the interaction. `None`: there is no interaction, or it has expired.
    ///
    /// Discord knows no nonce here, so after a request whose result is unknown its message is looked
    /// for. One that only the asker sees cannot be found.
    async fn follow_up(
        &self,
        words: MessageContent<'_>,
        is_private: bool,
    ) -> Result<Option<DiscordLiveMessage>, Failure> {
        let is_in_doubt = self.follow_ups.lock().is_in_doubt;
        if is_in_doubt
            && !is_private
            && let Some(id) = self.unconfirmed(words).await?
        {
            let channel = self.answer_thread.channel().await?;
            self.follow_ups.lock().confirm(id);
            let found = DiscordLiveMessage::of(channel, id, EditRoute::FollowUp);
            return Ok(Some(found));
        }
        let Some(token) = self.token() else {
            return Ok(None);
        };
        let body = content::follow_up(
            words.text,
            words.row,
            self.buttons(),
            words.language,
            is_private,
        );
        let body = listing(body, words);
        self.follow_ups.lock().is_in_doubt = true;
        let sent = self.hub.api.follow_up(token, &body).await;
        match &sent {
            Ok(sent) => self.follow_ups.lock().confirm(sent.id),
            Err(failure) => self.follow_ups.lock().is_in_doubt = is_in_doubt || failure.may_be_done,
        }
        let sent = self.unless_over(sent)?;
        Ok(sent.map(|sent| shown(&sent, EditRoute::FollowUp, words)))
    }

    /// Returns the follow-up with this text that Discord posted without confirming it.
    async fn unconfirmed(&self, words: MessageContent<'_>) -> Result<Option<MessageId>, Failure> {
        let Some(interaction) = self.token.as_ref().map(|token| token.interaction) else {
            return Ok(None);
        };
        let channel = self.answer_thread.channel().await?;
        let since = MessageId::new(interaction.get());
        let said = match self.hub.api.messages_after(channel, since).await {
            Ok(said) => said,
            // Where nothing can be read, nothing can be found.
            Err(failure) if failure.is(RefusalReason::MayNot) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let sought = EarlierAnswerQuery::To(interaction);
        let known = &self.follow_ups.lock().confirmed;
        let found = earlier::find(&said, self.hub.me, sought)
            .into_iter()
            .find(|it| it.content.trim() == words.text.trim() && !known.contains(&it.id));
        Ok(found.map(|it| it.id))
    }

    async fn create_ordinary(
        &self,
        part: usize,
        words: MessageContent<'_>,
        is_private: bool,
    ) -> Result<DiscordLiveMessage, Failure> {
        let ButtonOwner { asker, place } = self.belongs;
        let is_direct = is_private && place.guild.is_some();
        let channel = if is_direct {
            self.hub.api.open_direct(asker).await?
        } else {
            self.answer_thread.channel().await?
        };
        let is_first = part == 0;
        let is_addressed = is_first && self.names_asker;
        let reply_to = self
            .reply_to
            .or_else(|| self.answer_thread.reply_to(channel));
        // The message that it answers is in another channel.
        let reply_to = reply_to.filter(|_| is_first && !is_direct);
        match self
            .send(channel, part, words, reply_to, is_addressed)
            .await
        {
            Err(failure) if failure.is(RefusalReason::NoHistory) && reply_to.is_some() => {
                let needed = Permissions::READ_MESSAGE_HISTORY;
                let why = rights::describe_inability(&self.hub, channel, "reply", needed);
                tracing::warn!(%failure, "{why}; the answer names the asker instead");
                self.send(channel, part, words, None, true).await
            }
            other => other,
        }
    }

    /// Sends an ordinary message.
    async fn send(
        &self,
        channel: ChannelId,
        part: usize,
        words: MessageContent<'_>,
        reply_to: Option<MessageId>,
        is_addressed: bool,
    ) -> Result<DiscordLiveMessage, Failure> {
        let text = self.text(words, is_addressed);
        for mark in NONCE_MARKS {
            let nonce = format!("{}{mark}{part}", self.nonce);
            let body = content::message(
                &text,
                words.row,
                self.buttons(),
                words.language,
                reply_to,
                &nonce,
            );
            let body = listing(body, words);
            let sent = self.hub.api.send(channel, &body).await?;
            let standing = DiscordLiveMessage {
                is_addressed,
                ..shown(&sent, EditRoute::Bot, words)
            };
            let is_as_sent = sent.content.trim() == text.trim();
            if is_as_sent {
                return Ok(standing);
            }
            // With the nonce of an earlier message, Discord returns that one, whatever its text,
            // and even if it was deleted.
            if let Some(changed) = self.change(&standing, words).await? {
                return Ok(changed);
            }
        }
        let gone = "each of the messages that Discord has for it was taken away";
        Err(Failure::refused(RefusalReason::NoMessage, gone))
    }

    fn text(&self, words: MessageContent<'_>, is_addressed: bool) -> String {
        if is_addressed {
            content::addressed_to(self.belongs.asker, words.text)
        } else {
            words.text.to_owned()
        }
    }

    /// Changes the text of a message. `None`: it is gone.
    pub(crate) async fn change(
        &self,
        standing: &DiscordLiveMessage,
        words: MessageContent<'_>,
    ) -> Result<Option<DiscordLiveMessage>, Failure> {
        let api = &self.hub.api;
        let text = self.text(words, standing.is_addressed);
        let body = content::edit(&text, words.row, self.buttons(), words.language);
        let body = listing(body, words);
        let by_token = match (standing.via, self.token()) {
            (EditRoute::Original, Some(token)) => Some(api.edit_original(token, &body).await),
            (EditRoute::FollowUp, Some(token)) => {
                Some(api.edit_follow_up(token, standing.id, &body).await)
            }
            (EditRoute::Bot, _) | (_, None) => None,
        };
        let changed = match by_token {
            Some(changed) => self.unless_over(changed)?,
            None => None,
        };
        let changed = match changed {
            Some(sent) => Ok(sent),
            // Needs the token, which has expired.
            None if self.is_private && standing.via != EditRoute::Bot => return Ok(None),
            None => {
                let editing = || api.edit(standing.channel, standing.id, &body);
                in_open_thread(api, standing.channel, editing).await
            }
        };
        match changed {
            Ok(sent) => Ok(Some(DiscordLiveMessage {
                is_addressed: standing.is_addressed,
                ..shown(&sent, standing.via, words)
            })),
            Err(failure) if failure.is(RefusalReason::NoMessage) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes a message; succeeds if it is gone already.
    pub(crate) async fn remove(&self, standing: &DiscordLiveMessage) -> Result<(), Failure> {
        let api = &self.hub.api;
        self.hub.removed.insert(standing.id, ());
        let removed = match (standing.via, self.token()) {
            (EditRoute::Original, Some(token)) => api.delete_original(token).await,
            (EditRoute::FollowUp, Some(token)) => api.delete_follow_up(token, standing.id).await,
            (EditRoute::Original | EditRoute::FollowUp, None) if self.is_private => Ok(()),
            (EditRoute::Original | EditRoute::FollowUp | EditRoute::Bot, _) => {
                let deleting = || api.delete(standing.channel, standing.id);
                in_open_thread(api, standing.channel, deleting).await
            }
        };
        match removed {
            Err(failure)
                if failure.is(RefusalReason::NoMessage)
                    || failure.is(RefusalReason::NoChannel)
                    || failure.is(RefusalReason::InteractionOver) =>
            {
                Ok(())
            }
            other => other,
        }
    }

    /// Removes "thinking…".
    pub(crate) async fn remove_original(&self) -> Result<(), Failure> {
        match self.token() {
            Some(token) => {
                let removed = self.hub.api.delete_original(token).await;
                self.unless_over(removed).map(|_| ())
            }
            None => Ok(()),
        }
    }

    /// Returns `None`, and marks the token as invalid, if Discord does not accept it any more.
    fn unless_over<T>(&self, answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.is(RefusalReason::InteractionOver) => {
                if let Some(token) = &self.token {
                    tracing::info!(interaction = %token.interaction, "the interaction is over; the answer is an ordinary message");
                    token.end();
                }
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// Adds the buttons of the listed items.
fn listing(mut body: Value, words: MessageContent<'_>) -> Value {
    if words.row == Row::Items {
        body["components"] = item_rows(words.items, words.language).into();
    }
    body
}

fn shown(sent: &Sent, via: EditRoute, words: MessageContent<'_>) -> DiscordLiveMessage {
    DiscordLiveMessage {
        text: Some(words.text.to_owned()),
        row: Some(words.row),
        ..DiscordLiveMessage::of(sent.channel_id, sent.id, via)
    }
}

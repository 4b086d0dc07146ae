//! One answer on its way into a room.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use matrix_sdk::Room;
use matrix_sdk::ruma::{OwnedEventId, OwnedTransactionId};
use muninn_platform::{
    Attachment, ConversationId, Delivered, DownloadError, MessageId, Pace, PlatformError, Reply,
    SafeText, TextLimit, Withdraw, misconfigured,
};
use tokio::time::Instant;

use crate::content::{self, Relation};
use crate::errors::{disconnected, is_forbidden};
use crate::event::{Event, EventKind};
use crate::hub::Hub;
use crate::outbox::SendError;
use crate::presence::{self, TYPING_EVERY};
use crate::withdraw::Withdrawer;
use crate::{attachment, login, removal};

/// A homeserver's own default is a message each five seconds.
const UPDATE_EVERY: Duration = Duration::from_secs(5);

/// What a reply answers, and where.
pub(crate) struct Target {
    pub(crate) room: Room,
    /// The message that is answered; of an edit, the edit.
    pub(crate) question: OwnedEventId,
    /// An earlier process may have answered it already, wholly or in part.
    pub(crate) may_be_repetition: bool,
    pub(crate) conversation: ConversationId,
    pub(crate) relation: Relation,
}

pub(crate) struct MatrixReply {
    hub: Arc<Hub>,
    target: Target,
    /// Messages of an earlier answer, which this one takes the place of.
    earlier: Vec<OwnedEventId>,
    shown: Option<LiveMessage>,
    last_update: Option<Instant>,
    signs: presence::TypingIndicator,
    is_finished: bool,
}

/// A message that stands in the room.
struct LiveMessage {
    id: OwnedEventId,
    /// None: it stands there from an earlier process, with another text.
    text: Option<String>,
}

impl MatrixReply {
    pub(crate) fn new(hub: Arc<Hub>, target: Target) -> Self {
        hub.is_under_way(target.question.clone(), target.conversation.clone());
        let signs =
            presence::TypingIndicator::new(&target.room, &target.question, &target.relation);
        Self {
            hub,
            target,
            earlier: Vec::new(),
            shown: None,
            last_update: None,
            signs,
            is_finished: false,
        }
    }

    /// The same for the same part of the same answer, so that the homeserver knows a repetition.
    fn transaction(&self, part: usize) -> OwnedTransactionId {
        format!("muninn-{}-{part}", self.target.question).into()
    }

    async fn deliver(&mut self, parts: &[SafeText]) -> Result<Delivered, SendError> {
        let mut standing = std::mem::take(&mut self.earlier)
            .into_iter()
            .map(|id| LiveMessage { id, text: None });
        let mut first = self.shown.take();
        let mut delivered = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let shown = match first.take().or_else(|| standing.next()) {
                Some(shown) => shown,
                None => self.create(number, part).await?,
            };
            let id = shown.id.clone();
            if number == 0 {
                // Whatever fails from here on, this message is the answer's.
                self.shown = Some(LiveMessage {
                    id: id.clone(),
                    text: shown.text.clone(),
                });
            }
            if shown.text.as_deref() != Some(part.as_str()) {
                self.edit(&id, part).await?;
            }
            delivered.push(MessageId::new(id.as_str()));
        }
        for surplus in first.into_iter().chain(standing) {
            removal::remove(&self.hub, &self.target.room, &surplus.id).await?;
        }
        Ok(Delivered(delivered))
    }

    async fn create(&self, part: usize, text: &SafeText) -> Result<LiveMessage, SendError> {
        let content = content::message(text, &self.target.relation);
        let (outbox, room) = (&self.hub.outbox, &self.target.room);
        let sent = outbox.send(room, &content, &self.transaction(part)).await;
        let id = match sent {
            Err(SendError::Refused(error)) if self.may_be_unrelated(&error) => {
                tracing::warn!(room = %room.room_id(), %error, "an answer is sent without its place, as the homeserver refuses it there");
                let content = content::message(text, &Relation::None);
                let plain = OwnedTransactionId::from(format!("{}-plain", self.transaction(part)));
                outbox.send(room, &content, &plain).await?
            }
            sent => sent?,
        };
        let found = self.standing(&id, text).await;
        match found {
            ExistingMessage::As(text) => Ok(LiveMessage { id, text }),
            // Taken back when an earlier delivery was given up.
            ExistingMessage::Gone => {
                let again = OwnedTransactionId::from(format!("{}-again", self.transaction(part)));
                let id = outbox.send(room, &content, &again).await?;
                let text = Some(text.to_string());
                Ok(LiveMessage { id, text })
            }
        }
    }

    /// Whether a refused message may be taken where it relates to no other.
    fn may_be_unrelated(&self, error: &matrix_sdk::Error) -> bool {
        self.target.relation != Relation::None && !is_forbidden(error)
    }

    async fn edit(&self, id: &OwnedEventId, text: &SafeText) -> Result<(), SendError> {
        let content = content::edit(id, text);
        let transaction = matrix_sdk::ruma::TransactionId::new();
        let (outbox, room) = (&self.hub.outbox, &self.target.room);
        outbox.send(room, &content, &transaction).await.map(|_| ())
    }

    /// What the homeserver has under the id it gave for a message just sent.
    async fn standing(&self, id: &OwnedEventId, sent: &SafeText) -> ExistingMessage {
        let as_sent = || ExistingMessage::As(Some(sent.to_string()));
        if !self.target.may_be_repetition {
            return as_sent();
        }
        let Ok(found) = self.target.room.event(id, None).await else {
            // An edit too many is the lesser evil.
            return ExistingMessage::As(None);
        };
        match Event::read(found.raw().json().get()).map(|event| event.what) {
            Some(EventKind::Message(message)) if message.text == sent.as_str() => as_sent(),
            Some(EventKind::Message(_) | EventKind::Undecryptable(_)) => ExistingMessage::As(None),
            Some(_) | None => ExistingMessage::Gone,
        }
    }

    fn error(&self, error: SendError) -> PlatformError {
        match error {
            SendError::LoggedOut => login::logged_out(&self.hub.options),
            SendError::Refused(error) if is_forbidden(&error) => misconfigured(format!(
                "Muninn may not write in {}: {}; let it send messages there, or let it leave",
                self.target.room.room_id(),
                muninn_platform::in_one_line(&error)
            )),
            SendError::Refused(error) => disconnected(format!(
                "the homeserver refuses a message in {}: {}",
                self.target.room.room_id(),
                muninn_platform::in_one_line(&error)
            )),
            error @ (SendError::Away(_) | SendError::TimedOut) => disconnected(error),
        }
    }
}

enum ExistingMessage {
    /// With this text, if it is the one that was sent.
    As(Option<String>),
    Gone,
}

#[async_trait]
impl Reply for MatrixReply {
    fn limit(&self) -> TextLimit {
        content::LIMIT
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: UPDATE_EVERY,
            working_every: TYPING_EVERY,
        }
    }

    fn replace(&mut self, earlier: Delivered) {
        self.earlier = earlier
            .0
            .iter()
            .filter_map(|id| id.as_str().try_into().ok())
            .collect();
    }

    fn may_repeat(&mut self) {
        self.target.may_be_repetition = true;
    }

    async fn working(&mut self) {
        self.signs.show(&self.hub);
    }

    async fn update(&mut self, so_far: &SafeText) {
        // An answer that stands is not undone for one that may be given up.
        let is_early = self
            .last_update
            .is_some_and(|at| at.elapsed() < UPDATE_EVERY);
        if !self.earlier.is_empty() || is_early {
            return;
        }
        let Some(text) = so_far.split(content::LIMIT).into_iter().next() else {
            return;
        };
        self.signs.show(&self.hub);
        let (outbox, room) = (&self.hub.outbox, &self.target.room);
        match &mut self.shown {
            Some(shown) if shown.text.as_deref() == Some(text.as_str()) => {}
            Some(shown) => {
                let content = content::edit(&shown.id, &text);
                let transaction = matrix_sdk::ruma::TransactionId::new();
                if outbox.try_send(room, content, transaction).await.is_some() {
                    shown.text = Some(text.to_string());
                }
            }
            None => {
                // What may stand there already is looked at when the text is whole.
                if self.target.may_be_repetition {
                    return;
                }
                let content = content::message(&text, &self.target.relation);
                let sent = outbox.try_send(room, content, self.transaction(0)).await;
                let Some(id) = sent else { return };
                let conversation = self.target.conversation.clone();
                self.hub.is_under_way(id.clone(), conversation);
                let text = Some(text.to_string());
                self.shown = Some(LiveMessage { id, text });
            }
        }
        self.last_update = Some(Instant::now());
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        // Also if it fails: what is shown stays, and is completed when it is delivered again.
        self.is_finished = true;
        let delivered = self.deliver(parts).await;
        self.signs.hide(&self.hub).await;
        delivered.map_err(|error| self.error(error))
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(Withdrawer(Arc::clone(&self.hub)))
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        attachment::download(&self.hub.client, &self.target.room, attachment, most).await
    }
}

impl Drop for MatrixReply {
    fn drop(&mut self) {
        self.hub.is_over(&self.target.question);
        let shown = self.shown.take();
        if let Some(shown) = &shown {
            self.hub.is_over(&shown.id);
        }
        let mut signs = self.signs.take();
        let taken_back = shown.filter(|_| !self.is_finished);
        if taken_back.is_none() && !signs.are_shown() {
            return;
        }
        let (hub, room) = (Arc::clone(&self.hub), self.target.room.clone());
        // Bounded as everything that goes out; `run` waits for it.
        let chore = async move {
            signs.hide(&hub).await;
            let Some(shown) = taken_back else { return };
            if let Err(error) = removal::remove(&hub, &room, &shown.id).await {
                tracing::warn!(%error, room = %room.room_id(), "an answer that was given up stays");
            }
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.hub.chores.spawn_on(chore, &runtime);
        }
    }
}

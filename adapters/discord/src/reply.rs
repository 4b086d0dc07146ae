//! The messages of an answer in a channel, a thread, or at an interaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use muninn_platform::{
    AnswerPart, AnswerSink, AnswerStage, Attachment, Delivered, Directly, DisplayOutcome,
    DownloadError, DroppedReplyState, Edited, HandedOver, Language, LiveReply, MessageId as SentId,
    NotHandedOver, OwnFile, Pace, PlatformError, PlatformVocabulary, PriorMessages, SafeText,
    TextLimit, Withdraw, misconfigured,
};
use muninn_texts::text;
use parking_lot::Mutex;
use serenity::model::id::{ChannelId, MessageId};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::attachment;
use crate::background::{self, PriorMessageSource};
use crate::buttons::Row;
use crate::content;
use crate::earlier::{self, EarlierAnswerQuery};
use crate::errors::{Failure, FailureKind, RefusalReason, disconnected, logged_out};
use crate::handing::{self, LARGEST_FILE};
use crate::hub::DiscordHub;
use crate::ids;
use crate::interaction_token::EditRoute;
use crate::outbox::SHOW_EVERY;
use crate::presence::{TYPING_EVERY, Typing};
use crate::rights;
use crate::transport::{AnswerTransport, DiscordLiveMessage, MessageContent};
use crate::vocabulary::VOCABULARY;
use crate::withdraw::DiscordWithdrawer;

/// What an answer belongs to.
pub(crate) struct DiscordReplyTarget {
    pub(crate) transport: Arc<AnswerTransport>,
    /// The interaction shows "thinking…", which becomes the answer.
    pub(crate) is_thinking: bool,
    /// The message of the pressed button, which the interaction can change.
    pub(crate) pressed_on: Option<(ChannelId, MessageId)>,
    /// Whether it answers a question rather than a command: people can ask why, and regenerate it.
    pub(crate) has_buttons: bool,
    /// It replaces an answer, or else is only for the asker.
    pub(crate) is_again: bool,
    /// How to find an answer that an earlier process may have posted.
    pub(crate) sought: Option<(MessageId, EarlierAnswerQuery)>,
    /// How to find first words whose confirmation was lost, to remove them if the answer is given up.
    pub(crate) unconfirmed: Option<(MessageId, EarlierAnswerQuery)>,
    pub(crate) before: Option<PriorMessageSource>,
}

impl DiscordReplyTarget {
    /// Creates the target of an answer to a message, or to something handled as one.
    pub(crate) fn new(transport: AnswerTransport, has_buttons: bool) -> Self {
        Self {
            transport: Arc::new(transport),
            is_thinking: false,
            pressed_on: None,
            has_buttons,
            is_again: false,
            sought: None,
            unconfirmed: None,
            before: None,
        }
    }
}

/// Creates the reply of one answer in a channel, a thread, or at an interaction.
pub(crate) fn reply(target: DiscordReplyTarget) -> LiveReply<TransportSink> {
    let may_stand = target.sought.is_some();
    let sink = TransportSink {
        hub: Arc::clone(&target.transport.hub),
        is_thinking: AtomicBool::new(target.is_thinking),
        is_filled: AtomicBool::new(false),
        is_replacing: AtomicBool::new(false),
        typing: Mutex::new(None),
        target,
    };
    LiveReply::new(sink, may_stand)
}

pub(crate) struct TransportSink {
    hub: Arc<DiscordHub>,
    target: DiscordReplyTarget,
    is_thinking: AtomicBool,
    /// "Thinking…" became a message for everybody, which holds only the place of private ones.
    is_filled: AtomicBool,
    is_replacing: AtomicBool,
    typing: Mutex<Option<Typing>>,
}

impl TransportSink {
    fn is_replacing(&self) -> bool {
        self.is_replacing.load(Ordering::Relaxed)
    }

    /// Whether only the asker may see it.
    fn is_private(&self) -> bool {
        self.target.transport.is_private || (self.target.is_again && !self.is_replacing())
    }

    fn words<'a>(&self, part: &AnswerPart<'a, String>) -> MessageContent<'a> {
        let has_buttons = self.target.has_buttons && (self.is_replacing() || !self.target.is_again);
        let lists = !part.items.is_empty();
        let row = match part.stage {
            AnswerStage::Last if lists => Row::Items,
            AnswerStage::Growing if has_buttons => Row::Stop,
            AnswerStage::Last if has_buttons => Row::Answer,
            AnswerStage::Growing | AnswerStage::Whole | AnswerStage::Last => Row::None,
        };
        MessageContent {
            text: part.text,
            row,
            language: part.language,
            items: part.items,
        }
    }

    /// Records the token of a private message, without which it cannot be withdrawn.
    fn remember(&self, shown: DiscordLiveMessage) -> DiscordLiveMessage {
        let token = self.target.transport.token.as_ref();
        if let Some(token) = token.filter(|_| self.is_private() && shown.via != EditRoute::Bot) {
            let way = (Arc::clone(token), shown.via);
            self.hub.private_answers.insert(shown.id, way);
        }
        shown
    }

    /// Turns "thinking…" into the answer; `None` if there is none.
    async fn fill(&self, words: MessageContent<'_>) -> Result<Option<DiscordLiveMessage>, Failure> {
        if !self.is_thinking.swap(false, Ordering::Relaxed) {
            return Ok(None);
        }
        let transport = &self.target.transport;
        let filled = self
            .hub
            .outbox
            .retry(|| transport.fill_original(words))
            .await;
        match filled {
            // The asker dismissed it.
            Err(failure) if failure.is(RefusalReason::NoMessage) => Ok(None),
            other => other,
        }
    }

    /// Removes "thinking…" if nothing replaced it.
    async fn end_thinking(&self) {
        if !self.is_thinking.swap(false, Ordering::Relaxed) {
            return;
        }
        if !self.is_filled.load(Ordering::Relaxed) {
            // Discord ends it by itself, too.
            let removed = self.target.transport.remove_original();
            let _ = self.hub.outbox.try_once(removed).await;
            return;
        }
        let (hub, transport) = (Arc::clone(&self.hub), Arc::clone(&self.target.transport));
        self.hub.chores.spawn(async move {
            let removed = hub.outbox.retry(|| transport.remove_original()).await;
            if let Err(failure) = removed
                && !failure.is(RefusalReason::NoMessage)
            {
                tracing::warn!(%failure, "a message that held the place of a private answer stays");
            }
        });
    }
}

#[async_trait]
impl AnswerSink for TransportSink {
    type Message = DiscordLiveMessage;
    type Text = String;
    type Error = Failure;

    /// Aligning makes tables wider, so an answer is split after its conversion.
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: SHOW_EVERY,
            working_every: TYPING_EVERY,
        }
    }

    /// The pace is the channel's.
    fn keeps_pace(&self) -> bool {
        true
    }

    fn texts(&self, parts: &[SafeText]) -> Vec<String> {
        content::texts(parts)
    }

    fn first_text(&self, so_far: &SafeText) -> Option<String> {
        let texts = content::texts(std::slice::from_ref(so_far));
        texts.into_iter().next()
    }

    fn has_content(&self, message: &DiscordLiveMessage, part: &AnswerPart<'_, String>) -> bool {
        message.says(self.words(part))
    }

    async fn post(&self, part: &AnswerPart<'_, String>) -> Result<DiscordLiveMessage, Failure> {
        let (transport, words) = (&self.target.transport, self.words(part));
        if let Some(filled) = self.fill(words).await? {
            return Ok(self.remember(filled));
        }
        let creating = || transport.create(part.number, words, self.is_private());
        let created = self.hub.outbox.retry(creating).await?;
        Ok(self.remember(created))
    }

    async fn edit(
        &self,
        message: &DiscordLiveMessage,
        part: &AnswerPart<'_, String>,
    ) -> Result<Edited<DiscordLiveMessage>, Failure> {
        let (transport, words) = (&self.target.transport, self.words(part));
        let changing = || transport.change(message, words);
        let changed = self.hub.outbox.retry(changing).await?;
        Ok(match changed {
            Some(shown) => Edited::As(self.remember(shown)),
            None => Edited::Gone,
        })
    }

    async fn delete(&self, message: &DiscordLiveMessage) -> Result<(), Failure> {
        let transport = &self.target.transport;
        self.hub.outbox.retry(|| transport.remove(message)).await
    }

    async fn find(&self) -> Result<Vec<Option<DiscordLiveMessage>>, Failure> {
        let Some((since, sought)) = self.target.sought else {
            return Ok(Vec::new());
        };
        let answer_thread = &self.target.transport.answer_thread;
        let channel = answer_thread.channel().await?;
        let sought = answer_thread.sought_in(channel, sought);
        let DiscordHub { api, outbox, .. } = &*self.hub;
        let asked = outbox.retry(|| api.messages_after(channel, since));
        let mut said = match asked.await {
            Ok(said) => said,
            // An unreadable channel cannot be searched; the nonce still protects.
            Err(failure) if failure.is(RefusalReason::MayNot) => return Ok(Vec::new()),
            Err(failure) => return Err(failure),
        };
        said.sort_by_key(|message| message.id);
        let found = earlier::find(&said, self.hub.me, sought).into_iter();
        let standing = found.map(|message| DiscordLiveMessage {
            text: Some(message.content.clone()),
            ..DiscordLiveMessage::of(channel, message.id, EditRoute::Bot)
        });
        Ok(standing.map(Some).collect())
    }

    async fn show(
        &self,
        shown: Option<&DiscordLiveMessage>,
        part: &AnswerPart<'_, String>,
    ) -> DisplayOutcome<DiscordLiveMessage> {
        let (hub, transport, words) = (&self.hub, &self.target.transport, self.words(part));
        // The first words are shown regardless of other updates there.
        if !hub.outbox.may_show(transport.belongs.place.channel) && shown.is_some() {
            return DisplayOutcome::NotNow;
        }
        let shown = match shown {
            Some(standing) if standing.says(words) => return DisplayOutcome::As(standing.clone()),
            Some(standing) => {
                let changing = transport.change(standing, words);
                hub.outbox.try_once(changing).await.flatten()
            }
            None if self.is_thinking.load(Ordering::Relaxed) => {
                let filled = hub.outbox.try_once(transport.fill_original(words)).await;
                if let Some(Some(_)) = &filled {
                    self.is_thinking.store(false, Ordering::Relaxed);
                }
                filled.flatten()
            }
            None => {
                let creating = transport.create(0, words, self.is_private());
                match hub.outbox.try_to_show(creating).await {
                    Ok(created) => Some(created),
                    // The nonce tells Discord about the repetition.
                    Err(failure) if failure.may_be_done => return DisplayOutcome::Repeatable,
                    Err(_) => None,
                }
            }
        };
        match shown {
            Some(shown) => DisplayOutcome::As(self.remember(shown)),
            None => DisplayOutcome::NotNow,
        }
    }

    fn id(&self, message: &DiscordLiveMessage) -> SentId {
        ids::sent(message.channel, message.id)
    }

    fn messages_to_replace(&self, earlier: &Delivered) -> Vec<DiscordLiveMessage> {
        self.is_replacing.store(true, Ordering::Relaxed);
        let messages = earlier.0.iter().filter_map(ids::parse_sent);
        let by_token = self.target.pressed_on;
        let is_private = self.target.transport.is_private;
        messages
            // A private message can only be changed through the button on it.
            .filter(|message| !is_private || by_token == Some(*message))
            .map(|(channel, id)| {
                let via = if is_private {
                    EditRoute::Original
                } else {
                    EditRoute::Bot
                };
                DiscordLiveMessage::of(channel, id, via)
            })
            .collect()
    }

    /// False: the nonce tells Discord about repetitions, or it is known from the start.
    fn expect_earlier_delivery(&self) -> bool {
        false
    }

    fn show_typing(&self, _: Language) {
        // Interactions show it by themselves.
        let is_thinking = self.is_thinking.load(Ordering::Relaxed);
        if !is_thinking && !self.target.transport.is_private {
            let answer_thread = &self.target.transport.answer_thread;
            self.typing.lock().get_or_insert_with(|| {
                Typing::start(Arc::clone(&self.hub), Arc::clone(answer_thread))
            });
        }
    }

    fn has_typing_to_hide(&self) -> bool {
        self.is_thinking.load(Ordering::Relaxed)
    }

    async fn hide_typing(&self, ending: DroppedReplyState) {
        match ending {
            DroppedReplyState::Delivered => {
                self.end_thinking().await;
                if self.is_replacing() {
                    let answer_thread = Arc::clone(&self.target.transport.answer_thread);
                    let renaming = async move { answer_thread.rename().await };
                    self.hub.chores.spawn(renaming);
                }
            }
            DroppedReplyState::Failed if self.is_filled.load(Ordering::Relaxed) => {
                self.end_thinking().await;
            }
            DroppedReplyState::Failed => {}
            DroppedReplyState::GivenUp => self.end_thinking().await,
        }
        *self.typing.lock() = None;
    }

    fn on_reply_dropped(&self, _: Option<&DiscordLiveMessage>) {
        *self.typing.lock() = None;
    }

    fn remove_found(&self) -> bool {
        let transport = Arc::clone(&self.target.transport);
        let opened = transport.answer_thread.opened();
        let (Some(search), Some(channel)) = (self.target.unconfirmed, opened) else {
            return false;
        };
        let Ok(runtime) = Handle::try_current() else {
            return false;
        };
        let removing = async move {
            if let Err(failure) = remove_unconfirmed(&transport, channel, search).await {
                tracing::warn!(%failure, %channel, "an answer that was given up may stay");
            }
        };
        self.hub.chores.spawn_on(removing, &runtime);
        true
    }

    fn cleanup_tasks(&self) -> &TaskTracker {
        &self.hub.chores
    }

    fn explain_error(&self, failure: Failure) -> PlatformError {
        let place = self.target.transport.belongs.place;
        let channel = ids::link(place.guild, place.channel, None);
        match failure.kind {
            FailureKind::LoggedOut => logged_out(),
            FailureKind::Limited | FailureKind::Away => disconnected(failure),
            FailureKind::Refused(RefusalReason::NoChannel) => misconfigured(format!(
                "{channel} was deleted before the answer could be sent"
            )),
            FailureKind::Refused(RefusalReason::MayNot) => {
                misconfigured(rights::describe_missing_permission(&self.hub, place))
            }
            FailureKind::Refused(RefusalReason::Locked) => misconfigured(format!(
                "{channel} is locked; unlock it, or let Muninn manage threads there"
            )),
            FailureKind::Refused(RefusalReason::NoDirect) => misconfigured(
                "the answer to a private question came too late for its place, and the person takes no direct messages",
            ),
            FailureKind::Refused(
                RefusalReason::InteractionOver
                | RefusalReason::AcknowledgedAlready
                | RefusalReason::NoHistory
                | RefusalReason::NoMessage
                | RefusalReason::ThreadThere
                | RefusalReason::TooManyThreads
                | RefusalReason::Other,
            ) => misconfigured(format!(
                "Discord refuses the answer in {channel}: {failure}"
            )),
        }
    }

    /// An interaction shows the answer to nobody else; a message in a server gets a direct message.
    async fn deliver_directly(&self, parts: &[SafeText]) -> Directly {
        let transport = &self.target.transport;
        if transport.belongs.place.guild.is_none() || self.is_private() {
            return Directly::NotNeeded;
        }
        let texts = content::texts(parts);
        let is_thinking = self.is_thinking.load(Ordering::Relaxed);
        let is_filled = is_thinking && transport.end_deferral().await;
        self.is_filled.store(is_filled, Ordering::Relaxed);
        let by_token = !is_thinking || is_filled;
        let mut delivered = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let words = MessageContent::of(text);
            let creating = || transport.create_private(number, words, by_token);
            match self.hub.outbox.retry(creating).await {
                Ok(sent) if sent.via == EditRoute::Bot => delivered.push(self.id(&sent)),
                // What an interaction shows can be removed for some minutes only.
                Ok(_) => {}
                Err(failure) if failure.is(RefusalReason::NoDirect) && delivered.is_empty() => {
                    return Directly::ByAnotherWay(text!("no-direct"));
                }
                Err(failure) => {
                    return Directly::broken_off(delivered, self.explain_error(failure));
                }
            }
        }
        Directly::Tried(Ok(Delivered(delivered)))
    }

    async fn largest_file(&self) -> Result<u64, NotHandedOver> {
        Ok(LARGEST_FILE)
    }

    async fn hand_over(&self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        handing::hand_over(&self.target.transport, files).await
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(DiscordWithdrawer(Arc::clone(&self.hub)))
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }

    async fn prior_messages(&self) -> PriorMessages {
        match self.target.before.clone() {
            Some(before) => background::read_prior_messages(&self.hub, before).await,
            None => PriorMessages::default(),
        }
    }

    async fn download(
        &self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        attachment::download(&self.hub, attachment, most).await
    }
}

/// Removes the first words of an answer, if Discord posted them without a confirmation.
async fn remove_unconfirmed(
    transport: &AnswerTransport,
    channel: ChannelId,
    (since, sought): (MessageId, EarlierAnswerQuery),
) -> Result<(), Failure> {
    let DiscordHub {
        api, outbox, me, ..
    } = &*transport.hub;
    let mut said = outbox.retry(|| api.messages_after(channel, since)).await?;
    said.sort_by_key(|message| message.id);
    let sought = transport.answer_thread.sought_in(channel, sought);
    // Nothing of the answer is below its first words; whatever is there is something else.
    let Some(first) = earlier::find(&said, *me, sought).first().copied() else {
        return Ok(());
    };
    let standing = DiscordLiveMessage::of(channel, first.id, EditRoute::Bot);
    outbox.retry(|| transport.remove(&standing)).await
}

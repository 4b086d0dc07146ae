//! One answer on its way to a channel, a thread, or an interaction.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{
    Attachment, Delivered, DownloadError, Pace, PlatformError, PriorMessage, Reply, SafeText,
    TextLimit, Vocabulary, Withdraw, misconfigured,
};
use serenity::model::id::{ChannelId, MessageId};

use crate::attachment;
use crate::background::{self, Before};
use crate::buttons::Row;
use crate::content;
use crate::earlier::{self, Sought};
use crate::errors::{Failure, Kind, Refusal, disconnected, logged_out};
use crate::hub::Hub;
use crate::ids;
use crate::outbox::SHOW_EVERY;
use crate::presence::{TYPING_EVERY, Typing};
use crate::rights;
use crate::transport::{AnswerTransport, LiveMessage, Via, Words};
use crate::vocabulary::VOCABULARY;
use crate::withdraw::Withdrawer;

/// What an answer belongs to.
pub(crate) struct Target {
    pub(crate) transport: Arc<AnswerTransport>,
    /// The interaction says "thinking…", which becomes the answer.
    pub(crate) is_thinking: bool,
    /// The message that the pressed button is on, which the interaction can change.
    pub(crate) pressed_on: Option<(ChannelId, MessageId)>,
    /// An answer to a question, not to a command: it can be asked about and asked again.
    pub(crate) has_buttons: bool,
    /// It takes the place of an answer, or else is for the one who asked alone.
    pub(crate) is_again: bool,
    /// How an answer that an earlier process may have given is found.
    pub(crate) sought: Option<(MessageId, Sought)>,
    pub(crate) before: Option<Before>,
}

pub(crate) struct DiscordReply {
    hub: Arc<Hub>,
    target: Target,
    typing: Option<Typing>,
    /// The messages there are of this answer, or of the one it takes the place of.
    standing: VecDeque<LiveMessage>,
    /// What stands was made by this reply, and goes if it is given up.
    is_mine: bool,
    is_replacing: bool,
    is_finished: bool,
}

impl DiscordReply {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            hub: Arc::clone(&target.transport.hub),
            target,
            typing: None,
            standing: VecDeque::new(),
            is_mine: false,
            is_replacing: false,
            is_finished: false,
        }
    }

    async fn deliver(&mut self, parts: &[SafeText]) -> Result<Delivered, Failure> {
        let texts = content::texts(parts);
        self.look_for_earlier().await?;
        let mut delivered = Vec::with_capacity(texts.len());
        let last = texts.len().saturating_sub(1);
        for (part, text) in texts.iter().enumerate() {
            let row = if part == last && self.has_buttons() {
                Row::Answer
            } else {
                Row::None
            };
            let words = Words { text, row };
            let shown = self.put(part, words).await?;
            self.remember(&shown);
            delivered.push(ids::sent(shown.channel, shown.id));
        }
        for surplus in std::mem::take(&mut self.standing) {
            let transport = &self.target.transport;
            self.hub
                .outbox
                .persist(|| transport.remove(&surplus))
                .await?;
        }
        self.end_thinking().await;
        if self.is_replacing {
            let answer_thread = Arc::clone(&self.target.transport.answer_thread);
            self.hub
                .chores
                .spawn(async move { answer_thread.rename().await });
        }
        Ok(Delivered(delivered))
    }

    /// What one person alone sees is taken away by its token or not at all.
    fn remember(&self, shown: &LiveMessage) {
        let token = self.target.transport.token.as_ref();
        if let Some(token) = token.filter(|_| self.is_private() && shown.via != Via::Bot) {
            self.hub
                .answered_privately(shown.id, Arc::clone(token), shown.via);
        }
    }

    /// Lets a message say this: one that stands, or a new one.
    async fn put(&mut self, part: usize, words: Words<'_>) -> Result<LiveMessage, Failure> {
        let hub = Arc::clone(&self.hub);
        let transport = Arc::clone(&self.target.transport);
        if let Some(standing) = self.standing.pop_front() {
            if standing.says(words) {
                return Ok(standing);
            }
            let changed = hub
                .outbox
                .persist(|| transport.change(&standing, words))
                .await?;
            if let Some(shown) = changed {
                return Ok(shown);
            }
        }
        let shown = self.create(part, words).await?;
        if shown.says(words) {
            return Ok(shown);
        }
        // It was there already, with the beginning of the answer.
        let changed = hub
            .outbox
            .persist(|| transport.change(&shown, words))
            .await?;
        Ok(changed.unwrap_or(shown))
    }

    async fn create(&mut self, part: usize, words: Words<'_>) -> Result<LiveMessage, Failure> {
        let transport = Arc::clone(&self.target.transport);
        if std::mem::take(&mut self.target.is_thinking) {
            let filled = self
                .hub
                .outbox
                .persist(|| transport.fill_original(words))
                .await;
            match filled {
                Ok(Some(shown)) => return Ok(shown),
                Ok(None) => {}
                // Dismissed by the one who asked.
                Err(failure) if failure.is(Refusal::NoMessage) => {}
                Err(failure) => return Err(failure),
            }
        }
        let is_private = self.is_private();
        let creating = || transport.create(part, words, is_private);
        self.hub.outbox.persist(creating).await
    }

    /// Only the one who asked may see it.
    fn is_private(&self) -> bool {
        self.target.transport.is_private || (self.target.is_again && !self.is_replacing)
    }

    fn has_buttons(&self) -> bool {
        self.target.has_buttons && (self.is_replacing || !self.target.is_again)
    }

    /// Takes "thinking…" away where nothing came of it.
    async fn end_thinking(&mut self) {
        if std::mem::take(&mut self.target.is_thinking) {
            let removed = self.target.transport.remove_original();
            let _ = self.hub.outbox.try_once(removed).await;
        }
    }

    /// Takes up what an earlier process may have sent already.
    async fn look_for_earlier(&mut self) -> Result<(), Failure> {
        let Some((since, sought)) = self.target.sought.take() else {
            return Ok(());
        };
        if !self.standing.is_empty() {
            return Ok(());
        }
        let channel = self.target.transport.answer_thread.channel().await?;
        let api = &self.hub.api;
        let asked = self
            .hub
            .outbox
            .persist(|| api.messages_after(channel, since));
        let mut said = match asked.await {
            Ok(said) => said,
            // What cannot be read cannot be found; the nonce is left.
            Err(failure) if failure.is(Refusal::MayNot) => return Ok(()),
            Err(failure) => return Err(failure),
        };
        said.sort_by_key(|message| message.id);
        let found = earlier::find(&said, self.hub.me, sought);
        let found = found.into_iter().map(|message| LiveMessage {
            text: Some(message.content.clone()),
            ..LiveMessage::of(channel, message.id, Via::Bot)
        });
        self.standing = found.collect();
        Ok(())
    }

    fn error(&self, failure: Failure) -> PlatformError {
        let place = self.target.transport.belongs.place;
        let channel = ids::link(place.guild, place.channel, None);
        match failure.kind {
            Kind::LoggedOut => logged_out(),
            Kind::Limited | Kind::Away => disconnected(failure),
            Kind::Refused(Refusal::NoChannel) => misconfigured(format!(
                "{channel} was deleted before the answer could be sent"
            )),
            Kind::Refused(Refusal::MayNot) => misconfigured(rights::missing(&self.hub, place)),
            Kind::Refused(Refusal::Locked) => misconfigured(format!(
                "{channel} is locked; unlock it, or let Muninn manage threads there"
            )),
            Kind::Refused(Refusal::NoDirect) => misconfigured(
                "the answer to a private question came too late for its place, and the person takes no direct messages",
            ),
            Kind::Refused(
                Refusal::InteractionOver
                | Refusal::AcknowledgedAlready
                | Refusal::NoMessage
                | Refusal::ThreadThere
                | Refusal::Other,
            ) => misconfigured(format!(
                "Discord refuses the answer in {channel}: {failure}"
            )),
        }
    }

    /// Shows the beginning of an answer.
    async fn show(&mut self, words: Words<'_>) {
        let (hub, transport) = (Arc::clone(&self.hub), Arc::clone(&self.target.transport));
        let shown = match self.standing.front() {
            Some(standing) if standing.says(words) => return,
            Some(standing) => hub.outbox.try_once(transport.change(standing, words)).await,
            None if self.target.is_thinking => {
                let filled = hub.outbox.try_once(transport.fill_original(words)).await;
                if let Some(Some(_)) = &filled {
                    self.target.is_thinking = false;
                }
                filled
            }
            None => {
                let creating = transport.create(0, words, self.is_private());
                hub.outbox.try_once(creating).await.map(Some)
            }
        };
        if let Some(Some(shown)) = shown {
            self.standing = VecDeque::from([shown]);
            self.is_mine = true;
        }
    }
}

#[async_trait]
impl Reply for DiscordReply {
    /// Tables become wider when they are aligned, so an answer is split after it is converted.
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: SHOW_EVERY,
            working_every: TYPING_EVERY,
        }
    }

    fn replace(&mut self, earlier: Delivered) {
        self.is_mine = false;
        self.is_replacing = true;
        let messages = earlier.0.iter().filter_map(ids::parse_sent);
        let by_token = self.target.pressed_on;
        let is_private = self.target.transport.is_private;
        self.standing = messages
            // What only its reader sees can be changed by nothing but the button on it.
            .filter(|message| !is_private || by_token == Some(*message))
            .map(|(channel, id)| {
                let via = if is_private { Via::Original } else { Via::Bot };
                LiveMessage::of(channel, id, via)
            })
            .collect();
    }

    async fn working(&mut self) {
        // An interaction shows it by itself.
        if self.typing.is_none() && !self.target.is_thinking && !self.target.transport.is_private {
            let (hub, answer_thread) = (
                Arc::clone(&self.hub),
                Arc::clone(&self.target.transport.answer_thread),
            );
            self.typing = Some(Typing::start(hub, answer_thread));
        }
    }

    async fn update(&mut self, so_far: &SafeText) {
        // An answer that stands is not undone for one that may be given up, and what may stand
        // already is looked at when the text is whole.
        let is_another = !self.standing.is_empty() && !self.is_mine;
        let channel = self.target.transport.belongs.place.channel;
        if is_another || self.target.sought.is_some() {
            return;
        }
        // The first words are shown whoever else shows something there.
        if !self.hub.outbox.may_show(channel) && !self.standing.is_empty() {
            return;
        }
        let Some(text) = content::texts(std::slice::from_ref(so_far))
            .into_iter()
            .next()
        else {
            return;
        };
        let row = if self.has_buttons() {
            Row::Stop
        } else {
            Row::None
        };
        self.show(Words { text: &text, row }).await;
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        // Also if it fails: what is shown stays, and is completed when it is delivered again.
        self.is_finished = true;
        let delivered = self.deliver(parts).await;
        self.typing = None;
        delivered.map_err(|failure| self.error(failure))
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(Withdrawer(Arc::clone(&self.hub)))
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    async fn prior_messages(&mut self) -> Vec<PriorMessage> {
        match self.target.before.take() {
            Some(before) => background::overhear(&self.hub, before).await,
            None => Vec::new(),
        }
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        attachment::download(&self.hub, attachment, most).await
    }
}

impl Drop for DiscordReply {
    fn drop(&mut self) {
        let is_thinking = self.target.is_thinking;
        let standing = std::mem::take(&mut self.standing);
        let taken_back: Vec<LiveMessage> = standing.into_iter().filter(|_| self.is_mine).collect();
        if self.is_finished || (taken_back.is_empty() && !is_thinking) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (hub, transport) = (Arc::clone(&self.hub), Arc::clone(&self.target.transport));
        // Bounded as everything that goes out; `run` waits for it.
        let chore = async move {
            if is_thinking {
                let _ = hub.outbox.try_once(transport.remove_original()).await;
            }
            for shown in taken_back {
                if let Err(failure) = hub.outbox.persist(|| transport.remove(&shown)).await {
                    tracing::warn!(%failure, channel = %shown.channel, "an answer that was given up stays");
                }
            }
        };
        self.hub.chores.spawn_on(chore, &runtime);
    }
}

//! One turn: from a message to an answer that is kept and delivered.
//!
//! The steps are those of [the path of one message](crate); each is a short function here, and what
//! it decides is decided elsewhere.

mod agreed;
mod answering;
mod draft;
mod forgotten;
mod lineage;
mod regenerating;

use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use muninn_platform::{
    AudienceId, ChannelSettings, Channels, Delivered, EventId, Grounding, IncomingMessage,
    Language, PriorMessages, Reply, SafeText, joined,
};
use tracing::Instrument as _;

use self::agreed::offer;
use self::draft::Draft;
pub use self::regenerating::{KeptReason, Regeneration};
use crate::agent::asker;
use crate::agent::budget::Budgets;
use crate::agent::mcp::McpServers;
use crate::agent::prompts::{PromptError, Prompts};
use crate::agent::telemetry;
use crate::agent::tools::{Toolbox, proposed};
use crate::config::TurnConfig;
use crate::conversation::attachments::{Attachments, Files};
use crate::conversation::channel_kind::ChannelKind;
use crate::conversation::interrupt::{Interrupt, Interruption};
use crate::conversation::notice::Notice;
use crate::conversation::people::People;
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::answers::Spoken;
use crate::graph::forgetting::REDACTED_ANSWER;
use crate::graph::session::SessionGuard;
use crate::graph::{NewTurn, ResponseId, Source, StoreError, Turn, TurnContext, TurnRead};
use crate::knowledge::search::Searcher;
use crate::llm::{ModelChain, millis};
use crate::memory::{
    Archive, Begun, Kept, RecallQuery, Recalled, Recaller, embedded_text_of, summary,
};
use muninn_platform::redact::{is_redacted, without_secrets};

/// How often an answer is made anew because what it was given is forgotten, or answered anew: several people may edit and
/// delete at once.
pub(super) const MOST_AGAIN: usize = 5;

/// Makes turns.
#[derive(Clone, Debug)]
pub struct TurnRunner {
    pub config: TurnConfig,
    pub archive: Arc<Archive>,
    pub recaller: Arc<Recaller>,
    pub prompts: Arc<Prompts>,
    pub attachments: Attachments,
    /// Some channels have a persona, or a model, of their own.
    pub channels: Arc<Channels>,
    /// None: answers come from memory alone.
    pub model: Option<Arc<ModelChain>>,
    pub toolbox: Arc<Toolbox>,
    pub mcp: Arc<McpServers>,
    pub searcher: Arc<Searcher>,
    pub budgets: Arc<Budgets>,
    pub people: Arc<People>,
    pub withdrawals: Arc<Withdrawals>,
}

/// Why a turn gave no answer at all.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

impl TurnError {
    /// Whether the same turn may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Prompt(_) => false,
        }
    }
}

/// What is to be answered.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    message: &'a IncomingMessage,
    /// What it says, without secrets.
    text: &'a str,
    files: &'a Files,
    /// What the bot is where it was said.
    kind: &'a ChannelKind,
}

impl Asked<'_> {
    /// What is said of it that a secret was sent. One that was taken out before the message came
    /// here left its mark.
    fn notice(&self) -> Option<Notice> {
        let mut texts = self.files.texts.iter().map(|file| file.text.as_str());
        let has_secret = is_redacted(self.text) || texts.any(is_redacted);
        has_secret.then_some(Notice::SecretRemoved)
    }
}

/// What a turn knows before it answers.
struct Read {
    context: TurnContext,
    store_away: bool,
    /// The message as it is looked for.
    sought: RecallQuery,
    recalled: Vec<Recalled>,
    /// Earlier turns could not be read, and so not be recalled.
    recall_failed: bool,
    /// The turn that is answered again and those after it, which it could not have recalled, and what is forgotten just now.
    hidden: Vec<ResponseId>,
}

/// Why nothing is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoDraft {
    Interrupted(Interruption),
    /// The model found that the message is not for it.
    Silent,
}

/// What the turn leaves to be done after the answer went out.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    Nothing,
    /// The message had its answer already.
    Earlier,
    /// Another process answered it at the same moment, and delivers that.
    Elsewhere,
    /// The model chose to say nothing.
    Silent,
    /// Turns fell out of the window.
    Summarize,
    /// It was stopped before anything of its answer was there.
    Stopped,
    /// Nothing went out: the message was revised meanwhile.
    Superseded,
    /// Something that the answer was given was forgotten, or answered anew, while it grew.
    Outdated,
}

impl TurnRunner {
    /// Answers a message, keeps the turn and delivers the answer, in this order. An event that was
    /// answered already is answered only where nothing says that its answer went out. `revised_at` is when the text was
    /// edited to what it is, so that the same edit, told again after a crash, is known.
    ///
    /// # Errors
    /// When nothing could be answered; the reply is then still open.
    pub async fn take(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        revised_at: Option<DateTime<Utc>>,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<After, TurnError> {
        let began = Instant::now();
        reply.working().await;
        let message = &self.people.with_private_memory(message).await;
        let text = without_secrets(text);
        let begun = self.begin(guard, message);
        let beginning = async { tokio::join!(self.recaller.seek(&text), begun) };
        let (sought, begun) = beginning.instrument(telemetry::reading()).await;
        let sought = self.recaller.as_said(sought, message);
        let begun = begun?;
        if let Some(earlier) = &begun.context.duplicate {
            let language = message.language();
            self.deliver_earlier(guard, earlier, language, reply).await;
            return Ok(After::Earlier);
        }
        if begun.context.is_forgotten {
            tracing::info!(event = %message.event, "is told again, and was forgotten");
            return Ok(After::Nothing);
        }
        let span = telemetry::recall(message);
        let recalling = self.recall(message, begun, sought, Vec::new());
        let read = recalling.instrument(span.clone()).await;
        telemetry::recalled(&span, read.recalled.len());
        drop(span);
        let mut files = self.attachments.read(reply, &message.attachments).await;
        if self.comes_to(message, &read.context.window).await {
            let mut prior = self.prior_messages(message, read.store_away, reply).await;
            // What was heard is in the window.
            let heard = |event: &EventId| {
                let mut window = read.context.window.iter();
                window.any(|turn| turn.event == event.as_str())
            };
            prior
                .said
                .retain(|it| !it.event.as_ref().is_some_and(heard));
            files.prior(&prior, &text);
        }
        observe("read", began);

        let asked = Asked {
            message,
            text: &files.said(&text),
            files: &files,
            kind: &self.kind(message.channel()).await,
        };
        let mut draft = match self.draft(&asked, &read, reply, interrupt).await? {
            Ok(draft) => draft,
            Err(NoDraft::Interrupted(Interruption::Stopped)) => {
                deliver(reply, &Notice::Stopped.in_language(message.language())).await;
                return Ok(After::Stopped);
            }
            Err(NoDraft::Interrupted(Interruption::Superseded)) => return Ok(After::Superseded),
            Err(NoDraft::Silent) => {
                self.note_silence(guard).await;
                return Ok(After::Silent);
            }
        };
        if self.rests_on_forgotten(guard, message, &draft, &read).await {
            return Ok(After::Outdated);
        }
        draft.below.extend(asked.notice());
        draft.below.extend(files.cut.map(Notice::ReadInPart));
        observe("answer", began);

        let mut turn = self.new_turn(&asked, &draft, began).await;
        turn.turn.revised_at = revised_at;
        let keeping = self.archive.keep(guard, &turn);
        let kept = keeping.instrument(telemetry::keep(message)).await;
        observe("keep", began);
        if let Kept::Duplicate(earlier) = &kept {
            tracing::info!(event = %message.event, response = %earlier.id, "another process answered");
            return Ok(After::Elsewhere);
        }
        let id = turn.turn.id;
        // Once more: while it was kept, nobody knew that it repeats something.
        if matches!(kept, Kept::Graph)
            && self.rests_on_forgotten(guard, message, &draft, &read).await
        {
            let anew = self.without_forgotten(guard, message, id, None, reply, interrupt);
            return anew.await.map(|()| After::Nothing);
        }
        offer(reply, id, proposed(&draft.gathered.tools).as_ref());
        let outgoing = draft.outgoing(&kept, &read, message.language());
        let outdated = match kept {
            // Nobody forgets what nobody keeps.
            Kept::Nowhere => deliver(reply, &outgoing).await.and(None),
            Kept::Graph | Kept::Journal | Kept::Duplicate(_) => {
                self.deliver_turn(guard, reply, id, &outgoing).await
            }
        };
        if outdated.is_some() {
            let anew = self.without_forgotten(guard, message, id, outdated, reply, interrupt);
            return anew.await.map(|()| After::Nothing);
        }
        observe("turn", began);
        draft.count();
        self.link(&kept, &turn).await;
        Ok(self.after(&kept, &draft, &read))
    }

    /// What the bot is in a channel. Where a file that its settings name cannot be used, it is as everywhere, and strict:
    /// what it was told to keep to is not known.
    async fn kind(&self, channel: &AudienceId) -> ChannelKind {
        let set = self.channels.of(channel).unwrap_or_default();
        if !ChannelKind::names_files(&set) {
            return ChannelKind::plain(set, Arc::clone(&self.prompts));
        }
        let (prompts, folder) = (Arc::clone(&self.prompts), self.config.prompts_dir.clone());
        let its = set.clone();
        let read = tokio::task::spawn_blocking(move || {
            ChannelKind::read(its, &prompts, folder.as_deref())
        });
        match joined(read).await {
            Ok(kind) => kind,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, %channel, "the prompts of a channel cannot be used");
                let grounding = Some(Grounding::Strict);
                let set = ChannelSettings { grounding, ..set };
                ChannelKind::plain(set, Arc::clone(&self.prompts))
            }
        }
    }

    /// Counts that the model chose to say nothing. The reply is dropped without a word.
    async fn note_silence(&self, guard: &SessionGuard) {
        metrics::counter!("muninn_stayed_silent_total").increment(1);
        if let Err(error) = self.archive.store().stayed_silent(guard).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "that nothing was said could not be kept");
        }
    }

    /// Links a turn in the graph to the earlier ones that it replaces.
    async fn link(&self, kept: &Kept, turn: &NewTurn) {
        match kept {
            Kept::Graph => {
                let store = &**self.archive.store();
                let audience = &turn.audience.id;
                self.recaller.link(store, audience, &turn.turn).await;
            }
            Kept::Journal | Kept::Duplicate(_) | Kept::Nowhere => {}
        }
    }

    /// Delivers the answer that an event has already.
    pub async fn deliver_again(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        reply: &mut dyn Reply,
    ) {
        let event = &message.event;
        match self.archive.turn_of_event(event).await {
            // What was only heard or noted has no answer.
            Ok(Some(earlier)) if !earlier.is_answered() => {}
            Ok(Some(earlier)) => {
                let language = message.language();
                self.deliver_earlier(guard, &earlier, language, reply).await;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                %event,
                "whether an event is answered cannot be known"
            ),
        }
    }

    /// Delivers an earlier answer where nothing says that it went out.
    async fn deliver_earlier(
        &self,
        guard: &SessionGuard,
        earlier: &Turn,
        language: Language,
        reply: &mut dyn Reply,
    ) {
        if earlier.delivered.is_none() {
            tracing::info!(event = %earlier.event, response = %earlier.id, "delivered again");
            reply.may_repeat();
            self.show_again(guard, earlier, language, reply).await;
        }
    }

    /// Delivers an answer as it is kept, with what it asks.
    async fn show_again(
        &self,
        guard: &SessionGuard,
        earlier: &Turn,
        language: Language,
        reply: &mut dyn Reply,
    ) {
        let store = self.archive.store();
        let mut parts = vec![earlier.output.clone()];
        match store.explain(guard.session(), Some(earlier.id)).await {
            Ok(explained) => {
                let tools = explained.map_or_else(Vec::new, |explained| explained.trace.tools);
                offer(reply, earlier.id, proposed(&tools).as_ref());
                let asks = draft::questions(&tools).into_iter();
                parts.extend(asks.map(|notice| notice.in_language(language)));
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, event = %earlier.event, "what an answer asks is not known");
            }
        }
        let text = parts.join("\n\n");
        let outdated = self.deliver_turn(guard, reply, earlier.id, &text).await;
        self.take_away(reply, outdated).await;
    }

    /// Step 4: what the graph has, or else memory.
    async fn begin(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<Begun, StoreError> {
        let audience = &message.audience.id;
        if !self.archive.is_away() {
            self.recaller.load(self.archive.store(), audience).await;
        }
        self.archive
            .begin(
                guard,
                &TurnRead {
                    session: &message.conversation,
                    audience,
                    event: &message.event,
                    window: summary::read(self.config.window_turns),
                    seen: self.recaller.seen(audience),
                },
            )
            .await
    }

    /// Step 6.
    async fn recall(
        &self,
        message: &IncomingMessage,
        begun: Begun,
        sought: RecallQuery,
        mut hidden: Vec<ResponseId>,
    ) -> Read {
        hidden.extend(self.archive.leaving());
        let audience = &message.audience.id;
        let store = &**self.archive.store();
        self.recaller
            .learn(store, audience, &begun.context.news)
            .await;
        // Where the graph is away, that is said.
        let mut recall_failed = !begun.store_away && !self.recaller.is_ready(audience);
        if !begun.store_away {
            for other in message.recalls().into_iter().skip(1) {
                recall_failed |= !self.recaller.catch_up(store, other).await;
            }
        }
        let mut read = Read {
            recall_failed,
            context: begun.context,
            store_away: begun.store_away,
            sought,
            recalled: Vec::new(),
            hidden,
        };
        // What is quoted without a model is recalled with the window, later.
        if self.model.is_some() {
            let shown = read.shown();
            read.recalled = self.recaller.recall(
                &message.recalls(),
                &read.sought,
                &read.context.window,
                &shown,
            );
        }
        read
    }

    /// Whether the bot has said nothing in the conversation yet, whatever it heard there.
    async fn comes_to(&self, message: &IncomingMessage, window: &[Turn]) -> bool {
        if window.is_empty() {
            return true;
        }
        let is_all_heard = !window.iter().any(Turn::is_answered);
        is_all_heard && !self.archive.takes_part(&message.conversation).await
    }

    /// What was said before the bot came, without what was forgotten since. While the graph is away
    /// nobody knows what that is.
    async fn prior_messages(
        &self,
        message: &IncomingMessage,
        store_away: bool,
        reply: &mut dyn Reply,
    ) -> PriorMessages {
        if store_away {
            return PriorMessages::default();
        }
        let mut prior = reply.prior_messages().await;
        if prior.said.is_empty() {
            return prior;
        }
        let authors = prior.said.iter().filter_map(|said| said.author_id.clone());
        let authors = authors.collect();
        let forgotten = tokio::try_join!(
            self.archive.marks(&message.conversation),
            self.archive.store().forgotten_people(&authors)
        );
        match forgotten {
            Ok((marks, people)) => prior.said.retain(|said| {
                let is_of = |(person, until): &(String, DateTime<Utc>)| {
                    said.author_id.as_ref() == Some(person) && said.at <= *until
                };
                !marks.cover(said) && !people.iter().any(is_of)
            }),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "what was forgotten cannot be known, so nothing is read"
                );
                return PriorMessages::default();
            }
        }
        prior
    }

    async fn new_turn(&self, asked: &Asked<'_>, draft: &Draft, began: Instant) -> NewTurn {
        let Asked {
            message,
            text,
            files,
            kind: _,
        } = asked;
        let understood = draft.gathered.understood.as_deref().unwrap_or(text);
        let exchange = embedded_text_of(draft.source, understood, &draft.text);
        let embedding = self.recaller.embed_exchange(&exchange).await;
        let usage = asker::usage(&draft.calls);
        NewTurn {
            recalls_also: message.recalls().into_iter().skip(1).cloned().collect(),
            audience: message.audience.clone(),
            turn: Turn {
                id: ResponseId::fresh(),
                session: message.conversation.as_str().to_owned(),
                position: 0,
                created_at: Utc::now(),
                source: draft.source,
                input: (*text).to_owned(),
                rephrased_question: draft.gathered.understood.clone(),
                output: draft.kept_text(),
                cypher: draft.cypher(),
                event: message.event.as_str().to_owned(),
                author: message.author.id.clone(),
                author_name: message.author.name.clone(),
                volatile: draft.gathered.is_volatile,
                embedding,
                model: draft.model(),
                prompt_tokens: usage.prompt,
                completion_tokens: usage.completion,
                duration_ms: millis(began.elapsed()),
                link: message.link.clone(),
                delivered: None,
                revised_at: None,
                attached: files.kept(),
                reply_to: None,
                trust: draft.trust,
            },
            context: draft.gathered.nodes.clone(),
            recalled: draft
                .recalled
                .iter()
                .map(|memory| (memory.id, memory.score))
                .collect(),
            trace: draft.trace(),
        }
    }

    /// Delivers the answer of a turn, and keeps that it went out. Gives what is not to stand: it was forgotten or emptied at
    /// the same moment, by somebody who did not know of it.
    #[must_use]
    async fn deliver_turn(
        &self,
        guard: &SessionGuard,
        reply: &mut dyn Reply,
        response: ResponseId,
        text: &str,
    ) -> Option<Spoken> {
        let delivered = deliver(reply, text).await?;
        let session = guard.session();
        let stands = self.archive.delivered(session, response, &delivered).await;
        // What says no more than that something was forgotten may stand.
        let may_stand = stands || text == REDACTED_ANSWER;
        (!may_stand).then(|| Spoken::new(session.clone(), delivered))
    }

    /// Takes away what went out and is not to stand.
    async fn take_away(&self, reply: &dyn Reply, outdated: Option<Spoken>) {
        if let Some(outdated) = outdated {
            let withdraw = reply.withdrawer();
            self.withdrawals.take_away(withdraw, outdated).await;
        }
    }

    fn after(&self, kept: &Kept, draft: &Draft, read: &Read) -> After {
        let due = || {
            summary::is_due(
                &read.context.window,
                read.context.summary.as_ref(),
                self.config.window_turns,
            )
        };
        match (kept, draft.source) {
            (Kept::Graph, Source::Model | Source::Knowledge | Source::Retrieval) if due() => {
                After::Summarize
            }
            (
                Kept::Graph | Kept::Journal | Kept::Duplicate(_) | Kept::Nowhere,
                Source::Model
                | Source::Knowledge
                | Source::Retrieval
                | Source::Memory
                | Source::Message
                | Source::Note,
            ) => After::Nothing,
        }
    }
}

impl Read {
    /// What the model sees anyway, or must not see.
    fn shown(&self) -> Vec<ResponseId> {
        let window = self.context.window.iter().map(|turn| turn.id);
        let recalled = self.recalled.iter().map(|memory| memory.id);
        let hidden = self.hidden.iter().copied();
        window.chain(recalled).chain(hidden).collect()
    }
}

/// Sends a text as the reply's last word to the one who asked alone, where the platform can.
pub async fn tell_asker(reply: &mut dyn Reply, text: &str) {
    let parts = SafeText::new(text).split(reply.limit());
    if let Err(error) = reply.finish_for_asker(&parts).await {
        metrics::counter!("muninn_undelivered_total").increment(1);
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "a notice was not delivered");
    }
}

/// Tells whoever asked something that nobody else is to read.
pub async fn tell_privately(reply: &mut dyn Reply, text: &str) {
    let parts = SafeText::new(text).split(reply.limit());
    if let Err(error) = reply.finish_privately(&parts).await {
        metrics::counter!("muninn_undelivered_total").increment(1);
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "a private answer was not delivered");
    }
}

/// Sends a text as the reply's last word, and gives what it went out as. A failure is the adapter's
/// last word on it: the turn is in the graph, and the same event delivered again brings the same
/// answer.
pub async fn deliver(reply: &mut dyn Reply, text: &str) -> Option<Delivered> {
    let parts = SafeText::new(text).split(reply.limit());
    match reply.finish(&parts).instrument(telemetry::delivery()).await {
        Ok(delivered) => Some(delivered),
        Err(error) => {
            metrics::counter!("muninn_undelivered_total").increment(1);
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "an answer was not delivered"
            );
            None
        }
    }
}

fn observe(stage: &'static str, began: Instant) {
    metrics::histogram!("muninn_turn_seconds", "until" => stage)
        .record(began.elapsed().as_secs_f64());
}

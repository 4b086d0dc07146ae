//! One turn: from a message to an answer that is kept and delivered.
//!
//! The steps are those of [the path of one message](crate). Each is a short function here; the decisions are made in
//! other modules.

mod agreed;
mod answering;
mod delivering;
mod draft;
mod forgotten;
mod lineage;
mod reading;
mod regenerating;

use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use muninn_platform::{
    AudienceId, ChannelSettings, Channels, Grounding, IncomingMessage, Reply, join_task,
};
use tracing::Instrument as _;

use self::agreed::offer;
use self::delivering::AnswerDelivery;
pub use self::delivering::{deliver, deliver_privately, tell_asker, tell_privately};
use self::draft::Draft;
use self::reading::Read;
pub use self::regenerating::{KeptReason, Regenerated, Regeneration};
use crate::agent::budget::Budgets;
use crate::agent::mcp::McpServers;
use crate::agent::model_session;
use crate::agent::prompts::{PromptError, Prompts};
use crate::agent::telemetry;
use crate::agent::tools::{Toolbox, proposed};
use crate::config::TurnConfig;
use crate::conversation::attachments::{Attachments, Files};
use crate::conversation::channel_kind::ChannelKind;
use crate::conversation::hearing::HearingRules;
use crate::conversation::interrupt::{Interrupt, Interruption};
use crate::conversation::notice::Notice;
use crate::conversation::people::People;
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::session::SessionGuard;
use crate::graph::{NewTurn, ResponseId, Source, StoreError, Turn, without_file_notes};
use crate::knowledge::search::Searcher;
use crate::llm::{ModelChain, millis};
use crate::memory::{Archive, Recaller, TurnSaveOutcome, embedded_text_of, summary};
use muninn_platform::redact::{is_redacted, without_secrets};

/// How often an answer is regenerated because its inputs were forgotten or regenerated. Several people may edit and
/// delete at once.
pub(super) const MOST_AGAIN: usize = 5;

/// Runs turns.
#[derive(Clone, Debug)]
pub struct TurnRunner {
    pub config: TurnConfig,
    pub archive: Arc<Archive>,
    pub recaller: Arc<Recaller>,
    pub prompts: Arc<Prompts>,
    pub attachments: Attachments,
    /// The settings of channels, some of which have their own persona or model.
    pub channels: Arc<Channels>,
    /// Without a model, answers come from memory alone.
    pub model: Option<Arc<ModelChain>>,
    pub toolbox: Arc<Toolbox>,
    pub mcp: Arc<McpServers>,
    pub searcher: Arc<Searcher>,
    pub budgets: Arc<Budgets>,
    pub people: Arc<People>,
    /// Who opted out, and what is off the record.
    pub hearing: Arc<HearingRules>,
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

/// The message to be answered.
#[derive(Clone, Copy, Debug)]
struct TurnInput<'a> {
    message: &'a IncomingMessage,
    /// Its text, without secrets, with a note for each file.
    text: &'a str,
    files: &'a Files,
    /// The channel's kind.
    kind: &'a ChannelKind,
    /// When the turn began.
    began: Instant,
}

impl TurnInput<'_> {
    /// What the person wrote: the text without the notes about files.
    fn said(&self) -> &str {
        without_file_notes(self.text)
    }

    /// The notice that a secret was sent. A secret that was removed before the message arrived here left a mark. What others
    /// said before is not the asker's to rotate.
    fn notice(&self) -> Option<Notice> {
        let texts = self.files.texts.iter();
        let mut sent = texts.filter(|file| !file.is_prior_messages());
        let has_secret = is_redacted(self.text) || sent.any(|file| is_redacted(&file.text));
        has_secret.then_some(Notice::SecretRemoved)
    }

    /// The notice that attached files were not looked at: without a model none are, and images not again where they are not
    /// sent again.
    fn files_notice(&self, draft: &Draft) -> Option<Notice> {
        if draft.model().is_none() {
            return self.files.were_sent().then_some(Notice::FilesNeedModel);
        }
        self.files.lack_images().then_some(Notice::ImagesNotSeen)
    }
}

/// Why nothing is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoDraft {
    Interrupted(Interruption),
    /// The model decided that the message is not for it.
    Silent,
}

/// What remains to be done after a turn.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    Nothing,
    /// The message had been answered before.
    Earlier,
    /// The same, and the platform was away for too long to deliver that answer now.
    EarlierUndelivered,
    /// The answer is kept, but the platform was away for too long to deliver it now.
    Undelivered,
    /// Another process answered it at the same moment, and delivers that answer.
    Elsewhere,
    /// Nothing was delivered, as the graph was away for too long to keep the answer, and another process may have answered.
    Unknown,
    /// The model chose not to answer.
    Silent,
    /// Turns left the window, so the summary has to be updated.
    Summarize,
    /// It was stopped before any of its answer was visible.
    Stopped,
    /// Nobody waited for the answer any more.
    GivenUp,
    /// Nothing was delivered, as the message was edited or deleted meanwhile.
    Superseded,
    /// An input of the answer was forgotten or regenerated while the answer was written.
    Outdated,
}

impl TurnRunner {
    /// Answers a message, keeps the turn and delivers the answer, in this order. The kept answer of an event is delivered
    /// again only if its delivery is not recorded. `revised_at` is when the text got its present form, so that the same
    /// edit is recognised when it is delivered again after a crash.
    ///
    /// # Errors
    /// Fails when there is no answer; the reply is then still open.
    pub async fn run_turn(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        revised_at: Option<DateTime<Utc>>,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<After, TurnError> {
        let began = Instant::now();
        let message = &self.people.with_private_memory(message).await;
        let text = without_secrets(text);
        let begun = self.begin(guard, message);
        let beginning = async { tokio::join!(self.recaller.embed_query(&text), begun) };
        let (sought, begun) = beginning.instrument(telemetry::reading()).await;
        let sought = self.recaller.with_message_context(sought, message);
        let begun = begun?;
        if let Some(earlier) = &begun.context.duplicate {
            let delivering = self.deliver_earlier(guard, message, earlier, reply, interrupt);
            return delivering.await;
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
        let files = self.files(message, &text, &read, reply).await;
        observe("read", began);

        let asked = TurnInput {
            message,
            text: &files.text_with_file_notes(&text),
            files: &files,
            kind: &self.kind(message.channel()).await,
            began,
        };
        let mut draft = match self.draft(&asked, &read, reply, interrupt).await? {
            Ok(draft) => draft,
            Err(none) => return Ok(self.unanswered(guard, message, none, reply).await),
        };
        // The graph may have come back since the turn began. While it is away, it cannot tell, and nobody waits for it.
        if !self.archive.is_away() && self.rests_on_forgotten(message, &draft, &read).await {
            return Ok(After::Outdated);
        }
        draft.below.extend(asked.notice());
        draft.below.extend(asked.files_notice(&draft));
        draft.below.extend(files.cut.map(Notice::ReadInPart));
        observe("answer", began);

        let mut turn = self.new_turn(&asked, &draft).await;
        turn.turn.revised_at = revised_at;
        self.keep_and_deliver(guard, &asked, &read, (&draft, &turn), reply, interrupt)
            .await
    }

    /// The attached files, and the messages from before the bot joined.
    async fn files(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        reply: &mut dyn Reply,
    ) -> Files {
        let mut files = self.attachments.read(reply, &message.attachments).await;
        self.add_prior_messages(&mut files, (message, text), read, None, reply)
            .await;
        files
    }

    /// Ends a turn that has no answer.
    async fn unanswered(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        none: NoDraft,
        reply: &mut dyn Reply,
    ) -> After {
        match none {
            NoDraft::Interrupted(Interruption::Stopped) => {
                deliver(reply, &Notice::Stopped.in_language(message.language())).await;
                After::Stopped
            }
            NoDraft::Interrupted(Interruption::Superseded) => After::Superseded,
            NoDraft::Interrupted(Interruption::GivenUp) => After::GivenUp,
            NoDraft::Silent => {
                self.note_silence(guard).await;
                After::Silent
            }
        }
    }

    /// Keeps a turn, and then delivers its answer.
    async fn keep_and_deliver(
        &self,
        guard: &SessionGuard,
        asked: &TurnInput<'_>,
        read: &Read,
        (draft, turn): (&Draft, &NewTurn),
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<After, TurnError> {
        let (message, began) = (asked.message, asked.began);
        let keeping = self.archive.keep(guard, turn);
        let kept = keeping.instrument(telemetry::keep(message)).await;
        observe("keep", began);
        match &kept {
            TurnSaveOutcome::Duplicate(earlier) => {
                tracing::info!(event = %message.event, response = %earlier.id, "another process answered");
                return Ok(After::Elsewhere);
            }
            TurnSaveOutcome::Unknown => return Ok(After::Unknown),
            TurnSaveOutcome::Forgotten => {
                tracing::info!(event = %message.event, "was forgotten while it was answered");
                return Ok(After::Nothing);
            }
            TurnSaveOutcome::Graph | TurnSaveOutcome::Journal | TurnSaveOutcome::Nowhere => {}
        }
        let id = turn.turn.id;
        // Checked again: until it was kept, nobody could know that it repeats something forgotten.
        if matches!(kept, TurnSaveOutcome::Graph)
            && self.rests_on_forgotten(message, draft, read).await
        {
            let anew = self.without_forgotten(guard, message, id, None, reply, interrupt);
            return Ok(anew.await?.after(After::Nothing, After::Undelivered));
        }
        offer(reply, id, proposed(&draft.evidence.tools).as_ref());
        let outgoing = draft.outgoing(&kept, read, message.language());
        let delivery = match kept {
            // A turn that is not kept can be neither forgotten nor delivered later.
            TurnSaveOutcome::Nowhere => {
                deliver(reply, &outgoing).await;
                AnswerDelivery::Over
            }
            TurnSaveOutcome::Graph
            | TurnSaveOutcome::Journal
            | TurnSaveOutcome::Duplicate(_)
            | TurnSaveOutcome::Forgotten
            | TurnSaveOutcome::Unknown => {
                self.deliver_turn(guard, reply, id, Some(turn), &outgoing)
                    .await
            }
        };
        let is_undelivered = match delivery {
            AnswerDelivery::Over => false,
            // An answer that was cut short because nobody waited is kept under another event.
            AnswerDelivery::Away => !draft.is_given_up,
            AnswerDelivery::Outdated(outdated) => {
                let outdated = Some(outdated);
                let anew = self.without_forgotten(guard, message, id, outdated, reply, interrupt);
                return Ok(anew.await?.after(After::Nothing, After::Undelivered));
            }
        };
        observe("turn", began);
        draft.count();
        self.link(&kept, turn).await;
        if is_undelivered {
            return Ok(After::Undelivered);
        }
        Ok(self.after(&kept, draft, read))
    }

    /// The kind of a channel. Where a file named by its settings cannot be used, the general prompts apply with strict
    /// grounding, because the channel's instructions are unknown.
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
        match join_task(read).await {
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

    /// Counts that the model chose not to answer. The reply is dropped without a message.
    async fn note_silence(&self, guard: &SessionGuard) {
        metrics::counter!("muninn_stayed_silent_total").increment(1);
        if let Err(error) = self.archive.store().record_silence(guard).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "that nothing was said could not be kept");
        }
    }

    /// Links a turn in the graph to the earlier turns that it replaces.
    async fn link(&self, kept: &TurnSaveOutcome, turn: &NewTurn) {
        match kept {
            TurnSaveOutcome::Graph => {
                let store = &**self.archive.store();
                let audience = &turn.audience.id;
                self.recaller.link(store, audience, &turn.turn).await;
            }
            TurnSaveOutcome::Journal
            | TurnSaveOutcome::Duplicate(_)
            | TurnSaveOutcome::Forgotten
            | TurnSaveOutcome::Nowhere
            | TurnSaveOutcome::Unknown => {}
        }
    }

    async fn new_turn(&self, asked: &TurnInput<'_>, draft: &Draft) -> NewTurn {
        let TurnInput {
            message,
            text,
            files,
            kind: _,
            began,
        } = asked;
        let understood = draft.evidence.understood.as_deref();
        let understood = understood.unwrap_or(asked.said());
        let exchange = embedded_text_of(draft.source, understood, &draft.text);
        let embedding = self.recaller.embed_exchange(&exchange).await;
        let usage = model_session::usage(&draft.calls);
        NewTurn {
            recalls_also: message
                .recalled_audiences()
                .into_iter()
                .skip(1)
                .cloned()
                .collect(),
            audience: message.audience.clone(),
            turn: Turn {
                id: ResponseId::fresh(),
                session: message.conversation.as_str().to_owned(),
                position: 0,
                created_at: Utc::now(),
                source: draft.source,
                input: (*text).to_owned(),
                rephrased_question: draft.evidence.understood.clone(),
                output: draft.kept_text(),
                cypher: draft.cypher(),
                event: draft.event(message),
                author: message.author.id.clone(),
                author_name: message.author.name.clone(),
                volatile: draft.evidence.is_volatile,
                embedding,
                model: draft.model(),
                prompt_tokens: usage.prompt,
                completion_tokens: usage.completion,
                duration_ms: millis(began.elapsed()),
                link: message.link.clone(),
                delivered: None,
                revised_at: None,
                attached: files.texts_to_keep(),
                reply_to: None,
                trust: draft.trust,
            },
            context: draft.evidence.nodes.clone(),
            recalled: draft.given(),
            trace: draft.trace(),
            asked_at: Some(message.sent_at),
        }
    }

    fn after(&self, kept: &TurnSaveOutcome, draft: &Draft, read: &Read) -> After {
        let due = || {
            summary::is_due(
                &read.context.window,
                read.context.summary.as_ref(),
                self.config.window_turns,
            )
        };
        match (kept, draft.source) {
            (TurnSaveOutcome::Graph, Source::Model | Source::Knowledge | Source::Retrieval)
                if due() =>
            {
                After::Summarize
            }
            (
                TurnSaveOutcome::Graph
                | TurnSaveOutcome::Journal
                | TurnSaveOutcome::Duplicate(_)
                | TurnSaveOutcome::Forgotten
                | TurnSaveOutcome::Nowhere
                | TurnSaveOutcome::Unknown,
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

fn observe(stage: &'static str, began: Instant) {
    metrics::histogram!("muninn_turn_seconds", "until" => stage)
        .record(began.elapsed().as_secs_f64());
}

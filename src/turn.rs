//! One turn: from a message to an answer that is kept and delivered.
//!
//! The steps are those of [the path of one message](crate); each is a short function here, and what
//! it decides is decided elsewhere.

use std::sync::Arc;
use std::time::Instant;

use chrono::Utc;
use muninn_platform::{IncomingMessage, Reply, SafeText};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent::prompt::{Brief, Memory};
use crate::agent::tools::Tools;
use crate::agent::{self, Answer, Budget, NoAnswer};
use crate::config::TurnConfig;
use crate::graph::{NewTurn, ResponseId, Source, StoreError, Turn, TurnContext, TurnRead};
use crate::llm::{ChatModel, Usage};
use crate::memory::{
    Archive, Begun, Kept, Recalled, Recaller, Sought, embedded_text, is_question, summary,
};
use crate::notice::{Notice, model_trouble};
use crate::prompts::{FromMemory, PromptError, Prompts, Quoted};
use crate::session::SessionGuard;
use crate::stream;

/// Makes turns.
#[derive(Debug)]
pub struct Turns {
    pub config: TurnConfig,
    pub archive: Arc<Archive>,
    pub recaller: Arc<Recaller>,
    pub prompts: Arc<Prompts>,
    /// None: answers come from memory alone.
    pub model: Option<Arc<ChatModel>>,
}

/// Why a turn gave no answer at all.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// What a turn knows before it answers.
struct Read {
    context: TurnContext,
    store_away: bool,
    /// The message as it is looked for.
    sought: Sought,
    recalled: Vec<Recalled>,
}

/// An answer, before it is kept.
struct Draft {
    text: String,
    source: Source,
    model: Option<String>,
    usage: Usage,
    recalled: Vec<Recalled>,
    /// Said above and below it, but not kept with it.
    above: Option<Notice>,
    below: Vec<Notice>,
}

/// How asking the model ended.
enum Ended {
    Answered(Result<Answer, NoAnswer>),
    /// Before its end, for this reason.
    Early(Notice),
}

/// What the turn leaves to be done after the answer went out.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    Nothing,
    /// Turns fell out of the window.
    Summarize,
}

impl Turns {
    /// Answers a message, keeps the turn and delivers the answer, in this order.
    ///
    /// # Errors
    /// When nothing could be answered; the reply is then still open.
    pub async fn take(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        reply: &mut dyn Reply,
        stop: &CancellationToken,
    ) -> Result<After, TurnError> {
        let began = Instant::now();
        reply.working().await;
        let read = self.read(message, text).await?;
        if let Some(earlier) = &read.context.duplicate {
            tracing::info!(event = %message.event, response = %earlier.id, "delivered again");
            deliver(reply, &earlier.output).await;
            return Ok(After::Nothing);
        }
        observe("read", began);

        let Some(draft) = self.draft(message, text, &read, reply, stop).await? else {
            deliver(reply, &Notice::Stopped.to_string()).await;
            return Ok(After::Nothing);
        };
        observe("answer", began);

        let turn = self.new_turn(message, text, &draft, began).await;
        let kept = self.archive.keep(guard, &turn).await;
        observe("keep", began);
        deliver(reply, &outgoing(&draft, &kept, &read)).await;
        observe("turn", began);
        count(&draft);
        Ok(self.after(&kept, &draft, &read))
    }

    /// Steps 4 to 6: the context from the graph, and what is recalled.
    async fn read(&self, message: &IncomingMessage, text: &str) -> Result<Read, TurnError> {
        let audience = &message.audience.id;
        let (sought, begun) = tokio::join!(self.recaller.seek(text), self.begin(message));
        let Begun {
            context,
            store_away,
        } = begun?;
        if context.duplicate.is_none() {
            let store = &**self.archive.store();
            self.recaller.learn(store, audience, &context.news).await;
        }
        let recalled = match self.model {
            Some(_) => {
                let shown: Vec<ResponseId> = context.window.iter().map(|turn| turn.id).collect();
                self.recaller
                    .recall(audience, &sought, &context.window, &shown)
            }
            // What is quoted without a model is recalled with the window, later.
            None => Vec::new(),
        };
        Ok(Read {
            context,
            store_away,
            sought,
            recalled,
        })
    }

    async fn begin(&self, message: &IncomingMessage) -> Result<Begun, StoreError> {
        let audience = &message.audience.id;
        if !self.archive.is_away() {
            self.recaller.load(&**self.archive.store(), audience).await;
        }
        self.archive
            .begin(&TurnRead {
                session: &message.conversation,
                audience,
                event: &message.event,
                window: summary::read(self.config.window_turns),
                seen: self.recaller.seen(audience),
            })
            .await
    }

    /// Steps 7 to 9. None: it was stopped before there was anything to show.
    async fn draft(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        reply: &mut dyn Reply,
        stop: &CancellationToken,
    ) -> Result<Option<Draft>, TurnError> {
        let Some(model) = &self.model else {
            return self.quote_memory(message, text, read, None).map(Some);
        };
        let mut tools = Tools::new(&self.recaller, &message.audience.id, shown(read));
        let (shown, watched) = watch::channel(String::new());
        let asking = self.ask(model, message, text, read, &mut tools, &shown);
        let asking = async {
            tokio::select! {
                answered = asking => Ended::Answered(answered),
                () = stop.cancelled() => Ended::Early(Notice::Stopped),
                () = tokio::time::sleep(self.config.timeout) => Ended::Early(Notice::TookTooLong(self.config.timeout)),
            }
        };
        let ended = stream::show(reply, watched, asking).await;
        let written = shown.borrow().trim().to_owned();
        match ended {
            Ended::Answered(Ok(answer)) => {
                let mut recalled = read.recalled.clone();
                recalled.extend(tools.into_found());
                Ok(Some(Draft::of_model(answer, recalled, read)))
            }
            Ended::Answered(Err(error)) => {
                self.without_answer(message, text, read, error).map(Some)
            }
            Ended::Early(Notice::Stopped) if written.is_empty() => Ok(None),
            Ended::Early(why) => self.cut_short(message, text, read, &written, why).map(Some),
        }
    }

    /// What is left when the model gave no answer.
    fn without_answer(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        error: NoAnswer,
    ) -> Result<Draft, TurnError> {
        let why = match error {
            NoAnswer::Prompt(error) => return Err(error.into()),
            NoAnswer::Nothing => Notice::NoAnswer,
            NoAnswer::Model(error) => {
                metrics::counter!("muninn_ladder_total", "rung" => "model").increment(1);
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the model is down: answering from memory"
                );
                Notice::ModelDown(model_trouble(&error))
            }
        };
        self.quote_memory(message, text, read, Some(why))
    }

    async fn ask(
        &self,
        model: &ChatModel,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        tools: &mut Tools<'_>,
        shown: &watch::Sender<String>,
    ) -> Result<Answer, NoAnswer> {
        let summary = read.context.summary.as_ref();
        let memories: Vec<Memory> = read.recalled.iter().map(Memory::of).collect();
        let brief = Brief {
            name: &self.config.bot_name,
            today: &Utc::now().format("%A, %Y-%m-%d").to_string(),
            summary: summary.map(|summary| summary.text.as_str()),
            window: summary::uncovered(&read.context.window, summary, self.config.window_turns),
            memories: &memories,
            author: &message.author.name,
            question: text,
        };
        let budget = Budget {
            context: self.config.context_tokens,
            answer: self.config.answer_tokens,
        };
        let person = format!("{}/{}", message.audience.platform, message.author.id);
        agent::answer(model, &self.prompts, &brief, &person, budget, tools, shown).await
    }

    /// An answer that only quotes memory.
    fn quote_memory(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        above: Option<Notice>,
    ) -> Result<Draft, TurnError> {
        // Nobody reads the window then, so it is searched as well.
        let audience = &message.audience.id;
        let recalled = self
            .recaller
            .recall(audience, &read.sought, &read.context.window, &[]);
        let quoted: Vec<Quoted> = recalled
            .iter()
            .map(|memory| Memory::of(memory).quoted)
            .collect();
        let answer = self.prompts.render(&FromMemory {
            recalled: &quoted,
            noted: !is_question(text),
        })?;
        Ok(Draft {
            text: answer,
            source: Source::Memory,
            model: None,
            usage: Usage::default(),
            recalled,
            above,
            below: Draft::notices(read),
        })
    }

    /// What there is of an answer that was stopped, or of one that took too long.
    fn cut_short(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        written: &str,
        why: Notice,
    ) -> Result<Draft, TurnError> {
        if written.is_empty() {
            return self.quote_memory(message, text, read, Some(why));
        }
        let answer = Answer {
            text: format!("{written} …"),
            ..Answer::default()
        };
        let mut draft = Draft::of_model(answer, read.recalled.clone(), read);
        draft.below.insert(0, why);
        Ok(draft)
    }

    async fn new_turn(
        &self,
        message: &IncomingMessage,
        text: &str,
        draft: &Draft,
        began: Instant,
    ) -> NewTurn {
        // What an answer only quotes is not embedded again, or it would be recalled twice.
        let exchange = match draft.source {
            Source::Model => embedded_text(text, &draft.text),
            Source::Memory => text.to_owned(),
        };
        let embedding = self.recaller.embed_exchange(&exchange).await;
        NewTurn {
            audience: message.audience.clone(),
            turn: Turn {
                id: ResponseId::fresh(),
                session: message.conversation.as_str().to_owned(),
                position: 0,
                created_at: Utc::now(),
                source: draft.source,
                input: text.to_owned(),
                rephrased_question: None,
                output: draft.text.clone(),
                cypher: None,
                event: message.event.as_str().to_owned(),
                author: message.author.id.clone(),
                author_name: message.author.name.clone(),
                volatile: false,
                embedding,
                model: draft.model.clone(),
                prompt_tokens: draft.usage.prompt,
                completion_tokens: draft.usage.completion,
                duration_ms: u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX),
            },
            context: Vec::new(),
            recalled: draft
                .recalled
                .iter()
                .map(|memory| (memory.id, memory.score))
                .collect(),
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
            (Kept::Graph, Source::Model) if due() => After::Summarize,
            (
                Kept::Graph | Kept::Journal | Kept::Duplicate(_) | Kept::Nowhere,
                Source::Model | Source::Memory,
            ) => After::Nothing,
        }
    }
}

impl Draft {
    fn of_model(answer: Answer, recalled: Vec<Recalled>, read: &Read) -> Self {
        Self {
            text: answer.text,
            source: Source::Model,
            model: Some(answer.model),
            usage: answer.usage,
            recalled,
            above: None,
            below: Self::notices(read),
        }
    }

    /// The rungs of the ladder this turn stands on, as far as its reading knows.
    fn notices(read: &Read) -> Vec<Notice> {
        if read.sought.embeddings_down {
            metrics::counter!("muninn_ladder_total", "rung" => "embeddings").increment(1);
            return vec![Notice::EmbeddingsDown];
        }
        Vec::new()
    }
}

/// The answer with what has to be said of it.
fn outgoing(draft: &Draft, kept: &Kept, read: &Read) -> String {
    let kept = match kept {
        Kept::Duplicate(earlier) => return earlier.output.clone(),
        Kept::Graph => None,
        Kept::Journal => Some(Notice::StoreDown {
            turns: if read.store_away {
                read.context.window.len()
            } else {
                0
            },
        }),
        Kept::Nowhere => Some(Notice::NotKept),
    };
    let above = draft.above.iter().map(Notice::to_string);
    let below = draft.below.iter().chain(&kept).map(Notice::to_string);
    let parts: Vec<String> = above.chain([draft.text.clone()]).chain(below).collect();
    parts.join("\n\n")
}

/// Sends a text as the reply's last word. A failure is the adapter's last word on it: the turn is in
/// the graph, and the same event delivered again brings the same answer.
pub async fn deliver(reply: &mut dyn Reply, text: &str) {
    let parts = SafeText::new(text).split(reply.limit());
    if let Err(error) = reply.finish(&parts).await {
        metrics::counter!("muninn_undelivered_total").increment(1);
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "an answer was not delivered"
        );
    }
}

fn shown(read: &Read) -> Vec<ResponseId> {
    let window = read.context.window.iter().map(|turn| turn.id);
    window
        .chain(read.recalled.iter().map(|memory| memory.id))
        .collect()
}

fn observe(stage: &'static str, began: Instant) {
    metrics::histogram!("muninn_turn_seconds", "until" => stage)
        .record(began.elapsed().as_secs_f64());
}

fn count(draft: &Draft) {
    let source = match draft.source {
        Source::Model => "model",
        Source::Memory => "memory",
    };
    metrics::counter!("muninn_turns_total", "source" => source).increment(1);
    metrics::counter!("muninn_recalled_total").increment(draft.recalled.len() as u64);
    metrics::counter!("muninn_tokens_total", "kind" => "prompt")
        .increment(u64::from(draft.usage.prompt));
    metrics::counter!("muninn_tokens_total", "kind" => "completion")
        .increment(u64::from(draft.usage.completion));
}

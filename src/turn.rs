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

use crate::agent::asker::{self, Asker};
use crate::agent::prompt::{Brief, Memory};
use crate::agent::tools::{Offer, Tools};
use crate::agent::{Agent, Budget, Gathered, NoAnswer, tools::Toolbox};
use crate::config::TurnConfig;
use crate::graph::trace::{ModelCall, Trace};
use crate::graph::{NewTurn, ResponseId, Source, StoreError, Turn, TurnContext, TurnRead};
use crate::llm::ChatModel;
use crate::memory::{
    Archive, Begun, Kept, Recalled, Recaller, Sought, embedded_text, is_question, summary,
};
use crate::notice::{Notice, model_trouble};
use crate::prompts::{FromFindings, FromMemory, PromptError, Prompts, Quoted};
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
    pub toolbox: Arc<Toolbox>,
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
    /// The memories it was given.
    recalled: Vec<Recalled>,
    /// How it came to be; nothing where no model was asked.
    gathered: Gathered,
    calls: Vec<ModelCall>,
    /// Said above and below it, but not kept with it.
    above: Option<Notice>,
    below: Vec<Notice>,
}

/// How asking the model ended.
enum Ended {
    Answered(Result<String, NoAnswer>),
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
            return self
                .quote_memory(message, text, read, None, Gathered::default())
                .map(Some);
        };
        let offer = if read.store_away {
            None
        } else {
            self.toolbox.offer().await
        };
        let person = format!("{}/{}", message.audience.platform, message.author.id);
        let asker = Asker::new(model, person, self.config.answer_tokens);
        let mut gathered = Gathered::default();
        let (shown, watched) = watch::channel(String::new());
        let ended = {
            let asking = self.ask(&asker, message, text, read, offer, &shown, &mut gathered);
            let asking = async {
                tokio::select! {
                    answered = asking => Ended::Answered(answered),
                    () = stop.cancelled() => Ended::Early(Notice::Stopped),
                    () = tokio::time::sleep(self.config.timeout) => Ended::Early(Notice::TookTooLong(self.config.timeout)),
                }
            };
            stream::show(reply, watched, asking).await
        };
        let written = shown.borrow().trim().to_owned();
        let mut draft = match ended {
            Ended::Answered(Ok(answer)) => Draft::of_model(answer, gathered, read),
            Ended::Answered(Err(error)) => {
                let why = no_answer(error)?;
                self.without_model(message, text, read, why, gathered)?
            }
            Ended::Early(Notice::Stopped) if written.is_empty() => return Ok(None),
            Ended::Early(why) if written.is_empty() => {
                self.without_model(message, text, read, why, gathered)?
            }
            Ended::Early(why) => {
                let mut draft = Draft::of_model(format!("{written} …"), gathered, read);
                draft.below.insert(0, why);
                draft
            }
        };
        draft.calls = asker.into_calls();
        Ok(Some(draft))
    }

    #[expect(clippy::too_many_arguments, reason = "what one turn is made of")]
    async fn ask(
        &self,
        asker: &Asker<'_>,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        offer: Option<Arc<Offer>>,
        shown: &watch::Sender<String>,
        gathered: &mut Gathered,
    ) -> Result<String, NoAnswer> {
        let summary = read.context.summary.as_ref();
        let memories: Vec<Memory> = read.recalled.iter().map(Memory::of).collect();
        let today = Utc::now().format("%A, %Y-%m-%d").to_string();
        let knowledge = offer
            .as_ref()
            .map_or("", |offer| &offer.knowledge)
            .to_owned();
        let agent = Agent {
            prompts: &self.prompts,
            brief: Brief {
                name: &self.config.bot_name,
                today: &today,
                summary: summary.map(|summary| summary.text.as_str()),
                window: summary::uncovered(&read.context.window, summary, self.config.window_turns),
                memories: &memories,
                findings: &[],
                knowledge: &knowledge,
                author: &message.author.name,
                question: text,
                understood: "",
            },
            asker,
            tools: Tools {
                asker,
                prompts: &self.prompts,
                recaller: &self.recaller,
                audience: &message.audience.id,
                shown: shown_turns(read),
                toolbox: &self.toolbox,
                offer,
            },
            budget: Budget {
                prompt: self.config.context_tokens - self.config.answer_tokens,
                rounds: self.config.agent_max_rounds,
                late: Instant::now() + self.config.timeout / 2,
            },
            shown,
        };
        agent.answer(gathered).await
    }

    /// What is left when no model wrote an answer: what the tools found, or else memory.
    fn without_model(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        why: Notice,
        gathered: Gathered,
    ) -> Result<Draft, TurnError> {
        if !gathered.has_knowledge() {
            return self.quote_memory(message, text, read, Some(why), gathered);
        }
        let listed = self.prompts.render(&FromFindings {
            findings: &gathered.findings,
        })?;
        let mut draft = Draft::of_model(listed, gathered, read);
        draft.above = Some(match why {
            Notice::ModelDown(why) => Notice::ModelDownAfterTools(why),
            other => other,
        });
        Ok(draft)
    }

    /// An answer that only quotes memory.
    fn quote_memory(
        &self,
        message: &IncomingMessage,
        text: &str,
        read: &Read,
        above: Option<Notice>,
        gathered: Gathered,
    ) -> Result<Draft, TurnError> {
        // Nobody reads the window then, so it is searched as well.
        let audience = &message.audience.id;
        let mut recalled = self
            .recaller
            .recall(audience, &read.sought, &read.context.window, &[]);
        let is_new = |memory: &&Recalled| !recalled.iter().any(|it| it.id == memory.id);
        let more: Vec<Recalled> = gathered.recalled.iter().filter(is_new).cloned().collect();
        recalled.extend(more);
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
            recalled,
            gathered,
            calls: Vec::new(),
            above,
            below: Draft::notices(read),
        })
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
            Source::Model | Source::Knowledge => embedded_text(text, &draft.text),
            Source::Memory => text.to_owned(),
        };
        let embedding = self.recaller.embed_exchange(&exchange).await;
        let usage = asker::usage(&draft.calls);
        NewTurn {
            audience: message.audience.clone(),
            turn: Turn {
                id: ResponseId::fresh(),
                session: message.conversation.as_str().to_owned(),
                position: 0,
                created_at: Utc::now(),
                source: draft.source,
                input: text.to_owned(),
                rephrased_question: draft.gathered.understood.clone(),
                output: draft.text.clone(),
                cypher: draft.cypher(),
                event: message.event.as_str().to_owned(),
                author: message.author.id.clone(),
                author_name: message.author.name.clone(),
                volatile: draft.gathered.is_volatile,
                embedding,
                model: draft.model(),
                prompt_tokens: usage.prompt,
                completion_tokens: usage.completion,
                duration_ms: u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX),
                link: message.link.clone(),
                delivered: None,
                revised_at: None,
                attached: Vec::new(),
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

    fn after(&self, kept: &Kept, draft: &Draft, read: &Read) -> After {
        let due = || {
            summary::is_due(
                &read.context.window,
                read.context.summary.as_ref(),
                self.config.window_turns,
            )
        };
        match (kept, draft.source) {
            (Kept::Graph, Source::Model | Source::Knowledge) if due() => After::Summarize,
            (
                Kept::Graph | Kept::Journal | Kept::Duplicate(_) | Kept::Nowhere,
                Source::Model | Source::Knowledge | Source::Memory,
            ) => After::Nothing,
        }
    }
}

impl Draft {
    fn of_model(text: String, gathered: Gathered, read: &Read) -> Self {
        let mut recalled = read.recalled.clone();
        recalled.extend(gathered.recalled.iter().cloned());
        Self {
            text,
            source: if gathered.has_knowledge() {
                Source::Knowledge
            } else {
                Source::Model
            },
            recalled,
            gathered,
            calls: Vec::new(),
            above: None,
            below: Self::notices(read),
        }
    }

    /// The model that wrote it.
    fn model(&self) -> Option<String> {
        match self.source {
            Source::Model | Source::Knowledge => Some(self.gathered.model.clone()),
            Source::Memory => None,
        }
    }

    /// Every statement that ran for it.
    fn cypher(&self) -> Option<String> {
        let ran = self.gathered.tools.iter().filter(|it| it.error.is_none());
        let statements: Vec<&str> = ran.filter_map(|it| it.cypher.as_deref()).collect();
        (!statements.is_empty()).then(|| statements.join(";\n"))
    }

    fn trace(&self) -> Trace {
        Trace {
            calls: self.calls.clone(),
            tools: self.gathered.tools.clone(),
            follow_ups: self.gathered.follow_ups.clone(),
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

/// What is said of it that the model gave no answer.
fn no_answer(error: NoAnswer) -> Result<Notice, PromptError> {
    match error {
        NoAnswer::Prompt(error) => Err(error),
        NoAnswer::Nothing => Ok(Notice::NoAnswer),
        NoAnswer::Model(error) => {
            metrics::counter!("muninn_ladder_total", "rung" => "model").increment(1);
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the model is down: answering without it"
            );
            Ok(Notice::ModelDown(model_trouble(&error)))
        }
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

fn shown_turns(read: &Read) -> Vec<ResponseId> {
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
        Source::Knowledge => "knowledge",
        Source::Memory => "memory",
    };
    let usage = asker::usage(&draft.calls);
    metrics::counter!("muninn_turns_total", "source" => source).increment(1);
    metrics::counter!("muninn_recalled_total").increment(draft.recalled.len() as u64);
    metrics::counter!("muninn_tokens_total", "kind" => "prompt").increment(u64::from(usage.prompt));
    metrics::counter!("muninn_tokens_total", "kind" => "completion")
        .increment(u64::from(usage.completion));
}

//! The agent: turns a brief into an answer. Its steps are rephrasing, routing, calling tools, criticising and answering.
//!
//! [`run`] decides what to do next, and [`prompt`] what the model reads; this module only carries out the steps. It knows
//! nothing of platforms or of how turns are kept.

pub mod budget;
pub mod effort;
mod evidence;
pub mod findings;
pub mod links;
pub mod mcp;
pub mod model_session;
pub mod planner;
pub mod prompt;
pub mod prompts;
mod rephrased;
mod rerank;
pub mod run;
pub mod sampling;
mod steps;
pub mod telemetry;
pub mod tools;

use std::time::Instant;

use tokio::sync::watch;

use crate::agent::prompts::{PromptError, Prompts, Refusal};
use crate::graph::{Turn, without_file_notes};
use crate::knowledge::search::cards::cards;
use crate::knowledge::search::{Degradation, Policy};
use crate::llm::tokens::estimate_tool;
use crate::llm::{ChatMessage, Completion, ModelError, ToolSpec};
use crate::retrieval::speech::{is_small_talk, states_something};
use effort::{Effort, effort};
pub use evidence::{Evidence, Incomplete};
use links::LinkPolicy;
use model_session::ModelSession;
use muninn_platform::{Language, one_line};
use prompt::{Brief, assemble};
use run::{AgentRun, TurnLimits, TurnQuestion, TurnStep};
use tools::{Lookup, Tools};

/// Maximum tool calls per turn.
const CALLS: usize = 8;
/// Maximum tool calls per model reply.
const CALLS_AT_ONCE: usize = 4;
/// Maximum follow-up questions of the critic per round.
const QUESTIONS_PER_ROUND: usize = 3;
/// How often the model may correct wrong calls.
const CORRECTIONS: u32 = 2;
/// How often a prompt that turned out too long is shortened, by a third or to what the service allows.
const SHRINKS: u32 = 6;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the model wrote no answer within its limits")]
    Nothing,
    #[error("the model found that the message is not for it")]
    Silent,
}

/// Limits of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Maximum tokens of a prompt.
    pub prompt: u32,
    /// Number of rounds of the critic's questions.
    pub rounds: u32,
    /// After this moment only the answer is written.
    pub late: Instant,
    /// Whether a model reranks what was recalled.
    pub reranks: bool,
    /// Whether knowledge is searched for every question before the model answers, because it calls no tools.
    pub searches_first: bool,
}

/// Answers one message.
#[derive(Debug)]
pub struct Agent<'a> {
    pub prompts: &'a Prompts,
    pub brief: Brief<'a>,
    /// The language of what the bot itself says there.
    pub language: Language,
    pub models: &'a ModelSession<'a>,
    pub tools: Tools<'a>,
    pub budget: Budget,
    /// The policies that the message triggers.
    pub policies: &'a [Policy],
    /// Hosts to which links of the answer may lead.
    pub links: &'a LinkPolicy,
    /// The answer, as it grows.
    pub shown: &'a watch::Sender<String>,
}

impl Agent<'_> {
    /// Answers the brief.
    ///
    /// # Errors
    /// Fails when the model failed or wrote nothing; `shown` then has what it wrote until then.
    pub async fn answer(&self, evidence: &mut Evidence) -> Result<String, NoAnswer> {
        let (mut run, mut step) = AgentRun::start(
            self.limits(),
            without_file_notes(self.brief.question),
            !self.brief.window.is_empty(),
        );
        // Messages exchanged about the current question: wrong calls, and their errors.
        let mut exchanged = Vec::new();
        let mut reranks = self.budget.reranks;
        loop {
            run.reduce_effort(self.effort());
            if reranks && !matches!(step, TurnStep::Rephrase(_)) {
                reranks = false;
                self.rerank(evidence).await;
            }
            step = match step {
                TurnStep::Rephrase(question) => {
                    exchanged.clear();
                    run.rephrased(self.rephrase(&question, evidence).await)
                }
                TurnStep::Route { question, tokens } => {
                    let routed = self.route(&question, tokens, &exchanged, evidence).await;
                    self.routed(&mut run, &question, routed, &mut exchanged)?
                }
                TurnStep::CallTools(calls) => {
                    let returned = self.call(&calls, &mut exchanged, evidence).await;
                    if evidence.shows_records {
                        return Ok(cards(&evidence.cited, self.language));
                    }
                    run.tools_returned(returned)
                }
                TurnStep::Peek(calls) => match self.peek(&calls, evidence).await {
                    Some(returned) => run.tools_returned(returned),
                    None => run.peeked_in_vain(),
                },
                TurnStep::Critique { direct } => {
                    exchanged.clear();
                    let questions = self.critique(direct.as_deref(), evidence).await;
                    evidence.follow_ups.extend(questions.iter().cloned());
                    run.criticised(questions)
                }
                TurnStep::Answer { tokens: _ }
                    if evidence.is_fruitless() && !self.has_other_grounds(evidence) =>
                {
                    return self.nothing_found(evidence);
                }
                TurnStep::Answer { tokens } => match self.write(tokens, evidence).await {
                    Ok(text) => run.answered(&text),
                    Err(NoAnswer::Model(ModelError::ContextTooLong(too_long))) => {
                        run.prompt_too_long(too_long.room, 0)
                    }
                    Err(error) => return Err(error),
                },
                TurnStep::Reply(text) => return self.settled(text, evidence),
                TurnStep::StaySilent => return Err(NoAnswer::Silent),
                TurnStep::GiveUp => return Err(NoAnswer::Nothing),
            };
        }
    }

    /// Processes the model's choice, if any, and returns the next step.
    fn routed(
        &self,
        run: &mut AgentRun,
        question: &TurnQuestion,
        routed: Result<Completion, NoAnswer>,
        exchanged: &mut Vec<ChatMessage>,
    ) -> Result<TurnStep, NoAnswer> {
        match (routed, question) {
            (Ok(completion), TurnQuestion::Message(_) | TurnQuestion::FollowUp(_)) => {
                let Completion {
                    text, tool_calls, ..
                } = completion;
                exchanged.push(ChatMessage::Assistant {
                    text: text.clone(),
                    tool_calls: tool_calls.clone(),
                });
                Ok(run.routed(&text, tool_calls))
            }
            (Err(NoAnswer::Model(ModelError::ContextTooLong(too_long))), _) => {
                Ok(run.prompt_too_long(too_long.room, self.tools_cost()))
            }
            // What was found is answered without the correction of a wrong call: services may refuse the exchange about it.
            (Err(NoAnswer::Model(error)), TurnQuestion::Message(_))
                if !exchanged.is_empty() && may_still_answer(&error) =>
            {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "a wrong call was not corrected");
                Ok(run.correction_failed())
            }
            // What was found for the message is answered without the follow-up.
            (Err(NoAnswer::Model(_)), TurnQuestion::FollowUp(_)) => Ok(run.routed("", Vec::new())),
            (Err(error), TurnQuestion::Message(_) | TurnQuestion::FollowUp(_)) => Err(error),
        }
    }

    /// Tokens of the tool descriptions.
    fn tools_cost(&self) -> u32 {
        self.specs().iter().map(estimate_tool).sum()
    }

    /// The effort for this answer, by the model's recent speed.
    fn effort(&self) -> Effort {
        effort(self.budget.rounds, self.models.step_time())
    }

    fn limits(&self) -> TurnLimits {
        let Effort { rounds, rephrases } = self.effort();
        TurnLimits {
            rounds,
            rephrases,
            questions_per_round: QUESTIONS_PER_ROUND,
            calls: CALLS,
            calls_at_once: CALLS_AT_ONCE,
            corrections: CORRECTIONS,
            prompt_tokens: self.budget.prompt,
            shrinks: SHRINKS,
            searches_first: self.searches_first(),
            offers_first: self.offers_first(),
            is_strict: self.brief.is_strict,
            lookup: self.tools.lookup(),
            may_stay_silent: self.tools.may_stay_silent(),
        }
    }

    /// The tool that searches for a model that cannot request it; `None` if there is nothing to search.
    fn searches_first(&self) -> Option<Lookup> {
        self.tools.search().filter(|_| self.budget.searches_first)
    }

    /// The tool that searches before the model is asked. If no answer is allowed without a look-up, the model has to make it
    /// itself.
    fn offers_first(&self) -> Option<Lookup> {
        let is_left_to_model = self.budget.searches_first || self.brief.is_strict;
        self.tools.search().filter(|_| !is_left_to_model)
    }

    fn specs(&self) -> Vec<ToolSpec> {
        if self.budget.searches_first {
            Vec::new()
        } else {
            self.tools.specs()
        }
    }

    /// An answer as it is kept. If it only says that what was searched does not contain the answer, it cites nothing.
    fn settled(&self, text: String, evidence: &mut Evidence) -> Result<String, NoAnswer> {
        if !evidence.has_searched {
            return Ok(text);
        }
        let Some(refusal) = self.as_refusal(&text)? else {
            return Ok(text);
        };
        evidence.cited.clear();
        // Volatile, as knowledge may be added later.
        evidence.is_volatile = true;
        Ok(refusal)
    }

    /// Whether there is something to answer from beside what was searched, or the search may have missed something.
    fn has_other_grounds(&self, evidence: &Evidence) -> bool {
        let Brief {
            files,
            summary,
            window,
            ..
        } = self.brief;
        !files.is_empty()
            || self.models.has_images()
            || !self.memories(evidence).is_empty()
            || summary.is_some()
            || window.iter().any(|turn| self.says_something(turn))
            || evidence.degradations.contains(&Degradation::Loading)
    }

    /// Whether something can be answered from an earlier turn: not from small talk, nor from a question that was refused or
    /// that nobody answered here.
    fn says_something(&self, turn: &Turn) -> bool {
        let is_refused = || {
            let refusal = self.as_refusal(&turn.output);
            refusal.is_ok_and(|refusal| refusal.is_some())
        };
        let is_answered = || turn.is_answered() && !is_small_talk(turn.said()) && !is_refused();
        states_something(turn.said()) || turn.files().next().is_some() || is_answered()
    }

    /// The answer if nothing was found: a policy's reply, or that there is nothing.
    fn nothing_found(&self, evidence: &mut Evidence) -> Result<String, NoAnswer> {
        // Volatile, as knowledge may be added later.
        evidence.is_volatile = true;
        let policies = self.policies.iter().chain(&evidence.policies);
        match policies.filter_map(|policy| policy.reply.clone()).next() {
            Some(reply) => Ok(reply),
            None => Ok(self.refusal()?),
        }
    }

    fn refusal(&self) -> Result<String, PromptError> {
        self.refusal_in(self.language)
    }

    fn refusal_in(&self, language: Language) -> Result<String, PromptError> {
        let refusal = Refusal::new(self.brief.name, language);
        self.prompts.render(&refusal)
    }

    /// The refusal that a text is: a model may say it in the language of the question.
    fn as_refusal(&self, text: &str) -> Result<Option<String>, PromptError> {
        for language in Language::ALL {
            let refusal = self.refusal_in(language)?;
            if same_words(text, &refusal) {
                return Ok(Some(refusal));
            }
        }
        Ok(None)
    }

    /// The reminders of the triggered policies, each once.
    fn reminders(&self, evidence: &Evidence) -> Vec<String> {
        let policies = self.policies.iter().chain(&evidence.policies);
        let mut reminders: Vec<String> = Vec::new();
        for reminder in policies.filter_map(|policy| policy.reminder.as_deref()) {
            let reminder = one_line(reminder);
            if !reminders.contains(&reminder) {
                reminders.push(reminder);
            }
        }
        reminders
    }

    fn assembled(
        &self,
        brief: &Brief<'_>,
        tokens: u32,
        evidence: &mut Evidence,
    ) -> Result<Vec<ChatMessage>, PromptError> {
        let refusal = if evidence.cited.is_empty() {
            String::new()
        } else {
            self.refusal()?
        };
        let brief = Brief {
            memories: &self.memories(evidence),
            refusal: &refusal,
            reminders: &self.reminders(evidence),
            findings: &evidence.findings,
            understood: evidence.understood.as_deref().unwrap_or_default(),
            ..*brief
        };
        let assembled = assemble(self.prompts, &brief, tokens)?;
        evidence.cut_files = assembled.cut_files;
        Ok(assembled.messages)
    }
}

/// Whether the model may write an answer although this call failed: the service answers, and another prompt may do.
fn may_still_answer(error: &ModelError) -> bool {
    match error {
        ModelError::OnlyReasoned(_)
        | ModelError::Refused(_)
        | ModelError::Failed(_)
        | ModelError::CutOff
        | ModelError::BadAnswer(_) => true,
        ModelError::Unreachable { .. }
        | ModelError::TimedOut(_)
        | ModelError::Unauthorized
        | ModelError::UnknownModel { .. }
        | ModelError::QuotaExhausted
        | ModelError::RateLimited
        | ModelError::ContextTooLong(_)
        | ModelError::Busy
        | ModelError::OverBudget { .. } => false,
    }
}

/// Whether two texts differ at most in punctuation and numbers.
fn same_words(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|it| it.is_alphabetic());
        letters.flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}

//! From a brief to an answer: rephrase, route, call tools, criticise, answer.
//!
//! What to do next is decided by [`run`], what the model reads by [`prompt`]; this only does it.
//! Knows nothing of platforms or of how turns are kept.

pub mod asker;
pub mod budget;
pub mod effort;
pub mod findings;
mod gathered;
pub mod links;
pub mod mcp;
pub mod planner;
pub mod prompt;
pub mod prompts;
mod rephrased;
mod rerank;
pub mod run;
pub mod sampling;
pub mod telemetry;
pub mod tools;

use std::time::Instant;

use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agent::prompts::{
    Critique, Finding, PromptError, Prompts, Quoted, Refusal, Rephrase, Rerank, Route, lines,
};
use crate::graph::trace::ModelStep;
use crate::knowledge::search::Policy;
use crate::knowledge::search::cards::cards;
use crate::llm::tokens::{Keep, cut, estimate_message, estimate_tool};
use crate::llm::{ChatMessage, Completion, ModelError, Piece, ToolCall, ToolSpec, structured};
use asker::{Ask, Asker};
use effort::{Effort, effort};
pub use gathered::{Gathered, Incomplete};
use links::Links;
use muninn_platform::one_line;
use prompt::{Brief, Memory, assemble, beyond_one_share};
use run::{Limits, Question, Returned, Run, Step};
use tools::{Lookup, RESPOND, Tools};

/// Tool calls in a turn.
const CALLS: usize = 8;
/// Tool calls in one answer.
const CALLS_AT_ONCE: usize = 4;
/// The critic's questions in a round.
const QUESTIONS_PER_ROUND: usize = 3;
/// How often the model may correct wrong calls.
const CORRECTIONS: u32 = 2;
/// How often a prompt that turned out too long is made shorter, by a third or by what the service says.
const SHRINKS: u32 = 6;
/// Turns of the window that rephrasing reads.
const REPHRASE_TURNS: usize = 4;
/// Tokens that the small steps read of what was found, and of one turn.
const STEP_FINDINGS_TOKENS: u32 = 2_000;
const STEP_TURN_TOKENS: u32 = 300;

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

/// How much a turn may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Tokens of a prompt.
    pub prompt: u32,
    /// How often the critic's questions are asked.
    pub rounds: u32,
    /// From then on only the answer is written.
    pub late: Instant,
    /// A model looks again at what was recalled.
    pub reranks: bool,
    /// The model calls no tools: knowledge is searched for every question before it answers.
    pub searches_first: bool,
}

/// Answers one message.
#[derive(Debug)]
pub struct Agent<'a> {
    pub prompts: &'a Prompts,
    pub brief: Brief<'a>,
    pub asker: &'a Asker<'a>,
    pub tools: Tools<'a>,
    pub budget: Budget,
    /// Those that the message triggers.
    pub policies: &'a [Policy],
    /// Where links of the answer may lead.
    pub links: &'a Links,
    /// The answer, as it grows.
    pub shown: &'a watch::Sender<String>,
}

impl Agent<'_> {
    /// Answers the brief.
    ///
    /// # Errors
    /// When the model failed or wrote nothing; `shown` then has what it wrote until then.
    pub async fn answer(&self, gathered: &mut Gathered) -> Result<String, NoAnswer> {
        let (mut run, mut step) = Run::start(
            self.limits(),
            self.brief.question,
            !self.brief.window.is_empty(),
        );
        // What was said about the question at hand: wrong calls, and how they were wrong.
        let mut exchanged = Vec::new();
        let mut reranks = self.budget.reranks;
        loop {
            run.spare(self.effort());
            if reranks && !matches!(step, Step::Rephrase(_)) {
                reranks = false;
                self.rerank(gathered).await;
            }
            step = match step {
                Step::Rephrase(question) => {
                    exchanged.clear();
                    run.rephrased(self.rephrase(&question, gathered).await)
                }
                Step::Route { question, tokens } => {
                    let routed = self.route(&question, tokens, &exchanged, gathered).await;
                    self.routed(&mut run, &question, routed, &mut exchanged)?
                }
                Step::CallTools(calls) => {
                    let returned = self.call(&calls, &mut exchanged, gathered).await;
                    if gathered.shows_records {
                        return Ok(cards(&gathered.cited));
                    }
                    run.tools_returned(returned)
                }
                Step::Peek(calls) => match self.peek(&calls, gathered).await {
                    Some(returned) => run.tools_returned(returned),
                    None => run.peeked_in_vain(),
                },
                Step::Critique { direct } => {
                    exchanged.clear();
                    let questions = self.critique(direct.as_deref(), gathered).await;
                    gathered.follow_ups.extend(questions.iter().cloned());
                    run.criticised(questions)
                }
                Step::Answer { tokens: _ }
                    if gathered.is_fruitless() && self.memories(gathered).is_empty() =>
                {
                    return self.nothing_found(gathered);
                }
                Step::Answer { tokens } => match self.write(tokens, gathered).await {
                    Ok(text) => run.answered(&text),
                    Err(NoAnswer::Model(ModelError::ContextTooLong(too_long))) => {
                        run.prompt_too_long(too_long.room, 0)
                    }
                    Err(error) => return Err(error),
                },
                Step::Reply(text) => return self.settled(text, gathered),
                Step::StaySilent => return Err(NoAnswer::Silent),
                Step::GiveUp => return Err(NoAnswer::Nothing),
            };
        }
    }

    /// Takes what the model chose, if it chose anything; gives what is done next.
    fn routed(
        &self,
        run: &mut Run,
        question: &Question,
        routed: Result<Completion, NoAnswer>,
        exchanged: &mut Vec<ChatMessage>,
    ) -> Result<Step, NoAnswer> {
        match (routed, question) {
            (Ok(completion), Question::Message(_) | Question::FollowUp(_)) => {
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
            // What was found for the message is answered without it.
            (Err(NoAnswer::Model(_)), Question::FollowUp(_)) => Ok(run.routed("", Vec::new())),
            (Err(error), Question::Message(_) | Question::FollowUp(_)) => Err(error),
        }
    }

    /// Tokens of the tools' descriptions.
    fn tools_cost(&self) -> u32 {
        self.specs().iter().map(estimate_tool).sum()
    }

    /// What is done for this answer, by what the model took lately.
    fn effort(&self) -> Effort {
        effort(self.budget.rounds, self.asker.step_time())
    }

    fn limits(&self) -> Limits {
        let Effort { rounds, rephrases } = self.effort();
        Limits {
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

    /// By what is searched where the model cannot ask for that by itself; none where there is nothing to search.
    fn searches_first(&self) -> Option<Lookup> {
        self.tools.search().filter(|_| self.budget.searches_first)
    }

    /// By what is searched before the model is asked. Where nothing may be answered without a look-up, the model has to make it.
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

    /// The question made to stand alone; none where that failed, which costs no more than clarity.
    async fn rephrase(&self, question: &Question, gathered: &mut Gathered) -> Option<String> {
        let from = self.brief.window.len().saturating_sub(REPHRASE_TURNS);
        let (turns, findings) = match question {
            Question::Message(_) => (
                self.brief.window[from..]
                    .iter()
                    .map(|turn| Quoted::of_turn(turn, STEP_TURN_TOKENS))
                    .collect(),
                &[][..],
            ),
            Question::FollowUp(_) => (Vec::new(), &gathered.findings[..]),
        };
        let turns: Vec<Quoted> = turns;
        let prompt = self.prompts.render(&Rephrase {
            atomic: self.brief.is_strict && matches!(question, Question::Message(_)),
            turns: &turns,
            findings: &findings::fitting(findings, STEP_FINDINGS_TOKENS),
            question: &lines(question.text()),
        });
        let text = self.small_step(ModelStep::Rephrase, prompt, None).await?;
        let rephrased = rephrased::checked(&text, question.text())?;
        if let Question::Message(message) = question
            && rephrased != *message
        {
            gathered.understood = Some(rephrased.clone());
            let found = Box::pin(self.tools.recall(&rephrased)).await;
            gathered.also_recalled = found.iter().map(Memory::of).collect();
            gathered.recalled.extend(found);
            if !rephrased::differs_much(&rephrased, message) {
                // Both ask for the same.
                let of_message = self.brief.memories;
                gathered.set_aside = beyond_one_share(of_message, &gathered.also_recalled);
            }
        }
        Some(rephrased)
    }

    /// Sets aside what was recalled and does not help.
    async fn rerank(&self, gathered: &mut Gathered) {
        let recalled = self.memories(gathered);
        if recalled.is_empty() || !self.effort().rephrases {
            return;
        }
        let short = |memory: &Memory| memory.quoted.shortened(STEP_TURN_TOKENS);
        let question = gathered.understood.as_deref();
        let prompt = self.prompts.render(&Rerank {
            recalled: &recalled.iter().map(short).collect::<Vec<Quoted>>(),
            question: &lines(question.unwrap_or(self.brief.question)),
        });
        let step = self.small_step(ModelStep::Rerank, prompt, Some(rerank::shape()));
        let picked = step.await;
        let picked = picked.and_then(|text| rerank::picked(&text, recalled.len()));
        if let Some(picked) = picked {
            let others = (0..recalled.len()).filter(|place| !picked.contains(place));
            gathered
                .set_aside
                .extend(others.map(|place| recalled[place].id));
        }
    }

    /// What was recalled for the message and is not set aside, oldest first.
    fn memories(&self, gathered: &Gathered) -> Vec<Memory> {
        let mut memories = [self.brief.memories, &gathered.also_recalled].concat();
        memories.retain(|memory| !gathered.set_aside.contains(&memory.id));
        memories.sort_by(|one, other| one.quoted.date.cmp(&other.quoted.date));
        memories
    }

    async fn route(
        &self,
        question: &Question,
        tokens: u32,
        exchanged: &[ChatMessage],
        gathered: &mut Gathered,
    ) -> Result<Completion, NoAnswer> {
        let exchanged = shortened(exchanged, tokens);
        let spent: u32 = exchanged.iter().map(estimate_message).sum();
        let tools = self.specs();
        let spent = spent.saturating_add(tools.iter().map(estimate_tool).sum());
        let mut messages = match question {
            Question::Message(_) => {
                let brief = Brief {
                    may_look_further: !tools.is_empty(),
                    ..self.brief
                };
                self.assembled(&brief, tokens.saturating_sub(spent), gathered)?
            }
            Question::FollowUp(text) => vec![ChatMessage::User(self.prompts.render(&Route {
                findings: &findings::fitting(
                    &gathered.findings,
                    STEP_FINDINGS_TOKENS.min(tokens / 2),
                ),
                question: &lines(text),
            })?)],
        };
        messages.extend(exchanged);
        let ask = Ask {
            messages,
            tools,
            shape: None,
        };
        let completion = match question {
            // Nothing is shown that may rest on nothing.
            Question::Message(_) if !self.brief.is_strict => {
                self.ask_aloud(ModelStep::Route, ask, gathered).await?
            }
            Question::Message(_) | Question::FollowUp(_) => {
                self.asker.ask(ModelStep::Route, ask, &mut |_| {}).await?
            }
        };
        gathered.model.clone_from(&completion.model);
        gathered.incomplete = Incomplete::of(&completion);
        Ok(completion)
    }

    /// Calls the tools at the same time and adds the results. A call beyond the limit gets an
    /// answer too: services refuse a conversation in which a call has none.
    async fn call(
        &self,
        calls: &[ToolCall],
        exchanged: &mut Vec<ChatMessage>,
        gathered: &mut Gathered,
    ) -> Returned {
        self.shown.send_modify(String::clear);
        let asked = match exchanged.last() {
            Some(ChatMessage::Assistant { tool_calls, .. }) => tool_calls.clone(),
            Some(ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Tool { .. })
            | None => Vec::new(),
        };
        let results = join_all(calls.iter().map(|call| Box::pin(self.tools.call(call)))).await;
        let has_wrong_call = results.iter().any(|result| result.is_wrong_call);
        // Those that were called are some of those that were asked for, in the same order.
        let mut called = calls.iter().zip(&results).peekable();
        for asked in asked {
            let text = match called.next_if(|(call, _)| **call == asked) {
                Some((_, result)) => as_text(&result.finding),
                None if asked.name == RESPOND => {
                    "Not called: look at what the other tools returned first.".to_owned()
                }
                None => "Not called: too many calls at once.".to_owned(),
            };
            exchanged.push(ChatMessage::Tool {
                call_id: asked.id,
                text,
            });
        }
        // What came with the calls is no answer.
        gathered.incomplete = None;
        gathered.shows_records = !results.is_empty() && results.iter().all(|it| it.shows_records);
        for result in results {
            gathered.take(result);
        }
        Returned {
            has_wrong_call,
            is_late: Instant::now() >= self.budget.late,
        }
    }

    /// Calls tools, and keeps what they return where that surely has to do with the message.
    async fn peek(&self, calls: &[ToolCall], gathered: &mut Gathered) -> Option<Returned> {
        let results = join_all(calls.iter().map(|call| Box::pin(self.tools.call(call)))).await;
        let mut found = results.iter().flat_map(|result| &result.cited);
        if !found.any(|cited| planner::is_sure(&cited.hit.scores)) {
            return None;
        }
        for result in results {
            gathered.take(result);
        }
        Some(Returned {
            has_wrong_call: false,
            is_late: Instant::now() >= self.budget.late,
        })
    }

    /// What the findings leave open; nothing where the critic could not be asked.
    async fn critique(&self, direct: Option<&str>, gathered: &Gathered) -> Vec<String> {
        /// As asked for, and as some models write it all the same.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            AsAsked { questions: Vec<String> },
            List(Vec<String>),
        }

        let asked = gathered.understood.as_deref();
        let direct = direct.map(|answer| self.given(answer, gathered));
        let direct = direct.into_iter().flatten();
        let findings: Vec<Finding> = direct.chain(gathered.findings.iter().cloned()).collect();
        let prompt = self.prompts.render(&Critique {
            findings: &findings::fitting(&findings, STEP_FINDINGS_TOKENS),
            question: &lines(asked.unwrap_or(self.brief.question)),
            most: QUESTIONS_PER_ROUND,
        });
        let shape = json!({
            "type": "object",
            "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
            "required": ["questions"],
            "additionalProperties": false,
        });
        let text = self
            .small_step(ModelStep::Critique, prompt, Some(("critique", shape)))
            .await;
        match text.as_deref().and_then(structured::json_in) {
            Some(Written::AsAsked { questions } | Written::List(questions)) => {
                let questions = questions.iter().map(|question| one_line(question));
                let questions = questions.filter(|it| !it.is_empty());
                questions.take(QUESTIONS_PER_ROUND).collect()
            }
            None => Vec::new(),
        }
    }

    /// What a direct answer has to rest on, for the critic: what was said before and recalled, and the answer itself.
    fn given(&self, answer: &str, gathered: &Gathered) -> Vec<Finding> {
        let from = self.brief.window.len().saturating_sub(REPHRASE_TURNS);
        let turns = self.brief.window[from..].iter();
        let said = turns.map(|turn| Quoted::of_turn(turn, STEP_TURN_TOKENS));
        let recalled = self.memories(gathered);
        let recalled = recalled.into_iter().map(|memory| memory.quoted);
        let given = said.chain(recalled).map(|quoted| Finding {
            heading: format!("said on {} by {}", quoted.date, quoted.author),
            lines: [quoted.input, quoted.output].concat(),
        });
        let answer = Finding {
            heading: "answered without a look-up; what does not stand above is not held".to_owned(),
            lines: lines(answer),
        };
        given.chain([answer]).collect()
    }

    async fn write(&self, tokens: u32, gathered: &mut Gathered) -> Result<String, NoAnswer> {
        let ask = Ask {
            messages: self.assembled(&self.brief, tokens, gathered)?,
            ..Ask::default()
        };
        let completion = self.ask_aloud(ModelStep::Answer, ask, gathered).await?;
        gathered.incomplete = Incomplete::of(&completion);
        gathered.model = completion.model;
        Ok(completion.text)
    }

    /// An answer as it is kept. One that says no more than that passages do not hold it rests on none of them.
    fn settled(&self, text: String, gathered: &mut Gathered) -> Result<String, NoAnswer> {
        let refusal = self.refusal()?;
        if gathered.cited.is_empty() || !same_words(&text, &refusal) {
            return Ok(text);
        }
        gathered.cited.clear();
        // What is not there may come.
        gathered.is_volatile = true;
        Ok(refusal)
    }

    /// What is said where nothing was found: what a policy wants, or that there is nothing.
    fn nothing_found(&self, gathered: &mut Gathered) -> Result<String, NoAnswer> {
        // What is not there may come.
        gathered.is_volatile = true;
        let policies = self.policies.iter().chain(&gathered.policies);
        match policies.filter_map(|policy| policy.reply.clone()).next() {
            Some(reply) => Ok(reply),
            None => Ok(self.refusal()?),
        }
    }

    fn refusal(&self) -> Result<String, PromptError> {
        self.prompts.render(&Refusal {
            name: self.brief.name,
        })
    }

    /// What the triggered policies want to be kept in mind, each once.
    fn reminders(&self, gathered: &Gathered) -> Vec<String> {
        let policies = self.policies.iter().chain(&gathered.policies);
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
        gathered: &Gathered,
    ) -> Result<Vec<ChatMessage>, PromptError> {
        let refusal = if gathered.cited.is_empty() {
            String::new()
        } else {
            self.refusal()?
        };
        let brief = Brief {
            memories: &self.memories(gathered),
            refusal: &refusal,
            reminders: &self.reminders(gathered),
            findings: &gathered.findings,
            understood: gathered.understood.as_deref().unwrap_or_default(),
            ..*brief
        };
        assemble(self.prompts, &brief, tokens)
    }

    /// Asks where people can watch.
    async fn ask_aloud(
        &self,
        step: ModelStep,
        ask: Ask,
        gathered: &Gathered,
    ) -> Result<Completion, ModelError> {
        self.shown.send_modify(String::clear);
        let hosts = self.links.after(gathered);
        let mut so_far = String::new();
        let mut show = |piece: Piece| {
            self.shown.send_modify(|shown| match &hosts {
                Some(hosts) => {
                    piece.add_to(&mut so_far);
                    *shown = hosts.limit_streaming(&so_far);
                }
                None => piece.add_to(shown),
            });
        };
        self.asker.ask(step, ask, &mut show).await
    }

    /// One call whose failure the turn survives.
    async fn small_step(
        &self,
        step: ModelStep,
        prompt: Result<String, PromptError>,
        shape: Option<(&'static str, Value)>,
    ) -> Option<String> {
        let outcome: Result<Completion, NoAnswer> = async {
            let ask = Ask {
                messages: vec![ChatMessage::User(prompt?)],
                tools: Vec::new(),
                shape,
            };
            Ok(self.asker.ask(step, ask, &mut |_| {}).await?)
        }
        .await;
        match outcome {
            Ok(completion) => Some(completion.text),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    step = step.name(),
                    "a step was left out"
                );
                None
            }
        }
    }
}

/// What tools returned yields to the question before the question yields to it.
fn shortened(exchanged: &[ChatMessage], tokens: u32) -> Vec<ChatMessage> {
    let results = exchanged
        .iter()
        .filter(|message| matches!(message, ChatMessage::Tool { .. }))
        .count();
    let share = tokens / 2 / u32::try_from(results.max(1)).unwrap_or(u32::MAX);
    let shorten = |message: &ChatMessage| match message {
        ChatMessage::Tool { call_id, text } => ChatMessage::Tool {
            call_id: call_id.clone(),
            text: cut(text, share, Keep::Head).into_owned(),
        },
        ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Assistant { .. } => {
            message.clone()
        }
    };
    exchanged.iter().map(shorten).collect()
}

/// Whether two texts differ in signs and numbers at most.
fn same_words(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|it| it.is_alphabetic());
        letters.flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}

fn as_text(finding: &Finding) -> String {
    let lines = finding.lines.iter().map(|line| format!("> {line}"));
    let all: Vec<String> = std::iter::once(finding.heading.clone())
        .chain(lines)
        .collect();
    all.join("\n")
}

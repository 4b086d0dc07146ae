//! The steps of an answer: for each, what the model reads and how its reply is used.

use std::time::Instant;

use futures::future::join_all;
use muninn_platform::one_line;
use serde::Deserialize;
use serde_json::{Value, json};

use super::evidence::{Evidence, Incomplete};
use super::model_session::ModelRequest;
use super::prompt::{Brief, Memory, beyond_one_share};
use super::prompts::{Critique, Finding, PromptError, Quoted, Rephrase, Rerank, Route, lines};
use super::run::{ToolCallResults, TurnQuestion};
use super::tools::RESPOND;
use super::{Agent, NoAnswer, QUESTIONS_PER_ROUND, findings, planner, rephrased, rerank};
use crate::graph::Source;
use crate::graph::trace::ModelStep;
use crate::knowledge::search::citations;
use crate::llm::tokens::{KeptPart, cut, estimate_message, estimate_tool};
use crate::llm::{ChatMessage, Completion, ModelError, Piece, ToolCall, structured};

/// Number of the window's turns that rephrasing reads.
const REPHRASE_TURNS: usize = 4;
/// Maximum tokens that the small steps read of the findings, and of one turn.
const STEP_FINDINGS_TOKENS: u32 = 2_000;
const STEP_TURN_TOKENS: u32 = 300;

impl Agent<'_> {
    /// Makes the question stand alone. `None` if that failed, which only reduces clarity.
    pub(super) async fn rephrase(
        &self,
        question: &TurnQuestion,
        evidence: &mut Evidence,
    ) -> Option<String> {
        let from = self.brief.window.len().saturating_sub(REPHRASE_TURNS);
        let zone = self.tools.time_zone();
        let (turns, findings) = match question {
            TurnQuestion::Message(_) => (
                self.brief.window[from..]
                    .iter()
                    .map(|turn| Quoted::of_turn(turn, STEP_TURN_TOKENS, zone))
                    .collect(),
                &[][..],
            ),
            TurnQuestion::FollowUp(_) => (Vec::new(), &evidence.findings[..]),
        };
        let turns: Vec<Quoted> = turns;
        let prompt = self.prompts.render(&Rephrase {
            atomic: self.brief.is_strict && matches!(question, TurnQuestion::Message(_)),
            turns: &turns,
            findings: &findings::fitting(findings, STEP_FINDINGS_TOKENS),
            question: &lines(self.with_notes(question)),
        });
        let completion = self.small_step(ModelStep::Rephrase, prompt, None).await?;
        let asked = self.with_notes(question);
        let text = if completion.truncated || completion.withheld {
            rephrased::before_cut(&completion.text, asked)?
        } else {
            completion.text.as_str()
        };
        let rephrased = rephrased::checked(text, asked)?;
        if let TurnQuestion::Message(message) = question
            && rephrased != *message
        {
            evidence.understood = Some(rephrased.clone());
            let found = Box::pin(self.tools.recall(&rephrased)).await;
            evidence.also_recalled = found.iter().map(|it| Memory::of(it, zone)).collect();
            evidence.recalled.extend(found);
            if !rephrased::differs_much(&rephrased, message) {
                // Both forms ask the same, so their memories share one budget.
                let of_message = self.brief.memories;
                evidence.set_aside = beyond_one_share(of_message, &evidence.also_recalled);
            }
        }
        Some(rephrased)
    }

    /// The question with the notes about files, to one of which it may refer.
    fn with_notes<'q>(&'q self, question: &'q TurnQuestion) -> &'q str {
        match question {
            TurnQuestion::Message(_) => self.brief.question,
            TurnQuestion::FollowUp(text) => text,
        }
    }

    /// Sets aside recalled memories that do not help.
    pub(super) async fn rerank(&self, evidence: &mut Evidence) {
        let recalled = self.memories(evidence);
        if recalled.is_empty() || !self.effort().rephrases {
            return;
        }
        let short = |memory: &Memory| memory.quoted.shortened(STEP_TURN_TOKENS);
        let question = evidence.understood.as_deref();
        let prompt = self.prompts.render(&Rerank {
            recalled: &recalled.iter().map(short).collect::<Vec<Quoted>>(),
            question: &lines(question.unwrap_or(self.brief.question)),
        });
        let step = self.small_step(ModelStep::Rerank, prompt, Some(rerank::shape()));
        let picked = step.await;
        let picked = picked.and_then(|it| rerank::picked(&it.text, recalled.len()));
        if let Some(picked) = picked {
            let others = (0..recalled.len()).filter(|place| !picked.contains(place));
            evidence
                .set_aside
                .extend(others.map(|place| recalled[place].id));
        }
    }

    /// The recalled memories that were not set aside, oldest first.
    pub(super) fn memories(&self, evidence: &Evidence) -> Vec<Memory> {
        let mut memories = [self.brief.memories, &evidence.also_recalled].concat();
        memories.retain(|memory| !evidence.set_aside.contains(&memory.id));
        memories.sort_by(|one, other| one.quoted.date.cmp(&other.quoted.date));
        memories
    }

    pub(super) async fn route(
        &self,
        question: &TurnQuestion,
        tokens: u32,
        exchanged: &[ChatMessage],
        evidence: &mut Evidence,
    ) -> Result<Completion, NoAnswer> {
        let exchanged = shortened(exchanged, tokens);
        let spent: u32 = exchanged.iter().map(estimate_message).sum();
        let tools = self.specs();
        let spent = spent.saturating_add(tools.iter().map(estimate_tool).sum());
        let mut messages = match question {
            TurnQuestion::Message(_) => {
                let brief = Brief {
                    may_look_further: !tools.is_empty(),
                    ..self.brief
                };
                self.assembled(&brief, tokens.saturating_sub(spent), evidence)?
            }
            TurnQuestion::FollowUp(text) => {
                vec![ChatMessage::User(self.prompts.render(&Route {
                    findings: &findings::fitting(
                        &evidence.findings,
                        STEP_FINDINGS_TOKENS.min(tokens / 2),
                    ),
                    question: &lines(text),
                })?)]
            }
        };
        messages.extend(exchanged);
        let ask = ModelRequest {
            messages,
            tools,
            known_tools: self.known_tools(),
            shape: None,
        };
        let completion = match question {
            // With strict grounding nothing is shown before it is checked.
            TurnQuestion::Message(_) if !self.brief.is_strict => {
                self.ask_aloud(ModelStep::Route, ask, evidence).await?
            }
            TurnQuestion::Message(_) | TurnQuestion::FollowUp(_) => {
                self.models.ask(ModelStep::Route, ask, &mut |_| {}).await?
            }
        };
        evidence.model.clone_from(&completion.model);
        evidence.incomplete = Incomplete::of(&completion);
        Ok(completion)
    }

    /// Calls the tools concurrently and adds their results. A call beyond the limit gets a reply too, as services
    /// refuse a conversation in which a call has none.
    pub(super) async fn call(
        &self,
        calls: &[ToolCall],
        exchanged: &mut Vec<ChatMessage>,
        evidence: &mut Evidence,
    ) -> ToolCallResults {
        self.shown.send_modify(String::clear);
        let asked = match exchanged.last() {
            Some(ChatMessage::Assistant { tool_calls, .. }) => tool_calls.clone(),
            Some(ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Tool { .. })
            | None => Vec::new(),
        };
        let results = join_all(calls.iter().map(|call| Box::pin(self.tools.call(call)))).await;
        let has_wrong_call = results.iter().any(|result| result.is_wrong_call);
        // The calls made are a subset of those requested, in the same order.
        let mut called = calls.iter().zip(&results).peekable();
        for asked in asked {
            let text = match called.next_if(|(call, _)| **call == asked) {
                Some((_, result)) => as_text(&result.finding),
                None if asked.name == RESPOND => {
                    "Not called: look at what the other tools returned first.".to_owned()
                }
                None => "Not called: what it finds is shown already, or these are too many calls at once."
                    .to_owned(),
            };
            exchanged.push(ChatMessage::Tool {
                call_id: asked.id,
                text,
            });
        }
        // Text beside calls is not an answer.
        evidence.incomplete = None;
        let are_records = !results.is_empty() && results.iter().all(|it| it.shows_records);
        for result in results {
            evidence.take(result);
        }
        // Records answer a message alone, but neither what else was looked up for it nor what it still leaves open.
        evidence.shows_records =
            are_records && evidence.follow_ups.is_empty() && evidence.has_only_passages();
        ToolCallResults {
            has_wrong_call,
            is_late: Instant::now() >= self.budget.late,
        }
    }

    /// Calls tools, and keeps results that are certainly about the message.
    pub(super) async fn peek(
        &self,
        calls: &[ToolCall],
        evidence: &mut Evidence,
    ) -> Option<ToolCallResults> {
        let results = join_all(calls.iter().map(|call| Box::pin(self.tools.call(call)))).await;
        let mut found = results.iter().flat_map(|result| &result.cited);
        if !found.any(|cited| planner::is_sure(&cited.hit.scores)) {
            return None;
        }
        for result in results {
            evidence.take(result);
        }
        Some(ToolCallResults {
            has_wrong_call: false,
            is_late: Instant::now() >= self.budget.late,
        })
    }

    /// What the findings leave open; empty if the critic could not be asked.
    pub(super) async fn critique(&self, direct: Option<&str>, evidence: &Evidence) -> Vec<String> {
        /// The requested form, and one that some models use instead.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum CritiqueReply {
            AsAsked { questions: Vec<String> },
            List(Vec<String>),
        }

        let asked = evidence.understood.as_deref();
        let direct = direct.map(|answer| self.given(answer, evidence));
        let direct = direct.into_iter().flatten();
        let findings: Vec<Finding> = direct.chain(evidence.findings.iter().cloned()).collect();
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
        let completion = self
            .small_step(ModelStep::Critique, prompt, Some(("critique", shape)))
            .await;
        match completion.and_then(|it| structured::json_in(&it.text)) {
            Some(CritiqueReply::AsAsked { questions } | CritiqueReply::List(questions)) => {
                let questions = questions.iter().map(|question| one_line(question));
                let questions = questions.filter(|it| !it.is_empty());
                questions.take(QUESTIONS_PER_ROUND).collect()
            }
            None => Vec::new(),
        }
    }

    /// The grounds of a direct answer for the critic: what was said before and recalled, and the answer itself.
    fn given(&self, answer: &str, evidence: &Evidence) -> Vec<Finding> {
        let from = self.brief.window.len().saturating_sub(REPHRASE_TURNS);
        let turns = self.brief.window[from..].iter();
        let zone = self.tools.time_zone();
        let said = turns.map(|turn| Quoted::of_turn(turn, STEP_TURN_TOKENS, zone));
        let recalled = self.memories(evidence);
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

    pub(super) async fn write(
        &self,
        tokens: u32,
        evidence: &mut Evidence,
    ) -> Result<String, NoAnswer> {
        let ask = ModelRequest {
            messages: self.assembled(&self.brief, tokens, evidence)?,
            known_tools: self.known_tools(),
            ..ModelRequest::default()
        };
        let completion = self.ask_aloud(ModelStep::Answer, ask, evidence).await?;
        evidence.incomplete = Incomplete::of(&completion);
        evidence.model = completion.model;
        Ok(completion.text)
    }

    /// The names of the turn's tools, also where none are offered.
    fn known_tools(&self) -> Vec<String> {
        let tools = self.tools.specs().into_iter();
        tools.map(|tool| tool.name).collect()
    }

    /// Sends a request whose text people can watch.
    async fn ask_aloud(
        &self,
        step: ModelStep,
        ask: ModelRequest,
        evidence: &Evidence,
    ) -> Result<Completion, ModelError> {
        self.shown.send_modify(String::clear);
        let hosts = self.links.after(evidence);
        let citable = self.citable(evidence);
        let mut so_far = String::new();
        let mut show = |piece: Piece| {
            piece.add_to(&mut so_far);
            let checked = match &citable {
                Some(known) => citations::check_growing(&so_far, known),
                None => so_far.clone(),
            };
            let limited = match &hosts {
                Some(hosts) => hosts.limit_streaming(&checked),
                None => checked,
            };
            self.shown.send_replace(limited);
        };
        self.models.ask(step, ask, &mut show).await
    }

    /// The numbers that an answer may cite; `None` if numbers in brackets are a part of what it says.
    /// Whoever watches an answer grow is shown no other numbers, which are removed when it is complete.
    fn citable(&self, evidence: &Evidence) -> Option<Vec<usize>> {
        let mut window = self.brief.window.iter();
        let may_cite = evidence.has_searched || window.any(|turn| turn.source == Source::Retrieval);
        let known = evidence.cited.iter().map(|one| one.number);
        (may_cite || !evidence.cited.is_empty()).then(|| known.collect())
    }

    /// A call whose failure does not end the turn.
    async fn small_step(
        &self,
        step: ModelStep,
        prompt: Result<String, PromptError>,
        shape: Option<(&'static str, Value)>,
    ) -> Option<Completion> {
        let outcome: Result<Completion, NoAnswer> = async {
            let ask = ModelRequest {
                messages: vec![ChatMessage::User(prompt?)],
                shape,
                ..ModelRequest::default()
            };
            Ok(self.models.ask(step, ask, &mut |_| {}).await?)
        }
        .await;
        match outcome {
            Ok(completion) => Some(completion),
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

/// Shortens tool results in the prompt, before the question has to be shortened.
fn shortened(exchanged: &[ChatMessage], tokens: u32) -> Vec<ChatMessage> {
    let results = exchanged
        .iter()
        .filter(|message| matches!(message, ChatMessage::Tool { .. }))
        .count();
    let share = tokens / 2 / u32::try_from(results.max(1)).unwrap_or(u32::MAX);
    let shorten = |message: &ChatMessage| match message {
        ChatMessage::Tool { call_id, text } => ChatMessage::Tool {
            call_id: call_id.clone(),
            text: cut(text, share, KeptPart::Head).into_owned(),
        },
        ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Assistant { .. } => {
            message.clone()
        }
    };
    exchanged.iter().map(shorten).collect()
}

fn as_text(finding: &Finding) -> String {
    let lines = finding.lines.iter().map(|line| format!("> {line}"));
    let all: Vec<String> = std::iter::once(finding.heading.clone())
        .chain(lines)
        .collect();
    all.join("\n")
}

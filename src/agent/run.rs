//! Decides what to do next in one turn, without doing any of it.
//!
//! [`AgentRun`] holds the rules of the loop and never awaits. Its driver in [`super`] carries out each [`TurnStep`] and reports the
//! result, so every rule can be tested without a model or a database.
//!
//! The message is rephrased if there are earlier messages. If it may need knowledge, that is searched, and sure matches are
//! shown to the model. Then it is routed: the model answers or calls tools. After tools, a critic says what is still open; each
//! of its questions is routed too, in a limited number of rounds. Finally the answer is written from what was found.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::effort::Effort;
use super::planner::{KnowledgeNeed, need};
use super::rephrased::{asks_several, differs_much};
use super::tools::{Lookup, RESPOND, STAY_SILENT, response};
use crate::knowledge::search::plan::{QueryIntent, want};
use crate::llm::ToolCall;
use crate::retrieval::speech::{
    asks_to_forget_this, asks_what_it_does, is_small_talk, needs_no_recall,
};

/// Minimum length of a useful prompt, in tokens: the question and the bot's identity.
const LEAST_PROMPT: u32 = 100;

/// What the driver does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnStep {
    /// Make the question stand alone.
    Rephrase(TurnQuestion),
    /// Asks the model what to do about the question, with tools to call. The prompt takes at most `tokens`.
    Route { question: TurnQuestion, tokens: u32 },
    /// Call every one of these tools.
    CallTools(Vec<ToolCall>),
    /// The same, but the results count only if they are certainly about the message.
    Peek(Vec<ToolCall>),
    /// Asks the critic what the findings, or a direct answer, leave open.
    Critique { direct: Option<String> },
    /// Asks the model for the answer, from the findings. The prompt takes at most `tokens`.
    Answer { tokens: u32 },
    /// The answer is complete.
    Reply(String),
    /// The model decided that the message is not for it.
    StaySilent,
    /// The model wrote no answer within its limits.
    GiveUp,
}

/// A question that the turn is working on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnQuestion {
    /// The message, as it is understood.
    Message(String),
    /// A follow-up question of the critic.
    FollowUp(String),
}

impl TurnQuestion {
    pub fn text(&self) -> &str {
        match self {
            Self::Message(text) | Self::FollowUp(text) => text,
        }
    }

    fn with(&self, text: String) -> Self {
        match self {
            Self::Message(_) => Self::Message(text),
            Self::FollowUp(_) => Self::FollowUp(text),
        }
    }
}

/// The result of tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolCallResults {
    /// A call was wrong: an unknown tool, or arguments that it does not accept.
    pub has_wrong_call: bool,
    /// There is only time left to write the answer.
    pub is_late: bool,
}

/// The limits of a turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnLimits {
    /// Number of rounds of follow-up questions.
    pub rounds: u32,
    /// Whether questions that may refer to earlier messages are rephrased.
    pub rephrases: bool,
    /// Maximum follow-up questions in one round; more are dropped.
    pub questions_per_round: usize,
    /// Maximum tool calls in the turn; more are not made.
    pub calls: usize,
    /// Maximum tool calls that the model may request at once.
    pub calls_at_once: usize,
    /// How often the model may correct wrong calls.
    pub corrections: u32,
    /// The longest prompt.
    pub prompt_tokens: u32,
    /// How often a prompt that turned out too long is shortened.
    pub shrinks: u32,
    /// The tool that searches for the question before asking a model that calls no tools.
    pub searches_first: Option<Lookup>,
    /// The tool that searches for the question before asking a model that may call tools, as weak models call none.
    pub offers_first: Option<Lookup>,
    /// Strict grounding: nothing is answered without a look-up, except small talk and what the conversation contains.
    pub is_strict: bool,
    /// The tool that looks a question up if the model called none but had to.
    pub lookup: Option<Lookup>,
    /// Whether the model may decide that the message is not for it.
    pub may_stay_silent: bool,
}

/// One turn in progress.
#[derive(Clone, Debug)]
pub struct AgentRun {
    left: TurnLimits,
    question: TurnQuestion,
    /// The remaining follow-up questions of this round.
    waiting: VecDeque<String>,
    asked: Vec<String>,
    /// A direct answer, until the critic has seen it.
    direct: Option<String>,
    has_looked_up: bool,
    /// Whether results are shown to the model together with the question.
    is_offering: bool,
    /// The calls whose results are.
    offered: Vec<ToolCall>,
    is_answering: bool,
}

impl AgentRun {
    /// Begins with the message. `has_history` says whether there are earlier messages to which it may refer.
    pub fn start(limits: TurnLimits, message: &str, has_history: bool) -> (Self, TurnStep) {
        let question = TurnQuestion::Message(message.to_owned());
        let mut run = Self {
            left: limits,
            question: question.clone(),
            waiting: VecDeque::new(),
            asked: vec![message.to_owned()],
            direct: None,
            has_looked_up: false,
            is_offering: false,
            offered: Vec::new(),
            is_answering: false,
        };
        let is_compound = limits.is_strict && asks_several(message);
        let may_lean = has_history && !needs_no_recall(message);
        let step = if (may_lean || is_compound) && limits.rephrases {
            TurnStep::Rephrase(question)
        } else {
            run.route()
        };
        (run, step)
    }

    /// Reduces the effort from now on, because the model turned out to be slow.
    pub fn reduce_effort(&mut self, effort: Effort) {
        self.left.rounds = self.left.rounds.min(effort.rounds);
        self.left.rephrases &= effort.rephrases;
    }

    /// The question was rephrased, or could not be.
    pub fn rephrased(&mut self, question: Option<String>) -> TurnStep {
        if let Some(question) = question.filter(|question| !question.trim().is_empty()) {
            self.question = self.question.with(question);
        }
        self.asked.push(self.question.text().to_owned());
        self.route()
    }

    /// The model replied to a question, with tool calls or with text.
    pub fn routed(&mut self, text: &str, mut calls: Vec<ToolCall>) -> TurnStep {
        let is_silence = |call: &ToolCall| call.name == STAY_SILENT;
        if self.left.may_stay_silent
            && matches!(self.question, TurnQuestion::Message(_))
            && calls.iter().any(is_silence)
        {
            return TurnStep::StaySilent;
        }
        let responded = responded(&calls);
        calls.retain(|call| call.name != RESPOND);
        let requested = calls.len();
        calls.retain(|call| !self.is_offered(call));
        if calls.is_empty() && requested > 0 && responded.is_none() {
            return self.next(false);
        }
        calls.truncate(self.left.calls_at_once.min(self.left.calls));
        if !calls.is_empty() {
            self.left.calls -= calls.len();
            self.has_looked_up = true;
            return TurnStep::CallTools(calls);
        }
        match (&self.question, responded) {
            (TurnQuestion::Message(_), Some(answer)) if answer.trim().is_empty() => {
                // Its argument cannot be read, or is left out for the text beside the call.
                if text.trim().is_empty() {
                    self.answer()
                } else {
                    self.direct(text.to_owned())
                }
            }
            (TurnQuestion::Message(_), Some(answer)) => self.direct(answer),
            (TurnQuestion::Message(_), None) if self.left.is_strict && !self.has_looked_up => {
                self.ungrounded(text)
            }
            (TurnQuestion::Message(_), None) if text.trim().is_empty() => TurnStep::GiveUp,
            (TurnQuestion::Message(_), None) => TurnStep::Reply(text.to_owned()),
            // No tool can help with it.
            (TurnQuestion::FollowUp(_), _) => self.next(false),
        }
    }

    /// Whether a call for the message would find again what stands beside it. Weak models search for
    /// the question as it is, and its passages would be in the prompt twice. If records are asked for,
    /// the call is what shows them.
    fn is_offered(&self, call: &ToolCall) -> bool {
        let is_same = |offered: &ToolCall| {
            offered.name == call.name
                && arguments(&offered.arguments)
                    .is_some_and(|own| arguments(&call.arguments).is_some_and(|other| own == other))
        };
        let is_of_records = |text: &String| want(text) == QueryIntent::Records;
        matches!(self.question, TurnQuestion::Message(_))
            && self.offered.iter().any(is_same)
            && !self.asked.iter().any(is_of_records)
    }

    /// A direct answer, which the critic sees unless it is small talk.
    fn direct(&mut self, answer: String) -> TurnStep {
        if self.left.rounds == 0 || self.is_small_talk() {
            return TurnStep::Reply(answer);
        }
        self.direct = Some(answer);
        TurnStep::Critique {
            direct: self.direct.clone(),
        }
    }

    /// A text where a look-up was required: the question is looked up anyway, if anything can be.
    fn ungrounded(&mut self, text: &str) -> TurnStep {
        match self.left.lookup {
            Some(lookup) if !self.is_small_talk() && self.left.calls > 0 => {
                self.left.calls -= 1;
                self.has_looked_up = true;
                TurnStep::CallTools(vec![lookup.call(self.question.text())])
            }
            Some(_) | None if text.trim().is_empty() => TurnStep::GiveUp,
            Some(_) | None => TurnStep::Reply(text.to_owned()),
        }
    }

    /// Whether there is nothing to look up for the message. What a model may know by itself, such as who invented
    /// something, is no small talk.
    fn is_small_talk(&self) -> bool {
        let is_talk =
            |it: &String| is_small_talk(it) || asks_what_it_does(it) || asks_to_forget_this(it);
        self.asked.first().is_some_and(is_talk)
    }

    /// The requested tools have returned.
    pub fn tools_returned(&mut self, returned: ToolCallResults) -> TurnStep {
        let ToolCallResults {
            has_wrong_call,
            is_late,
        } = returned;
        if std::mem::take(&mut self.is_offering) && !is_late {
            return self.route();
        }
        if has_wrong_call && !is_late && self.left.corrections > 0 && self.left.calls > 0 {
            self.left.corrections -= 1;
            return self.route();
        }
        self.next(is_late)
    }

    /// The model was to correct wrong calls and failed: the answer is written from what there is.
    pub fn correction_failed(&mut self) -> TurnStep {
        self.answer()
    }

    /// The search results are not about the message, which is answered without them.
    pub fn peeked_in_vain(&mut self) -> TurnStep {
        self.is_offering = false;
        self.offered.clear();
        self.route()
    }

    /// The critic's questions; empty if everything is answered, or if the critic could not be asked.
    pub fn criticised(&mut self, questions: Vec<String>) -> TurnStep {
        let asked = &self.asked;
        let is_new = |question: &String| {
            !question.trim().is_empty() && !asked.iter().any(|it| it.eq_ignore_ascii_case(question))
        };
        self.waiting = questions
            .into_iter()
            .filter(is_new)
            .take(self.left.questions_per_round)
            .collect();
        self.left.rounds = self.left.rounds.saturating_sub(1);
        match self.waiting.pop_front() {
            // The critic wrote it with all findings at hand, so it needs no rephrasing.
            Some(question) => {
                // A direct answer that leaves something open is discarded.
                self.direct = None;
                self.asked.push(question.clone());
                self.question = TurnQuestion::FollowUp(question);
                self.route()
            }
            None => match self.direct.take() {
                Some(answer) => TurnStep::Reply(answer),
                None => self.answer(),
            },
        }
    }

    /// The model wrote the answer.
    pub fn answered(&mut self, text: &str) -> TurnStep {
        if text.trim().is_empty() {
            TurnStep::GiveUp
        } else {
            TurnStep::Reply(text.to_owned())
        }
    }

    /// The service reported that the prompt is too long: the estimate of tokens, or the known limit, was wrong. `room` is what
    /// may fit; tools are left out if they take most of it.
    pub fn prompt_too_long(&mut self, room: Option<u32>, tools: u32) -> TurnStep {
        let shorter = self.left.prompt_tokens / 3 * 2;
        let shorter = room.map_or(shorter, |room| room.min(shorter));
        if self.left.shrinks == 0 || shorter < LEAST_PROMPT {
            return TurnStep::GiveUp;
        }
        self.left.shrinks -= 1;
        self.left.prompt_tokens = shorter;
        if self.is_answering || tools > shorter / 2 {
            self.answer()
        } else {
            self.route()
        }
    }

    /// The step after a question was handled.
    fn next(&mut self, is_late: bool) -> TurnStep {
        if is_late || self.left.calls == 0 {
            return self.answer();
        }
        match self.waiting.pop_front() {
            // The findings of the previous one may explain what it refers to.
            Some(question) => {
                self.question = TurnQuestion::FollowUp(question);
                if self.left.rephrases {
                    TurnStep::Rephrase(self.question.clone())
                } else {
                    self.asked.push(self.question.text().to_owned());
                    self.route()
                }
            }
            None if self.left.rounds > 0 => TurnStep::Critique { direct: None },
            None => self.answer(),
        }
    }

    /// Whether the message needs knowledge, as it was written or as it is understood.
    fn need(&self) -> KnowledgeNeed {
        let need = self.asked.iter().map(|text| need(text)).max();
        match need.unwrap_or(KnowledgeNeed::Knowledge) {
            // Strictly, nothing is answered from what the model knows by itself.
            KnowledgeNeed::Nothing if self.left.is_strict && !self.is_small_talk() => {
                KnowledgeNeed::Knowledge
            }
            need => need,
        }
    }

    fn route(&mut self) -> TurnStep {
        let need = self.need();
        let lookup = self.left.searches_first.take();
        if let Some(lookup) = lookup.filter(|_| need > KnowledgeNeed::Nothing) {
            // The answer is written from what is found, and nothing else is called.
            self.left.calls = 0;
            self.has_looked_up = true;
            let calls = self.searches(lookup);
            return match need {
                KnowledgeNeed::Knowledge => TurnStep::CallTools(calls),
                KnowledgeNeed::Perhaps | KnowledgeNeed::Nothing => TurnStep::Peek(calls),
            };
        }
        let lookup = self.left.offers_first.take();
        if let Some(lookup) = lookup.filter(|_| need == KnowledgeNeed::Knowledge) {
            self.is_offering = true;
            self.offered = self.searches(lookup);
            return TurnStep::Peek(self.offered.clone());
        }
        TurnStep::Route {
            question: self.question.clone(),
            tokens: self.left.prompt_tokens,
        }
    }

    /// Calls that search for the message as it is understood, and also as it was written if that differs much.
    fn searches(&self, lookup: Lookup) -> Vec<ToolCall> {
        let question = self.question.text();
        let message = self.asked.first().map_or("", String::as_str);
        let both = [question, message];
        let queries = if differs_much(question, message) {
            &both[..]
        } else {
            &both[..1]
        };
        queries.iter().map(|query| lookup.call(query)).collect()
    }

    fn answer(&mut self) -> TurnStep {
        self.is_answering = true;
        TurnStep::Answer {
            tokens: self.left.prompt_tokens,
        }
    }
}

/// The arguments of a call, to compare: texts by their words, without what is left open. `None` if
/// they cannot be read.
fn arguments(written: &str) -> Option<BTreeMap<String, String>> {
    let mut read: BTreeMap<String, Value> = serde_json::from_str(written).ok()?;
    read.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)));
    let words = |value: &Value| match value.as_str() {
        Some(text) => {
            let lower = text.to_lowercase();
            let words = lower.split(|c: char| !c.is_alphanumeric());
            words
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        }
        None => value.to_string(),
    };
    let named = read
        .iter()
        .map(|(name, value)| (name.clone(), words(value)));
    Some(named.collect())
}

/// The model's direct answer, if it called the tool for that; empty if its call cannot be read.
fn responded(calls: &[ToolCall]) -> Option<String> {
    let call = calls.iter().find(|call| call.name == RESPOND)?;
    Some(response(&call.arguments).unwrap_or_default())
}

#[cfg(test)]
mod tests;

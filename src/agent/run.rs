//! What to do next in one turn, decided without doing any of it.
//!
//! [`Run`] holds the rules of the loop and never awaits. Its driver in [`super`] does what each
//! [`Step`] says and reports back, so every rule here is tested without a model or a database.
//!
//! The message is rephrased where something stands before it, and routed: the model answers, or calls tools.
//! After tools a critic says what is still open; each of its questions is routed as well, in a bounded number of
//! rounds. Then the answer is written from what was found.

use std::collections::VecDeque;

use serde_json::json;

use super::effort::Effort;
use super::rephrased::differs_much;
use super::tools::{SEARCH_KNOWLEDGE, STAY_SILENT};
use crate::llm::ToolCall;

/// The shortest prompt that is worth sending, in tokens: the question and who the bot is.
const LEAST_PROMPT: u32 = 100;

/// What the driver does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make the question one that can be understood alone.
    Rephrase(Question),
    /// Ask the model what to do about the question, with tools to call. The prompt takes at most `tokens`.
    Route { question: Question, tokens: u32 },
    /// Call every one of these tools.
    CallTools(Vec<ToolCall>),
    /// Ask the critic what the findings leave open.
    Critique,
    /// Ask the model for the answer, from the findings. The prompt takes at most `tokens`.
    Answer { tokens: u32 },
    /// The answer is there.
    Reply(String),
    /// The model finds that the message is not for it.
    StaySilent,
    /// The model wrote none within its limits.
    GiveUp,
}

/// A question on its way through the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The message, as it is understood.
    Message(String),
    /// One of the critic's.
    FollowUp(String),
}

impl Question {
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

/// How tool calls went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// A call was wrong: no such tool, or arguments it does not take.
    pub has_wrong_call: bool,
    /// There is just time enough to write the answer.
    pub is_late: bool,
}

/// How far a turn may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often follow-up questions are asked.
    pub rounds: u32,
    /// Questions that may refer to something before them are rephrased.
    pub rephrases: bool,
    /// Follow-up questions in one round; more are left out.
    pub questions_per_round: usize,
    /// Tool calls in the turn; more are not made.
    pub calls: usize,
    /// Tool calls the model may ask for at once.
    pub calls_at_once: usize,
    /// How often the model may correct wrong calls.
    pub corrections: u32,
    /// The longest prompt.
    pub prompt_tokens: u32,
    /// How often a prompt that turned out too long is made shorter.
    pub shrinks: u32,
    /// The question is searched for before the model is asked, which calls no tools.
    pub searches_first: bool,
    /// The model may find that the message is not for it.
    pub may_stay_silent: bool,
}

/// One turn in progress.
#[derive(Clone, Debug)]
pub struct Run {
    left: Limits,
    question: Question,
    /// The follow-up questions of this round still to be asked.
    waiting: VecDeque<String>,
    asked: Vec<String>,
    is_answering: bool,
}

impl Run {
    /// Begins with the message; `has_history` says that something stands before it that it may refer to.
    pub fn start(limits: Limits, message: &str, has_history: bool) -> (Self, Step) {
        let question = Question::Message(message.to_owned());
        let mut run = Self {
            left: limits,
            question: question.clone(),
            waiting: VecDeque::new(),
            asked: vec![message.to_owned()],
            is_answering: false,
        };
        let step = if has_history && limits.rephrases {
            Step::Rephrase(question)
        } else {
            run.route()
        };
        (run, step)
    }

    /// The model turned out slow: from now on no more than that is done.
    pub fn spare(&mut self, effort: Effort) {
        self.left.rounds = self.left.rounds.min(effort.rounds);
        self.left.rephrases &= effort.rephrases;
    }

    /// The question was rephrased, or could not be.
    pub fn rephrased(&mut self, question: Option<String>) -> Step {
        if let Some(question) = question.filter(|question| !question.trim().is_empty()) {
            self.question = self.question.with(question);
        }
        self.asked.push(self.question.text().to_owned());
        self.route()
    }

    /// The model answered a question: with tool calls, or with text.
    pub fn routed(&mut self, text: &str, mut calls: Vec<ToolCall>) -> Step {
        let is_silence = |call: &ToolCall| call.name == STAY_SILENT;
        if self.left.may_stay_silent
            && matches!(self.question, Question::Message(_))
            && calls.iter().any(is_silence)
        {
            return Step::StaySilent;
        }
        calls.truncate(self.left.calls_at_once.min(self.left.calls));
        if !calls.is_empty() {
            self.left.calls -= calls.len();
            return Step::CallTools(calls);
        }
        match self.question {
            Question::Message(_) if text.trim().is_empty() => Step::GiveUp,
            Question::Message(_) => Step::Reply(text.to_owned()),
            // No tool can help with it.
            Question::FollowUp(_) => self.next(false),
        }
    }

    /// The tools the model asked for have returned.
    pub fn tools_returned(&mut self, returned: Returned) -> Step {
        let Returned {
            has_wrong_call,
            is_late,
        } = returned;
        if has_wrong_call && !is_late && self.left.corrections > 0 && self.left.calls > 0 {
            self.left.corrections -= 1;
            return self.route();
        }
        self.next(is_late)
    }

    /// The critic's questions; none where all is answered, or where it could not be asked.
    pub fn criticised(&mut self, questions: Vec<String>) -> Step {
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
            // The critic wrote it with all findings before it: it needs no rephrasing.
            Some(question) => {
                self.asked.push(question.clone());
                self.question = Question::FollowUp(question);
                self.route()
            }
            None => self.answer(),
        }
    }

    /// The model wrote the answer.
    pub fn answered(&mut self, text: &str) -> Step {
        if text.trim().is_empty() {
            Step::GiveUp
        } else {
            Step::Reply(text.to_owned())
        }
    }

    /// The service said that the prompt is longer than its model reads: our estimate of tokens, or
    /// the limit we were told, was wrong. `room` is what may fit; tools are left out where they take most of it.
    pub fn prompt_too_long(&mut self, room: Option<u32>, tools: u32) -> Step {
        let shorter = self.left.prompt_tokens / 3 * 2;
        let shorter = room.map_or(shorter, |room| room.min(shorter));
        if self.left.shrinks == 0 || shorter < LEAST_PROMPT {
            return Step::GiveUp;
        }
        self.left.shrinks -= 1;
        self.left.prompt_tokens = shorter;
        if self.is_answering || tools > shorter / 2 {
            self.answer()
        } else {
            self.route()
        }
    }

    /// What comes after a question was dealt with.
    fn next(&mut self, is_late: bool) -> Step {
        if is_late || self.left.calls == 0 {
            return self.answer();
        }
        match self.waiting.pop_front() {
            // The findings of the one before it may have told what it asks about.
            Some(question) => {
                self.question = Question::FollowUp(question);
                if self.left.rephrases {
                    Step::Rephrase(self.question.clone())
                } else {
                    self.asked.push(self.question.text().to_owned());
                    self.route()
                }
            }
            None if self.left.rounds > 0 => Step::Critique,
            None => self.answer(),
        }
    }

    fn route(&mut self) -> Step {
        if std::mem::take(&mut self.left.searches_first) {
            // What is found is answered from, and nothing else is called.
            self.left.calls = 0;
            let question = self.question.text();
            let message = self.asked.first().map_or("", String::as_str);
            let both = [question, message];
            let queries = if differs_much(question, message) {
                &both[..]
            } else {
                &both[..1]
            };
            let search = |query: &&str| ToolCall {
                id: format!("search {query}"),
                name: SEARCH_KNOWLEDGE.to_owned(),
                arguments: json!({"query": query}).to_string(),
            };
            return Step::CallTools(queries.iter().map(search).collect());
        }
        Step::Route {
            question: self.question.clone(),
            tokens: self.left.prompt_tokens,
        }
    }

    fn answer(&mut self) -> Step {
        self.is_answering = true;
        Step::Answer {
            tokens: self.left.prompt_tokens,
        }
    }
}

#[cfg(test)]
mod tests;

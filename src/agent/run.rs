//! What to do next in one turn, decided without doing any of it.
//!
//! [`Run`] holds the rules of the loop and never awaits. Its driver in [`super`] does what each
//! [`Step`] says and reports back, so every rule here is tested without a model or a database.

use crate::llm::ToolCall;

/// What the driver does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask the model, with a prompt of at most `tokens`, with or without tools to call.
    AskModel { tools: bool, tokens: u32 },
    /// Call every tool the model asked for.
    CallTools(Vec<ToolCall>),
    /// The answer is there.
    Reply(String),
    /// The model wrote none within its limits.
    GiveUp,
}

/// How far a turn may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often the model may call tools.
    pub tool_rounds: u32,
    /// Calls it may ask for in one round; more are not made.
    pub calls_per_round: usize,
    /// The longest prompt.
    pub prompt_tokens: u32,
    /// How often a prompt that turned out too long is halved.
    pub shrinks: u32,
}

/// One turn in progress.
#[derive(Clone, Debug)]
pub struct Run {
    left: Limits,
}

impl Run {
    pub fn start(limits: Limits) -> (Self, Step) {
        let run = Self { left: limits };
        let step = run.ask();
        (run, step)
    }

    /// The model answered: with tool calls, or with text.
    pub fn answered(&mut self, text: &str, mut calls: Vec<ToolCall>) -> Step {
        if !calls.is_empty() && self.left.tool_rounds > 0 {
            self.left.tool_rounds -= 1;
            calls.truncate(self.left.calls_per_round);
            return Step::CallTools(calls);
        }
        // Calls it was not offered are passed over: it was told, so asking again would not help.
        if text.trim().is_empty() {
            Step::GiveUp
        } else {
            Step::Reply(text.to_owned())
        }
    }

    /// The tools the model asked for have returned.
    pub fn tools_returned(&self) -> Step {
        self.ask()
    }

    /// The service said that the prompt is longer than its model reads: our estimate of tokens, or
    /// the limit we were told, was wrong.
    pub fn prompt_too_long(&mut self) -> Step {
        if self.left.shrinks == 0 {
            return Step::GiveUp;
        }
        self.left.shrinks -= 1;
        self.left.prompt_tokens /= 2;
        self.ask()
    }

    fn ask(&self) -> Step {
        Step::AskModel {
            tools: self.left.tool_rounds > 0,
            tokens: self.left.prompt_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits() -> Limits {
        Limits {
            tool_rounds: 2,
            calls_per_round: 2,
            prompt_tokens: 800,
            shrinks: 2,
        }
    }

    fn calls(n: usize) -> Vec<ToolCall> {
        (0..n)
            .map(|n| ToolCall {
                id: n.to_string(),
                name: "search_memory".to_owned(),
                arguments: "{}".to_owned(),
            })
            .collect()
    }

    #[test]
    fn text_is_the_answer() {
        let (mut run, step) = Run::start(limits());
        assert_eq!(
            step,
            Step::AskModel {
                tools: true,
                tokens: 800
            }
        );
        assert_eq!(
            run.answered("Miso.", vec![]),
            Step::Reply("Miso.".to_owned())
        );
    }

    #[test]
    fn tools_are_called_within_the_rounds_and_no_longer_offered_after_them() {
        let (mut run, _) = Run::start(limits());
        assert_eq!(run.answered("", calls(1)), Step::CallTools(calls(1)));
        assert_eq!(
            run.tools_returned(),
            Step::AskModel {
                tools: true,
                tokens: 800
            }
        );
        assert_eq!(run.answered("", calls(5)), Step::CallTools(calls(2)));
        assert_eq!(
            run.tools_returned(),
            Step::AskModel {
                tools: false,
                tokens: 800
            }
        );
        assert_eq!(run.answered("", calls(1)), Step::GiveUp);
        assert_eq!(
            run.answered("Well.", calls(1)),
            Step::Reply("Well.".to_owned())
        );
    }

    #[test]
    fn a_prompt_too_long_is_halved_twice() {
        let (mut run, _) = Run::start(limits());
        let asked = |tokens| Step::AskModel {
            tools: true,
            tokens,
        };
        assert_eq!(run.prompt_too_long(), asked(400));
        assert_eq!(run.prompt_too_long(), asked(200));
        assert_eq!(run.prompt_too_long(), Step::GiveUp);
    }

    #[test]
    fn blank_text_is_no_answer() {
        let (mut run, _) = Run::start(limits());
        assert_eq!(run.answered(" \n", vec![]), Step::GiveUp);
    }

    proptest! {
        #[test]
        fn every_turn_ends_within_its_limits(
            tool_rounds in 0..6u32,
            shrinks in 0..4u32,
            script in prop::collection::vec(0..3u8, 1..20),
        ) {
            let (mut run, mut step) = Run::start(Limits { tool_rounds, shrinks, ..limits() });
            let mut script = script.into_iter().cycle();
            let mut asked = 0;
            loop {
                step = match step {
                    Step::AskModel { .. } => {
                        asked += 1;
                        prop_assert!(asked <= 1 + tool_rounds + shrinks);
                        match script.next() {
                            Some(0) => run.prompt_too_long(),
                            Some(1) => run.answered("", calls(3)),
                            _ => run.answered("Hello.", vec![]),
                        }
                    }
                    Step::CallTools(_) => run.tools_returned(),
                    Step::Reply(_) | Step::GiveUp => break,
                };
            }
        }
    }
}

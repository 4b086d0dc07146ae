//! From a brief to an answer: the loop of model and tools.
//!
//! What to do next is decided by [`run`], what the model reads by [`prompt`]; this only does it.
//! Knows nothing of platforms or of how turns are kept.

pub mod prompt;
pub mod run;
pub mod tools;

use std::time::Instant;

use tokio::sync::watch;

use crate::llm::tokens::{Keep, cut, estimate_message};
use crate::llm::{
    ChatMessage, ChatModel, ChatRequest, Completion, ModelError, Purpose, ToolCall, Usage,
};
use crate::prompts::{PromptError, Prompts};
use prompt::{Brief, assemble};
use run::{Limits, Run, Step};
use tools::Tools;

/// Rounds of tool calls in a turn.
const TOOL_ROUNDS: u32 = 2;
/// Calls in one round.
const CALLS_PER_ROUND: usize = 4;
/// A result of a tool takes at most this part of the prompt: with every round used, they take half.
const TOOL_SHARE: u32 = 2 * TOOL_ROUNDS * CALLS_PER_ROUND as u32;
/// How often a prompt that turned out too long is halved.
const SHRINKS: u32 = 2;

/// What the model made of a brief.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// As the service names it.
    pub model: String,
    /// Of all calls together.
    pub usage: Usage,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the model wrote no answer within its limits")]
    Nothing,
}

/// How much an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Tokens of prompt and answer together.
    pub context: u32,
    /// Tokens of the answer.
    pub answer: u32,
}

/// Answers the brief, showing the text as it grows in `shown`.
///
/// # Errors
/// When the model failed or wrote nothing; `shown` then has what it wrote until then.
pub async fn answer(
    model: &ChatModel,
    prompts: &Prompts,
    brief: &Brief<'_>,
    person: &str,
    budget: Budget,
    tools: &mut Tools<'_>,
    shown: &watch::Sender<String>,
) -> Result<Answer, NoAnswer> {
    let mut answer = Answer::default();
    let mut exchanged = Vec::new();
    let (mut run, mut step) = Run::start(Limits {
        tool_rounds: TOOL_ROUNDS,
        calls_per_round: CALLS_PER_ROUND,
        prompt_tokens: budget.context - budget.answer,
        shrinks: SHRINKS,
    });
    loop {
        step = match step {
            Step::AskModel {
                tools: offered,
                tokens,
            } => {
                let request = ChatRequest {
                    messages: messages(prompts, brief, tokens, &exchanged)?,
                    tools: if offered { Tools::specs() } else { Vec::new() },
                    max_tokens: budget.answer,
                    purpose: Purpose::Answer,
                    person: person.to_owned(),
                };
                match ask(model, &request, shown).await {
                    Ok(Completion {
                        text,
                        tool_calls,
                        model,
                        usage,
                        truncated: _,
                    }) => {
                        answer.usage += usage;
                        answer.model = model;
                        exchanged.push(ChatMessage::Assistant {
                            text: text.clone(),
                            tool_calls: tool_calls.clone(),
                        });
                        run.answered(&text, tool_calls)
                    }
                    Err(ModelError::ContextTooLong) => run.prompt_too_long(),
                    Err(error) => return Err(error.into()),
                }
            }
            Step::CallTools(calls) => {
                call(&calls, tools, &mut exchanged).await;
                run.tools_returned()
            }
            Step::Reply(text) => return Ok(Answer { text, ..answer }),
            Step::GiveUp => return Err(NoAnswer::Nothing),
        };
    }
}

/// The prompt, followed by what model and tools exchanged since, within `tokens`.
fn messages(
    prompts: &Prompts,
    brief: &Brief<'_>,
    tokens: u32,
    exchanged: &[ChatMessage],
) -> Result<Vec<ChatMessage>, PromptError> {
    let exchanged: Vec<ChatMessage> = exchanged
        .iter()
        .map(|message| match message {
            // What tools found yields to the question before the question yields to it.
            ChatMessage::Tool { call_id, text } => ChatMessage::Tool {
                call_id: call_id.clone(),
                text: cut(text, tokens / TOOL_SHARE, Keep::Head).into_owned(),
            },
            ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Assistant { .. } => {
                message.clone()
            }
        })
        .collect();
    let spent: u32 = exchanged.iter().map(estimate_message).sum();
    let mut messages = assemble(prompts, brief, tokens.saturating_sub(spent))?;
    messages.extend(exchanged);
    Ok(messages)
}

async fn ask(
    model: &ChatModel,
    request: &ChatRequest,
    shown: &watch::Sender<String>,
) -> Result<Completion, ModelError> {
    shown.send_modify(String::clear);
    let began = Instant::now();
    let completed = model
        .complete(request, &mut |text| {
            shown.send_modify(|shown| shown.push_str(text))
        })
        .await;
    metrics::histogram!("muninn_model_seconds").record(began.elapsed().as_secs_f64());
    completed
}

/// Calls the tools and adds the results. A call beyond the limit gets an answer too: services
/// refuse a conversation in which a call has none.
async fn call(calls: &[ToolCall], tools: &mut Tools<'_>, exchanged: &mut Vec<ChatMessage>) {
    let asked = match exchanged.last() {
        Some(ChatMessage::Assistant { tool_calls, .. }) => tool_calls.clone(),
        Some(ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Tool { .. }) | None => {
            Vec::new()
        }
    };
    for (index, asked) in asked.into_iter().enumerate() {
        let text = if index < calls.len() {
            tools.call(&asked).await
        } else {
            "Not called: too many calls at once.".to_owned()
        };
        exchanged.push(ChatMessage::Tool {
            call_id: asked.id,
            text,
        });
    }
}

//! `muninn ask`: asks one question, for people in a hurry and for scripts.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use muninn::conversation::ledger::Ledger;
use muninn::graph::{Explanation, GraphStore, Source, StoreError};
use muninn::wiring::{App, wire};
use muninn_platform::{
    Attachment, Body, Command, Delivered, DownloadError, EventId, Inbox, Incoming, IncomingMessage,
    PlatformError, PrivateFallback, Reply, SafeText, TextLimit,
};
use muninn_terminal::{Session, os_user};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::args::ask::AskArgs;
use super::context::Context;
use super::exit::Exit;

/// Maximum bytes read from stdin; `ATTACHMENT_BYTES` may be lower.
const MOST_INPUT: usize = 5 * 1024 * 1024;

impl AskArgs {
    /// Adds what only this process knows: the user, and stdin unless it is a terminal.
    ///
    /// # Errors
    /// Fails when stdin cannot be read, or is too large.
    pub(super) fn complete(self) -> anyhow::Result<Self> {
        let stdin = io::stdin();
        let mut input = Vec::new();
        if !stdin.is_terminal() {
            let mut bounded = stdin.lock().take(MOST_INPUT as u64 + 1);
            bounded
                .read_to_end(&mut input)
                .context("cannot read stdin")?;
        }
        if input.len() > MOST_INPUT {
            bail!(
                "stdin has more than {MOST_INPUT} bytes; give me the part that matters, as with `tail`"
            );
        }
        Ok(Self {
            person: os_user(),
            input: (!input.trim_ascii().is_empty()).then(|| BASE64_STANDARD.encode(&input)),
            ..self
        })
    }
}

/// Asks, prints the answer, and fails without one.
pub(super) async fn run(at: &Context, args: AskArgs) -> anyhow::Result<Exit> {
    let name = match &args.session {
        Some(session) => session.clone(),
        None => format!("ask-{}", Uuid::now_v7()),
    };
    let session = Session::new(&name, &args.person)?;
    let input = args
        .input
        .as_ref()
        .map(|input| BASE64_STANDARD.decode(input));
    let question = CommandLineQuestion {
        message: session.message(Body::Text(args.question.clone())),
        input: input.transpose().context("what came on stdin is damaged")?,
    };
    let limit = at.config.attachments.bytes;
    if question
        .input
        .as_ref()
        .is_some_and(|input| input.len() > limit)
    {
        bail!(
            "stdin has more than {limit} bytes (ATTACHMENT_BYTES); give me the part that matters, as with `tail`"
        );
    }
    let (answered, ended) = match &at.running {
        Some(running) => {
            let answered = answered_by(&running.inbox, &running.store, question);
            (answered.await, Ok(()))
        }
        None => answered_here(at, question).await?,
    };
    let ExplainedAnswer { text, explained } = answered?;
    let said = if args.json {
        let value = as_json(&args.question, &text, explained.as_ref());
        at.out.say_json(&value).await
    } else {
        at.out.say(&text).await
    };
    // Whoever asked has the answer, even if the disk is full.
    ended?;
    said
}

/// Answers with a bot of its own, which serves nothing else. Returns also how the graph was closed.
async fn answered_here(
    at: &Context,
    question: CommandLineQuestion,
) -> anyhow::Result<(anyhow::Result<ExplainedAnswer>, Result<(), StoreError>)> {
    let mut config = at.config.clone();
    config.admission.messages_per_minute = u32::MAX;
    let App { bot, store, .. } = wire(&config, Ledger::disabled()).await?;
    let (inbox, received) = Inbox::new(config.admission.inbox_size);
    let serving = tokio::spawn(bot.run(received, CancellationToken::new()));
    let answered = answered_by(&inbox, &store, question).await;
    drop(inbox);
    serving.await?;
    Ok((answered, store.close().await))
}

/// A question, with the content of stdin.
struct CommandLineQuestion {
    message: IncomingMessage,
    input: Option<Vec<u8>>,
}

/// An answer, and what it was made from, as far as the graph tells.
struct ExplainedAnswer {
    text: String,
    explained: Option<Explanation>,
}

async fn answered_by(
    inbox: &Inbox,
    store: &GraphStore,
    question: CommandLineQuestion,
) -> anyhow::Result<ExplainedAnswer> {
    let CommandLineQuestion { mut message, input } = question;
    if let Some(input) = &input {
        message.attachments.push(Attachment {
            id: "stdin".to_owned(),
            name: "stdin".to_owned(),
            media_type: String::new(),
            size: Some(input.len() as u64),
        });
    }
    // With a file, it is a message like any other.
    let is_command = message.attachments.is_empty()
        && matches!(&message.body, Body::Text(text) if Command::parse_sentence(text).is_some());
    let (event, conversation) = (message.event.clone(), message.conversation.clone());
    let (done, said) = oneshot::channel();
    let reply = Box::new(AskReply {
        input: input.unwrap_or_default(),
        done: Some(done),
    });
    let delivered = inbox.deliver(Incoming::Message { message, reply }).await;
    delivered.context("muninn is ending; ask again when it is back")?;
    // The caller may disconnect, which drops this future.
    let mut stop = StopAtEnd(Some((inbox.clone(), event.clone())));
    let said = said.await.context("no answer came; please ask again")?;
    stop.0 = None;
    let text = match said {
        AskOutcome::Answer(text) => text,
        AskOutcome::Notice(text) => bail!("{text}"),
    };
    match store.explain(&conversation, None).await {
        Ok(Some(explained)) if explained.turn.event == event.as_str() => Ok(ExplainedAnswer {
            text,
            explained: Some(explained),
        }),
        // What was done, as "remember that …" asks for, is told without a turn.
        Ok(_) if is_command => Ok(ExplainedAnswer {
            text,
            explained: None,
        }),
        // Another reply without a turn says why there is no answer.
        Ok(_) => bail!("{text}"),
        // It is in the journal, and the answer says so.
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(
                error,
                "the graph does not tell what the answer was made from"
            );
            Ok(ExplainedAnswer {
                text,
                explained: None,
            })
        }
    }
}

/// Stops the turn when the caller is gone.
struct StopAtEnd(Option<(Inbox, EventId)>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        if let Some((inbox, event)) = self.0.take() {
            // A busy bot then answers to nobody.
            let _ = inbox.offer(Incoming::GivenUp(event));
        }
    }
}

enum AskOutcome {
    Answer(String),
    /// A sentence that says why there is no answer.
    Notice(String),
}

struct AskReply {
    input: Vec<u8>,
    done: Option<oneshot::Sender<AskOutcome>>,
}

impl AskReply {
    fn tell(&mut self, parts: &[SafeText], said: impl Fn(String) -> AskOutcome) {
        let parts: Vec<String> = parts.iter().map(SafeText::unescaped).collect();
        if let Some(done) = self.done.take() {
            // The caller may be gone.
            let _ = done.send(said(parts.join("\n").trim_end().to_owned()));
        }
    }
}

#[async_trait]
impl Reply for AskReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        self.tell(parts, AskOutcome::Answer);
        Ok(Delivered::default())
    }

    async fn finish_for_asker(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        self.tell(parts, AskOutcome::Notice);
        Ok(Delivered::default())
    }

    async fn finish_privately(
        &mut self,
        parts: &[SafeText],
        _: PrivateFallback,
    ) -> Result<Delivered, PlatformError> {
        // Nobody else is here.
        self.finish(parts).await
    }

    async fn download(&mut self, _: &Attachment, _: usize) -> Result<Vec<u8>, DownloadError> {
        Ok(std::mem::take(&mut self.input))
    }
}

fn as_json(question: &str, answer: &str, explained: Option<&Explanation>) -> Value {
    let turn = explained.map(|it| &it.turn);
    let written_by = turn.map(|turn| match turn.source {
        Source::Model => "model",
        Source::Knowledge => "knowledge",
        Source::Retrieval => "documents",
        Source::Memory => "memory",
        Source::Message => "people",
        Source::Note => "note",
    });
    let recalled = explained.into_iter().flat_map(|it| &it.recalled);
    let recalled = recalled.map(|(score, turn)| {
        json!({
            "score": score,
            "at": turn.created_at,
            "author": turn.author_name,
            "question": turn.input,
        })
    });
    let sources = explained.into_iter().flat_map(|it| &it.context);
    let sources = sources.map(|node| json!({"labels": node.labels, "properties": node.properties}));
    json!({
        "question": question,
        "answer": answer,
        "conversation": turn.map(|turn| turn.session.as_str()),
        "written_by": written_by,
        "model": turn.and_then(|turn| turn.model.as_deref()),
        "cypher": turn.and_then(|turn| turn.cypher.as_deref()),
        "seconds": turn.map(|turn| f64::from(turn.duration_ms) / 1_000.0),
        "tokens_read": turn.map(|turn| turn.prompt_tokens),
        "tokens_written": turn.map(|turn| turn.completion_tokens),
        "recalled": recalled.collect::<Vec<_>>(),
        "sources": sources.collect::<Vec<_>>(),
    })
}

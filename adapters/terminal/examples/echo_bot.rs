//! A bot without memory, to try the terminal and for its tests.
//!
//! `echo_bot [--socket PATH] [--history PATH]`; `slow` is answered until it is stopped, `drop` never.

use std::process::ExitCode;
use std::time::Duration;

use muninn_platform::{Arrivals, Body, Inbox, Incoming, Platform, Reply, SafeText};
use muninn_terminal::{Session, SocketOptions, Terminal, TerminalOptions, TerminalSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut socket, mut history) = (None, None);
    while let (Some(name), value) = (arguments.next(), arguments.next()) {
        match name.as_str() {
            "--socket" => socket = value,
            "--history" => history = value,
            other => return fail(&format!("what is {other}?")),
        }
    }
    let session = match Session::new("echo", "ann") {
        Ok(session) => session,
        Err(error) => return fail(&error.to_string()),
    };
    let platform: Box<dyn Platform> = match socket {
        Some(path) => match TerminalSocket::bind(SocketOptions::new(path.into(), session)) {
            Ok(socket) => Box::new(socket),
            Err(error) => return fail(&error.to_string()),
        },
        None => Box::new(Terminal::new(TerminalOptions {
            greeting: "Echo repeats what you say.".to_owned(),
            history: history.map(Into::into),
            ..TerminalOptions::new(session)
        })),
    };
    run(platform.as_ref()).await
}

async fn run(platform: &dyn Platform) -> ExitCode {
    let (inbox, receiver) = Inbox::new(8);
    tokio::spawn(bot(receiver));
    let shutdown = CancellationToken::new();
    let Ok(mut terminations) = signal(SignalKind::terminate()) else {
        return fail("no signals");
    };
    let end = shutdown.clone();
    tokio::spawn(async move {
        terminations.recv().await;
        end.cancel();
    });
    match platform.run(inbox, shutdown).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

#[expect(clippy::print_stderr, reason = "an example")]
fn fail(sentence: &str) -> ExitCode {
    eprintln!("echo_bot: {sentence}");
    ExitCode::FAILURE
}

async fn bot(mut inbox: Arrivals) {
    let mut slow: Vec<Box<dyn Reply>> = Vec::new();
    while let Some(arrival) = inbox.recv().await {
        match arrival.accept() {
            Incoming::Feedback { .. }
            | Incoming::Sessions { .. }
            | Incoming::Conversations { .. }
            | Incoming::Kept { .. }
            | Incoming::Overheard(_)
            | Incoming::GivenUp(_)
            | Incoming::Connected { .. } => {}
            Incoming::Stop(_) => {
                for reply in &mut slow {
                    deliver(reply.as_mut(), "so far so stopped").await;
                }
                slow.clear();
            }
            Incoming::Message { message, mut reply } => match message.body {
                Body::Text(text) if text == "drop" => {}
                Body::Text(text) if text == "slow" => {
                    reply.show_typing().await;
                    reply.update(&SafeText::new("so far")).await;
                    slow.push(reply);
                }
                Body::Text(text) => {
                    tokio::spawn(async move { echo(reply.as_mut(), &text).await });
                }
                Body::Command(command) => deliver(reply.as_mut(), &format!("{command:?}")).await,
                // Messages in a terminal cannot be changed.
                Body::Edit { .. } | Body::Deletion { .. } => {}
            },
        }
    }
}

async fn echo(reply: &mut dyn Reply, text: &str) {
    reply.show_typing().await;
    let answer = format!("echo: {text}");
    let is_shown = reply.pace().update_every < Duration::from_secs(1);
    for (end, _) in answer.match_indices(' ').filter(|_| is_shown) {
        reply.update(&SafeText::streaming(&answer[..end])).await;
        tokio::time::sleep(reply.pace().update_every).await;
    }
    deliver(reply, &answer).await;
}

async fn deliver(reply: &mut dyn Reply, text: &str) {
    // Nobody needs the error.
    let _ = reply
        .finish(&SafeText::new(text).split(reply.limit()))
        .await;
}

//! `muninn chat`, and the socket that lets other terminals in.

use std::sync::Arc;

use muninn::config::Config;
use muninn::conversation::ledger::Ledger;
use muninn::wiring::{Wired, wire};
use muninn_platform::{Inbox, Platform};
use muninn_terminal::{Options, Session, SocketOptions, Terminal, TerminalSocket, os_user};
use tokio::signal::unix::SignalKind;
use tokio_util::sync::CancellationToken;

use super::admin;
use super::context::Running;
use super::output::Exit;
use super::serve::on_signal;

/// Talks in this terminal until it is left.
pub(super) async fn run(config: &Config, session: &str) -> anyhow::Result<Exit> {
    let terminal = Terminal::new(Options {
        history: Some(config.data_dir.join("terminal-history")),
        greeting: greeting(config),
        ..Options::new(Session::new(session, &os_user())?)
    });
    if !Terminal::is_interactive() && config.model.is_none() {
        warn(&without_model(config));
    }
    // Who sits here owns the machine, and a script may be as fast as it likes.
    let mut config = config.clone();
    config.admission.messages_per_minute = u32::MAX;
    let config = &config;
    let Wired {
        bot,
        store,
        archive: _,
        recaller,
        searcher,
    } = wire(config, Ledger::nowhere()).await?;
    let (inbox, received) = Inbox::new(config.admission.inbox_size);
    // Ctrl-C belongs to the conversation: it stops a turn.
    let shutdown = on_signal(&[SignalKind::terminate(), SignalKind::hangup()])?;
    let serving = tokio::spawn(bot.run(received, CancellationToken::new()));
    let admin = admin::listen(Running {
        config: config.clone(),
        store: Arc::clone(&store),
        recaller,
        searcher,
    });
    let ending = CancellationToken::new();
    let commands = admin.map(|admin| tokio::spawn(admin.run(ending.clone())));
    let talked = terminal.run(inbox, shutdown).await;
    serving.await?;
    ending.cancel();
    if let Some(commands) = commands {
        commands.await?;
    }
    store.close().await?;
    talked?;
    Ok(Exit::SUCCESS)
}

/// The socket, where one is configured.
pub(super) fn socket(config: &Config) -> anyhow::Result<Option<Box<dyn Platform>>> {
    let Some(path) = &config.terminal_socket else {
        return Ok(None);
    };
    let session = Session::new("default", &os_user())?;
    let socket = TerminalSocket::bind(SocketOptions::new(path.clone(), session))?;
    Ok(Some(Box::new(socket)))
}

fn greeting(config: &Config) -> String {
    match &config.model {
        Some(model) => {
            let models = std::iter::once(model).chain(&config.fallbacks);
            let models: Vec<&str> = models.map(|it| it.chat_model.as_str()).collect();
            format!(
                "{} with {}. /help shows what you can ask, Ctrl-D leaves.",
                config.turn.bot_name,
                models.join(", else ")
            )
        }
        None => without_model(config),
    }
}

fn without_model(config: &Config) -> String {
    format!(
        "{} answers from memory alone: set OPENAI_API_KEY, or OPENAI_BASE_URL for a service such \
         as Ollama, to give it a model.",
        config.turn.bot_name
    )
}

#[expect(
    clippy::print_stderr,
    reason = "answers alone go to the output of a script"
)]
fn warn(text: &str) {
    eprintln!("muninn: {text}");
}

//! `muninn chat`, and the socket that lets other terminals in.

use anyhow::anyhow;
use muninn::config::Config;
use muninn_platform::{AudienceId, Inbox, Platform as _};
use muninn_terminal::{
    Session, Terminal, TerminalOptions, answer_unheard, ask_remotely, author, os_user,
};
use muninn_texts::{Text, Value, text};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::admin::{self, Connection};
use super::context::Context;
use super::data_owner::may_write;
use super::exit::Exit;
use super::live_settings::Environment;
use super::own_bot::{OwnBot, with_own_bot};
use super::serve::signals::on_signal;

/// Messages buffered between the terminal and the bot of another process.
const MESSAGE_CAPACITY: usize = 32;

/// Talks in this terminal until the user leaves: with the running bot, if there is one.
pub(super) async fn run(
    at: &Context,
    session: &str,
    environment: Environment,
) -> anyhow::Result<Exit> {
    let config = &at.config;
    let own = author(&os_user()).language;
    let place = || config.channels.language(&AudienceId::new("terminal"), None);
    let language = own.unwrap_or_else(place);
    let terminal = Terminal::new(TerminalOptions {
        history: may_write(config).then(|| config.data_dir.join("terminal-history")),
        greeting: greeting(config).in_language(language),
        language,
        ..TerminalOptions::new(Session::new(session, &os_user())?)
    });
    // Ctrl-C belongs to the conversation: it stops a turn.
    let shutdown = on_signal(&[SignalKind::terminate(), SignalKind::hangup()])?;
    match admin::connect(config).await? {
        Some(connection) => with(connection, config, &terminal, session, shutdown).await,
        None => alone(config, &terminal, shutdown, environment).await,
    }
}

/// Talks with the bot of another process.
async fn with(
    connection: Connection,
    config: &Config,
    terminal: &Terminal,
    session: &str,
    shutdown: CancellationToken,
) -> anyhow::Result<Exit> {
    let (inbox, arrivals) = Inbox::new(config.admission.inbox_size);
    let (typing, typed) = mpsc::channel(MESSAGE_CAPACITY);
    let (telling, told) = mpsc::channel(MESSAGE_CAPACITY);
    let connected = connection.chat(session.to_owned(), os_user(), typed, telling);
    let connected = tokio::spawn(connected);
    let mut asking = tokio::spawn(ask_remotely(arrivals, typing, told));
    let ending = shutdown.child_token();
    // While this is held, only the end of the other process closes it.
    let held = inbox.clone();
    let mut talking = terminal.run(inbox, ending.clone());
    let (talked, has_ended) = tokio::select! {
        talked = &mut talking => {
            let has_ended = held.is_closed();
            drop(held);
            asking.await?;
            (talked, has_ended)
        }
        asked = &mut asking => {
            asked?;
            ending.cancel();
            (talking.await, true)
        }
    };
    connected.await??;
    if has_ended {
        let ended = "the `muninn` that this chat ran in has ended; start `muninn chat` again";
        // Which line of a script has no answer.
        return Err(match talked {
            Ok(()) => anyhow!(ended),
            Err(error) => anyhow::Error::from(error).context(ended),
        });
    }
    talked?;
    Ok(Exit::SUCCESS)
}

/// Talks with a bot of its own, which others may use meanwhile.
async fn alone(
    config: &Config,
    terminal: &Terminal,
    shutdown: CancellationToken,
    environment: Environment,
) -> anyhow::Result<Exit> {
    if !Terminal::is_interactive() && config.model.is_none() {
        warn(&without_model(config).to_string());
    }
    let talked = with_own_bot(config, environment, async |own: OwnBot| {
        terminal.run(own.inbox, shutdown).await
    });
    talked.await??;
    Ok(Exit::SUCCESS)
}

/// Answers, to nobody, the messages of terminals that an earlier process accepted, unless a
/// platform does that; terminals on the admin socket are not among the platforms.
pub(super) fn unheard(
    names: &mut Vec<String>,
    inbox: &Inbox,
    shutdown: &CancellationToken,
) -> impl Future<Output = ()> + Send + 'static {
    const NAME: &str = "terminal";
    let is_ours = !names.iter().any(|name| name == NAME);
    if is_ours {
        names.push(NAME.to_owned());
    }
    let (inbox, shutdown) = (inbox.clone(), shutdown.clone());
    async move {
        let answering = async {
            match is_ours {
                true => answer_unheard(&inbox).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = answering => {}
        }
    }
}

fn greeting(config: &Config) -> Text {
    match &config.model {
        Some(model) => {
            let models = std::iter::once(model).chain(&config.fallbacks);
            let models = models.map(|it| Value::from(&it.chat_model));
            let models =
                models.reduce(|first, next| text!("terminal-model-else", first, next).into());
            text!(
                "terminal-greeting",
                name = &config.turn.bot_name,
                models = models.unwrap_or_else(|| "".into())
            )
        }
        None => without_model(config),
    }
}

fn without_model(config: &Config) -> Text {
    text!("terminal-without-model", name = &config.turn.bot_name)
}

#[expect(
    clippy::print_stderr,
    reason = "answers alone go to the output of a script"
)]
fn warn(text: &str) {
    eprintln!("muninn: {text}");
}

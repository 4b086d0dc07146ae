//! `muninn chat`.

use std::process::ExitCode;

use muninn::config::Config;
use muninn_platform::{Inbox, Platform};
use muninn_terminal::Terminal;
use tokio_util::sync::CancellationToken;

use muninn::wiring::{Wired, wire};

/// Talks in this terminal until it is left.
pub(super) async fn run(config: &Config, session: &str) -> anyhow::Result<ExitCode> {
    let Wired { bot, store, archive: _ } = wire(config).await?;
    let (inbox, received) = Inbox::new(config.admission.inbox_size);
    let shutdown = super::serve::on_signal()?;
    let terminal = Terminal::new(session, greeting(config), &config.data_dir);
    let serving = tokio::spawn(bot.run(received, CancellationToken::new()));
    let talked = terminal.run(inbox, shutdown).await;
    serving.await?;
    store.close().await?;
    talked?;
    Ok(ExitCode::SUCCESS)
}

fn greeting(config: &Config) -> String {
    match &config.model {
        Some(model) => format!(
            "{} with {}. /help shows what you can ask, Ctrl-D leaves.",
            config.turn.bot_name, model.chat_model
        ),
        None => format!(
            "{} answers from memory alone. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a service \
             such as Ollama, to give it a model.",
            config.turn.bot_name
        ),
    }
}

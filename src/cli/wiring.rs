//! Puts the parts of a bot together.

use std::sync::Arc;

use muninn::bot::Bot;
use muninn::commands::Commands;
use muninn::config::Config;
use muninn::graph::{self, GraphStore};
use muninn::journal::Journal;
use muninn::llm::local::LocalEmbedder;
use muninn::llm::{ChatModel, Embedder, Limiter, RemoteEmbedder};
use muninn::memory::{Archive, Recaller, summary};
use muninn::prompts::Prompts;
use muninn::session::Sessions;
use muninn::summarizer::Summarizer;
use muninn::turn::Turns;

/// A bot, and the parts of it that others look at too.
pub(super) struct Wired {
    pub(super) bot: Arc<Bot>,
    pub(super) archive: Arc<Archive>,
    pub(super) store: Arc<dyn GraphStore>,
}

/// Opens what the configuration names and makes a bot of it.
pub(super) async fn wire(config: &Config) -> anyhow::Result<Wired> {
    let prompts = Arc::new(Prompts::load(config.prompts_dir.as_deref())?);
    let Models { chat: model, embedder } = models(config)?;
    let recaller = Arc::new(Recaller::new(embedder, config.recall.clone()));
    let store = graph::open(&config.graph).await?;
    let journal = Journal::open(&config.data_dir)?;
    let sessions = Arc::new(Sessions::default());
    let archive = Arc::new(Archive::new(
        Arc::clone(&store),
        journal,
        Arc::clone(&sessions),
        summary::read(config.turn.window_turns),
    ));
    let turns = Turns {
        config: config.turn.clone(),
        archive: Arc::clone(&archive),
        recaller: Arc::clone(&recaller),
        prompts: Arc::clone(&prompts),
        model: model.clone(),
    };
    let commands = Commands {
        archive: Arc::clone(&archive),
        recaller,
    };
    let summarizer = model.map(|model| Summarizer {
        archive: Arc::clone(&archive),
        model,
        prompts,
        window_turns: config.turn.window_turns,
    });
    let bot = Arc::new(Bot::new(sessions, turns, commands, summarizer, &config.admission));
    Ok(Wired { bot, archive, store })
}

/// The models: one that writes, where one is configured, and one that embeds.
pub(super) struct Models {
    pub(super) chat: Option<Arc<ChatModel>>,
    pub(super) embedder: Embedder,
}

/// Connects to the models, which share one limiter.
pub(super) fn models(config: &Config) -> anyhow::Result<Models> {
    let Some(model) = &config.model else {
        return Ok(Models {
            chat: None,
            embedder: Embedder::Local(LocalEmbedder::shipped()?),
        });
    };
    let limiter = Arc::new(Limiter::new(&model.limits));
    let chat = ChatModel::new(model, Arc::clone(&limiter))?;
    let embedder = match &config.embedding_model {
        Some(name) => Embedder::Remote(RemoteEmbedder::new(model, name, limiter)?),
        None => Embedder::Local(LocalEmbedder::shipped()?),
    };
    Ok(Models {
        chat: Some(Arc::new(chat)),
        embedder,
    })
}

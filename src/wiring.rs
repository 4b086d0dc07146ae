//! Puts the parts of a bot together. Only platforms are still missing: the binary adds them.

use std::sync::{Arc, Weak};

use muninn_platform::HeardAudiences;

use crate::agent::budget::Budgets;
use crate::agent::mcp::{McpFileError, McpServers};
use crate::agent::prompts::{PromptError, Prompts};
use crate::agent::tools::{Toolbox, ToolboxError};
use crate::config::{Config, DataDirError, data_dir};
use crate::conversation::attachments::Attachments;
use crate::conversation::attention::Listening;
use crate::conversation::audit::Audit;
use crate::conversation::bot::{Bot, Upkeep};
use crate::conversation::catch_up::CatchUp;
use crate::conversation::channel_kind;
use crate::conversation::commands::{Commands, Exports};
use crate::conversation::digest::Digests;
use crate::conversation::hearing::HearingRules;
use crate::conversation::ledger::Ledger;
use crate::conversation::pending::PendingMessages;
use crate::conversation::people::People;
use crate::conversation::retention::Retention;
use crate::conversation::summarizer::Summarizer;
use crate::conversation::turn::TurnRunner;
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::session::Sessions;
use crate::graph::{self, GraphStore, StoreError};
use crate::knowledge::search::nodes::{NodeSettings, NodeSettingsError};
use crate::knowledge::search::{Searcher, Weights, WeightsError};
use crate::llm::{Embedder, Limiter, ModelChain, ModelError, Prices, PricesError, RemoteEmbedder};
use crate::memory::calibration_file::{self, CalibrationFileError};
use crate::memory::journal::{Journal, JournalError};
use crate::memory::{Archive, Calibration, CalibrationError, Recaller, summary};
use crate::retrieval::{LocalEmbedder, LocalEmbedderError};

/// Why there is no bot.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the model service cannot be used")]
    Model(#[from] ModelError),
    #[error(transparent)]
    Embedder(#[from] LocalEmbedderError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error(transparent)]
    CalibrationFile(#[from] CalibrationFileError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error(transparent)]
    Nodes(#[from] NodeSettingsError),
    #[error(transparent)]
    Prices(#[from] PricesError),
    #[error(transparent)]
    Toolbox(#[from] ToolboxError),
    #[error(transparent)]
    Mcp(#[from] McpFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A sentence for each of them.
    #[error("{}", .0.join("; "))]
    Channels(Vec<String>),
    #[error(transparent)]
    Format(#[from] DataDirError),
    #[error("DATA_DIR cannot be used")]
    DataDir(#[source] std::io::Error),
}

/// A bot, and the parts of it that others look at too.
#[derive(Debug)]
pub struct Wired {
    pub bot: Arc<Bot>,
    pub archive: Arc<Archive>,
    pub store: Arc<GraphStore>,
    pub recaller: Arc<Recaller>,
    pub searcher: Arc<Searcher>,
    pub mcp_servers: Arc<McpServers>,
    /// Where what people say to one another is remembered.
    pub heard: HeardAudiences,
}

/// Opens what the configuration names and makes a bot of it, which keeps in `ledger` what it has not
/// answered yet.
///
/// # Errors
/// When the graph, the journal or a prompt cannot be used. A model that does not answer is no error:
/// the bot then answers from memory, and says so.
pub async fn wire(config: &Config, ledger: Ledger) -> Result<Wired, WiringError> {
    data_dir::prepare(&config.data_dir)?;
    let parts = Parts::load(config)?;
    let store = graph::open(&config.graph).await?;
    let assembled = parts.assemble(config, Arc::clone(&store), ledger);
    if assembled.is_err()
        && let Err(error) = store.close().await
    {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "the graph could not be closed");
    }
    assembled
}

/// What a bot is made of beside the graph.
#[derive(Debug)]
pub struct Parts {
    prompts: Arc<Prompts>,
    model: Option<Arc<ModelChain>>,
    recaller: Arc<Recaller>,
    budgets: Arc<Budgets>,
}

impl Parts {
    /// Reads what the configuration names.
    ///
    /// # Errors
    /// When a prompt or the calibration is wrong, or a model's address cannot be one.
    pub fn load(config: &Config) -> Result<Self, WiringError> {
        let Models {
            chat: model,
            embedder,
        } = models(config)?;
        let prices = Prices::load(config.model_prices.as_deref())?;
        Ok(Self {
            budgets: Arc::new(Budgets::new(prices, config.budget)),
            prompts: Arc::new(Prompts::load(config.prompts_dir.as_deref())?),
            model,
            recaller: Arc::new(
                recaller(config, embedder)?.with_channels(Arc::clone(&config.channels)),
            ),
        })
    }

    /// Makes a bot of them over a graph.
    ///
    /// # Errors
    /// When the journal or a tool's file cannot be used.
    pub fn assemble(
        self,
        config: &Config,
        store: Arc<GraphStore>,
        ledger: Ledger,
    ) -> Result<Wired, WiringError> {
        let Self {
            prompts,
            model,
            recaller,
            budgets,
        } = self;
        let toolbox = Toolbox::load(config.prompts_dir.as_deref(), &prompts, Arc::clone(&store))?;
        let mcp = Arc::new(McpServers::start(config.mcp_file.clone())?);
        let problems = channel_kind::problems(
            &config.channels,
            config.prompts_dir.as_deref(),
            &config.mcp_file,
        );
        if !problems.is_empty() {
            return Err(WiringError::Channels(problems));
        }
        let weights = Weights::load(config.prompts_dir.as_deref())?;
        let nodes = NodeSettings::load(config.prompts_dir.as_deref())?;
        let searcher = Searcher::new(Arc::clone(&store), Arc::clone(&recaller), weights);
        let searcher = searcher.in_data_dir(&config.data_dir);
        let searcher = Arc::new(searcher.with_nodes(nodes, &config.data_dir));
        let journal = Journal::open(&config.data_dir)?;
        // Beside the start, which it must not hold up: every turn is looked at.
        let (its_recaller, its_store) = (Arc::clone(&recaller), Arc::clone(&store));
        tokio::spawn(async move { its_recaller.notice_stale(&its_store).await });
        let its_store: Weak<GraphStore> = Arc::downgrade(&store);
        tokio::spawn(Recaller::keep_mending(Arc::downgrade(&recaller), its_store));
        let its_searcher = Arc::clone(&searcher);
        tokio::spawn(Searcher::follow(Arc::downgrade(&searcher)));
        let channels = Arc::clone(&config.channels);
        tokio::spawn(async move {
            let all = its_searcher.all_sources().await;
            let known: Vec<&str> = all.iter().map(String::as_str).collect();
            for problem in channel_kind::unknown_sources(&channels, &known) {
                tracing::warn!("{problem}");
            }
        });
        let sessions = Arc::new(Sessions::default());
        let archive = Archive::new(
            Arc::clone(&store),
            journal,
            Arc::clone(&sessions),
            summary::read(config.turn.window_turns),
        );
        let archive = Arc::new(archive.with_recaller(Arc::clone(&recaller)));
        let audit = Audit::new(&config.data_dir);
        let people = Arc::new(People::new(Arc::clone(&store), audit.clone()));
        let withdrawals = Withdrawals::open(&config.data_dir).map_err(WiringError::DataDir)?;
        let withdrawals = Arc::new(withdrawals);
        let turns = TurnRunner {
            config: config.turn.clone(),
            archive: Arc::clone(&archive),
            recaller: Arc::clone(&recaller),
            prompts: Arc::clone(&prompts),
            attachments: Attachments::new(config.attachments),
            channels: Arc::clone(&config.channels),
            model: model.clone(),
            toolbox: Arc::new(toolbox),
            mcp: Arc::clone(&mcp),
            searcher: Arc::clone(&searcher),
            budgets: Arc::clone(&budgets),
            people: Arc::clone(&people),
            withdrawals: Arc::clone(&withdrawals),
        };
        let hearing = Arc::new(HearingRules::new(Arc::clone(&config.channels)));
        let heard = hearing.heard.clone();
        let commands = Commands {
            channels: Arc::clone(&config.channels),
            archive: Arc::clone(&archive),
            recaller: Arc::clone(&recaller),
            withdrawals,
            budgets: Arc::clone(&budgets),
            listening: Arc::new(Listening::new(&config.turn.bot_name)),
            hearing: Arc::clone(&hearing),
            catch_up: CatchUp::new(
                Arc::clone(&archive),
                Arc::clone(&recaller),
                model.clone(),
                Arc::clone(&prompts),
                Arc::clone(&budgets),
                Arc::clone(&config.channels),
            ),
            audit: audit.clone(),
            people,
            exports: Exports::new(&config.data_dir),
        };
        let window = config.turn.window_turns;
        let channels = Arc::clone(&config.channels);
        let summarizer = model.map(|model| {
            let archive = Arc::clone(&archive);
            Summarizer::new(
                archive,
                model,
                prompts,
                budgets,
                Arc::clone(&channels),
                window,
            )
        });
        let retention = Retention::new(
            Arc::clone(&archive),
            Arc::clone(&channels),
            audit,
            config.audit_days,
        );
        let digests = Digests::new(Arc::clone(&store), channels, hearing, config.time_zone);
        let bot = Arc::new(Bot::new(
            sessions,
            turns,
            commands,
            Upkeep {
                summarizer,
                digests,
                retention,
            },
            &config.admission,
            PendingMessages::new(ledger, Arc::clone(&archive)),
        ));
        Ok(Wired {
            heard,
            bot,
            archive,
            store,
            recaller,
            searcher,
            mcp_servers: mcp,
        })
    }
}

/// The models: one that writes, where one is configured, and one that embeds.
#[derive(Debug)]
pub struct Models {
    pub chat: Option<Arc<ModelChain>>,
    pub embedder: Embedder,
}

/// What recalls with this embedder.
///
/// # Errors
/// When the calibration is damaged.
pub fn recaller(config: &Config, embedder: Embedder) -> Result<Recaller, WiringError> {
    let calibration = calibration(config, &embedder)?;
    let settings = config.recall.settings(&calibration);
    Ok(Recaller::new(embedder, calibration, settings).with_time_zone(config.time_zone))
}

/// The calibration that was made for this embedder here, or else the shipped one.
///
/// # Errors
/// When it is damaged; names the file.
pub fn calibration(config: &Config, embedder: &Embedder) -> Result<Calibration, WiringError> {
    match calibration_file::load(&config.data_dir, embedder)? {
        Some(own) => Ok(own),
        None => Ok(Calibration::shipped()?),
    }
}

/// Makes the models, which share one limiter. Nothing is asked of them yet.
///
/// # Errors
/// When the address or the key cannot be one, or the shipped embedder is damaged.
pub fn models(config: &Config) -> Result<Models, WiringError> {
    let Some(model) = &config.model else {
        return Ok(Models {
            chat: None,
            embedder: Embedder::Local(LocalEmbedder::shipped()?),
        });
    };
    let limiter = Arc::new(Limiter::new(&model.limits));
    let chat = ModelChain::new(model, &config.fallbacks, &limiter)?;
    let embedder = match &config.embedding_model {
        Some(name) => {
            let service = config.embedding_service.as_ref().unwrap_or(model);
            Embedder::Remote(RemoteEmbedder::new(service, name, limiter)?)
        }
        None => Embedder::Local(LocalEmbedder::shipped()?),
    };
    Ok(Models {
        chat: Some(Arc::new(chat)),
        embedder,
    })
}

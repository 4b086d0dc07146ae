//! Assembles a bot from its parts, except for the platforms, which the binary adds.

pub mod reloading;

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
use crate::conversation::bot::{Bot, Maintenance};
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
use crate::memory::{Archive, Calibration, CalibrationError, QueueWithdrawals, Recaller, summary};
use crate::retrieval::{LocalEmbedder, LocalEmbedderError};

/// Why the bot could not be assembled.
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
    /// One sentence per problem.
    #[error("{}", .0.join("; "))]
    Channels(Vec<String>),
    #[error(transparent)]
    Format(#[from] DataDirError),
    #[error("DATA_DIR cannot be used")]
    DataDir(#[source] std::io::Error),
}

/// A bot, and its parts that others use too.
#[derive(Debug)]
pub struct App {
    pub bot: Arc<Bot>,
    pub archive: Arc<Archive>,
    pub store: Arc<GraphStore>,
    pub recaller: Arc<Recaller>,
    pub searcher: Arc<Searcher>,
    pub mcp_servers: Arc<McpServers>,
    /// The audiences in which heard messages are remembered.
    pub heard: HeardAudiences,
}

/// Opens what the configuration names and assembles a bot, which keeps its pending messages in `ledger`.
///
/// # Errors
/// Fails when the graph, the journal or a prompt cannot be used. A model that does not answer is not an
/// error: the bot then answers from memory, and says so.
pub async fn wire(config: &Config, ledger: Ledger) -> Result<App, WiringError> {
    wire_on(config, ledger, graph::open(&config.graph)).await
}

/// Assembles a bot on the graph that `opening` opens, once everything else is known to be usable.
///
/// # Errors
/// Fails like [`wire`].
pub async fn wire_on(
    config: &Config,
    ledger: Ledger,
    opening: impl Future<Output = Result<Arc<GraphStore>, StoreError>>,
) -> Result<App, WiringError> {
    data_dir::prepare(&config.data_dir)?;
    let parts = Parts::load(config)?;
    let store = opening.await?;
    let assembled = parts.assemble(config, Arc::clone(&store), ledger);
    if assembled.is_err()
        && let Err(error) = store.close().await
    {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "the graph could not be closed");
    }
    assembled
}

/// The parts of a bot other than the graph.
#[derive(Debug)]
pub struct Parts {
    prompts: Arc<Prompts>,
    model: Option<Arc<ModelChain>>,
    recaller: Arc<Recaller>,
    budgets: Arc<Budgets>,
}

impl Parts {
    /// Loads what the configuration names.
    ///
    /// # Errors
    /// Fails when a prompt or the calibration is invalid, or a model's address is.
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
            recaller: Arc::new(recaller(config, embedder)?),
        })
    }

    /// Assembles a bot on a graph.
    ///
    /// # Errors
    /// Fails when the journal or a tool's file cannot be used.
    pub fn assemble(
        self,
        config: &Config,
        store: Arc<GraphStore>,
        ledger: Ledger,
    ) -> Result<App, WiringError> {
        let prompts_dir = config.prompts_dir.as_deref();
        let toolbox = Toolbox::load(prompts_dir, &self.prompts, Arc::clone(&store))?;
        let mcp_servers = Arc::new(McpServers::start(config.mcp_file.clone())?);
        check_channels(config)?;
        let searcher = searcher(config, Arc::clone(&store), Arc::clone(&self.recaller))?;
        let searcher = Arc::new(searcher);
        let sessions = Arc::new(Sessions::default());
        let shared = Shared::open(config, self, &store, &sessions)?;
        shared.work_beside(config, &store, &searcher);
        let looks_up = LookupParts {
            toolbox: Arc::new(toolbox),
            mcp: Arc::clone(&mcp_servers),
            searcher: Arc::clone(&searcher),
        };
        let bot = Arc::new(Bot::new(
            sessions,
            shared.turns(config, looks_up),
            shared.commands(config),
            shared.maintenance(config),
            &config.admission,
            PendingMessages::new(ledger, Arc::clone(&shared.archive)),
        ));
        Ok(App {
            heard: shared.hearing.heard.clone(),
            bot,
            archive: shared.archive,
            store,
            recaller: shared.parts.recaller,
            searcher,
            mcp_servers,
        })
    }
}

/// What several parts of a bot share.
struct Shared {
    parts: Parts,
    archive: Arc<Archive>,
    withdrawals: Arc<Withdrawals>,
    people: Arc<People>,
    hearing: Arc<HearingRules>,
    audit: Audit,
}

/// What a turn uses for look-ups.
struct LookupParts {
    toolbox: Arc<Toolbox>,
    mcp: Arc<McpServers>,
    searcher: Arc<Searcher>,
}

impl Shared {
    /// Opens the files that it keeps.
    fn open(
        config: &Config,
        parts: Parts,
        store: &Arc<GraphStore>,
        sessions: &Arc<Sessions>,
    ) -> Result<Self, WiringError> {
        let journal = Journal::open(&config.data_dir)?;
        let withdrawals = Withdrawals::open(&config.data_dir).map_err(WiringError::DataDir)?;
        let withdrawals = Arc::new(withdrawals.with_store(Arc::clone(store)));
        let archive = Archive::new(
            Arc::clone(store),
            journal,
            Arc::clone(sessions),
            summary::read(config.turn.window_turns),
        );
        let archive = archive
            .with_recaller(Arc::clone(&parts.recaller))
            .with_withdrawals(Arc::clone(&withdrawals) as Arc<dyn QueueWithdrawals>);
        let archive = Arc::new(archive);
        withdrawals.set_archive(&archive);
        let audit = Audit::new(&config.data_dir);
        Ok(Self {
            people: Arc::new(People::new(Arc::clone(store), audit.clone())),
            hearing: Arc::new(HearingRules::new(Arc::clone(&config.channels))),
            withdrawals,
            archive,
            audit,
            parts,
        })
    }

    /// Starts maintaining what is searched. It runs beside the start and does not delay it, as it examines
    /// every turn.
    fn work_beside(&self, config: &Config, store: &Arc<GraphStore>, searcher: &Arc<Searcher>) {
        let recaller = &self.parts.recaller;
        let (its_recaller, its_store) = (Arc::clone(recaller), Arc::clone(store));
        tokio::spawn(async move { its_recaller.notice_stale(&its_store).await });
        let its_store: Weak<GraphStore> = Arc::downgrade(store);
        tokio::spawn(Recaller::embed_missing_periodically(
            Arc::downgrade(recaller),
            its_store,
        ));
        tokio::spawn(Searcher::follow(Arc::downgrade(searcher)));
        let (searcher, channels) = (Arc::clone(searcher), Arc::clone(&config.channels));
        tokio::spawn(async move {
            let all = searcher.all_sources().await;
            let known: Vec<&str> = all.iter().map(String::as_str).collect();
            for problem in channel_kind::unknown_sources(&channels, &known) {
                tracing::warn!("{problem}");
            }
        });
    }

    fn turns(&self, config: &Config, looks_up: LookupParts) -> TurnRunner {
        let parts = &self.parts;
        let LookupParts {
            toolbox,
            mcp,
            searcher,
        } = looks_up;
        TurnRunner {
            config: config.turn.clone(),
            archive: Arc::clone(&self.archive),
            recaller: Arc::clone(&parts.recaller),
            prompts: Arc::clone(&parts.prompts),
            attachments: Attachments::new(config.attachments),
            channels: Arc::clone(&config.channels),
            model: parts.model.clone(),
            toolbox,
            mcp,
            searcher,
            budgets: Arc::clone(&parts.budgets),
            people: Arc::clone(&self.people),
            hearing: Arc::clone(&self.hearing),
            withdrawals: Arc::clone(&self.withdrawals),
        }
    }

    fn commands(&self, config: &Config) -> Commands {
        let parts = &self.parts;
        Commands {
            channels: Arc::clone(&config.channels),
            archive: Arc::clone(&self.archive),
            recaller: Arc::clone(&parts.recaller),
            withdrawals: Arc::clone(&self.withdrawals),
            budgets: Arc::clone(&parts.budgets),
            listening: Arc::new(Listening::new(&config.turn.bot_name)),
            hearing: Arc::clone(&self.hearing),
            catch_up: CatchUp::new(
                Arc::clone(&self.archive),
                Arc::clone(&parts.recaller),
                parts.model.clone(),
                Arc::clone(&parts.prompts),
                Arc::clone(&parts.budgets),
                Arc::clone(&config.channels),
            ),
            audit: self.audit.clone(),
            people: Arc::clone(&self.people),
            exports: Exports::new(&config.data_dir),
            missed_age: config.missed_age,
        }
    }

    fn maintenance(&self, config: &Config) -> Maintenance {
        let parts = &self.parts;
        let summarizer = parts.model.as_ref().map(|model| {
            Summarizer::new(
                Arc::clone(&self.archive),
                Arc::clone(model),
                Arc::clone(&parts.prompts),
                Arc::clone(&parts.budgets),
                Arc::clone(&config.channels),
                Arc::clone(&parts.recaller),
                config.turn.window_turns,
            )
        });
        Maintenance {
            summarizer,
            digests: Digests::new(
                Arc::clone(&self.archive),
                Arc::clone(&self.withdrawals),
                Arc::clone(&config.channels),
                Arc::clone(&self.hearing),
                config.time_zone,
            ),
            retention: Retention::new(
                Arc::clone(&self.archive),
                Arc::clone(&config.channels),
                self.audit.clone(),
                config.audit_days,
            ),
        }
    }
}

/// Checks that the settings of channels are possible.
fn check_channels(config: &Config) -> Result<(), WiringError> {
    let prompts_dir = config.prompts_dir.as_deref();
    let problems = channel_kind::problems(&config.channels, prompts_dir, &config.mcp_file);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(WiringError::Channels(problems)),
    }
}

/// Returns the searcher of a graph.
///
/// # Errors
/// Fails when the weights, or the settings for nodes, are invalid.
pub fn searcher(
    config: &Config,
    store: Arc<GraphStore>,
    recaller: Arc<Recaller>,
) -> Result<Searcher, WiringError> {
    let prompts_dir = config.prompts_dir.as_deref();
    let weights = Weights::load(prompts_dir)?;
    let nodes = NodeSettings::load(prompts_dir)?;
    let searcher = Searcher::new(store, recaller, weights).in_data_dir(&config.data_dir);
    Ok(searcher.with_nodes(nodes, &config.data_dir))
}

/// The models: one that writes, if configured, and one that embeds.
#[derive(Debug)]
pub struct Models {
    pub chat: Option<Arc<ModelChain>>,
    pub embedder: Embedder,
}

/// Returns a recaller with this embedder.
///
/// # Errors
/// Fails when the calibration is damaged.
pub fn recaller(config: &Config, embedder: Embedder) -> Result<Recaller, WiringError> {
    let calibration = calibration(config, &embedder)?;
    let settings = config.recall.settings(&calibration);
    let recaller = Recaller::new(embedder, calibration, settings)
        .with_time_zone(config.time_zone)
        .with_channels(Arc::clone(&config.channels));
    Ok(recaller)
}

/// Returns the calibration that was made for this embedder here, or else the built-in one.
///
/// # Errors
/// Fails when it is damaged; the error names the file.
pub fn calibration(config: &Config, embedder: &Embedder) -> Result<Calibration, WiringError> {
    match calibration_file::load(&config.data_dir, embedder)? {
        Some(own) => Ok(own),
        None => Ok(Calibration::shipped()?),
    }
}

/// Creates the models, which share one limiter, without calling them.
///
/// # Errors
/// Fails when the address or the key is invalid, or the built-in embedder is damaged.
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

//! `muninn eval`.

mod findings;
mod table;

use std::io;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use clap::ValueEnum as _;
use muninn::config::{Config, ConfigError};
use muninn::llm::Embedder;
use muninn::memory::evaluation::report::Report;
use muninn::memory::evaluation::{EvaluationRequest, Setup, evaluate};
use muninn::memory::{RecallMode, recall_eval::read_lines, summary};
use muninn::wiring::{Models, calibration, models};
use muninn_platform::AudienceId;

use super::args::eval::EvalArgs;
use super::context::Context;
use super::exit::Exit;
use super::paths::ChangePath;
use super::progress::Unit;
use findings::ReportFindings;

impl EvalArgs {
    /// Changes its paths.
    ///
    /// # Errors
    /// Fails like `change`.
    pub(super) fn with_paths(self, change: ChangePath<'_>) -> io::Result<Self> {
        Ok(Self {
            labels: self.labels.map(&mut *change).transpose()?,
            save: self.save.map(&mut *change).transpose()?,
            against: self.against.map(change).transpose()?,
            ..self
        })
    }
}

/// Measures, prints and saves; reports what is broken and what is worse.
pub(super) async fn run(at: &Context, args: EvalArgs) -> anyhow::Result<Exit> {
    let before = args.against.as_deref().map(Report::read).transpose()?;
    let mut setups = vec![setup(&at.config, "", args.embed)?];
    if !args.with.is_empty() {
        let changed = changed(&at.config, &args.with)?;
        // Whoever names an embedder wants it to be used.
        let may_embed = args.embed || changed.embedding_model != at.config.embedding_model;
        setups.push(setup(&changed, &args.with.join(" "), may_embed)?);
    }
    let wanted = EvaluationRequest {
        channels: args.channel.iter().map(AudienceId::new).collect(),
        most: args.most,
        since: before.as_ref().and_then(|it| it.last),
        labels: args.labels.as_deref().map_or(Ok(Vec::new()), read_lines)?,
    };
    let store = at.graph().await?;
    let bar = at.out.bar(Unit::Things);
    let measured = evaluate(&store, &setups, &wanted, &mut |done, all| {
        bar.show(done as u64, all as u64, "channels");
    })
    .await;
    store.close().await?;
    bar.clear();
    let report = measured?;
    if let Some(path) = &args.save {
        report.save(path)?;
    }
    let found = ReportFindings::of(&report, before.as_ref());
    if args.json {
        let json = table::json(&report, &found, args.show);
        at.out.say_json(&json).await?;
    } else {
        at.out.line(&table::text(&report, &found)).await?;
        if args.show {
            at.out.line(&table::missed_text(&report)).await?;
        }
    }
    Ok(Exit::of(found.is_well()))
}

fn setup(config: &Config, name: &str, may_embed: bool) -> anyhow::Result<Arc<Setup>> {
    let Models { chat: _, embedder } = models(config)?;
    let calibration = calibration(config, &embedder)?;
    Ok(Arc::new(Setup {
        name: name.to_owned(),
        may_embed: match embedder {
            Embedder::Local(_) => true,
            Embedder::Remote(_) => may_embed,
        },
        settings: config.recall.settings(&calibration),
        calibration,
        embedder,
        channels: Arc::clone(&config.channels),
        time_zone: config.time_zone,
        window: summary::read(config.turn.window_turns),
    }))
}

/// Returns the settings of the second run.
fn changed(config: &Config, with: &[String]) -> anyhow::Result<Config> {
    let mut config = config.clone();
    for setting in with {
        let (name, value) = setting
            .split_once('=')
            .with_context(|| format!("--with {setting:?} is no NAME=VALUE"))?;
        let wrong = || format!("--with {setting:?} has no value that {name} can have");
        match name {
            "RECALL_MODE" => {
                let mode = RecallMode::from_str(value, true).map_err(anyhow::Error::msg);
                config.recall.mode = mode.with_context(wrong)?;
            }
            "RECALL_THRESHOLD" => {
                config.recall.threshold = match value {
                    "" => None,
                    value => Some(value.parse().with_context(wrong)?),
                };
            }
            "RECALL_TOKENS" => config.recall.tokens = value.parse().with_context(wrong)?,
            "WINDOW_TURNS" => {
                config.turn.window_turns = value.parse().with_context(wrong)?;
                ensure!(config.turn.window_turns > 0, wrong());
            }
            "EMBEDDING_MODEL" => {
                config.embedding_model = (!value.is_empty()).then(|| value.to_owned());
                if config.model.is_none() && config.embedding_model.is_some() {
                    return Err(ConfigError::EmbeddingWithoutService.into());
                }
            }
            other => bail!(
                "--with cannot change {other}; it can change RECALL_MODE, RECALL_THRESHOLD, RECALL_TOKENS, WINDOW_TURNS and EMBEDDING_MODEL"
            ),
        }
    }
    Ok(config)
}

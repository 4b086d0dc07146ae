//! `muninn eval`.

mod table;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum as _};
use muninn::config::{Config, ConfigError};
use muninn::llm::Embedder;
use muninn::memory::evaluation::compare::{self, ComparisonResult, Difference};
use muninn::memory::evaluation::report::Report;
use muninn::memory::evaluation::{EvaluationRequest, Setup, evaluate};
use muninn::memory::{RecallMode, eval::read_lines, summary};
use muninn::wiring::{Models, calibration, models};
use muninn_platform::AudienceId;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::open_commands::whole;
use super::output::{Exit, Unit};

#[derive(Args, Debug, Clone, Serialize, Deserialize)]
pub(super) struct EvalArgs {
    /// Measure this channel alone, by its id; may be given several times
    #[arg(long)]
    channel: Vec<String>,
    /// Maximum number of questions of each kind to ask again
    #[arg(long, default_value_t = 500)]
    most: usize,
    /// Ask labelled questions, too: JSON lines like those of tests/data/team/queries.jsonl
    #[arg(long)]
    labels: Option<PathBuf>,
    /// Ask the same questions with another setting, such as `RECALL_TOKENS=500` or `EMBEDDING_MODEL=name` (empty for the built-in
    /// embedder); several are used together
    #[arg(long, value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// Ask the embedding service; without it, questions are asked again by their words alone where a service embeds
    #[arg(long)]
    embed: bool,
    /// Save the report; it has no words that anybody said
    #[arg(long)]
    save: Option<PathBuf>,
    /// Compare with a saved report; exits with 1 if something is worse
    #[arg(long)]
    against: Option<PathBuf>,
    /// Show what was asked where nothing was found: words that people said
    #[arg(long)]
    show: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl EvalArgs {
    /// Makes its paths absolute.
    ///
    /// # Errors
    /// Fails when this process has no working directory.
    pub(super) fn with_whole_paths(self) -> io::Result<Self> {
        let whole = |path: Option<PathBuf>| path.map(|path| whole(&path)).transpose();
        Ok(Self {
            labels: whole(self.labels)?,
            save: whole(self.save)?,
            against: whole(self.against)?,
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
        at.out.say_json(&table::json(&report, &found)).await?;
    } else {
        at.out.line(&table::text(&report, &found)).await?;
    }
    if args.show {
        at.out.line(&table::missed(&report)).await?;
    }
    Ok(Exit::of(found.is_well()))
}

/// The results of a report.
struct ReportFindings {
    /// Sentences about what is broken.
    broken: Vec<String>,
    /// Sentences about improvements, or about the report.
    advice: Vec<String>,
    /// The first run compared with the second.
    with: Vec<Difference>,
    /// The report compared with an earlier one.
    against: Option<Vec<Difference>>,
}

impl ReportFindings {
    fn of(report: &Report, before: Option<&Report>) -> Self {
        let problems = report.runs.iter().flat_map(|run| {
            let name = &run.embedder.name;
            let problems = run.embedder.problems().into_iter();
            problems.map(move |problem| format!("the embedder {name} is broken: {problem}"))
        });
        let with = match &report.runs[..] {
            [deployed, other, ..] => compare::runs(deployed, other),
            [] | [_] => Vec::new(),
        };
        Self {
            broken: problems.collect(),
            advice: advice(report, before),
            with,
            against: before.map(|before| compare::reports(before, report)),
        }
    }

    /// Returns what is worse than before.
    fn regressions(&self) -> impl Iterator<Item = &Difference> {
        let all = self.against.iter().flatten();
        all.filter(|it| it.verdict == ComparisonResult::Worse)
    }

    fn is_well(&self) -> bool {
        self.broken.is_empty() && self.regressions().next().is_none()
    }
}

fn advice(report: &Report, before: Option<&Report>) -> Vec<String> {
    let mut advice = Vec::new();
    let Some(run) = report.runs.first() else {
        return advice;
    };
    let has = run.embedder.has_vector;
    if has.value().is_some_and(|part| part < 0.9) {
        advice.push(format!(
            "{} of {} exchanges have no vector of the embedder in use, so only their words are found; run `muninn reembed`",
            has.whole - has.part,
            has.whole
        ));
    }
    if run.is_by_words {
        advice.push(
            "the embedding service was not asked, so questions were asked again by their words alone; pass --embed to ask it"
                .to_owned(),
        );
    }
    if run.replayed.len() < compare::MIN_SAMPLE_SIZE {
        advice.push(format!(
            "only {} of the questions tell what should be found for them; labelled ones say more (--labels)",
            run.replayed.len()
        ));
    }
    let by_words = |report: &Report| report.runs.first().map(|run| run.is_by_words);
    if before.is_some_and(|before| by_words(before) != by_words(report)) {
        advice.push(
            "the earlier report was made with --embed and this one without, or the other way round, so questions are not compared"
                .to_owned(),
        );
    }
    advice
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

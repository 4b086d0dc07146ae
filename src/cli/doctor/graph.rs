//! Checks the graph and its content.

use std::sync::Arc;

use muninn::agent::prompts::Prompts;
use muninn::agent::tools::{ToolFiles, Toolbox};
use muninn::config::Config;
use muninn::conversation::channel_kind;
use muninn::graph::ingest::SourceOverview;
use muninn::graph::reading::ReadAccessReport;
use muninn::graph::schema::Survey;
use muninn::graph::{GraphConfig, GraphStore, StoreHealth};
use muninn::knowledge::catalog;
use muninn::knowledge::origins::Freshness;
use muninn::knowledge::search::nodes::NodeSettings;
use muninn::memory::reembed::{Stale, stale};
use muninn::wiring::reloading::SettingsRead;
use muninn::wiring::{self, Models};
use muninn_platform::{AudienceId, CheckStatus, count_with_noun};

use super::finding::{DoctorFinding, as_ours, note, well, wrong};
use super::places::misplaced;
use crate::cli::context::Context;
use crate::cli::freshness::freshness;
use crate::cli::schema;

pub(super) async fn findings(at: &Context) -> Vec<DoctorFinding> {
    let config = &at.config;
    let opened = match at.unfinished_graph().await {
        Ok(store) => store,
        Err(error) => {
            let mut findings = vec![wrong("graph", &error)];
            findings.extend(unreadable_tools(config));
            return findings;
        }
    };
    let health = opened.health().await;
    let knowledge = knowledge(config, &opened).await;
    let sources = sources(config, &opened).await;
    let named = named_sources(config, &opened).await;
    let places = places(config, &opened).await;
    let tools = tools(config, &opened).await;
    let vectors = vectors(config, &opened).await;
    let closed = opened.close().await;
    let reloading = at
        .running
        .as_ref()
        .and_then(|running| running.reloading.problem());
    let mut findings = match health {
        Ok(health) => of_health(&health, &config.graph),
        Err(error) => vec![wrong("graph", &error)],
    };
    findings.extend(knowledge);
    findings.extend(sources);
    findings.extend(named);
    findings.extend(places);
    findings.extend(tools);
    findings.extend(vectors);
    findings.extend(reloading.map(|problem| DoctorFinding {
        part: "prompts",
        verdict: CheckStatus::Error,
        text: format!("the process that runs uses what it read before: {problem}"),
    }));
    if let Some(running) = &at.running {
        findings.extend(of_settings(&running.reloading.settings_read()));
    }
    findings.extend(closed.err().map(|error| wrong("graph", &error)));
    findings
}

/// Reports how the running process handled changed settings.
fn of_settings(read: &SettingsRead) -> Vec<DoctorFinding> {
    let problems = read.problems.iter().map(|problem| DoctorFinding {
        part: "settings",
        verdict: CheckStatus::Error,
        text: format!("the process that runs: {problem}"),
    });
    let waiting = (!read.waiting.is_empty()).then(|| {
        let names = read.waiting.join(", ");
        note(
            "settings",
            format!("changed since the process started, which needs a restart: {names}"),
        )
    });
    problems.chain(waiting).collect()
}

fn of_health(health: &StoreHealth, config: &GraphConfig) -> Vec<DoctorFinding> {
    // Where a server is, its settings say.
    let folder = config.embedded_folder();
    let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
    let place = folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()));
    let StoreHealth {
        engine,
        schema_version,
        missing,
        sessions,
        turns,
        reading,
        outgrown,
        warnings,
    } = health;
    let mut findings = vec![well(
        "graph",
        format!(
            "{engine}{place}, schema {schema_version}, {}, {}",
            count_with_noun(*sessions, "conversation"),
            count_with_noun(*turns, "turn")
        ),
    )];
    findings.extend(missing.iter().map(|name| DoctorFinding {
        part: "graph",
        verdict: CheckStatus::Error,
        text: format!("{name} is missing; start muninn once with a user that may create constraints and indexes"),
    }));
    let reading = reading.iter().flat_map(ReadAccessReport::findings);
    findings.extend(reading.map(|of_reading| as_ours("graph", of_reading)));
    findings.extend(outgrown.map(|outgrown| note("graph", outgrown.to_string())));
    findings.extend(warnings.iter().map(|warning| DoctorFinding {
        part: "graph",
        verdict: CheckStatus::Warning,
        text: warning.clone(),
    }));
    findings
}

/// Reports which ingested sources lag behind.
async fn sources(config: &Config, store: &GraphStore) -> Vec<DoctorFinding> {
    // Unusable models are reported elsewhere.
    let Ok(models) = wiring::models(config) else {
        return Vec::new();
    };
    let sources = match store.sources().await {
        Ok(sources) => sources,
        Err(error) => return vec![wrong("knowledge", &error)],
    };
    let lags = |source: &SourceOverview| {
        let warnings = catalog::warnings(source, &models.embedder);
        let name = source.name.clone();
        warnings.into_iter().map(move |warning| DoctorFinding {
            part: "knowledge",
            verdict: CheckStatus::Warning,
            text: format!("{name}: {warning}"),
        })
    };
    let stale = match freshness(config).await {
        Ok(fresh) if fresh.iter().any(|fresh| fresh.lag.is_some()) => {
            fresh.iter().filter_map(of_freshness).collect()
        }
        Ok(fresh) if fresh.is_empty() => Vec::new(),
        Ok(fresh) => {
            let count = count_with_noun(fresh.len(), "source");
            vec![well(
                "sources",
                format!("refreshed as they should be: {count}"),
            )]
        }
        Err(problem) => vec![DoctorFinding {
            part: "sources",
            verdict: CheckStatus::Error,
            text: format!("they are not refreshed: {problem}"),
        }],
    };
    sources.iter().flat_map(lags).chain(stale).collect()
}

/// Reports the freshness of a source that is refreshed automatically.
fn of_freshness(fresh: &Freshness) -> Option<DoctorFinding> {
    let lag = fresh.lag.as_ref()?;
    Some(DoctorFinding {
        part: "sources",
        verdict: match fresh.has_failed() {
            true => CheckStatus::Error,
            false => CheckStatus::Warning,
        },
        text: format!("{}: {lag}", fresh.configured.name),
    })
}

/// Maximum labels listed; a graph may have thousands.
const NAMED: usize = 5;

/// Describes the knowledge in the graph.
async fn knowledge(config: &Config, store: &GraphStore) -> Vec<DoctorFinding> {
    let survey = match store.schema().await {
        Ok(survey) => survey,
        Err(error) => return vec![wrong("knowledge", &error)],
    };
    if survey.is_empty() {
        return vec![DoctorFinding {
            part: "knowledge",
            verdict: CheckStatus::Warning,
            text: schema::NONE.to_owned(),
        }];
    }
    let held = held(&survey);
    std::iter::once(held)
        .chain(nodes(config, &survey))
        .collect()
}

fn held(survey: &Survey) -> DoctorFinding {
    let labels = survey.ranked_labels();
    let mut named: Vec<String> = labels
        .iter()
        .take(NAMED)
        .map(|(label, number)| format!("{number} {label}"))
        .collect();
    if labels.len() > NAMED {
        named.push(count_with_noun(labels.len() - NAMED, "more label"));
    }
    let types = survey.relationships.len();
    let types = count_with_noun(types, "relationship type");
    well("knowledge", format!("{}; {types}", named.join(", ")))
}

/// Reports missing sources that channel settings name.
async fn named_sources(config: &Config, store: &GraphStore) -> Vec<DoctorFinding> {
    // An unavailable graph is reported elsewhere.
    let Ok(served) = store.source_versions().await else {
        return Vec::new();
    };
    let known: Vec<&str> = served.iter().map(|source| source.name.as_str()).collect();
    let unknown = channel_kind::unknown_sources(&config.channels, &known);
    let unknown = unknown.into_iter().map(|text| DoctorFinding {
        part: "channels",
        verdict: CheckStatus::Error,
        text: format!("{text}; `muninn ingest` takes one in"),
    });
    unknown.collect()
}

/// Reports places in the channel settings that are no audience.
async fn places(config: &Config, store: &GraphStore) -> Vec<DoctorFinding> {
    // Those of no platform are reported with the settings.
    let of_no_platform = config.channels.unknown_places();
    let tables = config.channels.tables().into_iter();
    let places = tables.map(|(place, _)| place).filter(|place| {
        place.as_str() != "*" && of_no_platform.iter().all(|it| it != place.as_str())
    });
    let places: Vec<AudienceId> = places.collect();
    if places.is_empty() {
        return Vec::new();
    }
    // An unavailable graph is reported elsewhere.
    let Ok(sessions) = store.sessions().await else {
        return Vec::new();
    };
    let told = misplaced(&places, &sessions).into_iter();
    told.map(|text| note("settings", text)).collect()
}

/// Describes which nodes are searched by meaning, and names in `nodes.toml` that the graph lacks.
fn nodes(config: &Config, survey: &Survey) -> Vec<DoctorFinding> {
    // An unreadable file is reported with the prompts.
    let Ok(settings) = NodeSettings::load(config.prompts_dir.as_deref()) else {
        return Vec::new();
    };
    let plan = settings.plan(survey);
    let problems = plan.problems.iter().map(|text| DoctorFinding {
        part: "nodes",
        verdict: CheckStatus::Error,
        text: format!("nodes.toml: {text}"),
    });
    let searched = plan.searched();
    let searched =
        (!searched.is_empty()).then(|| well("nodes", format!("searched by meaning: {searched}")));
    problems.chain(searched).collect()
}

/// Checks whether the team's tools are valid, and fit the graph.
async fn tools(config: &Config, store: &Arc<GraphStore>) -> Vec<DoctorFinding> {
    let folder = config.prompts_dir.as_deref();
    let Ok(prompts) = Prompts::load(folder) else {
        return Vec::new();
    };
    // An unreadable file is reported with the prompts.
    let Ok(toolbox) = Toolbox::load(folder, &prompts, Arc::clone(store)) else {
        return Vec::new();
    };
    // An unavailable graph is reported elsewhere.
    let offer = toolbox.offer().await.unwrap_or_default();
    let Some(offer) = offer else {
        return unreadable_tools(config);
    };
    let unfit = offer.unfit.iter().cloned();
    unfit.map(wrong_tool).collect()
}

/// Reports tools whose statements cannot be parsed, which needs no knowledge.
fn unreadable_tools(config: &Config) -> Vec<DoctorFinding> {
    let tools = ToolFiles::load(config.prompts_dir.as_deref());
    let tools = tools.unwrap_or_default().cypher.into_iter();
    let unreadable = tools.filter_map(|tool| {
        let refusal = tool.check_statement().err()?;
        let (name, file) = (&tool.spec.name, &tool.file);
        Some(format!(
            "the statement of the tool {name} of {file} cannot run: {refusal}"
        ))
    });
    unreadable.map(wrong_tool).collect()
}

fn wrong_tool(text: String) -> DoctorFinding {
    DoctorFinding {
        part: "tools",
        verdict: CheckStatus::Error,
        text,
    }
}

/// Checks whether recall can compare the turns' vectors. A missing embedder is reported elsewhere.
async fn vectors(config: &Config, store: &GraphStore) -> Vec<DoctorFinding> {
    let Ok(Models { chat: _, embedder }) = wiring::models(config) else {
        return Vec::new();
    };
    let worth = |text| DoctorFinding {
        part: "recall",
        verdict: CheckStatus::Warning,
        text,
    };
    let mut findings: Vec<DoctorFinding> = wiring::calibration(config, &embedder)
        .err()
        .map(|error| wrong("recall", &error))
        .into_iter()
        .collect();
    match stale(store, &embedder).await {
        Ok(Stale { foreign, missing }) => {
            if foreign > 0 {
                findings.push(worth(format!(
                    "vectors of another embedder: {}; run `muninn reembed`",
                    count_with_noun(foreign, "turn")
                )));
            }
            if missing > 0 {
                findings.push(worth(format!(
                    "without a vector: {}; run `muninn reembed`",
                    count_with_noun(missing, "turn")
                )));
            }
        }
        Err(error) => findings.push(wrong("graph", &error)),
    }
    findings
}

//! `muninn doctor`: looks at every part and says what to do about what is wrong.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Args;
use muninn::agent::budget::BudgetConfig;
use muninn::agent::effort::{SLOW_STEP, VERY_SLOW_STEP};
use muninn::agent::prompts::{Prompts, unread_files};
use muninn::agent::tools::{CypherTool, Toolbox};
use muninn::config::Config;
use muninn::graph::ingest::SourceOverview;
use muninn::graph::reading::Reading;
use muninn::graph::schema::Survey;
use muninn::graph::{GraphStore, StoreHealth};
use muninn::knowledge::catalog;
use muninn::knowledge::origins::Freshness;
use muninn::knowledge::search::Weights;
use muninn::knowledge::search::nodes::NodeSettings;
use muninn::llm::{
    ChatModel, Checked, Embedder, Finding as Known, LEAST_USEFUL_CONTEXT, ModelChain, Prices,
    Purpose, RemoteEmbedder, Role, Speed, Tried, TriedOut,
};
use muninn::memory::journal::{self, SetAside};
use muninn::memory::reembed::{Stale, stale};
use muninn::reloading::SettingsRead;
use muninn::wiring::{self, Models};
use muninn_platform::{Verdict, counted, in_one_line, one_line};
use serde::{Deserialize, Serialize};

use super::admin;
use super::context::Context;
use super::names::unknown_variables;
use super::output::Exit;
use super::platforms::PlatformArgs;
use super::refresh;

/// A finding as it is printed, and as `--json` gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shown {
    part: String,
    verdict: Mark,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mark {
    Ok,
    Note,
    Problem,
}

impl From<Finding> for Shown {
    fn from(finding: Finding) -> Self {
        Self {
            part: finding.part.to_owned(),
            verdict: match finding.verdict {
                Verdict::Ok => Mark::Ok,
                Verdict::Warning => Mark::Note,
                Verdict::Error => Mark::Problem,
            },
            // One finding is one line, whatever a driver's error looks like.
            text: one_line(&finding.text),
        }
    }
}

impl Shown {
    fn line(&self) -> String {
        let mark = match self.verdict {
            Mark::Ok => "ok     ",
            Mark::Note => "note   ",
            Mark::Problem => "PROBLEM",
        };
        format!("{mark}  {}: {}", self.part, self.text)
    }
}

#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One finding.
struct Finding {
    part: &'static str,
    verdict: Verdict,
    text: String,
}

/// Prints the findings; fails if anything is wrong.
pub(super) async fn run(
    at: &Context,
    platform_args: &PlatformArgs,
    args: &DoctorArgs,
) -> anyhow::Result<Exit> {
    let config = &at.config;
    let settings = settings(config).into_iter();
    let mut shown: Vec<Shown> = settings.chain(prompts(config)).map(Shown::from).collect();
    shown.extend(store(at).await);
    let mut findings = journal(config);
    findings.extend(models(config).await);
    findings.push(platforms(config, platform_args));
    findings.extend(accounts(config, platform_args).await);
    shown.extend(findings.into_iter().map(Shown::from));
    if args.json {
        at.out.say_json(&shown).await?;
    } else {
        let lines: Vec<String> = shown.iter().map(Shown::line).collect();
        at.out.line(&lines.join("\n")).await?;
    }
    Ok(Exit::of(shown.iter().all(|it| it.verdict != Mark::Problem)))
}

/// Where data is kept, and which settings are none.
fn settings(config: &Config) -> Vec<Finding> {
    let folder = std::path::absolute(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
    let data = format!(
        "in {}, {}",
        folder.display(),
        config.data_dir_reason.sentence()
    );
    let unknown = unknown_variables();
    let unknown = unknown
        .iter()
        .map(|unknown| note("settings", unknown.to_string()));
    let channels = config.channels.unknown_places();
    let channels = channels.into_iter().map(|place| {
        let text = format!("CHANNEL_SETTINGS has {place:?}, which is no channel of a platform; `muninn sessions --json` shows the audiences");
        note("settings", text)
    });
    let mut findings = vec![well("data", data)];
    findings.extend(unknown);
    findings.extend(channels);
    findings
}

fn note(part: &'static str, text: String) -> Finding {
    Finding {
        part,
        verdict: Verdict::Warning,
        text,
    }
}

/// Whether prompts and tools of one's own can be used, and which files nobody reads.
fn prompts(config: &Config) -> Vec<Finding> {
    let folder = config.prompts_dir.as_deref();
    let prompts = match Prompts::load(folder) {
        Ok(_) => well("prompts", "all of them render"),
        Err(error) => return vec![wrong("prompts", &error)],
    };
    let mut findings = vec![prompts];
    findings.extend(
        CypherTool::load(folder)
            .err()
            .map(|error| wrong("tools", &error)),
    );
    findings.extend(
        Weights::load(folder)
            .err()
            .map(|error| wrong("search", &error)),
    );
    findings.extend(
        NodeSettings::load(folder)
            .err()
            .map(|error| wrong("nodes", &error)),
    );
    match folder.map(unread_files).transpose() {
        Ok(unread) => {
            let unread = unread.into_iter().flatten();
            findings.extend(unread.map(|unread| note("prompts", unread)));
        }
        Err(error) => findings.push(wrong("prompts", &error)),
    }
    findings
}

/// What is found of the graph, by the process that has it open.
async fn store(at: &Context) -> Vec<Shown> {
    let connected = match admin::connect(&at.config).await {
        Ok(Some(connection)) => connection,
        Ok(None) => return of_graph(at).await,
        Err(error) => return vec![wrong("graph", error.as_ref()).into()],
    };
    let pid = connected.pid();
    match connected.health().await {
        Ok(mut findings) => {
            let running = format!("open in process {pid}, which was asked");
            findings.insert(0, well("graph", running).into());
            findings
        }
        Err(error) => vec![wrong("graph", error.as_ref()).into()],
    }
}

/// What is found of the graph.
pub(super) async fn of_graph(at: &Context) -> Vec<Shown> {
    let findings = findings_of_graph(at).await;
    findings.into_iter().map(Shown::from).collect()
}

async fn findings_of_graph(at: &Context) -> Vec<Finding> {
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
    let tools = tools(config, &opened).await;
    let vectors = vectors(config, &opened).await;
    let closed = opened.close().await;
    let reloading = at
        .running
        .as_ref()
        .and_then(|running| running.reloading.problem());
    let mut findings = match health {
        Ok(health) => of_health(&health),
        Err(error) => vec![wrong("graph", &error)],
    };
    findings.extend(knowledge);
    findings.extend(sources);
    findings.extend(tools);
    findings.extend(vectors);
    findings.extend(reloading.map(|problem| Finding {
        part: "prompts",
        verdict: Verdict::Error,
        text: format!("the process that runs uses what it read before: {problem}"),
    }));
    if let Some(running) = &at.running {
        findings.extend(of_settings(&running.reloading.settings_read()));
    }
    findings.extend(closed.err().map(|error| wrong("graph", &error)));
    findings
}

/// What the process that runs made of settings that changed meanwhile.
fn of_settings(read: &SettingsRead) -> Vec<Finding> {
    let problems = read.problems.iter().map(|problem| Finding {
        part: "settings",
        verdict: Verdict::Error,
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

fn of_health(health: &StoreHealth) -> Vec<Finding> {
    let StoreHealth {
        engine,
        schema_version,
        missing,
        sessions,
        turns,
        reading,
        warnings,
    } = health;
    let mut findings = vec![well(
        "graph",
        format!(
            "{engine}, schema {schema_version}, {}, {}",
            counted(*sessions, "conversation"),
            counted(*turns, "turn")
        ),
    )];
    findings.extend(missing.iter().map(|name| Finding {
        part: "graph",
        verdict: Verdict::Error,
        text: format!("{name} is missing; start muninn once with a user that may create constraints and indexes"),
    }));
    let reading = reading.iter().flat_map(Reading::findings);
    findings.extend(reading.map(|of_reading| as_ours("graph", of_reading)));
    findings.extend(warnings.iter().map(|warning| Finding {
        part: "graph",
        verdict: Verdict::Warning,
        text: warning.clone(),
    }));
    findings
}

/// What lags behind of the sources that were ingested.
async fn sources(config: &Config, store: &GraphStore) -> Vec<Finding> {
    // Models that cannot be used are told of elsewhere.
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
        warnings.into_iter().map(move |warning| Finding {
            part: "knowledge",
            verdict: Verdict::Warning,
            text: format!("{name}: {warning}"),
        })
    };
    let stale = match refresh::freshness(config).await {
        Ok(fresh) if fresh.iter().any(|fresh| fresh.lag.is_some()) => {
            fresh.iter().filter_map(of_freshness).collect()
        }
        Ok(fresh) if fresh.is_empty() => Vec::new(),
        Ok(fresh) => {
            let count = counted(fresh.len(), "source");
            vec![well(
                "sources",
                format!("refreshed as they should be: {count}"),
            )]
        }
        Err(problem) => vec![Finding {
            part: "sources",
            verdict: Verdict::Error,
            text: format!("they are not refreshed: {problem}"),
        }],
    };
    sources.iter().flat_map(lags).chain(stale).collect()
}

/// What is to be said of a source that should be read again by itself.
fn of_freshness(fresh: &Freshness) -> Option<Finding> {
    let lag = fresh.lag.as_ref()?;
    Some(Finding {
        part: "sources",
        verdict: match fresh.has_failed() {
            true => Verdict::Error,
            false => Verdict::Warning,
        },
        text: format!("{}: {lag}", fresh.configured.name),
    })
}

/// Labels that are named; a graph may have thousands.
const NAMED: usize = 5;

/// What there is to ask the graph about.
async fn knowledge(config: &Config, store: &GraphStore) -> Vec<Finding> {
    let survey = match store.schema().await {
        Ok(survey) => survey,
        Err(error) => return vec![wrong("knowledge", &error)],
    };
    if survey.is_empty() {
        return vec![Finding {
            part: "knowledge",
            verdict: Verdict::Warning,
            text: super::schema::NONE.to_owned(),
        }];
    }
    let held = held(&survey);
    std::iter::once(held)
        .chain(nodes(config, &survey))
        .collect()
}

fn held(survey: &Survey) -> Finding {
    let labels = survey.ranked_labels();
    let mut named: Vec<String> = labels
        .iter()
        .take(NAMED)
        .map(|(label, number)| format!("{number} {label}"))
        .collect();
    if labels.len() > NAMED {
        named.push(counted(labels.len() - NAMED, "more label"));
    }
    let types = survey.relationships.len();
    let types = counted(types, "relationship type");
    well("knowledge", format!("{}; {types}", named.join(", ")))
}

/// Which nodes are searched by meaning, and what `nodes.toml` names that the graph has not.
fn nodes(config: &Config, survey: &Survey) -> Vec<Finding> {
    // One that cannot be read is told with the prompts.
    let Ok(settings) = NodeSettings::load(config.prompts_dir.as_deref()) else {
        return Vec::new();
    };
    let plan = settings.plan(survey);
    let problems = plan.problems.iter().map(|text| Finding {
        part: "nodes",
        verdict: Verdict::Error,
        text: format!("nodes.toml: {text}"),
    });
    let searched = plan.searched();
    let searched =
        (!searched.is_empty()).then(|| well("nodes", format!("searched by meaning: {searched}")));
    problems.chain(searched).collect()
}

/// Whether the tools of one's own are sound, and fit the graph.
async fn tools(config: &Config, store: &Arc<GraphStore>) -> Vec<Finding> {
    let folder = config.prompts_dir.as_deref();
    let Ok(prompts) = Prompts::load(folder) else {
        return Vec::new();
    };
    // One that cannot be read is told with the prompts.
    let Ok(toolbox) = Toolbox::load(folder, &prompts, Arc::clone(store)) else {
        return Vec::new();
    };
    // That the graph cannot be asked is told elsewhere.
    let offer = toolbox.offer().await.unwrap_or_default();
    let Some(offer) = offer else {
        return unreadable_tools(config);
    };
    let unfit = offer.unfit.iter().cloned();
    unfit.map(wrong_tool).collect()
}

/// Tools of one's own whose statements cannot be read: so much can be said without any knowledge.
fn unreadable_tools(config: &Config) -> Vec<Finding> {
    let tools = CypherTool::load(config.prompts_dir.as_deref());
    let tools = tools.unwrap_or_default().into_iter();
    let unreadable = tools.filter_map(|tool| {
        let refusal = tool.check_statement().err()?;
        let (name, file) = (&tool.spec.name, &tool.file);
        Some(format!(
            "the statement of the tool {name} of {file} cannot run: {refusal}"
        ))
    });
    unreadable.map(wrong_tool).collect()
}

fn wrong_tool(text: String) -> Finding {
    Finding {
        part: "tools",
        verdict: Verdict::Error,
        text,
    }
}

/// Whether recall can compare the turns' vectors. That there is no embedder is told elsewhere.
async fn vectors(config: &Config, store: &GraphStore) -> Vec<Finding> {
    let Ok(Models { chat: _, embedder }) = wiring::models(config) else {
        return Vec::new();
    };
    let worth = |text| Finding {
        part: "recall",
        verdict: Verdict::Warning,
        text,
    };
    let mut findings: Vec<Finding> = wiring::calibration(config, &embedder)
        .err()
        .map(|error| wrong("recall", &error))
        .into_iter()
        .collect();
    match stale(store, &embedder).await {
        Ok(Stale { foreign, missing }) => {
            if foreign > 0 {
                findings.push(worth(format!(
                    "vectors of another embedder: {}; run `muninn reembed`",
                    counted(foreign, "turn")
                )));
            }
            if missing > 0 {
                findings.push(worth(format!(
                    "without a vector: {}; run `muninn reembed`",
                    counted(missing, "turn")
                )));
            }
        }
        Err(error) => findings.push(wrong("graph", &error)),
    }
    findings
}

/// What waits for the graph, and what it refused; whoever works on it.
fn journal(config: &Config) -> Vec<Finding> {
    let waiting = match journal::waiting_in(&config.data_dir) {
        Ok(0) => well("journal", "no turn waits for the graph"),
        Ok(waiting) => Finding {
            part: "journal",
            verdict: Verdict::Warning,
            text: format!(
                "waiting for the graph: {}; `muninn chat` or `muninn serve` saves them once the graph takes them",
                counted(waiting, "turn")
            ),
        },
        Err(error) => wrong("journal", &error),
    };
    let aside = SetAside::of(&config.data_dir);
    let refused = match aside.all() {
        Ok(refused) if refused.is_empty() => None,
        Ok(refused) => Some(Finding {
            part: "journal",
            verdict: Verdict::Error,
            text: format!(
                "refused by the graph and set aside: {} in {}; `muninn offline-turns list` says why, `muninn offline-turns retry` tries again",
                counted(refused.len(), "turn"),
                aside.path().display()
            ),
        }),
        Err(error) => Some(wrong("journal", &error)),
    };
    [Some(waiting), refused].into_iter().flatten().collect()
}

async fn models(config: &Config) -> Vec<Finding> {
    let Models {
        chat: chain,
        embedder,
    } = match wiring::models(config) {
        Ok(models) => models,
        Err(error) => {
            return vec![wrong("model", &error)];
        }
    };
    let Some(chain) = chain else {
        return vec![Finding {
            part: "model",
            verdict: Verdict::Warning,
            text: "none, so answers come from memory alone; set OPENAI_API_KEY, or OPENAI_BASE_URL for a service such as Ollama".to_owned(),
        }];
    };
    let remote = match &embedder {
        Embedder::Remote(remote) => Some(remote),
        Embedder::Local(_) => None,
    };
    // With MODELS the embedder's service may be another one.
    let beside = remote.filter(|_| config.embedding_service.is_some());
    let mut findings = Vec::new();
    let several = chain.models().count() > 1;
    for (at, chat) in chain.models().enumerate() {
        let remote = remote.filter(|_| at == 0 && beside.is_none());
        let found = of_chat_model(chat, remote, several).await.into_iter();
        let name = chat.model(Purpose::Answer);
        let is_last = at + 1 == chain.models().count();
        findings.extend(found.map(|finding| Finding {
            text: match (several, finding.verdict) {
                (false, _) => finding.text,
                (true, Verdict::Error) if !is_last => {
                    let number = at + 1;
                    format!(
                        "{number}. {name}: {}; the next one answers instead",
                        finding.text
                    )
                }
                (true, Verdict::Ok | Verdict::Warning | Verdict::Error) => {
                    format!("{}. {name}: {}", at + 1, finding.text)
                }
            },
            ..finding
        }));
    }
    findings.extend(prices(config, &chain));
    if let Some(remote) = beside {
        findings.push(match remote.embed(&["Hello".to_owned()]).await {
            Ok(_) => well("embedder", format!("{} answers", remote.model())),
            Err(error) => wrong("embedder", &error),
        });
    }
    findings
}

/// Whether budgets can be kept: what models cost has to be known.
fn prices(config: &Config, chain: &ModelChain) -> Vec<Finding> {
    let prices = match Prices::load(config.model_prices.as_deref()) {
        Ok(prices) => prices,
        Err(error) => return vec![wrong("budget", &error)],
    };
    if config.budget == BudgetConfig::default() {
        return Vec::new();
    }
    let models = chain.models().flat_map(|chat| {
        [Purpose::Answer, Purpose::Utility].map(|purpose| chat.model(purpose).to_owned())
    });
    let unknown: BTreeSet<String> = models.filter(|model| !prices.knows(model)).collect();
    if unknown.is_empty() {
        return vec![well("budget", "every model has a price")];
    }
    let unknown: Vec<String> = unknown.into_iter().collect();
    vec![Finding {
        part: "budget",
        verdict: Verdict::Warning,
        text: format!(
            "no price is known of {}, whose calls count as free; set MODEL_PRICES if they are not",
            unknown.join(", ")
        ),
    }]
}

/// What works of a service: its list, and each of its models.
async fn of_chat_model(
    chat: &ChatModel,
    remote: Option<&RemoteEmbedder>,
    several: bool,
) -> Vec<Finding> {
    let checked = match chat.check(remote).await {
        Ok(checked) => checked,
        Err(error) => return vec![wrong("model", &error)],
    };
    let mut findings: Vec<Finding> = checked.iter().map(|one| of_model(one, several)).collect();
    for (purpose, part) in [
        (Purpose::Answer, "model"),
        (Purpose::Utility, "utility model"),
    ] {
        let is_good = |one: &Checked| one.model == chat.model(purpose) && one.is_good();
        let is_another = purpose == Purpose::Answer
            || chat.model(Purpose::Utility) != chat.model(Purpose::Answer);
        if is_another && checked.iter().any(is_good) {
            findings.extend(match chat.try_out(purpose).await {
                Ok(tried) => of_try(part, &tried),
                Err(error) => vec![wrong(part, &error)],
            });
        }
    }
    findings
}

/// What a model was found to do, a line each.
fn of_try(part: &'static str, tried: &TriedOut) -> Vec<Finding> {
    let note = |verdict: Verdict, text: String| Finding {
        part,
        verdict,
        text,
    };
    let tools = match tried.tools {
        Tried::Works => well(part, "calls tools"),
        Tried::InWords => well(part, "calls tools in words: the service offers none itself"),
        Tried::Misses => note(
            Verdict::Warning,
            "did not call a tool when it was asked to: knowledge is searched for every question before it answers, and the graph is not asked; a model that calls tools does more".to_owned(),
        ),
    };
    let data = match tried.data {
        Tried::Works => well(part, "answers in JSON"),
        Tried::InWords => well(part, "answers in JSON where the prompt asks for it"),
        Tried::Misses => note(
            Verdict::Warning,
            "does not answer in JSON: follow-up questions are left out".to_owned(),
        ),
    };
    let streams = match tried.streams {
        Tried::Works => well(part, "streams its answers"),
        Tried::InWords => well(part, "answers as a whole: nobody sees it grow"),
        Tried::Misses => note(
            Verdict::Warning,
            "wrote no answer to a plain question".to_owned(),
        ),
    };
    let context = match tried.context {
        Some(context) if tried.reads_enough() => {
            well(part, format!("reads {}", counted(context, "token")))
        }
        Some(context) => note(
            Verdict::Error,
            format!(
                "reads only {}; below {LEAST_USEFUL_CONTEXT} there is no room for what was said before: give the service a longer context",
                counted(context, "token")
            ),
        ),
        None => well(
            part,
            "the service does not tell how much it reads; CONTEXT_TOKENS is believed until it refuses",
        ),
    };
    let mut findings = vec![tools, data, streams, context];
    findings.extend(tried.speed.map(|speed| of_speed(part, speed)));
    if !tried.system_role {
        findings.push(well(
            part,
            "has no system role: instructions stand before the question",
        ));
    }
    findings
}

/// How fast it is, and what follows from that.
fn of_speed(part: &'static str, speed: Speed) -> Finding {
    let step = speed.small_step();
    let writes = speed.tokens_per_second();
    let writes = writes.map(|it| format!(", then {it:.0} tokens a second"));
    let measured = format!(
        "begins to answer after {:.1} s{}; a small step takes {:.1} s",
        speed.first.as_secs_f64(),
        writes.unwrap_or_default(),
        step.as_secs_f64()
    );
    let (verdict, slow) = if step >= VERY_SLOW_STEP {
        (
            Verdict::Warning,
            ": too slow for follow-up questions and rephrasing, which are left out",
        )
    } else if step >= SLOW_STEP {
        (
            Verdict::Warning,
            ": slow, so follow-up questions are asked once at most",
        )
    } else {
        (Verdict::Ok, "")
    };
    Finding {
        part,
        verdict,
        text: format!("{measured}{slow}"),
    }
}

fn of_model(checked: &Checked, several: bool) -> Finding {
    let (part, variable) = match checked.role {
        Role::Chat if several => ("model", "MODELS"),
        Role::Chat => ("model", "CHAT_MODEL"),
        Role::Utility => ("utility model", "UTILITY_MODEL"),
        Role::Embedding => ("embedder", "EMBEDDING_MODEL"),
    };
    let model = &checked.model;
    match &checked.finding {
        Known::Listed => well(part, format!("the service lists {model}")),
        Known::Answers => well(part, format!("{model} answers")),
        Known::NotListed => Finding {
            part,
            verdict: Verdict::Error,
            text: format!("the service does not list {model}; check {variable}"),
        },
        Known::Fails(error) => wrong(part, error),
    }
}

fn platforms(config: &Config, args: &PlatformArgs) -> Finding {
    let platforms = args.named(config);
    if platforms.is_empty() {
        return Finding {
            part: "platforms",
            verdict: Verdict::Warning,
            text: "only `muninn chat`; set SLACK_BOT_TOKEN, DISCORD_TOKEN, MATRIX_HOMESERVER, WEBHOOK_ADDR or TERMINAL_SOCKET for `muninn serve`"
                .to_owned(),
        };
    }
    well("platforms", platforms.join(", "))
}

/// What each platform says of its account.
async fn accounts(config: &Config, args: &PlatformArgs) -> Vec<Finding> {
    let found = super::platforms::accounts(config, args).await.into_iter();
    found
        .map(|(part, finding)| as_ours(part, finding))
        .collect()
}

fn as_ours(part: &'static str, finding: muninn_platform::Finding) -> Finding {
    let muninn_platform::Finding { verdict, text } = finding;
    Finding {
        part,
        verdict,
        text,
    }
}

fn well(part: &'static str, text: impl Into<String>) -> Finding {
    Finding {
        part,
        verdict: Verdict::Ok,
        text: text.into(),
    }
}

/// An error with its causes, in one line.
fn wrong(part: &'static str, error: &dyn std::error::Error) -> Finding {
    Finding {
        part,
        verdict: Verdict::Error,
        text: in_one_line(error),
    }
}

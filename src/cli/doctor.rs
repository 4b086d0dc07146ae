//! `muninn doctor`: checks every part and says how to fix problems.

mod addresses;
pub(super) mod finding;
mod graph;
mod models;
mod places;
mod tools;

use muninn::agent::prompts::{Prompts, unread_files};
use muninn::agent::tools::ToolFiles;
use muninn::config::{Config, ConfigError, data_dir};
use muninn::conversation::channel_kind;
use muninn::knowledge::search::Weights;
use muninn::knowledge::search::nodes::NodeSettings;
use muninn::memory::journal::{self, SetAside};
use muninn_platform::{CheckStatus, count_with_noun, in_one_line};

use super::admin;
use super::args::doctor::DoctorArgs;
use super::args::platforms::PlatformArgs;
use super::context::Context;
use super::data_owner::refuse_root;
use super::env_file;
use super::exit::Exit;
use super::names::unknown_variables;
use super::traces;
use finding::{DoctorFinding, PrintedFinding, VerdictLabel, as_ours, note, well, wrong};

#[cfg(feature = "web")]
impl From<PrintedFinding> for muninn::web::PartFinding {
    fn from(shown: PrintedFinding) -> Self {
        Self {
            verdict: match shown.verdict {
                VerdictLabel::Ok => CheckStatus::Ok,
                VerdictLabel::Note => CheckStatus::Warning,
                VerdictLabel::Problem => CheckStatus::Error,
            },
            part: shown.part,
            text: shown.text,
        }
    }
}

/// Prints the findings; fails if anything is wrong. `channels` is the error of the channel
/// settings, if they could not be read.
pub(super) async fn run(
    at: &Context,
    platform_args: &PlatformArgs,
    args: &DoctorArgs,
    channels: Option<&ConfigError>,
) -> anyhow::Result<Exit> {
    // It opens the graph, and notes what models can do.
    refuse_root(&at.config)?;
    let channels = channels.map(|error| PrintedFinding::from(wrong("channels", error)));
    let mut shown: Vec<PrintedFinding> = channels.into_iter().collect();
    shown.extend(findings(at, Some(platform_args)).await);
    if args.json {
        at.out.say_json(&shown).await?;
    } else {
        let lines: Vec<String> = shown.iter().map(PrintedFinding::line).collect();
        at.out.line(&lines.join("\n")).await?;
    }
    Ok(Exit::of(
        shown.iter().all(|it| it.verdict != VerdictLabel::Problem),
    ))
}

/// Returns the findings about every part. `None`: no platform is connected.
pub(super) async fn findings(
    at: &Context,
    platform_args: Option<&PlatformArgs>,
) -> Vec<PrintedFinding> {
    let config = &at.config;
    let settings = settings(config).into_iter();
    let mut shown: Vec<PrintedFinding> = settings
        .chain(prompts(config))
        .map(PrintedFinding::from)
        .collect();
    let (of_store, is_served) = store(at).await;
    shown.extend(of_store);
    let mut findings = tools::findings(config).await;
    findings.extend(addresses::findings(at, platform_args, is_served).await);
    findings.extend(journal(config));
    findings.extend(models::findings(config).await);
    findings.extend(collector(config).await);
    if let Some(args) = platform_args {
        findings.push(platforms(config, args));
        findings.extend(accounts(config, args).await);
    }
    shown.extend(findings.into_iter().map(PrintedFinding::from));
    shown
}

/// Checks the data folder, and for unknown settings.
fn settings(config: &Config) -> Vec<DoctorFinding> {
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
        let text = format!("CHANNEL_SETTINGS has {place:?}, which is no channel of a platform; `muninn sessions` shows the audiences");
        note("settings", text)
    });
    let checked =
        data_dir::format(&config.data_dir).and_then(|_| data_dir::check_writable(&config.data_dir));
    let data = match checked {
        Ok(()) => well("data", data),
        Err(error) => DoctorFinding {
            part: "data",
            verdict: CheckStatus::Error,
            text: in_one_line(&error),
        },
    };
    let mut findings = vec![data];
    findings.extend(unknown);
    findings.extend(lost_dollars());
    findings.extend(channels);
    findings.extend(kinds(config));
    findings.extend(retention(config));
    findings
}

/// Names values in `.env` that are others than they look.
fn lost_dollars() -> Vec<DoctorFinding> {
    // What cannot be read was told at the start.
    let text = std::fs::read_to_string(".env").unwrap_or_default();
    let found = env_file::with_lost_dollars(&text, |name| std::env::var_os(name).is_some());
    let told = found.into_iter().map(|variable| {
        let text = format!("{variable} in .env has a $ that is replaced by nothing, with the name behind it, because no such variable is set; if it belongs to the value, write '…' around the value");
        note("settings", text)
    });
    told.collect()
}

/// Describes channels with their own kind, and checks their settings.
fn kinds(config: &Config) -> Vec<DoctorFinding> {
    let told = config.channels.tables().into_iter();
    let told = told.map(|(channel, set)| (channel, channel_kind::describe_settings(&set)));
    let told = told.filter(|(_, line)| !line.is_empty());
    let told = told.map(|(channel, line)| well("channels", format!("{channel}: {line}")));
    let problems = channel_kind::problems(
        &config.channels,
        config.prompts_dir.as_deref(),
        &config.mcp_file,
    );
    let problems = problems.into_iter().map(|text| DoctorFinding {
        part: "channels",
        verdict: CheckStatus::Error,
        text,
    });
    told.chain(problems).collect()
}

/// Describes how long messages of channels are kept.
fn retention(config: &Config) -> Vec<DoctorFinding> {
    let told = config.channels.tables().into_iter();
    let told = told.filter_map(|(channel, set)| {
        let days = set.retain_days.map(|days| {
            let days = count_with_noun(days.get(), "day");
            format!("what is said is deleted after {days}")
        });
        let hold = set.legal_hold.then(|| {
            "under a legal hold: nothing is deleted, and what people forget is copied for you alone; `muninn export` has the copies".to_owned()
        });
        // A legal hold takes precedence over deletion.
        let line = hold.or(days)?;
        Some(well("retention", format!("{channel}: {line}")))
    });
    told.collect()
}

/// Checks whether the collector accepts traces, if tracing is on.
async fn collector(config: &Config) -> Option<DoctorFinding> {
    Some(match traces::check(&config.traces).await? {
        Ok(text) => well("traces", text),
        Err(text) => DoctorFinding {
            part: "traces",
            verdict: CheckStatus::Error,
            text,
        },
    })
}

/// Checks the team's prompts and tools, and for files that nothing reads.
fn prompts(config: &Config) -> Vec<DoctorFinding> {
    let folder = config.prompts_dir.as_deref();
    let prompts = match Prompts::load(folder) {
        Ok(_) => well("prompts", "all of them render"),
        Err(error) => return vec![wrong("prompts", &error)],
    };
    let mut findings = vec![prompts];
    findings.extend(
        ToolFiles::load(folder)
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

/// Returns the findings about the graph, from the process that has it open, and whether there is
/// one.
async fn store(at: &Context) -> (Vec<PrintedFinding>, bool) {
    let connected = match admin::connect(&at.config).await {
        Ok(Some(connection)) => connection,
        Ok(None) => return (of_graph(at).await, at.running.is_some()),
        Err(error) => return (vec![wrong("graph", error.as_ref()).into()], true),
    };
    let pid = connected.pid();
    let found = match connected.health().await {
        Ok(mut findings) => {
            let running = format!("open in process {pid}, which was asked");
            findings.insert(0, well("graph", running).into());
            findings
        }
        Err(error) => vec![wrong("graph", error.as_ref()).into()],
    };
    (found, true)
}

/// Returns the findings about the graph.
pub(super) async fn of_graph(at: &Context) -> Vec<PrintedFinding> {
    let (graph, servers) = tokio::join!(graph::findings(at), tools::servers(at));
    let findings = graph.into_iter().chain(servers);
    findings.map(PrintedFinding::from).collect()
}

/// Describes what waits for the graph and what it refused, by any process.
fn journal(config: &Config) -> Vec<DoctorFinding> {
    let waiting = match journal::waiting_in(&config.data_dir) {
        Ok(0) => well("journal", "no turn waits for the graph"),
        Ok(waiting) => DoctorFinding {
            part: "journal",
            verdict: CheckStatus::Warning,
            text: format!(
                "waiting for the graph: {}; `muninn chat` or `muninn serve` saves them once the graph takes them",
                count_with_noun(waiting, "turn")
            ),
        },
        Err(error) => wrong("journal", &error),
    };
    let aside = SetAside::of(&config.data_dir);
    let refused = match aside.all() {
        Ok(refused) if refused.is_empty() => None,
        Ok(refused) => Some(DoctorFinding {
            part: "journal",
            verdict: CheckStatus::Error,
            text: format!(
                "refused by the graph and set aside: {} in {}; `muninn offline-turns list` says why, `muninn offline-turns retry` tries again",
                count_with_noun(refused.len(), "turn"),
                aside.path().display()
            ),
        }),
        Err(error) => Some(wrong("journal", &error)),
    };
    [Some(waiting), refused].into_iter().flatten().collect()
}

fn platforms(config: &Config, args: &PlatformArgs) -> DoctorFinding {
    let platforms = args.named(config);
    if platforms.is_empty() {
        return DoctorFinding {
            part: "platforms",
            verdict: CheckStatus::Warning,
            text: "only `muninn chat`; set SLACK_BOT_TOKEN, DISCORD_TOKEN, MATRIX_HOMESERVER, WEBHOOK_ADDR or TERMINAL_SOCKET for `muninn serve`"
                .to_owned(),
        };
    }
    well("platforms", platforms.join(", "))
}

/// Returns what each platform reports about its account.
async fn accounts(config: &Config, args: &PlatformArgs) -> Vec<DoctorFinding> {
    let found = super::platforms::accounts(config, args).await.into_iter();
    found
        .map(|(part, finding)| as_ours(part, finding))
        .collect()
}

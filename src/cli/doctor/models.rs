//! Checks the models.

use std::collections::BTreeSet;

use muninn::agent::budget::BudgetConfig;
use muninn::agent::effort::{SLOW_STEP, VERY_SLOW_STEP};
use muninn::config::Config;
use muninn::llm::{
    ChatModel, Embedder, LEAST_USEFUL_CONTEXT, ModelAvailability as Known, ModelChain, ModelCheck,
    ModelError, Prices, Purpose, RemoteEmbedder, Role, Speed, TryoutReport, TryoutResult,
};
use muninn::wiring::{self, Models};
use muninn_platform::{CheckStatus, count_with_noun, in_one_line};

use super::finding::{DoctorFinding, note, well, wrong};

pub(super) async fn findings(config: &Config) -> Vec<DoctorFinding> {
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
        return vec![DoctorFinding {
            part: "model",
            verdict: CheckStatus::Warning,
            text: "none, so answers come from memory alone; set OPENAI_API_KEY, or OPENAI_BASE_URL for a service such as Ollama".to_owned(),
        }];
    };
    let remote = match &embedder {
        Embedder::Remote(remote) => Some(remote),
        Embedder::Local(_) => None,
    };
    // With MODELS the embedding service may be another one.
    let beside = remote.filter(|_| config.embedding_service.is_some());
    let mut findings = Vec::new();
    let several = chain.models().count() > 1;
    for (at, chat) in chain.models().enumerate() {
        let remote = remote.filter(|_| at == 0 && beside.is_none());
        let found = of_chat_model(chat, remote, several).await.into_iter();
        let name = chat.model(Purpose::Answer);
        let is_last = at + 1 == chain.models().count();
        findings.extend(found.map(|finding| DoctorFinding {
            text: match (several, finding.verdict) {
                (false, _) => finding.text,
                (true, CheckStatus::Error) if !is_last => {
                    let number = at + 1;
                    format!(
                        "{number}. {name}: {}; the next one answers instead",
                        finding.text
                    )
                }
                (true, CheckStatus::Ok | CheckStatus::Warning | CheckStatus::Error) => {
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

/// Checks whether budgets can be applied: the prices of models must be known.
fn prices(config: &Config, chain: &ModelChain) -> Vec<DoctorFinding> {
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
    vec![DoctorFinding {
        part: "budget",
        verdict: CheckStatus::Warning,
        text: format!(
            "no price is known of {}, whose calls count as free; set MODEL_PRICES if they are not",
            unknown.join(", ")
        ),
    }]
}

/// Checks a service: its list, and each of its models.
async fn of_chat_model(
    chat: &ChatModel,
    remote: Option<&RemoteEmbedder>,
    several: bool,
) -> Vec<DoctorFinding> {
    let checked = match chat.check(remote).await {
        Ok(checked) => checked,
        Err(error) => return vec![wrong("model", &error)],
    };
    let mut findings: Vec<DoctorFinding> =
        checked.iter().map(|one| of_model(one, several)).collect();
    for (purpose, part) in [
        (Purpose::Answer, "model"),
        (Purpose::Utility, "utility model"),
    ] {
        let is_good = |one: &ModelCheck| one.model == chat.model(purpose) && one.is_good();
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

/// Describes a model's capabilities, one per line.
fn of_try(part: &'static str, tried: &TryoutReport) -> Vec<DoctorFinding> {
    let note = |verdict: CheckStatus, text: String| DoctorFinding {
        part,
        verdict,
        text,
    };
    let tools = match tried.tools {
        TryoutResult::Works => well(part, "calls tools"),
        TryoutResult::InWords => well(part, "calls tools in words: the service offers none itself"),
        TryoutResult::Misses => note(
            CheckStatus::Warning,
            "did not call a tool when it was asked to: knowledge is searched for every question before it answers, and the graph is not asked; a model that calls tools does more".to_owned(),
        ),
    };
    let data = match tried.data {
        TryoutResult::Works => well(part, "answers in JSON"),
        TryoutResult::InWords => well(part, "answers in JSON where the prompt asks for it"),
        TryoutResult::Misses => note(
            CheckStatus::Warning,
            "does not answer in JSON: follow-up questions are left out".to_owned(),
        ),
    };
    let streams = match tried.streams {
        TryoutResult::Works => well(part, "streams its answers"),
        TryoutResult::InWords => well(part, "answers as a whole: nobody sees it grow"),
        TryoutResult::Misses => note(
            CheckStatus::Warning,
            "wrote no answer to a plain question".to_owned(),
        ),
    };
    let context = match tried.context {
        Some(context) if tried.reads_enough() => {
            well(part, format!("reads {}", count_with_noun(context, "token")))
        }
        Some(context) => note(
            CheckStatus::Error,
            format!(
                "reads only {}; below {LEAST_USEFUL_CONTEXT} there is no room for what was said before: give the service a longer context",
                count_with_noun(context, "token")
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

/// Describes its speed, and the consequences.
fn of_speed(part: &'static str, speed: Speed) -> DoctorFinding {
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
            CheckStatus::Warning,
            ": too slow for follow-up questions and rephrasing, which are left out",
        )
    } else if step >= SLOW_STEP {
        (
            CheckStatus::Warning,
            ": slow, so follow-up questions are asked once at most",
        )
    } else {
        (CheckStatus::Ok, "")
    };
    DoctorFinding {
        part,
        verdict,
        text: format!("{measured}{slow}"),
    }
}

fn of_model(checked: &ModelCheck, several: bool) -> DoctorFinding {
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
        Known::AnswersUnlisted => note(
            part,
            format!(
                "{model} answers, but the service does not list it, as is usual for an alias or a deployment; if it is neither, check {variable}"
            ),
        ),
        Known::NotListed(error) => DoctorFinding {
            part,
            verdict: CheckStatus::Error,
            text: not_listed(model, variable, error),
        },
        Known::Fails(error) => wrong(part, error),
    }
}

/// Says that the service does not list a model, and with which error it answered, unless that says the same.
fn not_listed(model: &str, variable: &str, error: &ModelError) -> String {
    let text = format!("the service does not list {model}; check {variable}");
    if matches!(error, ModelError::UnknownModel { .. }) {
        return text;
    }
    format!("{text} (a request for it failed: {})", in_one_line(error))
}

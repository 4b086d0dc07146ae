//! Commands that look at the graph.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use muninn::config::Config;
use muninn::graph::{self, GraphStore, SessionOverview};
use muninn::memory::{Candidate, Verdict};
use muninn::wiring::{Models, models, recaller};
use muninn_platform::{AudienceId, counted};

/// `muninn sessions`: a line per conversation, the most recent first.
pub(super) async fn sessions(config: &Config) -> anyhow::Result<ExitCode> {
    let store = graph::open(&config.graph).await?;
    let sessions = store.sessions().await?;
    store.close().await?;
    let mut out = std::io::stdout().lock();
    if sessions.is_empty() {
        writeln!(out, "No conversations yet. `muninn chat` begins one.")?;
    }
    for session in sessions {
        writeln!(out, "{}", line(&session))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(session: &SessionOverview) -> String {
    let last = session.last_at.unwrap_or(session.created_at);
    format!(
        "{}  {:>11}  {}  {}",
        last.format("%Y-%m-%d %H:%M"),
        counted(session.turns, "turn"),
        session.id,
        session.title.as_deref().unwrap_or("")
    )
}

/// Where a question is asked.
pub(super) enum Scope {
    Session(String),
    Audience(String),
}

/// `muninn recall`: what would be recalled for a question, and what became of the rest.
pub(super) async fn recall(
    config: &Config,
    question: &str,
    scope: Scope,
    limit: usize,
) -> anyhow::Result<ExitCode> {
    let Models { chat: _, embedder } = models(config)?;
    let recaller = recaller(config, embedder)?;
    let store = graph::open(&config.graph).await?;
    let audience = audience(&*store, scope).await?;
    let sought = recaller.seek(question).await;
    recaller.load(&*store, &audience).await;
    let candidates = recaller.candidates(&audience, &sought, limit);
    store.close().await?;

    let mut out = std::io::stdout().lock();
    if candidates.is_empty() {
        writeln!(out, "Nothing in {audience} can be recalled.")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "probability  cosine   ln bm25  coverage  hints  verdict       exchange"
    )?;
    for candidate in &candidates {
        writeln!(out, "{}", as_row(candidate))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn audience(store: &dyn GraphStore, scope: Scope) -> anyhow::Result<AudienceId> {
    let session = match scope {
        Scope::Audience(audience) => return Ok(AudienceId::new(audience)),
        Scope::Session(session) => session,
    };
    let sessions = store.sessions().await?;
    let found = sessions.into_iter().find(|known| known.id == session);
    let found = found.with_context(|| {
        format!("there is no conversation {session}; `muninn sessions` lists them")
    })?;
    Ok(AudienceId::new(found.audience))
}

fn as_row(candidate: &Candidate) -> String {
    let Candidate {
        exchange,
        verdict,
        is_quoted,
    } = candidate;
    let verdict = match verdict {
        Verdict::Recalled if *is_quoted => "and quoted",
        Verdict::Recalled if exchange.superseded.is_some() => "outdated",
        Verdict::Recalled => "recalled",
        Verdict::InWindow => "in window",
        Verdict::BelowThreshold => "below",
        Verdict::NothingStandsOut => "doubtful",
        Verdict::SmallTalk => "small talk",
        Verdict::Duplicate { .. } => "duplicate",
        Verdict::OverBudget => "over budget",
        Verdict::OverLimit => "over limit",
    };
    let cosine = exchange
        .features
        .cosine
        .map_or("-".to_owned(), |cosine| format!("{cosine:.3}"));
    let text: String = exchange
        .input
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    format!(
        "{:>11.4}  {cosine:>6}  {:>8.2}  {:>8.2}  {:>+5.1}  {verdict:<12}  [{}, {}] {}",
        exchange.probability,
        exchange.features.ln_bm25,
        exchange.features.coverage,
        exchange.features.hints.logit(),
        exchange.at.format("%Y-%m-%d"),
        exchange.author,
        text.chars().take(80).collect::<String>(),
    )
}

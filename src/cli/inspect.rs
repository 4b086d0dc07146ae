//! Commands that show the graph's content.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};
use muninn::graph::{GraphStore, SessionOverview};
use muninn::memory::{Candidate, RecallDecision, Recaller};
use muninn::retrieval::scores::shown_score;
use muninn_platform::{AudienceId, count_with_noun};
use serde_json::{Value, json};

use super::args::inspect::{RecallArgs, SessionsArgs};
use super::context::Context;
use super::exit::Exit;

/// `muninn sessions`: one line per conversation, the most recent first.
pub(super) async fn sessions(at: &Context, args: &SessionsArgs) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let sessions = store.sessions().await?;
    store.close().await?;
    if args.json {
        let sessions: Vec<Value> = sessions.iter().map(session_json).collect();
        return at.out.say_json(&sessions).await;
    }
    if sessions.is_empty() {
        let none = "No conversations yet. `muninn chat` begins one.";
        return at.out.say(none).await;
    }
    let lines: Vec<String> = sessions.iter().map(line).collect();
    at.out.say(&lines.join("\n")).await
}

fn session_json(session: &SessionOverview) -> Value {
    json!({
        "id": session.id,
        "audience": session.audience,
        "title": session.title,
        "turns": session.turns,
        "created_at": session.created_at,
        "last_at": session.last_at,
    })
}

fn line(session: &SessionOverview) -> String {
    let last = session.last_at.unwrap_or(session.created_at);
    format!(
        "{}  {:>11}  {}  in {}  {}",
        last.format("%Y-%m-%d %H:%M"),
        count_with_noun(session.turns, "turn"),
        session.id,
        session.audience,
        session.title.as_deref().unwrap_or("")
    )
}

/// `muninn recall`: shows what would be recalled for a question, and why the rest would not.
pub(super) async fn recall(at: &Context, args: RecallArgs) -> anyhow::Result<Exit> {
    let recaller = at.recaller()?;
    let store = at.graph().await?;
    let audience = match args.session {
        Some(session) => audience_of(&store, &session).await?,
        None => AudienceId::new(args.audience),
    };
    let sought = recaller.embed_query(&args.question).await;
    // A running bot loads the newest turns again at the next question.
    recaller.forget(&audience);
    recaller.load(&store, &audience).await;
    let accounts = match args.asker {
        Some(name) => accounts_of(&store, &recaller, &audience, &name).await?,
        None => Vec::new(),
    };
    let sought = recaller.with_current_context(sought, &audience, accounts);
    let candidates = recaller.candidates(&audience, &sought, args.limit);
    store.close().await?;
    if args.json {
        let candidates: Vec<Value> = candidates.iter().map(candidate_json).collect();
        return at.out.say_json(&candidates).await;
    }
    if candidates.is_empty() {
        let nothing = format!("Nothing in {audience} can be recalled.");
        return at.out.say(&nothing).await;
    }
    let head = "probability  cosine   ln bm25  coverage  hints  verdict       exchange";
    let mut lines = vec![head.to_owned()];
    lines.extend(candidates.iter().map(as_row));
    at.out.say(&lines.join("\n")).await
}

async fn audience_of(store: &GraphStore, session: &str) -> anyhow::Result<AudienceId> {
    let sessions = store.sessions().await?;
    // Of a terminal, the name is enough, as for `chat`.
    let of_terminal = format!("terminal/{session}");
    let mut sessions = sessions.into_iter();
    let found = sessions.find(|known| known.id == session || known.id == of_terminal);
    let found = found.with_context(|| {
        format!("there is no conversation {session}; `muninn sessions` lists them")
    })?;
    Ok(AudienceId::new(found.audience))
}

/// The accounts of the person who wrote in an audience under a name, or with this ID.
async fn accounts_of(
    store: &GraphStore,
    recaller: &Recaller,
    audience: &AudienceId,
    name: &str,
) -> anyhow::Result<Vec<String>> {
    let named = recaller.accounts_named(audience, name);
    let Some(first) = named.first() else {
        bail!("nobody called {name} said anything in {audience}");
    };
    let linked = store.accounts_of(first).await?.into_iter();
    let linked = linked.map(|it| it.account.id).chain([first.clone()]);
    let own: BTreeSet<String> = linked.collect();
    if !named.is_subset(&own) {
        let all: Vec<String> = named.into_iter().collect();
        bail!(
            "several people are called {name}; give one of these instead: {}",
            all.join(", ")
        );
    }
    Ok(own.into_iter().collect())
}

fn candidate_json(candidate: &Candidate) -> Value {
    let exchange = &candidate.exchange;
    json!({
        "id": exchange.id.to_string(),
        "conversation": &*exchange.session,
        "author": &*exchange.author,
        "at": exchange.at,
        "question": exchange.input,
        "answer": exchange.output,
        "verdict": candidate.outcome(),
        "recalled": candidate.verdict == RecallDecision::Recalled,
        "probability": exchange.probability,
        "cosine": exchange.features.cosine,
        "ln_bm25": exchange.features.ln_bm25,
        "coverage": exchange.features.coverage,
        "hints": exchange.features.hints.logit(),
    })
}

fn as_row(candidate: &Candidate) -> String {
    let Candidate { exchange, .. } = candidate;
    let verdict = candidate.outcome();
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
        "{:>11}  {cosine:>6}  {:>8.2}  {:>8.2}  {:>+5.1}  {verdict:<12}  [{}, {}] {}",
        shown_score(exchange.probability, 4),
        exchange.features.ln_bm25,
        exchange.features.coverage,
        exchange.features.hints.logit(),
        exchange.at.format("%Y-%m-%d"),
        exchange.author,
        text.chars().take(80).collect::<String>(),
    )
}

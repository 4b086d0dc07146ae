//! Generated talk with which the benchmarks and `examples/figures.rs` fill a memory.
#![allow(dead_code, reason = "each of them needs a part")]

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use muninn::graph::session::Sessions;
use muninn::graph::{Embedding, GraphStore, NewTurn, Turn};
use muninn::memory::embedded_text;
use muninn::retrieval::LocalEmbedder;
use muninn_platform::{Audience, AudienceId, ConversationId};

/// Number of concurrent sessions that the turns are spread over.
pub(crate) const SESSIONS: usize = 50;

const SUBJECTS: &[&str] = &[
    "gateway",
    "invoice",
    "backup",
    "violin",
    "release",
    "certificate",
    "budget",
    "dashboard",
    "contract",
    "printer",
    "warehouse",
    "translation",
    "audit",
    "tram",
];
const EVENTS: &[&str] = &[
    "failed on the first attempt",
    "was moved to another week",
    "costs more than last year",
    "needs two reviewers",
    "is waiting for the supplier",
    "was finished ahead of time",
    "has a new owner",
    "is described in the runbook",
    "was broken by the upgrade",
];

/// Returns an exchange of usual length: about 250 characters.
pub(crate) fn exchange(number: usize) -> (String, String) {
    let pick = |list: &[&'static str], step: usize| list[(number * step + number / 7) % list.len()];
    let (subject, event) = (pick(SUBJECTS, 1), pick(EVENTS, 2));
    let input = format!("What happened with the {subject} of project {number} this morning?");
    let output = format!(
        "The {subject} of project {number} {event}; later the {} {}. Please ask whoever is on \
         call before the {} is touched again, and write down what you find.",
        pick(SUBJECTS, 5),
        pick(EVENTS, 7),
        pick(SUBJECTS, 11),
    );
    (input, output)
}

/// Returns the turn of an exchange.
pub(crate) fn turn(number: usize, session: &str, embedder: &LocalEmbedder) -> Turn {
    let (input, output) = exchange(number);
    let vector = embedder.embed(&embedded_text(&input, &output));
    let author_name = ["Ada", "Bo", "Cleo"][number % 3];
    Turn {
        position: number as i64 + 1,
        created_at: DateTime::<Utc>::UNIX_EPOCH + TimeDelta::minutes(number as i64),
        author: format!("u{}", number % 9),
        embedding: vector.map(|vector| Embedding {
            embedder: embedder.name().to_owned(),
            vector,
        }),
        ..Turn::of(session, author_name, &input, &output)
    }
}

/// Returns the same as it is appended to a session of an audience.
pub(crate) fn new_turn(
    number: usize,
    audience: &str,
    session: &ConversationId,
    embedder: &LocalEmbedder,
) -> NewTurn {
    NewTurn {
        recalls_also: Vec::new(),
        audience: Audience {
            id: AudienceId::new(audience),
            platform: "test".to_owned(),
            workspace: String::new(),
            name: audience.to_owned(),
            private_to: None,
        },
        turn: turn(number, session.as_str(), embedder),
        context: Vec::new(),
        recalled: Vec::new(),
        trace: Default::default(),
        asked_at: None,
    }
}

/// Appends this many turns of an audience.
pub(crate) async fn fill(store: &GraphStore, audience: &str, turns: usize) {
    let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
    let (sessions, embedder) = (&Sessions::default(), &embedder);
    join_all((0..SESSIONS).map(|session| async move {
        let id = ConversationId::new(format!("{audience}/{session}"));
        let guard = sessions.lock(&id).await;
        for number in (session..turns).step_by(SESSIONS) {
            let new = new_turn(number, audience, &id, embedder);
            store.append(&guard, &new).await.expect("the turn is saved");
        }
    }))
    .await;
}

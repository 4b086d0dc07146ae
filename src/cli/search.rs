//! `muninn search`: shows what a search in the team's knowledge finds, and why.

use muninn::knowledge::search::{Hit, KnowledgeFilter, SearchQuery, SearchResults};
use muninn_platform::{AudienceId, one_line};
use serde_json::{Value, json};

use super::args::search::SearchArgs;
use super::context::Context;
use super::exit::Exit;

/// Maximum characters shown of a text.
const SHOWN: usize = 300;

/// Searches, and prints each hit with its scores.
pub(super) async fn run(at: &Context, args: SearchArgs) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let searcher = at.searcher(&store)?;
    // Nobody waits for an answer here, so loading may take any time.
    searcher.refresh().await;
    let found = searcher
        .search(&SearchQuery {
            text: &args.question,
            earlier: &[],
            audience: &AudienceId::new(&args.channel),
            among: KnowledgeFilter::Everything,
            only: None,
            limit: args.limit,
        })
        .await;
    store.close().await?;
    if args.json {
        at.out.say_json(&as_json(&found)).await
    } else {
        let doubt = searcher.answer_caveat(&found);
        at.out.say(&in_words(&found, doubt)).await
    }
}

fn as_json(found: &SearchResults) -> Value {
    let step = |name: &str, label: &str| json!({"name": name, "label": label});
    let hits = found.hits.iter().map(|hit| {
        let scores = &hit.scores;
        // NaN is left out: JSON cannot express it.
        let path = hit.path.iter().map(|it| step(&it.name, &it.label));
        let related = hit.related.iter().map(|(_, it)| step(&it.name, &it.label));
        json!({
            "name": hit.name(),
            "label": hit.label,
            "source": hit.source,
            "link": hit.link,
            "text": hit.text,
            "scores": {
                "total": scores.total,
                "graph": scores.graph,
                "cosine": scores.cosine,
                "bm25": scores.bm25,
                "coverage": scores.coverage,
                "proximity": scores.proximity,
                "recency": scores.recency,
                "policy": scores.policy,
            },
            "why": hit.why,
            "path": path.collect::<Vec<_>>(),
            "related": related.collect::<Vec<_>>(),
            "more_related": hit.more_related,
        })
    });
    let policies = found.policies.iter().map(|policy| policy.name.as_str());
    let notes = found
        .degradations
        .iter()
        .map(|degradation| degradation.sentence());
    json!({
        "answerability": found.answerability,
        "hits": hits.collect::<Vec<_>>(),
        "policies": policies.collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
    })
}

fn in_words(found: &SearchResults, doubt: Option<String>) -> String {
    let mut parts: Vec<String> = doubt.into_iter().collect();
    parts.extend(found.hits.iter().enumerate().map(hit));
    if parts.is_empty() {
        parts.push("Nothing was found.".to_owned());
    }
    let names = found.policies.iter().map(|policy| policy.name.as_str());
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        parts.push(format!("Policies that it triggers: {}", names.join(", ")));
    }
    parts.extend(
        found
            .degradations
            .iter()
            .map(|degradation| format!("! {}", degradation.sentence())),
    );
    parts.join("\n\n")
}

fn hit((at, hit): (usize, &Hit)) -> String {
    let scores = &hit.scores;
    let cosine = if scores.cosine.is_nan() {
        "-".to_owned()
    } else {
        format!("{:.2}", scores.cosine)
    };
    let mut lines = vec![
        format!(
            "{}. {}  ({}, {})",
            at + 1,
            one_line(&hit.name()),
            hit.label,
            hit.source
        ),
        format!(
            "   score {:.3}: graph {:.2}, cosine {cosine}, BM25 {:.1}, coverage {:.2}, proximity {:.2}, recency {:.2}, \
             policy {:.2}",
            scores.total,
            scores.graph,
            scores.bm25,
            scores.coverage,
            scores.proximity,
            scores.recency,
            scores.policy
        ),
        format!("   {}", hit.why.join("; ")),
    ];
    if !hit.path.is_empty() {
        let steps: Vec<&str> = hit.path.iter().map(|step| step.name.as_str()).collect();
        lines.push(format!("   in {}", one_line(&steps.join(" › "))));
    }
    let related = hit.related_in_words(|_, step| one_line(&step.name));
    lines.extend(related.map(|related| format!("   related: {related}")));
    if let Some(link) = &hit.link {
        lines.push(format!("   {}", one_line(link)));
    }
    let text: String = hit.text.split_whitespace().collect::<Vec<_>>().join(" ");
    lines.push(format!(
        "   > {}",
        text.chars().take(SHOWN).collect::<String>()
    ));
    lines.join("\n")
}

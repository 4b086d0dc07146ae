//! What an ingest reports, and how long it may wait.

use std::time::Duration;

use muninn::config::Config;
use muninn::graph::GraphConfig;
use muninn::knowledge::ingest::{Counts, FileFate, IngestSummary, Phase, Progress};
use muninn_platform::count_with_noun;
use serde_json::{Value, json};

use crate::cli::output::Bar;

/// Minimum time limit of a batch: it is far larger than a turn, for which `GRAPH_TIMEOUT` is made.
const MIN_BATCH_TIMEOUT: Duration = Duration::from_secs(60);

pub(in crate::cli) fn patient(config: &Config) -> GraphConfig {
    GraphConfig {
        timeout: config.graph.timeout.max(MIN_BATCH_TIMEOUT),
        ..config.graph.clone()
    }
}

pub(in crate::cli) fn show(bar: &Bar, far: Progress) {
    let (done, total) = far.bytes;
    let what = match far.phase {
        Phase::Reading => format!(
            "{}, {}",
            count_with_noun(far.records, "record"),
            count_with_noun(far.chunks, "chunk")
        ),
        Phase::Exchanging => "exchanging the versions".to_owned(),
    };
    bar.show(done, total, &what);
}

/// Returns the JSON of a source for `ingest` and `source refresh`. A dry run makes no version.
pub(in crate::cli) fn summary_as_json(name: &str, summary: &IngestSummary, is_dry: bool) -> Value {
    let Counts {
        new,
        changed,
        unchanged,
        removed,
    } = summary.counts;
    let files = summary.files.iter().map(|(file, of)| {
        let (word, reason) = fate(of);
        let reason = (!reason.is_empty()).then_some(reason);
        json!({"file": file, "fate": word, "reason": reason})
    });
    json!({
        "name": name,
        "version": (!is_dry).then_some(summary.version),
        "same": summary.is_same,
        "new": new,
        "changed": changed,
        "unchanged": unchanged,
        "removed": removed,
        "refused": summary.rejected,
        "channels": summary.channels,
        "chunks": summary.chunks,
        "without_vector": summary.without_vector,
        "relationships": summary.links,
        "dangling": summary.dangling,
        "circles": summary.circles,
        "rejects": summary.rejects.as_ref().map(|path| path.display().to_string()),
        "examples": summary.examples,
        "warnings": summary.warnings,
        "files": files.collect::<Vec<_>>(),
    })
}

/// Returns the JSON of removed sources, each with its previous number of chunks.
pub(in crate::cli) fn removed_as_json(removed: &[(String, u64)]) -> Vec<Value> {
    let removed = removed.iter();
    removed
        .map(|(name, chunks)| json!({"name": name, "chunks": chunks}))
        .collect()
}

pub(in crate::cli) fn in_words(name: &str, summary: &IngestSummary, is_dry: bool) -> String {
    let Counts {
        new,
        changed,
        unchanged,
        removed,
    } = summary.counts;
    let head = match (is_dry, summary.is_same) {
        (true, _) => format!("{name} would have"),
        (false, true) => format!("{name} stays at version {}:", summary.version),
        (false, false) => format!("{name} is at version {} now:", summary.version),
    };
    let rejected = summary.rejected;
    let mut lines = vec![format!(
        "{head} {new} new, {changed} changed, {unchanged} unchanged, {removed} removed, {rejected} refused."
    )];
    let chunks = count_with_noun(summary.chunks, "chunk");
    if is_dry {
        lines.push(format!("To be embedded: {chunks}. Nothing was written."));
    } else {
        let links = count_with_noun(summary.links, "relationship");
        lines.push(format!("Embedded: {chunks}. Created: {links}."));
    }
    for (what, count, noun) in [
        (
            "Found by words only, since the embedder knows none of them",
            summary.without_vector,
            "chunk",
        ),
        ("To records that are not there", summary.dangling, "link"),
        ("Cut out of the hierarchy", summary.circles, "circle"),
    ] {
        if count > 0 {
            lines.push(format!("{what}: {}.", count_with_noun(count, noun)));
        }
    }
    lines.extend(
        summary
            .examples
            .iter()
            .map(|example| format!("refused: {example}")),
    );
    let warnings = summary.warnings.iter();
    lines.extend(warnings.map(|warning| format!("warning: {warning}")));
    let more = summary.warned - summary.warnings.len() as u64;
    if more > 0 {
        lines.push(format!("Further {}.", count_with_noun(more, "warning")));
    }
    if !summary.channels.is_empty() {
        lines.push(format!("Seen only in {}.", summary.channels.join(", ")));
    }
    if let Some(path) = &summary.rejects {
        lines.push(format!("All that was refused: {}", path.display()));
    }
    lines.join("\n")
}

/// Returns a file's fate with the reason, which may be empty.
pub(in crate::cli) fn fate(fate: &FileFate) -> (&'static str, &str) {
    match fate {
        FileFate::New => ("new", ""),
        FileFate::Changed => ("changed", ""),
        FileFate::Unchanged => ("unchanged", ""),
        FileFate::Gone => ("gone", ""),
        FileFate::Refused(reason) => ("refused", reason.as_str()),
    }
}

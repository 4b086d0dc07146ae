//! Describes the ingested sources in words.

use muninn_platform::count_with_noun;
use std::fmt::Write as _;

use super::origins::Freshness;
use crate::graph::ingest::SourceOverview;
use crate::llm::Embedder;

/// Adds the configured sources that were never read.
pub fn with_unread(mut sources: Vec<SourceOverview>, fresh: &[Freshness]) -> Vec<SourceOverview> {
    for Freshness { configured, .. } in fresh {
        if !sources.iter().any(|source| configured.is_origin_of(source)) {
            let mut unread = SourceOverview {
                name: configured.name.clone(),
                ..SourceOverview::default()
            };
            unread.of.paths = vec![configured.origin.to_string()];
            sources.push(unread);
        }
    }
    sources
}

/// Lists sources with their versions, counts and warnings, and the freshness of those that are
/// refreshed, for people.
pub fn text(sources: &[SourceOverview], embedder: &Embedder, fresh: &[Freshness]) -> String {
    let mut text = String::new();
    for source in sources {
        let fresh = fresh
            .iter()
            .find(|fresh| fresh.configured.is_origin_of(source));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line(source));
        for detail in details(source) {
            let _ = writeln!(text, "    {detail}");
        }
        for detail in fresh.map(refreshing).unwrap_or_default() {
            let _ = writeln!(text, "    {detail}");
        }
        for warning in warnings(source, embedder) {
            let _ = writeln!(text, "    ! {warning}");
        }
    }
    text
}

fn line(source: &SourceOverview) -> String {
    let of = &source.of;
    match source.since {
        Some(since) => format!(
            "{}  version {} of {}, {} in {} ({})",
            source.name,
            source.version,
            since.format("%Y-%m-%d %H:%M"),
            count_with_noun(of.records, "record"),
            count_with_noun(source.chunks, "chunk"),
            of.kind,
        ),
        None => format!("{}  no version yet", source.name),
    }
}

/// Describes when a source is refreshed, and its lag.
fn refreshing(fresh: &Freshness) -> Vec<String> {
    let Freshness {
        configured,
        last,
        lag,
    } = fresh;
    let at = last.as_ref().and_then(|last| last.succeeded);
    let at = at.map_or("never".to_owned(), |at| {
        at.format("%Y-%m-%d %H:%M UTC").to_string()
    });
    let mut details = vec![format!("read again {}; last on {at}", configured.every)];
    let note = last.as_ref().and_then(|last| last.note.as_ref());
    details.extend(note.cloned());
    details.extend(lag.as_ref().map(|lag| format!("! {lag}")));
    details
}

fn details(source: &SourceOverview) -> Vec<String> {
    let of = &source.of;
    if source.version == 0 {
        return Vec::new();
    }
    let mut details = vec![format!("from {}", of.paths.join(", "))];
    if !of.mapping.is_empty() {
        details.push(format!("by the mapping {}", of.mapping));
    }
    details.push(format!("embedded by {}", of.embedder));
    if source.without_vector > 0 {
        details.push(format!(
            "without a vector, so found by words only: {}",
            count_with_noun(source.without_vector, "chunk")
        ));
    }
    if of.rejected > 0 {
        details.push(format!(
            "{} refused: rejects/{}-{}.jsonl in DATA_DIR",
            of.rejected, source.name, source.version
        ));
    }
    if !of.channels.is_empty() {
        details.push(format!("seen only in {}", of.channels.join(", ")));
    }
    details
}

/// Returns warnings about a source, with what to do about them.
pub fn warnings(source: &SourceOverview, embedder: &Embedder) -> Vec<String> {
    let mut warnings = Vec::new();
    if source.version > 0 && !embedder.matches_name(&source.of.embedder) {
        warnings.push(
            "degraded: its vectors are of another embedder, so only its words are found; \
             ingest it again"
                .to_owned(),
        );
    }
    match (&source.holder, source.staged) {
        (Some(_), _) => warnings.push(format!(
            "version {} is being made: {} staged, not served yet",
            source.version + 1,
            count_with_noun(source.staged, "chunk")
        )),
        (None, 0) => {}
        (None, staged) => warnings.push(format!(
            "version {} was interrupted: {} staged, not served yet; \
             ingest it again to go on",
            source.version + 1,
            count_with_noun(staged, "chunk")
        )),
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ingest::Completed;
    use crate::retrieval::LocalEmbedder;

    #[test]
    fn sources_are_told_with_what_lags() {
        let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
        let source = SourceOverview {
            name: "wiki".to_owned(),
            version: 2,
            since: Some("2026-01-02T03:04:05Z".parse().unwrap()),
            of: Completed {
                kind: "documents".to_owned(),
                embedder: "other".to_owned(),
                paths: vec!["docs".to_owned()],
                channels: vec!["C1".to_owned()],
                records: 3,
                rejected: 1,
                ..Completed::default()
            },
            chunks: 7,
            without_vector: 1,
            staged: 5,
            holder: None,
        };
        let begun = SourceOverview {
            name: "new".to_owned(),
            holder: Some("m/1".to_owned()),
            ..SourceOverview::default()
        };
        insta::assert_snapshot!(text(&[source, begun], &embedder, &[]), @r"
        wiki  version 2 of 2026-01-02 03:04, 3 records in 7 chunks (documents)
            from docs
            embedded by other
            without a vector, so found by words only: 1 chunk
            1 refused: rejects/wiki-2.jsonl in DATA_DIR
            seen only in C1
            ! degraded: its vectors are of another embedder, so only its words are found; ingest it again
            ! version 3 was interrupted: 5 chunks staged, not served yet; ingest it again to go on
        new  no version yet
            ! version 1 is being made: 0 chunks staged, not served yet
        ");
    }
}

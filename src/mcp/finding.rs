//! Searches memory and knowledge, and lists what can be searched.

use chrono::{DateTime, Utc};
use muninn_platform::redact::without_secrets;
use muninn_platform::{AudienceId, TimeZone, count_with_noun};
use serde_json::{Value, json};

use super::call::{Mcp, Refused, ToolOutcome};
use super::caller::Caller;
use super::places::Place;
use super::tools::{ListSources, Search};
use crate::agent::tools::SEARCH_KNOWLEDGE;
use crate::conversation::audit::AuditAction;
use crate::graph::accounts::Account;
use crate::graph::items::KeptItem;
use crate::knowledge::search::{Hit, KnowledgeFilter, SearchQuery};
use crate::memory::{RecallQuery, Recalled, Recaller};

/// Maximum number of memories found in all places together.
const MOST_FOUND: usize = 20;

impl Mcp {
    /// What would be recalled for a question in these places.
    pub(super) async fn search_memory(
        &self,
        caller: &Caller,
        search: Search,
    ) -> Result<ToolOutcome, Refused> {
        let places = self.chosen_places(caller, search.place.as_deref());
        let (places, left_out) = self.searched_places(places.await?).await?;
        let data = &self.data;
        // One audit entry, whatever the number of places, as programs search often.
        let about = match (&search.place, places.as_slice()) {
            (Some(_), [place]) => place.id().as_str(),
            (Some(_) | None, _) => "all places that a program reads",
        };
        let (who, count) = (&caller.account.id, Some(places.len()));
        data.audit
            .record_action(who, AuditAction::LookedInto, about, count)
            .await;
        let sought = data
            .recaller
            .embed_query(&without_secrets(&search.query))
            .await;
        let now = Utc::now();
        let mut found: Vec<(Recalled, &Place)> = Vec::new();
        for place in &places {
            // "Yesterday" is a day of the place's time zone.
            let sought = sought_in(&data.recaller, &sought, place.id(), &caller.account, now);
            for memory in &place.memories {
                data.recaller.catch_up(&data.store, memory).await;
                let recalled = data.recaller.recall(&[memory], &sought, &[], &[]);
                found.extend(recalled.into_iter().map(|it| (it, place)));
            }
        }
        found.sort_by(|(one, _), (other, _)| other.probability.total_cmp(&one.probability));
        found.truncate(MOST_FOUND);
        let mut shown = Vec::new();
        for (recalled, place) in found {
            // Another process may have forgotten it.
            if let Some(kept) = data.store.item(recalled.id).await? {
                let zone = data.recaller.time_zone_in(place.id());
                shown.push(of_memory(&recalled, &kept, place, zone));
            }
        }
        let text = memory_text(&shown, left_out);
        let structured = json!({ "results": shown, "left_out": left_out });
        Ok(ToolOutcome::of(text, structured))
    }

    /// Passages of the team's knowledge that a place may see.
    pub(super) async fn search_knowledge(
        &self,
        caller: &Caller,
        search: Search,
    ) -> Result<ToolOutcome, Refused> {
        let place = self.place(caller, search.place.as_deref()).await?;
        let (data, channel) = (&self.data, place.id());
        let set = data.channels.of(channel).unwrap_or_default();
        if !set.offers(SEARCH_KNOWLEDGE) {
            return Err(Refused::Because(format!(
                "knowledge is not searched in {channel}"
            )));
        }
        let text = without_secrets(&search.query);
        data.searcher.refresh().await;
        let searched = SearchQuery {
            text: &text,
            earlier: &[],
            audience: channel,
            among: KnowledgeFilter::Everything,
            only: set.sources.as_deref(),
            limit: None,
        };
        let found = data.searcher.search(&searched).await;
        let hits: Vec<Value> = found.hits.iter().zip(1..).map(of_knowledge).collect();
        let notes: Vec<String> = found
            .degradations
            .iter()
            .map(|degradation| degradation.sentence())
            .collect();
        let mut lines: Vec<String> = data.searcher.answer_caveat(&found).into_iter().collect();
        lines.extend(hits.iter().map(passage));
        if lines.is_empty() {
            lines.push("Nothing found in the team's knowledge.".to_owned());
        }
        lines.extend(notes.iter().map(|note| format!("({note})")));
        let structured = json!({
            "place": channel, "results": hits, "answerability": found.answerability, "notes": notes,
        });
        Ok(ToolOutcome::of(lines.join("\n\n"), structured))
    }

    /// The places that somebody may read, and the sources that can be searched there.
    pub(super) async fn list_sources(
        &self,
        caller: &Caller,
        wanted: ListSources,
    ) -> Result<ToolOutcome, Refused> {
        let places = self.chosen_places(caller, wanted.place.as_deref()).await?;
        let data = &self.data;
        let mut names: Vec<String> = Vec::new();
        for place in &places {
            let set = data.channels.of(place.id()).unwrap_or_default();
            if set.offers(SEARCH_KNOWLEDGE) {
                let seen = data.searcher.sources(place.id()).await;
                names.extend(seen.into_iter().filter(|name| set.reads(name)));
            }
        }
        let mut sources = data.store.sources().await?;
        sources.retain(|source| names.contains(&source.name));
        let sources: Vec<Value> = sources
            .iter()
            .map(|source| {
                json!({
                    "name": source.name, "kind": source.of.kind, "version": source.version,
                    "since": source.since, "records": source.of.records, "chunks": source.chunks,
                })
            })
            .collect();
        let shown: Vec<Value> = places
            .iter()
            .map(|place| {
                json!({
                    "id": place.id(), "name": place.audience.name, "platform": place.audience.platform,
                    "is_direct": place.is_direct(&caller.account),
                })
            })
            .collect();
        let mut lines = vec![match shown.len() {
            0 => "You may read no place yet: talk with the bot in one first.".to_owned(),
            count => format!("{} that you may read:", count_with_noun(count, "place")),
        }];
        lines.extend(
            shown
                .iter()
                .map(|it| format!("- {} ({})", said(it, "id"), said(it, "name"))),
        );
        lines.push(match sources.len() {
            0 => "There are no sources to search.".to_owned(),
            count => format!("{} to search:", count_with_noun(count, "source")),
        });
        lines.extend(
            sources
                .iter()
                .map(|it| format!("- {} ({})", said(it, "name"), said(it, "kind"))),
        );
        let structured = json!({ "places": shown, "sources": sources });
        Ok(ToolOutcome::of(lines.join("\n"), structured))
    }
}

/// The query for one place: said by an account, in the place's time zone, as no platform tells a program's.
fn sought_in(
    recaller: &Recaller,
    sought: &RecallQuery,
    place: &AudienceId,
    account: &Account,
    now: DateTime<Utc>,
) -> RecallQuery {
    let now = now.with_timezone(&recaller.time_zone_in(place));
    sought.clone().said_by(vec![account.id.clone()], now)
}

/// A memory, with times of a time zone.
fn of_memory(recalled: &Recalled, kept: &KeptItem, place: &Place, zone: TimeZone) -> Value {
    let kind = match (kept.turn.is_note(), kept.turn.is_message()) {
        (true, _) => "note",
        (false, true) => "message",
        (false, false) => "exchange",
    };
    json!({
        "id": recalled.id.to_string(), "kind": kind, "place": place.id(), "place_name": place.audience.name,
        "author": &*recalled.author, "at": recalled.at.with_timezone(&zone), "said": recalled.input,
        "answer": Some(&recalled.output).filter(|it| !it.is_empty()), "link": kept.turn.link,
        "probability": recalled.probability, "superseded_at": recalled.superseded.map(|at| at.with_timezone(&zone)),
    })
}

/// What was found, and how many places were not searched.
fn memory_text(found: &[Value], left_out: usize) -> String {
    let mut lines = vec![match found.len() {
        0 => "Nothing found in memory.".to_owned(),
        count => format!(
            "{}, best first:",
            count_with_noun(count, "earlier exchange")
        ),
    }];
    lines.extend(found.iter().map(memory_line));
    if left_out > 0 {
        let count = count_with_noun(left_out, "more place");
        lines.push(format!(
            "({count} that you may read, not searched. Give `place` to search one; `list_sources` lists all.)"
        ));
    }
    lines.join("\n")
}

fn memory_line(memory: &Value) -> String {
    let at = said(memory, "at");
    let day = at.get(..10).unwrap_or(at);
    let mut line = format!(
        "- [{day}, {}, {}] {}",
        said(memory, "author"),
        said(memory, "place_name"),
        said(memory, "said")
    );
    if let Some(answer) = memory["answer"].as_str() {
        line = format!("{line}\n  Answer: {answer}");
    }
    if let Some(since) = memory["superseded_at"].as_str() {
        let since = since.get(..10).unwrap_or(since);
        line = format!("{line}\n  (No longer holds since {since}.)");
    }
    match memory["link"].as_str() {
        Some(link) => format!("{line}\n  {link}"),
        None => line,
    }
}

fn of_knowledge((hit, number): (&Hit, usize)) -> Value {
    json!({
        "number": number, "source": hit.source, "title": hit.name(), "text": hit.text, "link": hit.link,
        "why": hit.why,
    })
}

fn passage(hit: &Value) -> String {
    let link = hit["link"].as_str();
    let link = link.map_or(String::new(), |link| format!(" {link}"));
    format!(
        "[{}] {} ({}){link}\n{}",
        hit["number"],
        said(hit, "title"),
        said(hit, "source"),
        said(hit, "text")
    )
}

fn said<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use muninn_platform::Channels;

    use super::*;
    use crate::llm::Embedder;
    use crate::memory::{Calibration, RecallSettings};
    use crate::retrieval::LocalEmbedder;
    use crate::testing::{days_of_zones, new_turn, recalled, turn};

    #[test]
    fn a_memory_has_the_day_of_the_place() {
        for (at, zone, day) in days_of_zones() {
            let audience = new_turn("terminal/a", "").audience;
            let kept = KeptItem {
                turn: turn("ada", "The gate is green.", ""),
                audience: audience.clone(),
                corrected: None,
            };
            let place = Place {
                memories: vec![audience.id.clone()],
                audience,
            };
            let line = memory_line(&of_memory(&recalled(at), &kept, &place, zone));
            let head = format!("- [{day}, ada, terminal] The gate is green.");
            assert!(line.starts_with(&head), "{zone}: {line}");
            assert!(line.contains(&format!("since {day}.)")), "{zone}: {line}");
        }
    }

    #[test]
    fn a_search_says_how_many_places_it_left_out() {
        assert_eq!(memory_text(&[], 0), "Nothing found in memory.");
        let text = memory_text(&[], 11);
        assert!(
            text.contains("\n(11 more places that you may read, not searched."),
            "{text}"
        );
    }

    #[test]
    fn days_are_those_of_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("channels.toml");
        std::fs::write(&path, "['slack/T/C']\ntime_zone = 'Pacific/Auckland'\n").unwrap();
        let calibration = Calibration::shipped().unwrap();
        let settings = RecallSettings::by(&calibration);
        let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
        let recaller = Recaller::new(embedder, calibration, settings)
            .with_channels(Arc::new(Channels::load(&path).unwrap()))
            .with_time_zone(TimeZone::Europe__Lisbon);
        let account = Account {
            id: "slack/T/U".to_owned(),
            platform: "slack".to_owned(),
            name: "Ann".to_owned(),
        };
        let now = "2026-05-20T22:00:00Z".parse().unwrap();
        for (place, day) in [("slack/T/C", "2026-05-21"), ("slack/T/D", "2026-05-20")] {
            let place = AudienceId::new(place);
            let sought = sought_in(&recaller, &RecallQuery::default(), &place, &account, now);
            assert_eq!(sought.at.unwrap().date_naive().to_string(), day, "{place}");
        }
    }
}

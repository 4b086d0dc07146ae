//! Properties of every search, with any index.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::NaiveDate;
use muninn_platform::AudienceId;
use proptest::prelude::*;

use super::index::{IndexFolder, KnowledgeIndex};
use super::plan::{self, Plan};
use super::policy::Policy;
use super::rank::{Ranked, Scores, choose, fuse, graph_match, is_quoted_below, scan};
use super::weights::Weights;
use crate::graph::Embedding;
use crate::graph::ingest::searching::{ServedLink, SourceVersion};
use crate::graph::ingest::{PropertyOrder, ServedChunk};

/// The audience of the source `secret`.
const CREW: &str = "slack/T1/C1";
const EMBEDDER: &str = "test-4";
/// Few words, so that many texts are similar.
const WORDS: [&str; 8] = [
    "raven", "harbour", "tide", "lantern", "memory", "Huginn", "Muninn", "rope",
];

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 21).unwrap()
}

fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 1..most)
        .prop_map(|words| words.join(" "))
}

/// Generates a chunk of one of two sources; record and position are assigned later.
fn chunk() -> impl Strategy<Value = ServedChunk> {
    (
        (any::<bool>(), 0..6_u8, any::<bool>()),
        (
            words(12),
            prop::option::of(words(3)),
            prop::option::of(words(3)),
        ),
        prop::option::of(prop::array::uniform4(-1.0..1.0_f32)),
        prop::option::of(prop::sample::select(&["2026-11-01", "1950", "someday"][..])),
        prop::option::of(0..20_usize),
    )
        .prop_map(
            |((is_secret, record, is_policy), (text, title, heading), vector, date, parent)| {
                let source = if is_secret { "secret" } else { "open" };
                ServedChunk {
                    chunk: String::new(),
                    record: format!("{source}/{record}.md"),
                    sequence: 0,
                    source: source.to_owned(),
                    version: 1,
                    label: if is_policy { "Policy" } else { "Document" }.to_owned(),
                    title,
                    heading,
                    link: None,
                    text,
                    embedding: vector.map(|vector| Embedding {
                        embedder: EMBEDDER.to_owned(),
                        vector: vector.to_vec(),
                    }),
                    tags: Vec::new(),
                    date: date.map(str::to_owned),
                    parent: parent.map(|at| at.to_string()),
                }
            },
        )
}

/// Generates chunks with unique names, and hierarchy links within a source.
fn chunks() -> impl Strategy<Value = Vec<ServedChunk>> {
    prop::collection::vec(chunk(), 1..20).prop_map(|mut chunks| {
        let names: Vec<(String, String)> = (0..chunks.len())
            .map(|at| {
                let record = &chunks[at].record;
                let before = chunks[..at].iter();
                let of_record = before.filter(|it| it.record == *record);
                let name = format!("{record}#{}", of_record.count());
                (chunks[at].source.clone(), name)
            })
            .collect();
        for (at, chunk) in chunks.iter_mut().enumerate() {
            chunk.sequence = names[at].1.rsplit('#').next().unwrap().parse().unwrap();
            chunk.chunk = names[at].1.clone();
            let above = chunk.parent.take().and_then(|it| it.parse::<usize>().ok());
            let above = above.filter(|above| *above < at).map(|above| &names[above]);
            chunk.parent = above
                .filter(|(source, _)| *source == chunk.source)
                .map(|(_, name)| name.clone());
        }
        chunks
    })
}

/// The content of an index, and the links between its chunks.
#[derive(Clone, Debug)]
struct Team {
    chunks: Vec<ServedChunk>,
    links: Vec<(usize, usize)>,
    policy: String,
}

fn team() -> impl Strategy<Value = Team> {
    let links = prop::collection::vec((0..20_usize, 0..20_usize), 0..12);
    (chunks(), links, words(2)).prop_map(|(chunks, links, policy)| {
        let many = chunks.len();
        let links = links
            .into_iter()
            .filter(|(a, b)| a != b && *a < many && *b < many);
        let links = links.collect();
        Team {
            chunks,
            links,
            policy,
        }
    })
}

impl Team {
    /// Builds the index with the chunks in this order.
    fn index(&self, order: &[usize]) -> KnowledgeIndex {
        let version = |name: &str, channels: &[&str]| SourceVersion {
            name: name.to_owned(),
            version: 1,
            since: None,
            chunks: None,
            property_order: PropertyOrder::new(),
            channels: channels.iter().map(|&it| it.to_owned()).collect(),
        };
        let embedder = Some((EMBEDDER, 4));
        let folder = IndexFolder::temporary();
        let sources = [version("open", &[]), version("secret", &[CREW])];
        let sources = sources.map(|source| {
            let mut builder = folder.build(&source, embedder).unwrap();
            let is_own = |at: usize| self.chunks[at].source == source.name;
            for &at in order.iter().filter(|at| is_own(**at)) {
                builder.push(&self.chunks[at]).unwrap();
            }
            for &(from, to) in self.links.iter().filter(|(from, _)| is_own(*from)) {
                let link = ServedLink {
                    from: self.chunks[from].chunk.clone(),
                    kind: "Mentions".to_owned(),
                    to: self.chunks[to].chunk.clone(),
                };
                builder.link(&link).unwrap();
            }
            let segment = folder.put(&source.name, builder).unwrap().unwrap();
            (source, Arc::new(segment))
        });
        let index = KnowledgeIndex::new(sources.into(), embedder);
        let triggers = serde_json::json!({"title": "p", "triggers": [self.policy], "weight": 0.5});
        let policies = index.policy_entries();
        let policies = policies.map(|entry| Policy::of(entry, triggers.as_object().unwrap()));
        let policies = policies.collect();
        index.with_policies(policies)
    }

    fn in_order(&self) -> KnowledgeIndex {
        self.index(&(0..self.chunks.len()).collect::<Vec<_>>())
    }
}

/// Returns a planned question, and its ranking.
fn search(
    index: &KnowledgeIndex,
    question: &str,
    vector: Option<[f32; 4]>,
    audience: &str,
) -> (Plan, Vec<Ranked>) {
    let weights = Weights::load(None).unwrap();
    let seen = index.visible_sources(&AudienceId::new(audience));
    let meant = plan::QueryVectors {
        vectors: &[],
        least: 1.0,
    };
    let plan = plan::Plan {
        policies: plan::triggered_policies(index, question, &[], meant, &seen),
        identified: plan::identified(index, question),
        text: question.to_owned(),
        seen,
    };
    let scanned = scan(index, &plan, vector.as_ref().map(<[f32; 4]>::as_slice));
    let graph = graph_match(index, &plan, &weights.graph);
    let ranked = fuse(index, &plan, &scanned, &graph, &weights.fusion, today());
    (plan, ranked)
}

fn vector() -> impl Strategy<Value = Option<[f32; 4]>> {
    prop::option::of(prop::array::uniform4(-1.0..1.0_f32))
}

proptest! {
    // Each case writes files.
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Neither vectors, words, names, links nor policies lead there.
    #[test]
    fn what_may_not_be_seen_is_not_ranked(
        team in team(), question in words(6), vector in vector(),
    ) {
        let index = team.in_order();
        let (plan, ranked) = search(&index, &question, vector, "slack/T1/C2");
        for one in &ranked {
            prop_assert_eq!(&index.source(one.entry).name, "open");
            let by = one.named.map(|named| &index.source(named.named).name);
            prop_assert!(by.is_none_or(|name| name == "open"));
        }
        for &policy in &plan.policies {
            let entry = index.policies()[policy].entry;
            prop_assert_eq!(&index.source(entry).name, "open");
        }
    }

    #[test]
    fn the_best_comes_first_and_each_once(
        team in team(), question in words(6), vector in vector(),
    ) {
        let index = team.in_order();
        let weights = Weights::load(None).unwrap();
        let (_, ranked) = search(&index, &question, vector, CREW);
        prop_assert!(ranked.is_sorted_by(|a, b| a.scores.total >= b.scores.total));
        let numbers: HashSet<usize> = ranked.iter().map(|it| it.entry).collect();
        prop_assert_eq!(numbers.len(), ranked.len());
        for one in &ranked {
            let scores = one.scores;
            prop_assert!(scores.total.is_finite() && scores.total >= 0.0, "{:?}", scores);
            for part in [scores.graph, scores.coverage, scores.recency, scores.policy] {
                prop_assert!((0.0..=1.0).contains(&part), "{:?}", scores);
            }
            if let Some(named) = one.named {
                prop_assert!(named.steps <= weights.graph.depth);
                prop_assert!(named.sure > 0.0 && named.sure <= 1.0);
            }
        }
    }

    /// Two stores return the same chunks in different orders.
    #[test]
    fn the_order_of_the_store_is_of_no_consequence(
        (team, order) in team().prop_flat_map(|team| {
            let order: Vec<usize> = (0..team.chunks.len()).collect();
            (Just(team), Just(order).prop_shuffle())
        }),
        question in words(6),
        vector in vector(),
    ) {
        let (one, other) = (team.in_order(), team.index(&order));
        let told = |index: &KnowledgeIndex| -> Vec<(String, i64)> {
            let (_, ranked) = search(index, &question, vector, CREW);
            // Sums are computed in another order, too.
            let told = |it: &Ranked| (it.scores.total * 1e4).round() as i64;
            let mut all: Vec<(String, i64)> = ranked
                .iter()
                .map(|it| (index.entry(it.entry).chunk, told(it)))
                .collect();
            all.sort();
            all
        };
        prop_assert_eq!(told(&one), told(&other));
    }

    #[test]
    fn what_is_chosen_keeps_to_every_limit(
        team in team(),
        question in words(6),
        vector in vector(),
        limit in 0..6_usize,
        tokens in 0..60_u32,
        per_record in 1..3_usize,
    ) {
        let index = team.in_order();
        let mut weights = Weights::load(None).unwrap();
        weights.choice.tokens = tokens;
        weights.choice.per_record = per_record;
        let (_, ranked) = search(&index, &question, vector, CREW);
        weights.choice.limit = limit;
        let chosen = choose(&index, &ranked, &weights.choice);
        prop_assert!(chosen.len() <= limit);
        let sizes = chosen.iter().map(|it| index.entry(it.entry).tokens);
        prop_assert!(chosen.len() == 1 || sizes.sum::<u32>() <= tokens);
        for one in &chosen {
            let record = index.entry(one.entry).record;
            let same = chosen.iter().filter(|it| index.entry(it.entry).record == record);
            prop_assert!(same.count() <= per_record);
        }
        // In ranking order.
        let mut rest = ranked.iter();
        prop_assert!(chosen.iter().all(|one| rest.any(|it| it.entry == one.entry)));
    }
}

#[test]
fn a_version_is_not_taken_for_another_one() {
    let chunk = |title: &str| ServedChunk {
        chunk: format!("open/{title}.txt#0"),
        record: format!("open/{title}.txt"),
        source: "open".to_owned(),
        version: 1,
        label: "Document".to_owned(),
        title: Some(title.to_owned()),
        text: "This release mends what was wrong in Git.".to_owned(),
        ..ServedChunk::default()
    };
    let titles = ["2.38.2", "2.39.0", "2.39.2"];
    let team = Team {
        chunks: titles.map(chunk).into(),
        links: Vec::new(),
        policy: "raven".to_owned(),
    };
    let index = team.in_order();
    let title = |one: &Ranked| index.entry(one.entry).title.unwrap_or_default();
    let (_, ranked) = search(&index, "release notes 2.39.0", None, CREW);
    assert_eq!(title(&ranked[0]), "2.39.0");
    for other in &ranked[1..] {
        assert!(other.named.is_none(), "{}", title(other));
    }
    let (_, ranked) = search(&index, "What changed in git 2.39?", None, CREW);
    let mut first: Vec<String> = ranked[..2].iter().map(title).collect();
    first.sort_unstable();
    assert_eq!(first, ["2.39.0", "2.39.2"]);
}

/// A table of orders, a row for each number.
fn orders(numbers: impl IntoIterator<Item = usize>, text: impl Fn(usize) -> String) -> Team {
    let chunk = |number: usize| ServedChunk {
        chunk: format!("open/orders.csv/{number}#0"),
        record: format!("open/orders.csv/{number}"),
        source: "open".to_owned(),
        version: 1,
        label: "Orders".to_owned(),
        text: text(number),
        ..ServedChunk::default()
    };
    Team {
        chunks: numbers.into_iter().map(chunk).collect(),
        links: Vec::new(),
        policy: "raven".to_owned(),
    }
}

#[test]
fn a_text_with_the_identifier_of_a_question_is_chosen_whatever_else_is_asked() {
    let team = orders(1..9, |number| format!("B-{}, Jensen", 1040 + number));
    let index = team.in_order();
    // Most of its words are in no text.
    let question = "Which customer ordered what, and how much of it, with number B-1042?";
    let (_, ranked) = search(&index, question, None, CREW);
    let mut weights = Weights::load(None).unwrap();
    weights.choice.least_coverage = 0.9;
    let chosen = choose(&index, &ranked, &weights.choice);
    let texts: Vec<String> = chosen.iter().map(|one| index.text(one.entry)).collect();
    assert_eq!(texts, ["B-1042, Jensen"]);
}

#[test]
fn a_row_is_found_by_a_number_as_long_as_a_year_where_no_time_is_meant() {
    let numbers = [1041, 1042, 1043, 2024];
    let team = orders(numbers, |_| "Jensen bought rope".to_owned());
    let index = team.in_order();
    for question in ["1042", "order 1042", "what about 1042?"] {
        let (_, ranked) = search(&index, question, None, CREW);
        let first = &ranked[0];
        let record = index.entry(first.entry).record;
        assert_eq!(record, "open/orders.csv/1042", "{question}");
        assert!(first.scores.graph >= 1.0, "{question}");
    }
    for question in ["What happened in 2024?", "What did Jensen buy in 2024?"] {
        let (plan, _) = search(&index, question, None, CREW);
        assert!(plan.identified.is_empty(), "{question}");
    }
}

#[test]
fn a_row_is_found_by_a_number_of_three_digits_where_the_word_before_it_fits() {
    let team = orders([213, 214, 215], |number| {
        format!("Jensen\n\nRoom: {number}; floor: second")
    });
    let index = team.in_order();
    // By the table's label, and by the column.
    for question in ["order 214", "What is in room 214?", "Room 214"] {
        let (_, ranked) = search(&index, question, None, CREW);
        let first = &ranked[0];
        let record = index.entry(first.entry).record;
        assert_eq!(record, "open/orders.csv/214", "{question}");
        assert!(first.scores.graph >= 1.0, "{question}");
    }
    for question in ["214", "chapter 214", "Do 214 people fit?", "floor 214"] {
        let (plan, _) = search(&index, question, None, CREW);
        assert!(plan.identified.is_empty(), "{question}");
    }
}

#[test]
fn what_is_far_below_the_best_is_not_quoted_to_a_person() {
    let weights = Weights::load(None).unwrap();
    let of = |total: f32| Scores {
        total,
        ..Scores::default()
    };
    let is_quoted = |best: f32, other: f32| is_quoted_below(&of(best), &of(other), &weights);
    assert!(is_quoted(1.2, 1.2) && is_quoted(1.2, 0.7));
    assert!(!is_quoted(1.2, 0.5));
    // A row that is asked for by its number has more than any text can have.
    assert!(is_quoted(2.5, 2.5) && is_quoted(2.5, 0.9));
    assert!(!is_quoted(2.5, 0.5));
    let wanted = Scores {
        policy: 0.5,
        ..of(0.3)
    };
    assert!(is_quoted_below(&of(1.2), &wanted, &weights));
    let by_words = Scores {
        cosine: f32::NAN,
        ..of(1.2)
    };
    assert!(is_quoted_below(&by_words, &of(0.3), &weights));
}

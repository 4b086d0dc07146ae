//! The same with questions that nobody saw while the search was developed: about a manual of 36
//! documents that say similar things about different subjects.
//!
//! What counts is the section with the answer, however many chunks it was split into.

use muninn::agent::planner::{KnowledgeNeed, is_sure, need};
use serde::Deserialize;

use super::{Bench, Fusion, Hit, RetrievalMetrics, Weights, parts};

#[derive(Deserialize)]
struct Asked {
    question: String,
    kind: QuestionKind,
    /// `file#heading`; an empty heading if the file has none.
    sections: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum QuestionKind {
    /// Shares few words with the answer.
    Paraphrase,
    /// Has a name, a part number or an abbreviation.
    Name,
    /// A number among others like it.
    Specific,
    /// The answer needs both sections.
    Path,
    /// Nothing answers it.
    Nothing,
}

fn asked() -> Vec<Asked> {
    let lines = include_str!("../data/knowledge/manual_questions.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

impl Bench {
    async fn manual() -> Self {
        Self::of(&[("tests/data/knowledge/manual", None, "manual")]).await
    }

    /// Returns the section of a chunk: an expected one, or its name.
    fn section(&self, chunk: usize, expected: &[String]) -> String {
        let entry = self.index.entry(chunk);
        let file = entry.record.trim_start_matches("manual/");
        let name = |heading: &str| format!("{file}#{heading}");
        match (&entry.heading, &entry.title) {
            (Some(heading), _) => name(heading),
            (None, title) => {
                let titled = title.as_ref().map(|title| name(title));
                titled
                    .filter(|it| expected.contains(it))
                    .unwrap_or_else(|| name(""))
            }
        }
    }

    /// Returns the first ten sections that are found.
    async fn sections(&self, asked: &Asked, weights: &Weights) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for one in self.ranked(&asked.question, weights).await {
            let section = self.section(one.entry, &asked.sections);
            if one.scores.total > 0.0 && !found.contains(&section) {
                found.push(section);
            }
            if found.len() == 10 {
                break;
            }
        }
        found
    }

    async fn of_manual(&self, asked: &[&Asked], fusion: Fusion) -> RetrievalMetrics {
        let weights = Weights {
            fusion,
            ..self.weights.clone()
        };
        let mut figures = RetrievalMetrics::default();
        for one in asked {
            let found = self.sections(one, &weights).await;
            // If each is enough by itself, the first that is found is expected.
            let first = found.iter().find(|it| one.sections.contains(it));
            match (one.kind, first) {
                (QuestionKind::Path, _) | (_, None) => figures.add(&found, &one.sections),
                (_, Some(first)) => figures.add(&found, std::slice::from_ref(first)),
            }
        }
        figures.share_of(asked.len() as f64)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manual_that_nobody_looked_at() {
    let bench = Bench::manual().await;
    let all = asked();
    let answered = || all.iter().filter(|it| it.kind != QuestionKind::Nothing);
    for section in answered().flat_map(|it| &it.sections) {
        let is_it = |at| bench.section(at, std::slice::from_ref(section)) == *section;
        assert!((0..bench.index.len()).any(is_it), "no chunk of {section}");
    }
    let fused = bench.weights.fusion;
    println!(
        "{} questions, {} chunks",
        answered().count(),
        bench.index.len()
    );
    println!("| | R@5 | R@10 | nDCG@10 |");
    let everything: Vec<&Asked> = answered().collect();
    let mut told = Vec::new();
    for (name, fusion) in parts(fused) {
        let figures = bench.of_manual(&everything, fusion).await;
        println!("| {name} | {figures} |");
        told.push(figures);
    }
    for kind in [
        QuestionKind::Paraphrase,
        QuestionKind::Name,
        QuestionKind::Specific,
        QuestionKind::Path,
    ] {
        let of: Vec<&Asked> = all.iter().filter(|it| it.kind == kind).collect();
        for (name, fusion) in &parts(fused)[..4] {
            println!(
                "| {kind:?} ({}), {name} | {} |",
                of.len(),
                bench.of_manual(&of, *fusion).await
            );
        }
    }
    let (mut vain, mut nothing, mut kept) = (0, 0, 0);
    for one in &all {
        let hits = bench.hits(&one.question).await;
        let number =
            |chunk: &str| (0..bench.index.len()).find(|&at| *bench.index.entry(at).chunk == *chunk);
        let is_right = |chunk: &str| {
            let at = number(chunk).unwrap();
            one.sections.contains(&bench.section(at, &one.sections))
        };
        if one.kind == QuestionKind::Nothing {
            nothing += 1;
            vain += usize::from(hits.is_empty());
        } else {
            kept += usize::from(hits.iter().any(|hit| is_right(&hit.chunk)));
        }
    }
    println!("nothing found for {vain} of {nothing} that nothing answers");
    println!(
        "a right section among the passages for {kept} of {}",
        everything.len()
    );
    let (graph, vector, words, fused) = (told[0], told[1], told[2], told[3]);
    let best = graph.at_10.max(vector.at_10).max(words.at_10);
    assert!(fused.at_10 >= best - 0.02, "{told:?}");
}

/// Returns how many of these the planner gives passages, for a model that calls no tools.
async fn given(bench: &Bench, texts: &[String]) -> usize {
    let mut given = 0;
    for text in texts {
        let is_given = match need(text) {
            KnowledgeNeed::Nothing => false,
            need => {
                let hits = bench.hits(text).await;
                let is_enough =
                    |hit: &Hit| need == KnowledgeNeed::Knowledge || is_sure(&hit.scores);
                hits.iter().any(is_enough)
            }
        };
        given += usize::from(is_given);
    }
    given
}

/// The questions of the manual, many without a question mark; small talk in a few languages; and
/// messages between people elsewhere, which ask for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_planner_gives_passages_to_questions_and_none_to_small_talk() {
    let bench = Bench::manual().await;
    let answered = asked()
        .into_iter()
        .filter(|it| it.kind != QuestionKind::Nothing);
    let questions: Vec<String> = answered.map(|it| it.question).collect();
    let said = include_str!("../data/talk/exchanges.jsonl").lines();
    let said = said.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let said = said.map(|row| row["input"].as_str().unwrap().to_owned());
    let told: Vec<String> = said
        .filter(|text| need(text) != KnowledgeNeed::Knowledge)
        .collect();
    let small = [
        "Good morning!",
        "Hello Muninn",
        "Thanks a lot!",
        "ok",
        "haha",
        "Great, thank you",
        "Bye!",
        "lol",
        "Guten Morgen!",
        "Vielen Dank!",
        "Bonjour !",
        "Merci beaucoup",
        "¡Gracias!",
        "Grazie",
        "Obrigado!",
        "Dzień dobry",
        "Спасибо!",
        "谢谢",
        "👍",
    ];
    let small: Vec<String> = small.map(str::to_owned).to_vec();
    let of = |given: usize, all: &[String]| format!("{given} of {}", all.len());
    let (to_questions, to_small, to_told) = (
        given(&bench, &questions).await,
        given(&bench, &small).await,
        given(&bench, &told).await,
    );
    println!(
        "passages for questions: {}; small talk: {}; remarks: {}",
        of(to_questions, &questions),
        of(to_small, &small),
        of(to_told, &told)
    );
    assert!(to_questions * 100 >= questions.len() * 93);
    assert_eq!(to_small, 0);
    assert!(to_told * 100 <= told.len() * 45);
}

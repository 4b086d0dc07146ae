//! The same on questions that nobody looked at while the search was built: about a manual of 36
//! documents that say similar things of different ones.
//!
//! What counts is the section an answer stands in, in however many chunks it was cut.

use serde::Deserialize;

use super::{Bench, Figures, Fusion, Weights, parts};

#[derive(Deserialize)]
struct Asked {
    question: String,
    kind: Kind,
    /// `file#heading`, an empty heading where the file has none.
    sections: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Few words in common with the answer.
    Paraphrase,
    /// Has a name, a part number or an abbreviation.
    Name,
    /// A number among others like it.
    Specific,
    /// The answer takes both sections.
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

    /// The section that a chunk is part of, as one of those that are expected, or by its name.
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

    /// The first ten sections that are found.
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

    async fn of_manual(&self, asked: &[&Asked], fusion: Fusion) -> Figures {
        let weights = Weights {
            fusion,
            ..self.weights.clone()
        };
        let mut figures = Figures::default();
        for one in asked {
            let found = self.sections(one, &weights).await;
            // Where each by itself is enough, the first that is found is what is expected.
            let first = found.iter().find(|it| one.sections.contains(it));
            match (one.kind, first) {
                (Kind::Path, _) | (_, None) => figures.add(&found, &one.sections),
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
    let answered = || all.iter().filter(|it| it.kind != Kind::Nothing);
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
    for kind in [Kind::Paraphrase, Kind::Name, Kind::Specific, Kind::Path] {
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
        if one.kind == Kind::Nothing {
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

//! Ranks five sentences by their words (BM25) and by their meaning (vectors), without any service.
//!
//! `cargo run -p muninn-retrieval --example rank`

#![allow(clippy::print_stdout, reason = "an example says what it found")]

use std::error::Error;

use muninn_retrieval::LocalEmbedder;
use muninn_retrieval::best::{best, better, greatest};
use muninn_retrieval::postings::{Postings, WeightedWords};
use muninn_retrieval::vectors::{Quantised, Vectors};

const SENTENCES: [&str; 5] = [
    "Every boat needs a life jacket for each passenger.",
    "The cat sleeps on the sofa all day.",
    "Ships leave the harbour at dawn.",
    "Die Fähre nach Oslo fährt am Abend ab.",
    "The ferry to Bergen leaves at six in the morning.",
];
const QUERY: &str = "When does the boat depart for Bergen?";

fn main() -> Result<(), Box<dyn Error>> {
    let embedder = LocalEmbedder::shipped()?;
    let quantised = |text: &str| embedder.embed(text).and_then(|it| Quantised::new(&it));

    // One number for each sentence, the same in both indexes.
    let mut postings = Postings::default();
    let mut vectors = Vectors::new(embedder.dimension());
    for sentence in SENTENCES {
        postings.push([sentence, ""], std::iter::empty());
        vectors.push(quantised(sentence).as_ref());
    }

    let mut words = WeightedWords::new();
    postings.weighted(QUERY, 1.0, &mut words);
    let by_words = postings.score(&words).bm25;
    let query = quantised(QUERY).ok_or("the model knows no word of the query")?;
    let by_meaning = vectors.cosines(0..SENTENCES.len(), &query);

    // How much each counts is the searcher's choice: here the same.
    let most = greatest(&by_words).max(f32::MIN_POSITIVE);
    let both = by_words.iter().zip(&by_meaning);
    let both: Vec<f32> = both
        .map(|(words, meaning)| words / most + meaning)
        .collect();
    let mut ranked = best(&both, SENTENCES.len());
    ranked.sort_by(better);

    println!("{QUERY}\n\nwords  meaning  both");
    for &(at, score) in &ranked {
        let (words, meaning) = (by_words[at], by_meaning[at]);
        println!("{words:5.2}  {meaning:7.2}  {score:4.2}  {}", SENTENCES[at]);
    }

    // By both; by a word; by a word in another language; by meaning alone. The cat is not there.
    let order: Vec<usize> = ranked.iter().map(|it| it.0).collect();
    assert_eq!(order, [4, 0, 3, 2]);
    assert!(by_words[3] > 0.0 && by_words[2] <= 0.0);
    Ok(())
}

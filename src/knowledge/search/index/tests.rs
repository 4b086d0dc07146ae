//! Properties of index files with any content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::graph::Embedding;
use crate::graph::ingest::ServedChunk;
use crate::graph::ingest::searching::ServedLink;

const EMBEDDER: Option<(&str, usize)> = Some(("test-4", 4));

fn version(name: &str, version: i64) -> SourceVersion {
    SourceVersion {
        name: name.to_owned(),
        version,
        ..SourceVersion::default()
    }
}

fn chunk(record: &str, sequence: i64, text: &str) -> ServedChunk {
    ServedChunk {
        chunk: format!("wiki/{record}#{sequence}"),
        record: format!("wiki/{record}"),
        sequence,
        source: "wiki".to_owned(),
        version: 1,
        label: "Document".to_owned(),
        text: text.to_owned(),
        ..ServedChunk::default()
    }
}

fn put(folder: &IndexFolder, chunks: &[ServedChunk], links: &[ServedLink]) -> Segment {
    let mut builder = folder.build(&version("wiki", 1), EMBEDDER).unwrap();
    for chunk in chunks {
        builder.push(chunk).unwrap();
    }
    for link in links {
        builder.link(link).unwrap();
    }
    folder.put("wiki", builder).unwrap().unwrap()
}

fn index(folder: &IndexFolder, chunks: &[ServedChunk], links: &[ServedLink]) -> KnowledgeIndex {
    let segment = Arc::new(put(folder, chunks, links));
    KnowledgeIndex::new(vec![(version("wiki", 1), segment)], EMBEDDER)
}

/// Returns the index folder in a data folder, and the file of the source.
fn in_data_dir(data_dir: &Path) -> (IndexFolder, std::path::PathBuf) {
    let file = data_dir.join("knowledge-index").join("wiki.index");
    (IndexFolder::in_data_dir(data_dir), file)
}

/// Generates chunks of several records, in any order, with unique names.
fn chunks() -> impl Strategy<Value = Vec<ServedChunk>> {
    let one = (
        0..5_u8,
        0..12_i64,
        prop::sample::select(&["tide and rope", "a lantern", "Ä", ""][..]),
        prop::option::of(prop::array::uniform4(-1.0..1.0_f32)),
        prop::option::of((0..5_u8, 0..12_i64)),
        prop::collection::vec(prop::sample::select(&["A-1", "b2", "none"][..]), 0..3),
        prop::option::of(prop::sample::select(
            &["Tide", "Lantern of the harbour"][..],
        )),
    );
    prop::collection::vec(one, 0..30).prop_map(|all| {
        let all = all
            .into_iter()
            .map(
                |(record, sequence, text, vector, above, tags, heading)| ServedChunk {
                    embedding: vector.map(|vector| Embedding {
                        embedder: "test-4".to_owned(),
                        vector: vector.to_vec(),
                    }),
                    parent: above.map(|(record, sequence)| format!("wiki/r{record}#{sequence}")),
                    tags: tags.into_iter().map(str::to_owned).collect(),
                    heading: heading.map(str::to_owned),
                    ..chunk(&format!("r{record}"), sequence, text)
                },
            );
        let by_name: BTreeMap<String, ServedChunk> = all.map(|it| (it.chunk.clone(), it)).collect();
        by_name.into_values().collect()
    })
}

type Links = Vec<((u8, i64), (u8, i64))>;

fn links() -> impl Strategy<Value = Links> {
    let end = || (0..5_u8, 0..12_i64);
    prop::collection::vec((end(), end()), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A reader returns what follows from the chunks themselves.
    #[test]
    fn the_file_answers_as_the_chunks_do(
        (chunks, order) in chunks().prop_flat_map(|chunks| {
            let order: Vec<usize> = (0..chunks.len()).collect();
            (Just(chunks), Just(order).prop_shuffle())
        }),
        ends in links(),
    ) {
        let shuffled: Vec<ServedChunk> = order.iter().map(|at| chunks[*at].clone()).collect();
        let name = |(record, sequence): (u8, i64)| format!("wiki/r{record}#{sequence}");
        let links: Vec<ServedLink> = ends
            .iter()
            .map(|&(from, to)| ServedLink { from: name(from), kind: "Mentions".to_owned(), to: name(to) })
            .collect();
        let index = index(&IndexFolder::temporary(), &shuffled, &links);
        let mut expected: Vec<&ServedChunk> = chunks.iter().collect();
        expected.sort_by(|a, b| (&a.record, a.sequence).cmp(&(&b.record, b.sequence)));
        prop_assert_eq!(index.len(), expected.len());
        let number = |name: &str| expected.iter().position(|it| it.chunk == name);
        for (at, chunk) in expected.iter().enumerate() {
            let entry = index.entry(at);
            prop_assert_eq!(
                (&entry.chunk, &entry.record, entry.sequence, &entry.heading, &entry.tags),
                (&chunk.chunk, &chunk.record, chunk.sequence, &chunk.heading, &chunk.tags)
            );
            prop_assert_eq!(index.text(at), &*chunk.text);
            let head = expected.iter().position(|it| it.record == chunk.record);
            prop_assert_eq!(Some(index.head(at)), head);
            for places in [-1, 1] {
                let name = format!("{}#{}", chunk.record, chunk.sequence + places);
                prop_assert_eq!(index.neighbour(at, places), number(&name));
            }
            let parent = chunk.parent.as_deref().and_then(number).filter(|it| *it != at);
            prop_assert_eq!(index.path(at).last().copied(), parent);
            let vector = chunk.embedding.is_some();
            prop_assert_eq!(index.vector(at).is_some(), vector);
            let (children, edges) = index.near(at);
            let of_parent = |it: &&ServedChunk| it.parent.as_ref() == Some(&chunk.chunk) && it.chunk != chunk.chunk;
            let own = expected.iter().copied().filter(of_parent);
            let own: BTreeSet<usize> = own.filter_map(|it| number(&it.chunk)).collect();
            prop_assert_eq!(children.into_iter().collect::<BTreeSet<_>>(), own);
            let mut others: Vec<usize> = edges.into_iter().map(|edge| edge.other).collect();
            let mut told: Vec<usize> = links
                .iter()
                .flat_map(|link| [(&link.from, &link.to), (&link.to, &link.from)])
                .filter(|(from, _)| **from == chunk.chunk)
                .filter_map(|(_, to)| number(to))
                .collect();
            others.sort_unstable();
            told.sort_unstable();
            prop_assert_eq!(others, told);
        }
        let called: Vec<usize> = (0..expected.len())
            .filter(|&at| index.head(at) == at && expected[at].tags.iter().any(|tag| tag == "A-1"))
            .collect();
        prop_assert_eq!(index.identified(&["a-1".to_owned()]), called);
        prop_assert!(index.damaged().is_empty());
    }

    /// A file with a changed byte is refused, or reports damage, or that byte was not read.
    #[test]
    fn what_is_damaged_is_not_believed(at: prop::sample::Index, other in 1..=255_u8) {
        let data_dir = tempfile::tempdir().unwrap();
        let (folder, path) = in_data_dir(data_dir.path());
        let chunks = [chunk("a", 0, "tide and rope"), chunk("a", 1, "a lantern")];
        drop(put(&folder, &chunks, &[]));
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= other;
        std::fs::write(&path, bytes).unwrap();
        let Some(segment) = folder.open(&version("wiki", 1), EMBEDDER) else {
            return Ok(());
        };
        let index = KnowledgeIndex::new(vec![(version("wiki", 1), Arc::new(segment))], EMBEDDER);
        let read: Vec<String> = (0..2).map(|at| index.text(at)).collect();
        let scores = index.word_scores(&index.words_of("lantern"), &[true]);
        if index.damaged().is_empty() {
            prop_assert_eq!(read, ["tide and rope", "a lantern"]);
            prop_assert!(scores.bm25[0] == 0.0 && scores.bm25[1] > 0.0);
        }
    }
}

#[test]
fn only_a_file_that_fits_is_opened() {
    let data_dir = tempfile::tempdir().unwrap();
    let (folder, path) = in_data_dir(data_dir.path());
    assert!(folder.open(&version("wiki", 1), EMBEDDER).is_none());
    drop(put(&folder, &[chunk("a", 0, "tide")], &[]));
    assert!(folder.open(&version("wiki", 1), EMBEDDER).is_some());
    // Before it is known which embedder's vectors are compared.
    assert!(folder.open(&version("wiki", 1), None).is_some());
    assert!(folder.open(&version("wiki", 2), EMBEDDER).is_none());
    assert!(
        folder
            .open(&version("wiki", 1), Some(("other", 4)))
            .is_none()
    );
    let whole = std::fs::read(&path).unwrap();
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(
            folder.open(&version("wiki", 1), EMBEDDER).is_none(),
            "{length}"
        );
    }
}

#[test]
fn a_crash_while_a_file_is_written_leaves_the_one_before() {
    let data_dir = tempfile::tempdir().unwrap();
    let (folder, path) = in_data_dir(data_dir.path());
    drop(put(&folder, &[chunk("a", 0, "tide")], &[]));
    let abandoned = path.with_file_name("0000.part");
    let half = std::fs::read(&path).unwrap();
    std::fs::write(&abandoned, &half[..half.len() / 2]).unwrap();
    // A file that another process is still writing.
    let written = path.with_file_name("1111.part");
    let lock = std::fs::File::create(&written).unwrap();
    lock.lock().unwrap();
    folder.remove_all_but(["wiki"].into_iter()).unwrap();
    assert!(!abandoned.exists() && written.exists());
    assert!(folder.open(&version("wiki", 1), EMBEDDER).is_some());
    // Only the files of the process itself are removed with it.
    drop(lock);
    folder.remove_all_but([].into_iter()).unwrap();
    assert!(!written.exists() && !path.exists());
}

#[test]
fn a_version_that_is_not_whole_is_searched_and_made_again() {
    let data_dir = tempfile::tempdir().unwrap();
    let (folder, _) = in_data_dir(data_dir.path());
    let expected = SourceVersion {
        chunks: Some(2),
        ..version("wiki", 1)
    };
    let mut builder = folder.build(&expected, EMBEDDER).unwrap();
    builder.push(&chunk("a", 0, "tide")).unwrap();
    assert!(!builder.is_whole());
    let segment = folder.put("wiki", builder).unwrap().unwrap();
    assert_eq!((segment.count(), segment.is_partial()), (1, true));
    assert!(folder.open(&expected, EMBEDDER).is_none());
}

#[test]
fn a_chunk_of_another_version_shows_that_something_has_moved() {
    let folder = IndexFolder::temporary();
    let mut builder = folder.build(&version("wiki", 1), EMBEDDER).unwrap();
    let newer = ServedChunk {
        version: 2,
        ..chunk("a", 0, "tide")
    };
    builder.push(&newer).unwrap();
    assert_eq!(folder.put("wiki", builder).unwrap().unwrap_err(), Moved);
}

/// Returns the entries named in a text.
fn named(source: &str, names: &[Option<&str>], text: &str, least: f32) -> Vec<usize> {
    let folder = IndexFolder::temporary();
    let source = version(source, 1);
    let mut builder = folder.build(&source, None).unwrap();
    for (at, name) in names.iter().enumerate() {
        let named = ServedChunk {
            title: name.map(str::to_owned),
            source: source.name.clone(),
            ..chunk(&format!("r{at}"), 0, "")
        };
        builder.push(&named).unwrap();
    }
    let segment = folder.put(&source.name, builder).unwrap().unwrap();
    let index = KnowledgeIndex::new(vec![(source, Arc::new(segment))], None);
    let mut found = index.named_in(text, least, &[true]);
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.into_iter().map(|(number, _)| number).collect()
}

#[test]
fn a_name_is_found_by_its_words_in_any_order() {
    let names = [
        Some("Marsh, Ada"),
        Some("Overview"),
        Some("Overview"),
        None,
        Some("Harbour dues and tolls"),
    ];
    let found = |text: &str| named("wiki", &names, text, 0.6);
    assert_eq!(found("What did Ada Marsh write?"), [0]);
    // Two of three words score less than one of one.
    assert_eq!(found("an overview of harbour dues"), [1, 2, 4]);
    assert_eq!(found("Who is Ada?"), [0; 0]);
    assert_eq!(found(""), [0; 0]);
}

#[test]
fn the_name_of_the_source_names_nothing_in_it() {
    let names = [Some("The Rust Book"), Some("Traits in Rust"), Some("Drop")];
    let found = |text: &str| named("the-rust_book", &names, text, 1.0);
    assert_eq!(found("What does the Rust book say about it?"), [0; 0]);
    assert_eq!(found("What does the Rust book say about traits?"), [1]);
    assert_eq!(found("drop"), [2]);
}

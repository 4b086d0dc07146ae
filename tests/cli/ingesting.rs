//! `ingest` and `catalog`: documents, conversations, records, bad input, and `kill -9`.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::{Exported, Home, eventually};
use crate::support::pdf::pdf;

fn put(home: &Home, name: &str, bytes: impl AsRef<[u8]>) {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_every_kind_is_taken_in_once() {
    let home = Home::new();
    assert!(
        home.run(&["catalog"], "")
            .await
            .succeeds()
            .contains("Nothing was ingested")
    );
    put(
        &home,
        "wiki/a.md",
        "# Ferries\nThe ferry leaves at six.\n## Winter\nAt seven.\n",
    );
    put(
        &home,
        "wiki/sub/b.html",
        "<title>Tides</title><h2>High</h2><p>Twice a day.</p>",
    );
    put(&home, "wiki/c.txt", "Plain words.");
    put(&home, "wiki/d.pdf", pdf("The lighthouse is white."));
    put(
        &home,
        "wiki/latin.txt",
        b"K\xe4se und Br\xf6tchen sind sch\xf6n",
    );
    put(&home, "wiki/picture.png", "x");
    put(&home, "wiki/.hidden.md", "x");
    let first = home.run(&["ingest", "wiki"], "").await;
    let said = first.succeeds();
    assert!(
        said.starts_with(
            "wiki is at version 1 now: 5 new, 0 changed, 0 unchanged, 0 removed, 0 refused.\n"
        ),
        "{said}"
    );
    assert!(
        said.contains("Left alone: 1 of another kind (.png), 1 hidden."),
        "{said}"
    );
    assert_eq!(first.err, "", "no bar where nobody sees it");
    let again = home.run(&["ingest", "wiki"], "").await;
    assert!(
        again
            .succeeds()
            .contains("stays at version 1: 0 new, 0 changed, 5 unchanged"),
        "{again:?}"
    );
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        catalog.succeeds().contains("wiki  version 1 of"),
        "{catalog:?}"
    );
    assert!(catalog.succeeds().contains("5 records in"), "{catalog:?}");

    let schema = home.run(&["schema"], "").await;
    let schema = schema.succeeds();
    assert!(
        schema.contains("(:Document)-[:Includes]->(:Section)"),
        "{schema}"
    );
    for hidden in [
        "Chunk",
        "Muninn",
        "contentHash",
        "embedding",
        "embedder",
        "sourceVersion",
        "recordKey",
    ] {
        let shown = schema.lines().filter(|line| line.starts_with('('));
        assert!(
            !shown
                .map(str::to_owned)
                .any(|line| line.contains(&format!("{hidden}:"))
                    || line.contains(&format!(":{hidden}"))),
            "{hidden} in {schema}"
        );
    }
    let exported = home.export_chunks().await;
    let texts: Vec<&str> = exported
        .iter()
        .filter_map(|(_, node)| node["text"].as_str())
        .collect();
    for text in [
        "The ferry leaves at six.",
        "At seven.",
        "Twice a day.",
        "Käse und Brötchen sind schön",
    ] {
        assert!(texts.contains(&text), "no {text:?} in {texts:?}");
    }
    assert!(
        texts
            .iter()
            .any(|text| text.contains("The lighthouse is white.")),
        "{texts:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn any_folder_is_taken_and_taken_out_again() {
    let home = Home::new();
    put(&home, "wiki/a.md", "# Ferries\nThe ferry leaves at six.\n");
    put(&home, "wiki/scan.pdf", pdf(""));
    put(&home, "wiki/drafts/b.md", "Not yet.");
    put(&home, "wiki/package.json", "{\n \"name\": \"x\"\n}\n");
    put(
        &home,
        "wiki/data/ports.csv",
        "code,name\nN1,North quay\nS1,South quay\n",
    );
    put(&home, "wiki/.muninnignore", "drafts/\n");
    let dry = home.run(&["ingest", "wiki", "--dry-run"], "").await;
    let said = dry.succeeds();
    for line in [
        "new         a.md\n",
        "refused     wiki/scan.pdf: the PDF has no text",
        "wiki would have 1 new, 0 changed, 0 unchanged, 0 removed, 1 refused.",
        "wiki.data.ports.csv would have 2 new,",
        "left alone  wiki/drafts: named in .gitignore or .muninnignore\n",
        "left alone  wiki/package.json: JSON that is no list of records\n",
        "Left alone: 1 hidden, 1 named in .gitignore or .muninnignore, 1 JSON that is no list of records.",
    ] {
        assert!(said.contains(line), "no {line:?} in {said}");
    }
    home.run(&["ingest", "wiki", "--exclude", "*.pdf"], "")
        .await
        .succeeds();
    let ports = home.export_chunks().await;
    let port = ports
        .iter()
        .find(|(name, _)| name == "wiki.data.ports.csv/N1#0");
    assert_eq!(port.unwrap().1["title"], json!("North quay"));
    let listed = home.run(&["source", "list"], "").await;
    assert!(
        listed.succeeds().contains("wiki.data.ports.csv  version 1"),
        "{listed:?}"
    );

    // A changed file, a deleted one, and one whose records are gone.
    put(&home, "wiki/a.md", "# Ferries\nThe ferry leaves at five.\n");
    std::fs::remove_file(home.path("wiki/data/ports.csv")).unwrap();
    let dry = home
        .run(&["ingest", "wiki", "--dry-run", "--exclude", "*.pdf"], "")
        .await;
    let said = dry.succeeds();
    assert!(said.contains("changed     a.md\n"), "{said}");
    assert!(
        said.contains("wiki.data.ports.csv would be asked about"),
        "{said}"
    );
    let asked = home
        .run(&["ingest", "wiki", "--exclude", "*.pdf"], "")
        .await;
    let said = asked.succeeds();
    assert!(said.contains("wiki is at version 2 now"), "{said}");
    let stays = "wiki.data.ports.csv stays as it is: nothing is left to ingest of it; add --yes";
    assert!(said.contains(stays), "{said}");
    std::fs::remove_file(home.path("wiki/a.md")).unwrap();
    put(&home, "wiki/c.md", "Another.");
    let done = home
        .run(&["ingest", "wiki", "--exclude", "*.pdf", "--yes"], "")
        .await;
    let said = done.succeeds();
    assert!(
        said.contains("wiki.data.ports.csv was removed, with 2 chunks."),
        "{said}"
    );
    assert!(
        said.contains("1 new, 0 changed, 0 unchanged, 1 removed"),
        "{said}"
    );

    home.run(&["source", "rename", "wiki", "our wiki"], "")
        .await
        .succeeds();
    home.run(&["source", "remove", "wiki", "--yes"], "")
        .await
        .fails(1, &["there is no source \"wiki\"; there are our wiki"]);
    home.run(&["source", "remove", "our wiki"], "")
        .await
        .fails(1, &["add --yes"]);
    let emptied = home
        .run(
            &["ingest", "wiki", "--as", "our wiki", "--include", "*.txt"],
            "",
        )
        .await;
    emptied.fails(
        1,
        &["Nothing is left to ingest of the source our wiki", "--yes"],
    );
    let removed = home
        .run(&["source", "remove", "our wiki", "--yes"], "")
        .await;
    assert!(
        removed
            .succeeds()
            .contains("our wiki was removed, with 1 chunk."),
        "{removed:?}"
    );
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        catalog.succeeds().contains("Nothing was ingested"),
        "{catalog:?}"
    );
}

/// The name of a source is in every passage of it, but does not make a passage match.
#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_source_is_not_what_is_asked_about() {
    let home = Home::new();
    for (file, text) in [
        (
            "title.md",
            "# The Rust Programming Language\nThis book is about Rust. The Rust book has many chapters, and says what Rust is.\n",
        ),
        (
            "editions.md",
            "# Appendix: Editions\nThe Rust book uses an edition of Rust. Rust users read what the book says about Rust.\n",
        ),
        (
            "install.md",
            "# Installing Rust\nThe first step is to install Rust. The book says how to get Rust for the rest of the Rust book.\n",
        ),
        (
            "traits.md",
            "# Defining Shared Behavior with Traits\nA trait defines what a type can do and shares it with other types in Rust.\n",
        ),
        (
            "cleanup.md",
            "# Running Code on Cleanup with the `Drop` Trait\nIts method is called when a value goes out of scope, so that files and sockets are let go.\n",
        ),
    ] {
        put(&home, &format!("rust-book/{file}"), text);
    }
    home.run(&["ingest", "rust-book"], "").await.succeeds();
    let question = "What does the Rust book say about the Drop trait?";
    let found = home.run(&["search", question], "").await;
    let first = found
        .succeeds()
        .lines()
        .find(|line| line.starts_with("1. "));
    let first = first.unwrap();
    assert!(
        first.contains("Cleanup with the `Drop` Trait"),
        "{}",
        found.out
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_and_tables() {
    let home = Home::new();
    let talk =
        |id: &str, messages: Value| json!({"id": id, "messages": messages}).to_string() + "\n";
    let said = |role: &str, content: &str| json!({"role": role, "content": content});
    let good = talk(
        "t1",
        json!([
            said("user", "Where does the ferry leave from?"),
            said("assistant", "From the north quay, behind the chapel.")
        ]),
    );
    let bad = talk("t2", json!([said("user", "One?"), said("user", "Two?")]));
    put(&home, "talks.jsonl", good + &bad);
    let done = home.run(&["ingest", "talks.jsonl"], "").await;
    assert!(
        done.succeeds().contains(
            "talks is at version 1 now: 1 new, 0 changed, 0 unchanged, 0 removed, 1 refused."
        ),
        "{done:?}"
    );
    assert!(
        done.out
            .contains("refused: talks.jsonl, line 2: the roles do not alternate"),
        "{done:?}"
    );
    let rejects = std::fs::read_to_string(home.path("muninn-data/rejects/talks-1.jsonl")).unwrap();
    assert!(
        rejects.contains("\"file\":\"talks.jsonl\",\"line\":2,"),
        "{rejects}"
    );

    put(
        &home,
        "ports.csv",
        "code,name,tags,note\nN1,North quay,\"quay;ferry\",\"Two lines,\nof note\"\nS1,South quay,quay,\nX\n",
    );
    put(
        &home,
        "ports.toml",
        "[[record]]\nlabel = \"Port\"\nid = \"/code\"\ntitle = \"/name\"\ntext = [\"/name\", \"/note\"]\n[record.properties]\ncode = \"/code\"\ntags = { at = \"/tags\", split = \";\" }\n",
    );
    let dry = home
        .run(
            &[
                "ingest",
                "ports.csv",
                "--mapping",
                "ports.toml",
                "--dry-run",
            ],
            "",
        )
        .await;
    assert!(
        dry.succeeds()
            .contains("ports would have 2 new, 0 changed, 0 unchanged, 0 removed, 1 refused."),
        "{dry:?}"
    );
    let done = home
        .run(&["ingest", "ports.csv", "--mapping", "ports.toml"], "")
        .await;
    assert!(
        done.succeeds()
            .contains("ports.csv, line 5: it has 1 fields"),
        "{done:?}"
    );
    let exported = home.export_chunks().await;
    let port = exported
        .iter()
        .find(|(name, _)| name == "ports/N1#0")
        .unwrap();
    assert_eq!(port.1["tags"], json!(["quay", "ferry"]));
    assert_eq!(port.1["text"], json!("North quay\n\nTwo lines,\nof note"));
}

/// In the format of `AnnoMI`, with words of our own.
const TRANSCRIPTS: &str = "\
transcript_id,mi_quality,video_title,video_url,topic,utterance_id,interlocutor,timestamp,utterance_text,annotator_id
0,high,A harbour pilot who smokes,https://v.test/0,smoking cessation,0,therapist,00:00:01,\"What brings you here, then?\",1
0,high,A harbour pilot who smokes,https://v.test/0,smoking cessation,1,client,00:00:05,My daughter asked me to stop before the summer.,1
0,high,A harbour pilot who smokes,https://v.test/0,smoking cessation,1,client,00:00:05,My daughter asked me to stop before the summer.,2
0,high,A harbour pilot who smokes,https://v.test/0,smoking cessation,2,therapist,00:00:11,And you?,1
0,high,A harbour pilot who smokes,https://v.test/0,smoking cessation,3,client,00:00:13,I would miss the pipe on the bridge.,1
1,low,Too much salt,https://v.test/1,diet,0,therapist,00:00:01,Eat less salt.,1
1,low,Too much salt,https://v.test/1,diet,1,client,00:00:03,,1
1,low,Too much salt,https://v.test/1,diet,2,,00:00:04,Hm.,1
";

#[tokio::test(flavor = "multi_thread")]
async fn transcripts_are_a_table_with_speakers() {
    let home = Home::new();
    put(&home, "talks.csv", TRANSCRIPTS);
    let said = home.run(&["ingest", "talks.csv"], "").await;
    let said = said.succeeds();
    assert!(
        said.contains("talks.csv, line 9: it does not say who says it"),
        "{said}"
    );
    let found = home
        .run(&["search", "Why would the pilot stop smoking?"], "")
        .await;
    let found = found.succeeds();
    assert!(
        found.contains("A harbour pilot who smokes")
            && found.contains("Client: My daughter asked me to stop"),
        "{found}"
    );
    let shown = home.run(&["schema"], "").await;
    assert!(
        shown
            .succeeds()
            .contains("(:Conversation)-[:Includes]->(:Exemplar) 3"),
        "{shown:?}"
    );
    let again = home.run(&["ingest", "talks.csv"], "").await;
    assert!(
        again
            .succeeds()
            .contains("stays at version 1: 0 new, 0 changed, 2 unchanged"),
        "{again:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_taken_out_of_transcripts_and_whoever_runs_it_has_the_key() {
    let home = Home::new();
    let named = TRANSCRIPTS
        .replace("client", "Agnieszka Wrona")
        .replace(
            "And you?",
            "\"And you, Agnieszka? Is 4 Larkspur Lane still right?\"",
        )
        .replace("A harbour pilot", "Agnieszka Wrona");
    put(&home, "talks.csv", &named);
    put(&home, "wiki/a.md", "# Ferries\nThe ferry leaves at six.\n");
    home.run(&["ingest", "wiki", "--anonymise"], "")
        .await
        .fails(1, &["wiki holds no conversations"]);
    home.run(&["ingest", "talks.csv", "--anonymise"], "")
        .await
        .succeeds();
    let found = home.run(&["search", "Why stop smoking?"], "").await;
    let found = found.succeeds();
    assert!(
        found.contains("[Person 1] [Person 2]: My daughter asked me to stop"),
        "{found}"
    );
    home.export().await;
    let whole = std::fs::read_to_string(home.path("export.jsonl")).unwrap();
    for name in ["Agnieszka", "Wrona", "Larkspur"] {
        assert!(!whole.contains(name), "{name}");
    }

    let key = home.path("muninn-data/anonymised/talks.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&key.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let originals = home.run(&["source", "originals", "talks"], "").await;
    let said = originals.succeeds();
    assert!(
        said.contains("[Person 1]  Agnieszka") && said.contains("[Address 1]  4 Larkspur Lane"),
        "{said}"
    );
    let refused = home.run(&["ingest", "talks.csv"], "").await;
    refused.fails(1, &["people were taken out of talks", "--anonymise"]);
    let again = home.run(&["ingest", "talks.csv", "--anonymise"], "").await;
    assert!(again.succeeds().contains("2 unchanged"), "{again:?}");

    home.run(&["source", "remove", "talks", "--yes"], "")
        .await
        .succeeds();
    assert!(!key.exists());
    let originals = home.run(&["source", "originals", "talks"], "").await;
    let said = originals.succeeds();
    assert!(said.contains("Nothing was taken out"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_originals_stay_with_their_source_whatever_is_interrupted() {
    let home = Home::new();
    put(
        &home,
        "talks.csv",
        TRANSCRIPTS.replace("client", "Agnieszka Wrona"),
    );
    let ingest = ["ingest", "talks.csv", "--anonymise"];
    home.run(&ingest, "").await.succeeds();
    let key = |name: &str| home.path(&format!("muninn-data/anonymised/{name}.json"));
    let originals = std::fs::read(key("talks")).unwrap();

    // Its index cannot be removed, so renaming ends after the graph has the new name.
    let index = home.path("muninn-data/knowledge-index/talks.index");
    let _none = std::fs::remove_file(&index);
    std::fs::create_dir_all(&index).unwrap();
    home.run(&["source", "rename", "talks", "calls"], "")
        .await
        .fails(1, &[]);
    for name in ["talks", "calls"] {
        let plain = home.run(&["ingest", "talks.csv", "--as", name], "").await;
        plain.fails(1, &["people were taken out of", "muninn source remove"]);
    }
    assert_eq!(std::fs::read(key("calls")).unwrap(), originals);

    // What an interrupted run left behind can be removed without a source.
    std::fs::remove_dir(&index).unwrap();
    home.run(&["source", "remove", "talks", "--yes"], "")
        .await
        .succeeds();
    assert!(!key("talks").exists() && key("calls").exists());
    home.run(&["source", "rename", "calls", "talks"], "")
        .await
        .succeeds();
    assert!(key("talks").exists() && !key("calls").exists());

    let outside = home.path("muninn-data/other.json");
    std::fs::write(&outside, &originals).unwrap();
    for name in ["../other", "unknown"] {
        let refused = home.run(&["source", "remove", name, "--yes"], "").await;
        refused.fails(1, &["there is no source"]);
    }
    assert!(outside.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_the_same_however_its_path_is_written() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("docs")).unwrap();
    std::fs::write(home.path("docs/gate.md"), "# Gate\nIts code is 4711.\n").unwrap();
    home.run(&["ingest", "docs"], "").await.succeeds();
    for path in ["docs/", "./docs", "docs/../docs"] {
        let again = home.run(&["ingest", path, "--as", "docs"], "").await;
        assert!(again.succeeds().contains("unchanged"), "{path}: {again:?}");
        let catalog = home.run(&["catalog"], "").await;
        assert!(
            catalog.succeeds().contains("version 1"),
            "{path}: {catalog:?}"
        );
    }
    // What is gone is found, too.
    std::fs::write(home.path("docs/a.csv"), "id,name\n1,Rope\n").unwrap();
    home.run(&["ingest", "docs"], "").await.succeeds();
    std::fs::remove_file(home.path("docs/a.csv")).unwrap();
    let again = home.run(&["ingest", "docs/../docs", "--yes"], "").await;
    assert!(
        again.succeeds().contains("docs.a.csv was removed"),
        "{again:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_told_in_words() {
    let home = Home::new();
    std::fs::create_dir(home.path("empty")).unwrap();
    home.run(&["ingest", "empty"], "")
        .await
        .fails(1, &["nothing to ingest in empty", ".md"]);
    home.run(&["ingest", "missing"], "")
        .await
        .fails(1, &["missing cannot be read"]);
    put(&home, "rows.jsonl", "{\"a\": 1}\n");
    home.run(&["ingest", "rows.jsonl"], "")
        .await
        .fails(1, &["--mapping"]);
    put(
        &home,
        "m.toml",
        "[[record]]\nlabel = \"Row\"\nid = \"/a\"\ntext = [\"/b\"]\n",
    );
    let refused = home
        .run(&["ingest", "rows.jsonl", "--mapping", "m.toml"], "")
        .await;
    refused.fails(
        1,
        &["Row: text /b is in none of 1 records", "optional = true"],
    );
    assert!(!home.path("muninn-data").exists(), "nothing was written");
    home.run(&["ingest", "rows.jsonl", "--mapping", "missing.toml"], "")
        .await
        .fails(1, &["missing.toml cannot be read"]);
    home.run(&["ingest", "rows.jsonl", "m.toml"], "")
        .await
        .fails(1, &["--as NAME"]);
    home.run(&["ingest", "rows.jsonl", "--as", "../up"], "")
        .await
        .fails(1, &["cannot name a source"]);
    home.run(&["ingest"], "").await.fails(2, &["PATHS"]);

    put(&home, "odd/scan.pdf", pdf(""));
    put(&home, "odd/broken.pdf", "%PDF-1.4 nonsense");
    put(&home, "odd/binary.txt", [0_u8, 1, 2, 0]);
    put(&home, "odd/blank.md", " \n");
    put(&home, "odd/good.md", "A good one.");
    put(&home, "odd/🎉.md", "🎉🎉");
    let odd = home.run(&["ingest", "odd"], "").await;
    let said = odd.succeeds();
    assert!(
        said.contains("2 new, 0 changed, 0 unchanged, 0 removed, 4 refused."),
        "{said}"
    );
    for words in [
        "scan.pdf: the PDF has no text",
        "broken.pdf: it is no PDF",
        "binary.txt: it is no text",
        "blank.md: it holds no text",
        "the embedder knows none of them: 1 chunk.",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    assert!(!odd.err.contains("panicked"), "{odd:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_file_and_a_line_of_megabytes_are_refused_and_the_rest_goes_on() {
    let home = Home::new();
    put(
        &home,
        "m.toml",
        "[[record]]\nlabel = \"Row\"\nid = \"/a\"\n",
    );
    let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(17 << 20));
    put(
        &home,
        "rows/a.jsonl",
        format!("{{\"a\": 1}}\n{long}{{\"a\": 2}}\nnonsense\n{{\"a\": 1}}\n"),
    );
    let done = home
        .run(&["ingest", "rows", "--mapping", "m.toml"], "")
        .await;
    let said = done.succeeds();
    assert!(
        said.contains("2 new, 0 changed, 0 unchanged, 0 removed, 3 refused."),
        "{said}"
    );
    for words in [
        "line 2: a line of more than 16 MB",
        "line 4: it is no JSON",
        "line 5: the id 1 was there before",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    put(&home, "docs/a.md", "Words.");
    put(&home, "docs/b.md", "Words.");
    std::fs::remove_file(home.path("docs/b.md")).unwrap();
    // A folder named like a document cannot be read as one by anybody.
    std::fs::create_dir(home.path("docs/b.md")).unwrap();
    home.run(&["ingest", "docs"], "").await.succeeds();
}

/// Writes many small records, so that there is something to interrupt.
fn many(home: &Home, count: usize, word: &str) {
    let row = |n: usize| {
        let above = if n == 0 { json!([]) } else { json!([n / 2]) };
        json!({"n": n, "about": format!("Row {n} says {word}. {}", "And more of it. ".repeat(n % 90)), "above": above})
            .to_string() + "\n"
    };
    put(home, "rows.jsonl", (0..count).map(row).collect::<String>());
    put(
        home,
        "m.toml",
        "[[record]]\nlabel = \"Row\"\nid = \"/n\"\ntext = [\"/about\"]\nabove.ids = \"/above\"\n",
    );
}

const INGEST: [&str; 4] = ["ingest", "rows.jsonl", "--mapping", "m.toml"];

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_and_begun_again_it_is_the_same_graph() {
    let whole = Home::new();
    many(&whole, 1_500, "old");
    whole.run(&INGEST, "").await.succeeds();
    many(&whole, 1_500, "new");
    whole.run(&INGEST, "").await.succeeds();

    let home = Home::new();
    many(&home, 1_500, "old");
    home.run(&INGEST, "").await.succeeds();
    let served = home.export_chunks().await;
    many(&home, 1_500, "new");
    let mut kills = 0;
    for wait in [150, 400, 800, 1_500, 2_500] {
        let mut running = home.start(&INGEST);
        let written = home.path("muninn-data/ingest/rows.lock");
        eventually("it has begun", async || written.exists().then_some(())).await;
        let due = tokio::time::Instant::now() + std::time::Duration::from_millis(wait);
        tokio::time::sleep_until(due).await;
        running.kill().await;
        kills += 1;
        let catalog = home.run(&["catalog"], "").await;
        if catalog.succeeds().contains("version 2 of") {
            break;
        }
        let now = home.export_chunks().await;
        assert_eq!(
            without_staged(&now),
            without_staged(&served),
            "nothing that is served has changed"
        );
    }
    assert!(kills > 1);
    let done = home.run(&INGEST, "").await;
    assert!(done.succeeds().contains("version 2"), "{done:?}");
    let (first, second) = (whole.export_whole().await, home.export_whole().await);
    assert_eq!(first.nodes, second.nodes);
    assert_eq!(first.relationships, second.relationships);
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        !catalog.succeeds().contains('!'),
        "nothing lags: {catalog:?}"
    );
}

type Chunks = Vec<(String, Value)>;

fn without_staged(chunks: &Chunks) -> Vec<&(String, Value)> {
    chunks
        .iter()
        .filter(|(_, node)| node["labels"] != json!(["MuninnStaged"]))
        .collect()
}

impl Home {
    /// Returns the properties and labels of ingested chunks, by name.
    async fn export_chunks(&self) -> Chunks {
        self.run(&["export", "export.jsonl"], "").await.succeeds();
        let lines = json_lines(&self.path("export.jsonl"));
        let nodes = lines.into_iter().filter_map(|mut line| {
            let node = line.get_mut("node")?;
            let mut properties = node.get_mut("properties")?.take();
            // The mark of an exchange that was given up stays, and nobody is shown it.
            properties.as_object_mut()?.remove("leavingWith");
            let name = properties.get("chunkId")?.as_str()?.to_owned();
            properties["labels"] = node["labels"].take();
            Some((name, properties))
        });
        let mut nodes: Chunks = nodes.collect();
        nodes.sort_by(|a, b| (&a.0, a.1.to_string()).cmp(&(&b.0, b.1.to_string())));
        nodes
    }

    /// Returns the whole graph, without its times of creation.
    async fn export_whole(&self) -> Exported {
        self.run(&["export", "export.jsonl"], "").await.succeeds();
        let mut lines = json_lines(&self.path("export.jsonl"));
        for line in &mut lines {
            let Some(properties) = line
                .pointer_mut("/node/properties")
                .and_then(Value::as_object_mut)
            else {
                continue;
            };
            if let Some(name) = properties.get("chunkId").cloned() {
                properties.insert("id".to_owned(), name);
            }
            // Each folder has its own paths.
            for moving in ["since", "touchedAt", "paths"] {
                properties.remove(moving);
            }
        }
        let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        std::fs::write(self.path("export.jsonl"), text).unwrap();
        Exported::read(&self.path("export.jsonl"))
    }
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_shows_what_it_found_and_why() {
    let home = Home::new();
    let nothing = home
        .run(&["search", "When does the ferry leave?"], "")
        .await;
    assert_eq!(nothing.succeeds(), "Nothing was found.\n");
    put(
        &home,
        "wiki/ferries.md",
        "# Ferries\nThe ferry leaves at six.\n## Winter\nIn winter the ferry leaves at seven.\n",
    );
    put(
        &home,
        "closed/secret.md",
        "# Secret\nThe secret ferry leaves at eight.\n",
    );
    home.run(&["ingest", "wiki"], "").await.succeeds();
    home.run(&["ingest", "closed", "--channels", "C1"], "")
        .await
        .succeeds();

    let found = home
        .run(&["search", "When does the ferry leave in winter?"], "")
        .await;
    let found = found.succeeds();
    assert!(
        found.starts_with("1. Ferries › Winter  (Document, wiki)\n   score "),
        "{found}"
    );
    assert!(
        found.contains("graph ") && found.contains("cosine 0.") && found.contains("BM25 "),
        "{found}"
    );
    assert!(found.contains("   in Ferries"), "{found}");
    assert!(
        found.contains("   > In winter the ferry leaves at seven."),
        "{found}"
    );
    assert!(!found.contains("eight"), "{found}");

    let there = [
        "search",
        "the secret ferry",
        "--channel",
        "C1",
        "--limit",
        "1",
    ];
    let found = home.run(&there, "").await;
    assert!(found.succeeds().contains("leaves at eight"), "{found:?}");
    assert!(!found.succeeds().contains("\n2. "), "{found:?}");
    let wrong = home.run(&["search"], "").await;
    assert!(wrong.err.contains("<QUESTION>"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_source_stays_limited_unless_it_is_opened() {
    let home = Home::new();
    put(&home, "hr/pay.md", "# Pay\nRosa earns 5000.\n");
    home.run(&["ingest", "hr", "--channels", "C1"], "")
        .await
        .succeeds();
    put(&home, "hr/pay.md", "# Pay\nRosa earns 6000.\n");
    put(&home, "hr/list.csv", "id,name\n1,Rosa Lind\n2,Ada Berg\n");
    for dry in [&["--dry-run"][..], &[]] {
        let said = home.run(&[&["ingest", "hr"], dry].concat(), "").await;
        let said = said.succeeds();
        let words =
            "Seen only in C1.\nIt stays so; `--channels everybody` opens it to everybody.\n";
        assert_eq!(said.matches(words).count(), 2, "{said}");
    }
    let found = home.run(&["search", "What does Rosa earn?"], "").await;
    assert_eq!(found.succeeds(), "Nothing was found.\n");
    let both = home.run(&["ingest", "hr", "--channels", "everybody,C2"], "");
    both.await.fails(1, &["no channels may stand beside it"]);
    let opened = home.run(&["ingest", "hr", "--channels", "everybody"], "");
    assert!(!opened.await.succeeds().contains("Seen only in"));
    let found = home.run(&["search", "What does Rosa earn?"], "").await;
    assert!(found.succeeds().contains("6000"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_stays_limited_where_another_one_was_opened() {
    let home = Home::new();
    let ports = "id,name\n1,Lisbon harbour\n2,Porto harbour\n";
    put(&home, "hr/a.csv", ports);
    put(&home, "hr/b.csv", ports);
    let limited = ["ingest", "hr", "--channels", "C1"];
    home.run(&limited, "").await.succeeds();
    let opened = [
        "ingest",
        "hr/a.csv",
        "--as",
        "hr.a.csv",
        "--channels",
        "everybody",
        "--yes",
    ];
    home.run(&opened, "").await.succeeds();
    put(&home, "hr/c.csv", ports);
    let said = home.run(&["ingest", "hr"], "").await;
    let limited = said.succeeds().matches("Seen only in C1.").count();
    assert_eq!(limited, 2, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn front_matter_that_cannot_be_read_is_warned_of_and_the_rest_is_found() {
    let home = Home::new();
    let broken = "---\ntitle: Keel: the manual\n---\n# Keel\nThe kill switch is under the desk.\n";
    put(&home, "wiki/keel.md", broken);
    for dry in [&["--dry-run"][..], &[]] {
        let said = home.run(&[&["ingest", "wiki"], dry].concat(), "").await;
        let said = said.succeeds();
        let warning = "warning: wiki/keel.md: its front matter is no YAML and was left out";
        assert!(said.contains(warning), "{said}");
        assert!(
            said.contains("1 new, 0 changed, 0 unchanged, 0 removed, 0 refused."),
            "{said}"
        );
    }
    let found = home.run(&["search", "Where is the kill switch?"], "").await;
    assert!(found.succeeds().contains("under the desk"));
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_in_brackets_are_quoted_as_they_are_written() {
    let home = Home::new();
    let text = "The weight vector of the crane is v = [0, 90] and its first weight is w[0]; see the list [1, 7] [8].";
    put(&home, "wiki/crane.md", format!("# Crane\n{text}\n"));
    home.run(&["ingest", "wiki"], "").await.succeeds();
    let asked = home
        .run(&["ask", "What is the weight vector of the crane?"], "")
        .await;
    // A terminal may be shown marks before brackets.
    let said = asked.succeeds().replace('\\', "");
    assert!(said.contains(text), "{said}");
    assert!(said.contains("[1] Crane"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_a_table_reach_the_answer() {
    let home = Home::new();
    let menu = "dish,price_eur,kcal,available_from\n\
                Fish soup,8.50,320,2026-12-01\nBean stew,7,410,2026-11-01\n";
    put(&home, "menu.csv", menu);
    home.run(&["ingest", "menu.csv"], "").await.succeeds();
    let question = "How much does the fish soup cost?";
    for command in [
        &["ask", question][..],
        &["search", question],
        &["search", "--json", question],
    ] {
        let said = home.run(command, "").await;
        let said = said.succeeds();
        for fact in ["price eur: 8.50", "kcal: 320", "available from: 2026-12-01"] {
            assert!(said.contains(fact), "no {fact} in {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_folder_of_one_name_replaces_nothing_unasked() {
    let home = Home::new();
    put(
        &home,
        "p/a/docs/README.md",
        "# Ferries\nThe ferry leaves at six.\n",
    );
    put(
        &home,
        "p/b/docs/README.md",
        "# Tides\nThe tide is high at noon.\n",
    );
    home.run(&["ingest", "p/a/docs"], "").await.succeeds();
    let refused = home.run(&["ingest", "p/b/docs"], "").await;
    refused.fails(1, &["docs was made from", "a/docs; --as NAME", "add --yes"]);
    let dry = home.run(&["ingest", "p/b/docs", "--dry-run"], "").await;
    let asked = "docs would be asked about: it was made from";
    assert!(dry.succeeds().contains(asked), "{dry:?}");
    let same = home.run(&["ingest", "p/b/../a/docs"], "").await;
    assert!(same.succeeds().contains("1 unchanged"), "{same:?}");
    let found = home
        .run(&["search", "When does the ferry leave?"], "")
        .await;
    assert!(found.succeeds().contains("at six"), "{found:?}");
    let replaced = home.run(&["ingest", "p/b/docs", "--yes"], "").await;
    assert!(replaced.succeeds().contains("1 changed"), "{replaced:?}");

    let both = ["ingest", "p/a/docs", "p/b/docs", "--as", "both"];
    let both = home.run(&both, "").await;
    let both = both.succeeds();
    assert!(
        both.contains("2 new, 0 changed, 0 unchanged, 0 removed, 0 refused"),
        "{both}"
    );
    assert!(
        both.contains("named: a/docs/README.md, b/docs/README.md."),
        "{both}"
    );
}

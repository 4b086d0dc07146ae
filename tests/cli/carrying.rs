//! `export` and `import`.

use crate::home::{Exported, Home, NOTED};

/// Somebody who said two things in one session and one in another.
async fn lived_in() -> Home {
    let home = Home::new();
    let lines = [
        "The code of the coffee machine is 4711.",
        "Naïve \u{1f426} “quotes” \\ and 'more'",
    ];
    home.chat(&[], &lines).await.succeeds();
    let question = "What is the code of the coffee machine?";
    home.chat(&["--session", "other"], &[question])
        .await
        .succeeds();
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_imported_elsewhere_is_the_same_graph() {
    let (from, to) = (lived_in().await, Home::new());
    let exported = from.export().await;
    assert_eq!(exported.ends("RECALLED").len(), 1);
    let file = from.path("export.jsonl");
    let file = file.to_str().unwrap();
    let imported = to.run(&["import", file], "").await;
    assert!(imported.succeeds().contains("read from"), "{imported:?}");
    assert_eq!(to.export().await, exported);

    let remembered = to
        .chat(
            &["--session", "new"],
            &["What is the code of the coffee machine?"],
        )
        .await;
    assert!(remembered.succeeds().contains("4711"), "{remembered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_into_a_graph_in_use_is_refused_unless_it_may_replace_it() {
    let (from, to) = (lived_in().await, Home::new());
    let exported = from.export().await;
    let file = from.path("export.jsonl");
    let file = file.to_str().unwrap();
    to.chat(&[], &["Mine."]).await.succeeds();
    let before = to.export().await;
    let refused = to.run(&["import", file], "").await;
    refused.fails(1, &["not empty", "--replace"]);
    assert_eq!(to.export().await, before);

    to.run(&["import", "--replace", file], "").await.succeeds();
    assert_eq!(to.export().await, exported);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_refused_by_its_line() {
    let home = lived_in().await;
    home.export().await;
    let whole = std::fs::read_to_string(home.path("export.jsonl")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let mut broken = lines.clone();
    broken[2] = &broken[2][..broken[2].len() / 2];
    let cut = &lines[..lines.len() - 2];
    for (damaged, line) in [
        (broken, 3),
        (cut.to_vec(), cut.len() + 1),
        (vec!["not json"], 1),
        (lines[1..].to_vec(), 1),
    ] {
        let to = Home::new();
        std::fs::write(to.path("damaged.jsonl"), damaged.join("\n") + "\n").unwrap();
        let refused = to.run(&["import", "damaged.jsonl"], "").await;
        refused.fails(1, &["damaged.jsonl", &format!("line {line}: ")]);

        // What it was to replace is still there.
        to.chat(&[], &["Mine."]).await.succeeds();
        let before = to.export().await;
        let refused = to.run(&["import", "--replace", "damaged.jsonl"], "").await;
        refused.fails(1, &[&format!("line {line}: ")]);
        assert_eq!(to.export().await, before);

        // It can be used, and told what to do about it.
        std::fs::write(to.path("whole.jsonl"), &whole).unwrap();
        to.run(&["import", "--replace", "whole.jsonl"], "")
            .await
            .succeeds();
        assert_eq!(to.export().await, Exported::read(&to.path("whole.jsonl")));
        assert!(
            to.chat(&[], &["Something else."])
                .await
                .succeeds()
                .starts_with(NOTED)
        );
    }

    let missing = Home::new().run(&["import", "nowhere.jsonl"], "").await;
    missing.fails(1, &["cannot read nowhere.jsonl"]);
}

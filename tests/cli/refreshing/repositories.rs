//! Sections of `sources.toml` that read repositories.

use super::git_server::{GitServer, Repository};
use super::{SETTINGS, home, put, refreshed, texts};

#[tokio::test(flavor = "multi_thread")]
async fn two_sections_on_one_repository_leave_each_other_alone() {
    let home = home();
    let team = Repository::new(&home.path("team"));
    team.put("docs/api/ports.csv", "id,name\n1,Lisbon harbour\n");
    team.put("api/ports.csv", "id,name\n1,Porto harbour\n");
    team.put("api/b.md", "# Calls\nBy post.\n");
    let address = format!("file://{}", home.path("team").display());
    let section = |name: &str, folder: &str| {
        format!("[\"{name}\"]\ngit = \"{address}\"\nfolder = \"{folder}\"\n")
    };
    let both = section("team", "docs") + &section("team.api", "api");
    put(&home, SETTINGS, &both);
    for (hour, order) in [
        ("six", ["team", "team.api"]),
        ("seven", ["team.api", "team"]),
    ] {
        team.put("docs/a.md", &format!("# Ferries\nAt {hour}.\n"));
        team.commit(hour);
        for name in order {
            let done = home.run(&["source", "refresh", name], "").await;
            assert!(!done.succeeds().contains("was removed"), "{done:?}");
        }
        let expected = [format!("At {hour}."), "By post.".to_owned()];
        assert_eq!(texts(&home).await, expected);
        let catalog = home.run(&["catalog"], "").await;
        let catalog = catalog.succeeds();
        assert_eq!(
            catalog.matches("ports.csv  version 1").count(),
            2,
            "{catalog}"
        );
        assert!(
            catalog.contains("team.api.ports.csv  version 1"),
            "{catalog}"
        );
    }
    let rest = refreshed(&home).await;
    assert_eq!(rest, "team has not changed.\nteam.api has not changed.\n");

    // What is gone from a section goes, and nothing of the other one.
    team.remove("docs/api/ports.csv");
    team.commit("Less");
    let less = refreshed(&home).await;
    assert_eq!(
        less.matches("was removed, with 1 chunk").count(),
        1,
        "{less}"
    );
    assert!(!less.contains("team.api.ports.csv was removed"), "{less}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_of_a_repository_is_relative_to_the_file() {
    let home = home();
    let notes = Repository::new(&home.path("work/notes"));
    notes.put("a.md", "# Ferries\nAt six.\n");
    notes.commit("One");
    put(&home, SETTINGS, "[notes]\ngit = \"../work/notes\"\n");
    let first = refreshed(&home).await;
    assert!(
        first.contains("notes is at version 1 now: 1 new"),
        "{first}"
    );
    notes.put("a.md", "# Ferries\nAt seven.\n");
    notes.commit("Two");
    let second = refreshed(&home).await;
    assert!(second.contains("version 2 now"), "{second}");
    assert_eq!(texts(&home).await, ["At seven."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_in_the_arguments_of_no_process() {
    let home = home();
    let book = Repository::new(&home.path("served/book"));
    book.put("a.md", "# Ferries\nAt six.\n");
    book.commit("One");
    let server = GitServer::start(&home.path("served")).await;
    let address = server.address.replace("://", "://ada:s3cret@");
    let settings = format!("[book]\ngit = \"{address}/book/.git\"\n");
    put(&home, SETTINGS, &settings);
    let first = refreshed(&home).await;
    assert!(first.contains("book is at version 1 now: 1 new"), "{first}");
    let (password, sent) = ("s3cret", "Basic YWRhOnMzY3JldA==");
    let authorizations = server.authorizations();
    assert!(!authorizations.is_empty());
    for authorization in authorizations {
        assert_eq!(authorization, sent);
    }
    let arguments = server.arguments();
    for command in ["ls-remote", "fetch"] {
        let is_seen = arguments.iter().any(|line| line.contains(command));
        assert!(is_seen || cfg!(not(target_os = "linux")), "{arguments:?}");
    }
    for line in arguments {
        assert!(
            !line.contains(password) && !line.contains(&sent[6..]),
            "{line}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_a_commit_removes_empties_its_source() {
    let home = home();
    let notes = Repository::new(&home.path("notes"));
    notes.put("docs/a.md", "# Ferries\nAt six.\n");
    notes.put("README.md", "Not this one.\n");
    notes.commit("One");
    let section = |more: &str| {
        put(
            &home,
            SETTINGS,
            &format!("[notes]\ngit = \"../notes\"\n{more}"),
        );
    };
    let refused = async || {
        let done = home.run(&["source", "refresh"], "").await;
        done.fails(1, &[]);
        assert!(
            done.out.contains("the repository has no folder"),
            "{done:?}"
        );
    };
    section("folder = \"dosc\"\n");
    refused().await;
    section("folder = \"docs\"\n");
    refreshed(&home).await;
    // A folder that was never there is a mistake.
    section("folder = \"dosc\"\n");
    refused().await;
    refused().await;
    assert_eq!(texts(&home).await, ["At six."]);
    section("folder = \"docs\"\n");
    refreshed(&home).await;

    notes.remove("docs/a.md");
    notes.commit("Two");
    let emptied = refreshed(&home).await;
    assert!(
        emptied.contains("notes was removed, with 1 chunk"),
        "{emptied}"
    );
    assert_eq!(texts(&home).await, [""; 0]);
    assert_eq!(refreshed(&home).await, "notes has not changed.\n");
    std::fs::remove_dir(home.path("notes/docs")).unwrap();
    notes.put("docs", "Not a folder.\n");
    notes.commit("Three");
    assert_eq!(refreshed(&home).await, "notes has not changed.\n");
    notes.remove("docs");
    notes.put("docs/b.md", "# Trains\nAt nine.\n");
    notes.commit("Four");
    refreshed(&home).await;
    assert_eq!(texts(&home).await, ["At nine."]);

    // A link out of the repository is refused, wherever it leads.
    std::fs::remove_dir_all(home.path("notes/docs")).unwrap();
    for to in ["../../..", "../nowhere"] {
        let _ = std::fs::remove_file(home.path("notes/docs"));
        std::os::unix::fs::symlink(to, home.path("notes/docs")).unwrap();
        notes.commit(to);
        refused().await;
        assert_eq!(texts(&home).await, ["At nine."]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_stays_until_there_is_another() {
    let home = home();
    let notes = Repository::new(&home.path("notes"));
    notes.put("pay.md", "# Pay\nThe pay of Ada is 4711.\n");
    notes.put("a.md", "# Ferries\nAt six.\n");
    notes.commit("One");
    put(&home, SETTINGS, "[notes]\ngit = \"../notes\"\n");
    refreshed(&home).await;
    // A new commit can be named, but not be fetched.
    notes.put("a.md", "# Ferries\nAt seven.\n");
    notes.commit("Two");
    notes.lose_newest_tree();
    let failed = home.run(&["source", "refresh"], "").await;
    assert!(failed.out.contains("notes was not refreshed"), "{failed:?}");
    put(
        &home,
        SETTINGS,
        "[notes]\ngit = \"../notes\"\nexclude = [\"pay.md\"]\n",
    );
    let failed = home.run(&["source", "refresh"], "").await;
    assert!(failed.out.contains("notes was not refreshed"), "{failed:?}");
    assert_eq!(texts(&home).await, ["At six."]);
}

//! Sections of `sources.toml` that read repositories.

use super::git_server::Repository;
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

//! Checks the monitoring files of `docs/operating`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let metrics = words.filter(|it| it.starts_with("muninn_"));
    let metrics = metrics.map(|it| it.strip_suffix("_bucket").unwrap_or(it));
    metrics.collect()
}

/// Returns the contents of the Rust files below a folder, joined.
fn source(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &source(&path);
        } else if path.extension().is_some_and(|it| it == "rs") {
            all += &std::fs::read_to_string(path).unwrap();
        }
    }
    all
}

#[test]
fn the_dashboard_the_alerts_and_the_guide_name_metrics_that_are_counted() {
    let source = source(&folder("src"));
    let calls = source.split("metrics::").skip(1);
    // "counter!(" and the name, on the same line or on the next.
    let named = calls.filter_map(|call| call.split('"').nth(1).filter(|_| call.contains("!(")));
    let counted: BTreeSet<&str> = named.filter(|it| it.starts_with("muninn_")).collect();
    assert!(counted.len() > 15, "{counted:?}");
    let mut told = BTreeSet::new();
    for file in [
        "docs/operating/dashboard.json",
        "docs/operating/alerts.yml",
        "docs/operating.md",
    ] {
        let text = std::fs::read_to_string(folder(file)).unwrap();
        let used = names(&text);
        assert!(used.len() > 5, "{file}: {used:?}");
        let unknown: Vec<&&str> = used.iter().filter(|it| !counted.contains(**it)).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}");
        told.extend(used.into_iter().map(str::to_owned));
    }
    let untold: Vec<&&str> = counted.iter().filter(|it| !told.contains(**it)).collect();
    assert!(untold.is_empty(), "no document names {untold:?}");
    // Prometheus shows what each is.
    let http = std::fs::read_to_string(folder("src/http.rs")).unwrap();
    let described = names(http.split_once("const COUNTERS").unwrap().1);
    let bare: Vec<&&str> = counted
        .iter()
        .filter(|it| !described.contains(**it))
        .collect();
    assert!(bare.is_empty(), "not described: {bare:?}");
    let dashboard = std::fs::read_to_string(folder("docs/operating/dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
}

//! Records all traffic, to check it against the published description of the interface.
//!
//! If `MUNINN_DISCORD_TRAFFIC` names a folder, each process writes one file of JSON lines there.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

static FILE: OnceLock<Option<Mutex<File>>> = OnceLock::new();

/// A REST request and its response.
#[derive(Debug)]
pub(crate) struct RestExchange<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// Its name in the published description; `None` for an unknown path.
    pub(crate) route: Option<&'static str>,
    pub(crate) query: &'a Value,
    pub(crate) status: u16,
    pub(crate) request: &'a Value,
    /// The body came in parts, with files.
    pub(crate) answer: &'a Value,
    /// The refusal was requested, whatever the client had sent.
    pub(crate) staged: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic;

impl Traffic {
    pub(crate) fn rest(self, exchange: &RestExchange<'_>) {
        write(|| {
            json!({
                "kind": "rest", "method": exchange.method, "path": exchange.path, "route": exchange.route,
                "query": exchange.query, "status": exchange.status, "request": exchange.request,
                "answer": exchange.answer, "staged": exchange.staged,
            })
            .to_string()
        });
    }

    /// Records a payload as it was sent, which is JSON already.
    pub(crate) fn gateway(self, direction: &str, payload: &str) {
        write(|| format!(r#"{{"kind":"gateway","direction":"{direction}","payload":{payload}}}"#));
    }
}

fn write(line: impl FnOnce() -> String) {
    let file = FILE.get_or_init(|| {
        let folder = std::env::var_os("MUNINN_DISCORD_TRAFFIC")?;
        std::fs::create_dir_all(&folder).expect("the folder for traffic can be made");
        let name = format!("traffic-{}.jsonl", std::process::id());
        let file = File::options()
            .create(true)
            .append(true)
            .open(std::path::Path::new(&folder).join(name));
        Some(Mutex::new(file.expect("traffic can be written")))
    });
    if let Some(file) = file {
        let line = format!("{}\n", line());
        let mut file = file.lock().expect("no panic while writing");
        file.write_all(line.as_bytes())
            .expect("traffic can be written");
    }
}

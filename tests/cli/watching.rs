//! The progress of a command, as shown in a terminal.

use std::io::Read as _;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::admin::serving;
use crate::home::{Home, TIMEOUT};

/// Returns what a command shows in a terminal of this width, until it ends.
fn shown(home: &Home, arguments: &[&str]) -> String {
    let size = PtySize {
        rows: 24,
        cols: 120,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_muninn"));
    command.args(arguments);
    command.cwd(home.path(""));
    command.env_clear();
    command.env("USER", "ada");
    command.env("TERM", "xterm");
    command.env("DATA_DIR", "./muninn-data");
    let mut running = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (sender, screen) = channel();
    thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(length @ 1..) = reader.read(&mut part) {
            if sender.send(part[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    let all = until_the_end(&screen);
    assert!(running.wait().unwrap().success(), "{all}");
    all
}

fn until_the_end(screen: &Receiver<Vec<u8>>) -> String {
    let (until, mut all) = (Instant::now() + TIMEOUT, Vec::new());
    while let Ok(part) = screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
        all.extend(part);
    }
    assert!(Instant::now() < until, "it does not end");
    String::from_utf8_lossy(&all).into_owned()
}

/// Whether a line of the bar is complete: amount, total, speed, unit, remaining time.
fn tells_all(line: &str) -> bool {
    let has = |words: &[&str]| words.iter().all(|word| line.contains(word));
    has(&["/", "iB/s ", " record", " chunk", "s left"])
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ingest_shows_count_rate_and_time_left_here_and_over_the_socket() {
    let home = Home::new().with("TERMINAL_SOCKET", "t.sock");
    let notes = (0..1_000).map(|number| format!("# Note {number}\nOf the tide at {number}.\n\n"));
    let notes: String = notes.collect();
    for part in ["one", "two", "three"] {
        let path = home.path(&format!("docs/{part}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &notes).unwrap();
    }
    let shown_here = shown(&home, &["ingest", "docs"]);
    let serving = serving(&home).await;
    let shown_there = shown(&home, &["ingest", "docs", "--as", "again"]);
    serving.signal("TERM").await;
    serving.end().await.succeeds();
    for all in [shown_here, shown_there] {
        let mut lines = all.split(['\r', '\n']);
        assert!(lines.any(tells_all), "{all}");
        // In the end the bar is gone, and the result is shown.
        let last = all.lines().rev().find(|line| !line.trim().is_empty());
        assert!(last.unwrap().contains("Embedded: 3003 chunks"), "{all}");
        assert!(!last.unwrap().contains("left"), "{all}");
    }
}

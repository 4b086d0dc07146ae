//! Tests with a person at a real pseudo-terminal.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod support;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

const TIMEOUT: Duration = Duration::from_secs(20);

struct TerminalUser {
    keyboard: Box<dyn Write + Send>,
    screen: Receiver<Vec<u8>>,
    /// Output since the last text that was waited for.
    seen: String,
    bot: Box<dyn Child + Send + Sync>,
}

impl TerminalUser {
    fn sits_down(history: &Path) -> Self {
        let size = PtySize {
            rows: 24,
            cols: 80,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(support::echo_bot());
        command.arg("--history");
        command.arg(history);
        command.env("TERM", "xterm");
        command.env("NO_COLOR", "1");
        let bot = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let (sender, screen) = channel();
        thread::spawn(move || {
            let _master = pair.master;
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            keyboard,
            screen,
            seen: String::new(),
            bot,
        }
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for `text`, and returns the output up to its end.
    fn sees(&mut self, text: &str) -> String {
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(chunk) => self.seen.push_str(&String::from_utf8_lossy(&chunk)),
                Err(error) => panic!("no {text:?} ({error}) in {:?}", self.seen),
            }
        }
    }

    fn says(&mut self, text: &str) {
        self.sees("you> ");
        self.types(text);
        self.types("\r");
    }

    fn leaves(mut self) {
        self.sees("you> ");
        self.types("\u{4}");
        assert!(self.bot.wait().unwrap().success());
    }
}

fn history() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    (folder, path)
}

#[test]
fn a_conversation_streams_and_ends_with_ctrl_d() {
    let (_folder, history) = history();
    let mut person = TerminalUser::sits_down(&history);
    person.sees("Echo repeats what you say.");
    person.says("one two three");
    let shown = person.sees("echo: one two three");
    assert_eq!(shown.matches("echo:").count(), 1, "{shown:?}");
    person.says("/why");
    person.sees("Why");
    person.says("");
    person.says("two \\");
    person.sees("...> ");
    person.types("lines\r");
    person.sees("echo: two \r\nlines");
    person.leaves();
}

#[test]
fn a_long_line_breaks_between_words() {
    let (_folder, history) = history();
    let mut person = TerminalUser::sits_down(&history);
    person.says(&["harbour"; 12].join(" "));
    person.sees("echo: harbour");
    // The tenth would go over the edge of 80 columns.
    person.sees("harbour \r\nharbour");
    person.leaves();
}

#[test]
fn ctrl_c_stops_the_turn_and_hints_at_the_prompt() {
    let (_folder, history) = history();
    let mut person = TerminalUser::sits_down(&history);
    person.says("slow");
    person.sees("so far");
    person.types("\u{3}");
    person.sees(" so stopped");
    person.sees("you> ");
    person.types("\u{3}");
    person.sees("Ctrl-D leaves");
    person.says("drop");
    person.sees("No answer came");
    person.leaves();
}

#[test]
fn what_was_typed_is_remembered() {
    let (_folder, history) = history();
    let mut person = TerminalUser::sits_down(&history);
    person.says("remember me");
    person.sees("echo: remember me");
    person.leaves();

    let mut person = TerminalUser::sits_down(&history);
    person.sees("you> ");
    person.types("\u{1b}[A");
    person.sees("remember me");
    person.types("\r");
    person.sees("echo: remember me");
    person.leaves();
}

#[test]
fn secrets_are_kept_out_of_the_history() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_folder, history) = history();
    // As an earlier version wrote it.
    std::fs::write(&history, "#V2\nDB_PASSWORD=correct-horse\nremember me\n").unwrap();
    std::fs::set_permissions(&history, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut person = TerminalUser::sits_down(&history);
    person.says("my password=swordfish7");
    person.sees("echo: my");
    person.leaves();

    let kept = std::fs::read_to_string(&history).unwrap();
    assert!(kept.contains("my password=[secret removed]"), "{kept}");
    assert!(kept.contains("remember me"), "{kept}");
    assert!(
        !kept.contains("swordfish") && !kept.contains("horse"),
        "{kept}"
    );
    let mode = std::fs::metadata(&history).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_paste_is_one_message() {
    let (_folder, history) = history();
    let mut person = TerminalUser::sits_down(&history);
    person.says("\u{1b}[200~first\nsecond\u{1b}[201~");
    person.sees("echo: first\r\nsecond");
    person.leaves();
}

#[test]
fn a_termination_at_the_prompt_ends_it() {
    let (_folder, history) = history();
    let mut person = TerminalUser::sits_down(&history);
    person.sees("you> ");
    let id = person.bot.process_id().unwrap().to_string();
    let killed = std::process::Command::new("kill").arg(id).status();
    assert!(killed.unwrap().success());
    assert!(person.bot.wait().unwrap().success());
}

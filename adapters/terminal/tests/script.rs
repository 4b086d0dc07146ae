//! Tests with input that is not a terminal: one line per turn.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

fn bot() -> Child {
    Command::new(support::echo_bot())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn talk(input: Vec<u8>) -> Output {
    let mut bot = bot();
    let mut stdin = bot.stdin.take().unwrap();
    let writing = thread::spawn(move || stdin.write_all(&input));
    let output = bot.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    output
}

#[test]
fn every_line_is_a_turn() {
    let output = talk(b"one two\n\n  \n/why\r\nlast".to_vec());
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers, "echo: one two\nWhy\necho: last\n");
    assert!(output.stderr.is_empty());
    assert!(output.status.success());
}

#[test]
fn bad_lines_are_named_and_the_rest_goes_on() {
    let mut input = b"one\n\xff\xfe\n".to_vec();
    input.extend(vec![b'x'; 3 * 1024 * 1024]);
    input.extend(b"\ndrop\ntwo\n");
    let output = talk(input);
    assert_eq!(output.stdout, b"echo: one\necho: two\n");
    let errors = String::from_utf8(output.stderr).unwrap();
    for sentence in [
        "line 2 is not valid UTF-8; it was skipped",
        "line 3 is longer than 1048576 bytes; it was skipped",
        "line 4 got no answer",
        "2 of the lines could not be read, and 1 of the lines got no answer",
    ] {
        assert!(errors.contains(sentence), "{sentence} in {errors}");
    }
    assert!(!output.status.success());
}

#[test]
fn answers_come_while_the_input_is_open() {
    let mut bot = bot();
    let mut stdin = bot.stdin.take().unwrap();
    let mut answers = BufReader::new(bot.stdout.take().unwrap()).lines();
    for text in ["one", "two"] {
        writeln!(stdin, "{text}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), format!("echo: {text}"));
    }
    drop(stdin);
    assert!(answers.next().is_none());
    assert!(bot.wait().unwrap().success());
}

#[test]
fn nobody_reading_is_a_clean_end() {
    let mut bot = bot();
    drop(bot.stdout.take());
    // The pipe may close before all of it is written.
    let _ = bot.stdin.take().unwrap().write_all(b"one\ntwo\n");
    assert!(bot.wait().unwrap().success());
    let mut errors = String::new();
    bot.stderr.unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
}

#[test]
fn a_pending_read_does_not_keep_it_from_ending() {
    let mut bot = bot();
    let mut stdin = bot.stdin.take().unwrap();
    let mut answers = BufReader::new(bot.stdout.take().unwrap()).lines();
    writeln!(stdin, "one").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), "echo: one");
    let killed = Command::new("kill").arg(bot.id().to_string()).status();
    assert!(killed.unwrap().success());
    // With its input still open.
    assert!(bot.wait().unwrap().success());
    drop(stdin);
}

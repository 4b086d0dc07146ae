//! Kills with `kill -9` at any moment.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;

use crate::home::{Home, NOTED};

const KILLS: u64 = 50;
/// More lines than a process can answer before it is killed.
const LINES: usize = 40;

/// xorshift: the moments are random, but the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Returns a unique line; some are long.
fn line(round: u64, number: usize, dice: &mut Dice) -> String {
    let times = if dice.below(8) == 0 { 300 } else { 1 };
    format!("note {round}-{number}{}", " and so on".repeat(times))
}

/// A line that was entered; the unshown ones may or may not have been kept.
struct EnteredLine {
    line: String,
    shown: bool,
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_lose_no_answer_that_was_shown() {
    let mut dice = Dice(0x6d75_6e69_6e6e);
    // Recall is disabled, so every answer is one line.
    let home = Home::new()
        .with("MESSAGES_PER_MINUTE", "1000")
        .with("RECALL_THRESHOLD", "1");
    let mut told: Vec<EnteredLine> = Vec::new();
    for round in 0..KILLS {
        let mut chat = home.start(&["chat"]);
        let lines: Vec<String> = (0..LINES).map(|n| line(round, n, &mut dice)).collect();
        let mut stdin = chat.take_stdin();
        let input = lines.join("\n") + "\n";
        // Ends with the process, which does not read all of it.
        let typing = tokio::spawn(async move { stdin.write_all(input.as_bytes()).await });

        // One in eight is killed during its start, which reads what the one before left.
        let answers = match dice.below(8) {
            0 => 0,
            _ => 1 + dice.below(6),
        };
        for _ in 0..answers {
            let answer = chat.line().await;
            assert_eq!(answer.as_deref(), Some(NOTED), "{}", chat.errors());
        }
        let moment = Duration::from_micros(dice.below(if answers == 0 { 300_000 } else { 20_000 }));
        let due = Instant::now() + moment;
        tokio::time::sleep_until(due.into()).await;
        chat.kill().await;
        let mut shown = usize::try_from(answers).unwrap();
        while let Some(answer) = chat.line().await {
            // A truncated answer was not shown.
            shown += usize::from(answer == NOTED);
        }
        let _ = typing.await;
        assert!(shown < LINES, "it was killed while it answered");
        let asked = lines.into_iter().take(shown + 1).enumerate();
        told.extend(asked.map(|(n, line)| EnteredLine {
            line,
            shown: n < shown,
        }));

        // Mostly the next process reads what the kill left, not what an export cleaned up.
        if round % 10 == 9 {
            holds(home.export().await.chain(), &told);
        }
    }
    let history = home.chat(&[], &["/history"]).await;
    assert!(
        history.succeeds().contains(&format!("note {}-", KILLS - 1)),
        "{history:?}"
    );
    assert!(
        home.run(&["doctor"], "")
            .await
            .succeeds()
            .contains("1 conversation,")
    );
}

/// Asserts that every shown line was kept, in order, and otherwise only the line in progress.
#[track_caller]
fn holds(chain: Vec<&str>, told: &[EnteredLine]) {
    let mut kept = chain.into_iter().peekable();
    for EnteredLine { line, shown } in told {
        let is_there = kept.next_if_eq(&line.as_str()).is_some();
        let beginning = &line[..line.len().min(20)];
        assert!(
            is_there || !shown,
            "{beginning} was answered, and is not in the graph"
        );
    }
    assert_eq!(kept.next(), None, "nothing else is there");
}

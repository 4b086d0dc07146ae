//! Two weeks of talk of a mountain rescue (`tests/data/talk`), for which it is known what was decided and left open.

use std::collections::HashSet;

use serde::Deserialize;

use super::findings::{CALL_TOKENS, DigestEntry, tokens};
use super::*;
use crate::graph::ResponseId;

const EXCHANGES: &str = include_str!("../../../tests/data/talk/exchanges.jsonl");
const DECISIONS: &str = include_str!("../../../tests/data/talk/decisions.jsonl");
const READER: ReaderLocale = ReaderLocale {
    language: Language::English,
    zone: TimeZone::UTC,
};
const CHANNELS: [&str; 3] = ["v3/rescue", "v3/training", "v3/board-private"];

#[derive(Deserialize)]
struct RecordedTurn {
    id: String,
    scope: String,
    thread: String,
    at: chrono::NaiveDateTime,
    author: String,
    input: String,
    output: String,
    reply_to: Option<String>,
}

/// A decision or an open question, with the rows that show it.
#[derive(Deserialize)]
struct LabelledOutcome {
    scope: String,
    ids: Vec<String>,
    decided: Option<String>,
}

fn read<T: for<'a> Deserialize<'a>>(lines: &str) -> Vec<T> {
    let row = |line| serde_json::from_str(line).unwrap();
    lines.lines().map(row).collect()
}

/// The two weeks from 13 April 2026 in a channel.
fn two_weeks(channel: &str, with_replies: bool) -> Vec<TopicMessage> {
    let rows: Vec<RecordedTurn> = read(EXCHANGES);
    let is_then = |row: &RecordedTurn| {
        (13..27).contains(&chrono::Datelike::day(&row.at)) && chrono::Datelike::month(&row.at) == 4
    };
    let rows = rows
        .into_iter()
        .filter(|row| row.scope == channel && is_then(row));
    rows.map(|row| TopicMessage {
        event: row.id,
        session: row.thread,
        author: row.author.clone(),
        author_name: row.author,
        at: row.at.and_utc(),
        text: row.input,
        answer: Some(row.output).filter(|answer| !answer.is_empty()),
        reply_to: row.reply_to.filter(|_| with_replies),
        link: None,
        read: ReadTurn::new(ResponseId::fresh(), ""),
    })
    .collect()
}

/// How many of the decisions, and of all outcomes, are shown without a model. For a decision, the message that settled it
/// must be shown.
fn shown(with_replies: bool) -> (usize, usize) {
    let outcomes: Vec<LabelledOutcome> = read(DECISIONS);
    let (mut decided, mut all) = (0, 0);
    for channel in CHANNELS {
        let said = two_weeks(channel, with_replies);
        let text = listing(&most_answered(&topics(&said)), READER)
            .lines
            .join("\n");
        let stands = |id: &String| {
            let found = said.iter().find(|said| said.event == *id).unwrap();
            text.contains(&muninn_platform::escaped(&found.text))
        };
        for outcome in outcomes.iter().filter(|outcome| outcome.scope == channel) {
            decided +=
                usize::from(outcome.decided.is_some() && outcome.ids.last().is_some_and(stands));
            all += usize::from(outcome.ids.iter().any(stands));
        }
    }
    (decided, all)
}

#[test]
fn without_a_model_what_settled_most_decisions_is_shown() {
    let (decided, all) = shown(true);
    assert!(
        decided >= 18 && all >= 28,
        "{decided} of 20 decisions, {all} of 30 outcomes"
    );
    // As in a Slack thread, where people do not say which message they answer.
    let (decided, all) = shown(false);
    assert!(
        decided >= 16 && all >= 28,
        "{decided} of 20 decisions, {all} of 30 outcomes"
    );
}

#[test]
fn a_model_reads_every_message_once_by_its_number() {
    let said = two_weeks("v3/rescue", true);
    let all = most_answered(&topics(&said));
    let (parts, left) = batches(&all, MOST_CALLS);
    assert!(left.is_empty());
    let quoted: Vec<_> = parts
        .iter()
        .flat_map(|part| part.quoted(TimeZone::UTC))
        .flatten()
        .collect();
    let numbers: Vec<usize> = quoted.iter().map(|message| message.number).collect();
    assert_eq!(numbers, (1..=said.len()).collect::<Vec<_>>());
    let texts: HashSet<String> = quoted
        .iter()
        .map(|message| message.lines.join("\n"))
        .collect();
    assert!(said.iter().all(|said| texts.contains(&said.text)));
}

#[test]
fn what_has_no_room_is_left_for_the_list_the_least_answered_first() {
    let said: Vec<TopicMessage> = (0..40)
        .flat_map(|_| two_weeks("v3/rescue", true))
        .enumerate()
        .map(|(n, said)| TopicMessage {
            session: format!("{} {}", said.session, n / 100),
            event: format!("{} {}", said.event, n / 100),
            reply_to: said.reply_to.map(|to| format!("{to} {}", n / 100)),
            ..said
        })
        .collect();
    let all = most_answered(&topics(&said));
    let (parts, left) = batches(&all, 2);
    assert_eq!(parts.len(), 2);
    let read = parts.iter().map(|part| part.topics.len()).sum::<usize>();
    assert_eq!(read + left.len(), all.len());
    for left in &left {
        for read in parts.iter().flat_map(|part| &part.topics) {
            assert!(left.answers() <= read.answers() || tokens(read) < tokens(left));
        }
    }
}

/// A day in a room where nobody marks replies is one topic, and longer than all calls together.
#[test]
fn the_newest_parts_of_a_topic_that_is_too_long_are_read() {
    let said = |minute: i64, text: String| TopicMessage {
        read: ReadTurn::new(ResponseId::fresh(), ""),
        event: minute.to_string(),
        session: "room".to_owned(),
        author: "ada".to_owned(),
        author_name: "ada".to_owned(),
        at: DateTime::UNIX_EPOCH + TimeDelta::minutes(minute),
        text,
        answer: None,
        reply_to: None,
        link: None,
    };
    let day = (0..600).map(|minute| {
        let text =
            format!("In minute {minute} the mast on the ridge sways a little more than before. ");
        said(minute, text.repeat(2))
    });
    let later = |minute| {
        let asked = said(minute, "Who brings the rope?".to_owned());
        [asked, said(minute + 1, "I do.".to_owned())]
    };
    let all: Vec<TopicMessage> = day.chain(later(2_000)).chain(later(3_000)).collect();
    let topics = most_answered(&topics(&all));
    assert_eq!(topics.len(), 3);
    assert!(tokens(&topics[0]) > CALL_TOKENS * 6);

    let (parts, left) = batches(&topics, MOST_CALLS);
    assert_eq!(parts.len(), MOST_CALLS);
    for part in &parts {
        let tokens: u32 = part.topics.iter().map(tokens).sum();
        assert!(tokens <= CALL_TOKENS, "{tokens}");
    }
    let events = |topics: &[Topic<'_>]| -> Vec<i64> {
        let all = topics.iter().flat_map(Topic::all);
        let mut events: Vec<i64> = all.map(|said| said.event.parse().unwrap()).collect();
        events.sort_unstable();
        events
    };
    let read: Vec<Topic<'_>> = parts.iter().flat_map(|part| part.topics.clone()).collect();
    let (read, unread) = (events(&read), events(&left));
    assert_eq!(read.len() + unread.len(), all.len());
    // What was said last in the long topic is read.
    let oldest_read = *read.first().unwrap();
    let of_day = unread.iter().filter(|minute| **minute < 600);
    assert!(read.contains(&599) && of_day.max() < Some(&oldest_read));

    // For the list its parts are one topic again, which is not taken for an unanswered question.
    let listed = most_answered(&left);
    let is_part = |topic: &&Topic<'_>| topic.part_of.is_some();
    let parts: Vec<&Topic<'_>> = listed.iter().filter(is_part).collect();
    assert!(parts.len() == 1 && !parts[0].is_unanswered());
    let of_both = most_answered(&topics[0].parts(CALL_TOKENS, |_| 100));
    assert_eq!(events(&of_both), (0..600).collect::<Vec<_>>());
    assert_eq!(of_both.len(), 1);
}

#[test]
fn an_entry_that_rests_on_nothing_is_left_out() {
    let said = two_weeks("v3/training", true);
    let (parts, _) = batches(&most_answered(&topics(&said)), MOST_CALLS);
    let reply = r#"Here: {"decided": [
        {"what": "The refresher moves to *Thursday 23 April*, 20:00.", "messages": [1, 5]},
        {"what": "Everybody gets a raise.", "messages": []},
        {"what": "The moon is sold.", "messages": [4711]},
        {"what": " ", "messages": [1]}],
        "open": [{"what": "Who drives?", "messages": [2, 9999]}]}"#;
    let found = parts[0].read(reply).unwrap();
    assert_eq!(found.decided.len(), 1);
    assert_eq!(
        found.open,
        [DigestEntry {
            what: "Who drives?".to_owned(),
            messages: vec![2]
        }]
    );
    assert_eq!(
        parts[0].line(&found.decided[0], READER),
        r"- The refresher moves to \*Thursday 23 April\*, 20:00. (Yuki, Mon 13 Apr 20:16)"
    );
    assert_eq!(parts[0].read("I cannot do that."), None);
}

#[test]
fn a_reply_that_was_cut_off_is_not_taken_for_one_that_found_nothing() {
    let said = two_weeks("v3/training", true);
    let (parts, _) = batches(&most_answered(&topics(&said)), MOST_CALLS);
    for cut in [
        r#"{"decided": [{"what": "The refresher moves.", "messages": [1, 5]}, {"what": "Who"#,
        r#"{"decided": [], "answered": [{"what": "Who drives?", "messages": []}, {"wha"#,
        "{}",
    ] {
        assert_eq!(parts[0].read(cut), None, "{cut}");
    }
    let nothing = r#"{"decided": [], "answered": [], "open": []}"#;
    assert_eq!(parts[0].read(nothing), Some(Findings::default()));
}

#[test]
fn a_day_begins_at_midnight_where_one_is() {
    let day = |text: &str| text.parse().unwrap();
    let at = |day, zone| midnight(day, zone).to_rfc3339();
    assert_eq!(
        at(day("2026-04-13"), TimeZone::Europe__Berlin),
        "2026-04-12T22:00:00+00:00"
    );
    // Clocks went from 0:00 to 1:00 there.
    assert_eq!(
        at(day("2022-09-11"), TimeZone::America__Santiago),
        "2022-09-11T04:00:00+00:00"
    );
}

#[test]
fn the_heading_says_whether_older_messages_were_left_out() {
    let all = || two_weeks(CHANNELS[0], false);
    let (count, since) = (all().len(), all()[0].at);
    for (most, said) in [
        (
            count + 1,
            format!("Since Mon 13 Apr 18:30: {count} messages by "),
        ),
        (
            count,
            format!("Since Mon 13 Apr 18:30: {count} messages by "),
        ),
        (
            count - 1,
            format!(
                "Since Mon 13 Apr 18:30: more than {} messages. This is about the newest of them only, by ",
                count - 1
            ),
        ),
    ] {
        let read = ReadMessages::newest(all(), most);
        assert_eq!(read.newest.last().unwrap().event, all()[count - 1].event);
        let heading = heading(&read, since, READER);
        assert!(heading.starts_with(&said), "{most}: {heading}");
    }
}

//! Builds message contents as JSON, within the size of one event for any text. Pure.

use matrix_sdk::ruma::{EventId, OwnedEventId};
use muninn_platform::{SafeText, TextLimit};
use serde_json::{Map, Value, json};

use crate::html::html;

/// Maximum bytes of an event on a homeserver.
const EVENT: usize = 65_536;

/// Reserved for what surrounds the content: ids, hashes, signatures, and for an encrypted event the
/// session and the sender's key. Measured about 1,200 with long ids; the rest is a margin.
const ENVELOPE: usize = 4_096;

/// Reserved for what [`of_answer`] adds, with the longest id of an event.
const ANSWER_NOTE: usize = 400;

/// Maximum bytes of a content: encrypted it becomes base64, four bytes for three.
const CONTENT: usize = (EVENT - ENVELOPE) / 4 * 3 - ANSWER_NOTE;

/// Where a message says which part of which answer it is. Homeservers may forget transaction ids, so this tells what an earlier
/// process sent.
const ANSWER: &str = "muninn_answer";

/// Maximum parts of an answer that are found again; no answer is as long.
const MOST_PARTS: usize = 1_000;

/// Maximum bytes of a part. In the worst case each byte takes two in JSON (quotes, line ends), and
/// an edit contains the text twice; HTML is left out where it does not fit.
const TEXT: usize = 11_000;

pub(crate) const LIMIT: TextLimit = TextLimit::Bytes(TEXT);

/// How a message relates to existing ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    None,
    Reply(OwnedEventId),
    Thread {
        root: OwnedEventId,
        /// For clients without threads.
        answers: OwnedEventId,
    },
}

/// A new message.
pub(crate) fn message(text: &SafeText, relation: &Relation) -> Value {
    let related = |mut content: Map<String, Value>| {
        if let Some(relation) = relates_to(relation) {
            content.insert("m.relates_to".to_owned(), relation);
        }
        Value::Object(content)
    };
    let rich = related(notice(text, MatrixMessageFormat::Rich));
    if fits(&rich) {
        rich
    } else {
        related(notice(text, MatrixMessageFormat::Plain))
    }
}

/// Adds which part of the answer to a question a message is.
pub(crate) fn of_answer(mut content: Value, question: &EventId, part: usize) -> Value {
    content[ANSWER] = json!({ "question": question, "part": part });
    content
}

/// Returns which part of the answer to a question a message is; `None` if it is none.
pub(crate) fn part_of(content: &Value, question: &EventId) -> Option<usize> {
    let told = &content[ANSWER];
    let part = usize::try_from(told["part"].as_u64()?).ok()?;
    (told["question"] == question.as_str() && part < MOST_PARTS).then_some(part)
}

/// Builds an edit that replaces an earlier message.
pub(crate) fn edit(of: &EventId, text: &SafeText) -> Value {
    let with = |form| {
        json!({
            "msgtype": "m.notice",
            // For clients without edits.
            "body": format!("* {text}"),
            "m.mentions": {},
            "m.new_content": notice(text, form),
            "m.relates_to": { "rel_type": "m.replace", "event_id": of },
        })
    };
    let rich = with(MatrixMessageFormat::Rich);
    if fits(&rich) {
        rich
    } else {
        with(MatrixMessageFormat::Plain)
    }
}

#[derive(Clone, Copy)]
enum MatrixMessageFormat {
    Rich,
    Plain,
}

/// Bots send notices, which other bots do not answer. Nobody is ever mentioned.
fn notice(text: &SafeText, form: MatrixMessageFormat) -> Map<String, Value> {
    let mut content = Map::new();
    let mut set = |name: &str, value: Value| content.insert(name.to_owned(), value);
    set("msgtype", json!("m.notice"));
    set("body", json!(text.as_str()));
    set("m.mentions", json!({}));
    match form {
        MatrixMessageFormat::Rich => {
            set("format", json!("org.matrix.custom.html"));
            set("formatted_body", json!(html(text.as_str())));
        }
        MatrixMessageFormat::Plain => {}
    }
    content
}

fn relates_to(relation: &Relation) -> Option<Value> {
    match relation {
        Relation::None => None,
        Relation::Reply(to) => Some(json!({ "m.in_reply_to": { "event_id": to } })),
        Relation::Thread { root, answers } => Some(json!({
            "rel_type": "m.thread",
            "event_id": root,
            "is_falling_back": true,
            "m.in_reply_to": { "event_id": answers },
        })),
    }
}

fn fits(content: &Value) -> bool {
    content.to_string().len() <= CONTENT
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::event_id;
    use proptest::prelude::*;

    use super::*;

    fn thread() -> Relation {
        let id = format!("${}", "x".repeat(200));
        let id: OwnedEventId = id.as_str().try_into().unwrap();
        Relation::Thread {
            root: id.clone(),
            answers: id,
        }
    }

    fn longest_part(text: &str) -> SafeText {
        SafeText::new(text).split(LIMIT).into_iter().next().unwrap()
    }

    #[test]
    fn the_worst_texts_fit_into_an_event() {
        for piece in [
            "\"",
            "\\",
            "\n>",
            "<",
            "&",
            "é",
            "漢",
            "👩‍🚀",
            "|\n|-|\n",
            ">",
            "- ",
            "`a`",
            "*a*",
            "\u{200b}",
            "\t",
        ] {
            let part = longest_part(&format!("x{}", piece.repeat(TEXT)));
            for content in [message(&part, &thread()), edit(event_id!("$x"), &part)] {
                assert!(fits(&content), "{piece:?}: {}", content.to_string().len());
                assert!(content.to_string().contains("body"));
            }
        }
    }

    #[test]
    fn a_message_tells_which_part_of_which_answer_it_is() {
        let longest = format!("${}", "x".repeat(254));
        let question: OwnedEventId = longest.as_str().try_into().unwrap();
        let plain = message(&SafeText::new("hello"), &Relation::None);
        let part = of_answer(plain.clone(), &question, 7);
        assert_eq!(part_of(&part, &question), Some(7));
        assert_eq!(part_of(&part, event_id!("$q")), None);
        assert_eq!(part_of(&plain, &question), None);
        let last = of_answer(plain.clone(), &question, MOST_PARTS - 1);
        let added = last.to_string().len() - plain.to_string().len();
        assert!(added <= ANSWER_NOTE, "{added}");
        for nonsense in [
            json!({ "part": 1 }),
            json!(7),
            json!({ "question": "$q", "part": -1 }),
        ] {
            let content = json!({ ANSWER: nonsense });
            assert_eq!(part_of(&content, event_id!("$q")), None, "{content}");
        }
        let far = of_answer(plain, &question, MOST_PARTS);
        assert_eq!(part_of(&far, &question), None);
    }

    #[test]
    fn ordinary_text_keeps_its_form() {
        let part = longest_part(&"The **standup** moves to `ten`, from Monday on.\n\n".repeat(300));
        assert!(part.as_str().len() > TEXT - 100);
        assert!(message(&part, &thread())["formatted_body"].is_string());
        assert!(edit(event_id!("$x"), &part)["m.new_content"]["formatted_body"].is_string());
    }

    #[test]
    fn contents_look_as_the_specification_says() {
        let text = SafeText::new("**hi** @room");
        let shown = format!(
            "{:#}\n{:#}\n{:#}",
            message(
                &text,
                &Relation::Thread {
                    root: "$root".try_into().unwrap(),
                    answers: "$q".try_into().unwrap()
                }
            ),
            message(&text, &Relation::Reply("$q".try_into().unwrap())),
            edit(event_id!("$a"), &text),
        );
        insta::assert_snapshot!(shown);
    }

    proptest! {
        // Each case is slow without optimisation.
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_part_fits(text in "\\PC{0,40}", times in 1..400usize) {
            let text = SafeText::new(&text.repeat(times));
            for part in text.split(LIMIT) {
                prop_assert!(fits(&edit(event_id!("$x"), &part)));
                prop_assert!(fits(&message(&part, &thread())));
            }
        }
    }
}

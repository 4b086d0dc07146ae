//! Finds an answer among the messages of a channel that an earlier process may have posted before
//! it was killed, without noting it. Pure.

use chrono::TimeDelta;
use serenity::model::id::{InteractionId, MessageId, UserId};

use crate::buttons::{self, Button};
use crate::content::ADDRESSED;
use crate::ids::{DiscordEventId, DiscordPlace};
use crate::objects::ExistingMessage;

/// How to recognise the answer among the bot's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlierAnswerQuery {
    /// It replies to this message.
    ReplyTo(MessageId),
    /// It is the first in a thread that begins at the question.
    FirstInThread,
    /// It responds to this interaction.
    To(InteractionId),
}

/// Returns how to find the answer to a question in a place, and after which message to look. `None`
/// if it cannot be found: for private answers, and for edits and deletions.
pub(crate) fn answer_search_criteria(
    place: &DiscordPlace,
    question: &DiscordEventId,
) -> Option<(MessageId, EarlierAnswerQuery)> {
    match *question {
        DiscordEventId::Message {
            channel,
            message,
            is_first,
        } => {
            // A forum post's first message has the id of its thread, and is in it.
            let is_its_thread = place.channel.get() == message.get() && place.channel != channel;
            let sought = if is_its_thread {
                EarlierAnswerQuery::FirstInThread
            } else {
                EarlierAnswerQuery::ReplyTo(message)
            };
            is_first.then_some((message, sought))
        }
        DiscordEventId::Interaction(id) => {
            let is_public = place.private_to.is_none();
            is_public.then(|| (MessageId::new(id.get()), EarlierAnswerQuery::To(id)))
        }
    }
}

/// "Muninn is thinking…" is not an answer yet.
const LOADING: u64 = 1 << 7;

/// Maximum time between a part of an answer and the next, which is posted at once; a rate limit takes
/// five seconds.
const BETWEEN_PARTS: TimeDelta = TimeDelta::seconds(15);
/// Allowance for two clocks of Discord.
const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(1);

/// Returns the answer's messages in order, among the messages since the question (oldest first).
pub(crate) fn find<'a>(
    said: &'a [ExistingMessage],
    me: UserId,
    sought: EarlierAnswerQuery,
) -> Vec<&'a ExistingMessage> {
    let mut mine = said.iter().filter(|message| message.author.id == me);
    let replies_to = |message: &ExistingMessage| {
        let reference = message.message_reference.as_ref();
        reference.and_then(|reference| reference.message_id)
    };
    // Later parts reply to nothing, and responses to commands are not among them.
    let is_part = |message: &ExistingMessage| {
        message.interaction_metadata.is_none()
            && replies_to(message).is_none()
            && !message.content.starts_with(ADDRESSED)
    };
    // Neither do announcements, and in direct messages what was asked for elsewhere.
    let with_parts = |first: &'a ExistingMessage, rest: &mut dyn Iterator<Item = &'a _>| {
        let mut parts = vec![first];
        for next in rest {
            let last = parts[parts.len() - 1];
            if is_complete(last) || !is_part(next) {
                break;
            }
            if follows(next, last) {
                parts.push(next);
            }
        }
        parts
    };
    match sought {
        EarlierAnswerQuery::To(id) => mine
            .filter(|message| message.flags & LOADING == 0)
            .filter(|message| {
                let answered = message.interaction_metadata.as_ref();
                answered.is_some_and(|interaction| interaction.id == id)
            })
            .collect(),
        EarlierAnswerQuery::FirstInThread => {
            let first = mine.next().filter(|first| is_part(first));
            first.map_or_else(Vec::new, |first| with_parts(first, &mut mine))
        }
        EarlierAnswerQuery::ReplyTo(question) => {
            let first = mine.find(|message| replies_to(message) == Some(question));
            first.map_or_else(Vec::new, |first| with_parts(first, &mut mine))
        }
    }
}

/// Whether a message has the buttons of a complete answer.
fn is_complete(message: &ExistingMessage) -> bool {
    let buttons = message.components.iter().flat_map(|row| &row.components);
    let mut ids = buttons.filter_map(|button| button.custom_id.as_deref());
    ids.any(|id| buttons::parse(id).is_none_or(|pressed| pressed.button != Button::Stop))
}

/// Whether a message was posted right after another one, or right after that grew to its end.
fn follows(message: &ExistingMessage, before: &ExistingMessage) -> bool {
    let completed = before.edited_timestamp.unwrap_or(before.timestamp);
    [before.timestamp, completed].into_iter().any(|at| {
        let since = message.timestamp - at;
        since >= -CLOCK_SKEW && since <= BETWEEN_PARTS
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use serenity::model::id::ChannelId;

    use super::*;

    const ME: u64 = 5;

    fn said(id: u64, author: u64, more: &Value) -> ExistingMessage {
        let mut message = json!({
            "id": id.to_string(), "content": "text", "timestamp": "2026-01-01T00:00:00Z",
            "author": { "id": author.to_string(), "username": "someone" },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        serde_json::from_value(message).unwrap()
    }

    #[test]
    fn where_an_answer_stands_is_told_by_the_place_and_the_question() {
        let place = |channel: u64| DiscordPlace::new(None, ChannelId::new(channel));
        let asked = |channel: u64, message: u64, is_first| DiscordEventId::Message {
            channel: ChannelId::new(channel),
            message: MessageId::new(message),
            is_first,
        };
        let reply = Some((
            MessageId::new(7),
            EarlierAnswerQuery::ReplyTo(MessageId::new(7)),
        ));
        let thread = Some((MessageId::new(7), EarlierAnswerQuery::FirstInThread));
        for (place, question, expected) in [
            (place(1), asked(1, 7, true), reply),
            (place(7), asked(1, 7, true), thread),
            (place(7), asked(7, 7, true), reply),
            (place(1), asked(1, 7, false), None),
        ] {
            assert_eq!(answer_search_criteria(&place, &question), expected);
        }
    }

    #[test]
    fn what_is_said_after_an_answer_is_no_part_of_it() {
        let at = |second: u32| format!("2026-01-01T00:00:{second:02}Z");
        let below = |letter: &str| {
            let button = json!({ "type": 2, "custom_id": format!("m1:{letter}:4:1/2") });
            json!([{ "type": 1, "components": [button] }])
        };
        let growing = json!({ "message_reference": { "message_id": "9" }, "timestamp": at(0),
            "edited_timestamp": at(30), "components": below("s") });
        let (first, whole) = {
            let (mut first, mut whole) = (growing.clone(), growing.clone());
            first["components"] = json!([]);
            whole["components"] = below("w");
            (first, whole)
        };
        let last = json!({ "timestamp": at(31), "components": below("w") });
        let plain = |second: u32| json!({ "timestamp": at(second) });
        for (what, messages, expected) in [
            ("an announcement", vec![&whole, &plain(31)], vec![10]),
            (
                "one after all parts",
                vec![&first, &last, &plain(32)],
                vec![10, 11],
            ),
            ("a later one", vec![&first, &plain(50)], vec![10]),
            (
                "one while it grew",
                vec![&first, &plain(16), &last],
                vec![10, 12],
            ),
            ("a second part", vec![&first, &plain(31)], vec![10, 11]),
            (
                "a part of a growing one",
                vec![&growing, &plain(1)],
                vec![10, 11],
            ),
        ] {
            let said: Vec<_> = (10..)
                .zip(messages)
                .map(|(id, more)| said(id, ME, more))
                .collect();
            let found = find(
                &said,
                UserId::new(ME),
                EarlierAnswerQuery::ReplyTo(MessageId::new(9)),
            );
            let found: Vec<u64> = found.iter().map(|message| message.id.get()).collect();
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn an_answer_is_found_again() {
        let reply = |to: u64| json!({ "message_reference": { "message_id": to.to_string() } });
        let answers = |id: u64, flags: u64| json!({ "interaction_metadata": { "id": id.to_string() }, "flags": flags });
        let none = json!({});
        let said = [
            said(10, ME, &none),
            said(11, 4, &none),
            said(12, ME, &none),
            said(13, ME, &reply(11)),
            said(14, 4, &reply(13)),
            said(15, ME, &none),
            said(
                16,
                ME,
                &json!({ "content": format!("{ADDRESSED}4>\nhello") }),
            ),
            said(17, ME, &reply(14)),
            said(18, ME, &answers(90, 0)),
            said(19, ME, &answers(91, LOADING)),
        ];
        for (sought, expected) in [
            (EarlierAnswerQuery::FirstInThread, vec![10, 12]),
            (
                EarlierAnswerQuery::ReplyTo(MessageId::new(11)),
                vec![13, 15],
            ),
            (EarlierAnswerQuery::ReplyTo(MessageId::new(14)), vec![17]),
            (EarlierAnswerQuery::ReplyTo(MessageId::new(99)), vec![]),
            (EarlierAnswerQuery::To(InteractionId::new(90)), vec![18]),
            (EarlierAnswerQuery::To(InteractionId::new(91)), vec![]),
        ] {
            let found = find(&said, UserId::new(ME), sought);
            let found: Vec<u64> = found.iter().map(|message| message.id.get()).collect();
            assert_eq!(found, expected, "{sought:?}");
        }
    }
}

//! Groups the messages of an audience into topics: a question with its answers, or a burst of messages. Pure.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};

use crate::graph::items::ReadTurn;
use crate::graph::{Source, Turn};
use crate::retrieval::speech::asks_something;

/// The pause after which a new topic begins, where people do not say what they answer.
const PAUSE: TimeDelta = TimeDelta::hours(4);
/// The same for messages outside of threads. Where each message may open a thread, people who talk outside of all
/// threads do so without long pauses.
const PAUSE_BESIDE_THREADS: TimeDelta = TimeDelta::minutes(30);

/// Something that a person said in an audience, to others or to the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TopicMessage {
    /// The event to which answers refer.
    pub(super) event: String,
    /// ID of the session.
    pub(super) session: String,
    /// Stable ID of the person on the platform.
    pub(super) author: String,
    /// The person's display name.
    pub(super) author_name: String,
    pub(super) at: DateTime<Utc>,
    pub(super) text: String,
    /// The bot's answer, if the message was for the bot.
    pub(super) answer: Option<String>,
    /// The event that the message answers, if the platform says so.
    pub(super) reply_to: Option<String>,
    /// Link to the message.
    pub(super) link: Option<String>,
    /// The turn in which it is kept.
    pub(super) read: ReadTurn,
}

impl From<&Turn> for TopicMessage {
    fn from(turn: &Turn) -> Self {
        let answer = match turn.source {
            Source::Model | Source::Knowledge | Source::Retrieval => Some(turn.output.clone()),
            // Without a model there are only quotes, or words about having none.
            Source::Memory | Source::Message | Source::Note => None,
        };
        Self {
            event: turn.event.clone(),
            session: turn.session.clone(),
            author: turn.author.clone(),
            author_name: turn.author_name.clone(),
            at: turn.created_at,
            text: turn.input.clone(),
            answer: answer.filter(|answer| !answer.trim().is_empty()),
            reply_to: turn.reply_to.clone(),
            link: turn.link.clone(),
            read: ReadTurn::from(turn),
        }
    }
}

/// Messages that belong together, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topic<'a> {
    pub(super) opening: &'a TopicMessage,
    pub(super) replies: Vec<&'a TopicMessage>,
    /// For a part of a topic that is too long for one call: the message that opened the topic.
    pub(super) part_of: Option<&'a TopicMessage>,
}

impl<'a> Topic<'a> {
    /// Number of answers to the opening message, including those of the bot.
    pub(super) fn answers(&self) -> usize {
        let by_bot = self.all().filter(|said| said.answer.is_some()).count();
        self.replies.len() + by_bot
    }

    /// All messages, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a TopicMessage> {
        std::iter::once(self.opening).chain(self.replies.iter().copied())
    }

    /// Time of the last message.
    pub(super) fn last_at(&self) -> DateTime<Utc> {
        self.replies.last().map_or(self.opening.at, |last| last.at)
    }

    /// Whether the topic begins with a question that nobody answered. Another part may answer a part.
    pub(super) fn is_unanswered(&self) -> bool {
        self.part_of.is_none() && self.answers() == 0 && asks_something(&self.opening.text)
    }

    /// Consecutive parts of at most `most`, the newest first, where `size` is that of one message. The topic itself if it is
    /// not longer.
    pub(super) fn parts(&self, most: u32, size: impl Fn(&TopicMessage) -> u32) -> Vec<Self> {
        let all: Vec<&'a TopicMessage> = self.all().collect();
        let mut parts: Vec<Vec<&'a TopicMessage>> = Vec::new();
        let mut used = 0;
        for message in all.into_iter().rev() {
            let size = size(message);
            match parts.last_mut() {
                Some(part) if used + size <= most => {
                    used += size;
                    part.push(message);
                }
                Some(_) | None => {
                    used = size;
                    parts.push(vec![message]);
                }
            }
        }
        if parts.len() == 1 {
            return vec![self.clone()];
        }
        let part_of = self.part_of.or(Some(self.opening));
        let part = |part: Vec<&'a TopicMessage>| Self::of(part, part_of);
        parts.into_iter().filter_map(part).collect()
    }

    /// A topic of messages, in any order; `None` if there are none.
    fn of(mut all: Vec<&'a TopicMessage>, part_of: Option<&'a TopicMessage>) -> Option<Self> {
        all.sort_by_key(|said| said.at);
        let mut all = all.into_iter();
        Some(Self {
            opening: all.next()?,
            replies: all.collect(),
            part_of,
        })
    }
}

/// Returns the topics in the order in which they began. `said` is in order of time.
///
/// A message belongs to the topic of the message that it answers. A message that answers nothing opens a topic.
/// However, in a thread where people do not say what they answer, it joins the previous message's topic, unless that
/// message is old. A message that is alone in its thread joins the topic of the previous message outside of threads.
pub(super) fn topics(said: &[TopicMessage]) -> Vec<Topic<'_>> {
    let threads = threads_with_replies(said);
    let alone = alone_in_thread(said);
    let mut topics: Vec<Topic<'_>> = Vec::new();
    let mut topic_of: HashMap<&str, usize> = HashMap::new();
    let mut last_of: HashMap<&str, usize> = HashMap::new();
    for message in said {
        let is_alone = alone.contains(message.session.as_str());
        let (flow, pause) = if is_alone {
            (BESIDE_THREADS, PAUSE_BESIDE_THREADS)
        } else {
            (message.session.as_str(), PAUSE)
        };
        let answered = message.reply_to.as_deref();
        let before = last_of.get(flow).copied();
        let goes_on = |before: &usize| message.at - topics[*before].last_at() < pause;
        let topic = match answered.and_then(|answered| topic_of.get(answered)) {
            Some(topic) => Some(*topic),
            None if threads.contains(&flow) => None,
            None => before.filter(goes_on),
        };
        let topic = topic.unwrap_or(topics.len());
        match topics.get_mut(topic) {
            Some(topic) => topic.replies.push(message),
            None => topics.push(Topic {
                opening: message,
                replies: Vec::new(),
                part_of: None,
            }),
        }
        topic_of.insert(&message.event, topic);
        last_of.insert(flow, topic);
    }
    topics
}

/// Stands for all messages outside of threads; no session has this ID.
const BESIDE_THREADS: &str = "";

/// The sessions with only one message.
fn alone_in_thread(said: &[TopicMessage]) -> HashSet<&str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for message in said {
        *counts.entry(&message.session).or_default() += 1;
    }
    let alone = counts.into_iter().filter(|(_, messages)| *messages == 1);
    alone.map(|(session, _)| session).collect()
}

/// The sessions in which people say what they answer, other than the message that opened the thread.
fn threads_with_replies(said: &[TopicMessage]) -> Vec<&str> {
    let mut openings: HashMap<&str, &str> = HashMap::new();
    let mut threads = Vec::new();
    for message in said {
        let session = message.session.as_str();
        let opening = *openings.entry(session).or_insert(&message.event);
        let answers_other = |answered: &str| answered != opening;
        if message.reply_to.as_deref().is_some_and(answers_other) && !threads.contains(&session) {
            threads.push(session);
        }
    }
    threads
}

/// Topics of which each stands once: parts of the same one are joined.
fn joined<'a>(topics: &[Topic<'a>]) -> Vec<Topic<'a>> {
    let mut joined: Vec<Topic<'a>> = Vec::new();
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    for topic in topics {
        let Some(whole) = topic.part_of else {
            joined.push(topic.clone());
            continue;
        };
        let place = *place_of.entry(&whole.event).or_insert(joined.len());
        match joined.get_mut(place) {
            Some(before) => {
                let all = before.all().chain(topic.all()).collect();
                *before = Topic::of(all, topic.part_of).unwrap_or_else(|| before.clone());
            }
            None => joined.push(topic.clone()),
        }
    }
    joined
}

/// The most answered topics first; with equal counts, the newest first. Parts of one topic are joined.
pub(super) fn most_answered<'a>(topics: &[Topic<'a>]) -> Vec<Topic<'a>> {
    let mut sorted = joined(topics);
    sorted.sort_by_key(|topic| {
        (
            std::cmp::Reverse(topic.answers()),
            std::cmp::Reverse(topic.last_at()),
        )
    });
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::ResponseId;

    /// `minute author text`, or `minute author >minute text` for an answer to the message of that minute.
    fn chat(lines: &[&str]) -> Vec<TopicMessage> {
        let said = |line: &&str| {
            let mut words = line.splitn(3, ' ');
            let minute = words.next().unwrap();
            let author = words.next().unwrap();
            let rest = words.next().unwrap();
            let (reply_to, text) = match rest.strip_prefix('>') {
                Some(rest) => {
                    let (answered, text) = rest.split_once(' ').unwrap();
                    (Some(answered.to_owned()), text)
                }
                None => (None, rest),
            };
            TopicMessage {
                event: minute.to_owned(),
                session: "room".to_owned(),
                author: author.to_owned(),
                author_name: author.to_owned(),
                at: DateTime::UNIX_EPOCH + TimeDelta::minutes(minute.parse().unwrap()),
                text: text.to_owned(),
                answer: None,
                reply_to,
                link: None,
                read: ReadTurn::new(ResponseId::fresh(), ""),
            }
        };
        lines.iter().map(said).collect()
    }

    fn minutes(topics: &[Topic<'_>]) -> Vec<Vec<String>> {
        let events = |topic: &Topic<'_>| topic.all().map(|said| said.event.clone()).collect();
        topics.iter().map(events).collect()
    }

    #[test]
    fn answers_belong_to_what_they_answer() {
        let said = chat(&[
            "0 tom helmets: white or orange?",
            "1 jonas >0 orange",
            "2 rhodri btw who runs the tea kitty?",
            "3 tom >1 then white it is",
            "4 kofi >2 not me",
        ]);
        assert_eq!(
            minutes(&topics(&said)),
            [vec!["0", "1", "3"], vec!["2", "4"]]
        );
    }

    #[test]
    fn where_nobody_says_what_they_answer_a_pause_ends_a_topic() {
        let said = chat(&[
            "0 tom helmets: white or orange?",
            "5 jonas orange",
            "200 tom white it is",
            "441 rhodri who runs the tea kitty?",
        ]);
        assert_eq!(
            minutes(&topics(&said)),
            [vec!["0", "5", "200"], vec!["441"]]
        );
    }

    #[test]
    fn what_is_said_beside_threads_goes_on_until_a_pause() {
        // As in a Slack channel, where each message could open a thread; one did.
        let mut said = chat(&[
            "0 tom helmets: white or orange?",
            "1 rhodri who runs the tea kitty?",
            "2 jonas orange",
            "3 kofi >1 not me",
            "10 tom white it is",
            "60 ada lunch?",
        ]);
        for message in &mut said {
            message.session = message.reply_to.as_ref().unwrap_or(&message.event).clone();
        }
        assert_eq!(
            minutes(&topics(&said)),
            [vec!["0", "2", "10"], vec!["1", "3"], vec!["60"]]
        );
    }

    #[test]
    fn the_most_answered_and_of_equals_the_newest_stand_first() {
        let said = chat(&[
            "0 a one?",
            "1 b >0 yes",
            "2 a two?",
            "3 b >2 yes",
            "4 c >3 no",
            "5 a three?",
            "6 b >5 yes",
        ]);
        let sorted = most_answered(&topics(&said));
        let openings: Vec<&str> = sorted
            .iter()
            .map(|topic| topic.opening.text.as_str())
            .collect();
        assert_eq!(openings, ["two?", "three?", "one?"]);
        let lone = chat(&["0 a does anybody know?"]);
        assert!(topics(&lone)[0].is_unanswered());
        assert!(!sorted[0].is_unanswered());
    }

    proptest! {
        /// Each message is in exactly one topic, and each topic is in order.
        #[test]
        fn nothing_is_lost_or_doubled(
            gaps in prop::collection::vec((0_i64..500, 0_usize..3, prop::option::of(0_usize..30)), 0..30)
        ) {
            let mut at = 0;
            let lines: Vec<String> = gaps.iter().map(|(gap, author, reply)| {
                at += gap + 1;
                let reply = reply.map(|reply| format!(">{reply} ")).unwrap_or_default();
                format!("{at} {author} {reply}words")
            }).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let said = chat(&lines);
            let topics = topics(&said);
            let mut all: Vec<&TopicMessage> = topics.iter().flat_map(Topic::all).collect();
            all.sort_by_key(|said| said.at);
            prop_assert_eq!(all, said.iter().collect::<Vec<_>>());
            for topic in &topics {
                let times: Vec<_> = topic.all().map(|said| said.at).collect();
                prop_assert!(times.is_sorted());
            }
        }
    }
}

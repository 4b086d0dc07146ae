//! Whether a message in a thread that the bot takes part in is meant for it, or said between people.
//!
//! Uses rules over plain data, the same for every platform and without a model: whom a message
//! mentions, whom it replies to, who spoke before it, and what kind of sentence it is. The rules
//! know the commonest words of nine languages ([`words`]) and otherwise use punctuation and the
//! order of speakers. A mention of the bot and a reply to it need no rule: the adapter says
//! [`Addressed::Directly`](crate::Addressed::Directly).

mod text;
// A word on a line would be unreadable.
#[rustfmt::skip]
mod words;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use self::text::Text;

/// Number of earlier utterances that show who talks with whom at the moment.
const MAX_RECENT_UTTERANCES: usize = 12;

/// After such a pause nobody else continues an earlier exchange.
const PAUSE: TimeDelta = TimeDelta::hours(1);

/// To whom a message is addressed, as far as its platform tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addressees {
    /// It mentions people, or everybody.
    pub names_people: bool,
    /// It is a reply to somebody other than the bot.
    pub answers_person: bool,
    /// It neither mentions nor answers the bot, although all messages there are answered.
    #[serde(default)]
    pub omits_bot: bool,
}

/// Who said something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speaker {
    Bot,
    Person { id: String, name: String },
}

/// Something that was said in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    pub by: Speaker,
    pub text: String,
    pub toward: Addressees,
    pub at: DateTime<Utc>,
}

/// To whom the rules find a message addressed, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// To the bot: nobody else talked here recently.
    Alone,
    /// To the bot: it is called by name.
    Named,
    /// To the bot: it answers the bot's question.
    AnswersBot,
    /// To the bot: a question right after its answer, or a correction of it.
    FollowsUp,
    /// To the bot: it asks to note something.
    Task,
    /// To the bot: it asks about notes.
    Records,
    /// To the bot: a question after a long pause.
    Opens,
    /// To others: it calls or mentions somebody else.
    NamesOther,
    /// To others: it is a reply to somebody else.
    AnswersOther,
    /// To others: laughter.
    Laughter,
    /// To others: a question that only people can settle.
    AsksPeople,
    /// To others: somebody else spoke last.
    BetweenPeople,
    /// To others: neither a question nor an answer to one.
    Remark,
}

impl Hearing {
    pub fn is_for_bot(self) -> bool {
        match self {
            Self::Alone
            | Self::Named
            | Self::AnswersBot
            | Self::FollowsUp
            | Self::Task
            | Self::Records
            | Self::Opens => true,
            Self::NamesOther
            | Self::AnswersOther
            | Self::Laughter
            | Self::AsksPeople
            | Self::BetweenPeople
            | Self::Remark => false,
        }
    }

    /// For metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Named => "named",
            Self::AnswersBot => "answers_bot",
            Self::FollowsUp => "follows_up",
            Self::Task => "task",
            Self::Records => "records",
            Self::Opens => "opens",
            Self::NamesOther => "names_other",
            Self::AnswersOther => "answers_other",
            Self::Laughter => "laughter",
            Self::AsksPeople => "asks_people",
            Self::BetweenPeople => "between_people",
            Self::Remark => "remark",
        }
    }
}

/// Decides to whom a message is addressed in a conversation with the bot. `before`: the earlier
/// utterances, oldest first; `bot`: the bot's names.
pub fn classify_hearing(said: &Utterance, before: &[Utterance], bot: &[&str]) -> Hearing {
    let text = Text::read(&said.text);
    if bot.iter().any(|name| text.calls_bot(name)) || text.calls_some_bot() {
        return Hearing::Named;
    }
    if said.toward.answers_person {
        return Hearing::AnswersOther;
    }
    if calls_others(&text, said, before) {
        return Hearing::NamesOther;
    }
    if is_alone(said, before) {
        return Hearing::Alone;
    }
    if text.is_laughter() {
        return Hearing::Laughter;
    }
    let Some(partner) = partner(said, before) else {
        return Hearing::Alone;
    };
    let last = before.iter().rfind(|it| !is_same(&it.by, &said.by));
    let is_next = last.is_some_and(|it| it.by == partner.by);
    match &partner.by {
        // "You" is whoever spoke in between.
        Speaker::Bot if !is_next && text.has_you() => Hearing::BetweenPeople,
        Speaker::Bot => {
            let earlier = asked(before).filter(|it| is_same(&it.by, &said.by));
            after_bot(&text, partner, asked(before), earlier.is_some())
        }
        Speaker::Person { .. } => after_person(&text, said.at - partner.at),
    }
}

/// Decides for a message after the bot's answer to the question `asked`. `is_asker`: the same
/// author asked it.
fn after_bot(
    text: &Text,
    answer: &Utterance,
    asked: Option<&Utterance>,
    is_asker: bool,
) -> Hearing {
    // "And who brings the salad?", after the bot was asked who brings the cake.
    let goes_on = text.asks_who() && asked.is_some_and(|it| Text::read(&it.text).asks_who());
    let asks_people = text.asks_people() && !goes_on;
    let corrects = is_asker && (text.is_correction() || text.is_fragment());
    if text.is_task() || text.is_request() {
        Hearing::Task
    } else if text.is_question() && asks_people {
        Hearing::AsksPeople
    } else if text.is_question() || (text.opens_as_question() && !asks_people && !text.has_we()) {
        Hearing::FollowsUp
    } else if Text::read(&answer.text).ends_as_question() {
        Hearing::AnswersBot
    } else if corrects {
        Hearing::FollowsUp
    } else {
        Hearing::Remark
    }
}

/// Decides for a message after somebody else spoke, so long ago.
fn after_person(text: &Text, since: TimeDelta) -> Hearing {
    let asks = text.is_question() || text.opens_as_question();
    if text.is_task() && !text.is_reminder() {
        Hearing::Task
    } else if asks && text.is_about_records() && !text.has_you() {
        Hearing::Records
    } else if asks && since > PAUSE && !text.has_you() && !text.asks_people() {
        Hearing::Opens
    } else {
        Hearing::BetweenPeople
    }
}

fn calls_others(text: &Text, said: &Utterance, before: &[Utterance]) -> bool {
    let others = before.iter().filter_map(|it| match &it.by {
        Speaker::Person { name, .. } if !is_same(&it.by, &said.by) => Some(name.as_str()),
        Speaker::Person { .. } | Speaker::Bot => None,
    });
    // A name that was mentioned before counts as a name here, even if it may be an ordinary word.
    let is_named = || {
        before.iter().any(|it| {
            let earlier = Text::read(&it.text);
            earlier.capitalised().any(|name| text.asks_by_name(name))
        })
    };
    said.toward.names_people || others.into_iter().any(|name| text.calls_person(name)) || is_named()
}

/// Whether only the author and the bot talked recently.
fn is_alone(said: &Utterance, before: &[Utterance]) -> bool {
    let lately = &before[before.len().saturating_sub(MAX_RECENT_UTTERANCES)..];
    lately
        .iter()
        .all(|it| it.by == Speaker::Bot || is_same(&it.by, &said.by))
}

/// Returns the last utterance of the author's conversation partner. What the author said since
/// belongs to that exchange, unless it was said to others. Asides of others ("oh no") do not
/// interrupt the bot and its asker, and a single one does not interrupt the bot and anybody else;
/// but if an aside answers the author, the two talk with each other.
fn partner<'a>(said: &Utterance, before: &'a [Utterance]) -> Option<&'a Utterance> {
    let is_asker = asked(before).is_some_and(|it| is_same(&it.by, &said.by));
    let mut aside = None;
    for it in before.iter().rev() {
        if it.by == Speaker::Bot {
            return Some(it);
        }
        let text = Text::read(&it.text);
        let is_own = is_same(&it.by, &said.by);
        let ends = if is_own {
            it.toward.answers_person || aside.is_some()
        } else {
            !text.is_aside() || (aside.is_some() && !is_asker)
        };
        if ends || calls_others(&text, it, before) {
            return aside.or(Some(it));
        }
        if !is_own {
            aside.get_or_insert(it);
        }
    }
    before.last()
}

/// Returns the question that the bot answered last.
fn asked(before: &[Utterance]) -> Option<&Utterance> {
    let answer = before.iter().rposition(|it| it.by == Speaker::Bot)?;
    before[..answer].last()
}

fn is_same(one: &Speaker, other: &Speaker) -> bool {
    match (one, other) {
        (Speaker::Bot, Speaker::Bot) => true,
        (Speaker::Person { id, .. }, Speaker::Person { id: other, .. }) => id == other,
        (Speaker::Bot, Speaker::Person { .. }) | (Speaker::Person { .. }, Speaker::Bot) => false,
    }
}

#[cfg(test)]
mod tests;

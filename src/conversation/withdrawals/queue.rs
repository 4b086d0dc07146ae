//! The withdrawals that are left: decides what is tried next, and when. Pure, apart from the clock.

use std::collections::BTreeMap;
use std::time::Duration;

use muninn_platform::{ConversationId, Delivered, EventId, MessageId};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::graph::ResponseId;
use crate::graph::answers::DeliveredAnswer;

/// First pause after a failure, doubling up to [`MAX_RETRY_DELAY`].
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(900);
/// Maximum number of failures, after about three hours.
pub(super) const MAX_FAILURES: u32 = 20;

/// The messages to withdraw on one platform, as they are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Withdrawal {
    pub(super) platform: String,
    #[serde(flatten)]
    pub(super) left: ForgottenConversation,
    /// Number of failures.
    pub(super) tries: u32,
}

#[derive(Debug)]
struct OpenWithdrawal {
    number: u64,
    withdrawal: Withdrawal,
    /// Whether a task is working on it.
    is_taken: bool,
    due: Instant,
}

/// What to withdraw of one conversation that is being forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenConversation {
    pub conversation: ConversationId,
    pub(super) messages: Vec<MessageId>,
    /// Questions whose answers have to be searched for, as their message IDs are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) answers_to: Vec<EventId>,
    /// Messages that show an emptied answer. If it was regenerated since, they stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) emptied: Vec<(MessageId, ResponseId)>,
    /// Answers that the messages list, of which the graph could not be told yet. The messages stay if all of the
    /// answers exist when it is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) listed: Vec<ResponseId>,
    /// Whether to withdraw the conversation's title too.
    pub(super) title: bool,
}

impl ForgottenConversation {
    /// The messages of one session, and of others that quote it. The title is that of `session`.
    pub fn of(session: &ConversationId, spoken: Vec<DeliveredAnswer>, title: bool) -> Vec<Self> {
        let mut by_session: BTreeMap<ConversationId, Self> = BTreeMap::new();
        let nothing = |conversation: &ConversationId| Self {
            conversation: conversation.clone(),
            messages: Vec::new(),
            answers_to: Vec::new(),
            emptied: Vec::new(),
            listed: Vec::new(),
            title: title && conversation == session,
        };
        if title {
            by_session.insert(session.clone(), nothing(session));
        }
        for spoken in spoken {
            let known = by_session.entry(spoken.session);
            let all = known.or_insert_with_key(nothing);
            let messages = spoken.messages.0;
            let emptied = |answer| messages.iter().map(move |it| (it.clone(), answer));
            all.emptied
                .extend(spoken.emptied.into_iter().flat_map(emptied));
            all.messages.extend(messages);
            all.answers_to.extend(spoken.unseen);
        }
        let all = by_session.into_values();
        all.filter(|it| !it.is_nothing()).collect()
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.messages.is_empty() && self.answers_to.is_empty() && !self.title
    }
}

/// What is to be withdrawn, and when each is tried next.
#[derive(Debug, Default)]
pub(super) struct WithdrawalQueue {
    next: u64,
    all: Vec<OpenWithdrawal>,
}

impl WithdrawalQueue {
    /// Fills the queue with what earlier processes left.
    pub(super) fn of_file(left_over: Vec<Withdrawal>) -> Self {
        let mut queue = Self::default();
        let numbers: Vec<u64> = left_over.into_iter().map(|it| queue.add(it)).collect();
        queue.release(&numbers);
        queue
    }

    /// Makes everything on a platform due, because it can be reached.
    pub(super) fn make_due(&mut self, platform: &str) {
        let now = Instant::now();
        let its = self.all.iter_mut();
        for open in its.filter(|open| open.withdrawal.platform == platform) {
            open.due = now;
        }
    }

    /// Marks these as not being worked on.
    pub(super) fn release(&mut self, numbers: &[u64]) {
        let released = self.all.iter_mut();
        for open in released.filter(|open| numbers.contains(&open.number)) {
            open.is_taken = false;
        }
    }

    /// Number of messages of these that are left.
    pub(super) fn left_of(&self, numbers: &[u64]) -> usize {
        let left = self.all.iter();
        let left = left.filter(|open| numbers.contains(&open.number));
        let left = left.map(|open| &open.withdrawal.left);
        left.map(|left| left.messages.len() + left.answers_to.len())
            .sum()
    }

    /// Whether a message is to be withdrawn.
    pub(super) fn has_message(&self, platform: &str, message: &MessageId) -> bool {
        let all = self.all.iter().map(|open| &open.withdrawal);
        let mut its = all.filter(|it| it.platform == platform && it.left.listed.is_empty());
        its.any(|it| it.left.messages.contains(message))
    }

    /// Everything that is left, as it is stored.
    pub(super) fn all(&self) -> Vec<Withdrawal> {
        self.all.iter().map(|it| it.withdrawal.clone()).collect()
    }

    pub(super) fn add(&mut self, withdrawal: Withdrawal) -> u64 {
        let number = self.next;
        self.next += 1;
        self.all.push(OpenWithdrawal {
            number,
            withdrawal,
            is_taken: true,
            due: Instant::now(),
        });
        number
    }

    /// Removes what is written down already. What is written down may turn out now to show an emptied answer.
    pub(super) fn not_planned(&mut self, mut new: ForgottenConversation) -> ForgottenConversation {
        let planned = self.all.iter_mut().map(|it| &mut it.withdrawal.left);
        for its in planned.filter(|it| it.conversation == new.conversation) {
            let known = new.emptied.iter().filter(|it| !its.emptied.contains(it));
            let known = known.filter(|(message, _)| its.messages.contains(message));
            let known: Vec<_> = known.cloned().collect();
            its.emptied.extend(known);
            new.messages
                .retain(|message| !its.messages.contains(message));
            new.answers_to
                .retain(|question| !its.answers_to.contains(question));
        }
        new
    }

    /// Removes messages. Returns whether any of them was written down.
    pub(super) fn forgo(&mut self, conversation: &ConversationId, messages: &Delivered) -> bool {
        let mut is_any = false;
        let all = self.all.iter_mut().map(|it| &mut it.withdrawal.left);
        for its in all.filter(|it| it.conversation == *conversation) {
            let planned = its.messages.len();
            its.messages.retain(|it| !messages.0.contains(it));
            is_any |= its.messages.len() < planned;
        }
        self.all.retain(|it| !it.withdrawal.left.is_nothing());
        is_any
    }

    /// What nobody is working on, on some platforms, with its numbers.
    pub(super) fn all_on(&self, is_meant: impl Fn(&str) -> bool) -> Vec<(u64, Withdrawal)> {
        let free = self.all.iter().filter(|open| !open.is_taken);
        let meant = free.filter(|open| is_meant(&open.withdrawal.platform));
        meant
            .map(|open| (open.number, open.withdrawal.clone()))
            .collect()
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.all.retain(|open| open.number != number);
    }

    fn get(&mut self, number: u64) -> Option<&mut OpenWithdrawal> {
        self.all.iter_mut().find(|it| it.number == number)
    }

    /// Takes the next withdrawal that is due, on a platform that can be reached, or returns when one will be.
    pub(super) fn next(
        &mut self,
        is_reached: impl Fn(&str) -> bool,
    ) -> (Option<u64>, Option<Instant>) {
        let now = Instant::now();
        let mut soonest = None;
        for open in &mut self.all {
            if open.is_taken || !is_reached(&open.withdrawal.platform) {
                continue;
            }
            if open.due <= now {
                open.is_taken = true;
                return (Some(open.number), None);
            }
            soonest = Some(soonest.map_or(open.due, |soonest: Instant| soonest.min(open.due)));
        }
        (None, soonest)
    }

    pub(super) fn step(&mut self, number: u64) -> Option<(String, ConversationId, WithdrawalStep)> {
        let Withdrawal { platform, left, .. } = &self.get(number)?.withdrawal;
        let ForgottenConversation {
            conversation,
            messages,
            answers_to,
            emptied,
            listed,
            title,
        } = left;
        if !listed.is_empty() {
            let step = WithdrawalStep::Listing(Delivered(messages.clone()), listed.clone());
            return Some((platform.clone(), conversation.clone(), step));
        }
        let step = match (messages.first(), answers_to.first()) {
            (Some(message), _) => {
                let mut emptied = emptied.iter();
                let shows = emptied.find(|(shown, _)| shown == message);
                WithdrawalStep::Message(message.clone(), shows.map(|(_, answer)| *answer))
            }
            (None, Some(question)) => WithdrawalStep::AnswerTo(question.clone()),
            (None, None) if *title => WithdrawalStep::Title,
            (None, None) => return None,
        };
        Some((platform.clone(), conversation.clone(), step))
    }

    /// Adds the messages of an answer that was searched for.
    pub(super) fn found(&mut self, number: u64, messages: Vec<MessageId>) {
        if let Some(open) = self.get(number) {
            open.withdrawal.left.messages.extend(messages);
        }
    }

    /// The graph knows of a listing: it stays, or it is withdrawn.
    pub(super) fn settle_listing(&mut self, number: u64, stands: bool) {
        if let Some(open) = self.get(number) {
            let left = &mut open.withdrawal.left;
            left.listed.clear();
            if stands {
                left.messages.clear();
            }
        }
    }

    pub(super) fn done(&mut self, number: u64, step: &WithdrawalStep) {
        if let Some(open) = self.get(number) {
            let withdrawal = &mut open.withdrawal;
            let left = &mut withdrawal.left;
            match step {
                WithdrawalStep::Message(gone, _) => {
                    left.messages.retain(|message| message != gone);
                    left.emptied.retain(|(message, _)| message != gone);
                }
                WithdrawalStep::AnswerTo(found) => {
                    left.answers_to.retain(|question| question != found)
                }
                WithdrawalStep::Title => left.title = false,
                WithdrawalStep::Listing(..) => {}
            }
            withdrawal.tries = 0;
        }
        self.all.retain(|it| !it.withdrawal.left.is_nothing());
    }

    pub(super) fn put_off(&mut self, number: u64) {
        let Some(open) = self.get(number) else {
            return;
        };
        open.withdrawal.tries += 1;
        let tries = open.withdrawal.tries;
        open.due = Instant::now() + pause(tries);
        if tries < MAX_FAILURES {
            return;
        }
        if !open.withdrawal.left.listed.is_empty() {
            tracing::warn!(conversation = %open.withdrawal.left.conversation, "whether what a listing shows still exists could not be found out; it is taken away");
            open.withdrawal.left.listed.clear();
            open.withdrawal.tries = 0;
        } else {
            let ForgottenConversation {
                conversation,
                messages,
                ..
            } = &open.withdrawal.left;
            tracing::error!(%conversation, messages = messages.len(), "messages that were forgotten could not be taken away; remove them by hand");
            self.remove(number);
        }
    }
}

/// The next thing to do for a withdrawal.
#[derive(Debug)]
pub(super) enum WithdrawalStep {
    /// A message, with the emptied answer that it shows, if any.
    Message(MessageId, Option<ResponseId>),
    AnswerTo(EventId),
    Title,
    /// Messages that list answers.
    Listing(Delivered, Vec<ResponseId>),
}

fn pause(tries: u32) -> Duration {
    (FIRST_PAUSE * 2_u32.saturating_pow(tries.saturating_sub(1).min(16))).min(MAX_RETRY_DELAY)
}

//! A message of the bot that went out.

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{ConversationId, Delivered, EventId};
use serde::{Deserialize, Serialize};

use super::response_id::ResponseId;

/// The delivered messages of an answer in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredAnswer {
    pub session: ConversationId,
    pub messages: Delivered,
    /// The question, if the delivery of its answer is not recorded.
    #[serde(skip)]
    pub unseen: Option<EventId>,
    /// The answer, if it was emptied: it may be regenerated in the same messages.
    #[serde(skip)]
    pub emptied: Option<ResponseId>,
}

impl DeliveredAnswer {
    pub fn new(session: ConversationId, messages: Delivered) -> Self {
        Self {
            session,
            messages,
            unseen: None,
            emptied: None,
        }
    }
}

/// How long an answer without a recorded delivery may still have been delivered. Until then its question is pending, and
/// whoever takes it over records the delivery.
const UNCONFIRMED_DELIVERY_WINDOW: TimeDelta = TimeDelta::hours(24);

pub(in crate::graph) fn may_stand(answered_at: DateTime<Utc>) -> bool {
    Utc::now() - answered_at < UNCONFIRMED_DELIVERY_WINDOW
}

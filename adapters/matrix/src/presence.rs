//! Typing notices and read receipts.
//!
//! Nothing waits for them, and their failures do not matter.

use std::time::Duration;

use futures::FutureExt as _;
use matrix_sdk::Room;
use matrix_sdk::config::RequestConfig;
use matrix_sdk::ruma::OwnedEventId;
use matrix_sdk::ruma::api::client::receipt::create_receipt::v3::ReceiptType;
use matrix_sdk::ruma::api::client::typing::create_typing_event::v3::{Request, Typing, TypingInfo};
use matrix_sdk::ruma::events::receipt::ReceiptThread;
use muninn_platform::Indicator;
use tokio::time::timeout;

use crate::content::Relation;
use crate::hub::MatrixHub;
use crate::opaque::Opaque;

/// Interval of typing notices…
pub(crate) const TYPING_EVERY: Duration = Duration::from_secs(20);

/// …and their lifetime, in case the process is killed.
const TYPING_FOR: Duration = Duration::from_secs(30);

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The indicators of one reply.
pub(crate) struct TypingIndicator {
    room: Opaque<Room>,
    question: OwnedEventId,
    thread: ReceiptThread,
    indicator: Indicator,
}

impl TypingIndicator {
    pub(crate) fn new(room: &Opaque<Room>, question: &OwnedEventId, relation: &Relation) -> Self {
        let thread = match relation {
            // A question that begins a thread is in the main timeline.
            Relation::Thread { root, .. } if root != question => {
                ReceiptThread::Thread(root.clone())
            }
            Relation::Thread { .. } | Relation::Reply(_) | Relation::None => ReceiptThread::Main,
        };
        Self {
            room: room.clone(),
            question: question.clone(),
            thread,
            indicator: Indicator::default(),
        }
    }

    pub(crate) fn are_shown(&self) -> bool {
        self.indicator.is_shown()
    }

    /// Shows the indicators, unless they are still shown.
    pub(crate) fn show(&mut self, hub: &MatrixHub) {
        if !self.indicator.is_due(TYPING_EVERY) {
            return;
        }
        let is_first = !self.are_shown();
        if is_first {
            hub.begin_work(self.room.room_id());
        }
        let (room, question, thread) = (
            self.room.clone(),
            self.question.clone(),
            self.thread.clone(),
        );
        self.indicator.show(async move {
            type_notice(&room, Typing::Yes(TypingInfo::new(TYPING_FOR))).await;
            if is_first {
                let receipt = room.send_single_receipt(ReceiptType::Read, thread, question);
                let _ = timeout(REQUEST_TIMEOUT, receipt).await;
            }
        });
    }

    /// Removes the indicators, unless another reply in the room needs them.
    pub(crate) async fn hide(&mut self, hub: &MatrixHub) {
        if !self.are_shown() {
            return;
        }
        let is_last = hub.end_work(self.room.room_id());
        self.indicator.end().await;
        if is_last {
            type_notice(&self.room, Typing::No).await;
        }
    }

    /// Returns the indicators for somebody else to remove.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            room: self.room.clone(),
            question: self.question.clone(),
            thread: self.thread.clone(),
            indicator: std::mem::take(&mut self.indicator),
        }
    }
}

async fn type_notice(room: &Room, typing: Typing) {
    let request = Request::new(
        room.own_user_id().to_owned(),
        room.room_id().to_owned(),
        typing,
    );
    let config = RequestConfig::new()
        .timeout(REQUEST_TIMEOUT)
        .disable_retry();
    let client = room.client();
    let sending = client.send(request).with_request_config(config);
    if let Ok(Err(error)) = timeout(REQUEST_TIMEOUT, sending.into_future().boxed()).await {
        tracing::debug!(%error, "no typing notice");
    }
}

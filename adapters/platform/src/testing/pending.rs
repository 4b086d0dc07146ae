//! Waits for an answer in a test.

use std::time::Duration;

use tokio::sync::watch;

use crate::ShownItem;

/// The state of an answer so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    pub(super) workings: usize,
    pub(super) updates: Vec<String>,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) offered: Vec<ShownItem>,
    finished: Option<Finished>,
}

#[derive(Clone, Debug)]
struct Finished {
    parts: Vec<String>,
    lost: bool,
}

impl Delivery {
    pub(super) fn finish(&mut self, parts: Vec<String>, lost: bool) {
        assert!(
            self.finished.is_none(),
            "the bot finished one reply twice: {self:?}, and now {parts:?}"
        );
        self.finished = Some(Finished { parts, lost });
    }
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How often the bot showed a typing indicator.
    pub workings: usize,
    /// The texts that were shown while it grew.
    pub updates: Vec<String>,
    /// The delivered messages.
    pub parts: Vec<String>,
    /// The files that were handed over to the one who asked, with their names.
    pub files: Vec<(String, Vec<u8>)>,
    /// The items with buttons to forget and to correct them.
    pub offered: Vec<ShownItem>,
}

impl Answer {
    /// Returns the delivered messages as one text.
    pub fn text(&self) -> String {
        self.parts.join("\n")
    }
}

/// The outcome of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    Answered(Answer),
    /// The bot finished it, and the delivery failed.
    Lost(Answer),
    /// The bot dropped the reply; `parts` is empty.
    GivenUp(Answer),
}

/// A sent message whose answer can be waited for.
#[derive(Clone, Debug)]
pub struct Pending {
    asked: String,
    patience: Duration,
    delivery: watch::Receiver<Delivery>,
}

impl Pending {
    pub(super) fn new(
        asked: String,
        patience: Duration,
        delivery: watch::Receiver<Delivery>,
    ) -> Self {
        Self {
            asked,
            patience,
            delivery,
        }
    }

    /// Waits until some text of the answer is shown, and returns it.
    ///
    /// # Panics
    /// Panics when none is shown in time, or at all.
    pub async fn first_update(&mut self) -> String {
        self.shows("").await
    }

    /// Waits until the shown text contains `text`, and returns all that is shown.
    ///
    /// # Panics
    /// Panics when it does not in time, or at all.
    pub async fn shows(&mut self, text: &str) -> String {
        let shown = |delivery: &Delivery| {
            let last = delivery.updates.last()?;
            last.contains(text).then(|| last.clone())
        };
        let delivery = self.wait_for(|delivery| shown(delivery).is_some()).await;
        shown(&delivery)
            .unwrap_or_else(|| panic!("{}: {text:?} was never shown: {delivery:?}", self.asked))
    }

    /// Waits until the bot shows a typing indicator.
    ///
    /// # Panics
    /// Panics when it gives none in time, or at all.
    pub async fn works(&mut self) {
        let delivery = self.wait_for(|delivery| delivery.workings > 0).await;
        assert!(delivery.workings > 0, "{}: no sign of life", self.asked);
    }

    /// Waits until the bot shows another typing indicator.
    ///
    /// # Panics
    /// Panics when it gives none in time, or at all.
    pub async fn works_on(&mut self) {
        let before = self.delivery.borrow().workings;
        let delivery = self.wait_for(|delivery| delivery.workings > before).await;
        assert!(
            delivery.workings > before,
            "{}: no further sign of life",
            self.asked
        );
    }

    /// Waits for the answer.
    ///
    /// # Panics
    /// Panics when it does not come in time, or the bot gives it up.
    pub async fn answer(mut self) -> Answer {
        let asked = std::mem::take(&mut self.asked);
        match self.outcome().await {
            MessageOutcome::Answered(answer) => answer,
            MessageOutcome::Lost(answer) => panic!("{asked}: the answer was lost: {answer:?}"),
            MessageOutcome::GivenUp(answer) => {
                panic!("{asked}: the bot gave the answer up; until then it showed {answer:?}")
            }
        }
    }

    /// Waits for the outcome, whatever it is.
    ///
    /// # Panics
    /// Panics when nothing becomes of it in time.
    pub async fn outcome(mut self) -> MessageOutcome {
        let delivery = self.wait_for(|delivery| delivery.finished.is_some()).await;
        let answer = |parts| Answer {
            workings: delivery.workings,
            updates: delivery.updates.clone(),
            parts,
            files: delivery.files.clone(),
            offered: delivery.offered.clone(),
        };
        match &delivery.finished {
            None => MessageOutcome::GivenUp(answer(Vec::new())),
            Some(Finished { parts, lost: false }) => {
                MessageOutcome::Answered(answer(parts.clone()))
            }
            Some(Finished { parts, lost: true }) => MessageOutcome::Lost(answer(parts.clone())),
        }
    }

    /// Returns the delivery once `enough` holds, or once the reply is dropped.
    async fn wait_for(&mut self, enough: impl Fn(&Delivery) -> bool) -> Delivery {
        let waited = tokio::time::timeout(
            self.patience,
            self.delivery.wait_for(|delivery| enough(delivery)),
        )
        .await
        .map(|enough| enough.is_ok());
        let delivery = self.delivery.borrow().clone();
        assert!(
            waited.is_ok(),
            "{}: no answer within {:?}; so far: {delivery:?}",
            self.asked,
            self.patience
        );
        delivery
    }
}

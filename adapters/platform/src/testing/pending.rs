//! An answer a test waits for.

use std::time::Duration;

use tokio::sync::watch;

use crate::ShownItem;

/// What came of a message, so far.
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
    /// How often the bot gave a sign of life.
    pub workings: usize,
    /// What was shown while it was written.
    pub updates: Vec<String>,
    /// The messages it was delivered as.
    pub parts: Vec<String>,
    /// The files that the one who asked was given, by their names.
    pub files: Vec<(String, Vec<u8>)>,
    /// What had a button to be forgotten and one to be corrected.
    pub offered: Vec<ShownItem>,
}

impl Answer {
    /// The delivered messages as one text.
    pub fn text(&self) -> String {
        self.parts.join("\n")
    }
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answered(Answer),
    /// The bot finished it, and the platform did not take it.
    Lost(Answer),
    /// The bot dropped the reply; `parts` is empty.
    GivenUp(Answer),
}

/// A message that was sent and whose answer can be waited for.
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

    /// Waits until some text of the answer is shown, and gives it.
    ///
    /// # Panics
    /// When none is shown in time, or at all.
    pub async fn first_update(&mut self) -> String {
        self.shows("").await
    }

    /// Waits until the text that is shown contains `text`, and gives all that is shown.
    ///
    /// # Panics
    /// When it does not in time, or at all.
    pub async fn shows(&mut self, text: &str) -> String {
        let shown = |delivery: &Delivery| {
            let last = delivery.updates.last()?;
            last.contains(text).then(|| last.clone())
        };
        let delivery = self.wait_for(|delivery| shown(delivery).is_some()).await;
        shown(&delivery)
            .unwrap_or_else(|| panic!("{}: {text:?} was never shown: {delivery:?}", self.asked))
    }

    /// Waits until the bot gives a sign of life.
    ///
    /// # Panics
    /// When it gives none in time, or at all.
    pub async fn works(&mut self) {
        let delivery = self.wait_for(|delivery| delivery.workings > 0).await;
        assert!(delivery.workings > 0, "{}: no sign of life", self.asked);
    }

    /// Waits until the bot gives another sign of life than those so far.
    ///
    /// # Panics
    /// When it gives none in time, or at all.
    pub async fn works_on(&mut self) {
        let before = self.delivery.borrow().workings;
        let delivery = self.wait_for(|delivery| delivery.workings > before).await;
        assert!(
            delivery.workings > before,
            "{}: no further sign of life",
            self.asked
        );
    }

    /// The answer.
    ///
    /// # Panics
    /// When it does not come in time, or the bot gives it up.
    pub async fn answer(mut self) -> Answer {
        let asked = std::mem::take(&mut self.asked);
        match self.outcome().await {
            Outcome::Answered(answer) => answer,
            Outcome::Lost(answer) => panic!("{asked}: the answer was lost: {answer:?}"),
            Outcome::GivenUp(answer) => {
                panic!("{asked}: the bot gave the answer up; until then it showed {answer:?}")
            }
        }
    }

    /// What became of it, whatever that is.
    ///
    /// # Panics
    /// When nothing becomes of it in time.
    pub async fn outcome(mut self) -> Outcome {
        let delivery = self.wait_for(|delivery| delivery.finished.is_some()).await;
        let answer = |parts| Answer {
            workings: delivery.workings,
            updates: delivery.updates.clone(),
            parts,
            files: delivery.files.clone(),
            offered: delivery.offered.clone(),
        };
        match &delivery.finished {
            None => Outcome::GivenUp(answer(Vec::new())),
            Some(Finished { parts, lost: false }) => Outcome::Answered(answer(parts.clone())),
            Some(Finished { parts, lost: true }) => Outcome::Lost(answer(parts.clone())),
        }
    }

    /// The delivery when `enough` holds, or when the reply is gone.
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

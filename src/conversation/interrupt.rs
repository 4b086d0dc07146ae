//! Interrupts a running turn from outside.

use tokio::sync::watch;

/// Why a turn is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Somebody does not want the rest of the answer.
    Stopped,
    /// The message was edited or deleted.
    Superseded,
    /// Nobody waits for the answer any more.
    GivenUp,
}

/// A handle that interrupts one turn. Clones interrupt the same turn.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(watch::Sender<Option<Interruption>>);

impl Interrupt {
    /// Interrupts the turn. The last interruption counts.
    pub fn raise(&self, interruption: Interruption) {
        self.0.send_replace(Some(interruption));
    }

    pub fn is_superseded(&self) -> bool {
        *self.0.borrow() == Some(Interruption::Superseded)
    }

    /// Waits for an interruption, forever if none comes.
    pub async fn wait_until_raised(&self) -> Interruption {
        let mut raised = self.0.subscribe();
        loop {
            if let Some(interruption) = *raised.borrow_and_update() {
                return interruption;
            }
            if raised.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

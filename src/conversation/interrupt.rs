//! Ending a turn before its end, from outside.

use tokio::sync::watch;

/// Why a turn is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Somebody does not want the rest of it.
    Stopped,
    /// What it answers says something else now, or was taken back.
    Superseded,
}

/// The way to interrupt one turn. Clones interrupt the same one.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(watch::Sender<Option<Interruption>>);

impl Interrupt {
    /// The last one counts.
    pub fn raise(&self, interruption: Interruption) {
        self.0.send_replace(Some(interruption));
    }

    pub fn is_superseded(&self) -> bool {
        *self.0.borrow() == Some(Interruption::Superseded)
    }

    /// Waits for an interruption, for ever if none comes.
    pub async fn raised(&self) -> Interruption {
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

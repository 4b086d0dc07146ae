//! Failures on demand: refusals, slow responses, lost connections.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::server::SharedWorld;

/// What happens to a request.
#[derive(Clone, Debug)]
pub(crate) enum Failing {
    /// 429, for the request's bucket or for everything.
    Limited {
        after: Duration,
        global: bool,
    },
    /// Another status, with a plain-text body.
    Status(u16),
    Slow(Duration),
    /// The connection is closed before anything is done.
    Cut,
    /// Everything is done, but the response is lost.
    Lost,
    /// Everything is done, but the headers about limits are no numbers.
    Unnumbered,
    Held(Gate),
}

/// A failure that waits for its request.
#[derive(Debug)]
pub(crate) struct QueuedFault {
    pub(crate) method: String,
    pub(crate) route: String,
    pub(crate) failing: Failing,
    pub(crate) left: usize,
    pub(crate) place: String,
}

/// Configures what happens to the next request of a route; see [`crate::Discord::next`].
#[must_use = "say what happens to it"]
pub struct FaultBuilder<'a> {
    pub(crate) shared: &'a Arc<SharedWorld>,
    pub(crate) method: String,
    pub(crate) route: String,
    pub(crate) place: String,
    pub(crate) times: usize,
}

impl std::fmt::Debug for FaultBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the next {} {}", self.method, self.route)
    }
}

impl FaultBuilder<'_> {
    /// Applies to the next `times` requests.
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// Refuses it with 429, and its bucket for as long.
    pub fn is_limited(self, after: Duration) {
        self.fails_by(Failing::Limited {
            after,
            global: false,
        });
    }

    /// Refuses it with 429, and everything for as long.
    pub fn is_limited_globally(self, after: Duration) {
        self.fails_by(Failing::Limited {
            after,
            global: true,
        });
    }

    /// Refuses it with this status, as a broken server does.
    pub fn fails(self, status: u16) {
        self.fails_by(Failing::Status(status));
    }

    /// Delays the response.
    pub fn is_slow(self, by: Duration) {
        self.fails_by(Failing::Slow(by));
    }

    /// Closes the connection before anything is done.
    pub fn is_cut(self) {
        self.fails_by(Failing::Cut);
    }

    /// Executes it, but loses the response.
    pub fn loses_its_answer(self) {
        self.fails_by(Failing::Lost);
    }

    /// Executes it, but tells its limits in words.
    pub fn tells_no_numbers(self) {
        self.fails_by(Failing::Unnumbered);
    }

    /// Holds it until the test opens the gate.
    pub fn is_held(self) -> Gate {
        let gate = Gate::default();
        self.fails_by(Failing::Held(gate.clone()));
        gate
    }

    fn fails_by(self, failing: Failing) {
        let fault = QueuedFault {
            method: self.method,
            route: self.route,
            failing,
            left: self.times,
            place: self.place,
        };
        self.shared.with(|world| world.faults.push(fault));
    }
}

/// Holds requests until it is opened.
#[derive(Clone, Debug)]
pub struct Gate(Arc<(watch::Sender<bool>, watch::Sender<usize>)>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new((watch::Sender::new(false), watch::Sender::new(0))))
    }
}

impl Gate {
    /// Lets everything pass from now on.
    pub fn open(&self) {
        self.0.0.send_replace(true);
    }

    /// Waits until a request is held.
    ///
    /// # Panics
    /// Panics when none comes in time.
    pub async fn is_reached(&self) {
        let mut waiting = self.0.1.subscribe();
        let reached = waiting.wait_for(|waiting| *waiting > 0);
        let in_time = tokio::time::timeout(crate::TIMEOUT, reached).await;
        assert!(in_time.is_ok(), "no request came to the gate");
    }

    pub(crate) async fn pass(&self) {
        self.0.1.send_modify(|waiting| *waiting += 1);
        // The sender lives as long as `self`, so this only ends when it is open.
        let _ = self.0.0.subscribe().wait_for(|open| *open).await;
    }
}

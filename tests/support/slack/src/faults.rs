//! What goes wrong on demand.

use std::time::Duration;

/// What becomes of a call instead of its answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// 429 with `Retry-After` in seconds.
    RateLimited(u64),
    /// A status such as 500 or 503, with a page that is no JSON.
    Status(u16),
    /// `ok: false` with this error: `internal_error`, `fatal_error`, `token_revoked`…
    Error(&'static str),
    /// As `Error`, where blocks are sent; other calls pass.
    Blocks(&'static str),
    /// The connection is closed without an answer, and nothing was done.
    Closed,
    /// What was asked is done, but the connection is closed without an answer.
    LostAnswer,
    /// What was asked is done, but a status such as 500 or 503 is answered, with a page that is no JSON.
    LostBehind(u16),
    /// The answer comes that much later.
    Slow(Duration),
    /// 200 with a body that is no JSON.
    Garbage,
}

#[derive(Debug)]
struct Planned {
    /// Empty: every method.
    method: String,
    fault: Fault,
    /// How often still.
    times: usize,
    /// How many calls pass before it begins.
    after: usize,
}

/// What is planned to go wrong, in the order of planning.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Planned>);

impl Faults {
    pub(crate) fn plan(&mut self, method: &str, fault: Fault, times: usize, after: usize) {
        let method = method.to_owned();
        self.0.push(Planned {
            method,
            fault,
            times,
            after,
        });
    }

    /// What goes wrong with this call.
    pub(crate) fn take(&mut self, method: &str) -> Option<Fault> {
        for planned in &mut self.0 {
            if planned.times == 0 || !(planned.method.is_empty() || planned.method == method) {
                continue;
            }
            if planned.after > 0 {
                planned.after -= 1;
                continue;
            }
            planned.times -= 1;
            return Some(planned.fault.clone());
        }
        None
    }
}

//! Failures on demand.

use std::time::Duration;

/// A failure in place of a response.
#[derive(Clone, Debug)]
pub enum ResponseFault {
    /// 429 with `Retry-After` in seconds.
    RateLimited(u64),
    /// A status such as 500 or 503, with a page that is no JSON.
    Status(u16),
    /// `ok: false` with this error: `internal_error`, `fatal_error`, `token_revoked`…
    Error(&'static str),
    /// As `Error`, where blocks are sent; other calls pass.
    Blocks(&'static str),
    /// The connection is closed without a response, and nothing was done.
    Closed,
    /// The request is executed, but the connection is closed without a response.
    LostAnswer,
    /// The request is executed, but the response is a status such as 500 or 503, with a page that
    /// is not JSON.
    LostBehind(u16),
    /// The response is delayed.
    Slow(Duration),
    /// 200 with a body that is not JSON.
    Garbage,
}

#[derive(Debug)]
struct Planned {
    /// Empty: every method.
    method: String,
    fault: ResponseFault,
    /// How many more times.
    times: usize,
    /// How many calls pass before it begins.
    after: usize,
}

/// The planned failures, in order.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Planned>);

impl Faults {
    pub(crate) fn plan(&mut self, method: &str, fault: ResponseFault, times: usize, after: usize) {
        let method = method.to_owned();
        self.0.push(Planned {
            method,
            fault,
            times,
            after,
        });
    }

    /// Returns the failure of this call, if one is planned.
    pub(crate) fn take(&mut self, method: &str) -> Option<ResponseFault> {
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

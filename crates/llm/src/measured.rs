//! Measures how long a call takes, however it ends.

use std::time::Duration;

use tokio::time::Instant;

use super::Usage;
use super::capability_store::CapabilityStore;
use super::service::ServiceCall;
use super::speed::CallTiming;

/// A running call. Its timing is recorded when it is dropped: a call that nobody waits for any more says most about a
/// slow model.
pub(super) struct Measured<'a> {
    learnt: &'a CapabilityStore,
    model: &'a str,
    call: &'a ServiceCall,
    /// Tokens, estimated until the service reports their number.
    prompt: u32,
    written: u32,
    first: Option<Instant>,
    /// When the service reported the end of the answer.
    ended: Option<Instant>,
    /// A call dropped earlier than this without any output does not count as slow.
    least: Duration,
}

impl<'a> Measured<'a> {
    pub(super) fn new(
        learnt: &'a CapabilityStore,
        model: &'a str,
        call: &'a ServiceCall,
        prompt: u32,
        least: Duration,
    ) -> Self {
        Self {
            learnt,
            model,
            call,
            prompt,
            written: 0,
            first: None,
            ended: None,
            least,
        }
    }

    /// A chunk arrived: one token, as most services send them.
    pub(super) fn record_chunk(&mut self) {
        self.first.get_or_insert_with(Instant::now);
        self.ended = None;
        self.written = self.written.saturating_add(1);
    }

    /// The service reported the end: what is waited for behind it is not the model's time.
    pub(super) fn record_end(&mut self) {
        self.ended = Some(Instant::now());
    }

    /// The token counts of the service, or estimates.
    pub(super) fn record_usage(&mut self, usage: Usage) {
        self.prompt = usage.prompt;
        self.written = usage.completion.max(1);
    }
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        // The wait for a permit before it was sent is not the model's time.
        let Some(sent) = self.call.sent() else { return };
        let ended = self.ended.unwrap_or_else(Instant::now);
        let all = ended.saturating_duration_since(sent);
        let first = match self.first {
            Some(first) => first.saturating_duration_since(sent),
            None if all >= self.least => all,
            None => return,
        };
        let call = CallTiming {
            prompt: self.prompt,
            first_ms: millis(first),
            written: self.written,
            ms: millis(all),
        };
        self.learnt.timed(self.model, call);
    }
}

/// A duration in whole milliseconds; saturates after 49 days.
pub fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

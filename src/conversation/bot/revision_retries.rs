//! When a revision that cannot be followed yet is tried again. Pure.

use std::time::Duration;

use muninn_platform::Backoff;

/// First pause. It doubles after each try.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause while the graph is away.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Longest pause while another process may have the message: the messages of a dead process are taken over within seconds.
const LONGEST_OPEN_PAUSE: Duration = Duration::from_secs(4);
/// How long a revision is tried again: longer than another process waits for an event or for the graph before it leaves a
/// message to others, with the time for the turns before it.
const MOST_WAITED: Duration = Duration::from_hours(1);

/// Why a revision waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RevisionWait {
    /// For another process, which may have its message.
    Message,
    /// For the graph.
    Graph,
}

/// The pauses between the tries of one revision.
#[derive(Debug)]
pub(super) struct RevisionRetries {
    backoff: Backoff,
    waited: Duration,
}

impl Default for RevisionRetries {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE),
            waited: Duration::ZERO,
        }
    }
}

impl RevisionRetries {
    /// How long to wait until the next try; `None` if there is none.
    pub(super) fn pause(&mut self, wait: RevisionWait) -> Option<Duration> {
        if self.waited >= MOST_WAITED {
            return None;
        }
        let longest = match wait {
            RevisionWait::Message => LONGEST_OPEN_PAUSE,
            RevisionWait::Graph => LONGEST_PAUSE,
        };
        let pause = self.backoff.pause().min(longest);
        self.waited += pause;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_tried_for_longer_than_another_process_keeps_its_message() {
        for (wait, longest, fewest_tries) in [
            (RevisionWait::Message, LONGEST_OPEN_PAUSE, 900),
            (RevisionWait::Graph, LONGEST_PAUSE, 60),
        ] {
            let mut retries = RevisionRetries::default();
            let pauses: Vec<Duration> = std::iter::from_fn(|| retries.pause(wait)).collect();
            assert_eq!(pauses[0], FIRST_PAUSE, "{wait:?}");
            assert!(pauses.is_sorted(), "{wait:?}");
            assert_eq!(pauses.last(), Some(&longest), "{wait:?}");
            assert!(pauses.len() >= fewest_tries, "{wait:?}: {}", pauses.len());
            // It waits 30 minutes for an event, or for the graph.
            let waited: Duration = pauses.iter().sum();
            assert!(waited > Duration::from_mins(30), "{wait:?}: {waited:?}");
        }
    }
}

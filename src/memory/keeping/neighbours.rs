//! Tracks which other processes may receive the same events.

use std::sync::{Mutex, OnceLock, PoisonError};

/// What is known of the processes that share the graph.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// The platforms that this process serves in a graph that others may share. Unset means that no other process
    /// receives its events.
    served: OnceLock<Vec<String>>,
    /// The platforms that other processes serve, as the graph reported last. `None` if it never did.
    others: Mutex<Option<Vec<String>>>,
}

impl Neighbours {
    /// From now on other processes may receive the same events of these platforms.
    pub(crate) fn serve(&self, platforms: &[String]) {
        // It is set once; later calls have the same value.
        let _ = self.served.set(platforms.to_vec());
    }

    /// Records the platforms of the other processes. While the graph is silent, its last report counts, as those
    /// processes may still be running.
    pub(crate) fn seen(&self, others: Vec<String>) {
        *self.others.lock().unwrap_or_else(PoisonError::into_inner) = Some(others);
    }

    /// Whether this process alone receives events of this platform, as far as is known.
    pub(crate) fn is_alone(&self, platform: &str) -> bool {
        let is_served = |served: &Vec<String>| served.iter().any(|it| it == platform);
        if !self.served.get().is_some_and(is_served) {
            return true;
        }
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others
            .as_ref()
            .is_some_and(|others| others.iter().all(|it| it != platform))
    }

    /// Whether another process serves this platform, as far as is known.
    pub(crate) fn serve_too(&self, platform: &str) -> bool {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let mut others = others.iter().flatten();
        others.any(|it| it == platform)
    }

    /// Whether no other process serves any platform, as far as is known.
    pub(crate) fn are_none(&self) -> bool {
        if self.served.get().is_none() {
            return true;
        }
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.as_ref().is_some_and(Vec::is_empty)
    }

    /// The served platforms on which this process may have answered without the graph, also before its last restart.
    pub(crate) fn alone_or_unheard(&self) -> Vec<String> {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let is_shared = |it| others.as_ref().is_some_and(|others| others.contains(it));
        let served = self.served.get().into_iter().flatten();
        served.filter(|it| !is_shared(it)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_serves_nothing_is_alone_and_who_knows_nothing_is_not() {
        let neighbours = Neighbours::default();
        assert!(neighbours.is_alone("slack") && neighbours.are_none());
        neighbours.serve(&["slack".to_owned()]);
        assert!(!neighbours.is_alone("slack") && !neighbours.are_none());
        assert!(neighbours.is_alone("terminal"));
        assert_eq!(neighbours.alone_or_unheard(), ["slack"]);
        assert!(!neighbours.serve_too("matrix"));
        neighbours.seen(vec!["matrix".to_owned()]);
        assert!(neighbours.serve_too("matrix") && !neighbours.serve_too("slack"));
        assert!(neighbours.is_alone("slack") && !neighbours.are_none());
        assert_eq!(neighbours.alone_or_unheard(), ["slack"]);
        neighbours.seen(vec!["slack".to_owned()]);
        assert!(!neighbours.is_alone("slack"));
        assert!(neighbours.alone_or_unheard().is_empty());
        neighbours.seen(Vec::new());
        assert!(neighbours.are_none());
    }
}

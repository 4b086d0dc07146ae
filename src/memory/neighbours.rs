//! Which other processes may be told the same events.

use std::sync::{Mutex, OnceLock, PoisonError};

/// What is known of the processes that share the graph.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// The platforms that this process serves in a graph that others may share. Unset: nobody else
    /// is told what it is told.
    served: OnceLock<Vec<String>>,
    /// The platforms that others serve, as the graph said last. None: it never said.
    others: Mutex<Option<Vec<String>>>,
}

impl Neighbours {
    /// From now on others may be told what this process is told by these platforms.
    pub(crate) fn serve(&self, platforms: &[String]) {
        // A second time says the same.
        let _ = self.served.set(platforms.to_vec());
    }

    /// What the graph says of the others. While it says nothing, what it said last holds: who was
    /// there then may be there still.
    pub(crate) fn seen(&self, others: Vec<String>) {
        *self.others.lock().unwrap_or_else(PoisonError::into_inner) = Some(others);
    }

    /// Whether an event of this platform is told to this process alone, as far as is known.
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

    /// The served platforms on which this process may have answered without the graph, also before it was started again.
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
        assert!(neighbours.is_alone("slack"));
        neighbours.serve(&["slack".to_owned()]);
        assert!(!neighbours.is_alone("slack"));
        assert!(neighbours.is_alone("terminal"));
        assert_eq!(neighbours.alone_or_unheard(), ["slack"]);
        neighbours.seen(vec!["matrix".to_owned()]);
        assert!(neighbours.is_alone("slack"));
        assert_eq!(neighbours.alone_or_unheard(), ["slack"]);
        neighbours.seen(vec!["slack".to_owned()]);
        assert!(!neighbours.is_alone("slack"));
        assert!(neighbours.alone_or_unheard().is_empty());
    }
}

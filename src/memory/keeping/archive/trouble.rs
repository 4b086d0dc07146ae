//! Whether turns reach the graph, for whoever watches the bot.

use std::sync::atomic::Ordering;
use std::time::Duration;

use muninn_platform::count_with_noun;
use tokio::time::Instant;

use super::{Archive, TurnSaveOutcome};

/// How often a journal that could not take a turn is tried again.
const SPACE_INTERVAL: Duration = Duration::from_secs(15);

impl Archive {
    /// Why turns do not reach the graph, as a sentence; `None` while they do.
    pub fn trouble(&self) -> Option<String> {
        if self.loses_turns.load(Ordering::Relaxed) {
            let lost = "the last turn could be saved neither in the graph nor in the journal; the log says why, such as a full disk";
            return Some(lost.to_owned());
        }
        self.is_away().then(|| {
            let waiting = count_with_noun(self.waiting(), "turn");
            format!("the graph is away; waiting in the journal: {waiting}")
        })
    }

    /// Records whether a turn was lost. A graph on this machine is never away, so nothing else tells of a full disk.
    pub(super) fn note_outcome(&self, kept: &TurnSaveOutcome) {
        match kept {
            TurnSaveOutcome::Graph | TurnSaveOutcome::Journal => self.note_kept(),
            TurnSaveOutcome::Nowhere => {
                self.loses_turns.store(true, Ordering::Relaxed);
                metrics::counter!("muninn_lost_turns_total").increment(1);
            }
            TurnSaveOutcome::Duplicate(_)
            | TurnSaveOutcome::Forgotten
            | TurnSaveOutcome::Unknown => {}
        }
    }

    /// Records that something was kept, so the next turn can be as well.
    pub(in crate::memory) fn note_kept(&self) {
        self.loses_turns.store(false, Ordering::Relaxed);
    }

    /// Looks from time to time whether the journal can take turns again, if the last one was lost. The next turn would tell, but
    /// there may be none for days, or ever: who watches the bot may let no message through to one in trouble.
    pub(in crate::memory) async fn look_for_space(&self, looked_at: &mut Option<Instant>) {
        let is_early = looked_at.is_some_and(|at| at.elapsed() < SPACE_INTERVAL);
        if is_early || !self.loses_turns.load(Ordering::Relaxed) {
            return;
        }
        *looked_at = Some(Instant::now());
        match self.journal.check_space().await {
            Ok(()) => {
                tracing::info!("the journal can be written again");
                self.note_kept();
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "the journal still cannot be written");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metrics_exporter_prometheus::PrometheusBuilder;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::graph::StoreError;
    use crate::graph::session::Sessions;
    use crate::graph::testing::failing_store;
    use crate::memory::keeping::journal::Journal;

    #[tokio::test]
    async fn a_lost_turn_is_told_until_the_journal_can_be_written_again() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let journal = Journal::open(&folder).unwrap();
        let store = failing_store(|| StoreError::Invalid("full".to_owned()));
        let archive = Archive::new(Arc::new(store), journal, Arc::new(Sessions::default()), 10);
        archive.note_outcome(&TurnSaveOutcome::Nowhere);
        std::fs::remove_dir_all(&folder).unwrap();
        archive.look_for_space(&mut None).await;
        assert!(archive.trouble().is_some());
        std::fs::create_dir(&folder).unwrap();
        let mut looked_at = Some(Instant::now());
        archive.look_for_space(&mut looked_at).await;
        assert!(archive.trouble().is_some(), "it is too early");

        let done = CancellationToken::new();
        let told = async {
            while archive.trouble().is_some() {
                tokio::task::yield_now().await;
            }
            done.cancel();
        };
        tokio::join!(archive.watch(done.clone()), told);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }

    /// How often a graph is counted as away in a process that nobody asks anything, while it is away for so long.
    async fn counted(length: Duration) -> u32 {
        let recorder = PrometheusBuilder::new().build_recorder();
        let _counting = metrics::set_default_local_recorder(&recorder);
        let away = || StoreError::Unreachable {
            url: "bolt://graph".to_owned(),
            source: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let sessions = Arc::new(Sessions::default());
        let archive = Archive::new(Arc::new(failing_store(away)), journal, sessions, 10);
        archive.mark_away(&away());
        let watching = archive.watch(CancellationToken::new());
        let _over = tokio::time::timeout(length, watching).await;
        let counted = recorder.handle().render();
        let line = counted.lines().find_map(|line| {
            line.strip_prefix("muninn_degradations_total{degradation=\"store\"} ")
        });
        line.unwrap().parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_counted_for_as_long_as_it_lasts() {
        assert_eq!(counted(Duration::from_secs(10)).await, 1);
        let in_two_minutes = counted(Duration::from_mins(2)).await;
        assert!(in_two_minutes > 3, "{in_two_minutes}");
    }

    #[test]
    fn a_lost_turn_is_told_until_one_is_kept_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let store = failing_store(|| StoreError::Invalid("full".to_owned()));
        let archive = Archive::new(Arc::new(store), journal, Arc::new(Sessions::default()), 10);
        assert_eq!(archive.trouble(), None);
        for kept in [TurnSaveOutcome::Graph, TurnSaveOutcome::Journal] {
            archive.note_outcome(&TurnSaveOutcome::Nowhere);
            archive.note_outcome(&TurnSaveOutcome::Unknown);
            let told = archive.trouble().unwrap();
            assert!(
                told.contains("neither in the graph nor in the journal"),
                "{told}"
            );
            archive.note_outcome(&kept);
            assert_eq!(archive.trouble(), None, "{kept:?}");
        }
    }
}

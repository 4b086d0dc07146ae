//! The last step of an ingest: exchanges the versions.

use tokio::sync::mpsc;

use super::reading::in_words;
use super::run::{IngestError, IngestRun, IngestSummary, PAGE};
use crate::graph::ingest::{ChunkSelection, Completed, Exchange, NewLink};
use crate::knowledge::plan::{Plan, RecordAction};
use crate::knowledge::rejects::Rejects;
use crate::knowledge::spool::SpooledLinks;

/// Relationships created per statement.
const LINKS: usize = 2_000;

/// Records removed per statement.
const RECORDS: usize = 500;

/// Number of parts that wait for the transaction.
const PARTS: usize = 2;

/// What is known once everything is read and staged.
pub(super) struct Exchanging<'a> {
    pub(super) run: IngestRun<'a>,
    pub(super) plan: Plan,
    pub(super) waiting: SpooledLinks,
    pub(super) rejects: Option<Rejects>,
    pub(super) completed: Completed,
    /// The served version.
    pub(super) before: Option<Completed>,
    /// Whether hierarchy links were cut before; they may be valid now.
    pub(super) had_circles: bool,
}

impl Exchanging<'_> {
    pub(super) async fn run(
        mut self,
        mut summary: IngestSummary,
    ) -> Result<IngestSummary, IngestError> {
        let refused: Vec<_> = self.waiting.refused().cloned().collect();
        for refused in &refused {
            summary.examples.push(in_words(refused));
            if let Some(rejects) = &mut self.rejects {
                rejects.add(refused)?;
            }
        }
        summary.circles = refused.len() as u64;
        self.completed.circles = summary.circles;
        if let Some(rejects) = self.rejects.take() {
            summary.rejected = rejects.count;
            summary.rejects = rejects.finish()?;
        }
        self.completed.rejected = summary.rejected;
        self.unstage().await?;
        let version = self.run.lease.version;
        if self.plan.changes_nothing() && self.before.as_ref() == Some(&self.completed) {
            self.run.store.release_source(self.run.lease).await?;
            summary.is_same = true;
            summary.version = version - 1;
            return Ok(summary);
        }
        summary.version = version;
        let run = self.run;
        let (sender, parts) = mpsc::channel(PARTS);
        let exchanging = run.store.exchange(run.lease, parts);
        let (links, sent) = tokio::join!(exchanging, self.send(sender));
        summary.links = links?;
        summary.dangling = sent?;
        Ok(summary)
    }

    /// Removes chunks staged for a version that was never served.
    async fn unstage(&self) -> Result<(), IngestError> {
        let run = self.run;
        let mut after = String::new();
        loop {
            let page = run
                .store
                .records(&run.lease.source, ChunkSelection::Staged, &after, PAGE);
            let page = page.await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after.clone_from(&last.key);
            let gone = page.iter().filter(|record| !self.plan.is_new(&record.key));
            let gone: Vec<String> = gone.map(|record| record.key.clone()).collect();
            for part in gone.chunks(RECORDS) {
                run.store.unstage(run.lease, part).await?;
            }
        }
    }

    /// Sends the store what to remove, what to link, and the end marker. Returns the number of
    /// dangling links.
    async fn send(self, to: mpsc::Sender<Exchange>) -> Result<u64, IngestError> {
        let Self {
            run,
            plan,
            mut waiting,
            completed,
            had_circles,
            ..
        } = self;
        let mut after = String::new();
        loop {
            let page = run
                .store
                .records(&run.lease.source, ChunkSelection::Served, &after, PAGE);
            let page = page.await?;
            let Some(last) = page.last() else {
                break;
            };
            after.clone_from(&last.key);
            let gone = page.iter().filter(|record| match plan.fate(&record.key) {
                RecordAction::Keep => false,
                RecordAction::Replace | RecordAction::Remove => true,
            });
            let gone: Vec<String> = gone.map(|record| record.key.clone()).collect();
            for part in gone.chunks(RECORDS) {
                if to.send(Exchange::Remove(part.to_vec())).await.is_err() {
                    return Ok(0);
                }
            }
        }
        let mut dangling = 0;
        for among_new in [true, false] {
            waiting.rewind()?;
            dangling = 0;
            let mut links: Vec<NewLink> = Vec::new();
            while let Some(resolved) = waiting.next(&plan, had_circles)? {
                dangling += resolved.dangling;
                let its = resolved.links.into_iter();
                links.extend(its.filter(|link| link.is_among_new == among_new));
                if links.len() >= LINKS
                    && to
                        .send(Exchange::Link(std::mem::take(&mut links)))
                        .await
                        .is_err()
                {
                    return Ok(dangling);
                }
            }
            if !links.is_empty() && to.send(Exchange::Link(links)).await.is_err() {
                return Ok(dangling);
            }
        }
        // A receiver that is gone reports the reason itself.
        let _ = to.send(Exchange::Finish(Box::new(completed))).await;
        Ok(dangling)
    }
}

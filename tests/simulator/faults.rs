//! Injects the planned faults, and repairs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

use crate::desk::PlatformDesk;
use crate::host::Process;
use crate::model::Model;
use crate::plan::{Fault, GraphFailure, ScheduledFault};
use crate::support::proxy::Proxy;

/// Delay of a slow graph's responses, below and above the time-out used here.
const SLOW: Duration = Duration::from_millis(700);

/// The processes whose disk is full.
#[derive(Debug, Default)]
pub(crate) struct FullDisks {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl FullDisks {
    fn begin(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    fn end(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn are_any(&self) -> bool {
        self.were_any_since(self.ended())
    }

    /// Returns how many disks have space again.
    pub(crate) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether a disk was full at any time since `ended` of them had space again.
    pub(crate) fn were_any_since(&self, ended: usize) -> bool {
        self.begun.load(Ordering::SeqCst) > ended
    }
}

/// What can break.
#[derive(Clone)]
pub(crate) struct Breakable {
    pub(crate) model: Arc<Model>,
    pub(crate) desk: Arc<PlatformDesk>,
    pub(crate) wire: Option<Arc<Proxy>>,
    pub(crate) processes: Vec<Arc<Mutex<Process>>>,
    pub(crate) full_disks: Arc<FullDisks>,
    /// Faults that could not be injected.
    pub(crate) problems: Arc<std::sync::Mutex<Vec<String>>>,
}

/// Injects all faults; returns when everything is repaired.
pub(crate) async fn strike_all(
    breakable: &Breakable,
    faults: &[ScheduledFault],
    mut steps: watch::Receiver<usize>,
    all: usize,
) {
    let mut lasting = JoinSet::new();
    for scheduled in faults {
        let due = scheduled.after_steps.min(all);
        // Counting stops when all people have left.
        let _ = steps.wait_for(|steps| *steps >= due).await;
        tokio::time::sleep(Duration::from_millis(scheduled.delay_ms)).await;
        let (breakable, fault) = (breakable.clone(), scheduled.fault);
        lasting.spawn(async move {
            if let Err(problem) = breakable.strike(fault).await {
                breakable.problems.lock().unwrap().push(problem);
            }
        });
    }
    while lasting.join_next().await.is_some() {}
}

impl Breakable {
    async fn strike(&self, fault: Fault) -> Result<(), String> {
        match fault {
            Fault::Kill { process } => {
                let mut process = self.processes[process % self.processes.len()].lock().await;
                process.kill().await;
                process.start();
            }
            Fault::TornWrite { process } => {
                let mut process = self.processes[process % self.processes.len()].lock().await;
                process.kill().await;
                process.tear(0);
                process.start();
            }
            Fault::Terminate { process } => {
                let mut process = self.processes[process % self.processes.len()].lock().await;
                process.terminate().await?;
                process.start();
            }
            Fault::FullDisk { process, ms } => self.fill_disk(process, ms).await?,
            Fault::ClockJump { process, seconds } => {
                let process = self.processes[process % self.processes.len()].lock().await;
                process.jump(seconds);
            }
            Fault::Model { failure, ms } => {
                self.model.fails(Some(failure));
                lasts(ms).await;
                self.model.fails(None);
            }
            Fault::Embedder { failure, ms } => {
                self.model.embedder_fails(Some(failure));
                lasts(ms).await;
                self.model.embedder_fails(None);
            }
            Fault::Answers { failure, ms } => {
                self.desk.fails(Some(failure));
                lasts(ms).await;
                self.desk.fails(None);
            }
            Fault::Graph { failure, ms } => self.break_wire(failure, ms).await,
        }
        Ok(())
    }

    /// Restarts a process with a full disk, for a while.
    async fn fill_disk(&self, process: usize, ms: u64) -> Result<(), String> {
        let mut process = self.processes[process % self.processes.len()].lock().await;
        // Begins now, so that messages from here on count as sent with a full disk.
        self.full_disks.begin();
        process.terminate().await?;
        let is_full = process.start_on_full_disk();
        if is_full {
            lasts(ms).await;
        }
        let ended = process.terminate().await;
        process.start();
        self.full_disks.end();
        ended
    }

    async fn break_wire(&self, failure: GraphFailure, ms: u64) {
        let Some(wire) = &self.wire else { return };
        match failure {
            GraphFailure::Cut => {
                wire.cut();
                lasts(ms).await;
                wire.mend();
            }
            GraphFailure::Slow => {
                wire.slow(SLOW);
                lasts(ms).await;
                wire.slow(Duration::ZERO);
            }
            GraphFailure::CommitReplyLost => wire.lose_next_commit(),
        }
    }
}

async fn lasts(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

//! Runs the tasks of a serving bot, and ends them within the time limit.

use std::sync::Arc;
use std::time::Duration;

use muninn::conversation::bot::Bot;
use muninn::graph::{GraphStore, StoreError};
use muninn_platform::{Inbox, Platform, PlatformError};
use tokio::sync::OnceCell;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The platforms, and what runs until they end.
#[derive(Default)]
pub(super) struct Tasks(JoinSet<Result<(), PlatformError>>);

impl Tasks {
    pub(super) fn serve(
        &mut self,
        platform: Box<dyn Platform>,
        inbox: &Inbox,
        shutdown: &CancellationToken,
    ) {
        tracing::info!(platform = platform.name(), "serving");
        let (inbox, shutdown) = (inbox.clone(), shutdown.clone());
        self.0.spawn(async move {
            let name = platform.name();
            match platform.run(inbox, shutdown.clone()).await {
                // It ended unexpectedly: fails, so that a supervisor restarts the bot.
                Ok(()) if !shutdown.is_cancelled() => Err(PlatformError::Disconnected {
                    platform: name,
                    source: "what came from there could not be kept, as the errors before this say"
                        .into(),
                }),
                ended => ended,
            }
        });
    }

    pub(super) fn run(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(async move {
            work.await;
            Ok(())
        });
    }
}

/// A bot that serves its platforms.
pub(super) struct Serving {
    pub(super) bot: Arc<Bot>,
    pub(super) tasks: Tasks,
    /// The bot's task, which processes the inbox.
    pub(super) serving: JoinHandle<()>,
}

impl Serving {
    /// Returns when all is finished, or time is up, with the results of the platforms.
    pub(super) async fn wait_until_ended(
        mut self,
        shutdown: &CancellationToken,
        time: &Time,
    ) -> anyhow::Result<Result<(), PlatformError>> {
        let mut lost = Ok(());
        let ended = async {
            while let Some(ended) = self.tasks.0.join_next().await {
                let ended = ended?;
                if lost.is_ok() {
                    lost = ended;
                }
                shutdown.cancel();
            }
            (&mut self.serving).await?;
            anyhow::Ok(())
        };
        tokio::select! {
            ended = ended => {
                ended?;
                return Ok(lost);
            }
            () = time.part(FINISH_SHARE) => {}
        }
        tracing::warn!("ending: what is still under way is left to the next start");
        self.bot.halt();
        let cleaned_up = async {
            while self.tasks.0.join_next().await.is_some() {}
            (&mut self.serving).await
        };
        tokio::select! {
            _ = cleaned_up => {}
            () = time.part(CLEAN_UP_SHARE) => {}
        }
        self.tasks.0.abort_all();
        self.serving.abort();
        Ok(lost)
    }
}

/// The part of the time limit for finishing turns in flight.
const FINISH_SHARE: f64 = 0.6;
/// The part until which unfinished answers are removed.
const CLEAN_UP_SHARE: f64 = 0.75;
/// The part until which the graph is told.
const GRAPH_NOTICE_SHARE: f64 = 0.85;

/// The time limit for ending, from the moment of the request.
pub(super) struct Time {
    ending: CancellationToken,
    began: OnceCell<Instant>,
    most: Duration,
}

impl Time {
    pub(super) fn from(ending: &CancellationToken, most: Duration) -> Self {
        Self {
            ending: ending.clone(),
            began: OnceCell::new(),
            most,
        }
    }

    /// Returns when that part of it is over.
    async fn part(&self, part: f64) {
        let began = self.began.get_or_init(async || {
            self.ending.cancelled().await;
            Instant::now()
        });
        let over = *began.await + self.most.mul_f64(part);
        sleep_until(over).await;
    }

    /// Waits until the graph was told that this process ends, and closes it.
    pub(super) async fn close_graph(
        &self,
        store: &GraphStore,
        looking_after: JoinHandle<()>,
    ) -> Result<(), StoreError> {
        tokio::select! {
            _ = looking_after => {}
            () = self.part(GRAPH_NOTICE_SHARE) => tracing::warn!("the graph could not be told that this process ends"),
        }
        tokio::select! {
            closed = store.close() => closed,
            () = self.part(1.0) => {
                tracing::warn!("the graph could not be closed in time: it is put right at the next start");
                Ok(())
            }
        }
    }
}

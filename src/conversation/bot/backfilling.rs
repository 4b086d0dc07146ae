//! Reading a channel's history because somebody there asks for it.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use muninn_platform::{IncomingMessage, Reply};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Bot;
use crate::conversation::backfill::{BackfillProgress, Backfills};
use crate::conversation::notice::Notice;
use crate::conversation::stream::show;
use crate::conversation::turn::deliver;
use crate::memory::beginning;

/// For so long the answer shows how far it is; it goes on in any case.
const SHOWN: Duration = Duration::from_mins(10);
/// A platform that shows answers more rarely shows none that grows.
const RARELY: Duration = Duration::from_secs(60);

impl Bot {
    /// Has the history of channels read by this when somebody asks for it. To be called once, before the bot runs.
    pub fn reads_history_by(&self, backfills: Arc<Backfills>) {
        // A second one would read the same once more.
        let _ = self.backfills.set(backfills);
    }

    /// Begins to read from the day on that `since` names, or says how far it is.
    pub(super) async fn backfill(
        self: &Arc<Self>,
        message: &IncomingMessage,
        since: Option<&str>,
        mut reply: Box<dyn Reply>,
    ) {
        match self.begun(message, since, reply.as_ref()) {
            Ok(watched) if since.is_some() && reply.pace().update_every < RARELY => {
                // Nobody who asks something waits for it.
                self.spawn(async move {
                    let said = shown(watched, reply.as_mut()).await;
                    deliver(reply.as_mut(), &said).await;
                });
            }
            Ok(watched) => {
                let progress = watched.borrow().clone();
                deliver(reply.as_mut(), &as_it_goes_on(&progress)).await;
            }
            Err(said) => {
                deliver(reply.as_mut(), &said).await;
            }
        }
    }

    /// # Errors
    /// What is said instead.
    fn begun(
        &self,
        message: &IncomingMessage,
        since: Option<&str>,
        reply: &dyn Reply,
    ) -> Result<watch::Receiver<BackfillProgress>, String> {
        let channel = message.channel();
        let Some(backfills) = self.backfills.get() else {
            return Err(Notice::NoHistory.to_string());
        };
        let Some(since) = since else {
            let under_way = backfills.under_way(channel);
            return under_way.ok_or_else(|| Notice::NoBackfill.to_string());
        };
        if !message.author.is_admin {
            return Err(Notice::ModeratorNeededToBackfill(reply.vocabulary()).to_string());
        }
        let zone = self.turns.get().recaller.time_zone_of(message);
        let today = Utc::now().with_timezone(&zone).date_naive();
        let day = beginning(since, today)
            .ok_or_else(|| Notice::NoSuchDay(since.to_owned()).to_string())?;
        let begun = backfills.begin(channel, day);
        begun.map_err(|error| Notice::NotBackfilled(error).to_string())
    }
}

/// Shows how far it is until it is over, or long enough; gives what is said then.
async fn shown(mut watched: watch::Receiver<BackfillProgress>, reply: &mut dyn Reply) -> String {
    let (text, texts) = watch::channel(watched.borrow().to_string());
    let until = Instant::now() + SHOWN;
    let following = async move {
        loop {
            let progress = watched.borrow_and_update().clone();
            if progress.is_over() {
                return progress.to_string();
            }
            // What shows it lives as long as this.
            let _ = text.send(progress.to_string());
            match timeout_at(until, watched.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return as_it_goes_on(&progress),
            }
        }
    };
    show(reply, texts, following).await
}

fn as_it_goes_on(progress: &BackfillProgress) -> String {
    if progress.is_over() {
        return progress.to_string();
    }
    format!("{progress} I go on; say `backfill` to see how far I am.")
}

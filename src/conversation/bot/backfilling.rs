//! Reads a channel's history when somebody there asks for it.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use muninn_platform::{IncomingMessage, Language, Reply};
use muninn_texts::text;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Bot;
use crate::conversation::backfill::{BackfillProgress, Backfills};
use crate::conversation::notice::Notice;
use crate::conversation::stream::show_while_writing;
use crate::conversation::turn::deliver;
use crate::memory::beginning;

/// How long the answer shows progress. The backfill continues in any case.
const PROGRESS_DURATION: Duration = Duration::from_mins(10);
/// A platform that updates answers less often than this shows no progress.
const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

impl Bot {
    /// Sets what reads the history of channels on request. To be called once, before the bot runs.
    pub fn set_backfills(&self, backfills: Arc<Backfills>) {
        // A second one would read the same history again.
        let _ = self.backfills.set(backfills);
    }

    /// Starts a backfill from the day that `since` names, or reports its progress.
    pub(super) async fn backfill(
        self: &Arc<Self>,
        message: &IncomingMessage,
        since: Option<&str>,
        mut reply: Box<dyn Reply>,
    ) {
        let language = message.language();
        match self.begin_backfill(message, since, reply.as_ref()) {
            Ok(watched) if since.is_some() && reply.pace().update_every < MAX_PROGRESS_INTERVAL => {
                // The person who asks does not have to wait for it.
                self.spawn(async move {
                    let said = show_progress(watched, reply.as_mut(), language).await;
                    deliver(reply.as_mut(), &said).await;
                });
            }
            Ok(watched) => {
                let progress = watched.borrow().clone();
                deliver(reply.as_mut(), &as_it_goes_on(&progress, language)).await;
            }
            Err(said) => {
                deliver(reply.as_mut(), &said).await;
            }
        }
    }

    /// # Errors
    /// Returns the notice to show instead.
    fn begin_backfill(
        &self,
        message: &IncomingMessage,
        since: Option<&str>,
        reply: &dyn Reply,
    ) -> Result<watch::Receiver<BackfillProgress>, String> {
        let (channel, language) = (message.channel(), message.language());
        let Some(backfills) = self.backfills.get() else {
            return Err(Notice::NoHistory.in_language(language));
        };
        let Some(since) = since else {
            let under_way = backfills.under_way(channel);
            return under_way.ok_or_else(|| Notice::NoBackfill.in_language(language));
        };
        if !message.may_moderate(channel) {
            let notice = Notice::ModeratorNeededToBackfill(reply.vocabulary());
            return Err(notice.in_language(language));
        }
        let zone = self.turns.load().recaller.time_zone_of(message);
        let today = Utc::now().with_timezone(&zone).date_naive();
        let day = beginning(since, today)
            .ok_or_else(|| Notice::NoSuchDay(since.to_owned()).in_language(language))?;
        let begun = backfills.begin(channel, day, zone);
        begun.map_err(|error| Notice::NotBackfilled(error).in_language(language))
    }
}

/// Shows progress until the backfill ends or [`PROGRESS_DURATION`] has passed. Returns the final text.
async fn show_progress(
    mut watched: watch::Receiver<BackfillProgress>,
    reply: &mut dyn Reply,
    language: Language,
) -> String {
    let said = move |progress: &BackfillProgress| progress.text().in_language(language);
    let first = said(&watched.borrow());
    let (text, texts) = watch::channel(first);
    let until = Instant::now() + PROGRESS_DURATION;
    let following = async move {
        loop {
            let progress = watched.borrow_and_update().clone();
            if progress.is_over() {
                return said(&progress);
            }
            // The receiver lives as long as this loop.
            let _ = text.send(said(&progress));
            match timeout_at(until, watched.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return as_it_goes_on(&progress, language),
            }
        }
    };
    show_while_writing(reply, texts, following).await
}

fn as_it_goes_on(progress: &BackfillProgress, language: Language) -> String {
    let first = progress.text();
    let said = if progress.is_over() {
        first
    } else {
        text!("two-sentences", first, next = text!("backfill-goes-on"))
    };
    said.in_language(language)
}

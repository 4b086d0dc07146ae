//! Reads the history of a channel from before the bot listened there.
//!
//! It reads page by page at the pace that the platform allows. Its position is kept in a file, written only after the
//! page has been stored. After a kill it continues from there, and messages read twice are recognised by their event.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use muninn_platform::{
    AudienceId, HeardAudiences, Histories, HistoryError, HistoryPage, RetryBudget, TimeZone,
    midnight, rate_limit_pause,
};
use muninn_texts::{Text, Value, text};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a platform may be unreachable before a backfill is given up until the next start.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(3_600);
/// Pause where a platform asks for one without saying how long.
const DEFAULT_RATE_LIMIT_PAUSE: Duration = Duration::from_secs(60);
const MAX_RATE_LIMIT_PAUSE: Duration = Duration::from_secs(900);
/// A backfill that made no progress for this long does not go on at a start: nobody expects it any more.
const MAX_INTERRUPTION: Duration = Duration::from_hours(30 * 24);
/// How often to check whether a disconnected platform is connected again.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The progress of a backfill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackfillProgress {
    pub messages: usize,
    /// When the most recently read message was sent.
    pub reached: Option<DateTime<Utc>>,
    pub state: BackfillState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackfillState {
    Reading,
    /// The platform asked for a pause of so many seconds.
    Resting(u64),
    Done,
    /// Why, as the end of a sentence.
    Stopped(Text),
}

impl BackfillProgress {
    pub fn is_over(&self) -> bool {
        match self.state {
            BackfillState::Reading | BackfillState::Resting(_) => false,
            BackfillState::Done | BackfillState::Stopped(_) => true,
        }
    }
}

impl BackfillProgress {
    pub fn text(&self) -> Text {
        let messages = text!("count-messages", count = self.messages);
        match (&self.state, self.reached.as_ref().map(Value::date)) {
            (BackfillState::Done, _) => text!("backfill-done", messages),
            (BackfillState::Stopped(why), _) => text!("backfill-stopped", messages, why),
            (BackfillState::Reading, None) => text!("backfill-reading", messages),
            (BackfillState::Reading, Some(date)) => text!("backfill-reading-at", messages, date),
            (BackfillState::Resting(seconds), None) => {
                text!("backfill-resting", messages, seconds = *seconds)
            }
            (BackfillState::Resting(seconds), Some(date)) => {
                text!("backfill-resting-at", messages, date, seconds = *seconds)
            }
        }
    }
}

/// For the operator.
impl std::fmt::Display for BackfillProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.text())
    }
}

/// Why no backfill was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum BackfillError {
    NotRemembered(AudienceId),
    NoPlatform(AudienceId),
    Future(NaiveDate),
}

impl BackfillError {
    /// The reason, as part of a sentence.
    pub fn text(&self) -> Text {
        match self {
            Self::NotRemembered(place) => {
                text!("backfill-not-remembered", place = place.as_str())
            }
            Self::NoPlatform(place) => text!("backfill-no-platform", place = place.as_str()),
            Self::Future(day) => text!("backfill-future", day = *day),
        }
    }
}

/// What is stored of a backfill between two pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    channel: AudienceId,
    since: DateTime<Utc>,
    at: Option<String>,
    messages: usize,
}

type Watched = watch::Receiver<BackfillProgress>;

/// All backfills of a process.
#[derive(Debug)]
pub struct Backfills {
    folder: PathBuf,
    heard: HeardAudiences,
    histories: Histories,
    under_way: Mutex<HashMap<AudienceId, Watched>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Backfills {
    /// Keeps their progress in `folder`.
    pub fn new(folder: &Path, heard: HeardAudiences, histories: Histories) -> Arc<Self> {
        Arc::new(Self {
            folder: folder.to_owned(),
            heard,
            histories,
            under_way: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Starts reading a channel's history from a day on, with days in time zone `zone`. A backfill that is already
    /// running continues unchanged.
    ///
    /// # Errors
    /// Fails when there is no history to read, or when it may not be kept.
    pub fn begin(
        self: &Arc<Self>,
        channel: &AudienceId,
        since: NaiveDate,
        zone: TimeZone,
    ) -> Result<Watched, BackfillError> {
        if let Some(watched) = self.under_way(channel) {
            return Ok(watched);
        }
        let beginning = midnight(since, zone);
        if beginning > Utc::now() {
            return Err(BackfillError::Future(since));
        }
        if !self.heard.hears(channel) {
            return Err(BackfillError::NotRemembered(channel.clone()));
        }
        if self.histories.of(channel).is_none() {
            return Err(BackfillError::NoPlatform(channel.clone()));
        }
        let position = Position {
            channel: channel.clone(),
            since: beginning,
            at: None,
            messages: 0,
        };
        self.keep(&position);
        Ok(self.start(position, true))
    }

    /// The unfinished backfill of a channel.
    pub fn under_way(&self, channel: &AudienceId) -> Option<Watched> {
        let under_way = self.under_way.lock();
        let watched = under_way.get(channel)?;
        (!watched.borrow().is_over()).then(|| watched.clone())
    }

    /// Continues the backfills that an earlier process began.
    pub fn resume_all(self: &Arc<Self>) {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return tracing::warn!(%error, "no backfill is gone on with"),
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "json") {
                match read(&path) {
                    Ok(position) if is_outdated(&path) => {
                        tracing::warn!(channel = %position.channel, "a backfill was interrupted for too long; begin it again");
                        self.delete_position(&position.channel);
                    }
                    Ok(position) => {
                        tracing::info!(channel = %position.channel, "goes on with a backfill");
                        self.start(position, false);
                    }
                    Err(error) => {
                        tracing::warn!(%error, path = %path.display(), "no backfill; begin it again");
                    }
                }
            }
        }
    }

    /// Stops all backfills; they continue at the next start.
    pub async fn end(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// `is_heard`: whether people are known to be heard there.
    fn start(self: &Arc<Self>, position: Position, is_heard: bool) -> Watched {
        let (sender, watched) = watch::channel(BackfillProgress {
            messages: position.messages,
            reached: None,
            state: BackfillState::Reading,
        });
        let channel = position.channel.clone();
        self.under_way.lock().insert(channel, watched.clone());
        let backfills = Arc::clone(self);
        self.tasks.spawn(async move {
            let stop = backfills.stop.clone();
            let reading = backfills.read_all(position, is_heard, &sender);
            if stop.run_until_cancelled(reading).await.is_none() {
                tracing::info!("a backfill goes on at the next start");
            }
        });
        watched
    }

    async fn read_all(
        &self,
        mut position: Position,
        mut was_heard: bool,
        told: &watch::Sender<BackfillProgress>,
    ) {
        let mut patience = RetryBudget::new(UNREACHABLE_TIMEOUT);
        let ended = loop {
            if !self.heard.hears(&position.channel) {
                let why = text!("backfill-unheard");
                // Otherwise it would go on by itself when people are heard there again, perhaps after a year. At a start it
                // may not be known yet what they want.
                if was_heard {
                    self.delete_position(&position.channel);
                }
                told.send_modify(|it| it.state = BackfillState::Stopped(why));
                return;
            }
            was_heard = true;
            let rest = match self.read_page(&position).await {
                Ok(page) => {
                    patience = RetryBudget::new(UNREACHABLE_TIMEOUT);
                    position.messages += page.messages;
                    position.at.clone_from(&page.next);
                    told.send_modify(|progress| {
                        progress.messages = position.messages;
                        progress.reached = page.reached.or(progress.reached);
                        progress.state = BackfillState::Reading;
                    });
                    if page.next.is_none() {
                        break Ok(());
                    }
                    self.keep(&position);
                    continue;
                }
                // The next process continues.
                Err(HistoryError::Closed) => return,
                Err(HistoryError::Refused(why)) => break Err(why),
                Err(HistoryError::Limited(rest)) => {
                    let rest = rest.unwrap_or(DEFAULT_RATE_LIMIT_PAUSE);
                    rate_limit_pause(Some(rest)).min(MAX_RATE_LIMIT_PAUSE)
                }
                Err(HistoryError::Away) => match patience.pause() {
                    Some(pause) => pause,
                    None => {
                        let why = text!("backfill-away");
                        told.send_modify(|it| it.state = BackfillState::Stopped(why));
                        return;
                    }
                },
            };
            told.send_modify(|it| it.state = BackfillState::Resting(rest.as_secs()));
            tokio::time::sleep(rest).await;
        };
        self.delete_position(&position.channel);
        tracing::info!(channel = %position.channel, messages = position.messages, "a backfill is over");
        told.send_modify(|it| {
            it.state = match ended {
                Ok(()) => BackfillState::Done,
                Err(why) => BackfillState::Stopped(why),
            };
        });
    }

    async fn read_page(&self, position: &Position) -> Result<HistoryPage, HistoryError> {
        let Some(history) = self.histories.of(&position.channel) else {
            // Not connected yet.
            tokio::time::sleep(POLL_INTERVAL).await;
            return Err(HistoryError::Away);
        };
        let at = position.at.as_deref();
        history
            .read_page(&position.channel, position.since, at)
            .await
    }

    fn path(&self, channel: &AudienceId) -> PathBuf {
        let name = blake3::hash(channel.as_str().as_bytes()).to_hex();
        self.folder.join(format!("{}.json", &name[..16]))
    }

    fn keep(&self, position: &Position) {
        if let Err(error) = write(&self.path(&position.channel), position) {
            tracing::error!(%error, "how far a backfill is could not be kept; after a restart it is to be begun again");
        }
    }

    fn delete_position(&self, channel: &AudienceId) {
        match std::fs::remove_file(self.path(channel)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a backfill that is over will be begun again at the next start");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

/// Whether a backfill made no progress for long: its file is written with each page.
fn is_outdated(path: &Path) -> bool {
    let modified = std::fs::metadata(path).and_then(|file| file.modified());
    let age = modified.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > MAX_INTERRUPTION)
}

fn read(path: &Path) -> io::Result<Position> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn write(path: &Path, position: &Position) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension("new");
    std::fs::write(&new, serde_json::to_vec(position)?)?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests;

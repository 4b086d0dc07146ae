//! Reading what was said in a channel before the bot listened there.
//!
//! Page by page, at the pace that the platform allows. How far it came is kept in a file, written after what was read
//! is in good hands: after a kill it goes on there, and what is read twice is known by its event.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use muninn_platform::{
    AudienceId, HeardAudiences, Histories, HistoryError, HistoryPage, RetryBudget, TimeZone,
    midnight,
};
use muninn_texts::{Text, Value, text};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a platform may be away before a backfill is given up until the next start.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// Where a platform does not say how long it wants a rest.
const REST: Duration = Duration::from_secs(60);
const LONGEST_REST: Duration = Duration::from_secs(900);
/// How often it is looked whether a platform is connected that was not.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How far a backfill is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackfillProgress {
    pub messages: usize,
    /// When what was read last was said.
    pub reached: Option<DateTime<Utc>>,
    pub state: BackfillState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackfillState {
    Reading,
    /// The platform wants a rest of so many seconds.
    Resting(u64),
    Done,
    /// In a sentence.
    Stopped(String),
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

/// For whoever runs the bot.
impl std::fmt::Display for BackfillProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.text())
    }
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum BackfillError {
    NotRemembered(AudienceId),
    NoPlatform(AudienceId),
    Future(NaiveDate),
}

impl BackfillError {
    /// Within a sentence.
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

/// What is kept of one between two pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    channel: AudienceId,
    since: DateTime<Utc>,
    at: Option<String>,
    messages: usize,
}

type Watched = watch::Receiver<BackfillProgress>;

/// All of a process.
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
    /// How far they are is kept in `folder`.
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

    /// Reads what was said in a channel from a day on, as days begin in `zone`; one that is under way goes on as it is.
    ///
    /// # Errors
    /// When there is nothing to be read, or it may not be kept.
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
        Ok(self.start(Position {
            channel: channel.clone(),
            since: beginning,
            at: None,
            messages: 0,
        }))
    }

    /// That of a channel, if it is not over yet.
    pub fn under_way(&self, channel: &AudienceId) -> Option<Watched> {
        let under_way = self.under_way.lock();
        let watched = under_way.get(channel)?;
        (!watched.borrow().is_over()).then(|| watched.clone())
    }

    /// Goes on with what an earlier process began.
    pub fn go_on(self: &Arc<Self>) {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return tracing::warn!(%error, "no backfill is gone on with"),
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "json") {
                match read(&path) {
                    Ok(position) => {
                        tracing::info!(channel = %position.channel, "goes on with a backfill");
                        self.start(position);
                    }
                    Err(error) => {
                        tracing::warn!(%error, path = %path.display(), "no backfill; begin it again");
                    }
                }
            }
        }
    }

    /// Stops all of them; they go on at the next start.
    pub async fn end(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn start(self: &Arc<Self>, position: Position) -> Watched {
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
            let reading = backfills.read_all(position, &sender);
            if stop.run_until_cancelled(reading).await.is_none() {
                tracing::info!("a backfill goes on at the next start");
            }
        });
        watched
    }

    async fn read_all(&self, mut position: Position, told: &watch::Sender<BackfillProgress>) {
        self.keep(&position);
        let mut patience = RetryBudget::new(PATIENCE);
        let ended = loop {
            if !self.heard.hears(&position.channel) {
                let why = "what people say there is not remembered any more".to_owned();
                told.send_modify(|it| it.state = BackfillState::Stopped(why));
                return;
            }
            let rest = match self.read_page(&position).await {
                Ok(page) => {
                    patience = RetryBudget::new(PATIENCE);
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
                // The next process goes on.
                Err(HistoryError::Closed) => return,
                Err(HistoryError::Refused(why)) => break Err(why),
                Err(HistoryError::Limited(rest)) => rest.unwrap_or(REST).min(LONGEST_REST),
                Err(error @ HistoryError::Away) => match patience.pause() {
                    Some(pause) => pause,
                    None => {
                        let why = format!("{error}; I go on at the next start");
                        told.send_modify(|it| it.state = BackfillState::Stopped(why));
                        return;
                    }
                },
            };
            told.send_modify(|it| it.state = BackfillState::Resting(rest.as_secs()));
            tokio::time::sleep(rest).await;
        };
        self.let_go(&position.channel);
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
            tokio::time::sleep(LOOK_EVERY).await;
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

    fn let_go(&self, channel: &AudienceId) {
        match std::fs::remove_file(self.path(channel)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a backfill that is over will be begun again at the next start");
            }
            Ok(()) | Err(_) => {}
        }
    }
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

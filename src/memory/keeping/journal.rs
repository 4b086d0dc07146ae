//! The journal: turns that were answered while the graph was away, kept on this machine until it is back.
//!
//! It is a log of JSON lines in the order of the answers, synced before an answer is delivered. A turn
//! already has its response ID and event ID here, so that a turn replayed twice is saved once. A line adds a
//! turn, records its delivered messages, marks turns as saved in the graph, or lists forgotten events.
//! The delivered messages of a turn that the graph has are here until the graph is told of them. Outdated
//! lines are dropped whenever the file is rewritten, and forgotten turns at once.

mod set_aside;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::Utc;
use muninn_platform::{AudienceId, ConversationId, Delivered};
use serde::{Deserialize, Serialize};

use self::waiting::OfflineTurnQueue;
use crate::graph::answers::{DeliveredAnswer, ForgottenEvent};
use crate::graph::marks::CoveringMarks;
use crate::graph::{NewTurn, ResponseId, StoreError};
use private_files::line_log::{self, LineLog, PendingWrite, Slot, Slots, all_logs, read_lines};
use private_files::unnamed_file;

pub use self::set_aside::{Refused, SetAside};

/// Base name of the files.
const NAME: &str = "journal";

/// The file is rewritten when it has this many lines and most of them are outdated.
const LINES: usize = 1_024;

/// Bytes with which space on the disk is looked for; hardly a turn has more.
const PROBE_BYTES: usize = 64 * 1_024;

/// The journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("the journal {} cannot be used", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the journal {} is damaged in line {line}; move it away to start without its turns", path.display())]
    Damaged {
        path: PathBuf,
        line: usize,
        #[source]
        source: serde_json::Error,
    },
}

/// A line of the file.
#[derive(Debug, Deserialize)]
enum JournalEntry {
    Turn(Box<NewTurn>),
    Delivered(ResponseId, Delivered),
    /// These turns are in the graph.
    Done(Vec<ResponseId>),
    Forgotten(BTreeSet<ForgottenEvent>),
    /// The delivered messages of a turn that is in the graph, which was not told of them; if it was just kept, with the marks
    /// that may cover it.
    Untold(
        ResponseId,
        DeliveredAnswer,
        #[serde(default)] Option<CoveringMarks>,
    ),
}

/// The same, for writing.
#[derive(Debug, Serialize)]
enum WrittenLine<'a> {
    Turn(&'a NewTurn),
    Delivered(ResponseId, &'a Delivered),
    Done(&'a [ResponseId]),
    Forgotten(&'a BTreeSet<ForgottenEvent>),
    Untold(ResponseId, &'a DeliveredAnswer, Option<&'a CoveringMarks>),
}

/// The delivered messages of an answer, and the marks that may cover it if it was just kept.
type UntoldDelivery = (DeliveredAnswer, Option<CoveringMarks>);

/// The turns that wait for the graph.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    log: LineLog,
    state: Mutex<JournalState>,
    set_aside: SetAside,
}

/// The waiting turns, and the state of the file.
#[derive(Debug, Default)]
struct JournalState {
    waiting: OfflineTurnQueue,
    forgotten: BTreeSet<ForgottenEvent>,
    untold: BTreeMap<ResponseId, UntoldDelivery>,
    lines: usize,
}

impl JournalState {
    /// Number of lines of a file that contains only what waits.
    fn needed(&self) -> usize {
        self.waiting.len() + usize::from(!self.forgotten.is_empty()) + self.untold.len()
    }

    /// Drops what is in the graph now.
    fn remove(&mut self, turn: ResponseId) {
        self.waiting.remove(turn);
        self.untold.remove(&turn);
    }
}

impl Journal {
    /// Opens a journal of the folder that no other process uses, and takes over what is left in all unused
    /// ones.
    ///
    /// # Errors
    /// Fails when a file cannot be read, or a complete line is invalid.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        let Slots { own, left } =
            Slots::take(folder, NAME).map_err(|error| unusable(folder, error))?;
        let state = taken_over(&own, left)?;
        let path = own.path.clone();
        let log = LineLog::start(NAME, own).map_err(|error| unusable(&path, error))?;
        Ok(Self {
            path,
            log,
            state: Mutex::new(state),
            set_aside: SetAside::of(folder),
        })
    }

    /// Keeps a turn. When this returns, it survives the process and the machine.
    ///
    /// # Errors
    /// Fails when it could not be written.
    pub async fn keep(&self, turn: NewTurn) -> Result<(), JournalError> {
        self.keep_all(vec![turn]).await
    }

    /// Keeps many turns with one sync. When this returns, all of them survive the process and the machine.
    ///
    /// # Errors
    /// Fails when they could not be written; none of them is then kept.
    pub async fn keep_all(&self, turns: Vec<NewTurn>) -> Result<(), JournalError> {
        let turns: Vec<Arc<NewTurn>> = turns.into_iter().map(Arc::new).collect();
        let mut lines = Vec::new();
        for turn in &turns {
            lines.extend(self.line(&WrittenLine::Turn(turn))?);
        }
        let ids: Vec<ResponseId> = turns.iter().map(|turn| turn.turn.id).collect();
        let written = {
            // Added at once: a rewrite of the file in between must include the turns.
            let mut state = self.state();
            state.lines += turns.len();
            for turn in turns {
                state.waiting.push(turn);
            }
            self.log.append(lines, true)
        };
        let written = written.wait().await;
        if written.is_err() {
            let mut state = self.state();
            for id in ids {
                state.waiting.remove(id);
            }
        }
        written.map_err(|error| unusable(&self.path, error))
    }

    /// Checks that a turn could be written, with a file that is gone afterwards.
    ///
    /// # Errors
    /// Fails when it could not.
    pub async fn check_space(&self) -> Result<(), JournalError> {
        let folder = self.path.parent().map(Path::to_owned);
        let checked = in_background(move || {
            let mut file = unnamed_file(&folder.unwrap_or_default())?;
            io::Write::write_all(&mut file, &vec![0; PROBE_BYTES])?;
            file.sync_all()
        });
        let checked = checked.await;
        checked.map_err(|error| unusable(&self.path, error))
    }

    /// Replaces the turn with the same ID, and erases every trace of the old one. Returns whether it waits
    /// here.
    ///
    /// # Errors
    /// Fails when it could not be written.
    pub async fn revise(&self, turn: NewTurn) -> Result<bool, JournalError> {
        let written = {
            let mut state = self.state();
            if !state.waiting.replace(turn) {
                return Ok(false);
            }
            self.rewrite(&mut state)
        };
        self.wait(written).await.map(|()| true)
    }

    /// The turn of an event, if it waits here.
    pub fn turn_of_event(&self, event: &str) -> Option<NewTurn> {
        let state = self.state();
        let found = state.waiting.of_event(event);
        found.map(|turn| NewTurn::clone(turn))
    }

    /// Records the delivered messages of a waiting turn. Returns whether it waits here.
    ///
    /// # Errors
    /// Fails when it could not be written.
    pub async fn set_delivered(
        &self,
        response: ResponseId,
        delivered: &Delivered,
    ) -> Result<bool, JournalError> {
        let line = self.line(&WrittenLine::Delivered(response, delivered))?;
        let written = {
            let mut state = self.state();
            if !state.waiting.set_delivered(response, delivered) {
                return Ok(false);
            }
            state.lines += 1;
            self.log.append(line, true)
        };
        self.wait(written).await.map(|()| true)
    }

    /// Keeps the delivered messages of an answer that is in the graph, until the graph is told of them.
    ///
    /// # Errors
    /// Fails when they could not be written.
    pub async fn keep_delivery(
        &self,
        response: ResponseId,
        shown: DeliveredAnswer,
        covering: Option<CoveringMarks>,
    ) -> Result<(), JournalError> {
        let line = self.line(&WrittenLine::Untold(response, &shown, covering.as_ref()))?;
        let written = {
            let mut state = self.state();
            state.untold.insert(response, (shown, covering));
            state.lines += 1;
            self.log.append(line, true)
        };
        self.wait(written).await
    }

    /// The delivered messages of which the graph was not told yet.
    pub fn untold_deliveries(&self) -> Vec<(ResponseId, DeliveredAnswer, Option<CoveringMarks>)> {
        let state = self.state();
        let all = state.untold.iter();
        all.map(|(response, (shown, covering))| (*response, shown.clone(), covering.clone()))
            .collect()
    }

    /// Drops the delivered messages of an answer, as the graph knows of them. Does not wait for the write: after a crash the
    /// graph is told again.
    pub fn mark_delivery_told(&self, response: ResponseId) {
        let is_untold = self.state().untold.contains_key(&response);
        if is_untold {
            self.remove_saved(&[response]);
        }
    }

    /// Whether any turn of the session waits.
    pub fn holds(&self, session: &str) -> bool {
        self.state().waiting.holds(session)
    }

    /// Whether a turn waits.
    pub fn waits(&self, response: ResponseId) -> bool {
        self.state().waiting.has(response)
    }

    pub fn len(&self) -> usize {
        self.state().waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sessions with waiting turns and the number of each, longest waiting first.
    pub fn sessions(&self) -> Vec<(ConversationId, usize)> {
        self.state().waiting.sessions()
    }

    /// The longest waiting turns of some sessions, in order, at most `limit`.
    pub fn first_of(&self, sessions: &HashSet<&str>, limit: usize) -> Vec<Arc<NewTurn>> {
        self.state().waiting.first_of(sessions, limit)
    }

    /// All waiting turns, oldest first.
    pub fn all(&self) -> Vec<Arc<NewTurn>> {
        self.state().waiting.all().cloned().collect()
    }

    /// A waiting turn.
    pub fn turn(&self, response: ResponseId) -> Option<Arc<NewTurn>> {
        self.state().waiting.get(response).cloned()
    }

    /// The waiting turns of a session, oldest first.
    pub fn of_session(&self, session: &str) -> Vec<Arc<NewTurn>> {
        self.state().waiting.of_session(session).cloned().collect()
    }

    /// The turns that were set aside, in order. There are none if they cannot be read.
    pub async fn aside(&self) -> Vec<NewTurn> {
        let aside = self.set_aside.clone();
        let all = joined(move || aside.all()).await.unwrap_or_else(|error| {
            self.cannot_look_aside(&error);
            Vec::new()
        });
        all.into_iter().map(|refused| refused.turn).collect()
    }

    /// The turn of an event, if it was set aside.
    pub async fn refused_of_event(&self, event: &str) -> Option<NewTurn> {
        let mut turns = self.aside().await.into_iter();
        turns.rfind(|turn| turn.turn.event == event)
    }

    /// The waiting turns of a person in an audience, oldest first.
    pub fn turns_by(&self, audience: &AudienceId, person: &str) -> Vec<Arc<NewTurn>> {
        let state = self.state();
        let is_theirs =
            |it: &&Arc<NewTurn>| it.audience.id == *audience && it.turn.author == person;
        state.waiting.all().filter(is_theirs).cloned().collect()
    }

    /// The sessions of an audience with waiting turns, or with turns that were set aside.
    pub fn sessions_of(&self, audience: &AudienceId) -> Vec<ConversationId> {
        let mut sessions = self.state().waiting.sessions_of(audience);
        let aside = self.all_aside();
        let theirs = aside
            .iter()
            .filter(|it| it.turn.audience.id == *audience)
            .map(|it| ConversationId::new(&it.turn.turn.session));
        for session in theirs {
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        sessions
    }

    /// The same of a place and everything below it, with their audiences.
    pub fn sessions_under(&self, place: &str) -> Vec<(ConversationId, AudienceId)> {
        let under = format!("{place}/");
        let is_there = |id: &str| id == place || id.starts_with(&under);
        let (waiting, aside) = (self.all(), self.all_aside());
        let all = waiting.iter().map(AsRef::as_ref);
        let all = all.chain(aside.iter().map(|it| &it.turn));
        let there = all.filter(|it: &&NewTurn| {
            is_there(&it.turn.session) || is_there(it.audience.id.as_str())
        });
        let ids = there.map(|it| {
            (
                ConversationId::new(&it.turn.session),
                it.audience.id.clone(),
            )
        });
        ids.collect()
    }

    fn all_aside(&self) -> Vec<Refused> {
        self.set_aside.all().unwrap_or_else(|error| {
            self.cannot_look_aside(&error);
            Vec::new()
        })
    }

    /// Drops turns that are in the graph now. Does not wait for the write, as a turn that is replayed again
    /// after a crash is saved once anyway.
    pub fn remove_saved(&self, turns: &[ResponseId]) {
        if turns.is_empty() {
            return;
        }
        let line = match self.line(&WrittenLine::Done(turns)) {
            Ok(line) => line,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                return tracing::error!(error, "the journal could not be written");
            }
        };
        let mut state = self.state();
        turns.iter().for_each(|turn| state.remove(*turn));
        state.lines += 1;
        let left = state.waiting.len();
        // An empty journal is the usual case, and cheap to rewrite.
        if left == 0 || (state.lines >= LINES && left < state.lines / 2) {
            drop(self.rewrite(&mut state));
        } else {
            drop(self.log.append(line, false));
        }
    }

    /// Sets aside a turn that the graph refuses for its content.
    ///
    /// # Errors
    /// Fails when it could not be written there; it then keeps waiting.
    pub async fn set_aside(&self, turn: &NewTurn, why: &StoreError) -> Result<(), JournalError> {
        let refused = Refused {
            turn: turn.clone(),
            reason: why.to_string(),
            at: Utc::now(),
        };
        let aside = self.set_aside.clone();
        in_background(move || aside.add(&refused))
            .await
            .map_err(|error| unusable(&self.set_aside.path(), error))?;
        self.remove_saved(&[turn.turn.id]);
        Ok(())
    }

    /// Drops the turns for which `gone` is true, here and among those set aside, and erases every trace of
    /// them. Returns their number.
    ///
    /// # Errors
    /// Fails when a file could be neither rewritten nor overwritten. The turns are then dropped, but still in
    /// the file.
    pub async fn forget(
        &self,
        gone: impl Fn(&NewTurn) -> bool + Send + Sync,
    ) -> Result<usize, JournalError> {
        let (dropped, erased) = {
            let mut state = self.state();
            let all = state.waiting.all().filter(|turn| gone(turn));
            let ids: Vec<ResponseId> = all.map(|turn| turn.turn.id).collect();
            for &id in &ids {
                let turn = state.waiting.remove(id);
                let event = turn.map(|turn| ForgottenEvent::of(&turn));
                state.forgotten.extend(event);
            }
            // A turn that is in the graph already may still be in the file, and be the forgotten one.
            let is_clean = ids.is_empty() && state.lines == state.needed();
            (ids.len(), (!is_clean).then(|| self.rewrite(&mut state)))
        };
        let aside = self.forget_aside(&gone).await;
        if let Some(erased) = erased {
            self.wait(erased).await?;
        }
        Ok(dropped + aside?)
    }

    async fn forget_aside(
        &self,
        gone: &(impl Fn(&NewTurn) -> bool + Send + Sync),
    ) -> Result<usize, JournalError> {
        let unusable = |error| unusable(&self.set_aside.path(), error);
        let aside = self.set_aside.clone();
        let all = joined(move || aside.all()).await.map_err(unusable)?;
        let forgotten = || all.iter().filter(|it| gone(&it.turn)).map(|it| &it.turn);
        let ids: HashSet<ResponseId> = forgotten().map(|turn| turn.turn.id).collect();
        if ids.is_empty() {
            return Ok(0);
        }
        let events: BTreeSet<_> = forgotten().map(ForgottenEvent::of).collect();
        let line = self.line(&WrittenLine::Forgotten(&events))?;
        let written = {
            let mut state = self.state();
            state.forgotten.extend(events);
            state.lines += 1;
            self.log.append(line, true)
        };
        self.wait(written).await?;
        let aside = self.set_aside.clone();
        let taken = joined(move || aside.take_where(|turn| ids.contains(&turn.turn.id))).await;
        taken.map(|taken| taken.len()).map_err(unusable)
    }

    /// Queues the turns that were set aside again. Returns how many there were.
    ///
    /// # Errors
    /// Fails when a file could not be read or written.
    pub async fn retry_set_aside(&self) -> Result<usize, JournalError> {
        let unusable = |error| unusable(&self.set_aside.path(), error);
        let aside = self.set_aside.clone();
        let all = joined(move || aside.all()).await.map_err(unusable)?;
        let ids: HashSet<ResponseId> = all.iter().map(|it| it.turn.turn.id).collect();
        let turns = all.len();
        // Written here before they are removed there: after a crash in between they are in both, and are
        // saved once.
        for refused in all {
            self.keep(refused.turn).await?;
        }
        let aside = self.set_aside.clone();
        joined(move || aside.take_where(|turn| ids.contains(&turn.turn.id)))
            .await
            .map_err(unusable)?;
        Ok(turns)
    }

    /// Events whose turns were forgotten here, and of which the graph was not told yet.
    pub fn forgotten(&self) -> BTreeSet<ForgottenEvent> {
        self.state().forgotten.clone()
    }

    /// Marks events as known to the graph. Does not wait for the write: after a crash the graph is told
    /// again.
    pub fn mark_reported(&self, events: &BTreeSet<ForgottenEvent>) {
        let mut state = self.state();
        state.forgotten.retain(|it| !events.contains(it));
        drop(self.rewrite(&mut state));
    }

    fn state(&self) -> std::sync::MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, of: &WrittenLine<'_>) -> Result<Vec<u8>, JournalError> {
        line_log::json_line(of).map_err(|error| unusable(&self.path, error))
    }

    /// Rewrites the file with the waiting turns only.
    fn rewrite(&self, state: &mut JournalState) -> PendingWrite {
        let turns: Vec<Arc<NewTurn>> = state.waiting.all().cloned().collect();
        let forgotten = state.forgotten.clone();
        state.lines = state.needed();
        let left: HashSet<ResponseId> = turns.iter().map(|turn| turn.turn.id).collect();
        let is_gone = move |line: &[u8]| match parse(line) {
            Ok(JournalEntry::Turn(turn)) => !left.contains(&turn.turn.id),
            Ok(JournalEntry::Delivered(response, _)) => !left.contains(&response),
            Ok(JournalEntry::Done(_) | JournalEntry::Forgotten(_) | JournalEntry::Untold(..)) => {
                false
            }
            // It is unknown what the file contains.
            Err(_) => true,
        };
        let untold = state.untold.clone();
        let lines = move |out: &mut dyn io::Write| write_all(out, &turns, &forgotten, &untold);
        self.log.erase(lines, is_gone)
    }

    async fn wait(&self, written: PendingWrite) -> Result<(), JournalError> {
        let written = written.wait().await;
        written.map_err(|error| unusable(&self.path, error))
    }

    fn cannot_look_aside(&self, error: &io::Error) {
        tracing::error!(
            error = error as &dyn std::error::Error,
            path = %self.set_aside.path().display(),
            "the turns that were set aside cannot be read"
        );
    }
}

/// Returns how many turns wait in a folder, for any process.
///
/// # Errors
/// Fails when a file cannot be read, or a complete line is invalid.
pub fn waiting_in(folder: &Path) -> Result<usize, JournalError> {
    let mut turns = 0;
    let paths = all_logs(folder, NAME).map_err(|error| unusable(folder, error))?;
    for path in paths {
        let mut state = JournalState::default();
        read(&path, &mut state)?;
        turns += state.waiting.len();
    }
    Ok(turns)
}

/// Moves what is left in the files into one of them.
fn taken_over(own: &Slot, left: Vec<Slot>) -> Result<JournalState, JournalError> {
    let mut state = JournalState::default();
    read(&own.path, &mut state)?;
    for slot in &left {
        read(&slot.path, &mut state)?;
    }
    if !left.is_empty() {
        // IDs increase with time, so each session keeps its order.
        let mut turns: Vec<Arc<NewTurn>> = state.waiting.all().cloned().collect();
        turns.sort_by_key(|turn| turn.turn.id);
        state.waiting = OfflineTurnQueue::default();
        turns.into_iter().for_each(|turn| state.waiting.push(turn));
    }
    // Without outdated lines, and without an incomplete line at the end.
    let turns: Vec<Arc<NewTurn>> = state.waiting.all().cloned().collect();
    state.lines = state.needed();
    let is_there = own
        .path
        .try_exists()
        .map_err(|error| unusable(&own.path, error))?;
    if is_there || state.lines > 0 {
        line_log::replace(&own.path, |out| {
            write_all(out, &turns, &state.forgotten, &state.untold)
        })
        .map_err(|error| unusable(&own.path, error))?;
    }
    for slot in left {
        std::fs::remove_file(&slot.path).map_err(|error| unusable(&slot.path, error))?;
    }
    Ok(state)
}

fn write_all(
    out: &mut dyn io::Write,
    turns: &[Arc<NewTurn>],
    forgotten: &BTreeSet<ForgottenEvent>,
    untold: &BTreeMap<ResponseId, UntoldDelivery>,
) -> io::Result<()> {
    for turn in turns {
        out.write_all(&line_log::json_line(&WrittenLine::Turn(turn))?)?;
    }
    for (response, (shown, covering)) in untold {
        let line = WrittenLine::Untold(*response, shown, covering.as_ref());
        out.write_all(&line_log::json_line(&line)?)?;
    }
    if forgotten.is_empty() {
        return Ok(());
    }
    out.write_all(&line_log::json_line(&WrittenLine::Forgotten(forgotten))?)
}

fn read(path: &Path, state: &mut JournalState) -> Result<(), JournalError> {
    enum Unread {
        Io(io::Error),
        Damaged(usize, serde_json::Error),
    }
    impl From<io::Error> for Unread {
        fn from(error: io::Error) -> Self {
            Self::Io(error)
        }
    }
    let read = read_lines(path, |number, line| {
        let line = parse(line).map_err(|error| Unread::Damaged(number, error))?;
        match line {
            JournalEntry::Turn(turn) => state.waiting.push(Arc::new(*turn)),
            JournalEntry::Delivered(response, delivered) => {
                state.waiting.set_delivered(response, &delivered);
            }
            JournalEntry::Done(turns) => {
                turns.into_iter().for_each(|turn| state.remove(turn));
            }
            JournalEntry::Forgotten(events) => state.forgotten.extend(events),
            JournalEntry::Untold(response, shown, covering) => {
                state.untold.insert(response, (shown, covering));
            }
        }
        Ok::<(), Unread>(())
    });
    read.map_err(|unread| match unread {
        Unread::Io(error) => unusable(path, error),
        Unread::Damaged(line, source) => JournalError::Damaged {
            path: path.to_owned(),
            line,
            source,
        },
    })
}

/// Parses a line; earlier versions wrote plain turns.
fn parse(line: &[u8]) -> Result<JournalEntry, serde_json::Error> {
    serde_json::from_slice(line).or_else(|error| {
        let turn = serde_json::from_slice(line).map_err(|_| error)?;
        Ok(JournalEntry::Turn(turn))
    })
}

async fn in_background(act: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    joined(act).await
}

async fn joined<T: Send + 'static>(
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(act)
        .await
        .map_err(io::Error::other)?
}

fn unusable(path: &Path, source: io::Error) -> JournalError {
    JournalError::Unusable {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;

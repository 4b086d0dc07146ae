//! The hearing rules as people set them: what may be remembered of what they say to one another.

pub mod past;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ChannelMemory};
use serde_json::{Value, json};

use self::past::{PastHearing, PastKind};
use super::GraphStore;
use super::record::{list, params, text};
use super::statements::hearing as statements;
use crate::graph::StoreError;
use crate::graph::engine::{Engine as _, Row};

/// The rules of an audience.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptHearing {
    /// What people asked to be remembered there; `None` if only the settings apply.
    pub memory: Option<ChannelMemory>,
    /// Whether people were told that they are heard.
    pub is_announced: bool,
    /// Authors who opted out.
    pub opted_out: HashSet<String>,
    /// Conversations that are off the record; the audience's own ID stands for all of them.
    pub off_record: HashSet<String>,
    /// What of this people took back since.
    pub past: PastHearing,
}

/// A change of an audience's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HearingChange {
    Memory(ChannelMemory),
    /// An author.
    OptOut(String),
    OptIn(String),
    /// A conversation, or the audience.
    OffTheRecord(String),
    OnTheRecord(String),
}

impl HearingChange {
    /// What of it still matters for older messages after it was taken back.
    fn past_kind(&self) -> Option<PastKind> {
        match self {
            Self::Memory(_) | Self::OptOut(_) => None,
            Self::OptIn(_) => Some(PastKind::OptedIn),
            Self::OffTheRecord(_) => Some(PastKind::Off),
            Self::OnTheRecord(_) => Some(PastKind::On),
        }
    }
}

impl KeptHearing {
    /// Applies a change that somebody asked for at some time.
    pub fn apply(&mut self, change: &HearingChange, at: DateTime<Utc>) {
        match change {
            HearingChange::Memory(memory) => {
                self.memory = Some(*memory);
                self.is_announced &= *memory == ChannelMemory::Channel;
            }
            HearingChange::OptOut(author) => {
                self.opted_out.insert(author.clone());
            }
            HearingChange::OptIn(author) => {
                if self.opted_out.remove(author) {
                    self.past.add(at, PastKind::OptedIn, author);
                }
            }
            HearingChange::OffTheRecord(place) => {
                if self.off_record.insert(place.clone()) {
                    self.past.add(at, PastKind::Off, place);
                }
            }
            HearingChange::OnTheRecord(place) => {
                if self.off_record.remove(place) {
                    self.past.add(at, PastKind::On, place);
                }
            }
        }
    }
}

impl GraphStore {
    /// The rules of all audiences that have any.
    pub async fn hearing(&self) -> Result<HashMap<AudienceId, KeptHearing>, StoreError> {
        let rows = self
            .engine
            .read(statements::READ, params(json!({})))
            .await?;
        let kept = |row: &Row| {
            let memory = text(row, "memory");
            let kept = KeptHearing {
                memory: memory.and_then(|name| ChannelMemory::parse(&name)),
                is_announced: row.get("announcedAt").is_some_and(|at| !at.is_null()),
                opted_out: strings(row, "optedOut"),
                off_record: strings(row, "offRecord"),
                past: past_of(row),
            };
            Some((AudienceId::new(text(row, "audience")?), kept))
        };
        Ok(rows.iter().filter_map(kept).collect())
    }

    /// Changes the rules of an audience, as somebody asked for at some time.
    pub async fn change_hearing(
        &self,
        audience: &Audience,
        change: &HearingChange,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let (statement, item) = match change {
            HearingChange::Memory(ChannelMemory::Channel) => (statements::HEAR, ""),
            HearingChange::Memory(ChannelMemory::Asked) => (statements::HEAR_NOBODY, ""),
            HearingChange::OptOut(author) => (statements::OPT_OUT, author.as_str()),
            HearingChange::OptIn(author) => (statements::OPT_IN, author.as_str()),
            HearingChange::OffTheRecord(place) => (statements::OFF_RECORD, place.as_str()),
            HearingChange::OnTheRecord(place) => (statements::ON_RECORD, place.as_str()),
        };
        let mut bound = params(of(audience));
        bound.insert("item".to_owned(), json!(item));
        if let Some(kind) = change.past_kind() {
            let entry = past::entry(at, kind, item);
            bound.insert("entry".to_owned(), json!(entry));
        }
        let rows = self.engine.write(statement, bound).await?;
        let too_long = |row: &Row| past_of(row).too_long_until();
        let Some(since) = rows.first().and_then(too_long) else {
            return Ok(());
        };
        let bound = json!({
            "audience": audience.id.as_str(), "since": past::time(since),
            "entry": past::entry(since, PastKind::Covered, ""),
        });
        let drop_old = self
            .engine
            .write(statements::DROP_OLD_ENTRIES, params(bound));
        drop_old.await.map(drop)
    }

    /// Whether people in an audience must be told now that they are heard. From this call on they count as
    /// told.
    pub async fn claim_announcement(&self, audience: &Audience) -> Result<bool, StoreError> {
        let mut bound = params(of(audience));
        bound.insert("now".to_owned(), json!(Utc::now().to_rfc3339()));
        let rows = self.engine.write(statements::ANNOUNCES, bound).await?;
        Ok(!rows.is_empty())
    }

    /// Undoes the claim, as they could not be told.
    pub async fn release_announcement(&self, audience: &AudienceId) -> Result<(), StoreError> {
        let bound = params(json!({"audience": audience.as_str()}));
        let set = self.engine.write(statements::NOT_ANNOUNCED, bound);
        set.await.map(drop)
    }
}

fn of(audience: &Audience) -> Value {
    json!({
        "audience": audience.id.as_str(), "platform": audience.platform,
        "workspace": audience.workspace, "name": audience.name,
    })
}

fn strings(row: &Row, column: &str) -> HashSet<String> {
    let all = list(row, column).iter();
    all.filter_map(|it| it.as_str().map(str::to_owned))
        .collect()
}

fn past_of(row: &Row) -> PastHearing {
    let entries = list(row, "pastHearing").iter();
    PastHearing::parse(entries.filter_map(Value::as_str))
}

//! The hearing rules as people set them: what may be remembered of what they say to one another.

use std::collections::{HashMap, HashSet};

use chrono::Utc;
use muninn_platform::{Audience, AudienceId, ChannelMemory};
use serde_json::{Value, json};

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

impl KeptHearing {
    /// Applies a change.
    pub fn apply(&mut self, change: &HearingChange) {
        match change {
            HearingChange::Memory(memory) => {
                self.memory = Some(*memory);
                self.is_announced &= *memory == ChannelMemory::Channel;
            }
            HearingChange::OptOut(author) => {
                self.opted_out.insert(author.clone());
            }
            HearingChange::OptIn(author) => {
                self.opted_out.remove(author);
            }
            HearingChange::OffTheRecord(place) => {
                self.off_record.insert(place.clone());
            }
            HearingChange::OnTheRecord(place) => {
                self.off_record.remove(place);
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
            };
            Some((AudienceId::new(text(row, "audience")?), kept))
        };
        Ok(rows.iter().filter_map(kept).collect())
    }

    pub async fn change_hearing(
        &self,
        audience: &Audience,
        change: &HearingChange,
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
        self.engine.write(statement, bound).await.map(drop)
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

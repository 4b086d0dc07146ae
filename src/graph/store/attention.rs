//! The attention that people set for a conversation and an audience, and how often the model chose not to
//! answer.

use chrono::{DateTime, Utc};
use muninn_platform::{Attention, Audience, AudienceId, ConversationId};
use serde_json::json;

use super::GraphStore;
use super::record::{integer, params, text};
use super::single;
use super::statements::attention as statements;
use crate::graph::StoreError;
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Row};
use crate::graph::session::SessionGuard;

/// The settings of a conversation and of its audience.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptAttention {
    pub session: Attention,
    pub audience: Attention,
    /// How often the model chose not to answer in the conversation.
    pub silences: u64,
    pub last_silent_at: Option<DateTime<Utc>>,
}

impl KeptAttention {
    /// The effective setting: the stricter of the two.
    pub fn attention(&self) -> Attention {
        self.session.max(self.audience)
    }
}

impl GraphStore {
    pub async fn attention(
        &self,
        session: &ConversationId,
        audience: &AudienceId,
    ) -> Result<KeptAttention, StoreError> {
        let bound = json!({"session": session.as_str(), "audience": audience.as_str()});
        let rows = self.engine.read(statements::READ, params(bound)).await?;
        let row = single(&rows)?;
        Ok(KeptAttention {
            session: attention(row, "session"),
            audience: attention(row, "audience"),
            silences: u64::try_from(integer(row, "silences")).unwrap_or_default(),
            last_silent_at: row.get("lastSilentAt").and_then(instant),
        })
    }

    /// Returns whether the session exists.
    pub async fn set_session_attention(
        &self,
        guard: &SessionGuard,
        attention: Attention,
    ) -> Result<bool, StoreError> {
        let bound = json!({"session": guard.session().as_str(), "attention": attention.name()});
        let set = self.engine.write(statements::OF_SESSION, params(bound));
        Ok(!set.await?.is_empty())
    }

    pub async fn set_audience_attention(
        &self,
        audience: &Audience,
        attention: Attention,
    ) -> Result<(), StoreError> {
        let bound = json!({
            "audience": audience.id.as_str(), "platform": audience.platform,
            "workspace": audience.workspace, "name": audience.name,
            "attention": attention.name(),
        });
        let set = self.engine.write(statements::OF_AUDIENCE, params(bound));
        set.await.map(drop)
    }

    /// Records that the model chose not to answer.
    pub async fn record_silence(&self, guard: &SessionGuard) -> Result<(), StoreError> {
        let bound = json!({"session": guard.session().as_str(), "at": Utc::now().to_rfc3339()});
        let set = self.engine.write(statements::SILENT, params(bound));
        set.await.map(drop)
    }
}

fn attention(row: &Row, column: &str) -> Attention {
    let name = text(row, column);
    name.and_then(|name| Attention::parse(&name))
        .unwrap_or_default()
}

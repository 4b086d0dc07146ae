//! Telling adapters what the bot remembers of their platforms.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, Incoming, KeptMessage, OwnSession};
use tokio::sync::oneshot;

use super::Bot;
use crate::graph::answers::WhichSessions;

impl Bot {
    pub(super) fn tell_conversations(
        self: &Arc<Self>,
        prefix: String,
        most: usize,
        found: oneshot::Sender<Vec<ConversationId>>,
    ) {
        let bot = Arc::clone(self);
        self.spawn(async move {
            let store = bot.archive.store();
            let newest = WhichSessions::Newest {
                prefix: &prefix,
                most,
            };
            match store.find_sessions(newest).await {
                // Who asked may not wait any more.
                Ok(all) => drop(found.send(all.into_iter().map(|(session, _)| session).collect())),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "the conversations cannot be read");
                }
            }
        });
    }

    pub(super) fn tell_sessions(
        self: &Arc<Self>,
        person: String,
        prefix: String,
        found: oneshot::Sender<Vec<OwnSession>>,
    ) {
        let bot = Arc::clone(self);
        self.spawn(async move {
            let store = bot.archive.store();
            let most = Incoming::MOST_SESSIONS;
            match store.own_sessions(&person, &prefix, most).await {
                // Who asked may not wait any more.
                Ok(sessions) => drop(found.send(sessions)),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "somebody's sessions cannot be read");
                }
            }
        });
    }

    pub(super) fn tell_kept(
        self: &Arc<Self>,
        audience: AudienceId,
        since: DateTime<Utc>,
        most: usize,
        found: oneshot::Sender<Vec<KeptMessage>>,
    ) {
        let bot = Arc::clone(self);
        self.spawn(async move {
            let store = bot.archive.store();
            match store.kept_since(&audience, since, most).await {
                // Who asked may not wait any more.
                Ok(kept) => drop(found.send(kept)),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "the messages of an audience cannot be read");
                }
            }
        });
    }
}

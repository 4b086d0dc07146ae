//! Answers the adapters' questions about what the bot remembers of their platforms.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, Incoming, KeptMessage, OwnSession};
use tokio::sync::oneshot;

use super::Bot;
use crate::graph::StoreError;
use crate::graph::answers::WhichSessions;

impl Bot {
    pub(super) fn tell_conversations(
        self: &Arc<Self>,
        prefix: String,
        most: usize,
        found: oneshot::Sender<Vec<ConversationId>>,
    ) {
        let store = Arc::clone(self.archive.store());
        self.tell(found, async move {
            let prefix = &prefix;
            let newest = WhichSessions::Newest { prefix, most };
            let all = store.find_sessions(newest).await?;
            Ok(all.into_iter().map(|(session, _)| session).collect())
        });
    }

    pub(super) fn tell_sessions(
        self: &Arc<Self>,
        person: String,
        prefix: String,
        found: oneshot::Sender<Vec<OwnSession>>,
    ) {
        let store = Arc::clone(self.archive.store());
        self.tell(found, async move {
            let most = Incoming::MOST_SESSIONS;
            store.own_sessions(&person, &prefix, most).await
        });
    }

    pub(super) fn tell_kept(
        self: &Arc<Self>,
        audience: AudienceId,
        since: DateTime<Utc>,
        most: usize,
        found: oneshot::Sender<Vec<KeptMessage>>,
    ) {
        // Messages in flight are collected before those in the graph, so that none is missed in between.
        let mut under_way = self.pending.left_over_in(&audience);
        under_way.extend(self.in_flight.in_audience(&audience));
        under_way.extend(self.archive.waiting_in(&audience));
        let store = Arc::clone(self.archive.store());
        self.tell(found, async move {
            let kept = store.messages_since(&audience, since, most).await?;
            Ok(under_way.into_iter().chain(kept).collect())
        });
    }

    /// Passes on what the graph returns. When the graph fails, the sender is dropped, which tells the caller.
    fn tell<T: Send + 'static>(
        self: &Arc<Self>,
        found: oneshot::Sender<T>,
        asked: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) {
        self.spawn(async move {
            match asked.await {
                // The caller may have stopped waiting.
                Ok(all) => drop(found.send(all)),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "what an adapter asks for cannot be read");
                }
            }
        });
    }
}

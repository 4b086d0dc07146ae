//! Finds edits and deletions of kept messages that happened while the bot was offline: Slack
//! reports them only once.

use std::collections::{BTreeMap, BTreeSet};

use muninn_platform::{InboxClosed, KeptMessage, PageOrder, ReadPages};
use serde_json::{Value, json};

use crate::event::Push;
use crate::ids::{self, PlaceInChannel, SlackPlace};
use crate::missed::{CatchUp, Listed};

impl CatchUp<'_> {
    /// Delivers the edits and deletions of kept messages since then; returns their number.
    ///
    /// # Errors
    /// Fails when the bot is ending.
    pub(crate) async fn follow_changes(
        &mut self,
        channels: &[Listed],
    ) -> Result<usize, InboxClosed> {
        let inbound = self.inbound;
        let hub = &inbound.hub;
        let (mut changed, mut threads) = (0, self.extent.changed_threads);
        for channel in channels {
            // It would take hours.
            if hub.reading.is_little() {
                tracing::info!(
                    "edits and deletions of meanwhile are not followed: Slack gives this app little at once"
                );
                break;
            }
            let audience = ids::audience(&hub.me.team, &channel.id);
            let Some(kept) = inbound.inbox.request_kept_messages(&audience).await? else {
                self.is_incomplete = true;
                continue;
            };
            let kept = KeptChannelMessages::of(&kept);
            changed += self.deliver_changes(channel, None, &kept.main).await?;
            // Newest threads first.
            for (root, kept) in kept.threads.iter().rev().take(threads) {
                changed += self.deliver_changes(channel, Some(root), kept).await?;
            }
            threads = threads.saturating_sub(kept.threads.len());
        }
        Ok(changed)
    }

    async fn deliver_changes(
        &mut self,
        channel: &Listed,
        thread: Option<&str>,
        kept: &BTreeSet<String>,
    ) -> Result<usize, InboxClosed> {
        let Some(oldest) = kept.first() else {
            return Ok(0);
        };
        let mut arguments = vec![
            ("channel", channel.id.as_str()),
            ("oldest", oldest.as_str()),
            ("inclusive", "true"),
            ("limit", "999"),
        ];
        arguments.extend(thread.map(|root| ("ts", root)));
        // What is kept and was not read must not count as deleted, so there may be no gap.
        let (method, order) = match thread {
            Some(_) => ("conversations.replies", PageOrder::OldestWithoutGap),
            None => ("conversations.history", PageOrder::NewestFirst),
        };
        let read = self.pages(method, "messages", order, &arguments);
        let ReadPages { items, cut } = read.await;
        self.note(cut);
        let ts = |message: Option<&Value>| Some(message?["ts"].as_str()?.to_owned());
        // A channel is read from its end, a thread from its beginning. All kept messages existed
        // before the read, also if our clock is behind Slack's.
        let newest = || kept.last().cloned();
        let covered = match (cut, thread) {
            (None, _) => newest().map(|until| (oldest.clone(), until)),
            (Some(_), None) => ts(items.last()).zip(newest()),
            (Some(_), Some(_)) => ts(items.last()).map(|until| (oldest.clone(), until)),
        };
        let Some((from, until)) = covered.filter(|(from, until)| from <= until) else {
            return Ok(0);
        };
        let looked_at = kept.range(from..=until);
        let pushes = changes(channel, thread, looked_at, &items, &self.since);
        let number = pushes.len();
        for push in pushes {
            self.inbound.take_missed(push, false).await?;
        }
        Ok(number)
    }
}

/// The kept messages of a channel, by `ts`.
#[derive(Debug, Default, PartialEq, Eq)]
struct KeptChannelMessages {
    /// Messages in the channel itself.
    main: BTreeSet<String>,
    /// Messages in threads, by the thread's root.
    threads: BTreeMap<String, BTreeSet<String>>,
}

impl KeptChannelMessages {
    fn of(messages: &[KeptMessage]) -> Self {
        let mut kept = Self::default();
        for message in messages {
            let place = SlackPlace::parse(message.conversation.as_str());
            let (Some(place), Some(ts)) = (place, ids::ts_of(&message.event)) else {
                continue;
            };
            let ts = ts.to_owned();
            match place.within {
                PlaceInChannel::Thread(root) if root != ts => {
                    kept.threads.entry(root).or_default().insert(ts);
                }
                PlaceInChannel::Thread(_) | PlaceInChannel::Main => {
                    kept.main.insert(ts);
                }
                // Nothing of it is in Slack.
                PlaceInChannel::Private(_) => {}
            }
        }
        kept
    }
}

/// Returns the changes of kept messages as Slack would have reported them; `read` are all existing
/// messages. `since`: earlier changes are known. `thread`: the root of their thread.
fn changes<'a>(
    channel: &Listed,
    thread: Option<&str>,
    kept: impl Iterator<Item = &'a String>,
    read: &[Value],
    since: &str,
) -> Vec<Push> {
    let standing: BTreeMap<&str, &Value> = read
        .iter()
        .filter_map(|message| Some((message["ts"].as_str()?, message)))
        .collect();
    let changes = kept.filter_map(|ts| match standing.get(ts.as_str()) {
        Some(message) if message["subtype"] != "tombstone" => edited(channel, ts, message, since),
        Some(_) | None => deleted(channel, ts, thread),
    });
    changes.collect()
}

fn edited(channel: &Listed, ts: &str, message: &Value, since: &str) -> Option<Push> {
    let at = message["edited"]["ts"].as_str()?;
    // Slack gives the second of an edit; of two edits within one, this is the later.
    let (second, _) = at.split_once('.')?;
    let at = Some(format!("{second}.999999")).filter(|at| at.as_str() > since)?;
    let event = json!({ "subtype": "message_changed", "ts": at, "message": message });
    channel.to_push(&format!("{ts}.edited.{at}"), event)
}

fn deleted(channel: &Listed, ts: &str, thread: Option<&str>) -> Option<Push> {
    let before = json!({ "ts": ts, "thread_ts": thread });
    let event =
        json!({ "subtype": "message_deleted", "deleted_ts": ts, "previous_message": before });
    channel.to_push(&format!("{ts}.deleted"), event)
}

#[cfg(test)]
mod tests {
    use muninn_platform::{ConversationId, EventId};

    use super::*;
    use crate::event::SlackEventKind;

    fn kept(place: &str, event: &str) -> KeptMessage {
        KeptMessage {
            event: EventId::new(format!("slack/T1/{event}")),
            conversation: ConversationId::new(format!("slack/T1/{place}")),
        }
    }

    #[test]
    fn what_stands_where_is_known_of_its_conversation() {
        let all = [
            kept("C1/1.0", "C1/1.0"),
            kept("C1/1.0", "C1/1.5"),
            kept("C1/2.0", "C1/2.0"),
            kept("C1/private/U1", "C1/3.0"),
            kept("C1/1.0", "Ev123"),
            kept("C1/main", "C1/4.0"),
        ];
        let kept = KeptChannelMessages::of(&all);
        assert_eq!(Vec::from_iter(&kept.main), ["1.0", "2.0", "4.0"]);
        assert_eq!(Vec::from_iter(&kept.threads["1.0"]), ["1.5"]);
        assert_eq!(kept.threads.len(), 1);
    }

    #[test]
    fn only_what_changed_is_told() {
        let channel = Listed::read(&json!({ "id": "C1", "is_channel": true })).unwrap();
        let kept: BTreeSet<String> = ["2.0", "3.0", "4.0", "5.0", "6.0"]
            .map(str::to_owned)
            .into();
        let read = [
            json!({ "ts": "2.0", "user": "U1", "text": "as it was" }),
            json!({ "ts": "3.0", "user": "U1", "text": "new", "edited": { "user": "U1", "ts": "7.5" } }),
            json!({ "ts": "4.0", "user": "U1", "text": "known", "edited": { "user": "U1", "ts": "6.5" } }),
            json!({ "ts": "5.0", "subtype": "tombstone", "user": "USLACKBOT" }),
        ];
        let told = changes(&channel, Some("1.0"), kept.iter(), &read, "7.0");
        let told = told.iter().map(|push| match push {
            Push::Event(event) => match &event.what {
                SlackEventKind::Changed { now, .. } => format!("{} says {}", now.ts, now.text),
                SlackEventKind::Deleted { ts, thread, .. } => format!("{ts} of {thread:?} is gone"),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        assert_eq!(
            Vec::from_iter(told),
            [
                "3.0 says new",
                "5.0 of Some(\"1.0\") is gone",
                "6.0 of Some(\"1.0\") is gone",
            ]
        );
    }
}

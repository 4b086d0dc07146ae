//! The keys of the queues that keep events in order.

use crate::event::{Push, SlackChannelKind, SlackEventKind};

/// Returns the queue of an event: its conversation, or else the person.
pub(crate) fn queue_key(push: &Push) -> String {
    let of_message = |channel: &str, thread: Option<&String>, ts: &str| {
        format!("{channel}/{}", thread.map_or(ts, String::as_str))
    };
    match push {
        Push::Event(event) => match &event.what {
            SlackEventKind::Message(message) | SlackEventKind::Changed { now: message, .. } => {
                match message.kind {
                    SlackChannelKind::Direct => message.channel.clone(),
                    SlackChannelKind::Channel => {
                        of_message(&message.channel, message.thread.as_ref(), &message.ts)
                    }
                }
            }
            SlackEventKind::Deleted {
                channel,
                kind,
                ts,
                thread,
                ..
            } => match kind {
                SlackChannelKind::Direct => channel.clone(),
                SlackChannelKind::Channel => of_message(channel, thread.as_ref(), ts),
            },
            SlackEventKind::Assistant { channel, .. } | SlackEventKind::Gone { channel } => {
                channel.clone()
            }
            SlackEventKind::Home { .. }
            | SlackEventKind::Stopped { .. }
            | SlackEventKind::Uninstalled
            | SlackEventKind::Other => event.id.clone(),
        },
        Push::Slash(slash) => format!("{}/{}", slash.channel, slash.user),
        Push::Interaction(done) => format!("{}/buttons", done.user),
        Push::RateLimited(_) | Push::Other => String::new(),
    }
}

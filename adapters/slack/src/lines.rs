//! The keys of the queues that keep events in order.

use crate::event::{EventKind, Kind, Push};

/// Returns the queue of an event: its conversation, or else the person.
pub(crate) fn line_of(push: &Push) -> String {
    let of_message = |channel: &str, thread: Option<&String>, ts: &str| {
        format!("{channel}/{}", thread.map_or(ts, String::as_str))
    };
    match push {
        Push::Event(event) => match &event.what {
            EventKind::Message(message) | EventKind::Changed { now: message, .. } => match message
                .kind
            {
                Kind::Direct => message.channel.clone(),
                Kind::Channel => of_message(&message.channel, message.thread.as_ref(), &message.ts),
            },
            EventKind::Deleted {
                channel,
                kind,
                ts,
                thread,
                ..
            } => match kind {
                Kind::Direct => channel.clone(),
                Kind::Channel => of_message(channel, thread.as_ref(), ts),
            },
            EventKind::Assistant { channel, .. } => channel.clone(),
            EventKind::Home { .. }
            | EventKind::Stopped { .. }
            | EventKind::Uninstalled
            | EventKind::Other => event.id.clone(),
        },
        Push::Slash(slash) => format!("{}/{}", slash.channel, slash.user),
        Push::Interaction(done) => format!("{}/buttons", done.user),
        Push::Other => String::new(),
    }
}

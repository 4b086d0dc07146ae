//! Lines in which what belongs together is handed on one after the other, in the order in which it
//! came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::event::{EventKind, Kind, Push};

/// The last of each line; whoever comes next waits for it.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    last: Mutex<HashMap<String, (u64, oneshot::Receiver<()>)>>,
}

/// A place in a line, left by dropping it.
#[derive(Debug)]
pub(crate) struct Place {
    lines: Arc<Lines>,
    line: String,
    number: u64,
    before: Option<oneshot::Receiver<()>>,
    /// Dropped with the place, which lets the next one go.
    _done: oneshot::Sender<()>,
}

impl Lines {
    /// Takes the next place without waiting, so that whoever came first is first.
    pub(crate) fn queue(self: &Arc<Self>, line: String) -> Place {
        let (done, is_done) = oneshot::channel();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, before) = match last.remove(&line) {
            Some((number, before)) => (number + 1, Some(before)),
            None => (0, None),
        };
        last.insert(line.clone(), (number, is_done));
        drop(last);
        Place {
            lines: Arc::clone(self),
            line,
            number,
            before,
            _done: done,
        }
    }
}

impl Place {
    /// Waits until everybody before has left.
    pub(crate) async fn turn(&mut self) {
        if let Some(before) = self.before.take() {
            // It is never sent to: the one before has dropped its end.
            let _ = before.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let lines = &self.lines.last;
        let mut last = lines.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody came after: the line is gone.
        if last
            .get(&self.line)
            .is_some_and(|(number, _)| *number == self.number)
        {
            last.remove(&self.line);
        }
    }
}

/// What is kept in order: a conversation, or what one person does beside one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn first_come_first_served() {
        let lines = Arc::new(Lines::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let places: Vec<Place> = (0..20).map(|_| lines.queue("a".to_owned())).collect();
        let mut tasks = Vec::new();
        // Started the other way round.
        for (number, mut place) in places.into_iter().enumerate().rev() {
            let order = Arc::clone(&order);
            tasks.push(tokio::spawn(async move {
                place.turn().await;
                order.lock().unwrap().push(number);
            }));
        }
        lines.queue("b".to_owned()).turn().await;
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
        assert!(lines.last.lock().unwrap().is_empty());
    }
}

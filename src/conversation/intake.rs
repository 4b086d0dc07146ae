//! What people say to one another where that is remembered: taken in beside what is asked, and not answered.

use std::sync::Arc;

use muninn_platform::{Arrival, Body, Incoming, IncomingMessage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::conversation::attention::Listening;

/// Messages that are taken in at once.
const BATCH: usize = 256;

/// Takes in what was overheard, in the order in which it came.
#[derive(Debug)]
pub struct Intake {
    pub listening: Arc<Listening>,
}

impl Intake {
    /// Takes in what comes until nothing can come any more, or until `stop`.
    pub async fn run(&self, mut overheard: mpsc::Receiver<Arrival>, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                came = overheard.recv_many(&mut batch, BATCH) => if came == 0 { return },
            }
            for arrival in batch.drain(..) {
                let (incoming, ack) = arrival.into_parts();
                if let Incoming::Overheard(message) = incoming {
                    self.take(&message);
                }
                ack.ack();
            }
        }
    }

    /// Has the rules know what was said, by which they find out what is for the bot.
    pub fn take(&self, message: &IncomingMessage) {
        metrics::counter!("muninn_overheard_total", "why" => "channel").increment(1);
        match &message.body {
            Body::Text(text) => self.listening.hold(message, text),
            Body::Deletion { of } => self.listening.let_go(of),
            Body::Command(_) | Body::Edit { .. } => {}
        }
    }
}

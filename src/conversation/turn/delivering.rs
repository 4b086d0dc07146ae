//! Delivers answers, for the first time or again, and withdraws those that must not stay.

use muninn_platform::{
    Delivered, IncomingMessage, Language, PlatformError, PrivateFallback, Reply, SafeText,
};
use tracing::Instrument as _;

use super::agreed::offer;
use super::{After, TurnError, TurnRunner, draft};
use crate::agent::telemetry;
use crate::agent::tools::proposed;
use crate::conversation::interrupt::Interrupt;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::redacted::REDACTED_ANSWER;
use crate::graph::session::SessionGuard;
use crate::graph::{NewTurn, ResponseId, Turn};

/// How the delivery of a kept answer ended.
#[derive(Debug)]
#[must_use]
pub(super) enum AnswerDelivery {
    /// It was delivered, or refused for good.
    Over,
    /// The platform was away for too long: the same answer can be delivered later.
    Away,
    /// It was delivered, and must not stay.
    Outdated(DeliveredAnswer),
}

impl TurnRunner {
    /// Delivers the existing answer to an event. Returns whether nothing more is to be delivered; false if that cannot be
    /// known now.
    pub async fn deliver_again(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        reply: &mut dyn Reply,
    ) -> bool {
        let event = &message.event;
        let delivered = async {
            match self.archive.turn_of_event(event).await? {
                Some(earlier) if earlier.is_answered() => {
                    let unhindered = Interrupt::default();
                    self.deliver_earlier(guard, message, &earlier, reply, &unhindered)
                        .await
                }
                // A heard message or a note has no answer.
                Some(_) | None => Ok(After::Earlier),
            }
        };
        match delivered.await {
            Ok(after) => after != After::EarlierUndelivered,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    %event,
                    "whether an event is answered cannot be known"
                );
                !error.is_transient()
            }
        }
    }

    /// Delivers an earlier answer if its delivery is not recorded. If it was emptied before, it is regenerated.
    pub(super) async fn deliver_earlier(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        earlier: &Turn,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<After, TurnError> {
        if earlier.delivered.is_some() {
            return Ok(After::Earlier);
        }
        tracing::info!(event = %earlier.event, response = %earlier.id, "delivered again");
        reply.expect_earlier_delivery();
        let outdated = if earlier.output == REDACTED_ANSWER {
            None
        } else {
            let showing = self.show_again(guard, earlier, message.language(), reply);
            match showing.await {
                AnswerDelivery::Over => return Ok(After::Earlier),
                AnswerDelivery::Away => return Ok(After::EarlierUndelivered),
                AnswerDelivery::Outdated(outdated) => Some(outdated),
            }
        };
        let anew = self.without_forgotten(guard, message, earlier.id, outdated, reply, interrupt);
        let regenerated = anew.await?;
        Ok(regenerated.after(After::Earlier, After::EarlierUndelivered))
    }

    /// Delivers an answer as it is kept, with its buttons.
    pub(super) async fn show_again(
        &self,
        guard: &SessionGuard,
        earlier: &Turn,
        language: Language,
        reply: &mut dyn Reply,
    ) -> AnswerDelivery {
        let store = self.archive.store();
        let mut parts = vec![earlier.output.clone()];
        match store.explain(guard.session(), Some(earlier.id)).await {
            Ok(explained) => {
                let tools = explained.map_or_else(Vec::new, |explained| explained.trace.tools);
                offer(reply, earlier.id, proposed(&tools).as_ref());
                let asks = draft::questions(&tools).into_iter();
                parts.extend(asks.map(|notice| notice.in_language(language)));
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, event = %earlier.event, "what an answer asks is not known");
            }
        }
        let text = parts.join("\n\n");
        self.deliver_turn(guard, reply, earlier.id, None, &text)
            .await
    }

    /// Delivers the answer of a turn and records that. The delivered messages must not stay if the answer was forgotten or
    /// emptied at the same moment by somebody who did not know of the delivery. `kept` is the turn if it was just kept.
    pub(super) async fn deliver_turn(
        &self,
        guard: &SessionGuard,
        reply: &mut dyn Reply,
        response: ResponseId,
        kept: Option<&NewTurn>,
        text: &str,
    ) -> AnswerDelivery {
        let delivered = match try_to_deliver(reply, text).await {
            Ok(delivered) => delivered,
            Err(error) if error.is_temporary() => return AnswerDelivery::Away,
            Err(_) => return AnswerDelivery::Over,
        };
        let session = guard.session();
        let kept = kept.map(|turn| (guard, turn));
        let recording = self.archive.delivered(session, response, kept, &delivered);
        let stands = recording.await;
        // A text that only says that something was forgotten may stay.
        let may_stand = stands || text == REDACTED_ANSWER;
        match may_stand {
            true => AnswerDelivery::Over,
            false => AnswerDelivery::Outdated(DeliveredAnswer::new(session.clone(), delivered)),
        }
    }

    /// Withdraws delivered messages that must not stay.
    pub(super) async fn withdraw_outdated(
        &self,
        reply: &dyn Reply,
        outdated: Option<DeliveredAnswer>,
    ) {
        if let Some(outdated) = outdated {
            let withdraw = reply.withdrawer();
            self.withdrawals.take_away(withdraw, outdated).await;
        }
    }
}

/// Ends the reply with a text for the author alone, where the platform supports that.
pub async fn tell_asker(reply: &mut dyn Reply, text: &str) {
    let parts = SafeText::new(text).split(reply.limit());
    taken(reply.finish_for_asker(&parts).await, "a notice");
}

/// Tells the author something that is for them alone. `otherwise` is what to do where the platform does not support that.
pub async fn tell_privately(reply: &mut dyn Reply, text: &str, otherwise: PrivateFallback) {
    deliver_privately(reply, text, otherwise).await;
}

/// As [`tell_privately`]. Returns the messages that can be withdrawn.
pub async fn deliver_privately(
    reply: &mut dyn Reply,
    text: &str,
    otherwise: PrivateFallback,
) -> Option<Delivered> {
    let parts = SafeText::new(text).split(reply.limit());
    let telling = reply.finish_privately(&parts, otherwise);
    taken(telling.await, "a private answer")
}

/// Ends the reply with a text and returns the messages that carry it. A failure is final.
pub async fn deliver(reply: &mut dyn Reply, text: &str) -> Option<Delivered> {
    try_to_deliver(reply, text).await.ok()
}

/// Ends the reply with a text. A failure is final for the adapter: if the text is an answer in the graph, a repeated delivery
/// of its event brings it.
async fn try_to_deliver(reply: &mut dyn Reply, text: &str) -> Result<Delivered, PlatformError> {
    let parts = SafeText::new(text).split(reply.limit());
    let finishing = reply.finish(&parts).instrument(telemetry::delivery());
    let finished = finishing.await;
    finished.inspect_err(|error| count_failure(error, "an answer"))
}

/// What the platform accepted; failures are counted.
fn taken<T>(delivery: Result<T, PlatformError>, what: &'static str) -> Option<T> {
    delivery
        .inspect_err(|error| count_failure(error, what))
        .ok()
}

fn count_failure(error: &PlatformError, what: &'static str) {
    metrics::counter!("muninn_undelivered_total").increment(1);
    let error = error as &dyn std::error::Error;
    tracing::warn!(error, "{what} was not delivered");
}

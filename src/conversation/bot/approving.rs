//! Tool calls that need approval. A call is made once, in time, and only when the person who was asked agrees.

use chrono::{DateTime, Utc};
use muninn_platform::{
    Command, ConversationId, EventId, IncomingMessage, Language, MessageId, Reply, ShownItem,
};
use std::time::Duration;
use uuid::Uuid;

use super::Bot;
use crate::agent::tools::{ProposedCall, proposed};
use crate::conversation::audit::AuditAction;
use crate::conversation::commands::{Decided, Decision, decision_event};
use crate::conversation::notice::{APPROVAL_LIFETIME, ApprovalNotice, Notice};
use crate::conversation::turn::deliver;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::claims::Claimed;
use crate::graph::items::ReadTurn;
use crate::graph::session::SessionGuard;
use crate::graph::{ResponseId, StoreError, Turn};
use crate::memory::TurnSaveOutcome;

/// How long a decision is claimed: longer than a question is valid, so that only one process decides.
const DECISION_CLAIM_LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// What is said to a decision.
#[derive(Debug)]
enum Said {
    Notice(String),
    /// The result of a call, and the turn that keeps it with its session.
    Result(String, ConversationId, ResponseId),
    /// The same again.
    Again(String, ReadTurn),
    /// Whoever decided had it forgotten meanwhile.
    Nothing,
}

impl Bot {
    /// Carries out or declines what somebody decided in words.
    pub(super) async fn carry_out_decision(
        &self,
        message: &IncomingMessage,
        decision: Decision,
        reply: &mut dyn Reply,
    ) {
        match decision {
            Decision::Note(note) => {
                self.handle_item_command(message, &Command::Note(note), reply)
                    .await;
            }
            Decision::Call { answer, is_yes } => {
                self.decide(message, (answer, None), is_yes, reply).await;
            }
        }
    }

    /// Carries out or declines what the pressed button belongs to.
    pub(super) async fn handle_button(
        &self,
        message: &IncomingMessage,
        item: &ShownItem,
        is_yes: bool,
        reply: &mut dyn Reply,
    ) {
        let language = message.language();
        match Uuid::parse_str(&item.id) {
            Ok(id) => {
                let asked = (ResponseId(id), Some(item.version));
                self.decide(message, asked, is_yes, reply).await;
            }
            Err(_) => drop(
                deliver(
                    reply,
                    &Notice::Approval(ApprovalNotice::Gone).in_language(language),
                )
                .await,
            ),
        }
    }

    /// Does, or leaves, what the bot asks about in a message that somebody reacted to. Says nothing where it asks nothing there.
    pub(super) async fn handle_reaction(
        &self,
        message: &IncomingMessage,
        asked: &MessageId,
        is_yes: bool,
        reply: &mut dyn Reply,
    ) {
        match self.find_proposing_answer(message, asked).await {
            Ok(Some(answer)) => self.decide(message, (answer, None), is_yes, reply).await,
            Ok(None) => {}
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "nobody knows what somebody reacted to");
            }
        }
    }

    /// The answer that went out as this message, if it asks whether a tool is to be called.
    async fn find_proposing_answer(
        &self,
        message: &IncomingMessage,
        asked: &MessageId,
    ) -> Result<Option<ResponseId>, StoreError> {
        let audience = &message.audience.id;
        let found = self.archive.response_of_message(audience, asked).await?;
        let Some((session, answer)) = found else {
            return Ok(None);
        };
        let explained = self.archive.store().explain(&session, Some(answer)).await?;
        let call = explained.and_then(|explained| proposed(&explained.trace.tools));
        Ok(call.map(|_| answer))
    }

    async fn decide(
        &self,
        message: &IncomingMessage,
        asked: (ResponseId, Option<u64>),
        is_yes: bool,
        reply: &mut dyn Reply,
    ) {
        reply.show_typing().await;
        let language = message.language();
        let said = match self.try_decide(message, asked, is_yes).await {
            Ok(said) => said,
            Err(error) => {
                let notice = Notice::of_store_error(&error);
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "what was agreed to could not be done");
                Said::Notice(notice.in_language(language))
            }
        };
        let withdrawals = &self.commands.withdrawals;
        match said {
            Said::Notice(text) => drop(deliver(reply, &text).await),
            Said::Result(text, session, turn) => {
                if let Some(delivered) = deliver(reply, &text).await
                    && !self
                        .archive
                        .delivered(&session, turn, None, &delivered)
                        .await
                {
                    // It was forgotten meanwhile.
                    let outdated = DeliveredAnswer::new(session, delivered);
                    let withdraw = reply.withdrawer();
                    withdrawals.take_away(withdraw, outdated).await;
                }
            }
            Said::Again(text, turn) => {
                if let Some(delivered) = deliver(reply, &text).await {
                    let listing = DeliveredAnswer::new(message.conversation.clone(), delivered);
                    let (shown, withdraw) = ([turn], reply.withdrawer());
                    let keeping =
                        withdrawals.keep_listing(&self.archive, &shown, listing, withdraw);
                    keeping.await;
                }
            }
            Said::Nothing => {}
        }
    }

    async fn try_decide(
        &self,
        message: &IncomingMessage,
        (answer, version): (ResponseId, Option<u64>),
        is_yes: bool,
    ) -> Result<Said, StoreError> {
        let (store, language) = (self.archive.store(), message.language());
        let told = |notice| {
            let said = Notice::Approval(notice).in_language(language);
            Ok(Said::Notice(said))
        };
        let Some(item) = store.item(answer).await? else {
            return told(ApprovalNotice::Gone);
        };
        let is_of_here = message.recalled_audiences().contains(&&item.audience.id);
        if !is_of_here || !message.accounts().contains(&item.turn.author) {
            return told(ApprovalNotice::NotYours);
        }
        let session = ConversationId::new(&item.turn.session);
        // Decisions of one session are made one at a time.
        let guard = self.sessions.lock(&session).await;
        let explained = store.explain(&session, Some(answer)).await?;
        let call = explained.and_then(|explained| proposed(&explained.trace.tools));
        let Some(call) = call.filter(|call| version.is_none_or(|it| it == call.version())) else {
            return told(ApprovalNotice::Gone);
        };
        let event = decision_event(answer, &call);
        if let Some(decided) = store.outcome(&event).await? {
            if !is_yes && version.is_none() && Decided::is_declined(&decided) {
                return told(ApprovalNotice::Declined);
            }
            return self.decided_before(&decided, call.tool, language).await;
        }
        let now = Utc::now();
        if now - proposed_at(&item.turn, now) > APPROVAL_LIFETIME {
            return told(match is_yes {
                true => ApprovalNotice::Over,
                false => ApprovalNotice::Declined,
            });
        }
        let holder = self.pending.holder();
        let claimed = store
            .claim(&event, &session, holder, DECISION_CLAIM_LIFETIME)
            .await?;
        if claimed != Claimed::Ours {
            return told(ApprovalNotice::Unknown(call.tool));
        }
        if !is_yes {
            self.save_decision(&event, &Decided::Declined).await?;
            return told(ApprovalNotice::Declined);
        }
        // From here on the call is not repeated, whatever happens.
        self.save_decision(&event, &Decided::Begun).await?;
        let message = IncomingMessage {
            conversation: session.clone(),
            audience: item.audience,
            ..message.clone()
        };
        let said = self.carry_out((&guard, &message), &event, &call, language);
        Ok(said.await)
    }

    /// Makes an approved call and keeps its result as a turn of the session in which it was proposed. `message` is the
    /// approval, placed in that session.
    async fn carry_out(
        &self,
        (guard, message): (&SessionGuard, &IncomingMessage),
        event: &EventId,
        call: &ProposedCall,
        language: Language,
    ) -> Said {
        let turns = self.turns.load_full();
        let channel = message.audience.id.channel();
        let (said, used) = turns.make_agreed(&channel, call, language).await;
        let about = format!("{} in {}", call.tool, message.conversation);
        self.commands
            .audit
            .record_message_action(message, AuditAction::Approved, &about, None)
            .await;
        let id = ResponseId::fresh();
        if let Err(error) = self.save_decision(event, &Decided::Kept(id)).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what came of something agreed to could not be kept");
        }
        let keeping = turns.keep_agreed(guard, message, id, (&said, used));
        match keeping.await {
            TurnSaveOutcome::Graph | TurnSaveOutcome::Journal => {
                Said::Result(said, guard.session().clone(), id)
            }
            TurnSaveOutcome::Duplicate(_) | TurnSaveOutcome::Nowhere | TurnSaveOutcome::Unknown => {
                Said::Notice(said)
            }
            TurnSaveOutcome::Forgotten => Said::Nothing,
        }
    }

    /// The reply to a question that was decided earlier, from what was stored about it.
    async fn decided_before(
        &self,
        decided: &str,
        tool: String,
        language: Language,
    ) -> Result<Said, StoreError> {
        let notice = match serde_json::from_str(decided) {
            Ok(Decided::Declined) => ApprovalNotice::DecidedBefore(
                Notice::Approval(ApprovalNotice::Declined).in_language(language),
            ),
            Ok(Decided::Kept(turn)) => match self.archive.answer_of(turn).await? {
                Some(result) => {
                    let notice = ApprovalNotice::DecidedBefore(result.clone());
                    let said = Notice::Approval(notice).in_language(language);
                    return Ok(Said::Again(said, ReadTurn::new(turn, &result)));
                }
                None => ApprovalNotice::ResultGone,
            },
            Ok(Decided::Done(_)) => ApprovalNotice::ResultGone,
            Ok(Decided::Begun) | Err(_) => ApprovalNotice::Unknown(tool),
        };
        Ok(Said::Notice(Notice::Approval(notice).in_language(language)))
    }

    async fn save_decision(&self, event: &EventId, decided: &Decided) -> Result<(), StoreError> {
        let decided = serde_json::to_string(decided)
            .map_err(|error| StoreError::Unexpected(error.to_string()))?;
        self.archive.store().set_outcome(event, &decided).await
    }
}

/// When an answer got its present form, and so proposed its call: an answer to an edited question keeps the time of the first
/// one. The clock of the platform may be ahead.
fn proposed_at(answer: &Turn, now: DateTime<Utc>) -> DateTime<Utc> {
    let revised_at = answer.revised_at.map(|at| at.min(now));
    revised_at.map_or(answer.created_at, |at| at.max(answer.created_at))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_call_is_proposed_when_its_answer_got_its_present_form() {
        let now = Utc::now();
        let ago = |minutes| now - TimeDelta::minutes(minutes);
        for (created_at, revised_at, expected) in [
            (ago(20), None, ago(20)),
            (ago(20), Some(ago(1)), ago(1)),
            // The question was edited before it was answered.
            (ago(20), Some(ago(21)), ago(20)),
            (ago(20), Some(ago(-5)), now),
        ] {
            let answer = Turn {
                created_at,
                revised_at,
                ..Turn::of("s", "ada", "Open a ticket.", "I can open one.")
            };
            assert_eq!(proposed_at(&answer, now), expected, "{revised_at:?}");
        }
    }
}

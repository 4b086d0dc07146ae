//! Answers an answered question again, in place of its earlier answer.

use std::time::Instant;

use muninn_platform::redact::without_secrets;
use muninn_platform::{EventId, IncomingMessage, Reply};

use super::agreed::offer;
use super::delivering::AnswerDelivery;
use super::draft::Draft;
use super::{After, MOST_AGAIN, Read, TurnError, TurnInput, TurnRunner};
use crate::agent::tools::proposed;
use crate::conversation::attachments::Files;
use crate::conversation::interrupt::Interrupt;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::session::SessionGuard;
use crate::graph::{ResponseId, StoreError, Turn, TurnContext, without_file_notes};
use crate::llm::Image;
use crate::memory::TurnSaveOutcome;

/// How an answered question is answered again.
#[derive(Clone, Copy, Debug)]
pub enum Regeneration<'a> {
    /// With the text that its author edited.
    Edited(&'a str),
    /// With the same text.
    Again,
    /// As it was just kept, with an answer that nobody was shown.
    Unshown,
}

/// Why an earlier answer stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// The question has not changed, or a newer version was already answered.
    Same,
    /// The turn left the window, or was forgotten.
    OutOfWindow,
    /// Somebody else asked the question.
    NotTheirs,
    /// It is what came of a tool call that somebody approved. The call is made once.
    CallResult,
    Stopped,
}

/// What became of an answer that was regenerated and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Regenerated {
    /// Nothing more is to be delivered.
    Over,
    /// The platform was away for too long: the answer can be delivered later.
    Undelivered,
}

impl Regenerated {
    /// What remains to be done after a turn that ended with it.
    pub(super) fn after(self, over: After, undelivered: After) -> After {
        match self {
            Self::Over => over,
            Self::Undelivered => undelivered,
        }
    }
}

/// The result of one attempt to regenerate.
#[derive(Debug)]
enum RegenerationAttempt {
    Over(Result<Regenerated, KeptReason>),
    /// An input of the answer was forgotten or regenerated while the answer was written.
    Outdated,
    /// The same while it was kept or delivered, with its messages if it was delivered.
    KeptOutdated(Option<DeliveredAnswer>),
}

impl RegenerationAttempt {
    /// The result after an answer was shown as it is kept: finished, unless it is outdated or could not be delivered.
    fn shown(delivery: AnswerDelivery, over: Result<Regenerated, KeptReason>) -> Self {
        match delivery {
            AnswerDelivery::Over => Self::Over(over),
            AnswerDelivery::Away => Self::Over(Ok(Regenerated::Undelivered)),
            AnswerDelivery::Outdated(outdated) => Self::KeptOutdated(Some(outdated)),
        }
    }
}

impl TurnRunner {
    /// Answers the question of the turn `of` again, in place of its earlier answer. The turn belongs to the guard's session.
    ///
    /// # Errors
    /// Fails when nothing could be answered or kept; the earlier answer then stays.
    pub async fn regenerate(
        &self,
        guard: &SessionGuard,
        revision: &IncomingMessage,
        of: ResponseId,
        regeneration: Regeneration<'_>,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<Result<Regenerated, KeptReason>, TurnError> {
        let (mut regeneration, mut outdated) = (regeneration, None);
        let mut outcome = Ok(Err(KeptReason::OutOfWindow));
        for _ in 0..=MOST_AGAIN {
            let is_unshown = matches!(regeneration, Regeneration::Unshown);
            // Not only its inputs but the turn itself was forgotten: nobody waits for an answer any more.
            if is_unshown && self.is_forgotten(of).await {
                break;
            }
            let once = self.regenerate_once(guard, revision, of, regeneration, reply, interrupt);
            match once.await {
                Ok(RegenerationAttempt::Outdated) => {}
                Ok(RegenerationAttempt::KeptOutdated(shown)) => {
                    regeneration = Regeneration::Unshown;
                    outdated = shown.or(outdated);
                }
                Ok(RegenerationAttempt::Over(over)) => {
                    outcome = Ok(over);
                    break;
                }
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        // What was shown is replaced, or will be when the new answer can be delivered.
        if !matches!(outcome, Ok(Ok(_))) {
            self.withdraw_outdated(reply, outdated).await;
        }
        outcome
    }

    async fn regenerate_once(
        &self,
        guard: &SessionGuard,
        revision: &IncomingMessage,
        of: ResponseId,
        regeneration: Regeneration<'_>,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<RegenerationAttempt, TurnError> {
        let began = Instant::now();
        let message = IncomingMessage {
            conversation: guard.session().clone(),
            ..self.people.with_private_memory(revision).await
        };
        let mut begun = self.begin(guard, &message).await?;
        if begun.store_away {
            // A new answer is kept in the graph only, and the remembered window may be shorter.
            return Err(TurnError::Store(StoreError::Refused {
                message: "the graph is away; the earlier answer stands until it is back".to_owned(),
                transient: true,
            }));
        }
        let Some((earlier, hidden)) = taken_out(&mut begun.context, of) else {
            return Ok(RegenerationAttempt::Over(Err(KeptReason::OutOfWindow)));
        };
        if earlier.is_call_result() {
            return Ok(RegenerationAttempt::Over(Err(KeptReason::CallResult)));
        }
        if is_told_again(&message, &earlier, regeneration) {
            // A process may have been killed after keeping it, perhaps before showing it.
            reply.replace(earlier.delivered.clone().unwrap_or_default());
            let showing = self.show_again(guard, &earlier, revision.language(), reply);
            return Ok(RegenerationAttempt::shown(
                showing.await,
                Ok(Regenerated::Over),
            ));
        }
        let mut files = Files::of_turn(&earlier);
        let text = match question(&message, &earlier, &files, regeneration) {
            Ok(text) => text,
            Err(stands) => return Ok(RegenerationAttempt::Over(Err(stands))),
        };
        reply.replace(earlier.delivered.clone().unwrap_or_default());
        reply.show_typing().await;
        files.images = self.images_again(revision, regeneration, reply).await;
        let said = without_file_notes(&text);
        let sought = self.recaller.embed_query(said).await;
        let zone = self.recaller.time_zone_of(&message);
        let sought = sought.said_by(
            accounts_of_asker(&message, &earlier),
            earlier.created_at.with_timezone(&zone),
        );
        let read = self.recall(&message, begun, sought, hidden).await;
        let asked = (&message, said);
        self.add_prior_messages(&mut files, asked, &read, Some(&earlier), reply)
            .await;
        let asked = TurnInput {
            message: &message,
            text: &text,
            files: &files,
            kind: &self.kind(message.channel()).await,
            began,
        };
        let Ok(draft) = self.draft(&asked, &read, reply, interrupt).await? else {
            return Ok(RegenerationAttempt::Over(Err(KeptReason::Stopped)));
        };
        let earlier = Turn {
            revised_at: match regeneration {
                Regeneration::Edited(_) | Regeneration::Again => Some(revision.sent_at),
                Regeneration::Unshown => earlier.revised_at,
            },
            ..earlier
        };
        self.put_in_place(guard, &asked, &read, draft, earlier, reply)
            .await
    }

    /// The images of a question, read again, as none are kept.
    async fn images_again(
        &self,
        revision: &IncomingMessage,
        regeneration: Regeneration<'_>,
        reply: &mut dyn Reply,
    ) -> Vec<Image> {
        let sent = match regeneration {
            Regeneration::Edited(_) | Regeneration::Unshown => revision.attachments.as_slice(),
            // It is not the question, and may be somebody else's.
            Regeneration::Again => &[],
        };
        self.attachments.read_images(reply, sent).await
    }

    /// Keeps a draft in place of an earlier turn, and then shows it there.
    async fn put_in_place(
        &self,
        guard: &SessionGuard,
        asked: &TurnInput<'_>,
        read: &Read,
        mut draft: Draft,
        earlier: Turn,
        reply: &mut dyn Reply,
    ) -> Result<RegenerationAttempt, TurnError> {
        let message = asked.message;
        if self.rests_on_forgotten(message, &draft, read).await {
            return Ok(RegenerationAttempt::Outdated);
        }
        draft.below.extend(asked.notice());
        draft.below.extend(asked.files_notice(&draft));
        // Until it is delivered, no delivery of a first answer is recorded: after a kill it is delivered again.
        let is_first = message.event.as_str() == earlier.event;
        let delivered = earlier.delivered;
        let mut new = self.new_turn(asked, &draft).await;
        new.turn = Turn {
            id: earlier.id,
            event: earlier.event,
            author: earlier.author,
            author_name: earlier.author_name,
            created_at: earlier.created_at,
            link: earlier.link,
            delivered: delivered.clone().filter(|_| !is_first),
            revised_at: earlier.revised_at,
            ..new.turn
        };
        if !self.archive.replace(guard, &new).await? {
            let newer = self.show_newer(guard, &new.turn, message, reply).await?;
            return Ok(newer.unwrap_or(RegenerationAttempt::Over(Err(KeptReason::OutOfWindow))));
        }
        self.recaller.forget(&message.audience.id);
        // Checked again: until it was kept, nobody could know that it repeats something forgotten.
        if self.rests_on_forgotten(message, &draft, read).await {
            return Ok(RegenerationAttempt::KeptOutdated(None));
        }
        offer(reply, new.turn.id, proposed(&draft.evidence.tools).as_ref());
        if let Some(delivered) = &delivered {
            self.withdrawals
                .cancel_withdrawal(guard.session(), delivered)
                .await;
        }
        let outgoing = draft.outgoing(&TurnSaveOutcome::Graph, read, message.language());
        let delivering = self.deliver_turn(guard, reply, new.turn.id, None, &outgoing);
        let regenerated = match delivering.await {
            AnswerDelivery::Over => Regenerated::Over,
            AnswerDelivery::Away => Regenerated::Undelivered,
            AnswerDelivery::Outdated(outdated) => {
                return Ok(RegenerationAttempt::KeptOutdated(Some(outdated)));
            }
        };
        draft.count();
        // A process that followed a newer revision faster may have shown its answer before this one.
        let newer = self.show_newer(guard, &new.turn, message, reply).await;
        Ok(newer
            .ok()
            .flatten()
            .unwrap_or(RegenerationAttempt::Over(Ok(regenerated))))
    }

    /// Shows the present answer of a turn if another process followed a newer revision meanwhile, because the answer to the
    /// older one was shown in the same message.
    async fn show_newer(
        &self,
        guard: &SessionGuard,
        older: &Turn,
        message: &IncomingMessage,
        reply: &mut dyn Reply,
    ) -> Result<Option<RegenerationAttempt>, StoreError> {
        if !self.archive.store().is_shared() {
            return Ok(None);
        }
        let event = EventId::new(&older.event);
        let standing = self.archive.turn_of_event(&event).await?;
        let newer = standing.filter(|it| it.id == older.id && it.revised_at > older.revised_at);
        let Some(newer) = newer else {
            return Ok(None);
        };
        if let Some(delivered) = newer.delivered.clone() {
            reply.replace(delivered);
        }
        let showing = self.show_again(guard, &newer, message.language(), reply);
        Ok(Some(RegenerationAttempt::shown(
            showing.await,
            Err(KeptReason::Same),
        )))
    }
}

/// Whether an edit was followed before. An edit that nobody accepted may be sent again with another time, and after a kill the
/// earlier of two may come last.
fn is_told_again(
    revision: &IncomingMessage,
    earlier: &Turn,
    regeneration: Regeneration<'_>,
) -> bool {
    let says_the_same = match regeneration {
        Regeneration::Edited(text) => {
            Files::of_turn(earlier).text_with_file_notes(&without_secrets(text)) == earlier.input
        }
        Regeneration::Again => false,
        Regeneration::Unshown => return false,
    };
    let revised_at = earlier.revised_at;
    revised_at.is_some_and(|at| says_the_same || at == revision.sent_at)
}

/// The accounts of the person who asked: somebody else may want it answered again.
fn accounts_of_asker(message: &IncomingMessage, earlier: &Turn) -> Vec<String> {
    let accounts = message.accounts();
    if accounts.contains(&earlier.author) {
        accounts
    } else {
        vec![earlier.author.clone()]
    }
}

/// The question to answer again, or why nothing is.
fn question(
    revision: &IncomingMessage,
    earlier: &Turn,
    files: &Files,
    regeneration: Regeneration<'_>,
) -> Result<String, KeptReason> {
    let is_author = revision.author.id == earlier.author;
    let is_older = earlier.revised_at.is_some_and(|at| revision.sent_at <= at);
    match regeneration {
        Regeneration::Unshown => Ok(earlier.input.clone()),
        _ if is_older => Err(KeptReason::Same),
        Regeneration::Edited(_) if !is_author => Err(KeptReason::NotTheirs),
        Regeneration::Edited(text) => {
            let text = files.text_with_file_notes(&without_secrets(text));
            if text == earlier.input {
                return Err(KeptReason::Same);
            }
            Ok(text)
        }
        Regeneration::Again if is_author || revision.may_moderate(&revision.audience.id) => {
            Ok(earlier.input.clone())
        }
        Regeneration::Again => Err(KeptReason::NotTheirs),
    }
}

/// Removes a turn and all later ones from the window, as if it were asked now. Returns it with the IDs of all removed turns.
/// `None` if it is no longer in the window, or a summary covers it.
fn taken_out(context: &mut TurnContext, id: ResponseId) -> Option<(Turn, Vec<ResponseId>)> {
    let at = context.window.iter().position(|turn| turn.id == id)?;
    let through = context.summary.as_ref().map(|summary| summary.through);
    let mut taken = context.window.split_off(at);
    let ids: Vec<ResponseId> = taken.iter().map(|turn| turn.id).collect();
    let is_covered = through.is_some_and(|through| ids.contains(&through));
    (!is_covered).then(|| (taken.swap_remove(0), ids))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};
    use muninn_platform::Body;

    use super::*;

    #[test]
    fn an_edit_that_was_followed_is_known_whenever_it_was_sent() {
        let edited_at = Utc::now();
        let mut earlier = Turn::of("s", "ada", "Oslo?", "It snows.");
        let told = |earlier: &Turn, text: &str, sent_at: DateTime<Utc>| {
            let of = crate::testing::message("q").event;
            let revision = IncomingMessage {
                body: Body::Edit {
                    of,
                    text: text.to_owned(),
                },
                sent_at,
                ..crate::testing::message("e")
            };
            is_told_again(&revision, earlier, Regeneration::Edited(text))
        };
        assert!(!told(&earlier, "Oslo?", edited_at), "never edited");
        earlier.revised_at = Some(edited_at);
        let second = TimeDelta::seconds(1);
        for (text, sent_at, is_again) in [
            ("Oslo?", edited_at, true),
            ("Oslo?", edited_at + second, true),
            // The ledger keeps the time when a message was first sent.
            ("Oslo?", edited_at - second, true),
            ("Bergen?", edited_at + second, false),
            ("Bergen?", edited_at - second, false),
        ] {
            assert_eq!(told(&earlier, text, sent_at), is_again, "{text} {sent_at}");
        }
    }
}

//! Questions and notes of programs: each is a message like any other, for the program's person, where nobody else
//! reads it.

use std::time::Duration;

use muninn_platform::redact::is_redacted;
use muninn_platform::{Audience, AudienceId, Body, Command, ConversationId, EventId, Language};
use serde_json::{Value, json};
use uuid::Uuid;

use super::NAME;
use super::call::{Mcp, Refused, ToolOutcome};
use super::caller::Caller;
use super::places::{Place, aside};
use super::tools::{Ask, Remember};
use crate::conversation::bot_connection::{BotReply, NoBotReply, message_from};
use crate::conversation::notice::Notice;
use crate::graph::{Explanation, KnowledgeNode, ResponseId, Turn};

/// Longest wait for an answer; a turn has its own, shorter limits.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(15);
/// Prefixes of the IDs in events: a note may have the ID of a question.
const QUESTION: &str = "";
const NOTE: &str = "note-";
/// What is said of a note, and of one that was there.
const NOTED: &str = "Noted: it is recalled in that place when it bears on a question. The person sees it in chat with `memory`, and \
                     can have it forgotten there.";
const NOTED_ALREADY: &str = "Noted already.";
/// The conversation for notes.
const NOTES: &str = "notes";
/// Maximum number of knowledge nodes named with an answer.
const MOST_SOURCES: usize = 50;

/// The place of a program's message.
struct Home {
    audience: Audience,
    /// The surrounding channel, whose memory is recalled too.
    channel: Option<AudienceId>,
}

impl Mcp {
    /// Has the bot answer a question in its own turn, which is kept.
    pub(super) async fn ask(&self, caller: &Caller, ask: Ask) -> Result<ToolOutcome, Refused> {
        let place = self.place(caller, ask.place.as_deref()).await?;
        let event = event(caller, QUESTION, ask.call_id.as_deref());
        if ask.call_id.is_some()
            && let Some(earlier) = self.earlier(caller, &event).await?
        {
            return Ok(earlier);
        }
        let home = self.home(caller, &place)?;
        // A repeated call is in the same queue, so that it waits for the running one.
        let name = match (&ask.conversation, &ask.call_id) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => digest(id)[..32].to_owned(),
            (None, None) => Uuid::now_v7().simple().to_string(),
        };
        let conversation = conversation(&home, &name);
        let body = Body::Text(ask.question);
        let waiting = self.data.bot_connection.wait_for(&event);
        let trace = ask.traceparent;
        let said = self.say(caller, &event, (conversation, home), body, trace);
        let said = said.await;
        waiting.end();
        let said = match said {
            Ok(BotReply::Answer(text)) => Some(text),
            Ok(BotReply::Notice(text)) => return Err(Refused::Because(text)),
            Err(NoBotReply::Silent) => None,
            Err(NoBotReply::Ending) => return Err(Refused::Ending),
            Err(NoBotReply::TooLate) => {
                return Err(Refused::Because("no answer came in time".to_owned()));
            }
        };
        let kept = self.data.archive.turn_of_event(&event).await;
        match (said, kept) {
            (said, Ok(Some(turn))) if turn.is_answered() => {
                self.answered(caller, &turn, &name, said).await
            }
            // The text says why there is no turn.
            (Some(text), Ok(_)) => Err(Refused::Because(text)),
            // The turn is in the journal, and the answer says so.
            (Some(text), Err(_)) => Ok(ToolOutcome::of(
                text.clone(),
                json!({ "answer": text, "conversation": name, "place": place.id() }),
            )),
            (None, Ok(_)) => Err(Refused::Because(format!(
                "the bot does not answer in {}: it may be muted there",
                place.id()
            ))),
            (None, Err(error)) => Err(error.into()),
        }
    }

    /// Keeps a note, like `remember that …`.
    pub(super) async fn remember(
        &self,
        caller: &Caller,
        note: Remember,
    ) -> Result<ToolOutcome, Refused> {
        let place = self.place(caller, note.place.as_deref()).await?;
        let event = event(caller, NOTE, note.call_id.as_deref());
        let home = self.home(caller, &place)?;
        let conversation = conversation(&home, NOTES);
        let body = Body::Command(Command::Note(note.text));
        let trace = note.traceparent;
        let said = self.say(caller, &event, (conversation, home), body, trace);
        // What the bot says in chat names a channel and a command, and a program has neither.
        let (noted, said) = match said.await {
            Ok(BotReply::Answer(text)) => (NOTED, text),
            Ok(BotReply::Notice(text)) => return Err(Refused::Because(text)),
            // A repeated call.
            Err(NoBotReply::Silent) => (NOTED_ALREADY, NOTED_ALREADY.to_owned()),
            Err(NoBotReply::Ending) => return Err(Refused::Ending),
            Err(NoBotReply::TooLate) => {
                return Err(Refused::Because("it was not noted in time".to_owned()));
            }
        };
        match self.data.archive.turn_of_event(&event).await? {
            Some(kept) => {
                let told = told_of_note(noted, &kept.input);
                let structured =
                    json!({ "id": kept.id.to_string(), "place": place.id(), "said": told });
                Ok(ToolOutcome::of(told, structured))
            }
            None => Err(Refused::Because(said)),
        }
    }

    async fn say(
        &self,
        caller: &Caller,
        event: &EventId,
        (conversation, home): (ConversationId, Home),
        body: Body,
        traceparent: Option<String>,
    ) -> Result<BotReply, NoBotReply> {
        let place = (conversation, home.audience);
        let mut message = message_from(&caller.account, event.clone(), place, body);
        message.also_recalls = home.channel;
        message.through = Some(NAME.to_owned());
        message.traceparent = traceparent;
        self.data
            .bot_connection
            .send_and_wait(message, ANSWER_TIMEOUT)
            .await
    }

    /// The private place for a person's questions about a place.
    fn home(&self, caller: &Caller, place: &Place) -> Result<Home, Refused> {
        let (account, audience) = (&caller.account, &place.audience);
        if audience.platform != account.platform {
            return Err(Refused::Because(format!(
                "{} is of another account of yours: it can be searched, and asked there",
                place.id()
            )));
        }
        if place.is_direct(account) || !self.data.readable.has_asides(&account.platform) {
            return Ok(Home {
                audience: audience.clone(),
                channel: None,
            });
        }
        Ok(Home {
            audience: aside(audience, account),
            channel: Some(place.id().clone()),
        })
    }

    /// The answer to an earlier call with the same ID.
    async fn earlier(
        &self,
        caller: &Caller,
        event: &EventId,
    ) -> Result<Option<ToolOutcome>, Refused> {
        let turn = self.data.archive.turn_of_event(event).await?;
        let Some(turn) = turn.filter(Turn::is_answered) else {
            return Ok(None);
        };
        let name = turn.session.rsplit('/').next().unwrap_or_default();
        self.answered(caller, &turn, name, None).await.map(Some)
    }

    /// An answer with its sources, as far as the person may read them now.
    async fn answered(
        &self,
        caller: &Caller,
        turn: &Turn,
        name: &str,
        said: Option<String>,
    ) -> Result<ToolOutcome, Refused> {
        let data = &self.data;
        let places = self.places(caller).await?;
        let may_read = |audience: &AudienceId| {
            let channel = audience.channel();
            places.iter().any(|place| *place.id() == channel)
        };
        let session = ConversationId::new(&turn.session);
        let Some(explained) = data.store.explain(&session, Some(turn.id)).await? else {
            // It waits for the graph: whoever was just told the answer may read it.
            let text = said.ok_or_else(|| Refused::Because("it is forgotten".to_owned()))?;
            let structured = json!({ "answer": text, "conversation": name });
            return Ok(ToolOutcome::of(text, structured));
        };
        let recalled = explained.recalled.iter().map(|(_, turn)| turn.id);
        let mut asked: Vec<ResponseId> = recalled.collect();
        asked.push(turn.id);
        let audiences = data.store.audiences_of(&asked).await?;
        let is_readable = |id: ResponseId| audiences.get(&id).is_some_and(may_read);
        if !is_readable(turn.id) {
            return Err(Refused::Because(
                "that was asked in a place that you may not read any more".to_owned(),
            ));
        }
        let text = said.unwrap_or_else(|| turn.output.clone());
        let recalled = explained.recalled.iter();
        let recalled = recalled.filter(|(_, it)| is_readable(it.id));
        let recalled: Vec<Value> = recalled
            .map(|(score, it)| of_recalled(*score, it))
            .collect();
        let sources = sources(&explained);
        let place = audiences.get(&turn.id).map(AudienceId::channel);
        let structured = json!({
            "answer": text, "question": turn.input, "conversation": name, "place": place,
            "id": turn.id.to_string(), "at": turn.created_at, "is_volatile": turn.volatile,
            "recalled": recalled, "sources": sources,
        });
        Ok(ToolOutcome::of(text, structured))
    }
}

fn of_recalled(score: f64, turn: &Turn) -> Value {
    json!({
        "score": score, "at": turn.created_at, "author": turn.author_name, "said": turn.input,
        "link": turn.link,
    })
}

/// The knowledge from which an answer was made.
fn sources(explained: &Explanation) -> Vec<Value> {
    let nodes = explained.context.iter().take(MOST_SOURCES);
    let source = |node: &KnowledgeNode| {
        let said = |name: &str| node.properties.get(name).filter(|it| it.is_string());
        let title = node.name_property().and_then(said);
        json!({
            "title": title, "labels": node.labels, "source": said("source"), "link": said("link"),
            "has_changed": node.has_changed,
        })
    };
    nodes.map(source).collect()
}

/// The event of a call: the same for the same ID, person and prefix, and different from all events of platforms.
fn event(caller: &Caller, prefix: &str, call_id: Option<&str>) -> EventId {
    let person = &caller.account.id;
    let call = match call_id {
        Some(id) => digest(id),
        None => Uuid::now_v7().simple().to_string(),
    };
    EventId::new(format!("{NAME}/{person}/{prefix}{call}"))
}

fn conversation(home: &Home, name: &str) -> ConversationId {
    ConversationId::new(format!("{}/{NAME}/{name}", home.audience.id))
}

/// What is told of a note: a program must not go on as if a secret that was taken out of it were kept.
fn told_of_note(noted: &str, kept: &str) -> String {
    if is_redacted(kept) {
        let notice = Notice::SecretRemoved.in_language(Language::English);
        format!("{noted}\n\n{notice}")
    } else {
        noted.to_owned()
    }
}

fn digest(id: &str) -> String {
    blake3::hash(id.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use muninn_platform::redact::without_secrets;

    use super::*;
    use crate::graph::accounts::Account;

    fn caller(id: &str) -> Caller {
        Caller::at_terminal(Account {
            id: id.to_owned(),
            platform: "terminal".to_owned(),
            name: "Ann".to_owned(),
        })
    }

    #[test]
    fn a_program_is_told_that_a_secret_was_taken_out_of_its_note() {
        let kept = without_secrets("the password is hunter2!x, don't tell");
        assert!(is_redacted(&kept), "{kept}");
        for noted in [NOTED, NOTED_ALREADY] {
            let told = told_of_note(noted, &kept);
            assert!(told.starts_with(noted) && told.contains("secret"), "{told}");
            assert_eq!(told_of_note(noted, "Tea is at four."), noted);
        }
    }

    #[test]
    fn a_call_with_an_id_is_one_event_of_one_person_and_names_no_message() {
        let (ann, bob) = (caller("terminal/ann"), caller("terminal/bob"));
        let id = "1700000000.000100";
        assert_eq!(
            event(&ann, QUESTION, Some(id)),
            event(&ann, QUESTION, Some(id))
        );
        assert_ne!(
            event(&ann, QUESTION, Some(id)),
            event(&bob, QUESTION, Some(id))
        );
        assert_ne!(event(&ann, QUESTION, Some(id)), event(&ann, NOTE, Some(id)));
        assert_ne!(event(&ann, QUESTION, None), event(&ann, QUESTION, None));
        let forged = event(&ann, QUESTION, Some(id));
        assert!(
            forged
                .as_messages()
                .all(|message| !message.as_str().contains(id))
        );
    }
}

//! Each type that is stored, as it is written: a change of what is on disk or in the graph is a change of a snapshot here, and shows in review.
//!
//! `tests/data/formats` holds this version to what earlier ones wrote; this holds what it writes.

use chrono::{DateTime, Utc};
use muninn_platform::{
    Addressed, Addressees, Attachment, Attention, AudienceId, Body, ChannelMemory, Command,
    ConversationId, Delivered, EventId, ForgetWhat, IncomingMessage, ItemDeed, Listing, MessageId,
    Scope, ShownItem, TokenDeed,
};
use serde::Serialize;
use uuid::Uuid;

use super::{message, new_turn};
use crate::conversation::ledger::message_without_secrets;
use crate::graph::answers::{DeliveredAnswer, ForgottenEvent};
use crate::graph::trace::{FoundPassage, ModelCall, ModelStep, ToolUse, Trace};
use crate::graph::{AttachedText, Embedding, NewTurn, ResponseId, Source, Trust, Turn};

fn written(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

fn at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 123_000_000).unwrap()
}

fn id(number: u128) -> ResponseId {
    ResponseId(Uuid::from_u128(number))
}

fn delivered() -> Delivered {
    Delivered(vec![MessageId::new("1700000000.000100")])
}

/// A turn in which nothing is left out.
fn whole_turn() -> NewTurn {
    let call = |step| ModelCall {
        step,
        prompt: 100,
        completion: 10,
        cached: 5,
        cost_micros: 42,
        ms: 300,
    };
    let steps = [
        ModelStep::Rephrase,
        ModelStep::Rerank,
        ModelStep::Route,
        ModelStep::Cypher,
        ModelStep::Critique,
        ModelStep::Answer,
    ];
    let new = new_turn("slack/T/C/1", "Which port?");
    NewTurn {
        recalls_also: vec![AudienceId::new("slack/T/C")],
        turn: Turn {
            id: id(1),
            created_at: at(),
            source: Source::Knowledge,
            rephrased_question: Some("Which port does the printer use?".to_owned()),
            cypher: Some("MATCH (n) RETURN n".to_owned()),
            event: "slack/T/C/1700000000.000100".to_owned(),
            embedding: Some(Embedding {
                embedder: "local".to_owned(),
                vector: vec![0.5, -0.25],
            }),
            model: Some("chat".to_owned()),
            prompt_tokens: 100,
            completion_tokens: 10,
            duration_ms: 700,
            link: Some("https://example.slack.com/archives/C/p1".to_owned()),
            delivered: Some(delivered()),
            revised_at: Some(at()),
            attached: vec![AttachedText {
                name: "notes.txt".to_owned(),
                text: "8080".to_owned(),
            }],
            reply_to: Some("slack/T/C/1699999999.000100".to_owned()),
            trust: Trust::Documents,
            ..new.turn
        },
        context: vec!["4:a:1".to_owned()],
        recalled: vec![(id(2), 0.75)],
        trace: Trace {
            calls: steps.map(call).to_vec(),
            tools: vec![ToolUse {
                name: "search_knowledge".to_owned(),
                arguments: "{\"query\":\"printer\"}".to_owned(),
                cypher: Some("MATCH (n) RETURN n".to_owned()),
                found: Some(1),
                error: Some("no answer".to_owned()),
                repairs: 1,
                notes: vec!["a note".to_owned()],
                is_proposed: true,
                ms: 3,
            }],
            follow_ups: vec!["And the fax?".to_owned()],
            passages: vec![FoundPassage {
                chunk: "c1".to_owned(),
                score: 0.5,
            }],
        },
        audience: new.audience,
        asked_at: Some(at()),
    }
}

#[test]
fn a_turn_that_waits_for_the_graph() {
    insta::assert_snapshot!(written(&whole_turn()));
}

#[test]
fn a_message_that_waits_for_its_answer() {
    let whole = IncomingMessage {
        also_recalls: Some(AudienceId::new("slack/T/C")),
        through: Some("an editor".to_owned()),
        addressed: Addressed::InConversation,
        toward: Addressees {
            names_people: true,
            answers_person: true,
            omits_bot: true,
        },
        attachments: vec![Attachment {
            id: "F1".to_owned(),
            name: "notes.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            size: Some(4),
        }],
        reply_to: Some(EventId::new("slack/T/C/1")),
        link: Some("https://example.slack.com/archives/C/p1".to_owned()),
        sent_at: at(),
        received_at: at(),
        ..message("slack/T/C/2")
    };
    insta::assert_snapshot!(written(&whole));
}

/// Each thing that a message can say. `text` is in every text of a person's own.
fn bodies(text: impl Fn(&str) -> String) -> Vec<Body> {
    let item = || ShownItem {
        number: 1,
        id: id(1).to_string(),
        version: 7,
    };
    let answer = || MessageId::new("1700000000.000100");
    let commands = vec![
        Command::Help,
        Command::History,
        Command::Why,
        Command::WhyOf(answer()),
        Command::Again(answer()),
        Command::About,
        Command::Usage,
        Command::Forget(ForgetWhat::Last),
        Command::Forget(ForgetWhat::Session),
        Command::Forget(ForgetWhat::Audience),
        Command::Forget(ForgetWhat::Item(2)),
        Command::Forget(ForgetWhat::Me { is_confirmed: true }),
        Command::Note(text("a note")),
        Command::Memory(Listing::Newest),
        Command::Memory(Listing::More),
        Command::Memory(Listing::Search(text("port"))),
        Command::Correct {
            number: 1,
            text: text("8081"),
        },
        Command::Link(Some("123456".to_owned())),
        Command::Unlink,
        Command::Shown(item(), ItemDeed::Forget),
        Command::Shown(item(), ItemDeed::Correct(text("8081"))),
        Command::Shown(item(), ItemDeed::Approve),
        Command::Shown(item(), ItemDeed::Decline),
        Command::Decide {
            asked: answer(),
            is_yes: true,
        },
        Command::ExportMine,
        Command::Web,
        Command::WebSignOut,
        Command::Token(TokenDeed::List),
        Command::Token(TokenDeed::Make {
            everywhere: true,
            life: Some(text("30 days")),
        }),
        Command::Token(TokenDeed::Revoke(Some(1))),
        Command::Attend(Attention::Open, Scope::Conversation),
        Command::Attend(Attention::Mentioned, Scope::Audience),
        Command::Attend(Attention::Muted, Scope::Audience),
        Command::Remember(ChannelMemory::Asked),
        Command::Remember(ChannelMemory::Channel),
        Command::OptOut,
        Command::OptIn,
        Command::OffTheRecord(Scope::Conversation),
        Command::OnTheRecord(Scope::Audience),
        Command::CatchUp(Some(text("monday"))),
        Command::Backfill(Some(text("2026-01-31"))),
        Command::PlaceGone,
        Command::Unknown(text("dance")),
    ];
    let mut bodies: Vec<Body> = commands.into_iter().map(Body::Command).collect();
    bodies.push(Body::Text(text("hello")));
    let of = EventId::new("slack/T/C/1");
    bodies.push(Body::Edit {
        of: of.clone(),
        text: text("hello again"),
    });
    bodies.push(Body::Deletion { of });
    bodies
}

#[test]
fn what_a_message_can_say() {
    let lines: Vec<String> = bodies(str::to_owned)
        .iter()
        .map(|body| serde_json::to_string(body).unwrap())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn nothing_that_a_message_says_is_kept_with_its_secrets() {
    let secret = "glpat-abcdefghij0123456789";
    let mut texts = 0;
    for body in bodies(|text| format!("{text} {secret}")) {
        texts += usize::from(written(&body).contains(secret));
        let said = IncomingMessage {
            body,
            ..message("slack/T/C/2")
        };
        let kept = written(&message_without_secrets(&said).body);
        assert!(!kept.contains(secret), "{kept}");
    }
    assert_eq!(texts, 10);
}

#[test]
fn what_the_graph_keeps_as_json() {
    let spoken = DeliveredAnswer::new(ConversationId::new("slack/T/C/1"), delivered());
    let forgotten = ForgottenEvent {
        session: "slack/T/C/1".to_owned(),
        event: "slack/T/C/1700000000.000100".to_owned(),
    };
    let sources = [
        Source::Model,
        Source::Knowledge,
        Source::Retrieval,
        Source::Memory,
        Source::Message,
        Source::Note,
    ];
    insta::assert_snapshot!(written(&(spoken, forgotten, sources, Trust::ALL)));
}

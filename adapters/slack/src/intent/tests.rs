use muninn_platform::{ForgetWhat, Language};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::event::{Push, SlackEvent};
use crate::wanted::interaction_intent;

const ME: &str = "UBOT";

fn nothing(why: IgnoreReason) -> EventIntent {
    EventIntent::Nothing(why)
}

fn facts() -> SlackEventContext {
    SlackEventContext {
        me: ME.to_owned(),
        is_allowed: true,
        mode: AnswerMode::Threads,
        is_heard: false,
        direct_threads: false,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "tables read better")]
fn event(event: Value) -> SlackEventKind {
    let envelope = json!({ "type": "event_callback", "event_id": "Ev1", "event": event });
    match Push::event(&envelope) {
        Some(Push::Event(SlackEvent { what, .. })) => what,
        other => panic!("{other:?}"),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "tables read better")]
fn message(text: &str, more: Value) -> Value {
    let mut message = json!({ "type": "message", "channel": "C1", "channel_type": "channel",
        "user": "U1", "team": "T1", "ts": "2.0", "text": text });
    for (name, value) in more.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}

fn heard(text: &str, more: Value, facts: &SlackEventContext) -> EventIntent {
    intent(&event(message(text, more)), facts)
}

fn in_thread(ts: &str) -> SlackPlace {
    SlackPlace::new("C1", PlaceInChannel::Thread(ts.to_owned()))
}

#[test]
fn who_is_answered_where() {
    use Addressed::{Directly, InConversation};
    use AnswerMode::{Always, Mentions, Never, Threads};
    let (called, plain) = ("<@UBOT> when?", "when?");
    let thread = || json!({ "thread_ts": "1.0" });
    let root = || json!({ "thread_ts": "2.0" });
    let direct = || json!({ "channel": "D1", "channel_type": "im" });
    let home = || json!({ "channel": "D1", "channel_type": "app_home" });
    let group = || json!({ "channel": "G1", "channel_type": "mpim" });
    for (text, more, mode, expected) in [
        (called, json!({}), Threads, Some(Directly)),
        (called, thread(), Threads, Some(Directly)),
        (plain, json!({}), Threads, None),
        (plain, thread(), Threads, Some(InConversation)),
        (plain, root(), Threads, None),
        (called, json!({}), Mentions, Some(Directly)),
        (plain, thread(), Mentions, None),
        (plain, json!({}), Always, Some(Directly)),
        (called, json!({}), Never, None),
        (plain, direct(), Never, None),
        (plain, direct(), Threads, Some(Directly)),
        (plain, direct(), Mentions, Some(Directly)),
        (plain, home(), Threads, Some(Directly)),
        (plain, group(), Threads, None),
        (called, group(), Threads, Some(Directly)),
    ] {
        let facts = SlackEventContext { mode, ..facts() };
        let addressed = match heard(text, more.clone(), &facts) {
            EventIntent::Said(heard) => Some(heard.addressed),
            EventIntent::Nothing(IgnoreReason::NotAddressed) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(addressed, expected, "{text} {more} {mode:?}");
    }
}

#[test]
fn what_people_say_to_each_other_is_heard_where_that_is_wanted() {
    let not_addressed = nothing(IgnoreReason::NotAddressed);
    let (bot, direct) = (
        json!({ "bot_id": "B2" }),
        json!({ "channel": "D1", "channel_type": "im" }),
    );
    for (text, more, mode, is_heard) in [
        ("Thursday?", json!({}), AnswerMode::Threads, true),
        ("Thursday?", json!({}), AnswerMode::Never, true),
        (
            "yes",
            json!({ "thread_ts": "1.0" }),
            AnswerMode::Mentions,
            true,
        ),
        ("<@UBOT> hi", json!({}), AnswerMode::Never, false),
        ("hi", bot, AnswerMode::Threads, false),
        (
            "joined",
            json!({ "subtype": "channel_join" }),
            AnswerMode::Threads,
            false,
        ),
        ("hi", direct, AnswerMode::Never, false),
    ] {
        let heard_there = SlackEventContext {
            mode,
            is_heard: true,
            ..facts()
        };
        let heard_now = match heard(text, more.clone(), &heard_there) {
            EventIntent::Said(heard) => heard.addressed == Addressed::Overheard,
            _ => false,
        };
        assert_eq!(heard_now, is_heard, "{text} {more} {mode:?}");
        let elsewhere = SlackEventContext { mode, ..facts() };
        if is_heard {
            assert_eq!(heard(text, more, &elsewhere), not_addressed, "{text}");
        }
    }
}

#[test]
fn nothing_is_said_to_bots_and_strangers() {
    use IgnoreReason::{Bot, Irrelevant, NotAllowed, Own};
    for (more, expected) in [
        (json!({ "user": ME }), Own),
        (json!({ "user": ME, "bot_id": "B1" }), Own),
        (json!({ "bot_id": "B2" }), Bot),
        (json!({ "subtype": "bot_message", "user": null }), Bot),
        (json!({ "bot_profile": {} }), Bot),
        (json!({ "user": "USLACKBOT" }), Bot),
        (json!({ "subtype": "channel_join" }), Irrelevant),
        (json!({ "subtype": "channel_topic" }), Irrelevant),
        (json!({ "user": null }), Irrelevant),
    ] {
        let intent = heard("<@UBOT> hi", more.clone(), &facts());
        assert_eq!(intent, nothing(expected), "{more}");
    }
    for subtype in ["file_share", "thread_broadcast", "me_message"] {
        let intent = heard("<@UBOT> hi", json!({ "subtype": subtype }), &facts());
        assert!(matches!(intent, EventIntent::Said(_)), "{subtype}");
    }
    let closed = SlackEventContext {
        is_allowed: false,
        ..facts()
    };
    let intent = heard("<@UBOT> hi", json!({}), &closed);
    assert_eq!(intent, nothing(NotAllowed));
}

#[test]
fn conversations_are_threads() {
    let direct = |thread: Option<&str>| json!({ "channel": "D1", "channel_type": "im", "thread_ts": thread });
    let thread =
        |channel: &str, ts: &str| SlackPlace::new(channel, PlaceInChannel::Thread(ts.to_owned()));
    let main = SlackPlace::new("D1", PlaceInChannel::Main);
    for (more, direct_threads, expected) in [
        (json!({}), false, thread("C1", "2.0")),
        (json!({ "thread_ts": "1.0" }), false, thread("C1", "1.0")),
        (direct(None), false, main.clone()),
        (direct(Some("2.0")), false, main),
        (direct(Some("1.0")), false, thread("D1", "1.0")),
        (direct(None), true, thread("D1", "2.0")),
        (direct(Some("2.0")), true, thread("D1", "2.0")),
        (direct(Some("1.0")), true, thread("D1", "1.0")),
    ] {
        let facts = SlackEventContext {
            direct_threads,
            ..facts()
        };
        match heard("<@UBOT> hi", more.clone(), &facts) {
            EventIntent::Said(heard) => assert_eq!(heard.place, expected, "{more}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_mention_with_a_commands_words_is_a_command() {
    for (text, expected) in [
        ("<@UBOT> why", Some(Command::Why)),
        ("<@UBOT>: Help", Some(Command::Help)),
        (
            "forget thread <@UBOT>",
            Some(Command::Forget(ForgetWhat::Session)),
        ),
        ("<@UBOT> why not?", None),
        ("<@UBOT>", None),
    ] {
        let said = match heard(text, json!({}), &facts()) {
            EventIntent::Said(heard) => heard.said,
            other => panic!("{other:?}"),
        };
        let command = match said {
            Request::Command(command) => Some(command),
            Request::Text(_) => None,
        };
        assert_eq!(command, expected, "{text}");
    }
    let stop = heard("<@UBOT> stop", json!({ "thread_ts": "1.0" }), &facts());
    assert_eq!(stop, EventIntent::Stop(in_thread("1.0")));
    // Without the bot's name these are ordinary words.
    let intent = heard("help", json!({ "thread_ts": "1.0" }), &facts());
    assert!(matches!(
        intent,
        EventIntent::Said(Heard {
            said: Request::Text(_),
            ..
        })
    ));
}

fn changed(text: &str, before: &str, more: Value) -> EventIntent {
    let now = message(text, more);
    let change = json!({ "type": "message", "subtype": "message_changed", "channel": "C1",
        "channel_type": "channel", "ts": "9.0", "message": now,
        "previous_message": { "text": before } });
    intent(&event(change), &facts())
}

#[test]
fn edits_are_told_where_something_changed() {
    let edited = |addressed, text: &str| {
        EventIntent::Edited(HeardEdit {
            addressed,
            place: in_thread("2.0"),
            text: text.to_owned(),
        })
    };
    let nothing_left = || edited(Addressed::InConversation, "");
    let (none, own, bot) = (json!({}), json!({ "user": ME }), json!({ "bot_id": "B" }));
    for (text, before, more, expected) in [
        (
            "<@UBOT> b",
            "<@UBOT> a",
            &none,
            edited(Addressed::Directly, "<@UBOT> b"),
        ),
        (
            "b",
            "<@UBOT> a",
            &none,
            edited(Addressed::InConversation, "b"),
        ),
        // An unfurled link, or a counted reply.
        (
            "<@UBOT> a",
            "<@UBOT> a",
            &none,
            nothing(IgnoreReason::Irrelevant),
        ),
        ("b", "a", &own, nothing(IgnoreReason::Own)),
        ("b", "a", &bot, nothing(IgnoreReason::Bot)),
        // A command is not executed, and of what it replaces nothing is left.
        ("<@UBOT> why", "<@UBOT> wyh", &none, nothing_left()),
        ("<@UBOT> stop", "<@UBOT> a", &none, nothing_left()),
        (
            "<@UBOT> remember that it is tea",
            "<@UBOT> remember that it is coffee",
            &none,
            edited(Addressed::Directly, "<@UBOT> remember that it is tea"),
        ),
        (
            "<@UBOT> correct 2: tea",
            "<@UBOT> correct 2: coffee",
            &none,
            edited(Addressed::Directly, "<@UBOT> correct 2: tea"),
        ),
    ] {
        let found = changed(text, before, more.clone());
        assert_eq!(found, expected, "{text} {more}");
    }
    let deleted = changed(
        "gone",
        "a",
        json!({ "subtype": "tombstone", "user": "USLACKBOT" }),
    );
    let place = in_thread("2.0");
    let of = "2.0".to_owned();
    assert_eq!(deleted, EventIntent::Deleted { of, place });
}

#[test]
fn deletions_are_told_but_those_of_the_bot() {
    let deleted = |before: Value| {
        let deletion = json!({ "type": "message", "subtype": "message_deleted", "channel": "C1",
            "channel_type": "channel", "ts": "9.0", "deleted_ts": "2.0", "previous_message": before });
        // A deleted message is forgotten, whoever is allowed.
        let facts = SlackEventContext {
            is_allowed: false,
            ..facts()
        };
        intent(&event(deletion), &facts)
    };
    let of = || "2.0".to_owned();
    for (before, place) in [
        (json!({ "user": "U1" }), in_thread("2.0")),
        (
            json!({ "user": "U1", "thread_ts": "1.0" }),
            in_thread("1.0"),
        ),
        (json!(null), in_thread("2.0")),
    ] {
        assert_eq!(deleted(before), EventIntent::Deleted { of: of(), place });
    }
    let own = deleted(json!({ "user": ME, "bot_id": "B" }));
    assert_eq!(own, nothing(IgnoreReason::Own));
    let bots = deleted(json!({ "user": "U2", "bot_id": "B" }));
    assert_eq!(bots, nothing(IgnoreReason::Bot));
}

#[test]
fn other_events_mean_what_they_say() {
    let irrelevant = nothing(IgnoreReason::Irrelevant);
    let home =
        |tab: &str| json!({ "type": "app_home_opened", "user": "U1", "channel": "D1", "tab": tab });
    let looking = json!({ "entities": [{ "type": "slack#/types/channel_id", "value": "C2" }] });
    let begun = |within, looks_at: Option<&str>, is_new| EventIntent::Begun {
        place: SlackPlace::new("D1", within),
        looks_at: looks_at.map(str::to_owned),
        is_new,
    };
    let thread = || PlaceInChannel::Thread("1.0".to_owned());
    let gone = || EventIntent::Gone {
        channel: "C1".to_owned(),
    };
    for (told, expected) in [
        (
            home("home"),
            EventIntent::Home {
                user: "U1".to_owned(),
                direct: "D1".to_owned(),
            },
        ),
        (home("messages"), irrelevant.clone()),
        (
            json!({ "type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "messages",
                "context": looking }),
            begun(PlaceInChannel::Main, Some("C2"), true),
        ),
        (
            json!({ "type": "app_context_changed", "user": "U1", "channel": "D1", "context": {} }),
            begun(PlaceInChannel::Main, None, false),
        ),
        (
            json!({ "type": "assistant_thread_started", "assistant_thread": { "user_id": "U1",
                "channel_id": "D1", "thread_ts": "1.0", "context": { "channel_id": "C2" } } }),
            begun(thread(), Some("C2"), true),
        ),
        (
            json!({ "type": "assistant_thread_context_changed", "assistant_thread": {
                "user_id": "U1", "channel_id": "D1", "thread_ts": "1.0", "context": {} } }),
            begun(thread(), None, false),
        ),
        (
            json!({ "type": "agent_session_stopped", "channel": "C1", "thread_ts": "1.0" }),
            EventIntent::Stop(in_thread("1.0")),
        ),
        (
            json!({ "type": "channel_deleted", "channel": "C1" }),
            gone(),
        ),
        (
            json!({ "type": "group_deleted", "channel": "C1", "date_deleted": 1, "actor_id": "U1" }),
            gone(),
        ),
        (json!({ "type": "channel_deleted" }), irrelevant.clone()),
        (
            json!({ "type": "app_uninstalled" }),
            EventIntent::Uninstalled,
        ),
        (json!({ "type": "channel_rename" }), irrelevant.clone()),
        (json!({ "type": "message" }), irrelevant.clone()),
        (json!({}), irrelevant),
    ] {
        assert_eq!(intent(&event(told.clone()), &facts()), expected, "{told}");
    }
}

/// Generates JSON of any form, with the field names that are parsed.
fn any_json() -> impl Strategy<Value = Value> {
    let names = [
        "type",
        "event",
        "event_id",
        "channel",
        "user",
        "ts",
        "thread_ts",
        "text",
        "subtype",
        "message",
        "previous_message",
        "files",
        "actions",
        "container",
        "context",
        "entities",
        "assistant_thread",
        "tab",
        "id",
        "value",
        "action_id",
        "trigger_id",
    ];
    let words = [
        "message",
        "app_mention",
        "event_callback",
        "message_changed",
        "message_deleted",
        "app_home_opened",
        "block_actions",
        "message_action",
        "C1",
        "D1",
        "U1",
        "1.0",
        "",
    ];
    let word = prop::sample::select(words.to_vec());
    let leaf = prop_oneof![
        word.prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 48, 8, move |inner| {
        let name = prop::sample::select(names.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(name, inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_comes_can_be_read(event in any_json(), payload in any_json()) {
        let envelope = json!({ "type": "event_callback", "event_id": "Ev1", "event": event });
        if let Some(Push::Event(event)) = Push::event(&envelope) {
            let _ = intent(&event.what, &facts());
        }
        let _ = Push::event(&payload);
        let _ = Push::slash(&payload);
        if let Some(Push::Interaction(done)) = Push::interaction(&payload) {
            let _ = interaction_intent(&done, true, Language::English);
        }
    }
}

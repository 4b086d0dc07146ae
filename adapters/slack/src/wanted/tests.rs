use muninn_platform::ForgetWhat;
use serde_json::{Value, json};

use super::*;
use crate::event::Push;

#[test]
fn slash_commands_ask_or_command() {
    let wished = |text: &str| {
        let given = Slash {
            trigger: "1.2".to_owned(),
            user: "U1".to_owned(),
            user_name: "ann".to_owned(),
            team: None,
            channel: "C1".to_owned(),
            text: text.to_owned(),
            response_url: None,
        };
        slash(&given, text)
    };
    let given = |text: &str| match wished(text) {
        InteractionIntent::Ask { said, of } => (said, of.within),
        other => panic!("{other:?}"),
    };
    let private = || PlaceInChannel::Private("U1".to_owned());
    for (text, asked) in [
        ("ask When?", "When?"),
        ("When is it?", "When is it?"),
        ("why not?", "why not?"),
        ("ask why", "why"),
    ] {
        assert_eq!(given(text), (Request::Text(asked.to_owned()), private()));
    }
    for (text, command) in [
        ("", Command::Help),
        ("help", Command::Help),
        ("Why", Command::Why),
        ("usage", Command::Usage),
        ("forget last", Command::Forget(ForgetWhat::Last)),
        (
            "forget everything",
            Command::Unknown("forget everything".to_owned()),
        ),
    ] {
        assert_eq!(
            given(text),
            (Request::Command(command), PlaceInChannel::Main),
            "{text}"
        );
    }
    for text in ["ask", " Ask "] {
        assert_eq!(
            wished(text),
            InteractionIntent::Incomplete(Incomplete::Ask),
            "{text}"
        );
    }
}

#[expect(clippy::needless_pass_by_value, reason = "tables read better")]
fn pressed_as(action: &str, value: &str, more: Value) -> InteractionIntent {
    let mut payload = json!({ "type": "block_actions", "trigger_id": "1.2", "user": { "id": "U1" },
        "channel": { "id": "C1" }, "container": { "message_ts": "2.0" },
        "message": { "ts": "2.0", "thread_ts": "1.0" },
        "actions": [{ "action_id": action, "value": value }] });
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    match Push::interaction(&payload) {
        Some(Push::Interaction(done)) => interaction_intent(&done, false, Language::English),
        other => panic!("{other:?}"),
    }
}

#[test]
fn buttons_say_all_they_need() {
    let (answer, of) = (
        MessageId::new("C1/2.0"),
        SlackPlace::new("C1", PlaceInChannel::Thread("1.0".to_owned())),
    );
    let ask = |command| InteractionIntent::Ask {
        said: Request::Command(command),
        of: SlackPlace::new("C1", PlaceInChannel::Thread("1.0".to_owned())),
    };
    let opinion = |opinion| InteractionIntent::Opinion {
        answer: answer.clone(),
        opinion,
        of: of.clone(),
    };
    let none = || json!({});
    for (action, value, expected) in [
        ("muninn_why", "why", ask(Command::WhyOf(answer.clone()))),
        ("muninn_opinion", "good", opinion(Opinion::Good)),
        ("muninn_opinion", "bad", opinion(Opinion::Bad)),
        ("muninn_opinion", "other", InteractionIntent::Nothing),
        ("muninn_stop", "stop", InteractionIntent::Stop(of.clone())),
        // Everybody sees it already.
        ("muninn_share", "all of it", InteractionIntent::Nothing),
        // Slack says who and where, never a button.
        (
            "muninn_why",
            "why C9/9.9",
            ask(Command::WhyOf(answer.clone())),
        ),
        ("muninn_opinion", "good C9/9.9", opinion(Opinion::Good)),
        ("someone_elses", "x", InteractionIntent::Nothing),
    ] {
        assert_eq!(
            pressed_as(action, value, none()),
            expected,
            "{action} {value}"
        );
    }
    // An ephemeral answer has no message, and an id of ours.
    let ephemeral = json!({ "message": null,
        "container": { "message_ts": "3.0", "is_ephemeral": true } });
    let shared = pressed_as("muninn_share", "all of it", ephemeral.clone());
    assert_eq!(shared, InteractionIntent::Share("all of it".to_owned()));
    // An answer of another place is ignored.
    let other = pressed_as("muninn_why", "why C9/private/x/0", ephemeral.clone());
    let InteractionIntent::Ask {
        said: Request::Command(Command::WhyOf(other)),
        ..
    } = other
    else {
        panic!("{other:?}");
    };
    assert_eq!(other, MessageId::new("C1/3.0"));
    let wish = pressed_as("muninn_why", "why C1/private/x/0", ephemeral);
    let private = SlackPlace::new("C1", PlaceInChannel::Private("U1".to_owned()));
    let command = Command::WhyOf(MessageId::new("C1/private/x/0"));
    assert_eq!(
        wish,
        InteractionIntent::Ask {
            said: Request::Command(command),
            of: private
        }
    );
    let home = json!({ "channel": null, "container": { "type": "view" }, "message": null });
    let wish = pressed_as("muninn_forget_direct", "D1", home);
    assert_eq!(
        wish,
        InteractionIntent::ForgetDirect {
            said_to_be: "D1".to_owned()
        }
    );
}

#[test]
fn a_shortcut_asks_about_its_message() {
    let payload = |callback: &str| {
        json!({ "type": "message_action", "callback_id": callback,
        "trigger_id": "1.2", "user": { "id": "U1" }, "channel": { "id": "C1" },
        "message": { "ts": "2.0", "text": "one\ntwo" } })
    };
    let wished = |callback: &str| match Push::interaction(&payload(callback)) {
        Some(Push::Interaction(done)) => interaction_intent(&done, false, Language::English),
        other => panic!("{other:?}"),
    };
    let InteractionIntent::Ask {
        said: Request::Text(text),
        of,
    } = wished(ASK_CALLBACK)
    else {
        panic!("it asks");
    };
    assert!(text.ends_with("\n&gt; one\n&gt; two"), "{text}");
    assert_eq!(of.within, PlaceInChannel::Private("U1".to_owned()));
    assert_eq!(wished("another"), InteractionIntent::Nothing);
}

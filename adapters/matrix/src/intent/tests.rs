use chrono::DateTime;
use muninn_platform::Command;
use proptest::prelude::*;

use super::*;

fn id(text: &str) -> OwnedEventId {
    text.try_into().unwrap()
}

fn facts() -> Context {
    Context {
        me: "@muninn:example.org".try_into().unwrap(),
        my_name: Some("Munin the Raven".to_owned()),
        is_direct: false,
        is_allowed: true,
        refers_to: None,
        threads: Threads::Always,
        command_prefix: "!muninn".to_owned(),
    }
}

fn event(what: EventKind) -> Event {
    Event {
        id: id("$e"),
        sender: "@ann:example.org".try_into().unwrap(),
        sent_at: DateTime::UNIX_EPOCH,
        what,
    }
}

fn message(text: &str) -> Message {
    Message {
        kind: Kind::Text,
        text: text.to_owned(),
        mentions: None,
        relates: Relates::default(),
    }
}

fn heard(message: Message, facts: &Context) -> Intent {
    intent(&event(EventKind::Message(message)), facts)
}

/// The text as the bot reads it, if it is meant.
fn read(text: &str, mentions: Option<&[&str]>) -> Option<String> {
    let mentions = mentions.map(|ids| ids.iter().map(|id| (*id).try_into().unwrap()).collect());
    let heard = heard(
        Message {
            mentions,
            ..message(text)
        },
        &facts(),
    );
    match heard {
        Intent::Said {
            said: Request::Text(text),
            ..
        } => Some(text),
        Intent::Nothing(IgnoreReason::NotAddressed) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_hears_its_names_as_words() {
    for (text, heard) in [
        ("muninn when?", Some("when?")),
        ("Muninn: when?", Some("when?")),
        ("@Muninn, when?", Some("when?")),
        ("@muninn:example.org when?", Some("when?")),
        ("MUNIN THE RAVEN when?", Some("when?")),
        ("when, muninn?", Some("when, muninn?")),
        ("ask @muninn:example.org when", Some("ask  when")),
        ("when?", None),
        ("muninns when?", None),
        ("muninn-bot when?", None),
        ("muninn:other.org when?", None),
        ("@muninn:other.org when?", None),
        ("xmuninn when?", None),
        ("mail@muninn.org", None),
        ("Munin the Ravens?", None),
        ("", None),
    ] {
        assert_eq!(read(text, None).as_deref(), heard, "{text:?}");
    }
}

#[test]
fn a_client_that_tells_mentions_is_believed() {
    let me: &[&str] = &["@muninn:example.org"];
    for (text, mentions, heard) in [
        ("when?", me, Some("when?")),
        ("Munin the Raven: when?", me, Some("when?")),
        ("is muninn up?", &[][..], None),
        ("muninn is up", &[], None),
        ("when?", &["@bob:example.org"], None),
        // Typed, not chosen from a list.
        ("Muninn, when?", &[], Some("when?")),
        ("muninn: when?", &[], Some("when?")),
    ] {
        assert_eq!(
            read(text, Some(mentions)).as_deref(),
            heard,
            "{text:?} {mentions:?}"
        );
    }
}

#[test]
fn who_is_answered() {
    let known = |sender: &str| {
        Some(Known {
            sender: sender.try_into().unwrap(),
            thread: None,
        })
    };
    let reply = Relates {
        reply_to: Some(id("$q")),
        ..Relates::default()
    };
    let in_thread = Relates {
        thread: Some(id("$root")),
        ..Relates::default()
    };
    let cases = [
        ("in a room, to nobody", facts(), Relates::default(), None),
        (
            "alone with it",
            Context {
                is_direct: true,
                ..facts()
            },
            Relates::default(),
            Some(Addressed::Directly),
        ),
        (
            "in a thread",
            facts(),
            in_thread.clone(),
            Some(Addressed::InConversation),
        ),
        (
            "in a thread, where there are none",
            Context {
                threads: Threads::Never,
                ..facts()
            },
            in_thread,
            None,
        ),
        (
            "to its answer",
            Context {
                refers_to: known("@muninn:example.org"),
                ..facts()
            },
            reply.clone(),
            Some(Addressed::Directly),
        ),
        (
            "to somebody else",
            Context {
                refers_to: known("@bob:example.org"),
                ..facts()
            },
            reply,
            None,
        ),
    ];
    for (name, facts, relates, expected) in cases {
        let found = match heard(
            Message {
                relates,
                ..message("when?")
            },
            &facts,
        ) {
            Intent::Said { addressed, .. } => Some(addressed),
            Intent::Nothing(IgnoreReason::NotAddressed) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn where_answers_stand() {
    let thread = |root: &str| Place {
        thread: Some(id(root)),
        is_reply: false,
    };
    let main = |is_reply| Place {
        thread: None,
        is_reply,
    };
    let of_thread = Some(Known {
        sender: facts().me,
        thread: Some(id("$old")),
    });
    for (threads, relates, is_direct, refers_to, text, expected) in [
        (Threads::Always, None, false, None, "muninn a", thread("$e")),
        (
            Threads::Always,
            Some("$root"),
            false,
            None,
            "muninn a",
            thread("$root"),
        ),
        (Threads::Always, None, false, of_thread, "a", thread("$old")),
        (
            Threads::Always,
            None,
            false,
            None,
            "!muninn why",
            main(true),
        ),
        (
            Threads::Always,
            Some("$root"),
            false,
            None,
            "!muninn why",
            thread("$root"),
        ),
        (Threads::Always, None, true, None, "a", main(false)),
        (
            Threads::Always,
            Some("$root"),
            true,
            None,
            "a",
            thread("$root"),
        ),
        (Threads::Follow, None, false, None, "muninn a", main(true)),
        (
            Threads::Follow,
            Some("$root"),
            false,
            None,
            "muninn a",
            thread("$root"),
        ),
        (
            Threads::Never,
            Some("$root"),
            false,
            None,
            "muninn a",
            main(true),
        ),
        (Threads::Never, None, true, None, "a", main(false)),
    ] {
        let facts = Context {
            threads,
            is_direct,
            refers_to,
            ..facts()
        };
        let relates = Relates {
            thread: relates.map(id),
            ..Relates::default()
        };
        match heard(
            Message {
                relates,
                ..message(text)
            },
            &facts,
        ) {
            Intent::Said { place, .. } => assert_eq!(place, expected, "{threads:?} {text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn commands_need_no_mention() {
    let command = |command| Some(Request::Command(command));
    for (text, expected) in [
        ("!muninn why", command(Command::Why)),
        ("!MUNINN Help", command(Command::Help)),
        ("!muninn", command(Command::Help)),
        ("!muninn: usage", command(Command::Usage)),
        ("!muninn whi", command(Command::Unknown("whi".to_owned()))),
        (
            "!muninn forget everything",
            command(Command::Unknown("forget everything".to_owned())),
        ),
        (
            "!muninn when is it?",
            Some(Request::Text("when is it?".to_owned())),
        ),
        ("!munin why", None),
        ("!muninns", None),
        ("!é", None),
        ("so !muninn why", None),
    ] {
        let found = match heard(message(text), &facts()) {
            Intent::Said {
                said, addressed, ..
            } => {
                assert_eq!(addressed, Addressed::Directly);
                Some(said)
            }
            Intent::Nothing(_) => None,
            other => panic!("{other:?}"),
        };
        // "so !muninn why" names it, as a word.
        if text == "so !muninn why" {
            assert_eq!(found, Some(Request::Text(text.to_owned())));
        } else {
            assert_eq!(found, expected, "{text:?}");
        }
    }
}

#[test]
fn it_answers_no_bot_and_nobody_who_is_not_let_in() {
    let notice = Message {
        kind: Kind::Notice,
        ..message("muninn: hello")
    };
    assert_eq!(
        heard(notice.clone(), &facts()),
        Intent::Nothing(IgnoreReason::Bot)
    );
    let edit = EventKind::Edit {
        of: id("$q"),
        newly_mentions: Vec::new(),
        new: notice,
    };
    let author = Some(Known {
        sender: "@ann:example.org".try_into().unwrap(),
        thread: None,
    });
    let facts_of_edit = Context {
        refers_to: author,
        ..facts()
    };
    assert_eq!(
        intent(&event(edit), &facts_of_edit),
        Intent::Nothing(IgnoreReason::Bot)
    );
    let stranger = Context {
        is_allowed: false,
        is_direct: true,
        ..facts()
    };
    assert_eq!(
        heard(message("muninn: hello"), &stranger),
        Intent::Nothing(IgnoreReason::NotAllowed)
    );
    let own = Event {
        sender: facts().me,
        ..event(EventKind::Message(message("muninn: hello")))
    };
    assert_eq!(intent(&own, &facts()), Intent::Nothing(IgnoreReason::Own));
}

#[test]
fn reactions() {
    for (key, expected) in [
        ("👍", Some(Opinion::Good)),
        ("👍️", Some(Opinion::Good)),
        ("👍🏽", Some(Opinion::Good)),
        ("👎🏿", Some(Opinion::Bad)),
        ("🎉", None),
        ("", None),
    ] {
        let reaction = EventKind::Reaction {
            to: id("$a"),
            key: key.to_owned(),
        };
        let expected = match expected {
            Some(opinion) => Intent::Opinion {
                answer: id("$a"),
                opinion,
            },
            None => Intent::Nothing(IgnoreReason::Irrelevant),
        };
        assert_eq!(intent(&event(reaction), &facts()), expected, "{key}");
    }
    let stop = EventKind::Reaction {
        to: id("$a"),
        key: "🛑".to_owned(),
    };
    assert_eq!(
        intent(&event(stop), &facts()),
        Intent::Stop { at: id("$a") }
    );
}

#[test]
fn edits_and_redactions_are_told() {
    let by = |sender: &str| Context {
        refers_to: Some(Known {
            sender: sender.try_into().unwrap(),
            thread: None,
        }),
        ..facts()
    };
    let edit = |text: &str| {
        intent(
            &event(EventKind::Edit {
                of: id("$q"),
                newly_mentions: Vec::new(),
                new: message(text),
            }),
            &by("@ann:example.org"),
        )
    };
    assert_eq!(
        edit("muninn: when then?"),
        Intent::Edited {
            of: id("$q"),
            addressed: Addressed::Directly,
            text: "when then?".to_owned()
        }
    );
    assert_eq!(
        edit("when then?"),
        Intent::Edited {
            of: id("$q"),
            addressed: Addressed::InConversation,
            text: "when then?".to_owned()
        }
    );
    assert_eq!(
        edit("!muninn forget last"),
        Intent::Nothing(IgnoreReason::Irrelevant)
    );
    let of_others = EventKind::Edit {
        of: id("$q"),
        newly_mentions: Vec::new(),
        new: message("muninn: when then?"),
    };
    for facts in [by("@bob:example.org"), facts()] {
        assert_eq!(
            intent(&event(of_others.clone()), &facts),
            Intent::Nothing(IgnoreReason::Irrelevant)
        );
    }
    let redaction = EventKind::Redaction { of: id("$q") };
    // Also by a moderator whom the bot does not answer.
    let stranger = Context {
        is_allowed: false,
        ..facts()
    };
    assert_eq!(
        intent(&event(redaction), &stranger),
        Intent::Deleted { of: id("$q") }
    );
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "(@|muninn|:|,|!| |é|example.org|\n|[a-z]){0,8}", name in any::<Option<String>>()) {
        let facts = Context { my_name: name, ..facts() };
        let _ = heard(message(&text), &facts);
    }
}

use chrono::DateTime;
use muninn_platform::Command;
use proptest::prelude::*;

use super::*;

fn id(text: &str) -> OwnedEventId {
    text.try_into().unwrap()
}

fn facts() -> MatrixEventContext {
    MatrixEventContext {
        me: "@muninn:example.org".try_into().unwrap(),
        my_name: Some("Munin the Raven".to_owned()),
        is_direct: false,
        is_allowed: true,
        is_heard: false,
        refers_to: None,
        threads: Threads::Always,
        command_prefix: "!muninn".to_owned(),
    }
}

fn event(what: MatrixEventKind) -> MatrixEvent {
    MatrixEvent {
        id: id("$e"),
        sender: "@ann:example.org".try_into().unwrap(),
        sent_at: DateTime::UNIX_EPOCH,
        what,
    }
}

fn message(text: &str) -> MatrixMessage {
    MatrixMessage {
        kind: MessageKind::Text,
        text: text.to_owned(),
        mentions: None,
        mentions_room: false,
        relates: Relates::default(),
    }
}

fn heard(message: MatrixMessage, facts: &MatrixEventContext) -> EventIntent {
    intent(&event(MatrixEventKind::Message(message)), facts)
}

/// A message of somebody, outside threads.
fn by(sender: &str) -> Option<EarlierMessage> {
    let sender = sender.try_into().unwrap();
    Some(EarlierMessage {
        sender,
        thread: None,
    })
}

fn edit(of: &str, new: MatrixMessage) -> MatrixEvent {
    event(MatrixEventKind::Edit {
        of: id(of),
        newly_mentions: Vec::new(),
        new,
    })
}

#[test]
fn it_is_told_to_whom_something_is_said() {
    let me = "@muninn:example.org";
    let toward = |mentions: &[&str], mentions_room, refers_to: Option<EarlierMessage>| {
        let mentions = mentions.iter().map(|id| (*id).try_into().unwrap());
        let said = MatrixMessage {
            mentions: Some(mentions.collect()),
            mentions_room,
            ..message("and when?")
        };
        let facts = MatrixEventContext {
            refers_to,
            ..facts()
        };
        let toward = toward(&event(MatrixEventKind::Message(said)), &facts);
        (toward.names_people, toward.answers_person)
    };
    let bea = "@bea:example.org";
    for (mentions, mentions_room, refers_to, expected) in [
        (&[][..], false, None, (false, false)),
        (&[me], false, by(me), (false, false)),
        (&[me, bea], false, None, (true, false)),
        (&[], false, by(bea), (false, true)),
        (&[], true, None, (true, false)),
        (&[me], true, by(me), (true, false)),
    ] {
        let found = toward(mentions, mentions_room, refers_to);
        assert_eq!(found, expected, "{mentions:?} {mentions_room}");
    }
}

/// Returns the text that the bot reads, if it is addressed.
fn read(text: &str, mentions: Option<&[&str]>) -> Option<String> {
    let mentions = mentions.map(|ids| ids.iter().map(|id| (*id).try_into().unwrap()).collect());
    let heard = heard(
        MatrixMessage {
            mentions,
            ..message(text)
        },
        &facts(),
    );
    match heard {
        EventIntent::Said {
            said: Request::Text(text),
            ..
        } => Some(text),
        EventIntent::Nothing(IgnoreReason::NotAddressed) => None,
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
    use Addressed::{Directly, InConversation};
    let direct = MatrixEventContext {
        is_direct: true,
        ..facts()
    };
    let without_threads = MatrixEventContext {
        threads: Threads::Never,
        ..facts()
    };
    let of = |sender| MatrixEventContext {
        refers_to: by(sender),
        ..facts()
    };
    let relates = |reply_to: Option<&str>, thread: Option<&str>| Relates {
        reply_to: reply_to.map(id),
        thread: thread.map(id),
        ..Relates::default()
    };
    let (alone, reply) = (relates(None, None), relates(Some("$q"), None));
    let in_thread = relates(None, Some("$root"));
    for (facts, relates, expected) in [
        (facts(), &alone, None),
        (direct, &alone, Some(Directly)),
        (facts(), &in_thread, Some(InConversation)),
        (without_threads, &in_thread, None),
        (of("@muninn:example.org"), &reply, Some(Directly)),
        (of("@bob:example.org"), &reply, None),
    ] {
        let asked = MatrixMessage {
            relates: relates.clone(),
            ..message("when?")
        };
        let found = match heard(asked, &facts) {
            EventIntent::Said { addressed, .. } => Some(addressed),
            EventIntent::Nothing(IgnoreReason::NotAddressed) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{relates:?} {facts:?}");
    }
}

#[test]
fn what_people_say_to_each_other_is_heard_where_that_is_wanted() {
    let heard_here = MatrixEventContext {
        is_heard: true,
        ..facts()
    };
    let direct = MatrixEventContext {
        is_direct: true,
        ..heard_here.clone()
    };
    let in_thread = MatrixMessage {
        relates: Relates {
            thread: Some(id("$root")),
            ..Relates::default()
        },
        ..message("yes, Thursday")
    };
    let without_threads = MatrixEventContext {
        threads: Threads::Never,
        ..heard_here.clone()
    };
    let notice = MatrixMessage {
        kind: MessageKind::Notice,
        ..message("build 7 is green")
    };
    let main = |thread: Option<&str>| AnswerPlacement {
        thread: thread.map(id),
        is_reply: false,
    };
    for (said, facts, expected) in [
        (message("Thursday?"), &heard_here, Some(main(None))),
        (
            in_thread.clone(),
            &without_threads,
            Some(main(Some("$root"))),
        ),
        (in_thread, &heard_here, None),
        (message("!muninn why"), &heard_here, None),
        (message("muninn: when?"), &heard_here, None),
        (notice, &heard_here, None),
        (message("Thursday?"), &direct, None),
    ] {
        let found = match heard(said.clone(), facts) {
            EventIntent::Said {
                addressed: Addressed::Overheard,
                place,
                ..
            } => Some(place),
            _ => None,
        };
        assert_eq!(found, expected, "{said:?}");
    }
}

#[test]
fn where_answers_stand() {
    let thread = |root: &str| AnswerPlacement {
        thread: Some(id(root)),
        is_reply: false,
    };
    let main = |is_reply| AnswerPlacement {
        thread: None,
        is_reply,
    };
    let of_thread = Some(EarlierMessage {
        sender: facts().me,
        thread: Some(id("$old")),
    });
    use Threads::{Always, Follow, Never};
    let root = Some("$root");
    for (threads, relates, is_direct, refers_to, text, expected) in [
        (Always, None, false, None, "muninn a", thread("$e")),
        (Always, root, false, None, "muninn a", thread("$root")),
        (Always, None, false, of_thread, "a", thread("$old")),
        (Always, None, false, None, "!muninn why", main(true)),
        (Always, root, false, None, "!muninn why", thread("$root")),
        (Always, None, true, None, "a", main(false)),
        (Always, root, true, None, "a", thread("$root")),
        (Follow, None, false, None, "muninn a", main(true)),
        (Follow, root, false, None, "muninn a", thread("$root")),
        (Never, root, false, None, "muninn a", main(true)),
        (Never, None, true, None, "a", main(false)),
    ] {
        let facts = MatrixEventContext {
            threads,
            is_direct,
            refers_to,
            ..facts()
        };
        let relates = Relates {
            thread: relates.map(id),
            ..Relates::default()
        };
        let asked = MatrixMessage {
            relates,
            ..message(text)
        };
        match heard(asked, &facts) {
            EventIntent::Said { place, .. } => assert_eq!(place, expected, "{threads:?} {text}"),
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
            EventIntent::Said {
                said, addressed, ..
            } => {
                assert_eq!(addressed, Addressed::Directly);
                Some(said)
            }
            EventIntent::Nothing(_) => None,
            other => panic!("{other:?}"),
        };
        // "so !muninn why" contains the name as a word.
        if text == "so !muninn why" {
            assert_eq!(found, Some(Request::Text(text.to_owned())));
        } else {
            assert_eq!(found, expected, "{text:?}");
        }
    }
}

#[test]
fn it_answers_no_bot_and_nobody_who_is_not_let_in() {
    let hello = || message("muninn: hello");
    let notice = MatrixMessage {
        kind: MessageKind::Notice,
        ..hello()
    };
    let of_ann = MatrixEventContext {
        refers_to: by("@ann:example.org"),
        ..facts()
    };
    let stranger = MatrixEventContext {
        is_allowed: false,
        is_direct: true,
        ..facts()
    };
    let own = MatrixEvent {
        sender: facts().me,
        ..event(MatrixEventKind::Message(hello()))
    };
    let said = |message| event(MatrixEventKind::Message(message));
    for (event, facts, expected) in [
        (said(notice.clone()), facts(), IgnoreReason::Bot),
        (edit("$q", notice), of_ann, IgnoreReason::Bot),
        (said(hello()), stranger, IgnoreReason::NotAllowed),
        (own, facts(), IgnoreReason::Own),
    ] {
        assert_eq!(intent(&event, &facts), EventIntent::Nothing(expected));
    }
}

#[test]
fn reactions() {
    let opinion = |opinion| EventIntent::Opinion {
        answer: id("$a"),
        opinion,
    };
    let nothing = || EventIntent::Nothing(IgnoreReason::Irrelevant);
    for (key, expected) in [
        ("👍", opinion(Opinion::Good)),
        ("👍️", opinion(Opinion::Good)),
        ("👍🏽", opinion(Opinion::Good)),
        ("👎🏿", opinion(Opinion::Bad)),
        ("🛑", EventIntent::Stop { at: id("$a") }),
        ("🎉", nothing()),
        ("", nothing()),
    ] {
        let reaction = MatrixEventKind::Reaction {
            to: id("$a"),
            key: key.to_owned(),
        };
        assert_eq!(intent(&event(reaction), &facts()), expected, "{key}");
    }
}

#[test]
fn a_yes_or_no_counts_below_what_the_bot_said() {
    let decided = |key: &str, refers_to: Option<&str>| {
        let reaction = MatrixEventKind::Reaction {
            to: id("$a"),
            key: key.to_owned(),
        };
        let known = |sender: &str| EarlierMessage {
            sender: sender.try_into().unwrap(),
            thread: None,
        };
        let facts = MatrixEventContext {
            refers_to: refers_to.map(known),
            ..facts()
        };
        intent(&event(reaction), &facts)
    };
    let me = facts().me;
    let me = Some(me.as_str());
    for (key, is_yes) in [("✅", true), ("✔\u{fe0f}", true), ("❌", false)] {
        let at = id("$a");
        assert_eq!(
            decided(key, me),
            EventIntent::Decided { at, is_yes },
            "{key}"
        );
        let nothing = EventIntent::Nothing(IgnoreReason::Irrelevant);
        for elsewhere in [Some("@bob:example.org"), None] {
            assert_eq!(decided(key, elsewhere), nothing, "{key}");
        }
    }
}

#[test]
fn edits_and_redactions_are_told() {
    use Addressed::{Directly, InConversation};
    let of = |sender| MatrixEventContext {
        refers_to: by(sender),
        ..facts()
    };
    let edited = |addressed, text: &str| EventIntent::Edited {
        of: id("$q"),
        addressed,
        text: text.to_owned(),
        file: None,
    };
    let then = "when then?";
    let note = "remember that it is tea";
    let nothing_left = || edited(InConversation, "");
    let nothing = || EventIntent::Nothing(IgnoreReason::Irrelevant);
    let (ann, bob) = (of("@ann:example.org"), of("@bob:example.org"));
    for (text, facts, expected) in [
        ("muninn: when then?", &ann, edited(Directly, then)),
        ("when then?", &ann, edited(InConversation, then)),
        ("!muninn when then?", &ann, edited(Directly, then)),
        // A command is not executed, and of what it replaces nothing is left.
        ("!muninn forget last", &ann, nothing_left()),
        ("!muninn", &ann, nothing_left()),
        (
            "!muninn: remember that it is tea",
            &ann,
            edited(Directly, note),
        ),
        (
            "!muninn correct 2: tea",
            &ann,
            edited(Directly, "correct 2: tea"),
        ),
        ("!muninn help", &bob, nothing()),
        ("muninn: when then?", &bob, nothing()),
        ("muninn: when then?", &facts(), nothing()),
    ] {
        assert_eq!(
            intent(&edit("$q", message(text)), facts),
            expected,
            "{text}"
        );
    }
    let redaction = MatrixEventKind::Redaction { of: id("$q") };
    // Also by a moderator whom the allow list does not admit.
    let stranger = MatrixEventContext {
        is_allowed: false,
        ..facts()
    };
    let deleted = EventIntent::Deleted { of: id("$q") };
    assert_eq!(intent(&event(redaction), &stranger), deleted);
}

#[test]
fn a_picture_whose_caption_is_edited_is_a_picture_still() {
    let facts = MatrixEventContext {
        refers_to: by("@ann:example.org"),
        ..facts()
    };
    let sign = MatrixFile {
        name: "sign.png".to_owned(),
        media_type: "image/png".to_owned(),
        size: Some(7),
    };
    let caption = MatrixMessage {
        kind: MessageKind::File(sign.clone()),
        ..message("what does it say?")
    };
    let expected = EventIntent::Edited {
        of: id("$q"),
        addressed: Addressed::InConversation,
        text: "what does it say?".to_owned(),
        file: Some(sign),
    };
    assert_eq!(intent(&edit("$q", caption), &facts), expected);
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "(@|muninn|:|,|!| |é|example.org|\n|[a-z]){0,8}", name in any::<Option<String>>()) {
        let facts = MatrixEventContext { my_name: name, ..facts() };
        let _ = heard(message(&text), &facts);
    }
}

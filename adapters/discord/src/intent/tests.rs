use muninn_platform::{Attachment, Command};
use serenity::model::Permissions;
use serenity::model::id::{GuildId, MessageId};

use super::*;
use crate::message::Person;

const ME: UserId = UserId::new(5);
const BOB: UserId = UserId::new(6);
const GUILD: GuildId = GuildId::new(1);

fn person(id: UserId) -> Person {
    Person {
        id,
        name: "ann".to_owned(),
        is_bot: false,
        roles: Vec::new(),
        permissions: None,
        language: None,
    }
}

fn said(text: &str) -> DiscordMessage {
    DiscordMessage {
        id: MessageId::new(100),
        channel: ChannelId::new(20),
        guild: Some(GUILD),
        author: person(UserId::new(4)),
        is_regular: true,
        text: text.to_owned(),
        mentions: Vec::new(),
        role_mentions: Vec::new(),
        mentions_everyone: false,
        files: Vec::new(),
        has_more: false,
        replies_to: None,
        at: chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
    }
}

fn mention(text: &str) -> DiscordMessage {
    DiscordMessage {
        mentions: vec![(ME, "Muninn".to_owned()), (BOB, "bob".to_owned())],
        ..said(text)
    }
}

fn attachment(name: &str) -> Attachment {
    Attachment {
        id: "https://cdn.discordapp.com/a".to_owned(),
        name: name.to_owned(),
        media_type: String::new(),
        size: None,
    }
}

fn quoted(author: UserId, text: &str) -> Quoted {
    Quoted {
        id: MessageId::new(90),
        author,
        is_bot: author == ME,
        name: "bob".to_owned(),
        text: text.to_owned(),
        files: Vec::new(),
        at: chrono::DateTime::from_timestamp(1_600_000_000, 0).unwrap(),
    }
}

fn reply(author: UserId, text: &str) -> DiscordMessage {
    DiscordMessage {
        replies_to: Some(quoted(author, "Ship it.")),
        ..said(text)
    }
}

fn facts(kind: DiscordChannelKind, mode: AnswerMode) -> MessageContext {
    MessageContext {
        me: ME,
        my_role: Some(RoleId::new(50)),
        spot: DiscordLocation {
            guild: Some(GUILD),
            channel: ChannelId::new(20),
            kind,
            parent: None,
            name: "general".to_owned(),
        },
        is_allowed: true,
        mode,
        is_heard: false,
        reads_messages: true,
        language: Language::English,
        channels: vec![(ChannelId::new(20), "general".to_owned())],
    }
}

fn addressed_as(
    said: &DiscordMessage,
    kind: DiscordChannelKind,
    mode: AnswerMode,
) -> Result<Addressed, IgnoreReason> {
    match intent(said, &facts(kind, mode)) {
        MessageIntent::Said { addressed, .. } => Ok(addressed),
        MessageIntent::Nothing(silence) => Err(silence),
    }
}

#[test]
fn the_mode_says_what_is_answered() {
    use Addressed::{Directly, InConversation};
    use AnswerMode::{Always, Mentions, Never, Threads};
    use IgnoreReason::{Never as Left, NotAddressed};
    let (plain, named) = (said("hello"), mention("<@5> hello"));
    let (to_me, to_bob) = (reply(ME, "and?"), reply(BOB, "and?"));
    let (no, yes, inside) = (Err(NotAddressed), Ok(Directly), Ok(InConversation));
    for (kind, mode, expected) in [
        (DiscordChannelKind::Text, Threads, [no, yes, yes, no]),
        (
            DiscordChannelKind::PublicThread,
            Threads,
            [inside, yes, yes, inside],
        ),
        (
            DiscordChannelKind::PrivateThread,
            Mentions,
            [no, yes, yes, no],
        ),
        (DiscordChannelKind::Text, Always, [yes; 4]),
        (DiscordChannelKind::PublicThread, Never, [Err(Left); 4]),
        (DiscordChannelKind::Flat, Threads, [no, yes, yes, no]),
        (DiscordChannelKind::Direct, Never, [yes; 4]),
    ] {
        let found = [&plain, &named, &to_me, &to_bob].map(|said| addressed_as(said, kind, mode));
        assert_eq!(found, expected, "{kind:?} {mode:?}");
    }
    let by_role = DiscordMessage {
        role_mentions: vec![RoleId::new(50)],
        ..said("<@&50> hello")
    };
    assert_eq!(
        addressed_as(&by_role, DiscordChannelKind::Text, Threads),
        Ok(Directly)
    );
}

#[test]
fn what_people_say_to_each_other_is_heard_where_that_is_wanted() {
    use AnswerMode::{Always, Never, Threads};
    let (plain, named, to_bob) = (said("hello"), mention("<@5> hello"), reply(BOB, "and?"));
    for (said, kind, mode, is_heard) in [
        (&plain, DiscordChannelKind::Text, Threads, true),
        (&plain, DiscordChannelKind::Text, Never, true),
        (&to_bob, DiscordChannelKind::Flat, Threads, true),
        (&plain, DiscordChannelKind::Direct, Threads, false),
        (&plain, DiscordChannelKind::Text, Always, false),
        (&plain, DiscordChannelKind::PublicThread, Threads, false),
        (&named, DiscordChannelKind::Text, Never, false),
    ] {
        let there = MessageContext {
            is_heard: true,
            ..facts(kind, mode)
        };
        let found = match intent(said, &there) {
            MessageIntent::Said {
                addressed: Addressed::Overheard,
                place,
                stand: AnswerDestination::Here,
                ..
            } => Some(place),
            _ => None,
        };
        let here = DiscordPlace::new(Some(GUILD), ChannelId::new(20));
        assert_eq!(
            found,
            is_heard.then_some(here),
            "{} {kind:?} {mode:?}",
            said.text
        );
        let stranger = MessageContext {
            is_allowed: false,
            ..there
        };
        if is_heard {
            let found = intent(said, &stranger);
            assert_eq!(found, MessageIntent::Nothing(IgnoreReason::NotAddressed));
        }
    }
}

#[test]
fn bots_notices_and_strangers_are_not_answered() {
    let bot = DiscordMessage {
        author: Person {
            is_bot: true,
            ..person(BOB)
        },
        ..mention("<@5> hi")
    };
    let mine = DiscordMessage {
        author: person(ME),
        ..mention("<@5> hi")
    };
    let notice = DiscordMessage {
        is_regular: false,
        ..mention("<@5> hi")
    };
    let silence =
        |said: &DiscordMessage| addressed_as(said, DiscordChannelKind::Text, AnswerMode::Threads);
    assert_eq!(silence(&bot), Err(IgnoreReason::Bot));
    assert_eq!(silence(&mine), Err(IgnoreReason::Bot));
    assert_eq!(silence(&notice), Err(IgnoreReason::Irrelevant));
    let not_let_in = MessageContext {
        is_allowed: false,
        ..facts(DiscordChannelKind::Text, AnswerMode::Threads)
    };
    assert_eq!(
        intent(&mention("<@5> hi"), &not_let_in),
        MessageIntent::Nothing(IgnoreReason::NotAllowed)
    );
    // The operator is not told of a message that is not for the bot.
    assert_eq!(
        intent(&said("hi"), &not_let_in),
        MessageIntent::Nothing(IgnoreReason::NotAddressed)
    );
}

fn wanted(said: &DiscordMessage, kind: DiscordChannelKind) -> Request {
    match intent(said, &facts(kind, AnswerMode::Threads)) {
        MessageIntent::Said { wants, .. } => wants,
        MessageIntent::Nothing(silence) => panic!("{silence:?}"),
    }
}

#[test]
fn the_text_is_what_people_read() {
    for (text, plain) in [
        ("<@5> hello", "hello"),
        ("<@!5>, <@&50> hello <@6>", "hello @bob"),
        ("hello <@5> in <#20>", "hello in #general"),
        ("<@5>: <:wave:7> <a:dance:8>", ":wave: :dance:"),
        ("<@5> <@7> <#21> <@&51> a < b", "<@7> <#21> <@&51> a < b"),
        ("<@5> <t:1> <:x> <", "<t:1> <:x> <"),
    ] {
        let wants = wanted(&mention(text), DiscordChannelKind::Text);
        assert_eq!(wants, Request::Text(plain.to_owned()), "{text:?}");
    }
}

#[test]
fn a_bare_mention_asks_for_help_or_about_what_it_replies_to() {
    let bare = || mention("<@5>");
    let about = |author| DiscordMessage {
        replies_to: Some(quoted(author, "Ship it.")),
        ..bare()
    };
    let with_file = DiscordMessage {
        files: vec![attachment("a.txt")],
        ..bare()
    };
    let help = || Request::Command(Command::Help);
    let text = |text: &str| Request::Text(text.to_owned());
    let question = "What do you think of this message from bob?\n> Ship it.";
    for (said, expected) in [
        (bare(), help()),
        (about(BOB), text(question)),
        (about(ME), help()),
        (with_file, text("")),
    ] {
        assert_eq!(
            wanted(&said, DiscordChannelKind::Text),
            expected,
            "{said:?}"
        );
    }
    // A sticker, or a message that may not be read.
    let empty = addressed_as(
        &said(""),
        DiscordChannelKind::PublicThread,
        AnswerMode::Threads,
    );
    assert_eq!(empty, Err(IgnoreReason::Irrelevant));
}

#[test]
fn an_answer_stands_in_a_thread_where_there_can_be_one() {
    for (kind, text, conversation, stand) in [
        (
            DiscordChannelKind::Text,
            "<@5> hi",
            "discord/1/100",
            AnswerDestination::NewThread,
        ),
        (
            DiscordChannelKind::Text,
            "<@5>",
            "discord/1/20",
            AnswerDestination::Here,
        ),
        (
            DiscordChannelKind::PublicThread,
            "<@5> hi",
            "discord/1/20",
            AnswerDestination::Here,
        ),
        (
            DiscordChannelKind::PrivateThread,
            "<@5> hi",
            "discord/1/20",
            AnswerDestination::Here,
        ),
        (
            DiscordChannelKind::Flat,
            "<@5> hi",
            "discord/1/20",
            AnswerDestination::Here,
        ),
    ] {
        match intent(&mention(text), &facts(kind, AnswerMode::Threads)) {
            MessageIntent::Said {
                place, stand: at, ..
            } => {
                assert_eq!(place.conversation().as_str(), conversation, "{kind:?}");
                assert_eq!(at, stand, "{kind:?} {text}");
            }
            MessageIntent::Nothing(silence) => panic!("{silence:?}"),
        }
    }
}

#[test]
fn help_is_for_who_says_nothing_to_it() {
    let (text, direct) = (DiscordChannelKind::Text, DiscordChannelKind::Direct);
    let with_sticker = |said| DiscordMessage {
        has_more: true,
        ..said
    };
    let by_role = DiscordMessage {
        role_mentions: vec![RoleId::new(50)],
        ..said("")
    };
    for (said, kind, reads_messages, is_helped) in [
        (said(""), direct, true, true),
        (said(""), direct, false, true),
        (reply(ME, ""), text, true, true),
        (mention("<@5>"), text, false, true),
        (by_role, text, false, true),
        // Discord withholds what it says.
        (reply(ME, ""), text, false, false),
        // A sticker, a poll, an empty forward.
        (with_sticker(said("")), direct, true, false),
        (with_sticker(mention("<@5>")), text, true, false),
    ] {
        let there = MessageContext {
            reads_messages,
            ..facts(kind, AnswerMode::Threads)
        };
        let expected = match is_helped {
            true => Ok(Request::Command(Command::Help)),
            false => Err(IgnoreReason::Irrelevant),
        };
        let found = match intent(&said, &there) {
            MessageIntent::Said { wants, .. } => Ok(wants),
            MessageIntent::Nothing(silence) => Err(silence),
        };
        assert_eq!(found, expected, "{said:?} {kind:?} {reads_messages}");
    }
}

#[test]
fn every_edit_of_somebody_let_in_is_told() {
    let in_channel = facts(DiscordChannelKind::Text, AnswerMode::Threads);
    let (addressed, text, place, stand) = edited(&said("hello"), &in_channel).unwrap();
    assert_eq!(
        (addressed, text.as_str()),
        (Addressed::InConversation, "hello")
    );
    assert_eq!(
        (place.channel, stand),
        (ChannelId::new(100), AnswerDestination::NewThread)
    );
    let (addressed, ..) = edited(&mention("<@5> hello"), &in_channel).unwrap();
    assert_eq!(addressed, Addressed::Directly);
    let stranger = MessageContext {
        is_allowed: false,
        ..in_channel
    };
    assert_eq!(edited(&mention("<@5> hello"), &stranger), None);
}

#[test]
fn an_edit_that_leaves_no_words_is_told_unless_they_are_withheld() {
    let with_file = DiscordMessage {
        files: vec![attachment("a.png")],
        ..said("")
    };
    let (text, direct) = (DiscordChannelKind::Text, DiscordChannelKind::Direct);
    for (said, kind, reads_messages, is_told) in [
        (said(""), text, true, true),
        (said(""), text, false, false),
        (said(""), direct, false, true),
        (mention("<@5>"), text, false, true),
        (mention(""), text, false, true),
        (with_file, text, false, true),
    ] {
        let there = MessageContext {
            reads_messages,
            ..facts(kind, AnswerMode::Threads)
        };
        let told = edited(&said, &there).map(|(_, text, ..)| text);
        let expected = is_told.then(String::new);
        assert_eq!(told, expected, "{said:?} {kind:?} {reads_messages}");
    }
    // It then asks about the message that it replies to.
    let about = DiscordMessage {
        replies_to: Some(quoted(BOB, "Ship it.")),
        ..mention("<@5>")
    };
    let (_, text, ..) = edited(&about, &facts(text, AnswerMode::Threads)).unwrap();
    assert!(text.ends_with("\n> Ship it."), "{text}");
}

#[test]
fn a_thread_is_named_in_one_line_from_the_question() {
    let long = format!("{} {}", "word ".repeat(18), "x".repeat(40));
    for (question, name) in [
        ("Who leads?", "Who leads?".to_owned()),
        (" two\nlines\t here ", "two lines here".to_owned()),
        ("", "Question".to_owned()),
        (&long, format!("{}…", "word ".repeat(18).trim_end())),
        (&"ä".repeat(150), format!("{}…", "ä".repeat(99))),
        (&"y".repeat(100), "y".repeat(100)),
    ] {
        assert_eq!(
            thread_name(question, Language::English),
            name,
            "{question:?}"
        );
        assert!(thread_name(question, Language::English).chars().count() <= 100);
    }
    assert_eq!(thread_name("", Language::German), "Frage");
}

#[test]
fn who_may_manage_messages_may_forget_for_others() {
    for (permissions, is) in [
        (None, false),
        (Some(Permissions::SEND_MESSAGES), false),
        (Some(Permissions::MANAGE_MESSAGES), true),
        (Some(Permissions::ADMINISTRATOR), true),
    ] {
        assert_eq!(is_admin(permissions), is, "{permissions:?}");
    }
}

#[test]
fn channels_are_found_in_a_text() {
    let found: Vec<u64> = channels_named("a <#20> <#x> <#21 <#22>")
        .map(ChannelId::get)
        .collect();
    assert_eq!(found, [20, 22]);
}

#[test]
fn it_is_told_to_whom_a_message_is_said() {
    let facts = facts(DiscordChannelKind::PublicThread, AnswerMode::Threads);
    let of_role = |role| DiscordMessage {
        role_mentions: vec![RoleId::new(role)],
        ..said("lunch is ready")
    };
    let to_all = DiscordMessage {
        mentions_everyone: true,
        ..said("@here lunch is ready")
    };
    for (said, expected) in [
        (said("lunch is ready"), (false, false)),
        (mention("<@6> lunch is ready"), (true, false)),
        (of_role(50), (false, false)),
        (of_role(51), (true, false)),
        (to_all, (true, false)),
        (reply(BOB, "and?"), (false, true)),
        (reply(ME, "and?"), (false, false)),
    ] {
        let found = toward(&said, &facts);
        assert_eq!(
            (found.names_people, found.answers_person),
            expected,
            "{said:?}"
        );
    }
}

//! Conversations: mentions, threads, direct messages.

use std::sync::Arc;

use muninn_platform::{Addressed, Channels};

use crate::support::{Echoes, EventTransport, SlackInstallation, app, run, run_as};

#[test]
fn a_mention_is_answered_in_its_thread() {
    for way in [EventTransport::Socket, EventTransport::Http] {
        run_as(way, app(), async |chat| {
            let asked = chat.ask("Who are Odin's ravens?");
            let thread = chat.in_thread(&asked);
            let answer = thread.hears("echo: Who are Odin's ravens?").await;
            assert_eq!(answer.thread.as_deref(), Some(asked.as_str()), "{way:?}");
            assert_eq!(answer.unfurls, (false, false));
            assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
            let log = chat.bot.log();
            let message = &log.messages[0];
            let team = loopback_slack::TEAM;
            let channel = chat.channel.id();
            assert_eq!(
                message.conversation.as_str(),
                format!("slack/{team}/{channel}/{asked}")
            );
            assert_eq!(
                message.audience.id.as_str(),
                format!("slack/{team}/{channel}")
            );
            assert_eq!(message.audience.name, "#general");
            assert_eq!(message.author.name, "Ann");
            // The message and the mention are one event.
            assert_eq!(log.messages.len(), 1);
        });
    }
}

#[test]
fn a_follow_up_needs_no_mention() {
    run(async |chat| {
        let thread = chat.thread("one");
        thread.hears("echo: one").await;
        chat.rests().await;
        thread.echoes("two").await;
        let second = &chat.bot.log().messages[1];
        assert_eq!(second.addressed, Addressed::InConversation);
        // A thread without the bot.
        let other = chat.say("lunch?");
        let other = chat.in_thread(&other);
        other.say("yes");
        other.ask("and now?");
        other.hears("echo: and now?").await;
        assert_eq!(other.said().len(), 1);
    });
}

#[test]
fn direct_messages_are_one_conversation_beside_their_threads() {
    run(async |chat| {
        let direct = chat.ann.with_bot();
        let asked = direct.say("one");
        let answer = direct.hears("echo: one").await;
        assert_eq!(answer.thread, None);
        direct.echoes("two").await;
        direct.in_thread(&asked).say("three");
        let third = direct.hears("echo: three").await;
        assert_eq!(third.thread, Some(asked.clone()));
        let log = chat.bot.log();
        let team = loopback_slack::TEAM;
        let audience = format!("slack/{team}/{}", direct.channel_id());
        let conversations = ["main", "main", &asked].map(|last| format!("{audience}/{last}"));
        for (message, conversation) in log.messages.iter().zip(conversations) {
            assert_eq!(message.conversation.as_str(), conversation);
            assert_eq!(message.audience.id.as_str(), audience);
            assert_eq!(message.audience.name, "direct messages with Ann");
        }
    });
}

#[test]
fn private_channels_and_groups_are_audiences_of_their_own() {
    run(async |chat| {
        let people = [&chat.ann];
        let places = [
            chat.slack.private_channel("secret", &people),
            chat.slack.group(&people),
        ];
        for place in &places {
            let place = chat.ann.in_channel(place);
            let thread = place.in_thread(&place.ask("here?"));
            thread.hears("echo: here?").await;
        }
        let log = chat.bot.log();
        for (message, place) in log.messages.iter().zip(&places) {
            let expected = format!("slack/{}/{}", loopback_slack::TEAM, place.id());
            assert_eq!(message.audience.id.as_str(), expected);
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_can_be_set_by_channel() {
    let home = SlackInstallation::new(app()).await;
    let names = ["always", "never", "mentions", "unset"];
    let channels = names.map(|name| home.slack.channel(name));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("channels.toml");
    let tables = channels[..3].iter().zip(names).map(|(channel, mode)| {
        let team = loopback_slack::TEAM;
        format!("[\"slack/{team}/{}\"]\nanswer = \"{mode}\"\n", channel.id())
    });
    std::fs::write(&path, tables.collect::<String>()).unwrap();
    let settings = Channels::load(&path).unwrap();
    let bot = home
        .start_with(|options| options.channels = Arc::new(settings))
        .await;
    let ann = home.slack.person("Ann");
    let [always, never, mentions, unset] = channels.each_ref().map(|one| ann.in_channel(one));
    let thread = always.in_thread(&always.say("one"));
    thread.hears("echo: one").await;
    never.ask("nothing");
    let thread = mentions.in_thread(&mentions.ask("two"));
    thread.hears("echo: two").await;
    thread.say("not for it");
    unset.say("not for it either");
    let thread = unset.in_thread(&unset.ask("three"));
    thread.hears("echo: three").await;
    home.slack.all_told().await;
    assert_eq!(bot.log().messages.len(), 3);
}

#[test]
fn people_are_called_by_their_names() {
    run(async |chat| {
        let admin = chat.slack.admin("Ada").in_channel(&chat.channel);
        let text = format!(
            "<@{}> does <@{}> know <https://a.b/c|this>?",
            loopback_slack::BOT_USER,
            chat.ann.id()
        );
        let thread = admin.in_thread(&admin.say_raw(&text));
        thread
            .hears("echo: does @Ann know this (https://a.b/c)?")
            .await;
        let author = &chat.bot.log().messages[0].author;
        assert_eq!((author.name.as_str(), author.is_admin), ("Ada", true));
    });
}

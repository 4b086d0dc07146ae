//! Failures of sending: limits, refusals, deleted channels.

use std::time::Duration;

use loopback_discord::{Limits, Permissions, Settings};
use muninn_platform::testing::EchoLog;
use muninn_platform::{Announced, AudienceId, Body, Command, Delivered};

use crate::support::{
    DiscordFixture, DiscordInstallation, DiscordTransport, Echoes, run, run_badly, run_by, run_in,
};

const MESSAGES: &str = "/channels/{channel_id}/messages";
const CALLBACK: &str = "/interactions/{interaction_id}/{interaction_token}/callback";
const ORIGINAL: &str = "/webhooks/{webhook_id}/{webhook_token}/messages/@original";

#[test]
fn a_rest_that_discord_wants_is_taken() {
    run_by(DiscordTransport::Real, async |chat| {
        let direct = chat.ann.direct();
        chat.discord
            .next("POST", MESSAGES)
            .is_limited(Duration::from_secs(1));
        direct.echoes("one").await;
        chat.discord
            .next("POST", MESSAGES)
            .is_limited_globally(Duration::from_secs(1));
        direct.echoes("two").await;
        chat.discord
            .next("PATCH", ORIGINAL)
            .is_limited(Duration::from_secs(1));
        chat.ask("three", &[]).hears("echo: three").await;
        assert_eq!(direct.said().len(), 2);
    });
}

#[test]
fn where_discord_tells_its_limits_in_words_a_message_is_sent_once() {
    run_by(DiscordTransport::Real, async |chat| {
        let direct = chat.ann.direct();
        chat.discord.next("POST", MESSAGES).tells_no_numbers();
        direct.echoes("one").await;
        direct.echoes("two").await;
        assert_eq!(direct.said().len(), 2);
        let requests = chat.discord.requests();
        let posts = requests
            .iter()
            .filter(|(method, route)| method == "POST" && *route == MESSAGES);
        assert_eq!(posts.count(), 2);
    });
}

#[test]
fn a_rest_that_a_proxy_passes_on_is_taken_too() {
    run(async |chat| {
        let direct = chat.ann.direct();
        let discord = &chat.discord;
        // Longer than the pause for a platform that does not say how long.
        discord
            .next("POST", MESSAGES)
            .is_limited(Duration::from_secs(6));
        direct.echoes("one").await;
        assert_eq!(
            discord.invalid_requests(),
            1,
            "no knocking at a closed door"
        );
    });
}

#[test]
fn within_discords_own_limits_nothing_is_refused() {
    let settings = Settings {
        limits: Limits::AsDiscord,
        ..Settings::default()
    };
    run_in(
        DiscordInstallation::with(DiscordTransport::Real, settings),
        async |chat| {
            let direct = chat.ann.direct();
            for number in 0..8 {
                direct.say(&format!("say {number}"));
            }
            for number in 0..8 {
                direct.hears(&number.to_string()).await;
            }
            direct.say("stream it");
            direct.hears("echo: it").await;
        },
    );
}

#[test]
fn what_fails_for_a_moment_is_tried_again_and_said_once() {
    run(async |chat| {
        let direct = chat.ann.direct();
        let discord = &chat.discord;
        discord.next("POST", MESSAGES).fails(502);
        direct.echoes("one").await;
        discord.next("POST", MESSAGES).is_cut();
        direct.echoes("two").await;
        discord.next("POST", MESSAGES).loses_its_answer();
        direct.echoes("three").await;
        discord.next("PATCH", ORIGINAL).fails(503);
        chat.ask("four", &[]).hears("echo: four").await;
        direct.echoes("five").await;
        assert_eq!(direct.said().len(), 4);
        assert_eq!(chat.said().len(), 1);
    });
}

#[test]
fn first_words_that_were_not_confirmed_go_with_an_answer_that_is_given_up() {
    run(async |chat| {
        let direct = chat.ann.direct();
        chat.discord.next("POST", MESSAGES).loses_its_answer();
        direct.say("drop it");
        let half = direct
            .finds("the first words", |said| said.text.contains("dropped"))
            .await;
        chat.bot.go_on();
        direct
            .finds("them gone", |said| said.id == half.id && said.is_deleted)
            .await;
        // In a thread that was opened for it; what follows the words is not touched.
        let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
        chat.bot.gets("its connection", is_connected).await;
        chat.discord.next("POST", MESSAGES).loses_its_answer();
        let thread = chat.asks("drop it").await;
        let half = thread
            .finds("the first words", |said| said.text.contains("dropped"))
            .await;
        let there = AudienceId::new(format!("discord/{}/{}", chat.guild.id(), thread.id()));
        chat.bot.announce(&there, "A digest.").await;
        chat.bot.go_on();
        thread
            .finds("them gone", |said| said.id == half.id && said.is_deleted)
            .await;
        let texts: Vec<String> = thread.said().into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["A digest."]);
    });
}

#[test]
fn an_announcement_that_may_have_been_taken_is_not_said_again() {
    run(async |chat| {
        let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
        chat.bot.gets("its connection", is_connected).await;
        let audience =
            AudienceId::new(format!("discord/{}/{}", chat.guild.id(), chat.general.id()));
        // Something that is not tried again for minutes.
        chat.discord.next("POST", MESSAGES).fails(401);
        let refused = chat.bot.announce(&audience, "A digest.").await;
        assert_eq!(refused, Announced::NotYet);
        chat.discord.next("POST", MESSAGES).loses_its_answer();
        chat.discord.next("POST", MESSAGES).fails(401);
        let lost = chat.bot.announce(&audience, "A digest.").await;
        assert_eq!(lost, Announced::Said(Delivered::default()));
        assert_eq!(chat.said().len(), 1);
    });
}

#[test]
fn an_answer_whose_beginning_was_taken_away_is_said_anew() {
    run(async |chat| {
        let thread = chat.asks("grow on").await;
        let growing = thread
            .finds("so far", |said| said.text.starts_with("so far"))
            .await;
        let moderator = chat.guild.moderator("mia");
        moderator.at(&thread.channel()).delete(growing.id);
        chat.bot.go_on();
        // Given the nonce of a deleted message, Discord may return the deleted one.
        let answer = thread.hears("echo: on").await;
        assert_ne!(answer.id, growing.id);
        assert_eq!(thread.said().len(), 1);
    });
}

#[test]
fn an_interaction_acknowledged_too_late_is_answered_by_an_ordinary_message() {
    run_badly(async |chat| {
        let gate = chat.discord.next("POST", CALLBACK).is_held();
        chat.discord.excuses("nobody acknowledged");
        chat.ask("late?", &[]);
        gate.is_reached().await;
        chat.discord.lets_pass(Duration::from_secs(5));
        gate.open();
        let expected = format!("-# For <@{}>\necho: late?", chat.ann.id());
        chat.hears(&expected).await;
    });
}

#[test]
fn without_the_right_to_open_threads_the_answer_stands_in_the_channel() {
    run(async |chat| {
        chat.general.denies(Permissions::CREATE_PUBLIC_THREADS);
        let question = chat.mention("hello");
        let answer = chat.hears("echo: hello").await;
        assert_eq!(answer.replies_to, Some(question));
    });
}

#[test]
fn without_the_right_to_reply_the_answer_names_the_asker() {
    run(async |chat| {
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        chat.general.denies(Permissions::READ_MESSAGE_HISTORY);
        let said = |text: &str| format!("-# For <@{}>\necho: {text}", chat.ann.id());
        thread.say("and now?");
        let answer = thread.hears(&said("and now?")).await;
        assert!(answer.replies_to.is_none() && answer.calls.is_empty());
        // A growing answer keeps the line.
        thread.say("stream it");
        let answer = thread.hears(&said("it")).await;
        assert_eq!(answer.buttons.len(), 4);
        assert_eq!(thread.said().len(), 3);
    });
}

#[test]
fn where_no_more_threads_can_be_opened_the_answer_stands_in_the_channel_and_stays() {
    run(async |chat| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("discord-seen");
        chat.home.options.missed.file = Some(file);
        chat.restart_with(|_| {}).await;
        let deleted = chat.asks("one").await;
        deleted.hears("echo: one").await;
        chat.guild.is_full_of_threads(true);
        let question = chat.mention("two");
        let answer = chat.hears("echo: two").await;
        assert_eq!(answer.replies_to, Some(question));
        chat.rests().await;
        chat.bot.ends().await;
        deleted.channel().is_deleted();
        // Questions that are read again would have their threads opened, and these are not gone.
        chat.home.options.missed.age = Duration::ZERO;
        chat.starts_again().await;
        let gone = |log: &EchoLog| {
            let told = log.messages.iter();
            let gone = told.filter(|it| it.body == Body::Command(Command::PlaceGone));
            let gone: Vec<String> = gone.map(|it| it.conversation.to_string()).collect();
            (!gone.is_empty()).then_some(gone)
        };
        chat.bot.gets("that the other is gone", gone).await;
        chat.bot.ends().await;
        let other = format!("discord/{}/{}", chat.guild.id(), deleted.id());
        assert_eq!(gone(&chat.bot.log()), Some(vec![other]));
        // It is gone with the channel in which it stands.
        chat.general.is_deleted();
        chat.starts_again().await;
        let told = chat.bot.gets("that its channel is gone", gone).await;
        assert_eq!(told, [format!("discord/{}/{question}", chat.guild.id())]);
    });
}

/// A bot that keeps what it must know after a restart, in a server that is full of threads.
async fn is_full_of_threads(chat: &mut DiscordFixture) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    chat.home.options.missed.file = Some(folder.path().join("discord-seen"));
    chat.restart_with(|_| {}).await;
    chat.guild.is_full_of_threads(true);
    folder
}

#[test]
fn an_answer_beside_its_question_goes_on_there_after_a_crash() {
    // Threads may be opened again by then.
    for is_full in [true, false] {
        run(async |chat| {
            let _folder = is_full_of_threads(chat).await;
            let question = chat.mention("grow it");
            let growing = chat
                .finds("so far", |said| said.text.starts_with("so far"))
                .await;
            chat.bot.dies();
            chat.discord.connected(0).await;
            // Discord does not recognise a repeated message any more.
            chat.discord.lets_pass(Duration::from_secs(600));
            chat.guild.is_full_of_threads(is_full);
            chat.starts_again().await;
            chat.bot.hears().await;
            chat.bot.go_on();
            let answer = chat.hears("echo: it").await;
            assert_eq!((answer.id, answer.replies_to), (growing.id, Some(question)));
            chat.rests().await;
            assert_eq!(chat.said().len(), 1);
        });
    }
}

#[test]
fn an_answer_beside_its_question_is_not_said_over_an_announcement() {
    run(async |chat| {
        let _folder = is_full_of_threads(chat).await;
        let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
        chat.bot.gets("its connection", is_connected).await;
        chat.mention("wait two");
        chat.bot.hears().await;
        let general = AudienceId::new(format!("discord/{}/{}", chat.guild.id(), chat.general.id()));
        chat.bot.announce(&general, "A digest.").await;
        chat.crashes().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        chat.hears("echo: two").await;
        let texts: Vec<String> = chat.said().into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["A digest.", "echo: two"]);
    });
}

#[test]
fn an_answer_beside_its_question_goes_with_it_although_nobody_noted_it() {
    run(async |chat| {
        let _folder = is_full_of_threads(chat).await;
        let question = chat.mention("unkept two");
        let answer = chat.hears("echo: unkept two").await;
        chat.rests().await;
        chat.delete(question);
        chat.finds("it gone", |said| said.id == answer.id && said.is_deleted)
            .await;
    });
}

#[test]
fn a_further_part_that_was_not_confirmed_is_said_once() {
    run(async |chat| {
        let further = "/webhooks/{webhook_id}/{webhook_token}";
        chat.discord.next("POST", further).loses_its_answer();
        let asked = chat.ask("long 400", &[]);
        asked
            .finds("the last line", |said| said.text.contains("399 *x*"))
            .await;
        chat.rests().await;
        let texts: Vec<String> = chat.said().into_iter().map(|it| it.text).collect();
        let mut once = texts.clone();
        once.dedup();
        assert!(texts.len() > 3 && texts == once, "{texts:#?}");
        let said = chat.said();
        assert_eq!(said.last().unwrap().buttons.len(), 4);
    });
}

/// Waits for the error of an answer that could not be delivered.
async fn given_up(chat: &DiscordFixture) -> String {
    chat.bot
        .gets("the failure", |log| log.errors.first().cloned())
        .await
}

#[test]
fn a_missing_permission_is_named() {
    run_badly(async |chat| {
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        chat.general.denies(Permissions::SEND_MESSAGES_IN_THREADS);
        thread.say("again");
        let error = given_up(chat).await;
        assert!(
            error.contains("it lacks Send Messages in Threads there"),
            "{error}"
        );
    });
}

#[test]
fn an_archived_thread_is_opened_by_the_answer_and_a_locked_one_is_given_up() {
    run_badly(async |chat| {
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        thread.say("wait one");
        chat.bot.hears_number(2).await;
        thread.channel().is_archived();
        chat.bot.go_on();
        thread.hears("echo: one").await;
        thread.say("wait two");
        chat.bot.hears_number(3).await;
        thread.channel().is_locked();
        chat.bot.go_on();
        let error = given_up(chat).await;
        assert!(error.contains("is locked"), "{error}");
    });
}

#[test]
fn a_channel_that_is_deleted_in_mid_turn_is_given_up() {
    run_badly(async |chat| {
        let thread = chat.asks("wait a moment").await;
        thread.sees_typing(1).await;
        chat.general.is_deleted();
        chat.bot.go_on();
        let error = given_up(chat).await;
        assert!(error.contains("was deleted before the answer"), "{error}");
        // Everything else continues.
        let direct = chat.ann.direct();
        direct.echoes("still there?").await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discord_that_is_away_at_the_start_is_waited_for() {
    let home = DiscordInstallation::new().await;
    home.discord.next("GET", "/users/@me").times(2).fails(503);
    let bot = home.start().await;
    let direct = home.guild.person("ann").direct();
    direct.echoes("hello").await;
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discord_that_does_not_describe_the_application_is_enough() {
    let home = DiscordInstallation::new().await;
    let application = "/oauth2/applications/@me";
    home.discord.next("GET", application).fails(404);
    let bot = home.start().await;
    home.discord.registered("ask").await;
    let direct = home.guild.person("ann").direct();
    direct.echoes("hello").await;
    bot.stop().await;
}

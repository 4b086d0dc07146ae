//! Earlier messages: all of an old thread, and what was missed while the bot was offline.

use std::path::PathBuf;
use std::time::Duration;

use loopback_discord::Permissions;
use muninn_platform::testing::read_history;
use muninn_platform::{AudienceId, Body};
use tempfile::TempDir;

use crate::support::{DiscordFixture, Echoes, run};

#[test]
fn a_thread_of_1200_messages_is_read_whole_with_the_message_it_began_at() {
    run(async |chat| {
        let bob = chat.guild.person("bob");
        let root = chat.say("The standup moves.");
        let thread = chat.open_thread_on(root, "standup");
        let as_bob = bob.at(&thread.channel());
        for number in 1..=1_199 {
            as_bob.say(&format!("reply {number}"));
        }
        // One page is rate limited for a while, and one fails.
        let route = "/channels/{channel_id}/messages";
        chat.discord.next("GET", route).fails(502);
        chat.discord
            .next("GET", route)
            .is_limited(Duration::from_millis(300));
        thread.mention("background counted");
        thread
            .hears("overheard:\nann: The standup moves.\n1198 between\nbob: reply 1199")
            .await;
    });
}

#[test]
fn where_a_page_does_not_come_the_beginning_and_the_newest_are_read() {
    run(async |chat| {
        let thread = chat.open_thread("plans");
        let as_bob = chat.guild.person("bob").at(&thread.channel());
        for number in 1..=350 {
            as_bob.say(&format!("reply {number}"));
        }
        let route = "/channels/{channel_id}/messages";
        chat.discord
            .next("GET", route)
            .times(2)
            .is_slow(Duration::ZERO);
        chat.discord.next("GET", route).fails(404);
        thread.mention("background counted");
        thread
            .hears("overheard:\nbob: reply 151\n198 between\nbob: reply 350\n(the platform does not give me all of it)")
            .await;
    });
}

/// Makes the bot keep until when it listened.
async fn keeps(chat: &mut DiscordFixture) -> DiscordSeenUntilFile {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("discord-seen");
    chat.home.options.missed.file = Some(file.clone());
    chat.restart_with(|_| {}).await;
    chat.echoes_aside("well 0").await;
    DiscordSeenUntilFile {
        file,
        _folder: folder,
    }
}

/// The file that keeps until when the bot listened.
struct DiscordSeenUntilFile {
    file: PathBuf,
    _folder: TempDir,
}

impl DiscordSeenUntilFile {
    fn until(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap_or_default()
    }

    /// Waits until missed messages have been accepted.
    async fn goes_on(&self, from: &str) {
        let going_on = async {
            while self.until() == from {
                // Polled: a change of a file wakes nobody.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let in_time = tokio::time::timeout(loopback_discord::TIMEOUT, going_on).await;
        assert!(in_time.is_ok(), "what was missed is still being read");
    }
}

impl DiscordFixture {
    /// Waits for an echo in direct messages.
    async fn echoes_aside(&self, text: &str) {
        self.ann.direct().echoes(text).await;
    }

    /// Stops the bot.
    async fn goes_away(&mut self) {
        self.rests().await;
        self.bot.ends().await;
        self.discord.connected(0).await;
    }
}

#[test]
fn what_was_asked_while_it_was_away_is_answered_once() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.asks("one").await;
        thread.hears("echo: one").await;
        let direct = chat.ann.direct();
        direct.echoes("before").await;
        chat.goes_away().await;
        let until = kept.until();
        let asked = chat.mention("two");
        chat.say("not for it");
        thread.say("three");
        direct.say("four");
        for number in 0..120 {
            chat.say(&format!("chatter {number}"));
        }
        let last = chat.mention("five");
        let quiet = chat.guild.text("quiet");
        let secret = chat.guild.text("secret");
        chat.ann.at(&secret).mention("not seen");
        secret.denies(Permissions::VIEW_CHANNEL);
        chat.starts_again().await;
        chat.thread_on(asked).await.hears("echo: two").await;
        thread.hears("echo: three").await;
        direct.hears("echo: four").await;
        chat.thread_on(last).await.hears("echo: five").await;
        kept.goes_on(&until).await;
        chat.rests().await;
        assert_eq!(chat.bot.log().answered, 4);
        assert!(chat.ann.at(&quiet).said().is_empty());
        // The next start does not answer it again, whatever it reads again.
        chat.restart_with(|_| {}).await;
        chat.echoes_aside("well 1").await;
        chat.rests().await;
        assert_eq!(chat.bot.log().answered, 1);
    });
}

#[test]
fn what_was_edited_and_deleted_while_it_was_away_is_followed() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.asks("one").await;
        thread.hears("echo: one").await;
        let corrected = thread.say("three");
        thread.hears("echo: three").await;
        let gone = thread.say("four");
        thread.hears("echo: four").await;
        let direct = chat.ann.direct();
        let private = direct.say("six");
        direct.hears("echo: six").await;
        chat.goes_away().await;
        let until = kept.until();
        thread.edit(corrected, "drei");
        thread.delete(gone);
        direct.edit(private, "sechs");
        chat.home.memory.hides_kept(1);
        chat.starts_again().await;
        thread.hears("echo: drei").await;
        direct.hears("echo: sechs").await;
        kept.goes_on(&until).await;
        chat.rests().await;
        let said = thread.said().into_iter();
        let standing = said.filter(|it| !it.is_deleted).map(|it| it.text);
        assert_eq!(Vec::from_iter(standing), ["echo: one", "echo: drei"]);
        // The next start does not deliver it again.
        chat.restart_with(|_| {}).await;
        chat.echoes_aside("well 6").await;
        chat.rests().await;
        assert_eq!(chat.bot.log().answered, 1);
    });
}

#[test]
fn what_is_kept_of_a_busy_channel_stays_whatever_was_said_between() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let first = chat.mention("one");
        let one = chat.thread_on(first).await;
        one.hears("echo: one").await;
        chat.goes_away().await;
        // In the end more than can be read of a channel, with a question in the middle.
        chatter(chat, 1_300);
        let second = chat.mention("two");
        let until = kept.until();
        chat.starts_again().await;
        let two = chat.thread_on(second).await;
        two.hears("echo: two").await;
        kept.goes_on(&until).await;
        chat.goes_away().await;
        chatter(chat, 3_800);
        let third = chat.mention("three");
        let until = kept.until();
        chat.starts_again().await;
        let three = chat.thread_on(third).await;
        three.hears("echo: three").await;
        kept.goes_on(&until).await;
        chat.goes_away().await;
        let until = kept.until();
        chat.delete(first);
        chat.edit(third, &format!("<@{}> drei", chat.discord.bot()));
        chat.starts_again().await;
        three.hears("echo: drei").await;
        kept.goes_on(&until).await;
        chat.rests().await;
        let said = [one, two, three].map(|thread| thread.said().into_iter().map(|it| it.text));
        let said: Vec<String> = said.into_iter().flatten().collect();
        assert_eq!(said, ["echo: two", "echo: drei"]);
    });
}

/// Ann says something to others, as often.
fn chatter(chat: &DiscordFixture, times: usize) {
    for number in 0..times {
        chat.say(&format!("chatter {number}"));
    }
}

#[test]
fn what_may_not_be_read_any_more_is_not_taken_for_deleted() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.asks("one").await;
        thread.hears("echo: one").await;
        thread.echoes("two").await;
        chat.rests().await;
        thread.channel().is_archived();
        chat.goes_away().await;
        chat.general.denies(Permissions::READ_MESSAGE_HISTORY);
        let until = kept.until();
        chat.starts_again().await;
        kept.goes_on(&until).await;
        chat.rests().await;
        assert_eq!(chat.bot.log().messages, []);
        assert_eq!(thread.said().len(), 2);
    });
}

#[test]
fn what_was_said_in_a_thread_that_was_archived_meanwhile_is_answered() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.asks("one").await;
        thread.hears("echo: one").await;
        chat.goes_away().await;
        // It was away for longer than a thread needs to be archived.
        let until = chrono::Utc::now() - chrono::TimeDelta::hours(2);
        std::fs::write(&kept.file, until.to_rfc3339()).unwrap();
        thread.say("two");
        thread.channel().is_archived();
        chat.starts_again().await;
        thread.hears("echo: two").await;
    });
}

#[test]
fn whoever_needs_a_role_is_answered_once_discord_tells_it() {
    const MEMBER: &str = "/guilds/{guild_id}/members/{user_id}";
    run(async |chat| {
        let team = chat.guild.role("team", Permissions::default());
        chat.guild.grants(&chat.ann, team);
        let allowed = format!("role:{team},user:{}", chat.ann.id());
        chat.home.options.allow = allowed.parse().unwrap();
        let kept = keeps(chat).await;
        chat.home.options.allow = format!("role:{team}").parse().unwrap();
        chat.goes_away().await;
        let asked = chat.mention("one");
        chat.say("not for it");
        chat.discord.next("GET", MEMBER).fails(503);
        let until = kept.until();
        chat.starts_again().await;
        chat.thread_on(asked).await.hears("echo: one").await;
        kept.goes_on(&until).await;
        // It asks again later, too, and keeps the order.
        chat.goes_away().await;
        let asked = chat.mention("two");
        let after = chat.mention("three");
        let until = kept.until();
        chat.discord.next("GET", MEMBER).fails(401);
        chat.starts_again().await;
        chat.thread_on(asked).await.hears("echo: two").await;
        chat.thread_on(after).await.hears("echo: three").await;
        kept.goes_on(&until).await;
    });
}

#[test]
fn what_cannot_be_listed_at_once_hides_nothing() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.asks("one").await;
        thread.hears("echo: one").await;
        let direct = chat.ann.direct();
        direct.echoes("before").await;
        chat.goes_away().await;
        // It was away for longer than a thread needs to be archived.
        let away = chrono::Utc::now() - chrono::TimeDelta::hours(2);
        std::fs::write(&kept.file, away.to_rfc3339()).unwrap();
        let until = kept.until();
        thread.say("two");
        thread.channel().is_archived();
        let asked = chat.mention("three");
        direct.say("four");
        let archived = "/channels/{channel_id}/threads/archived/public";
        chat.discord.next("GET", archived).fails(401);
        chat.home.memory.does_not_list("discord/dm/");
        chat.starts_again().await;
        chat.thread_on(asked).await.hears("echo: three").await;
        thread.hears("echo: two").await;
        direct.hears("echo: four").await;
        kept.goes_on(&until).await;
    });
}

#[test]
fn what_was_said_between_two_sessions_while_it_reads_is_read_too() {
    run(async |chat| {
        let role = chat.guild.role("team", Permissions::default());
        chat.guild.grants(&chat.ann, role);
        let kept = keeps(chat).await;
        chat.goes_away().await;
        let until = kept.until();
        let direct = chat.ann.direct();
        let asked = chat.mention("one");
        direct.say("two");
        let member = "/guilds/{guild_id}/members/{user_id}";
        let gate = chat.discord.next("GET", member).is_held();
        chat.starts_again().await;
        // The server is still being read, and direct messages are.
        gate.is_reached().await;
        direct.hears("echo: two").await;
        chat.discord.gateway_is_down(true);
        chat.discord.drops_connections();
        chat.discord.connected(0).await;
        direct.say("three");
        chat.discord.forgets_sessions();
        chat.discord.gateway_is_down(false);
        direct.hears("echo: three").await;
        chat.thread_on(asked).await.hears("echo: one").await;
        // The second session reads all that the first is to read.
        kept.goes_on(&until).await;
        gate.open();
    });
}

#[test]
fn what_is_said_while_it_ends_is_read_by_the_next_process() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let direct = chat.ann.direct();
        direct.say("drop it");
        direct
            .finds("the first words", |said| said.text.contains("dropped"))
            .await;
        let route = "/channels/{channel_id}/messages/{message_id}";
        let gate = chat.discord.next("DELETE", route).is_held();
        chat.bot.go_on();
        gate.is_reached().await;
        // It ends when the words are removed.
        let discord = std::sync::Arc::clone(&chat.discord);
        let listened = async {
            discord.connected(0).await;
            let listened = chrono::Utc::now();
            gate.open();
            listened
        };
        let ((), listened) = tokio::join!(chat.bot.ends(), listened);
        let until = kept.until();
        let until = chrono::DateTime::parse_from_rfc3339(until.trim()).unwrap();
        assert!(until <= listened, "{until} > {listened}");
        chat.starts_again().await;
    });
}

#[test]
fn a_new_session_within_a_process_is_no_hole() {
    run(async |chat| {
        chat.echoes_aside("well 2").await;
        chat.discord.gateway_is_down(true);
        chat.discord.drops_connections();
        chat.discord.connected(0).await;
        let asked = chat.mention("meanwhile");
        chat.discord.forgets_sessions();
        chat.discord.gateway_is_down(false);
        chat.thread_on(asked).await.hears("echo: meanwhile").await;
        chat.echoes_aside("well 3").await;
    });
}

#[test]
fn what_is_too_old_is_not_answered() {
    run(async |chat| {
        chat.home.options.missed.age = Duration::ZERO;
        let kept = keeps(chat).await;
        chat.goes_away().await;
        let until = kept.until();
        chat.mention("too old");
        chat.starts_again().await;
        kept.goes_on(&until).await;
        chat.echoes_aside("well 4").await;
        chat.rests().await;
        assert_eq!(chat.bot.log().answered, 1);
    });
}

#[test]
fn killed_while_it_reads_what_it_missed_it_reads_it_again() {
    run(async |chat| {
        let kept = keeps(chat).await;
        chat.goes_away().await;
        let until = kept.until();
        let asked = chat.mention("meanwhile");
        let route = "/channels/{channel_id}/messages";
        let gate = chat.discord.next("GET", route).is_held();
        chat.bot = chat.home.begin();
        gate.is_reached().await;
        chat.bot.dies();
        gate.open();
        chat.discord.connected(0).await;
        assert_eq!(kept.until(), until);
        chat.starts_again().await;
        chat.thread_on(asked).await.hears("echo: meanwhile").await;
        kept.goes_on(&until).await;
    });
}

#[test]
fn a_channels_history_is_read_with_its_threads_also_after_a_kill() {
    run(async |chat| {
        // Nothing of it is delivered while it happens.
        chat.goes_away().await;
        let bob = chat.guild.person("bob");
        for number in 1..=150 {
            chat.say(&format!("chatter {number}"));
        }
        let root = bob.at(&chat.general).say("The mast is down.");
        let thread = chat.open_thread_on(root, "mast");
        for number in 1..=150 {
            thread.say(&format!("reply {number}"));
        }
        let old = chat.open_thread("old");
        old.say("archived");
        old.channel().is_archived();
        let private = chat.open_private_thread("private");
        private.say("between us");
        let audience =
            AudienceId::new(format!("discord/{}/{}", chat.guild.id(), chat.general.id()));
        chat.starts_again().await;
        chat.echoes_aside("first").await;
        chat.home.memory.remembers_talk_of(&audience);

        let histories = chat.home.options.histories.clone();
        let at = read_history(&histories, &audience, None, 2).await;
        let mut all = chat.bot.log().overheard_texts();
        chat.crashes().await;
        chat.echoes_aside("well 5").await;
        assert_eq!(read_history(&histories, &audience, at, 50).await, None);
        all.extend(chat.bot.log().overheard_texts());
        let mut expected: Vec<String> = (1..=150).map(|n| format!("chatter {n}")).collect();
        expected.push("The mast is down.".to_owned());
        expected.extend((1..=150).map(|n| format!("reply {n}")));
        expected.push("archived".to_owned());
        assert_eq!(all, expected);
        let log = chat.bot.log();
        let reply = log
            .overheard
            .iter()
            .find(|it| it.body == Body::Text("reply 7".to_owned()));
        let reply = reply.unwrap();
        assert!(
            reply
                .conversation
                .as_str()
                .ends_with(&thread.id().to_string())
        );
        assert_eq!(reply.audience.id, audience);
    });
}

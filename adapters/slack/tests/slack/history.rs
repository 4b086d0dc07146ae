//! Earlier messages: all of an old thread, and what was missed while the bot was offline.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use loopback_slack::{ResponseFault, TEAM};
use muninn_platform::testing::read_history;
use muninn_platform::{AnswerMode, AudienceId, Body, HistoryError};
use tempfile::TempDir;

use crate::support::{EventTransport, SlackFixture, app, run, run_as, run_badly};

const LIMITED: &str = "(the platform limits how much I may read at once)";

/// Creates a thread in which Ann wrote this many replies.
fn long_thread(chat: &SlackFixture, replies: usize) -> loopback_slack::Chat {
    let thread = chat.in_thread(&chat.say("The standup moves."));
    for number in 1..=replies {
        thread.say(&format!("reply {number}"));
    }
    thread
}

#[test]
fn coming_to_an_old_thread_it_reads_it_once() {
    run(async |chat| {
        let bob = chat.slack.person("Bob").in_channel(&chat.channel);
        let root = chat.say("The standup moves.");
        let (ann, bob) = (chat.in_thread(&root), bob.in_thread(&root));
        bob.say("To ten?");
        ann.say("Yes <3");
        ann.ask("background");
        ann.hears("overheard:\nAnn: The standup moves.\nBob: To ten?\nAnn: Yes <3")
            .await;
        let asked = chat.slack.calls_of("conversations.replies");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].arguments["limit"], "1000");
    });
}

#[test]
fn a_thread_of_1200_messages_is_read_whole() {
    run(async |chat| {
        let thread = long_thread(chat, 1_199);
        // The second page is rate limited once and fails once.
        let replies = "conversations.replies";
        chat.slack
            .fail_after(replies, 1, ResponseFault::RateLimited(1));
        chat.slack
            .fail_after(replies, 1, ResponseFault::Status(502));
        thread.ask("background counted");
        thread
            .hears("overheard:\nAnn: The standup moves.\n1198 between\nAnn: reply 1199")
            .await;
        let asked = chat.slack.calls_of(replies);
        let cursors = asked.iter().map(|call| &call.arguments["cursor"]);
        let cursors: Vec<_> = cursors.filter(|cursor| cursor.is_string()).collect();
        assert_eq!((asked.len(), cursors.len()), (4, 3));
    });
}

#[test]
fn a_thread_whose_pages_name_no_cursor_is_read_whole() {
    run(async |chat| {
        let thread = long_thread(chat, 9);
        chat.slack.page_by_time(4);
        thread.ask("background counted");
        thread
            .hears("overheard:\nAnn: The standup moves.\n8 between\nAnn: reply 9")
            .await;
        assert_eq!(chat.slack.calls_of("conversations.replies").len(), 3);
    });
}

#[test]
fn what_was_read_before_a_page_is_refused_is_kept_and_said_to_be_a_part() {
    run(async |chat| {
        for (fault, why) in [
            (ResponseFault::RateLimited(60), LIMITED),
            (
                ResponseFault::Error("thread_not_found"),
                "(the platform does not give me all of it)",
            ),
        ] {
            let thread = long_thread(chat, 1_100);
            let replies = "conversations.replies";
            chat.slack.fail_after(replies, 1, fault);
            thread.ask("background counted");
            let expected =
                format!("overheard:\nAnn: The standup moves.\n998 between\nAnn: reply 999\n{why}");
            thread.hears(&expected).await;
            if why == LIMITED {
                // After a rate limit it does not ask for other threads either; a new process may.
                let other = long_thread(chat, 1);
                other.ask("background");
                other.hears(&format!("overheard:\n{LIMITED}")).await;
                assert_eq!(chat.slack.calls_of(replies).len(), 2);
                chat.restart().await;
            }
        }
    });
}

#[test]
fn an_app_that_may_ask_once_a_minute_reads_the_beginning_and_goes_on_without() {
    run(async |chat| {
        chat.slack.unlist();
        let expected =
            format!("overheard:\nAnn: The standup moves.\n13 between\nAnn: reply 14\n{LIMITED}");
        for expected in [expected, format!("overheard:\n{LIMITED}")] {
            let thread = long_thread(chat, 40);
            thread.ask("background counted");
            thread.hears(&expected).await;
        }
        // After the rate limit it does not ask again.
        assert_eq!(chat.slack.calls_of("conversations.replies").len(), 2);
    });
}

/// Makes the bot keep until when it listened.
async fn keeps(chat: &mut SlackFixture) -> SlackSeenUntilFile {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slack-seen");
    chat.home.options.missed.file = Some(file.clone());
    chat.restart().await;
    let kept = SlackSeenUntilFile {
        file,
        _folder: folder,
    };
    // The bot listens shortly after it is connected.
    kept.goes_on("").await;
    kept
}

/// The file that keeps until when the bot listened.
struct SlackSeenUntilFile {
    file: PathBuf,
    _folder: TempDir,
}

impl SlackSeenUntilFile {
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
        let in_time = tokio::time::timeout(loopback_slack::TIMEOUT, going_on).await;
        assert!(in_time.is_ok(), "what was missed is still being read");
    }
}

/// Stops the bot; Slack does not deliver events of the time in between, then or later.
async fn goes_away(chat: &mut SlackFixture) {
    chat.rests().await;
    chat.bot.ends().await;
    chat.slack.hold_events();
}

#[test]
fn what_was_asked_while_it_was_away_is_answered_once_also_if_slack_tells_it_again() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.thread("one");
        thread.hears("echo: one").await;
        chat.rests().await;
        chat.bot.ends().await;
        let until = kept.until();
        chat.slack.hold_events();
        let asked = chat.ask("two");
        chat.say("not for it");
        thread.say("three");
        let direct = chat.ann.with_bot();
        direct.say("four");
        let other = chat.in_thread(&chat.say("a root"));
        other.ask("five");
        chat.starts_again().await;
        chat.in_thread(&asked).hears("echo: two").await;
        thread.hears("echo: three").await;
        direct.hears("echo: four").await;
        other.hears("echo: five").await;
        kept.goes_on(&until).await;
        chat.slack.let_go();
        chat.slack.all_told().await;
        chat.rests().await;
        assert_eq!(chat.bot.log().answered, 4);
        // Messages from right before the end are read again, because clocks differ; nothing else is
        // delivered twice.
        assert!(chat.bot.log().repeated <= 1);
        // The next start does not read anything a second time.
        let until = kept.until();
        chat.restart().await;
        kept.goes_on(&until).await;
        assert_eq!(chat.bot.log().messages.len(), 0);
        for place in [&thread, &other] {
            let said = place.said();
            assert!(said.len() <= 2, "{said:?}");
        }
    });
}

#[test]
fn what_slack_could_not_tell_over_http_is_read_after_the_pause() {
    run_as(EventTransport::Http, app(), async |chat| {
        chat.still_answers().await;
        chat.rests().await;
        // Nothing is read while events come.
        assert!(chat.slack.calls_of("users.conversations").is_empty());
        chat.bot.ends().await;
        let drops_at_once = |options: &mut muninn_slack::SlackOptions| {
            options.drops_after = Duration::ZERO;
        };
        chat.bot = chat.home.start_with(drops_at_once).await;
        chat.slack.hold_events();
        let asked = chat.ask("two");
        chat.say("not for it");
        let direct = chat.ann.with_bot();
        direct.say("three");
        assert!(chat.bot.log().messages.is_empty());
        // The next request of Slack.
        chat.slash("/muninn", "usage").await;
        let thread = chat.in_thread(&asked);
        thread.hears("echo: two").await;
        direct.hears("echo: three").await;
        // One at a time, and not again soon.
        chat.slash("/muninn", "usage").await;
        chat.rests().await;
        chat.slack.let_go();
        chat.slack.all_told().await;
        chat.rests().await;
        assert_eq!(thread.said().len(), 1);
        assert_eq!(chat.slack.calls_of("users.conversations").len(), 1);
    });
}

#[test]
fn what_cannot_be_listed_is_read_by_the_next_process() {
    run(async |chat| {
        let _kept = keeps(chat).await;
        goes_away(chat).await;
        let asked = chat.ask("two");
        chat.slack
            .fail_next("users.conversations", ResponseFault::Error("token_revoked"));
        chat.starts_again().await;
        chat.slack.called("users.conversations", 1).await;
        chat.rests().await;
        assert!(chat.bot.log().messages.is_empty());
        chat.restart().await;
        chat.in_thread(&asked).hears("echo: two").await;
        chat.slack.let_go();
    });
}

#[test]
fn what_the_graph_does_not_tell_of_is_followed_by_the_next_process() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.thread("one");
        thread.hears("echo: one").await;
        let corrected = thread.say("two");
        thread.hears("echo: two").await;
        goes_away(chat).await;
        thread.edit(&corrected, "zwei");
        chat.home.memory.hides_kept(100);
        chat.starts_again().await;
        chat.slack.called("conversations.history", 1).await;
        chat.rests().await;
        assert!(chat.bot.log().messages.is_empty());
        chat.home.memory.hides_kept(0);
        let until = kept.until();
        chat.restart().await;
        thread.hears("echo: zwei").await;
        kept.goes_on(&until).await;
        chat.slack.let_go();
    });
}

#[test]
fn what_was_edited_and_deleted_meanwhile_is_followed() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let thread = chat.thread("one");
        thread.hears("echo: one").await;
        let corrected = thread.say("three");
        thread.hears("echo: three").await;
        let gone = thread.say("four");
        thread.hears("echo: four").await;
        let asked = chat.ask("five");
        let other = chat.in_thread(&asked);
        other.hears("echo: five").await;
        let direct = chat.ann.with_bot();
        let private = direct.say("six");
        direct.hears("echo: six").await;
        chat.rests().await;
        chat.bot.ends().await;
        let until = kept.until();
        chat.slack.hold_events();
        thread.edit(&corrected, "drei");
        thread.delete(&gone);
        chat.delete(&asked);
        direct.edit(&private, "sechs");
        chat.starts_again().await;
        thread.hears("echo: drei").await;
        direct.hears("echo: sechs").await;
        kept.goes_on(&until).await;
        chat.rests().await;
        let shown = |place: &loopback_slack::Chat| -> Vec<String> {
            let said = place.said().into_iter();
            said.filter(|it| !it.is_deleted)
                .map(|it| it.shown)
                .collect()
        };
        assert_eq!(shown(&thread), ["echo: one", "echo: drei"]);
        assert_eq!(shown(&other), [""; 0]);
        assert_eq!(shown(&direct), ["echo: sechs"]);
        // The next start does not deliver it again.
        let until = kept.until();
        chat.restart().await;
        kept.goes_on(&until).await;
        assert_eq!(chat.bot.log().messages.len(), 0);
        // Slack delivers it too, late.
        chat.slack.let_go();
        chat.slack.all_told().await;
        chat.rests().await;
        assert_eq!(shown(&thread), ["echo: one", "echo: drei"]);
    });
}

#[test]
fn what_a_page_leaves_out_without_a_cursor_counts_not_as_deleted() {
    run(async |chat| {
        let kept = keeps(chat).await;
        let mut threads = Vec::new();
        for number in 0..6 {
            let thread = chat.thread(&format!("question {number}"));
            thread.hears(&format!("echo: question {number}")).await;
            threads.push(thread);
        }
        chat.rests().await;
        let until = kept.until();
        chat.slack.page_by_time(4);
        chat.restart().await;
        kept.goes_on(&until).await;
        chat.rests().await;
        assert_eq!(chat.bot.log().messages.len(), 0);
        for thread in threads {
            assert!(thread.said().iter().all(|answer| !answer.is_deleted));
        }
    });
}

#[test]
fn what_is_kept_of_a_thread_that_is_too_long_to_read_stays() {
    run_badly(app(), async |mut scene| {
        let chat = &mut scene;
        chat.home.options.answer = AnswerMode::Mentions;
        let kept = keeps(chat).await;
        let root = chat.say("a root");
        let thread = chat.in_thread(&root);
        thread.ask("one");
        thread.hears("echo: one").await;
        let chatter = |times: usize| {
            for number in 0..times {
                thread.say(&format!("chatter {number}"));
            }
        };
        // In the end more than can be read of a thread, with a question in the middle.
        for (before, after) in [(1_300, "two"), (3_800, "three")] {
            goes_away(chat).await;
            let until = kept.until();
            chatter(before);
            thread.ask(after);
            chat.starts_again().await;
            thread.hears(&format!("echo: {after}")).await;
            kept.goes_on(&until).await;
        }
        chat.restart().await;
        // Slack delivers it too, late.
        chat.slack.let_go();
        chat.still_answers().await;
        chat.rests().await;
        let said: Vec<String> = thread.said().into_iter().map(|it| it.shown).collect();
        assert_eq!(said, ["echo: one", "echo: two", "echo: three"]);
    });
}

#[test]
fn what_is_too_old_is_not_answered() {
    run_badly(app(), async |mut scene| {
        let chat = &mut scene;
        chat.home.options.missed.age = Duration::ZERO;
        let kept = keeps(chat).await;
        goes_away(chat).await;
        let until = kept.until();
        chat.ask("two");
        chat.starts_again().await;
        kept.goes_on(&until).await;
        assert_eq!(chat.bot.log().messages.len(), 0);
    });
}

#[test]
fn an_archived_channel_and_one_it_was_removed_from_have_nothing_for_it() {
    run_badly(app(), async |mut scene| {
        let chat = &mut scene;
        let kept = keeps(chat).await;
        goes_away(chat).await;
        let until = kept.until();
        let gone = ["archived", "removed"].map(|name| chat.slack.channel(name));
        for channel in &gone {
            chat.ann.in_channel(channel).ask("there");
        }
        gone[0].archive();
        gone[1].remove_bot();
        let asked = chat.ask("here");
        // What fails at first is requested again.
        chat.slack
            .fail_next("conversations.history", ResponseFault::Status(503));
        chat.starts_again().await;
        chat.in_thread(&asked).hears("echo: here").await;
        kept.goes_on(&until).await;
        chat.rests().await;
        assert_eq!(chat.bot.log().answered, 1);
    });
}

#[test]
fn killed_while_it_reads_what_it_missed_it_reads_it_again_and_answers_each_once() {
    run_badly(app(), async |mut scene| {
        let chat = &mut scene;
        let kept = keeps(chat).await;
        goes_away(chat).await;
        let until = kept.until();
        let first = chat.ask("first");
        let later = chat.slack.channel("later");
        let second = chat.ann.in_channel(&later).ask("second");
        // The other channel is rate limited at first.
        chat.slack
            .fail_after("conversations.history", 1, ResponseFault::RateLimited(60));
        chat.starts_again().await;
        chat.in_thread(&first).hears("echo: first").await;
        chat.slack.called("conversations.history", 2).await;
        chat.rests().await;
        chat.bot.dies();
        assert_eq!(kept.until(), until);
        chat.starts_again().await;
        let in_later = chat.ann.in_channel(&later).in_thread(&second);
        in_later.hears("echo: second").await;
        kept.goes_on(&until).await;
        assert_eq!(chat.in_thread(&first).said().len(), 1);
        assert_eq!(in_later.said().len(), 1);
    });
}

#[test]
fn a_channels_history_is_read_with_its_threads_also_after_a_kill() {
    run(async |chat| {
        let bob = chat.slack.person("Bob").in_channel(&chat.channel);
        let root = bob.say("The mast is down.");
        let thread = chat.in_thread(&root);
        for number in 1..=250 {
            thread.say(&format!("reply {number}"));
        }
        for number in 1..=250 {
            chat.say(&format!("chatter {number}"));
        }
        chat.slack
            .other_bot("Build")
            .in_channel(&chat.channel)
            .say("green");
        let asked = chat.ask("two");
        chat.in_thread(&asked).hears("echo: two").await;
        let gone = chat.say("never mind");
        chat.delete(&gone);
        // What Slack delivered before this was not remembered.
        chat.still_answers().await;
        let audience = AudienceId::new(format!("slack/{TEAM}/{}", chat.channel.id()));
        chat.home.memory.remembers_talk_of(&audience);

        let histories = chat.home.options.histories.clone();
        let at = read_history(&histories, &audience, None, 2).await;
        let mut all = chat.bot.log().overheard_texts();
        chat.rests().await;
        chat.bot.dies();
        chat.starts_again().await;
        // In the middle, Slack sets a rate limit.
        chat.slack
            .fail_next("conversations.replies", ResponseFault::RateLimited(7));
        let channel = audience.clone();
        let history = chat.home.options.histories.of(&channel).unwrap();
        let since = Utc::now() - TimeDelta::hours(1);
        let mut limited = None;
        let mut last = at.clone();
        for _ in 0..5 {
            match history.read_page(&channel, since, last.as_deref()).await {
                Ok(page) => last = page.next,
                Err(error) => {
                    limited = Some(error);
                    break;
                }
            }
        }
        assert_eq!(
            limited,
            Some(HistoryError::Limited(Some(Duration::from_secs(7))))
        );
        drop(history);
        assert_eq!(read_history(&histories, &audience, last, 50).await, None);
        all.extend(chat.bot.log().overheard_texts());
        let mut expected: Vec<String> = (1..=250)
            .flat_map(|n| [format!("reply {n}"), format!("chatter {n}")])
            .chain(["The mast is down.".to_owned()])
            .collect();
        // The bot may have the question already.
        all.retain(|text| text != "two");
        all.sort();
        expected.sort();
        assert_eq!(all, expected);
        let log = chat.bot.log();
        let reply = log
            .overheard
            .iter()
            .find(|it| it.body == Body::Text("reply 7".to_owned()));
        let reply = reply.unwrap();
        assert!(reply.conversation.as_str().ends_with(&root));
        assert!(reply.sent_at < Utc::now() && reply.link.as_ref().unwrap().contains("thread_ts"));
        assert_eq!(reply.author.name, "Ann");
        assert_eq!(log.messages.len(), 0, "nothing is answered");
        // Also where nobody can write any more.
        chat.channel.archive();
        assert_eq!(read_history(&histories, &audience, None, 50).await, None);
    });
}

#[test]
fn a_history_whose_pages_name_no_cursor_is_read_to_its_end() {
    run(async |chat| {
        let bob = chat.slack.person("Bob").in_channel(&chat.channel);
        let root = bob.say("The mast is down.");
        let thread = chat.in_thread(&root);
        for number in 1..=9 {
            thread.say(&format!("reply {number}"));
            chat.say(&format!("chatter {number}"));
        }
        // What Slack delivered before this was not remembered.
        chat.still_answers().await;
        let audience = AudienceId::new(format!("slack/{TEAM}/{}", chat.channel.id()));
        chat.home.memory.remembers_talk_of(&audience);
        chat.slack.page_by_time(4);
        let histories = chat.home.options.histories.clone();
        assert_eq!(read_history(&histories, &audience, None, 50).await, None);
        let mut all = chat.bot.log().overheard_texts();
        let mut expected: Vec<String> = (1..=9)
            .flat_map(|n| [format!("reply {n}"), format!("chatter {n}")])
            .chain(["The mast is down.".to_owned()])
            .collect();
        all.sort();
        expected.sort();
        assert_eq!(all, expected);
    });
}

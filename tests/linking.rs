//! One person with accounts on two platforms, over real graphs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;

use chrono::Utc;
use muninn::conversation::audit::{Audit, AuditAction};
use muninn::conversation::readable::ReadablePlaces;
use muninn::graph::accounts::Account;
use muninn_platform::Memberships;
use muninn_platform::testing::TestConversation;
use support::bot::BotStorage;
use support::chat::{ScriptedChat, run, run_without_model};
use support::model_server::ModelServerRequest;
use support::program::{asks, prompt};

support::bot::on_every_graph!(
    what_is_said_alone_is_recalled_on_the_other_platform_once_accounts_are_linked,
    what_is_said_in_a_channel_moves_nowhere,
    after_unlinking_nothing_moves_any_more,
    a_code_is_used_once_and_by_another_account,
    nobody_guesses_a_code,
    an_account_that_was_not_used_for_long_is_somebody_elses,
    whatever_is_said_first_after_a_long_time_ends_the_link,
    an_account_that_was_not_used_for_long_is_not_linked_further,
    an_account_that_was_not_used_for_long_reads_nothing_of_the_others,
    linked_accounts_share_a_quota,
    linked_accounts_are_forgotten_together,
);

/// Returns a place on a platform of this test alone: on a shared graph, any process that serves a
/// platform delivers what is pending there.
fn room(chat: &ScriptedChat, platform: &str, name: &str) -> TestConversation {
    let platform: &str = chat.event(platform).replace('/', "-").leak();
    let id = format!("{platform}/{name}");
    TestConversation::new(chat.inbox.clone(), &id, &id).on(platform)
}

/// Ada's direct messages with the bot on two platforms, and her accounts there.
struct Ada {
    slack: (TestConversation, String),
    discord: (TestConversation, String),
}

impl Ada {
    async fn of(chat: &ScriptedChat) -> Self {
        let account = |platform: &str| chat.event(&format!("{platform}/ada"));
        let direct =
            |platform: &'static str, account: &str| room(chat, platform, "dm").direct(account);
        let (slack, discord) = (account("slack"), account("discord"));
        let ada = Self {
            slack: (direct("slack", &slack), slack),
            discord: (direct("discord", &discord), discord),
        };
        ada.slack.0.connect().await;
        ada.discord.0.connect().await;
        ada
    }

    /// Returns the bot's answer on Slack.
    async fn on_slack(&self, text: &str) -> String {
        self.slack.0.say(&self.slack.1, text).await.text()
    }

    async fn on_discord(&self, text: &str) -> String {
        self.discord.0.say(&self.discord.1, text).await.text()
    }

    /// Tells it to the bot alone, on Slack.
    async fn tells_her_locker(&self, chat: &ScriptedChat) {
        chat.expects(asks("My locker is number 4711."))
            .answers("Noted.");
        self.on_slack("My locker is number 4711.").await;
    }

    /// Returns the code that she is given on Slack.
    async fn code(&self) -> String {
        let said = self.on_slack("link my accounts").await;
        let code = said.split('`').nth(1).unwrap().to_owned();
        assert_eq!(code.len(), 9, "{said}");
        code
    }

    async fn link(&self) {
        let code = self.code().await;
        let linked = self
            .on_discord(&format!("link {}", code.to_lowercase()))
            .await;
        assert!(
            linked.starts_with("Done: your account here and your account"),
            "{linked}"
        );
        assert!(linked.contains("-slack are one person's"), "{linked}");
        self.slack
            .0
            .shows("If that was not you, say `unlink my account`")
            .await;
    }
}

/// Whether it asks for the locker's number without the number in the prompt.
fn asks_without_knowing(request: &ModelServerRequest) -> bool {
    let prompt = prompt(request);
    prompt.contains("number of my locker") && !prompt.contains("4711")
}

async fn what_is_said_alone_is_recalled_on_the_other_platform_once_accounts_are_linked(
    place: BotStorage,
) {
    run(place, async |chat| {
        let ada = Ada::of(chat).await;
        ada.tells_her_locker(chat).await;

        chat.expects(asks_without_knowing).answers("I do not know.");
        ada.on_discord("What is the number of my locker?").await;
        ada.link().await;
        chat.expects(|request: &_| {
            let prompt = prompt(request);
            prompt.contains("tell me the number of my locker") && prompt.contains("4711")
        })
        .answers("It is 4711.");
        let answer = ada
            .on_discord("Please tell me the number of my locker.")
            .await;
        assert!(answer.contains("4711"), "{answer}");
        let why = ada.discord.0.command(&ada.discord.1, "why").await.text();
        assert!(why.contains("My locker is number 4711."), "{why}");
        // And what is recalled there can be forgotten there.
        let number = why
            .lines()
            .find(|line| line.contains("My locker is number 4711."))
            .and_then(|line| line.trim().split('.').next())
            .unwrap();
        let forgotten = ada.on_discord(&format!("forget {number}")).await;
        assert!(forgotten.starts_with("Forgotten"), "{forgotten}");
        assert!(!ada.slack.0.shown().join("\n").contains("Noted."));
        let entries = Audit::new(chat.place.path()).since(chrono::DateTime::UNIX_EPOCH);
        let linked = entries.unwrap();
        assert!(linked.iter().any(|it| it.action == AuditAction::Linked));
    })
    .await;
}

async fn what_is_said_in_a_channel_moves_nowhere(place: BotStorage) {
    run(place, async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        let channel = room(chat, "slack", "board");
        chat.expects(asks("The board meets on Thursday at nine."))
            .answers("Noted.");
        channel
            .say(&ada.slack.1, "The board meets on Thursday at nine.")
            .await;
        let unknown = |request: &_| {
            let prompt = prompt(request);
            prompt.contains("When does the board meet") && !prompt.contains("at nine")
        };
        chat.expects(unknown).answers("I do not know.");
        ada.on_discord("When does the board meet?").await;
        // Nor is what was said in private recalled in a channel.
        chat.expects(asks("My locker is number 4711."))
            .answers("Noted.");
        ada.on_discord("My locker is number 4711.").await;
        chat.expects(asks_without_knowing).answers("I do not know.");
        channel
            .say(&ada.slack.1, "What is the number of my locker?")
            .await;
        // A private question there recalls it, for her alone.
        chat.expects(|request: &_| {
            let prompt = prompt(request);
            prompt.contains("number of my locker, again?") && prompt.contains("4711")
        })
        .answers("It is 4711.");
        let aside = channel.aside(&ada.slack.1);
        aside
            .say(&ada.slack.1, "What is the number of my locker, again?")
            .await;
    })
    .await;
}

async fn after_unlinking_nothing_moves_any_more(place: BotStorage) {
    run(place, async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        ada.tells_her_locker(chat).await;
        let undone = ada.on_discord("unlink my account").await;
        assert!(undone.contains("is no longer linked with"), "{undone}");
        ada.slack.0.shows("is no longer linked with").await;
        chat.expects(asks_without_knowing).answers("I do not know.");
        ada.on_discord("What is the number of my locker?").await;
        let again = ada.on_discord("unlink my account").await;
        assert!(again.contains("is linked with no other"), "{again}");
    })
    .await;
}

async fn a_code_is_used_once_and_by_another_account(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = Ada::of(chat).await;
        let code = ada.code().await;
        let own = ada.on_slack(&format!("link {code}")).await;
        assert!(own.contains("code of this account itself"), "{own}");
        // In a channel others would read it.
        let channel = room(chat, "discord", "board");
        let public = channel.say(&ada.discord.1, &format!("link {code}")).await;
        assert!(public.text().contains("in a direct message"), "{public:?}");
        let linked = ada.on_discord(&format!("link {code}")).await;
        assert!(linked.starts_with("Done"), "{linked}");
        let eve = chat.event("matrix/eve");
        let direct = room(chat, "matrix", "eve").direct(&eve);
        let again = direct.say(&eve, &format!("link {code}")).await.text();
        assert!(again.starts_with("That code is not valid"), "{again}");
        // A new code invalidates the earlier one.
        let (first, second) = (ada.code().await, ada.code().await);
        let stale = direct.say(&eve, &format!("link {first}")).await.text();
        assert!(stale.starts_with("That code is not valid"), "{stale}");
        let third = direct.say(&eve, &format!("link {second}")).await.text();
        assert!(third.starts_with("Done"), "{third}");
        assert_eq!(third.matches(" and your account ").count(), 2, "{third}");
    })
    .await;
}

async fn nobody_guesses_a_code(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = Ada::of(chat).await;
        let code = ada.code().await;
        for guess in [
            "AAAA-AAAA",
            "BBBB-BBBB",
            "CCCC-CCCC",
            "DDDD-DDDD",
            "EEEE-EEEE",
        ] {
            let said = ada.on_discord(&format!("link {guess}")).await;
            assert!(said.starts_with("That code is not valid"), "{said}");
        }
        // Not even the right one works, also after a restart.
        let said = ada.on_discord(&format!("link {code}")).await;
        assert!(said.contains("try again in an hour"), "{said}");
        chat.restart().await;
        let direct = room(chat, "discord", "dm");
        let direct = direct.direct(&ada.discord.1);
        let said = direct.say(&ada.discord.1, &format!("link {code}")).await;
        assert!(said.text().contains("try again in an hour"), "{said:?}");
    })
    .await;
}

async fn an_account_that_was_not_used_for_long_is_somebody_elses(place: BotStorage) {
    run(place, async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        ada.tells_her_locker(chat).await;
        let long_ago = chrono::Utc::now() - chrono::TimeDelta::days(91);
        let seen = chat.store.account_seen(&ada.discord.1, long_ago);
        seen.await.unwrap();
        chat.expects(asks_without_knowing).answers("I do not know.");
        ada.on_discord("What is the number of my locker?").await;
        ada.discord.0.shows("was not used for 90 days").await;
        ada.slack.0.shows("is no longer linked with").await;
        assert!(
            chat.store
                .accounts_of(&ada.slack.1)
                .await
                .unwrap()
                .is_empty()
        );
    })
    .await;
}

/// Sets back when her account on Discord was last used.
async fn leaves_discord(chat: &ScriptedChat, ada: &Ada) {
    let long_ago = chrono::Utc::now() - chrono::TimeDelta::days(91);
    let seen = chat.store.account_seen(&ada.discord.1, long_ago);
    seen.await.unwrap();
}

async fn linked_to(chat: &ScriptedChat, account: &str) -> Vec<String> {
    let all = chat.store.accounts_of(account).await.unwrap();
    let ids = all.into_iter().map(|it| it.account.id);
    ids.filter(|it| it != account).collect()
}

async fn whatever_is_said_first_after_a_long_time_ends_the_link(place: BotStorage) {
    run(place, async |chat| {
        let ada = Ada::of(chat).await;
        ada.tells_her_locker(chat).await;
        let channel = room(chat, "discord", "board");
        for first in [
            "web",
            "mcp token everywhere",
            "export mine",
            "link my accounts",
            "link AAAA-AAAA",
            "memory",
            "forget me",
            "forget me yes",
        ] {
            ada.link().await;
            leaves_discord(chat, &ada).await;
            let said = ada.discord.0.say(&ada.discord.1, first).await;
            let files = said.files.iter();
            let files = files.map(|(_, content)| String::from_utf8_lossy(content));
            let given = files.chain([said.text().into()]).collect::<Vec<_>>();
            assert!(!given.iter().any(|it| it.contains("4711")), "{given:?}");
            assert!(!said.text().contains("2 linked accounts"), "{given:?}");
            assert_eq!(linked_to(chat, &ada.slack.1).await, [""; 0], "{first}");
            let kept = chat
                .store
                .turns_of_person(&ada.slack.1, Utc::now())
                .await
                .unwrap();
            assert_eq!(kept.len(), 1, "{first}");
        }
        // Also where others read it.
        ada.link().await;
        leaves_discord(chat, &ada).await;
        channel.command(&ada.discord.1, "why").await;
        assert_eq!(linked_to(chat, &ada.slack.1).await, [""; 0]);
        // What is used goes on being linked.
        ada.link().await;
        ada.on_discord("memory").await;
        let linked = linked_to(chat, &ada.slack.1).await;
        assert_eq!(linked, std::slice::from_ref(&ada.discord.1));
    })
    .await;
}

async fn an_account_that_was_not_used_for_long_is_not_linked_further(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        leaves_discord(chat, &ada).await;
        let matrix = chat.event("matrix/ada");
        let direct = room(chat, "matrix", "ada").direct(&matrix);
        let code = ada.code().await;
        let linked = direct.say(&matrix, &format!("link {code}")).await.text();
        assert!(linked.starts_with("Done"), "{linked}");
        assert!(!linked.contains("-discord"), "{linked}");
        let of_slack = linked_to(chat, &ada.slack.1).await;
        assert_eq!(of_slack, std::slice::from_ref(&matrix));
        assert_eq!(linked_to(chat, &ada.discord.1).await, [""; 0]);
        // Whoever has it now is not told of the new account.
        ada.discord.0.shows("was not used for 90 days").await;
        ada.slack.0.shows("is no longer linked with").await;
        let told = ada.discord.0.shown().join("\n");
        assert!(!told.contains("-matrix"), "{told}");
    })
    .await;
}

async fn an_account_that_was_not_used_for_long_reads_nothing_of_the_others(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        let readable = ReadablePlaces::new(Arc::clone(&chat.store), Memberships::default());
        let others = async |id: &str| {
            let account = Account {
                id: id.to_owned(),
                platform: String::new(),
                name: String::new(),
            };
            let others = readable.others(&account).await.unwrap();
            others.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(
            others(&ada.discord.1).await,
            std::slice::from_ref(&ada.slack.1)
        );
        leaves_discord(chat, &ada).await;
        // Pages and programs ask before the account says anything.
        assert_eq!(others(&ada.discord.1).await, [""; 0]);
        assert_eq!(others(&ada.slack.1).await, [""; 0]);
    })
    .await;
}

async fn linked_accounts_share_a_quota(place: BotStorage) {
    run_without_model(place, &["--messages-per-minute=4"], async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        for number in 0..2 {
            ada.on_slack(&format!("My lucky number is {number}.")).await;
            ada.on_discord(&format!("My lucky number is {number}."))
                .await;
        }
        let refused = ada.on_slack("My lucky number is 7.").await;
        assert!(
            refused.contains("more than 4 messages per minute"),
            "{refused}"
        );
    })
    .await;
}

async fn linked_accounts_are_forgotten_together(place: BotStorage) {
    run(place, async |chat| {
        let ada = Ada::of(chat).await;
        ada.link().await;
        chat.expects(asks("My Slack handle is quokka."))
            .answers("Noted.");
        ada.on_slack("My Slack handle is quokka.").await;
        chat.expects(asks("My Discord handle is quokka."))
            .answers("Noted.");
        ada.on_discord("My Discord handle is quokka.").await;
        let asked = ada.on_discord("forget me").await;
        assert!(
            asked.contains("2 questions") && asked.contains("from 2 linked accounts"),
            "{asked}"
        );
        let gone = ada.on_discord("forget me yes").await;
        assert!(
            gone.contains("Your accounts are not linked any more."),
            "{gone}"
        );
        for account in [&ada.slack.1, &ada.discord.1] {
            assert!(
                chat.store
                    .turns_of_person(account, Utc::now())
                    .await
                    .unwrap()
                    .is_empty()
            );
            assert!(chat.store.accounts_of(account).await.unwrap().is_empty());
        }
    })
    .await;
}

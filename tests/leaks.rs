//! What is said in one place is not revealed in another: every platform, its public, private and
//! direct places, and every way by which something can be revealed. Each row has a positive
//! control: its own secret is revealed in its place, so that the absence of the others means
//! something.

#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in what it is helped by"
)]

#[path = "leaks/pages.rs"]
mod pages;
#[path = "leaks/programs.rs"]
mod programs;
mod support;

use std::time::Duration;

use futures::future::join_all;
use loopback_discord::Discord;
use loopback_slack::{APP_TOKEN, BOT_TOKEN, Slack};
use muninn_matrix::testing::{MatrixAccount, MatrixPerson, RoomKind, homeserver};
use muninn_platform::testing::{MessageOutcome, TestConversation, next_event};
use muninn_platform::{Body, Command, EventId};
use serde_json::json;
use support::bot::BotStorage as Folder;
use support::chat::run;
use support::model_server::ModelServer;
use support::program::{Program, end, prompt};
use tokio::time::timeout;

/// A way by which something can be revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeakPath {
    /// A question in another conversation of the place.
    Recall,
    /// The same, by the model's own search.
    Search,
    /// A question that names a message of each other place, by its id and address.
    Named,
    /// What the last answer was made from.
    Why,
    /// The same, of an answer that was given recalled turns.
    WhyRecalled,
    /// The recent messages.
    History,
    /// What was said while somebody was away. In a Matrix room it is told in a direct room:
    /// `tests/rooms.rs`.
    CatchUp,
    /// A question that only its author sees, which may also use the memory of the place around it.
    Aside,
    /// A reply to a message of another place.
    ReplyElsewhere,
}

const SLACK: &[LeakPath] = &[
    LeakPath::Why,
    LeakPath::History,
    LeakPath::Recall,
    LeakPath::WhyRecalled,
    LeakPath::Search,
    LeakPath::Named,
    LeakPath::Aside,
    LeakPath::CatchUp,
];
const DISCORD: &[LeakPath] = &[
    LeakPath::Why,
    LeakPath::Recall,
    LeakPath::WhyRecalled,
    LeakPath::Search,
    LeakPath::Named,
    LeakPath::Aside,
    LeakPath::CatchUp,
];
const MATRIX: &[LeakPath] = &[
    LeakPath::Why,
    LeakPath::History,
    LeakPath::Recall,
    LeakPath::WhyRecalled,
    LeakPath::Search,
    LeakPath::Named,
    LeakPath::ReplyElsewhere,
];

impl LeakPath {
    /// Whether it reveals overheard messages in their own place, which are not turns of the bot.
    fn shows_talk(self) -> bool {
        match self {
            Self::Why | Self::History => false,
            Self::Recall
            | Self::WhyRecalled
            | Self::Search
            | Self::Named
            | Self::Aside
            | Self::CatchUp
            | Self::ReplyElsewhere => true,
        }
    }
}

/// How the secrets get into the bot's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretRecipient {
    ToBot,
    /// To others, where that is remembered. Whoever is alone with the bot tells it.
    ToOthers,
}

/// A place as seen by a person who talks there.
struct SecretPlace {
    kind: &'static str,
    /// What was said only there.
    secret: &'static str,
    chat: PlatformChat,
}

enum PlatformChat {
    Slack(loopback_slack::Chat),
    Discord(loopback_discord::Chat),
    Matrix(muninn_matrix::testing::MatrixChat),
}

/// The secrets of a public, a private and a direct place. They are words, because four digits can
/// occur in a time of day by chance.
const SECRETS: [(&str, &str); 3] = [
    ("public", "heron4711"),
    ("private", "osprey5822"),
    ("direct", "plover6933"),
];

impl SecretPlace {
    fn all(chats: [PlatformChat; 3]) -> [Self; 3] {
        let mut secrets = SECRETS.into_iter();
        chats.map(|chat| {
            let (kind, secret) = secrets.next().unwrap();
            Self { kind, secret, chat }
        })
    }

    /// Creates a public, a private and a direct room of a person with the bot.
    async fn rooms(person: &MatrixPerson, bot: &MatrixAccount) -> [Self; 3] {
        Self::all([
            PlatformChat::Matrix(person.room(&bot.user, RoomKind::PLAIN).await),
            PlatformChat::Matrix(person.room(&bot.user, RoomKind::ENCRYPTED).await),
            PlatformChat::Matrix(person.room(&bot.user, RoomKind::DIRECT).await),
        ])
    }

    fn into_room(self) -> muninn_matrix::testing::MatrixChat {
        match self.chat {
            PlatformChat::Matrix(chat) => chat,
            PlatformChat::Slack(_) | PlatformChat::Discord(_) => unreachable!("it is a room"),
        }
    }

    /// Whether all that was said there is in the window of its only conversation.
    fn recalls_nothing(&self) -> bool {
        let is_one = matches!(self.chat, PlatformChat::Discord(_)) && self.kind == "private";
        self.is_direct() || is_one
    }

    fn is_direct(&self) -> bool {
        self.kind == "direct"
    }

    /// Asks the bot in a new conversation; returns the message's id after the answer is kept.
    async fn asks(&self, text: &str, answer: &str) -> String {
        match &self.chat {
            PlatformChat::Slack(chat) => {
                let asked = chat.ask(text);
                let thread = chat.in_thread(&asked);
                let at = if self.is_direct() { chat } else { &thread };
                let is_kept = |it: &loopback_slack::Message| {
                    it.shown.ends_with(answer) && it.blocks.to_string().contains("muninn_why")
                };
                at.finds(answer, is_kept).await;
                asked
            }
            PlatformChat::Discord(chat) => {
                let is_kept = |it: &loopback_discord::Message| {
                    it.text.ends_with(answer) && it.buttons.iter().any(|it| it.label == "Why?")
                };
                if self.kind == "public" {
                    let asked = chat.mention(text);
                    chat.thread_on(asked).await.finds(answer, is_kept).await;
                    return asked.to_string();
                }
                let asked = chat.mention(text);
                chat.finds(answer, is_kept).await;
                asked.to_string()
            }
            PlatformChat::Matrix(chat) => {
                let asked = chat.ask(text).await;
                chat.hears(answer).await;
                asked.to_string()
            }
        }
    }

    /// Makes overheard messages be remembered there, and says something to others; returns the
    /// message's id after it is kept.
    async fn overhears(&self, program: &Program, text: &str) -> String {
        let said = match &self.chat {
            PlatformChat::Slack(chat) => {
                chat.slash("/muninn", "remember channel").await;
                chat.say(text)
            }
            PlatformChat::Discord(chat) => {
                let remember = [("what", json!("remember channel"))];
                let asked = chat.command("remember", &remember);
                asked
                    .finds("that it listens", |it| it.text.contains("from now on"))
                    .await;
                chat.say(text).to_string()
            }
            PlatformChat::Matrix(chat) => {
                chat.say("!muninn remember room").await;
                let listens =
                    |it: &muninn_matrix::testing::RoomMessage| it.text.contains("From now on");
                chat.finds("that it listens", listens).await;
                chat.say(text).await.to_string()
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("export");
        let kept = async {
            loop {
                program.says(&["export", file.to_str().unwrap()]).await;
                if std::fs::read_to_string(&file).unwrap().contains(text) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let in_time = timeout(Duration::from_secs(60), kept).await;
        assert!(in_time.is_ok(), "{}: {text:?} is not kept", self.kind);
        said
    }

    /// Asks where nobody else sees it.
    async fn asks_aside(&self, text: &str, answer: &str) {
        match &self.chat {
            PlatformChat::Slack(chat) => {
                chat.slash("/muninn", &format!("ask {text}")).await;
                chat.finds(answer, |it| it.is_ephemeral && it.shown.ends_with(answer))
                    .await;
            }
            PlatformChat::Discord(chat) => {
                let asked = chat.ask(text, &[("private", json!(true))]);
                asked.hears(answer).await;
            }
            PlatformChat::Matrix(_) => unreachable!("Matrix has nothing of the kind"),
        }
    }

    /// Replies here to a message of another place.
    async fn replies(&self, to: &str, text: &str, answer: &str) {
        let PlatformChat::Matrix(chat) = &self.chat else {
            unreachable!("only Matrix takes a reply to anything")
        };
        let mut content = chat.mentioning(text);
        content["m.relates_to"] = json!({ "m.in_reply_to": { "event_id": to } });
        chat.send(content).await;
        chat.hears(answer).await;
    }

    /// Returns the response to a command that contains `shown`.
    async fn commands(&self, command: &str, shown: &str) -> String {
        match &self.chat {
            PlatformChat::Slack(chat) => {
                chat.slash("/muninn", command).await;
                let is_it = |it: &loopback_slack::Message| {
                    it.is_bots && it.shown.contains(shown) && it.is_ephemeral
                };
                chat.finds(command, is_it).await.shown
            }
            PlatformChat::Discord(chat) => {
                let asked = chat.command(command, &[]);
                let said = asked.finds(command, |it| it.text.contains(shown)).await;
                said.text
            }
            PlatformChat::Matrix(chat) => {
                chat.say(&format!("!muninn {command}")).await;
                let about = match command {
                    "why" => "My last answer was to",
                    _ => "]",
                };
                let is_it = |it: &muninn_matrix::testing::RoomMessage| {
                    it.text.contains(about) && it.text.contains(shown)
                };
                chat.finds(command, is_it).await.text
            }
        }
    }

    /// Returns the digest of what was said there today that contains `shown`.
    async fn catches_up(&self, shown: &str) -> String {
        match &self.chat {
            PlatformChat::Slack(_) => self.commands("catch me up since yesterday", shown).await,
            PlatformChat::Discord(chat) => {
                let asked = chat.command("catchup", &[("since", json!("yesterday"))]);
                let said = asked.finds("what was said", |it| it.text.contains(shown));
                said.await.text
            }
            PlatformChat::Matrix(_) => unreachable!("it is told elsewhere"),
        }
    }

    /// Returns everything that can be read there.
    fn everything(&self) -> String {
        match &self.chat {
            PlatformChat::Slack(chat) => chat.said().into_iter().map(|it| it.shown).collect(),
            PlatformChat::Discord(chat) => chat.said().into_iter().map(|it| it.text).collect(),
            PlatformChat::Matrix(chat) => chat.said().into_iter().map(|it| it.text).collect(),
        }
    }
}

/// Asserts that the output contains the place's own secret, and none of the others.
fn check(row: &str, spot: &SecretPlace, came_out: &str) {
    let kind = spot.kind;
    assert!(came_out.contains(spot.secret), "{row}, {kind}: {came_out}");
    for (other, secret) in SECRETS.iter().filter(|(_, it)| *it != spot.secret) {
        let leaks = came_out.contains(secret);
        assert!(!leaks, "{row}: {other} leaks into {kind}: {came_out}");
    }
}

/// Returns everything that the model was given for a question.
fn given(server: &ModelServer, question: &str) -> String {
    let chats = server.chats();
    let asked = chats.iter().map(|it| it.body.to_string());
    asked.filter(|it| it.contains(question)).collect()
}

async fn nothing_leaks(
    server: &ModelServer,
    program: &Program,
    spots: [SecretPlace; 3],
    (how, ways): (SecretRecipient, &[LeakPath]),
) {
    let mut told = Vec::new();
    for spot in &spots {
        let text = format!("The code of the coffee machine is {}.", spot.secret);
        if how == SecretRecipient::ToOthers && !spot.is_direct() {
            told.push(spot.overhears(program, &text).await);
            continue;
        }
        let answer = format!("Noted for {}.", spot.kind);
        let ends = text.clone();
        server
            .expects(move |request| request.last_user().ends_with(&ends))
            .answers(&answer);
        told.push(spot.asks(&text, &answer).await);
    }
    let ways = ways
        .iter()
        .filter(|way| how == SecretRecipient::ToBot || way.shows_talk());
    for way in ways {
        for (at, spot) in spots.iter().enumerate() {
            let row = format!("{way:?}");
            let others = told.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<&str> = others.map(|(_, id)| id.as_str()).collect();
            let ending = format!("({way:?} in {})?", spot.kind);
            let question = match way {
                LeakPath::Named => format!(
                    "What is the code of the coffee machine, and in {} {ending}",
                    others.join(" and ")
                ),
                _ => format!("What is the code of the coffee machine {ending}"),
            };
            let answer = format!("Answered {way:?} in {}.", spot.kind);
            let expects = || {
                let ending = ending.clone();
                server
                    .expects(move |request| request.body["messages"].to_string().contains(&ending))
            };
            match way {
                LeakPath::Why => check(&row, spot, &spot.commands("why", spot.secret).await),
                LeakPath::History => {
                    check(&row, spot, &spot.commands("history", spot.secret).await)
                }
                // Its only conversation is completely in the window, and nobody else is there.
                LeakPath::WhyRecalled | LeakPath::Aside if spot.recalls_nothing() => {}
                LeakPath::WhyRecalled => {
                    check(&row, spot, &spot.commands("why", "Recalled:\n").await)
                }
                LeakPath::Recall | LeakPath::Named | LeakPath::Aside | LeakPath::ReplyElsewhere => {
                    expects().answers(&answer);
                    match way {
                        LeakPath::Aside => spot.asks_aside(&question, &answer).await,
                        LeakPath::ReplyElsewhere => {
                            spot.replies(others[0], &question, &answer).await
                        }
                        _ => drop(spot.asks(&question, &answer).await),
                    }
                    check(&row, spot, &given(server, &ending));
                }
                LeakPath::CatchUp => {
                    let what = format!("It is {}, they say.", spot.secret);
                    let came_of_it = json!({
                        "decided": [{"what": what, "messages": [1]}], "answered": [], "open": [],
                    });
                    server
                        .expects(|request| prompt(request).contains("1. ["))
                        .answers(&came_of_it.to_string());
                    let told = spot.catches_up(&what).await;
                    let asked = server.chats().last().unwrap().body.to_string();
                    check(&row, spot, &told);
                    check(&row, spot, &asked);
                }
                LeakPath::Search => {
                    let query = json!({ "query": "code of the coffee machine" });
                    expects().calls(&[("search_memory", query)]);
                    expects().answers(&answer);
                    spot.asks(&question, &answer).await;
                    check(&row, spot, &given(server, &ending));
                }
            }
        }
    }
    for spot in &spots {
        let shown = spot.everything();
        for (other, secret) in SECRETS.iter().filter(|(_, it)| *it != spot.secret) {
            assert!(!shown.contains(secret), "{other} in {}: {shown}", spot.kind);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaks_on_slack() {
    on_slack(SecretRecipient::ToBot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_people_say_to_one_another_leaks_on_slack() {
    on_slack(SecretRecipient::ToOthers).await;
}

/// Creates a workspace from the program's own manifest, and the program in it.
async fn with_slack(server: &ModelServer) -> (Slack, Program) {
    let printed = Program::new(server).says(&["manifest", "slack"]).await;
    let slack = Slack::with_manifest(&serde_json::from_str(&printed).unwrap()).await;
    let program = Program::new(server)
        .with("AGENT_MAX_ROUNDS", "0")
        .with("SLACK_API_URL", slack.api_url())
        .with("SLACK_BOT_TOKEN", BOT_TOKEN)
        .with("SLACK_APP_TOKEN", APP_TOKEN)
        .with("SLACK_ALLOW", "*");
    (slack, program)
}

fn with_discord(server: &ModelServer, discord: &Discord) -> Program {
    Program::new(server)
        .with("AGENT_MAX_ROUNDS", "0")
        .with("DISCORD_API_PROXY", discord.url())
        .with("DISCORD_TOKEN", discord.token())
        .with("DISCORD_ALLOW", "*")
}

fn with_matrix(server: &ModelServer, homeserver: &str, account: &MatrixAccount) -> Program {
    Program::new(server)
        .with("AGENT_MAX_ROUNDS", "0")
        .with("MATRIX_HOMESERVER", homeserver)
        .with("MATRIX_USER", account.user.as_str())
        .with("MATRIX_PASSWORD", &account.password)
        .with("MATRIX_ALLOW", "*")
}

async fn on_slack(how: SecretRecipient) {
    let server = ModelServer::start().await;
    let (slack, program) = with_slack(&server).await;
    let bot = program.start();
    slack.connected(1).await;
    let ann = slack.admin("Ann");
    let private = slack.private_channel("secret", &[&ann]);
    let chats = [
        ann.in_channel(&slack.channel("kitchen")),
        ann.in_channel(&private),
        ann.with_bot(),
    ];
    let spots = SecretPlace::all(chats.map(PlatformChat::Slack));
    nothing_leaks(&server, &program, spots, (how, SLACK)).await;
    end(bot).await;
    server.finish();
    slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaks_on_discord() {
    on_discord(SecretRecipient::ToBot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_people_say_to_one_another_leaks_on_discord() {
    on_discord(SecretRecipient::ToOthers).await;
}

async fn on_discord(how: SecretRecipient) {
    let server = ModelServer::start().await;
    let discord = Discord::start().await;
    let guild = discord.guild("Ravens");
    let program = with_discord(&server, &discord);
    let bot = program.start();
    discord.connected(1).await;
    discord.registered("ask").await;
    let ann = guild.moderator("ann");
    let kitchen = ann.at(&guild.text("kitchen"));
    let private = kitchen.open_private_thread("secret");
    private.brings(discord.bot());
    let chats = [kitchen, private, ann.direct()];
    let spots = SecretPlace::all(chats.map(PlatformChat::Discord));
    nothing_leaks(&server, &program, spots, (how, DISCORD)).await;
    end(bot).await;
    server.finish();
    discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn nothing_leaks_on_matrix() {
    on_matrix(SecretRecipient::ToBot).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn nothing_that_people_say_to_one_another_leaks_on_matrix() {
    on_matrix(SecretRecipient::ToOthers).await;
}

async fn on_matrix(how: SecretRecipient) {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let account = MatrixAccount::new(&homeserver, "muninn").await;
    let program = with_matrix(&server, &homeserver, &account);
    let bot = program.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let spots = SecretPlace::rooms(&ann, &account).await;
    nothing_leaks(&server, &program, spots, (how, MATRIX)).await;
    end(bot).await;
    server.finish();
}

/// Ids of one place that arrive from another: people may forge what an adapter passes on.
#[tokio::test(flavor = "multi_thread")]
async fn forged_ids_bring_nothing_out() {
    run(Folder::embedded(), async |chat| {
        let public = chat.room("a");
        let rooms = [
            public.clone(),
            chat.room_of("a", "secret"),
            public.aside("ada"),
        ];
        let mut told = Vec::new();
        for (room, (kind, secret)) in rooms.iter().zip(SECRETS) {
            let (event, text) = (next_event(), format!("The code is {secret}."));
            let ends = text.clone();
            chat.expects(move |request| request.last_user().ends_with(&ends))
                .answers(&format!("Noted: {secret}."));
            room.say_as_event(&event, "ada", &text).await;
            // The control: its own ids work.
            let why = room.why_last("ada").await.text();
            assert!(why.contains(secret), "{kind}: {why}");
            told.push((event, room.last_message()));
        }
        // In all rooms at once: looking for unknown ids takes a while.
        let forging = rooms.iter().enumerate().map(async |(at, room)| {
            let others = told.iter().enumerate().filter(|(other, _)| *other != at);
            for (other, (event, answer)) in others {
                let edit = Body::Edit {
                    of: EventId::new(event),
                    text: "What is the code?".to_owned(),
                };
                let forged = [
                    ("eve", Body::Command(Command::WhyOf(answer.clone()))),
                    ("ada", Body::Command(Command::Again(answer.clone()))),
                    ("eve", edit.clone()),
                    ("ada", edit),
                ];
                for (author, body) in &forged {
                    let said = forge(room, author, body).await;
                    let leaks = said.contains(SECRETS[other].1);
                    assert!(!leaks, "{body:?} from {}: {said}", SECRETS[at].0);
                }
            }
        });
        join_all(forging).await;
        // None of it changed anything either.
        for (room, (kind, secret)) in rooms.iter().zip(SECRETS) {
            let history = room.command("ada", "history").await.text();
            assert!(
                history.contains(&format!("The code is {secret}.")),
                "{kind}: {history}"
            );
        }
    })
    .await;
}

/// Sends something in this room with ids of another, and returns the answer.
async fn forge(room: &TestConversation, author: &str, body: &Body) -> String {
    let message = room.message(&next_event(), author, body.clone());
    match room.redeliver(message).await.outcome().await {
        MessageOutcome::Answered(answer) => answer.text(),
        MessageOutcome::GivenUp(answer) => answer.updates.concat(),
        MessageOutcome::Lost(answer) => answer.text(),
    }
}

//! The whole bot in Discord: the program itself, killed and restarted, with a Discord server on
//! loopback.

#[path = "discord/shards.rs"]
mod shards;
mod support;

use loopback_discord::{Chat, Discord, DiscordChannel, Guild, Message};
use serde_json::json;
use support::files::files_with;
use support::http_server::{HttpReply, HttpServer};
use support::model_server::{Gate, ModelServer, ModelServerRequest, Reply};
use support::program::{Program, asks, end, kill, prompt};
use tokio::process::Child;

/// A guild, and the program that runs as a bot in it.
struct DiscordProgram {
    discord: Discord,
    guild: Guild,
    program: Program,
}

impl DiscordProgram {
    async fn new(model: &ModelServer) -> Self {
        let discord = Discord::start().await;
        let guild = discord.guild("Ravens");
        let program = Program::new(model)
            .with("DISCORD_API_PROXY", discord.url())
            .with("DISCORD_TOKEN", discord.token())
            .with("DISCORD_ALLOW", format!("guild:{}", guild.id()));
        Self {
            discord,
            guild,
            program,
        }
    }

    /// Starts it and waits until it is connected and has its commands.
    async fn start(&self) -> Child {
        let before = self.discord.counts().identified;
        let bot = self.program.start();
        self.discord
            .counted("its session", |counts| counts.identified > before)
            .await;
        self.discord.connected(1).await;
        self.discord.registered("ask").await;
        bot
    }

    fn general(&self) -> DiscordChannel {
        self.guild.text("general")
    }
}

fn standing(chat: &Chat) -> Vec<String> {
    let said = chat.said().into_iter();
    let public = said.filter(|message| !message.is_ephemeral);
    public.map(|message| message.text).collect()
}

fn ends_with(text: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.text.ends_with(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_of_a_channel_recall_each_other_and_nobody_else_does() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let (ann, bob) = (home.guild.person("ann"), home.guild.person("bob"));
    let kitchen = home.guild.text("kitchen");
    let (anns, bobs) = (ann.at(&kitchen), bob.at(&kitchen));

    server.expects(asks("is 4711.")).answers("Noted.");
    let told = anns.mention("The code of the coffee machine is 4711.");
    let thread = anns.thread_on(told).await;
    // Complete, and so kept: a growing answer has no such button.
    let is_whole = |said: &Message| said.buttons.iter().any(|button| button.label == "Why?");
    let noted = thread
        .finds("the answer", |said| said.text == "Noted." && is_whole(said))
        .await;

    let recalls = |request: &ModelServerRequest| {
        prompt(request).contains("> The code of the coffee machine is 4711.")
    };
    server
        .expects(move |request| request.last_user().ends_with("machine?") && recalls(request))
        .answers("It is 4711.");
    bobs.ask("What is the code of the coffee machine?", &[])
        .hears("It is 4711.")
        .await;
    // A follow-up in the thread needs no mention.
    server.expects(asks("Thanks!")).answers("You are welcome.");
    thread.say("Thanks!");
    thread.hears("You are welcome.").await;

    // Privately: the channel is recalled, but does not learn of it.
    server
        .expects(move |request| request.last_user().ends_with("remind me?") && recalls(request))
        .answers("4711, between us.");
    anns.ask(
        "The code of the coffee machine, remind me?",
        &[("private", json!(true))],
    )
    .hears("4711, between us.")
    .await;

    let knows_nothing = |request: &ModelServerRequest| !prompt(request).contains("4711");
    server
        .expects(move |request| request.last_user().ends_with("machine?") && knows_nothing(request))
        .answers("I do not know.");
    ann.at(&home.general())
        .ask("What is the code of the coffee machine?", &[])
        .hears("I do not know.")
        .await;

    // Why, by the button; private exchanges are not shown to others.
    let why = thread.click(&noted, "Why?");
    let why = why
        .finds("why", |message| message.text.contains("4711"))
        .await;
    assert!(!why.text.contains("between us"), "{}", why.text);
    // Regenerates it, by the button.
    server
        .expects(|request| {
            request.last_user().ends_with("is 4711.") && !prompt(request).contains("Noted.")
        })
        .answers("I will keep it.");
    thread.click(&noted, "Regenerate");
    let again = thread.hears("I will keep it.").await;
    assert_eq!(again.id, noted.id);
    end(bot).await;
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_from_where_the_api_is() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let anns = home.guild.person("ann").at(&home.general());
    server
        .expects(|request: &ModelServerRequest| {
            prompt(request).contains("report.txt:\n> The roof leaks.")
        })
        .answers("The roof leaks, it says.");
    let question = format!("<@{}> What does it say?", home.discord.bot());
    let asked = anns.attach("report.txt", "text/plain", b"The roof leaks.", &question);
    let thread = anns.thread_on(asked).await;
    thread.hears("The roof leaks, it says.").await;
    end(bot).await;
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_answers_it_answers_once_after_all() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let chat = home.guild.person("ann").at(&home.general());
    server.expects(asks("Hello")).answers("Hi!");
    let thread = chat.thread_on(chat.mention("Hello")).await;
    thread.hears("Hi!").await;

    let gate = Gate::closed();
    server
        .expects(asks("The first."))
        .replies(Reply::chunks(["One", " after all."]).paused(&gate));
    thread.say("The first.");
    thread
        .finds("its beginning", |message| message.text.starts_with("One"))
        .await;
    thread.say("The second.");
    home.program.accepts("The second.").await;
    kill(bot).await;

    for (question, answer) in [("first.", "One after all."), ("second.", "Two.")] {
        server.expects(asks(question)).answers(answer);
    }
    let bot = home.start().await;
    for answer in ["One after all.", "Two."] {
        thread.finds(answer, ends_with(answer)).await;
    }
    end(bot).await;
    assert_eq!(standing(&thread), ["Hi!", "One after all.", "Two."]);

    let bot = home.start().await;
    home.discord.repeats_events(2);
    server.expects(asks("Anything else?")).answers("No.");
    thread.say("Anything else?");
    thread.hears("No.").await;
    end(bot).await;
    assert_eq!(standing(&thread).len(), 4);
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_follows_what_is_edited_and_deleted() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let chat = home.guild.person("ann").at(&home.general());
    let me = home.discord.bot();
    server.expects(asks("in Berlin.")).answers("Noted: Berlin.");
    let told = chat.mention("The office party of the harbour team is in Berlin.");
    let thread = chat.thread_on(told).await;
    let answer = thread.hears("Noted: Berlin.").await;
    server.expects(asks("in Oslo.")).answers("Noted: Oslo.");
    chat.edit(
        told,
        &format!("<@{me}> The office party of the harbour team is in Oslo."),
    );
    let edited = thread.hears("Noted: Oslo.").await;
    assert_eq!(edited.id, answer.id, "the answer was edited");
    chat.delete(told);
    thread
        .sees("the answer taken away", |said| {
            let is_gone = |one: &&Message| one.id == edited.id && one.is_deleted;
            said.iter().find(is_gone).map(drop)
        })
        .await;
    server
        .expects(|request| !prompt(request).contains("Oslo"))
        .answers("I do not know.");
    chat.ask("Where is the office party of the harbour team?", &[])
        .hears("I do not know.")
        .await;
    end(bot).await;
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_taken_away_also_after_a_restart() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let chat = home.guild.moderator("ann").at(&home.general());
    server.expects(asks("is 4711.")).answers("4711, noted.");
    let told = chat.mention("The code of the coffee machine is 4711.");
    let thread = chat.thread_on(told).await;
    thread.hears("4711, noted.").await;
    server.expects(asks("is 0815.")).answers("0815, noted.");
    thread.say("The code of the door is 0815.");
    thread.hears("0815, noted.").await;

    let last = thread.command("forget", &[("what", json!("last"))]);
    last.finds("that it did", |said| {
        said.text.starts_with("Forgotten: your message of ") && !said.text.contains("visible")
    })
    .await;
    assert_eq!(standing(&thread), ["4711, noted."]);

    // Discord is unavailable when the rest is to be deleted, and the program is killed.
    home.discord
        .next("DELETE", "/channels/{channel_id}/messages/{message_id}")
        .fails(503);
    let all = chat.command("forget", &[("what", json!("channel"))]);
    let question = all.is_answered().await;
    let forgotten = chat.click(&question, "Forget");
    forgotten
        .finds("what it could not do", |said| {
            said.text.contains("1 message of mine yet and keep trying")
        })
        .await;
    kill(bot).await;
    let bot = home.start().await;
    thread
        .sees("nothing of it", |said| {
            let mut answers = said.iter().filter(|one| one.text.ends_with("noted."));
            answers.all(|one| one.is_deleted).then_some(())
        })
        .await;
    chat.finds_thread("its neutral name", |thread| thread.name == "Question")
        .await;
    end(bot).await;
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_and_the_invitation() {
    let server = ModelServer::start().await;
    // `doctor` tries the model.
    server.echoes();
    let home = DiscordProgram::new(&server).await;
    let said = home.program.says(&["doctor"]).await;
    assert!(
        said.contains("ok       discord: the token is that of"),
        "{said}"
    );
    let address = home.program.says(&["invite", "discord"]).await;
    assert!(
        address.starts_with("https://discord.com/oauth2/authorize?client_id="),
        "{address}"
    );

    let wrong = Program::new(&server)
        .with("DISCORD_API_PROXY", home.discord.url())
        .with("DISCORD_TOKEN", "wrong")
        .with("DISCORD_ALLOW", "*");
    for command in ["doctor", "serve"] {
        let said = wrong.says(&[command]).await;
        assert!(said.contains("DISCORD_TOKEN"), "{command}: {said}");
    }
    let without = Program::new(&server).says(&["invite", "discord"]).await;
    assert!(without.contains("DISCORD_TOKEN is not set"), "{without}");
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_catches_up_is_told_alone() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let (ann, bob) = (home.guild.person("ann"), home.guild.person("bob"));
    let general = home.general();
    server.expects(asks("white helmets.")).answers("Noted.");
    let told = ann.at(&general).mention("We order 14 white helmets.");
    let thread = ann.at(&general).thread_on(told).await;
    let is_whole = |said: &Message| said.buttons.iter().any(|button| button.label == "Why?");
    thread.finds("the answer", is_whole).await;

    let came_of_it = json!({
        "decided": [{"what": "14 white helmets are ordered.", "messages": [1]}], "answered": [], "open": [],
    });
    let catches_up = |request: &ModelServerRequest| prompt(request).contains("1. [");
    let told = |said: &Message| {
        let link = format!("https://discord.com/channels/{}/", home.guild.id());
        let decided = "**Decided**\n- 14 white helmets are ordered. ";
        said.text.contains(decided) && said.text.contains(&link)
    };
    // By the command, for Bob alone.
    server.expects(catches_up).answers(&came_of_it.to_string());
    let bobs = bob.at(&general);
    bobs.command("catchup", &[("since", json!("yesterday"))]);
    assert!(bobs.finds("what came of it", told).await.is_ephemeral);
    // By a mention, in a direct message.
    server.expects(catches_up).answers(&came_of_it.to_string());
    let before = standing(&bobs);
    bobs.mention("catch me up since yesterday");
    bob.direct().finds("what came of it", told).await;
    // Whoever accepts none is told what to do instead.
    bob.closes_direct_messages(true);
    server.expects(catches_up).answers(&came_of_it.to_string());
    let asked = bobs.mention("catch me up since yesterday");
    let bobs_thread = bobs.thread_on(asked).await;
    let refers = |said: &Message| said.text.contains("Use the command with `/` here");
    bobs_thread.finds("what to do instead", refers).await;
    assert!(
        !standing(&bobs)[before.len()..]
            .iter()
            .any(|text| text.contains("helmets"))
    );
    // What the command showed can still be removed.
    let left = thread.command("forget", &[("what", json!("last"))]);
    let is_forgotten = |said: &Message| said.text.starts_with("Forgotten: ");
    let forgotten = left.finds("that it is forgotten", is_forgotten).await;
    assert!(!forgotten.text.contains("visible"), "{}", forgotten.text);
    assert!(!bobs.said().iter().any(told), "{:?}", standing(&bobs));

    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_person_stands_in_no_message_of_the_bot_and_in_no_file() {
    let server = ModelServer::start().await;
    let mut home = DiscordProgram::new(&server).await;
    home.program.is_logged = true;
    let bot = home.start().await;
    let chat = home.guild.moderator("ann").at(&home.general());
    server
        .expects(asks("animal is the quokka."))
        .answers("The quokka, noted.");
    let told = chat.mention("My spirit animal is the quokka.");
    let thread = chat.thread_on(told).await;
    thread.hears("The quokka, noted.").await;
    let asked = chat.command(
        "ask",
        &[
            ("question", json!("What is food for a quokka?")),
            ("private", json!(true)),
        ],
    );
    server
        .expects(asks("for a quokka?"))
        .answers("A quokka likes leaves.");
    asked
        .finds("the answer", |said| said.text.contains("likes leaves"))
        .await;

    let gone = chat.command("forget", &[("what", json!("me yes"))]);
    gone.finds("the receipt", |said| {
        said.text
            .contains("I forgot everything of yours: 2 questions")
    })
    .await;
    thread
        .sees("nothing of her", |said| {
            let mut answers = said.iter().filter(|one| one.text.ends_with("noted."));
            answers.all(|one| one.is_deleted).then_some(())
        })
        .await;
    chat.finds_thread("its neutral name", |thread| thread.name == "Question")
        .await;
    end(bot).await;
    let files = files_with(home.program.folder.path(), "quokka");
    assert!(files.is_empty(), "{files:?}");
    server.finish();
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recalled_is_corrected_and_forgotten_by_who_said_it_and_given_to_them() {
    let server = ModelServer::start().await;
    let home = DiscordProgram::new(&server).await;
    let bot = home.start().await;
    let (ann, bob) = (home.guild.person("ann"), home.guild.person("bob"));
    let kitchen = home.guild.text("kitchen");
    let (anns, bobs) = (ann.at(&kitchen), bob.at(&kitchen));
    server.expects(asks("is 4711.")).answers("Noted.");
    // In a thread: recent messages of the same conversation are not recalled, but are in the
    // window.
    let told = anns.mention("The code of the coffee machine is 4711.");
    let is_whole = |said: &Message| said.buttons.iter().any(|button| button.label == "Why?");
    let noted = |said: &Message| said.text == "Noted." && is_whole(said);
    let thread = anns.thread_on(told).await;
    thread.finds("the answer", noted).await;
    server.expects(asks("machine?")).answers("It is 4711.");
    let answer = bobs.ask("What is the code of the coffee machine?", &[]);
    answer.hears("It is 4711.").await;

    // Bob did not say it.
    let lists = |said: &Message| said.text.contains("Recalled:");
    let why = bobs.command("why", &[]).finds("why", lists).await;
    let labels: Vec<&str> = why.buttons.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["Forget 1", "Correct 1"]);
    let begins = |text: &'static str| move |said: &Message| said.text.starts_with(text);
    let said = bobs.click(&why, "Forget 1");
    said.finds("no", begins("Somebody else said number 1"))
        .await;
    // Ann did.
    let why = anns.command("why", &[]).finds("why", lists).await;
    let form = anns.click(&why, "Correct 1");
    let said = anns.fills_in(&form, "The code of the coffee machine is 4712.");
    let said = said.await;
    said.finds("that", begins("Corrected. From now on")).await;
    let said = anns.click(&why, "Forget 1");
    let is_forgotten = begins("Forgotten: what was number 1");
    said.finds("that it is forgotten", is_forgotten).await;
    // The message with the button went with what it lists.
    let said = anns.command("forget", &[("number", json!(1))]);
    let is_gone = begins("What was number 1 is forgotten already");
    said.finds("that it was forgotten", is_gone).await;

    let said = anns.command("export", &[]);
    said.hears("I sent it to you in a direct message.").await;
    let given = ann.direct().said();
    let files: Vec<_> = given.iter().flat_map(|it| &it.attachments).collect();
    assert!(files[0].name.ends_with(".json") && files[1].name.ends_with(".md"));
    let all: Vec<serde_json::Value> = serde_json::from_slice(&files[0].content).unwrap();
    let texts: Vec<&str> = all.iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(texts, ["The code of the coffee machine is 4712."]);
    end(bot).await;
    server.finish();
    home.discord.finish();
}

/// Adds a tool that opens tickets at a service, with a confirmation.
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn tickets(home: &DiscordProgram, service: &HttpServer) {
    let tools = home.program.folder.path().join("own/tools");
    std::fs::create_dir_all(&tools).unwrap();
    let tool = format!(
        "name = 'open_ticket'\ndescription = 'Opens a ticket.'\nmethod = 'POST'\nurl = '{}/tickets'\nprivate = true\n",
        service.url()
    );
    std::fs::write(tools.join("open.toml"), tool).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_change_something_is_done_when_who_asked_presses_the_button() {
    let (server, service) = (ModelServer::start().await, HttpServer::start().await);
    let home = DiscordProgram::new(&server).await;
    let home = DiscordProgram {
        program: home
            .program
            .with("PROMPTS_DIR", "own")
            .with("AGENT_MAX_ROUNDS", "0"),
        ..home
    };
    tickets(&home, &service);
    let bot = home.start().await;
    let (ann, bob) = (home.guild.person("ann"), home.guild.person("bob"));
    let kitchen = home.guild.text("kitchen");
    let (anns, bobs) = (ann.at(&kitchen), bob.at(&kitchen));
    server
        .expects(|request: &ModelServerRequest| request.tools().contains(&"open_ticket"))
        .calls(&[("open_ticket", json!({}))]);
    server
        .expects(|request: &ModelServerRequest| request.last_user().contains("not done yet"))
        .answers("I can.");
    let asks = |said: &Message| said.text.contains("Shall I do this?") && !said.buttons.is_empty();
    let asked = anns
        .ask("Open a ticket.", &[])
        .finds("the question", asks)
        .await;
    let labels: Vec<&str> = asked.buttons.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["Do it", "Leave it"]);
    let begins = |text: &'static str| move |said: &Message| said.text.starts_with(text);
    let said = bobs.click(&asked, "Do it");
    said.finds("no", begins("Only the one whom I asked")).await;

    // After a kill it still knows the proposal.
    kill(bot).await;
    let bot = home.start().await;
    service.expects(
        "POST /tickets",
        &[],
        None,
        HttpReply::json(&json!({"number": 7})),
    );
    let said = anns.click(&asked, "Do it");
    said.finds("that", begins("Done: `open_ticket`.")).await;
    let said = anns.click(&asked, "Do it");
    said.finds("once", begins("That is decided already")).await;
    end(bot).await;
    server.finish();
    service.finish();
    home.discord.finish();
}

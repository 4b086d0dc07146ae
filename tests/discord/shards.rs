//! Two processes, each with some of the bot's shards, on one graph: when one is killed, the other
//! answers what it had accepted.
//!
//! Runs on the Neo4j of `NEO4J_TEST_URI`.

use loopback_discord::{Chat, Discord, Guild, Settings};
use serde_json::json;
use tokio::process::Child;

use super::support::graph::TestGraph;
use super::support::model_server::{Gate, ModelServer, Reply};
use super::support::program::{Program, asks, end, kill};
use super::{ends_with, standing};

/// A process, and the server whose events it receives.
struct ShardProcess {
    guild: Guild,
    program: Program,
}

impl ShardProcess {
    fn new(model: &ModelServer, discord: &Discord, guild: Guild, shards: &str) -> Self {
        let graph = TestGraph::of_environment();
        let program = Program::new(model)
            .with("DISCORD_API_PROXY", discord.url())
            .with("DISCORD_TOKEN", discord.token())
            .with("DISCORD_ALLOW", "*")
            .with("DISCORD_SHARDS", shards)
            .with("GRAPH_URL", graph.url)
            .with("GRAPH_USER", graph.user)
            .with("GRAPH_PASSWORD", graph.password)
            .with("GRAPH_TIMEOUT", "60");
        Self { guild, program }
    }

    async fn start(&self, discord: &Discord) -> Child {
        let before = discord.counts().identified;
        let process = self.program.start();
        discord
            .counted("its session", |counts| counts.identified > before)
            .await;
        process
    }

    fn chat(&self, name: &str) -> Chat {
        self.guild.person("ann").at(&self.guild.text(name))
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_one_process_had_accepted_when_it_was_killed_the_other_answers_once() {
    let server = ModelServer::start().await;
    let graph = TestGraph::of_environment();
    graph.forget_knowledge().await;
    graph
        .run("MATCH (n) WHERE coalesce(n.session, n.id) STARTS WITH 'discord/' DETACH DELETE n")
        .await;
    let settings = Settings {
        shards: 2,
        ..Settings::default()
    };
    let discord = Discord::start_with(settings).await;
    let mut guilds = [discord.guild("Ravens"), discord.guild("Owls")];
    guilds.sort_by_key(|guild| (guild.id().get() >> 22) % 2);
    let [ravens, owls] = guilds;
    let first = ShardProcess::new(&server, &discord, ravens, "0/2");
    let second = ShardProcess::new(&server, &discord, owls, "1/2");
    let (running, other) = (first.start(&discord).await, second.start(&discord).await);
    discord.connected(2).await;
    discord.registered("ask").await;
    let chat = first.chat("general");
    let direct = chat.direct();
    let theirs = second.chat("general");
    server.expects(asks("Who are you?")).answers("The other.");
    let known = theirs.thread_on(theirs.mention("Who are you?")).await;
    known.hears("The other.").await;

    let gate = Gate::closed();
    let questions = ["Who goes on?", "And by command?", "And between us?"];
    for question in questions {
        server
            .expects(asks(question))
            .replies(Reply::chunks(["The", " one."]).paused(&gate));
    }
    let thread = chat.thread_on(chat.mention(questions[0])).await;
    let begun = |said: &loopback_discord::Message| said.text.starts_with("The");
    thread.finds("its beginning", begun).await;
    let asked = chat.ask(questions[1], &[("private", json!(false))]);
    asked.is_acknowledged().await;
    direct.say(questions[2]);
    server.arrived(1 + questions.len()).await;
    kill(running).await;
    discord.connected(1).await;
    for question in questions {
        server.expects(asks(question)).answers("After all.");
    }
    // Nobody receives this before the first process is back.
    let meanwhile = chat.mention("Does anybody hear?");
    for place in [&thread, &chat, &direct] {
        place.finds("the answer", ends_with("After all.")).await;
    }
    let after_all = |chat: &Chat| {
        let said = standing(chat).into_iter();
        said.filter(|text| text.ends_with("After all.")).count()
    };
    for place in [&thread, &chat, &direct] {
        assert_eq!(after_all(place), 1, "{:?}", standing(place));
    }

    server.expects(asks("anybody hear?")).answers("I do, now.");
    let running = first.start(&discord).await;
    let answered = chat.thread_on(meanwhile).await;
    answered.hears("I do, now.").await;
    server.expects(asks("And now?")).answers("Both.");
    thread.say("And now?");
    thread.hears("Both.").await;
    server.expects(asks("And you?")).answers("Still the other.");
    known.say("And you?");
    known.hears("Still the other.").await;
    assert_eq!(standing(&thread), ["After all.", "Both."]);
    for place in [&chat, &direct] {
        assert_eq!(after_all(place), 1, "{:?}", standing(place));
    }
    let left = "MATCH (p:Pending) WHERE p.session STARTS WITH 'discord/' RETURN toString(count(p)) AS text";
    while graph.text(left).await != "0" {
        tokio::task::yield_now().await;
    }
    for process in [running, other] {
        end(process).await;
    }
    server.finish();
    discord.finish();
}

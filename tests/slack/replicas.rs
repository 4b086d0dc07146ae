//! Several processes behind one address, on one graph: what one or both receive is answered once.
//!
//! Runs on the Neo4j of `NEO4J_TEST_URI`.

use std::time::Duration;

use loopback_slack::{AssistantThread, Slack};
use tokio::process::Child;
use tokio::sync::{Mutex, MutexGuard};

use super::ends_with;
use super::home::{ListenAddress, listening, manifest, program};
use super::standing;
use super::support::bot::BotStorage;
use super::support::graph::TestGraph;
use super::support::model_server::{Gate, ModelServer, Reply};
use super::support::program::{Program, asks, end, kill};
use super::support::proxy::Proxy;

/// Workspaces on loopback have the same ids, so one at a time uses the graph.
static GRAPH: Mutex<()> = Mutex::const_new(());

struct Replica {
    program: Program,
    door: ListenAddress,
    process: Child,
}

pub(super) struct Replicas {
    pub(super) slack: Slack,
    replicas: Vec<Replica>,
    graph: TestGraph,
    _alone: MutexGuard<'static, ()>,
}

impl Replicas {
    /// Starts two of them, on one graph.
    pub(super) async fn start(model: &ModelServer) -> Self {
        Self::through(model, None).await
    }

    /// Starts them with a proxy that a test can slow down, and a short time-out.
    pub(super) async fn through(model: &ModelServer, wire: Option<&Proxy>) -> Self {
        let graph = TestGraph::of_environment();
        let alone = GRAPH.lock().await;
        graph.forget_knowledge().await;
        graph
            .run("MATCH (n) WHERE coalesce(n.session, n.id) STARTS WITH 'slack/' DETACH DELETE n")
            .await;
        let public = ["--url", "https://muninn.test"];
        let slack = Slack::with_manifest(&manifest(model, &public).await).await;
        let mut replicas = Vec::new();
        for _ in 0..2 {
            let (program, door) = listening(program(model, &slack));
            let program = program
                .with("GRAPH_URL", wire.map_or(graph.url.clone(), Proxy::bolt_url))
                .with("GRAPH_USER", &graph.user)
                .with("GRAPH_PASSWORD", &graph.password)
                .with("GRAPH_TIMEOUT", if wire.is_some() { "6" } else { "60" });
            let process = program.start();
            door.opens().await;
            replicas.push(Replica {
                program,
                door,
                process,
            });
        }
        let all = Self {
            slack,
            replicas,
            graph,
            _alone: alone,
        };
        all.tell(&[0, 1]);
        all
    }

    /// Delivers to these from now on, in turn.
    pub(super) fn tell(&self, which: &[usize]) {
        let addresses = which.iter().map(|&one| self.replicas[one].door.addresses());
        self.slack.balance(addresses.collect());
    }

    /// Returns which one is answering now.
    async fn at_work(&self) -> usize {
        let claims = "MATCH (c:MuninnClaim) WHERE c.session STARTS WITH 'slack/' \
            AND c.doneAt IS NULL RETURN c.holder AS text";
        let holder = self.graph.text(claims).await;
        let is_its = |replica: &Replica| {
            let name = replica.program.folder.path().join("muninn-data/machine");
            holder.starts_with(&std::fs::read_to_string(name).unwrap())
        };
        self.replicas.iter().position(is_its).unwrap()
    }

    pub(super) async fn end(self, model: ModelServer) {
        self.slack.all_told().await;
        for replica in self.replicas {
            end(replica.process).await;
        }
        model.finish();
        self.slack.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_both_are_told_is_answered_once() {
    let server = ModelServer::start().await;
    let all = Replicas::start(&server).await;
    let chat = all
        .slack
        .person("Ann")
        .in_channel(&all.slack.channel("both"));
    // A mention is delivered as a mention and as a message, and here each of them to both.
    all.slack.repeat_events(1);
    let mut threads = Vec::new();
    for (question, answer) in [
        ("One?", "First."),
        ("Two?", "Second."),
        ("Three?", "Third."),
    ] {
        // A second request to the model fails.
        server.expects(asks(question)).answers(answer);
        threads.push((chat.in_thread(&chat.ask(question)), answer));
    }
    for (thread, answer) in &threads {
        thread.hears(answer).await;
    }
    // A command is an event like any other.
    let thread = &threads[0].0;
    thread.ask("why");
    let told = |message: &loopback_slack::Message| message.is_ephemeral;
    thread.finds("the explanation", told).await;
    all.slack.all_told().await;
    assert_eq!(thread.said().iter().filter(|said| told(said)).count(), 1);
    for (thread, answer) in &threads {
        let to_all = thread.said().into_iter().filter(|said| !told(said));
        let to_all: Vec<String> = to_all.map(|said| said.shown).collect();
        assert_eq!(to_all, [*answer]);
    }
    all.end(server).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn the_other_goes_on_with_what_a_killed_one_began() {
    let server = ModelServer::start().await;
    let mut all = Replicas::start(&server).await;
    let chat = all
        .slack
        .person("Ann")
        .in_channel(&all.slack.channel("killed"));
    let gate = Gate::closed();
    server
        .expects(asks("Who goes on?"))
        .replies(Reply::chunks(["The", " one."]).paused(&gate));
    let thread = chat.in_thread(&chat.ask("Who goes on?"));
    thread
        .finds("its beginning", |message| message.shown.starts_with("The"))
        .await;
    all.slack.all_told().await;
    let killed = all.replicas.remove(all.at_work().await);
    kill(killed.process).await;
    all.tell(&[0]);
    server.expects(asks("Who goes on?")).answers("The other.");
    thread.finds("the answer", ends_with("The other.")).await;
    // The killed process's message becomes the answer.
    assert_eq!(standing(&thread), ["The other."]);

    // It returns and finds nothing to do.
    let process = killed.program.start();
    killed.door.opens().await;
    all.replicas.push(Replica { process, ..killed });
    all.tell(&[1]);
    server.expects(asks("And now?")).answers("Both.");
    thread.ask("And now?");
    thread.finds("the answer", ends_with("Both.")).await;
    assert_eq!(standing(&thread), ["The other.", "Both."]);
    all.end(server).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_one_is_told_reaches_the_one_that_answers() {
    let server = ModelServer::start().await;
    let all = Replicas::start(&server).await;
    let chat = all
        .slack
        .person("Ann")
        .in_channel(&all.slack.channel("reached"));
    let gate = Gate::closed();
    server
        .expects(asks("in Berlin?"))
        .replies(Reply::chunks(["Cold", " there."]).paused(&gate));
    all.tell(&[0]);
    let asked = chat.ask("What is the weather in Berlin?");
    let thread = chat.in_thread(&asked);
    let begun = |message: &loopback_slack::Message| message.shown.starts_with("Cold");
    thread.finds("its beginning", begun).await;
    assert_eq!(all.at_work().await, 0);

    // An edit waits for the current answer, and changes it.
    all.tell(&[1]);
    server.expects(asks("in Oslo?")).answers("Colder.");
    chat.edit(&asked, "What is the weather in Oslo?");
    all.slack.all_told().await;
    gate.open();
    thread
        .finds("the second answer", ends_with("Colder."))
        .await;
    assert_eq!(standing(&thread), ["Colder."]);

    // A stop is passed on to the answering process.
    let gate = Gate::closed();
    server
        .expects(asks("Everything!"))
        .replies(Reply::chunks(["All", " of it."]).paused(&gate));
    all.tell(&[0]);
    thread.ask("Everything!");
    let begun = |message: &loopback_slack::Message| message.shown.starts_with("All");
    thread.finds("its beginning", begun).await;
    all.tell(&[1]);
    thread.stop().await;
    server.abandoned(1).await;
    let is_over = |thread: &AssistantThread| thread.lifecycle == "active";
    thread.sees_thread("its end", is_over).await;
    all.end(server).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_only_a_killed_one_was_told_is_answered_by_the_other() {
    let server = ModelServer::start().await;
    let mut all = Replicas::start(&server).await;
    let channel = all.slack.channel("orphans");
    let chat = all.slack.person("Ann").in_channel(&channel);
    // Nothing is answered before the kill.
    let gate = Gate::closed();
    let questions = ["Alpha?", "Beta?", "Gamma?"];
    all.tell(&[0]);
    for question in questions {
        server
            .expects(asks(question))
            .replies(Reply::chunks(["No", " more."]).paused(&gate));
    }
    let threads = questions.map(|question| chat.in_thread(&chat.ask(question)));
    all.slack.all_told().await;
    server.arrived(questions.len()).await;
    kill(all.replicas.remove(0).process).await;
    all.tell(&[0]);
    for question in questions {
        server.expects(asks(question)).answers("After all.");
    }
    for thread in &threads {
        thread.finds("the answer", ends_with("After all.")).await;
    }
    let left =
        "MATCH (p:Pending) WHERE p.session STARTS WITH 'slack/' RETURN toString(count(p)) AS text";
    while all.graph.text(left).await != "0" {
        tokio::task::yield_now().await;
    }
    for thread in &threads {
        assert_eq!(standing(thread), ["After all."]);
    }
    all.end(server).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_nobody_knows_to_be_free_is_answered_when_the_graph_says_so() {
    let server = ModelServer::start().await;
    let address = BotStorage::neo4j_address();
    let wire = Proxy::to(address).await;
    let all = Replicas::through(&server, Some(&wire)).await;
    let channel = all.slack.channel("slow");
    let chat = all.slack.person("Ann").in_channel(&channel);
    // Requests to the graph time out, and both processes receive everything.
    wire.slow(Duration::from_secs(4));
    all.slack.repeat_events(1);
    let questions = ["Alpha?", "Beta?", "Gamma?"];
    let threads = questions.map(|question| {
        // A second request to the model fails.
        server.expects(asks(question)).answers("Once.");
        chat.in_thread(&chat.ask(question))
    });
    all.slack.all_told().await;
    wire.slow(Duration::ZERO);
    // If the graph was slow while reading, the answer has a notice below.
    let answer = |message: &loopback_slack::Message| message.shown.starts_with("Once.");
    for thread in &threads {
        thread.finds("the answer", answer).await;
    }
    all.slack.all_told().await;
    for thread in &threads {
        assert_eq!(standing(thread).len(), 1);
    }
    all.end(server).await;
}

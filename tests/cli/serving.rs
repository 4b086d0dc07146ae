//! `muninn serve`.

use std::fs::Permissions;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::home::{CliProcess, Home, TIMEOUT, eventually};
use crate::support::bot::BotStorage;
use crate::support::model_server::{Gate, ModelServer, Reply};
use crate::support::program::free_address;
use crate::support::proxy::Proxy;

/// Connects to the terminal socket as soon as it exists.
async fn connect(home: &Home, serving: &CliProcess) -> BufReader<UnixStream> {
    let path = home.path("socket");
    let connected = eventually("the socket", async || UnixStream::connect(&path).await.ok());
    tokio::select! {
        stream = connected => BufReader::new(stream),
        () = tokio::time::sleep(TIMEOUT) => panic!("no socket: {}", serving.errors()),
    }
}

async fn say(talk: &mut BufReader<UnixStream>, line: &str) {
    let line = format!("{line}\n");
    talk.get_mut().write_all(line.as_bytes()).await.unwrap();
}

async fn hear(talk: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    let read = tokio::time::timeout(TIMEOUT, talk.read_line(&mut line)).await;
    read.expect("an answer in time").unwrap();
    line
}

/// Returns the whole response to a GET.
pub(crate) async fn get(address: &str, path: &str) -> String {
    let mut stream = eventually("the HTTP server", async || {
        TcpStream::connect(address).await.ok()
    })
    .await;
    let request = format!("GET {path} HTTP/1.0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn it_talks_on_its_socket_tells_its_health_and_counts() {
    let server = ModelServer::start().await;
    let address = free_address();
    let home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket")
        .with("HTTP_ADDR", &address);
    server.expects(|_| true).answers("Hello, Ada.");
    let serving = home.start(&["serve"]);

    let mut talk = connect(&home, &serving).await;
    say(&mut talk, "Good morning.").await;
    assert_eq!(hear(&mut talk).await, "Hello, Ada.\n");
    say(&mut talk, "/nonsense").await;
    assert!(hear(&mut talk).await.contains("no command \"nonsense\""));

    let health = get(&address, "/healthz").await;
    assert!(health.starts_with("HTTP/1.0 200 OK"), "{health}");
    assert!(health.ends_with("\r\n\r\nok\n"), "{health}");
    assert_eq!(home.run(&["health"], "").await.succeeds(), "ok\n");
    let metrics = get(&address, "/metrics").await;
    for line in [
        "muninn_turns_total{source=\"model\"} 1",
        "muninn_turn_seconds_bucket{until=\"turn\"",
        "muninn_tokens_total{kind=\"prompt\"} 100",
        "muninn_tokens_total{kind=\"completion\"} 10",
    ] {
        assert!(metrics.contains(line), "no {line} in {metrics}");
    }

    // Only one process may use a data folder.
    let second = Home::new().with(
        "GRAPH_URL",
        format!("embedded:{}", home.path("muninn-data").display()),
    );
    let refused = second.chat(&[], &["Hello?"]).await;
    refused.fails(
        1,
        &[
            "muninn-data is in use by",
            &format!("process {}", serving.pid()),
        ],
    );
    // The same holds for a socket.
    let third = Home::new().with("TERMINAL_SOCKET", home.path("socket").to_str().unwrap());
    third
        .run(&["serve"], "")
        .await
        .fails(1, &["another process is listening"]);

    serving.signal("TERM").await;
    serving.end().await.succeeds();
    assert!(!home.path("socket").exists());
    home.run(&["health"], "")
        .await
        .fails(1, &["no muninn runs with", "start `muninn serve`"]);
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_alerts_watch_is_counted_from_the_start() {
    let address = free_address();
    let home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("HTTP_ADDR", &address);
    let serving = home.start(&["serve"]);
    let metrics = get(&address, "/metrics").await;
    let alerts = include_str!("../../docs/operating/alerts.yml");
    let watched = alerts.split("increase(").skip(1);
    let watched: Vec<&str> = watched
        .filter_map(|it| Some(it.split_once('[')?.0))
        .collect();
    assert!(watched.len() > 5, "{watched:?}");
    for series in watched {
        let line = format!("\n{series} 0\n");
        assert!(metrics.contains(&line), "no {series} in {metrics}");
    }
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_cannot_be_reached_holds_nothing_back() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket")
        .with("SLACK_API_URL", format!("http://{}/api", free_address()))
        .with("SLACK_BOT_TOKEN", "xoxb-1")
        .with("SLACK_APP_TOKEN", "xapp-1")
        .with("SLACK_ALLOW", "*");
    server.expects(|_| true).answers("Hello, Ada.");
    let serving = home.start(&["serve"]);
    eventually("the warning", async || {
        let log = serving.errors();
        log.contains("cannot be reached yet").then_some(())
    })
    .await;

    let mut talk = connect(&home, &serving).await;
    say(&mut talk, "Good morning.").await;
    assert_eq!(hear(&mut talk).await, "Hello, Ada.\n");
    assert_eq!(home.run(&["health"], "").await.succeeds(), "ok\n");

    serving.signal("TERM").await;
    serving.end().await.succeeds();
    server.finish();
}

async fn waits_for_its_graph(serving: &CliProcess) {
    eventually("the warning", async || {
        let log = serving.errors();
        log.contains("graph cannot be reached yet").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_cannot_be_reached_is_waited_for_until_sigterm() {
    let graph = format!("bolt://{}", free_address());
    let home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("GRAPH_URL", &graph);
    let serving = home.start(&["serve"]);
    waits_for_its_graph(&serving).await;
    serving.signal("TERM").await;
    let ended = serving.end().await;
    ended.succeeds();
    assert!(ended.err.contains(&graph), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_of_the_graph_that_speaks_no_bolt_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let graph = format!("bolt://{}", listener.local_addr().unwrap());
    // Like the port of Neo4j's pages.
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read_exact(&mut [0; 20]).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("GRAPH_URL", &graph);
    let ended = home.run(&["serve"], "").await;
    ended.fails(1, &[&graph, "check GRAPH_URL"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_graph_that_is_away_at_the_start_is_used_when_it_is_back() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    proxy.cut();
    let home = Home::new()
        .with_neo4j(Some(&proxy.bolt_url()))
        .with("TERMINAL_SOCKET", "socket");
    let serving = home.start(&["serve"]);
    waits_for_its_graph(&serving).await;
    proxy.mend();
    let mut talk = connect(&home, &serving).await;
    say(&mut talk, "/history").await;
    assert!(!hear(&mut talk).await.is_empty());
    assert_eq!(home.run(&["health"], "").await.succeeds(), "ok\n");
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn at_sigterm_the_answer_under_way_is_finished() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket");
    let gate = Gate::closed();
    server
        .expects(|_| true)
        .replies(Reply::chunks(["One, ", "two, ", "three."]).paused(&gate));
    let serving = home.start(&["serve"]);
    let mut talk = connect(&home, &serving).await;
    let socket = std::fs::symlink_metadata(home.path("socket")).unwrap();
    assert!(socket.file_type().is_socket());
    say(&mut talk, "Count.").await;
    tokio::time::timeout(TIMEOUT, server.arrived(1))
        .await
        .unwrap();

    serving.signal("TERM").await;
    eventually("that it knows of the signal", async || {
        serving
            .errors()
            .contains("turns under way are finished")
            .then_some(())
    })
    .await;
    gate.open();
    assert_eq!(hear(&mut talk).await, "One, two, three.\n");
    assert_eq!(hear(&mut talk).await, "", "then it hangs up");
    serving.end().await.succeeds();
    assert!(!home.path("socket").exists());
    let history = home.chat(&[], &["/history"]).await;
    assert!(
        history.succeeds().contains("One, two, three."),
        "{history:?}"
    );
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_in_time_is_left_to_the_next_start() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("SHUTDOWN_TIMEOUT", "2")
        .with("TERMINAL_SOCKET", "socket");
    let gate = Gate::closed();
    let counted = || Reply::chunks(["One, ", "two, ", "three."]);
    server.expects(|_| true).replies(counted().paused(&gate));
    let serving = home.start(&["serve"]);
    let mut talk = connect(&home, &serving).await;
    say(&mut talk, "Count.").await;
    tokio::time::timeout(TIMEOUT, server.arrived(1))
        .await
        .unwrap();
    serving.signal("TERM").await;
    let ended = tokio::time::timeout(Duration::from_secs(30), serving.end()).await;
    ended
        .expect("it ends, although the model does not")
        .succeeds();

    // The next process answers it, for those who reconnect.
    server.expects(|_| true).replies(counted());
    let serving = home.start(&["serve"]);
    tokio::time::timeout(TIMEOUT, server.arrived(2))
        .await
        .unwrap();
    let mut talk = connect(&home, &serving).await;
    let history = eventually("the answer", async || {
        say(&mut talk, "/history").await;
        let first = hear(&mut talk).await;
        if first.contains("Nothing was said") {
            return None;
        }
        Some(first + &hear(&mut talk).await)
    })
    .await;
    assert!(history.contains("One, two, three."), "{history}");
    serving.signal("TERM").await;
    serving.end().await.succeeds();
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_it_at_once() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("SHUTDOWN_TIMEOUT", "600")
        .with("TERMINAL_SOCKET", "socket");
    let reply = Reply::chunks(["One, ", "two."]).paused(&Gate::closed());
    server.expects(|_| true).replies(reply);
    let serving = home.start(&["serve"]);
    let mut talk = connect(&home, &serving).await;
    say(&mut talk, "Count.").await;
    tokio::time::timeout(TIMEOUT, server.arrived(1))
        .await
        .unwrap();
    serving.signal("TERM").await;
    let errors = || serving.errors();
    eventually("that it knows of the signal", async || {
        errors()
            .contains("turns under way are finished")
            .then_some(())
    })
    .await;
    serving.signal("TERM").await;
    let ended = tokio::time::timeout(Duration::from_secs(30), serving.end()).await;
    ended
        .expect("it ends at once")
        .fails(143, &["ended at once"]);
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_keeps_is_for_its_owner_alone() {
    let home = Home::new();
    let data = home.path("muninn-data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    home.chat(&[], &["Remember me."]).await.succeeds();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for file in std::fs::read_dir(&data).unwrap() {
        let path = file.unwrap().path();
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_served_is_named() {
    let nothing = Home::new();
    nothing
        .run(&["serve"], "")
        .await
        .fails(1, &["no platform is configured", "TERMINAL_SOCKET"]);

    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("HTTP_ADDR", &address);
    home.chat(&[], &["Remember me."]).await.succeeds();
    let before = home.export().await;
    home.run(&["serve"], "")
        .await
        .fails(1, &[&address, "HTTP_ADDR"]);
    assert!(!home.path("socket").exists());
    assert_eq!(home.export().await, before);

    std::fs::write(home.path("socket"), "something else").unwrap();
    home.run(&["serve"], "")
        .await
        .fails(1, &["socket", "no socket is there"]);
    assert_eq!(
        std::fs::read(home.path("socket")).unwrap(),
        b"something else"
    );
}

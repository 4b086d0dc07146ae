//! Tests of the line protocol over a Unix socket.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use muninn_platform::{
    Arrival, Arrivals, Body, Inbox, Incoming, Platform, PlatformError, SafeText,
};
use muninn_terminal::{Session, SocketOptions, TerminalSocket};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

fn options(path: &Path) -> SocketOptions {
    SocketOptions::new(path.to_owned(), Session::new("work", "ann").unwrap())
}

struct Served {
    inbox: Arrivals,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), PlatformError>>,
}

fn serve(options: SocketOptions) -> Served {
    let socket = TerminalSocket::bind(options).unwrap();
    let (inbox, receiver) = Inbox::new(8);
    let shutdown = CancellationToken::new();
    let until = shutdown.clone();
    let running = tokio::spawn(async move { socket.run(inbox, until).await });
    Served {
        inbox: receiver,
        shutdown,
        running,
    }
}

async fn bounded<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("it takes too long")
}

/// Answers the next message with its own text.
async fn answer_next(inbox: &mut Arrivals) {
    let arrived = bounded(inbox.recv()).await.map(Arrival::accept);
    let Some(Incoming::Message { message, mut reply }) = arrived else {
        panic!("no message");
    };
    assert_eq!(message.conversation.as_str(), "terminal/work");
    let Body::Text(text) = message.body else {
        panic!("{:?}", message.body);
    };
    reply.finish(&[SafeText::new(&text)]).await.unwrap();
}

#[tokio::test]
async fn several_talk_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut served = serve(options(&path));
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let mut one = BufReader::new(UnixStream::connect(&path).await.unwrap());
    let mut two = BufReader::new(UnixStream::connect(&path).await.unwrap());
    for (stream, text) in [(&mut one, "first\n"), (&mut two, "second\n")] {
        stream.write_all(text.as_bytes()).await.unwrap();
        answer_next(&mut served.inbox).await;
        let mut line = String::new();
        bounded(stream.read_line(&mut line)).await.unwrap();
        assert_eq!(line, text);
    }
    one.write_all(b"\xff\n").await.unwrap();
    one.shutdown().await.unwrap();
    let mut rest = String::new();
    bounded(one.read_to_string(&mut rest)).await.unwrap();
    assert_eq!(
        rest,
        "muninn: line 1 is not valid UTF-8; it was skipped\n".replace('1', "2")
    );
    served.shutdown.cancel();
    bounded(served.running).await.unwrap().unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn an_answer_in_flight_is_delivered_at_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut served = serve(options(&path));
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(b"wait\n").await.unwrap();
    let arrived = bounded(served.inbox.recv()).await.map(Arrival::accept);
    let Some(Incoming::Message { mut reply, .. }) = arrived else {
        panic!("no message");
    };
    served.shutdown.cancel();
    reply.finish(&[SafeText::new("done")]).await.unwrap();
    drop(reply);
    let mut answer = String::new();
    bounded(stream.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer, "done\n");
    bounded(served.running).await.unwrap().unwrap();
}

#[tokio::test]
async fn one_too_many_is_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut served = serve(SocketOptions {
        most_connections: 1,
        ..options(&path)
    });
    let mut one = UnixStream::connect(&path).await.unwrap();
    one.write_all(b"here\n").await.unwrap();
    answer_next(&mut served.inbox).await;
    let mut two = UnixStream::connect(&path).await.unwrap();
    let mut answer = String::new();
    bounded(two.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.contains("too many terminals"), "{answer:?}");
}

#[tokio::test]
async fn places_are_taken_with_care() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    // A leftover: bound once, without a listener.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let live = TerminalSocket::bind(options(&path)).unwrap();
    let refused = TerminalSocket::bind(options(&path))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("another process is listening"),
        "{refused}"
    );
    drop(live);
    assert!(!path.exists());

    fs::write(&path, "mine").unwrap();
    let refused = TerminalSocket::bind(options(&path))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("no socket"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");

    let missing = folder.path().join("none/socket");
    assert!(TerminalSocket::bind(options(&missing)).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_an_earlier_process_left_is_answered_though_nobody_hears_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut served = serve(options(&path));
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(b"lost\n").await.unwrap();
    let arrived = bounded(served.inbox.recv()).await.map(Arrival::accept);
    let Some(Incoming::Message { message, reply }) = arrived else {
        panic!("no message");
    };
    drop(reply);
    served.shutdown.cancel();
    bounded(served.running).await.unwrap().unwrap();

    let socket = TerminalSocket::bind(options(&path)).unwrap();
    let (inbox, mut arrivals) = Inbox::with_left_over(8, vec![message.clone()]);
    let shutdown = CancellationToken::new();
    let until = shutdown.clone();
    let running = tokio::spawn(async move { socket.run(inbox, until).await });
    let arrived = bounded(arrivals.recv()).await.map(Arrival::accept);
    let Some(Incoming::Message {
        message: again,
        mut reply,
    }) = arrived
    else {
        panic!("no message");
    };
    assert_eq!(again, message);
    reply.finish(&[SafeText::new("found")]).await.unwrap();
    shutdown.cancel();
    bounded(running).await.unwrap().unwrap();
}

//! Measurements, run by name: `cargo test -p loopback-discord --test peer -- --ignored --nocapture figures`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use loopback_discord::{Discord, Id, TOKEN};

use crate::support::{Peer, PeerTransport, all_intents};

/// Returns the process's resident memory, in MB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        / 1024
}

/// Returns the server's own time per request, over one connection that is kept open.
fn own_share(discord: &Discord, channel: Id) -> Duration {
    const REQUESTS: u32 = 1_000;
    let address = discord.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_nodelay(true).unwrap();
    let body = r#"{"content":"x","allowed_mentions":{"parse":[]}}"#;
    let request = format!(
        "POST /api/v10/channels/{channel}/messages HTTP/1.1\r\nhost: {address}\r\nauthorization: Bot {TOKEN}\r\n\
         user-agent: DiscordBot (https://example.org, 1)\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len(),
    );
    let begun = Instant::now();
    for _ in 0..REQUESTS {
        stream.write_all(request.as_bytes()).unwrap();
        let mut buffer = [0; 8_192];
        // A response of this size arrives in one read.
        assert!(stream.read(&mut buffer).unwrap() > 0);
    }
    begun.elapsed() / REQUESTS
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement")]
async fn figures() {
    let discord = Discord::start().await;
    let begun = Instant::now();
    let guilds = discord.many_guilds(100, 200);
    let people: Vec<_> = guilds
        .iter()
        .map(|guild| guild.person("ann").at(&guild.nth_channel(0)))
        .collect();
    eprintln!(
        "a world of 100 servers with 200 channels each: {:?}, {} MB",
        begun.elapsed(),
        resident()
    );
    let begun = Instant::now();
    let peer = Peer::start(&discord, PeerTransport::Proxy, all_intents()).await;
    let asked: Vec<_> = people.iter().map(|chat| chat.mention("hello")).collect();
    for (chat, question) in people.iter().zip(asked) {
        chat.thread_on(question).await.hears("echo: hello").await;
    }
    eprintln!(
        "a bot that is ready and has answered in each: {:?}, {} MB",
        begun.elapsed(),
        resident()
    );
    let begun = Instant::now();
    let asked: Vec<_> = (0..200)
        .map(|number| people[number % 50].ask(&format!("question {number}"), &[]))
        .collect();
    for (number, asked) in asked.iter().enumerate() {
        asked.hears(&format!("echo: question {number}")).await;
    }
    let elapsed = begun.elapsed();
    let mut deferred = discord.acknowledged_after();
    deferred.sort();
    eprintln!(
        "200 commands in 50 channels: {elapsed:?}, {:.0} a second; deferred after {:?} (p50), {:?} (p99)",
        200.0 / elapsed.as_secs_f64(),
        deferred[100],
        deferred[198]
    );
    peer.finish(discord).await;

    let discord = Discord::start().await;
    let channel = discord.guild("Ravens").text("general").id();
    let share = tokio::task::block_in_place(|| own_share(&discord, channel));
    eprintln!("the server's own share of a request: {share:?}");
    discord.finish();
}

//! Measurements, run by name: `cargo test -p muninn-discord --test discord -- --ignored --nocapture figures`.

use std::time::{Duration, Instant};

use loopback_discord::Chat;

use crate::support::{DiscordInstallation, DiscordTransport, Echoes};

const THREADS: usize = 50;
const BURST: usize = 200;
const EVENTS: usize = 2_000;
const GUILDS: usize = 100;
const CHANNELS: usize = 200;
/// How long Discord delays its responses to an answer.
const LATE: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(50),
    Duration::from_millis(400),
];

/// Returns the process's resident memory, in MB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find(|line| line.starts_with("VmRSS")).unwrap();
    let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1024.0
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement")]
async fn figures() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        for late in LATE {
            let mut waits = burst(way, late).await;
            waits.sort_unstable();
            let at = |part: usize| waits[(waits.len() - 1) * part / 100];
            eprintln!(
                "{way:?}, each call {late:?} late: {BURST} interactions at once over {THREADS} threads, until deferred: {:?} (median), {:?} (p99), {:?} (worst)",
                at(50),
                at(99),
                at(100)
            );
        }
    }
    let took = events().await;
    let rate = EVENTS as f64 / took.as_secs_f64();
    eprintln!(
        "{EVENTS} messages in {THREADS} threads, each answered at once: {took:?}, {rate:.0} a second"
    );
    let (before, after) = memory().await;
    eprintln!(
        "{GUILDS} guilds of {CHANNELS} channels: {:.0} MB with the bot, {:.0} MB of it since before it started (the Discord on loopback is in the same process)",
        after,
        after - before
    );
}

fn threads(home: &DiscordInstallation) -> Vec<Chat> {
    let chat = home.guild.person("ann").at(&home.guild.text("general"));
    (0..THREADS)
        .map(|number| chat.open_thread(&format!("thread {number}")))
        .collect()
}

async fn burst(way: DiscordTransport, late: Duration) -> Vec<Duration> {
    let home = DiscordInstallation::with(way, Default::default()).await;
    let threads = threads(&home);
    if !late.is_zero() {
        let first = "/interactions/{interaction_id}/{interaction_token}/callback";
        let first = home.discord.next("POST", first);
        first.times(BURST).is_slow(late);
    }
    let bot = home.start().await;
    home.discord.registered("ask").await;
    let mut asked = Vec::new();
    for number in 0..BURST {
        asked.push(threads[number % THREADS].ask("hello", &[]));
    }
    for interaction in &asked {
        interaction.hears("echo: hello").await;
    }
    let waits = home.discord.acknowledged_after();
    bot.stop().await;
    waits
}

async fn events() -> Duration {
    let home = DiscordInstallation::with(DiscordTransport::Proxy, Default::default()).await;
    let chats: Vec<Chat> = (0..THREADS)
        .map(|number| home.guild.person(&format!("person {number}")).direct())
        .collect();
    let bot = home.start().await;
    let began = Instant::now();
    for number in 0..EVENTS {
        chats[number % THREADS].say(&format!("say {number}"));
    }
    for (number, chat) in chats.iter().enumerate() {
        chat.hears(&format!("{}", EVENTS - THREADS + number)).await;
    }
    let took = began.elapsed();
    bot.stop().await;
    took
}

async fn memory() -> (f64, f64) {
    let home = DiscordInstallation::with(DiscordTransport::Proxy, Default::default()).await;
    for guild in 0..GUILDS {
        let guild = home.discord.guild(&format!("guild {guild}"));
        for channel in 0..CHANNELS {
            guild.text(&format!("channel {channel}"));
        }
    }
    let before = resident();
    let bot = home.start().await;
    // When this is answered, all earlier events have been processed.
    let chat = home.guild.person("ann").direct();
    chat.echoes("hello").await;
    let after = resident();
    bot.stop().await;
    (before, after)
}

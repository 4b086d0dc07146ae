//! Measures what keeping and recalling overheard messages costs, at scale.
//!
//! `cargo run --release --example message_figures -- MESSAGES CHANNELS LARGEST [bolt://… USER PASSWORD]`:
//! this many messages, `LARGEST` of them in one channel and the others spread evenly;
//! on the embedded store unless an address is given. Default: 1,000,000 messages in 200 channels,
//! 100,000 of them in one.

#![allow(clippy::print_stdout, reason = "it prints figures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chrono::{TimeDelta, Utc};
use muninn::graph::session::Sessions;
use muninn::graph::{self, GraphConfig, NewTurn, Turn};
use muninn::llm::Embedder;
use muninn::memory::journal::Journal;
use muninn::memory::{Archive, Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;
use muninn_platform::{Audience, AudienceId, EventId};

/// The source of the messages' words.
const WORDS: &str = include_str!("words.txt");
/// Messages kept per call.
const BATCH: usize = 400;
/// Messages per thread.
const THREAD: usize = 20;
const QUESTIONS: usize = 500;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, usual| arguments.get(place).map_or(Ok(usual), |it| it.parse());
    let (messages, channels) = (number(0, 1_000_000)?, number(1, 200)?);
    let largest = number(2, 100_000)?;
    let folder = tempfile::tempdir()?;
    let mut config = GraphConfig::at(match arguments.get(3) {
        Some(url) => url.clone(),
        None => format!("embedded:{}", folder.path().join("graph").display()),
    });
    config.timeout = Duration::from_secs(600);
    if let [_, _, _, _, user, password] = arguments.as_slice() {
        config.user.clone_from(user);
        config.password = password.clone().into();
    }
    let recaller = recaller()?;
    let store = graph::open(&config).await?;
    let archive = Archive::new(
        Arc::clone(&store),
        Journal::open(folder.path())?,
        Arc::new(Sessions::default()),
        18,
    )
    .with_recaller(Arc::clone(&recaller));
    let mut words = Words::default();
    let began = Instant::now();
    let mut kept = 0;
    while kept < messages {
        let many = BATCH.min(messages - kept);
        let batch = (kept..kept + many).map(|n| words.message(n, channels, largest));
        archive.keep_messages(batch.collect()).await?;
        kept += many;
        if kept % 100_000 < BATCH {
            println!(
                "{kept} kept: {:.0} a second, {} MB",
                kept as f64 / began.elapsed().as_secs_f64(),
                memory("VmRSS:")? / 1_024
            );
        }
    }
    drop(archive);
    store.close().await?;
    drop(store);
    let began = Instant::now();
    let store = graph::open(&config).await?;
    println!("opened in {:.2} s", began.elapsed().as_secs_f64());
    let (before, began) = (memory("VmRSS:")?, Instant::now());
    let audience = audience(0).id;
    recaller.load(&store, &audience).await;
    println!(
        "the largest channel loaded in {:.2} s, {} MB more",
        began.elapsed().as_secs_f64(),
        memory("VmRSS:")?.saturating_sub(before) / 1_024
    );
    let mut took = Vec::with_capacity(QUESTIONS);
    for _ in 0..QUESTIONS {
        let question = format!(
            "when did {} {} {}?",
            words.next(),
            words.next(),
            words.next()
        );
        let sought = recaller.embed_query(&question).await;
        let began = Instant::now();
        let recalled = recaller.recall(&[&audience], &sought, &[], &[]);
        took.push(began.elapsed());
        anyhow::ensure!(recalled.len() < 1_000, "more than fits was recalled");
    }
    took.sort_unstable();
    let at = |part: usize| took[(QUESTIONS - 1) * part / 100].as_secs_f64() * 1e3;
    println!("recall: p50 {:.2} ms, p99 {:.2} ms", at(50), at(99));
    println!("most memory: {} MB", memory("VmHWM:")? / 1_024);
    let began = Instant::now();
    let event = EventId::new("figures/none");
    let last = store.last_said_by(&audience, "person-1", &event).await?;
    println!(
        "when somebody was last here: {:.3} s",
        began.elapsed().as_secs_f64()
    );
    let began = Instant::now();
    let from = last.context("somebody said something")? - TimeDelta::days(7);
    let said = store
        .messages_between(&audience, from, Utc::now(), 2_000)
        .await?;
    println!(
        "{} messages of a week: {:.3} s",
        said.len(),
        began.elapsed().as_secs_f64()
    );
    let began = Instant::now();
    let newest = said.last().context("there is one")?;
    store.forget_message(newest).await?;
    println!(
        "one message forgotten in {:.3} s",
        began.elapsed().as_secs_f64()
    );
    let began = Instant::now();
    anyhow::ensure!(
        recaller.catch_up(&store, &audience).await,
        "its index is there again"
    );
    println!(
        "the next recall waits {:.2} s",
        began.elapsed().as_secs_f64()
    );
    store.close().await?;
    Ok(())
}

fn recaller() -> anyhow::Result<Arc<Recaller>> {
    let calibration = Calibration::shipped()?;
    let settings = RecallSettings::by(&calibration);
    let embedder = Embedder::Local(LocalEmbedder::shipped()?);
    Ok(Arc::new(Recaller::new(embedder, calibration, settings)))
}

/// Returns a field of the process's status, in kilobytes.
fn memory(line: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|it| it.strip_prefix(line));
    let number = found.and_then(|it| it.split_whitespace().next());
    Ok(number.context("no such line")?.parse()?)
}

fn audience(channel: usize) -> Audience {
    Audience {
        id: AudienceId::new(format!("figures/{channel}")),
        platform: "figures".to_owned(),
        workspace: "figures".to_owned(),
        name: format!("channel-{channel}"),
        private_to: None,
    }
}

/// Endless words, the same in each run.
struct Words {
    all: Vec<&'static str>,
    seed: u64,
}

impl Default for Words {
    fn default() -> Self {
        let all = WORDS.split_whitespace().filter(|it| it.len() > 3);
        Self {
            all: all.collect(),
            seed: 1,
        }
    }
}

impl Words {
    fn random(&mut self) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.seed >> 33) as usize
    }

    fn next(&mut self) -> &'static str {
        let place = self.random() % self.all.len();
        self.all[place]
    }

    fn message(&mut self, number: usize, channels: usize, largest: usize) -> NewTurn {
        let channel = if number < largest {
            0
        } else {
            1 + number % (channels - 1).max(1)
        };
        let many = 3 + self.random() % 15;
        let text: Vec<&str> = (0..many).map(|_| self.next()).collect();
        let author = format!("person-{}", self.random() % 40);
        // The threads of a channel are filled one after the other.
        let thread = if channel == 0 {
            number / THREAD
        } else {
            number / (channels - 1).max(1) / THREAD
        };
        let session = format!("figures/{channel}/{thread}");
        let mut said = Turn::message(&session, &author, &text.join(" "));
        said.created_at = Utc::now() - TimeDelta::minutes(10_000_000 - number as i64);
        NewTurn::of(audience(channel), said)
    }
}

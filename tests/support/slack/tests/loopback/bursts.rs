//! Many events at once keep the order of each thread. The test also prints how much of a
//! measurement is the server's own time.

#![expect(clippy::print_stdout, reason = "figures are for whoever asks")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use loopback_slack::{Chat, Delivery, Slack};

use crate::envelopes::RawWebSocket;
use crate::http::OverHttp;

const EVENTS: usize = 200;
const THREADS: usize = 50;

/// Sends two hundred messages in fifty threads, at once.
fn burst(slack: &Slack) {
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    let threads: Vec<Chat> = (0..THREADS)
        .map(|_| general.in_thread(&general.say("root")))
        .collect();
    for number in 0..EVENTS - THREADS {
        threads[number % THREADS].say(&number.to_string());
    }
}

/// Asserts that the texts of each thread were delivered in ascending order.
fn are_in_order<'a>(told: impl Iterator<Item = &'a serde_json::Value>) {
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for event in told {
        count += 1;
        let number = event["text"].as_str().unwrap().parse::<usize>();
        let (Some(thread), Ok(number)) = (event["thread_ts"].as_str(), number) else {
            continue;
        };
        let before = last.insert(thread.to_owned(), number);
        assert!(before.is_none_or(|before| before < number), "{thread}");
    }
    assert_eq!((count, last.len()), (EVENTS, THREADS));
}

/// Returns the 99th percentile of the acknowledgement times.
fn p99(told: &[Delivery]) -> Duration {
    let mut times: Vec<Duration> = told
        .iter()
        .map(|told| told.acknowledged_after().unwrap())
        .collect();
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

#[tokio::test]
async fn a_burst_keeps_the_order_of_each_thread_over_a_socket() {
    let slack = Slack::start().await;
    let mut line = RawWebSocket::open(&slack).await;
    let began = Instant::now();
    burst(&slack);
    let mut heard = Vec::new();
    for _ in 0..EVENTS {
        let told = line.hears().await;
        line.acknowledges(&told).await;
        heard.push(told["payload"]["event"].clone());
    }
    slack.all_told().await;
    println!(
        "socket: {EVENTS} events in {:?}, p99 {:?}",
        began.elapsed(),
        p99(&slack.deliveries())
    );
    are_in_order(heard.iter());
    slack.finish();
}

#[tokio::test]
async fn a_burst_keeps_the_order_of_each_thread_over_http() {
    let slack = Slack::start().await;
    let app = OverHttp::start(&slack).await;
    let began = Instant::now();
    burst(&slack);
    slack.all_told().await;
    println!(
        "HTTP: {EVENTS} events in {:?}, p99 {:?}",
        began.elapsed(),
        p99(&slack.deliveries())
    );
    let heard: Vec<serde_json::Value> = app.events();
    are_in_order(heard.iter());
    slack.finish();
}

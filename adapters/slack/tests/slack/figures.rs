//! Measurements, run by name: `cargo test --release -p muninn-slack --test slack -- --ignored --nocapture figures`.

use std::time::{Duration, Instant};

use crate::bursts::{EACH, THREADS, answered, ask};
use crate::support::{Home, Way, app, scene};

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement")]
async fn figures() {
    for way in [Way::Socket, Way::Http] {
        let home = Home::by(way, app()).await;
        let begun = Instant::now();
        let bot = home.start().await;
        let started = begun.elapsed();
        let begun = Instant::now();
        let threads = ask(&home.slack);
        answered(&threads, &bot).await;
        let taken = begun.elapsed();
        home.slack.all_told().await;
        let told = home.slack.deliveries();
        let mut waits: Vec<Duration> = told
            .iter()
            .filter_map(loopback_slack::Delivery::acknowledged_after)
            .collect();
        let (half, most) = (percentile(&mut waits, 50), percentile(&mut waits, 99));
        let questions = THREADS * EACH;
        let rate = questions as f64 / taken.as_secs_f64();
        eprintln!(
            "{way:?}: start {started:?}; {questions} questions ({} events) at once: acknowledged p50 {half:?}, p99 {most:?}; all answered in {taken:?}, {rate:.0}/s",
            waits.len()
        );
        bot.stop().await;
        home.slack.finish();
    }
    let scene = scene().await;
    let mut waits = Vec::new();
    for number in 0..50 {
        let begun = Instant::now();
        let asked = scene.general.ask(&format!("wait {number}"));
        let thread = scene.general.in_thread(&asked);
        let works = |thread: &loopback_slack::Thread| !thread.statuses.is_empty();
        thread.sees_thread("a status", works).await;
        waits.push(begun.elapsed());
        scene.bot.go_on();
        thread.hears(&format!("echo: {number}")).await;
    }
    let (half, most) = (percentile(&mut waits, 50), percentile(&mut waits, 99));
    eprintln!("said until seen to be at work: p50 {half:?}, p99 {most:?}");
    scene.ends_well().await;
}

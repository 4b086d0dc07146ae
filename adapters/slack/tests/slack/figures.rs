//! Measurements, run by name: `cargo test --release -p muninn-slack --test slack -- --ignored --nocapture figures`.

use std::time::{Duration, Instant};

use crate::bursts::{EACH, THREADS, answered, ask, crowd};
use crate::support::{EventTransport, SlackInstallation, app, run};
use crate::wire::Wire;

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn spread(mut waits: Vec<Duration>) -> String {
    let (half, most) = (percentile(&mut waits, 50), percentile(&mut waits, 99));
    format!("p50 {half:.1?}, p99 {most:.1?} of {}", waits.len())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn figures() {
    for way in [EventTransport::Socket, EventTransport::Http] {
        burst(
            &format!("{way:?}"),
            SlackInstallation::by(way, app()).await,
            None,
        )
        .await;
    }
    let home = SlackInstallation::new(app()).await;
    let (wire, near) = Wire::to(home.slack.address());
    home.slack.open_sockets_at(near);
    burst("Socket, over a wire", home, Some(wire)).await;
}

/// Measures two bursts of the same people; in the first, nobody's name is cached.
#[expect(clippy::print_stderr, reason = "a measurement")]
async fn burst(what: &str, home: SlackInstallation, wire: Option<Wire>) {
    let begun = Instant::now();
    let bot = home.start().await;
    eprintln!("{what}: start {:.1?}", begun.elapsed());
    let crowd = crowd(&home.slack);
    let mut before = 0;
    let mut threads = Vec::new();
    for names in ["unknown", "known"] {
        let begun = Instant::now();
        let asked = ask(&home.slack, &crowd);
        threads.extend(asked.iter().cloned());
        answered(&asked, &threads, &bot).await;
        let taken = begun.elapsed();
        home.slack.all_told().await;
        let told = home.slack.deliveries();
        let waits = told[before..].iter();
        let waits = waits.filter_map(loopback_slack::Delivery::acknowledged_after);
        before = told.len();
        let rate = (THREADS * EACH) as f64 / taken.as_secs_f64();
        eprintln!(
            "  names {names}: acknowledged {}; all answered in {taken:.0?}, {rate:.0}/s",
            spread(waits.collect())
        );
        if let Some(wire) = &wire {
            eprintln!(
                "    the bot's share, by the wire: {}",
                spread(wire.take_waits())
            );
        }
    }
    bot.stop().await;
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement")]
fn figures_of_first_signs() {
    run(async |chat| {
        let mut waits = Vec::new();
        for number in 0..50 {
            let begun = Instant::now();
            let thread = chat.thread(&format!("wait {number}"));
            let works = |thread: &loopback_slack::AssistantThread| !thread.statuses.is_empty();
            thread.sees_thread("a status", works).await;
            waits.push(begun.elapsed());
            chat.bot.go_on();
            thread.hears(&format!("echo: {number}")).await;
        }
        eprintln!("said until seen to be at work: {}", spread(waits));
    });
}

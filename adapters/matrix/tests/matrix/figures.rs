//! Measurements, run by name: `cargo test --workspace --test matrix -- --ignored --nocapture figures`.

use std::time::{Duration, Instant};

use muninn_matrix::testing::{MatrixPerson, RoomKind};

use crate::support::{MatrixInstallation, homeserver};

const ROOMS: usize = 50;

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

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement")]
async fn figures() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let begun = Instant::now();
    home.start().await.stop().await;
    eprintln!(
        "first start, with login and keys, and end: {:?}",
        begun.elapsed()
    );
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let mut rooms = Vec::new();
    for number in 0..ROOMS {
        let encrypted = number % 2 == 1;
        rooms.push(
            ann.invite(
                &home.account.user,
                RoomKind {
                    encrypted,
                    direct: false,
                },
            )
            .await,
        );
    }
    let before = resident();
    let bot = home.start().await;
    for room in &rooms {
        ann.wait_for_member(room, &home.account.user).await;
        room.echoes("hello").await;
    }
    eprintln!(
        "{ROOMS} rooms, half of them encrypted: {} MB more than before the start",
        resident() - before
    );
    for encrypted in [false, true] {
        let room = &rooms[usize::from(encrypted)];
        let at_work = (
            room.room.room_id().to_string(),
            home.account.user.to_string(),
        );
        let mut waits = Vec::new();
        for number in 0..20 {
            let seen = |view: &muninn_matrix::testing::View| {
                let mut here = view
                    .typed
                    .iter()
                    .filter(|(room, user, _)| (room, user) == (&at_work.0, &at_work.1));
                here.next_back().map(|(_, _, at)| *at)
            };
            let before = tokio::time::Instant::now();
            room.ask(&format!("wait {number}")).await;
            let sent = tokio::time::Instant::now();
            let at = room
                .sees("typing", |view| seen(view).filter(|at| *at > before))
                .await;
            waits.push(at.saturating_duration_since(sent));
            bot.go_on();
            while !room
                .said()
                .iter()
                .any(|said| said.text == format!("echo: {number}"))
            {
                bot.go_on();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        waits.sort_unstable();
        eprintln!(
            "encrypted {encrypted}: sent until seen typing {:?} (median), {:?} (worst)",
            waits[10], waits[19]
        );
    }
    bot.stop().await;
    let mut starts = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        let bot = home.start().await;
        starts.push(begun.elapsed());
        bot.stop().await;
    }
    starts.sort_unstable();
    eprintln!(
        "start until listening from a stored session, {ROOMS} rooms: {:?} (median)",
        starts[2]
    );
    drop::<MatrixPerson>(ann);
}

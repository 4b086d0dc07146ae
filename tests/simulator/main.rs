//! Runs plans of people and faults, generated from seeds, and checks the invariants:
//! `docs/simulator.md`.
//!
//! A failure is printed as a line for `regressions.jsonl`, whose plans every run replays first.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![expect(
    clippy::print_stdout,
    reason = "whoever runs it by hand wants to see how far it is"
)]

mod check;
mod desk;
mod export;
mod faults;
mod host;
mod model;
mod people;
mod plan;
mod shrink;
#[path = "../support/mod.rs"]
mod support;
mod words;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use self::check::Invariant;
use self::plan::{GraphKind, Host, Platform, SimulationPlan};
use self::world::{Done, PlanFailure};

/// Plans whose cause was fixed.
const MENDED: &str = include_str!("regressions.jsonl");

/// How often a plan of `regressions.jsonl` is run: it depends on timing, so it does not fail each
/// time.
const REPLAYS: usize = 2;

const REPLAYED_AT_ONCE: usize = 4;

/// Maximum attempts to shrink a plan that failed.
const SHRINK_ATTEMPTS: usize = 25;

fn read(plans: &str) -> Vec<SimulationPlan> {
    plans
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// One kind of plan, and how many of them run concurrently.
#[derive(Clone, Copy, Debug)]
struct SimulationLane {
    host: Host,
    platform: Platform,
    graph: GraphKind,
    at_once: usize,
}

impl SimulationLane {
    fn new(host: Host, graph: GraphKind, at_once: usize) -> Self {
        Self {
            host,
            platform: Platform::Webhook,
            graph,
            at_once,
        }
    }

    fn on(self, platform: Platform) -> Self {
        Self { platform, ..self }
    }
}

/// The results of all lanes.
#[derive(Debug, Default)]
struct Tally {
    plans: usize,
    done: Done,
    failed: Vec<(SimulationPlan, PlanFailure)>,
}

impl Tally {
    fn add(&mut self, plan: SimulationPlan, ran: Result<Done, PlanFailure>) {
        self.plans += 1;
        match ran {
            Ok(done) => {
                self.done.messages += done.messages;
                self.done.kills += done.kills;
                self.done.faults += done.faults;
            }
            Err(failure) => {
                let line = serde_json::to_string(&plan).unwrap();
                println!("VIOLATION in {}", failure.evidence.display());
                for violation in &failure.violations {
                    println!("  {violation}");
                }
                println!("  {line}");
                self.failed.push((plan, failure));
            }
        }
    }
}

/// Runs plans of seeds from `first` on, while `goes_on` allows it.
async fn simulate(
    lanes: &[SimulationLane],
    first: u64,
    goes_on: impl Fn(u64) -> bool + Clone + Send + 'static,
) -> Tally {
    let tally: Arc<Mutex<Tally>> = Arc::default();
    let mut running = JoinSet::new();
    for lane in lanes.iter().copied() {
        let next = Arc::new(AtomicU64::new(0));
        for _ in 0..lane.at_once {
            let (next, tally, goes_on) = (Arc::clone(&next), Arc::clone(&tally), goes_on.clone());
            running.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if !goes_on(number) {
                        return;
                    }
                    let plan = SimulationPlan::of_seed(
                        first + number,
                        lane.host,
                        lane.platform,
                        lane.graph,
                    );
                    let ran = world::run(&plan).await;
                    tally.lock().await.add(plan, ran);
                }
            });
        }
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    std::mem::take(&mut *tally.lock().await)
}

/// Whether a plan violates one of the same invariants when it is run again.
async fn fails_as(plan: &SimulationPlan, failure: &PlanFailure) -> bool {
    let wanted: BTreeSet<Invariant> = failure.violations.iter().map(|it| it.invariant).collect();
    let Err(failed) = world::run(plan).await else {
        return false;
    };
    let _ = std::fs::remove_dir_all(&failed.evidence);
    let mut violations = failed.violations.iter();
    violations.any(|it| wanted.contains(&it.invariant))
}

/// Whether a plan fails again in one of so many runs.
async fn fails_again(plan: &SimulationPlan, failure: &PlanFailure, runs: usize) -> bool {
    for _ in 0..runs {
        if fails_as(plan, failure).await {
            return true;
        }
    }
    false
}

/// How often a failed plan is run again, if set: one that passes each time is only reported.
fn confirm() -> Option<usize> {
    variable("SIMULATE_CONFIRM").map(|runs| runs.parse().expect("SIMULATE_CONFIRM"))
}

/// Fails with the smallest failing plan, if it is [confirmed](confirm).
async fn report(tally: Tally) {
    let Done {
        messages,
        kills,
        faults,
    } = tally.done;
    println!(
        "{} plans with {messages} messages, {faults} faults, {kills} of them kills; {} failed",
        tally.plans,
        tally.failed.len()
    );
    let confirm = confirm();
    let mut failed = tally.failed.into_iter();
    let (plan, failure) = loop {
        let Some((plan, failure)) = failed.next() else {
            return;
        };
        match confirm {
            Some(runs) if !fails_again(&plan, &failure, runs).await => {}
            Some(_) | None => break (plan, failure),
        }
        println!(
            "it did not fail again: look into {}",
            failure.evidence.display()
        );
    };
    let fails = async |plan: &SimulationPlan| fails_as(plan, &failure).await;
    let smallest = shrink::shrunk(plan, SHRINK_ATTEMPTS, fails).await;
    panic!(
        "{}\nMend it, and add this line to tests/simulator/regressions.jsonl:\n{}",
        failure.violations[0],
        serde_json::to_string(&smallest).unwrap()
    );
}

async fn replay(plans: &str, graph: GraphKind) {
    let plans = read(plans).into_iter().filter(|plan| plan.graph == graph);
    let replays = async |plan: SimulationPlan| {
        for _ in 0..REPLAYS {
            let Err(failure) = world::run(&plan).await else {
                continue;
            };
            let line = serde_json::to_string(&plan).unwrap();
            if let Some(runs) = confirm()
                && !fails_again(&plan, &failure, runs).await
            {
                println!("it did not fail again: {failure:#?}\n{line}");
                continue;
            }
            panic!("again: {failure:#?}\n{line}");
        }
    };
    // They mostly wait.
    let all = futures::stream::iter(plans).for_each_concurrent(REPLAYED_AT_ONCE, replays);
    all.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_mended_stays_mended() {
    replay(MENDED, GraphKind::Embedded).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_was_mended_stays_mended_on_neo4j() {
    replay(MENDED, GraphKind::Neo4j).await;
}

/// Runs a fixed set of seeds, with so many plans of a lane. Run by hand, as long as they still find
/// something (docs/simulator.md).
async fn fixed(lane: SimulationLane, plans: u64) {
    report(simulate(&[lane], 1, move |number| number < plans).await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: .ci/simulate"]
async fn soak_nothing_is_lost_doubled_or_told_to_others_by_bots_that_are_dropped() {
    fixed(
        SimulationLane::new(Host::InProcess, GraphKind::Embedded, 4),
        40,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: .ci/simulate"]
async fn soak_nothing_is_lost_doubled_or_told_to_others_by_programs_that_are_killed() {
    fixed(
        SimulationLane::new(Host::Program, GraphKind::Embedded, 2),
        12,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes, and needs a Neo4j (NEO4J_TEST_URI): .ci/simulate"]
async fn soak_nothing_is_lost_doubled_or_told_to_others_by_several_on_neo4j() {
    fixed(SimulationLane::new(Host::Program, GraphKind::Neo4j, 1), 4).await;
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// `.ci/simulate` runs this: new seeds, for `SIMULATE_MINUTES`, on the available graphs.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: .ci/simulate"]
async fn soak_with_new_seeds() {
    let number =
        |name, otherwise: u64| variable(name).map_or(otherwise, |value| value.parse().expect(name));
    let minutes = number("SIMULATE_MINUTES", 5);
    let seed = number("SIMULATE_SEED", u64::from(std::process::id()) * 1_000_003);
    let lane = |host, graph, name, otherwise| {
        let at_once = usize::try_from(number(name, otherwise)).unwrap();
        SimulationLane::new(host, graph, at_once)
    };
    let mut lanes = vec![
        lane(
            Host::InProcess,
            GraphKind::Embedded,
            "SIMULATE_IN_PROCESS",
            4,
        ),
        lane(Host::Program, GraphKind::Embedded, "SIMULATE_PROGRAMS", 1),
    ];
    let slack = lane(Host::Program, GraphKind::Embedded, "SIMULATE_SLACK", 0);
    lanes.push(slack.on(Platform::Slack));
    let discord = lane(Host::Program, GraphKind::Embedded, "SIMULATE_DISCORD", 0);
    lanes.push(discord.on(Platform::Discord));
    if variable("NEO4J_TEST_URI").is_some() {
        lanes.push(lane(Host::Program, GraphKind::Neo4j, "SIMULATE_NEO4J", 1));
        let slack = lane(Host::Program, GraphKind::Neo4j, "SIMULATE_SLACK_NEO4J", 0);
        lanes.push(slack.on(Platform::Slack));
        let discord = lane(Host::Program, GraphKind::Neo4j, "SIMULATE_DISCORD_NEO4J", 0);
        lanes.push(discord.on(Platform::Discord));
    }
    println!("seeds from {seed} on, {minutes} minutes, {lanes:?}");
    let until = Instant::now() + Duration::from_secs(60 * minutes);
    report(simulate(&lanes, seed, move |_| Instant::now() < until).await).await;
}

/// Runs the plan in the file that `SIMULATE_PLAN` names, for investigation.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a plan (SIMULATE_PLAN)"]
async fn soak_one_plan() {
    let Some(file) = variable("SIMULATE_PLAN") else {
        return;
    };
    let plan: SimulationPlan =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut tally = Tally::default();
    let ran = world::run(&plan).await;
    tally.add(plan, ran);
    assert!(tally.failed.is_empty());
}

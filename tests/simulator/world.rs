//! Runs a plan: starts the bot's processes, runs people and faults, and checks the result.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use muninn::graph::GraphConfig;
use secrecy::SecretString;
use tokio::sync::{Mutex, MutexGuard, watch};

use crate::check::{Evidence, Invariant, Violation};
use crate::desk::{PlatformDesk, ProcessAddress};
use crate::export::Graph;
use crate::faults::{Breakable, strike_all};
use crate::host::Process;
use crate::model::Model;
use crate::people::{Around, SimulatedPerson, waits};
use crate::plan::{Fault, GraphKind, SimulationPlan};
use crate::support::files::files_with;
use crate::support::graph::TestGraph;
use crate::support::model_server::KEY;
use crate::support::proxy::Proxy;
use crate::words::fresh_run;

/// Numbers the processes of all plans.
static PROCESSES: AtomicU16 = AtomicU16::new(0);

/// Longer than the interval at which a graph is looked for after an outage.
const TO_SAVE: Duration = Duration::from_secs(60);

/// Interval between two reads of a graph on a server, each over its own connection.
const TO_LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Why a plan failed, and where the evidence was written.
#[derive(Debug)]
pub(crate) struct PlanFailure {
    pub(crate) violations: Vec<Violation>,
    pub(crate) evidence: PathBuf,
}

/// The counts of a run without a violation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) messages: usize,
    pub(crate) kills: usize,
    pub(crate) faults: usize,
}

/// Processes on one graph take over each other's messages, so one plan at a time uses the server.
static SERVER: Mutex<()> = Mutex::const_new(());

/// The location of the graph.
struct GraphPlace {
    config: GraphConfig,
    wire: Option<Arc<Proxy>>,
    _alone: Option<MutexGuard<'static, ()>>,
}

impl GraphPlace {
    /// Whether messages wait there for an answer.
    async fn has_pending(&self) -> bool {
        let Some(_) = &self.wire else { return false };
        let server = TestGraph::of_environment();
        server
            .text("MATCH (p:Pending) RETURN toString(count(p)) AS text")
            .await
            != "0"
    }
}

/// Runs a plan to its end.
pub(crate) async fn run(plan: &SimulationPlan) -> Result<Done, PlanFailure> {
    let run = fresh_run();
    let folder = tempfile::tempdir().unwrap();
    let model = Model::start(run.clone(), plan.options.model_quotes).await;
    let (model, desk) = (
        Arc::new(model),
        Arc::new(PlatformDesk::open(plan.platform).await),
    );
    let graph = graph_place(plan, folder.path()).await;
    let processes = processes(plan, folder.path(), &model, &desk, &graph);
    let around = Around {
        run: run.clone(),
        desk: Arc::clone(&desk),
        model: Arc::clone(&model),
        doors: doors(&processes).await,
        steps: watch::Sender::new(0),
        full_disks: Arc::default(),
        window_turns: plan.options.window_turns,
        kills: has(plan, ends_a_process),
        graph_fails: has(plan, |fault| matches!(fault, Fault::Graph { .. })),
    };
    let mut people: Vec<SimulatedPerson> = (0..plan.channels.len())
        .map(|channel| SimulatedPerson::new(around.clone(), channel))
        .collect();
    let mut violations = lives(plan, &around, &graph, &processes, &mut people).await;
    if violations.is_empty() {
        desk.all_told().await;
        saved(&processes, &graph).await;
    }
    for process in &processes {
        if let Err(problem) = process.lock().await.terminate().await {
            violations.push(Violation::new(Invariant::Ends, problem));
        }
    }
    violations.extend(of_logs(&processes).await);
    violations.extend(
        desk.malformed()
            .into_iter()
            .map(|problem| Violation::new(Invariant::WellFormed, problem)),
    );
    let read = Graph::read(&graph.config, &run, &desk).await;
    let kept = match read {
        Ok(kept) => kept,
        Err(problem) => {
            violations.push(Violation::new(Invariant::KeptOnce, problem));
            Graph::default()
        }
    };
    let evidence = Evidence {
        run: &run,
        said: people.iter().flat_map(|person| &person.said).collect(),
        posts: desk.posts(),
        history: desk.history(),
        prompts: model.prompts(),
        nonces: model.nonces(),
        graph: kept,
        model_quotes: plan.options.model_quotes,
        was_disk_full: has(plan, |fault| matches!(fault, Fault::FullDisk { .. })),
    };
    if violations.is_empty() {
        violations.extend(evidence.violations());
        violations.extend(in_files(&evidence, folder.path()));
        violations.extend(unbounded(plan, &desk));
    }
    let done = Done {
        messages: people
            .iter()
            .map(|it| it.said.len() + it.commands.len())
            .sum(),
        kills: plan.kills(),
        faults: plan.faults.len(),
    };
    if violations.is_empty() {
        drop(evidence);
        drop((people, around));
        Arc::into_inner(model)
            .expect("nobody else asks it")
            .finish();
        return Ok(done);
    }
    let said = format!("{evidence:#?}\n{violations:#?}");
    let place = keep_evidence(plan, folder, &processes, &said).await;
    // Its own complaints are not the failure.
    std::mem::forget(Arc::into_inner(model));
    Err(PlanFailure {
        violations,
        evidence: place,
    })
}

fn has(plan: &SimulationPlan, is: impl Fn(Fault) -> bool) -> bool {
    plan.faults.iter().any(|scheduled| is(scheduled.fault))
}

async fn graph_place(plan: &SimulationPlan, folder: &Path) -> GraphPlace {
    match plan.graph {
        GraphKind::Embedded => {
            let data = folder.join("0/data");
            GraphPlace {
                config: GraphConfig::at(format!("embedded:{}", data.display())),
                wire: None,
                _alone: None,
            }
        }
        GraphKind::Neo4j => {
            let alone = SERVER.lock().await;
            let server = TestGraph::of_environment();
            server.run("MATCH (n) DETACH DELETE n").await;
            let (_, address) = server.url.split_once("://").expect("an address");
            let wire = Proxy::to(address.to_owned()).await;
            GraphPlace {
                config: GraphConfig {
                    user: server.user,
                    password: SecretString::from(server.password),
                    ..GraphConfig::at(&server.url)
                },
                wire: Some(Arc::new(wire)),
                _alone: Some(alone),
            }
        }
    }
}

fn processes(
    plan: &SimulationPlan,
    folder: &Path,
    model: &Model,
    desk: &PlatformDesk,
    graph: &GraphPlace,
) -> Vec<Arc<Mutex<Process>>> {
    let mut processes = Vec::new();
    for number in 0..plan.processes {
        let door = Arc::new(ProcessAddress {
            address: own_address(),
            clock_ahead: 0.into(),
        });
        let settings = settings(plan, model, desk, graph, &door.address);
        let its = folder.join(number.to_string());
        let mut process = Process::new(plan.host, its, settings, door);
        if has(plan, |fault| matches!(fault, Fault::ClockJump { .. })) {
            process.has_own_clock();
        }
        process.start();
        processes.push(Arc::new(Mutex::new(process)));
    }
    processes
}

async fn doors(processes: &[Arc<Mutex<Process>>]) -> Vec<Arc<ProcessAddress>> {
    let mut doors = Vec::new();
    for process in processes {
        doors.push(Arc::clone(&process.lock().await.door));
    }
    doors
}

fn ends_a_process(fault: Fault) -> bool {
    match fault {
        Fault::Kill { .. }
        | Fault::TornWrite { .. }
        | Fault::Terminate { .. }
        | Fault::FullDisk { .. } => true,
        Fault::ClockJump { .. }
        | Fault::Model { .. }
        | Fault::Embedder { .. }
        | Fault::Answers { .. }
        | Fault::Graph { .. } => false,
    }
}

/// Returns a process's own address in 127.0.0.0/8, which Linux provides completely: while the
/// process is dead, nobody else listens there.
fn own_address() -> String {
    let [high, low] = PROCESSES.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    let listener = TcpListener::bind((Ipv4Addr::new(127, 1, high, low), 0)).unwrap();
    listener.local_addr().unwrap().to_string()
}

fn settings(
    plan: &SimulationPlan,
    model: &Model,
    desk: &PlatformDesk,
    graph: &GraphPlace,
    address: &str,
) -> Vec<(&'static str, String)> {
    let mut settings: Vec<(&'static str, String)> = [
        ("OPENAI_BASE_URL", model.base_url()),
        ("OPENAI_API_KEY", KEY.to_owned()),
        ("CHAT_MODEL", "chat".to_owned()),
        ("UTILITY_MODEL", "utility".to_owned()),
        ("MODEL_REQUESTS_PER_MINUTE", "100000".to_owned()),
        ("MODEL_REQUESTS_PER_PERSON", "100000".to_owned()),
        ("MODEL_TOKENS_PER_MINUTE", "100000000".to_owned()),
        ("MODEL_TIMEOUT", "2".to_owned()),
        ("TURN_TIMEOUT", "10".to_owned()),
        (
            "GRAPH_TIMEOUT",
            if plan.graph == GraphKind::Neo4j {
                "3"
            } else {
                "60"
            }
            .to_owned(),
        ),
        ("MESSAGES_PER_MINUTE", "100000".to_owned()),
        ("WINDOW_TURNS", plan.options.window_turns.to_string()),
        ("INBOX_SIZE", plan.options.inbox_size.to_string()),
        ("SHUTDOWN_TIMEOUT", "3".to_owned()),
    ]
    .into();
    settings.extend(desk.settings(address));
    if plan.options.remote_embedder {
        settings.push(("EMBEDDING_MODEL", "embedding".to_owned()));
    }
    if let Some(wire) = &graph.wire {
        let server = TestGraph::of_environment();
        settings.push(("GRAPH_URL", wire.bolt_url()));
        settings.push(("GRAPH_USER", server.user));
        settings.push(("GRAPH_PASSWORD", server.password));
    }
    settings
}

/// Runs people and faults, until everything is repaired and answered.
async fn lives(
    plan: &SimulationPlan,
    around: &Around,
    graph: &GraphPlace,
    processes: &[Arc<Mutex<Process>>],
    people: &mut [SimulatedPerson],
) -> Vec<Violation> {
    let breakable = Breakable {
        model: Arc::clone(&around.model),
        desk: Arc::clone(&around.desk),
        wire: graph.wire.clone(),
        processes: processes.to_vec(),
        full_disks: Arc::clone(&around.full_disks),
        problems: Arc::default(),
    };
    let supervisor = tokio::spawn(supervise(processes.to_vec()));
    let all: usize = plan.channels.iter().map(Vec::len).sum();
    let faults = strike_all(&breakable, &plan.faults, around.steps.subscribe(), all);
    let talking = async {
        let each = people.iter_mut().zip(&plan.channels);
        futures::future::join_all(each.map(|(person, steps)| person.acts(steps))).await
    };
    let (talked, ()) = tokio::join!(talking, faults);
    let mut violations: Vec<Violation> = talked.into_iter().filter_map(Result::err).collect();
    if violations.is_empty() {
        let settling = people.iter_mut().map(SimulatedPerson::settles);
        let settled = futures::future::join_all(settling).await;
        violations.extend(settled.into_iter().filter_map(Result::err));
    }
    supervisor.abort();
    let problems = std::mem::take(&mut *breakable.problems.lock().unwrap());
    violations.extend(
        problems
            .into_iter()
            .map(|problem| Violation::new(Invariant::Ends, problem)),
    );
    violations
}

/// Restarts processes that ended by themselves, like a service manager.
async fn supervise(processes: Vec<Arc<Mutex<Process>>>) {
    loop {
        for process in &processes {
            process.lock().await.keep_running();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until no turn waits for the graph, everything accepted was handled, and everything
/// forgotten is removed: a deletion shows nothing to a person.
async fn saved(processes: &[Arc<Mutex<Process>>], graph: &GraphPlace) {
    let mut folders = Vec::new();
    for process in processes {
        folders.push(process.lock().await.data_dir());
    }
    let is_waiting = |folder: &PathBuf| {
        let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.any(|file| {
            let text = || std::fs::read(file.path()).unwrap_or_default();
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("journal-") {
                text()
                    .windows(6)
                    .any(|part| part == b"\"Turn\"" || part == b"\"turn\"")
            } else {
                // Finished entries are blank there, and removed messages are gone.
                let waits = ["accepted-", "withdrawals-"];
                waits.iter().any(|stem| name.starts_with(stem)) && text().contains(&b'{')
            }
        })
    };
    // The graph is checked first: once it is done, a file says what remains.
    let deadline = Instant::now() + TO_SAVE;
    while Instant::now() < deadline && graph.has_pending().await {
        tokio::time::sleep(TO_LOOK_AGAIN).await;
    }
    // What is not saved by then is found to be missing.
    waits(TO_SAVE, || !folders.iter().any(is_waiting)).await;
}

async fn of_logs(processes: &[Arc<Mutex<Process>>]) -> Vec<Violation> {
    let mut found = Vec::new();
    for process in processes {
        let log = Arc::clone(&process.lock().await.log);
        let log = String::from_utf8_lossy(&log.lock().unwrap()).into_owned();
        let mut lines = log.lines();
        if let Some(line) = lines.find(|line| line.contains("panicked")) {
            found.push(Violation::new(Invariant::WellFormed, line));
        }
        let said = crate::words::tokens(&log);
        if let Some(token) = said.first() {
            let problem = format!("the log says {token}");
            found.push(Violation::new(Invariant::OwnAudience, problem));
        }
    }
    found
}

fn in_files(evidence: &Evidence<'_>, folder: &Path) -> Vec<Violation> {
    let words = evidence.gone_words();
    let found = words.iter().flat_map(|word| {
        files_with(folder, word).into_iter().map(move |path| {
            Violation::new(
                Invariant::Forgotten,
                format!("{word} is gone, and in {}", path.display()),
            )
        })
    });
    found.collect()
}

fn unbounded(plan: &SimulationPlan, desk: &PlatformDesk) -> Option<Violation> {
    let faults = plan.faults.iter();
    let ends = faults.filter(|scheduled| ends_a_process(scheduled.fault));
    // Each end makes room for as many again, and what waited is in the graph.
    let most = plan.options.inbox_size * plan.processes * (1 + ends.count());
    let unanswered = desk.most_unanswered();
    (unanswered > most).then(|| {
        let problem =
            format!("{unanswered} messages were accepted and not answered, with room for {most}");
        Violation::new(Invariant::Bounded, problem)
    })
}

/// Keeps what is known of a failure for whoever looks into it.
async fn keep_evidence(
    plan: &SimulationPlan,
    folder: tempfile::TempDir,
    processes: &[Arc<Mutex<Process>>],
    said: &str,
) -> PathBuf {
    let place = folder.keep();
    std::fs::write(
        place.join("plan.json"),
        serde_json::to_string(plan).unwrap(),
    )
    .unwrap();
    std::fs::write(place.join("evidence"), said).unwrap();
    for (number, process) in processes.iter().enumerate() {
        let log = Arc::clone(&process.lock().await.log);
        let log = log.lock().unwrap().clone();
        std::fs::write(place.join(format!("log-{number}")), log).unwrap();
    }
    place
}

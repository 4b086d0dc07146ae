//! Both engines without further protection: they run what the confiner printed.

use std::collections::{BTreeMap, HashMap};

use kglite::api::cypher::{QueryWarningSink, with_query_warning_sink};
use kglite::api::durable::DurabilityLevel;
use kglite::api::session::{
    ExecuteOptions, OpenSpec, QUERY_THREAD_STACK_SIZE, Session, execute_read, open_path,
};
use kglite::api::storage::StorageMode;
use neo4rs::{BoltList, BoltMap, BoltType, ConfigBuilder, Graph};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

use crate::graph::TestGraph;

/// The tests share one server, and each needs it alone.
static SERVER: Mutex<()> = Mutex::const_new(());

/// Rows as text, in order, or the error.
pub(crate) type ReadResult = Result<Vec<String>, String>;

pub(crate) trait Store {
    fn write(&self, statement: &str);
    fn read(&self, statement: &str) -> ReadResult;
    /// Returns the least amount of work with which it completes; `None` if the engine does not
    /// count.
    fn work(&self, statement: &str) -> Option<usize>;
}

pub(crate) struct Embedded {
    session: Session,
    _folder: TempDir,
}

impl Embedded {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spec = OpenSpec {
            storage: Some(StorageMode::Memory),
            durability: DurabilityLevel::Normal,
            durability_explicit: true,
            lease_timeout: None,
            valid_time_default: None,
        };
        let opened = open_path(&folder.path().join("graph.kgl"), &spec);
        let Ok(opened) = opened else {
            panic!("the embedded graph does not open");
        };
        Self {
            session: opened.session,
            _folder: folder,
        }
    }
}

impl Store for Embedded {
    fn write(&self, statement: &str) {
        let nothing = HashMap::new();
        let options = ExecuteOptions::eager(&nothing);
        let written = self.session.execute_auto_commit(statement, &options, 1);
        written.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    fn read(&self, statement: &str) -> ReadResult {
        self.within(statement, None)
    }

    fn work(&self, statement: &str) -> Option<usize> {
        let budgets: Vec<usize> = (1..10_000).collect();
        Some(budgets.partition_point(|work| self.within(statement, Some(*work)).is_err()))
    }
}

impl Embedded {
    fn within(&self, statement: &str, work: Option<usize>) -> ReadResult {
        let nothing = HashMap::new();
        let snapshot = self.session.snapshot();
        let mut options = ExecuteOptions::eager(&nothing);
        options.set_timeout_ms(Some(20_000));
        options.max_work_units = work;
        with_query_warning_sink(QueryWarningSink::Silent, || {
            let outcome = execute_read(&snapshot, statement, &options);
            let outcome = outcome.map_err(|error| error.to_string())?;
            let rows = outcome.result.rows.iter();
            Ok(rows.map(|row| format!("{row:?}")).collect())
        })
    }
}

pub(crate) struct Neo4j {
    runtime: Runtime,
    graph: Graph,
}

impl Neo4j {
    fn connect(at: &TestGraph) -> Self {
        let runtime = Runtime::new().unwrap();
        let config = ConfigBuilder::default()
            .uri(&at.url)
            .user(&at.user)
            .password(&at.password)
            .build();
        let graph = runtime.block_on(async { Graph::connect(config.unwrap()).unwrap() });
        Self { runtime, graph }
    }
}

impl Store for Neo4j {
    fn write(&self, statement: &str) {
        let run = async {
            let mut stream = self.graph.execute(statement).await?;
            while stream.next().await?.is_some() {}
            Ok::<_, neo4rs::Error>(())
        };
        let written = self.runtime.block_on(run);
        written.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    fn read(&self, statement: &str) -> ReadResult {
        let run = async {
            let query = neo4rs::query(statement).extra("tx_timeout", 20_000);
            let mut stream = self.graph.execute_read(query).await?;
            let mut rows = Vec::new();
            while let Some(row) = stream.next().await? {
                let mut columns: Vec<String> = row.keys().iter().map(ToString::to_string).collect();
                columns.sort();
                let values = columns.iter().map(|column| {
                    let value = row.get::<BoltType>(column).unwrap();
                    format!("{column}: {}", as_text(&value))
                });
                rows.push(values.collect::<Vec<_>>().join(", "));
            }
            Ok::<_, neo4rs::Error>(rows)
        };
        self.runtime
            .block_on(run)
            .map_err(|error| error.to_string())
    }

    fn work(&self, _statement: &str) -> Option<usize> {
        None
    }
}

/// Formats a value, with its properties sorted.
fn as_text(value: &BoltType) -> String {
    let list = |list: &BoltList| {
        list.value
            .iter()
            .map(as_text)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match value {
        BoltType::Map(map) => properties(map),
        BoltType::List(values) => format!("[{}]", list(values)),
        BoltType::Node(node) => format!(
            "({:?} {} {})",
            node.id,
            list(&node.labels),
            properties(&node.properties)
        ),
        BoltType::Relation(relation) => format!(
            "({:?})-[{:?} {} {}]->({:?})",
            relation.start_node_id,
            relation.id,
            relation.typ,
            properties(&relation.properties),
            relation.end_node_id
        ),
        other => format!("{other:?}"),
    }
}

fn properties(map: &BoltMap) -> String {
    let entries = map
        .value
        .iter()
        .map(|(key, value)| (key.to_string(), as_text(value)));
    format!("{:?}", entries.collect::<BTreeMap<_, _>>())
}

/// Runs a test on an empty embedded graph.
pub(crate) fn on_embedded(test: fn(&dyn Store)) {
    let thread = std::thread::Builder::new()
        .stack_size(QUERY_THREAD_STACK_SIZE)
        .spawn(move || test(&Embedded::empty()));
    if let Err(panic) = thread.unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs a test on the server of the environment, emptied, if there is one.
pub(crate) fn on_neo4j(test: fn(&dyn Store)) {
    let graph = TestGraph::of_environment();
    let _alone = SERVER.blocking_lock();
    let store = Neo4j::connect(&graph);
    store.write("MATCH (n) DETACH DELETE n");
    test(&store);
    store.write("MATCH (n) DETACH DELETE n");
}

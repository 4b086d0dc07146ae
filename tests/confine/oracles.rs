//! Neither the cost nor the error of a statement reveals anything about memory: no expression is
//! evaluated on one of its nodes before its label is checked.
//!
//! Memory has zeros where knowledge has none, so a remainder by them is an error as soon as it is
//! evaluated.

use crate::graphs::{add_knowledge, add_memory, confined};
use crate::stores::{ReadResult, Store, on_embedded, on_neo4j};

/// Each has a trap in a place that an engine may evaluate early.
const TRAPS: &[&str] = &[
    "MATCH (n) WHERE 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE n.id STARTS WITH 'RAVEN' AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE 1 % n.born > 1 AND n.name = 'RAVENSECRET' RETURN count(n) AS c",
    "MATCH (n) WHERE n.name = 'RAVENSECRET' AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n {name: 'RAVENSECRET'}) WHERE 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n {born: 0}) RETURN 1 % n.born AS c",
    "MATCH (n) WHERE n.born IN [0] AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE n.born < 1 AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE NOT n:Person AND 1 % n.released > 1 RETURN count(n) AS c",
    "MATCH (n:!Person) WHERE 1 % n.released > 1 RETURN count(n) AS c",
    "UNWIND range(0, 40) AS i MATCH (n) WHERE id(n) = i AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE +id(n) IN range(0, 40) AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE NOT id(n) <> 9 AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (n) WHERE CASE WHEN properties(n)['output'] STARTS WITH 'R' THEN 1 % n.born > 1 ELSE true END RETURN count(n) AS c",
    "MATCH (n) WHERE any(x IN [n.born] WHERE 1 % x > 1) RETURN count(n) AS c",
    "MATCH (n) WHERE size([x IN range(1, 3) WHERE x % n.born > 1]) > 1 RETURN count(n) AS c",
    "MATCH (n) WITH n ORDER BY 1 % n.born LIMIT 3 RETURN count(n) AS c",
    "MATCH (n) RETURN max(1 % n.born) AS c",
    "MATCH (n) RETURN DISTINCT 1 % n.born AS c ORDER BY c",
    "MATCH (m:Movie)--(n) WHERE 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (m:Movie)<-[r]-(n) WHERE 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (m:Movie)-[*1..3]-(n) WHERE 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (a)-[r]->(b) WHERE 1 % r.score > 1 RETURN count(r) AS c",
    "MATCH ()-[r {score: 0}]->() RETURN count(1 % r.score) AS c",
    "MATCH p = (m:Movie)-[*1..2]-() WHERE all(n IN nodes(p) WHERE 1 % n.position >= 0) RETURN count(p) AS c",
    "OPTIONAL MATCH (n) WHERE 1 % n.position > 1 RETURN count(n) AS c",
    "MATCH (m:Movie) OPTIONAL MATCH (m)<--(n) WHERE 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (m:Movie) WHERE EXISTS { (m)--(n) WHERE 1 % n.born > 1 } RETURN count(m) AS c",
    "MATCH (m:Movie) RETURN sum(COUNT { (m)--(n) WHERE 1 % n.born > 1 }) AS c",
    "MATCH (m:Movie) RETURN [(m)--(n) WHERE 1 % n.born > 1 | n.name] AS c",
    "MATCH (m:Movie) RETURN size([(m)--(n) | 1 % n.born]) AS c ORDER BY c",
    "CALL { MATCH (n) WHERE 1 % n.born > 1 RETURN count(n) AS c } RETURN c",
    "MATCH (n) WITH collect(1 % n.born) AS all RETURN size(all) AS c",
    "MATCH (n), (m) WHERE n.name = m.name AND 1 % n.born > 1 RETURN count(n) AS c",
    "MATCH (a:Movie {id: 'm1'}), (b:Movie {id: 'm2'}) MATCH p = shortestPath((a)-[*]-(b)) WHERE all(n IN nodes(p) WHERE n.born IS NULL OR 1 % n.born > -1) RETURN length(p) AS c",
    "MATCH (n) RETURN reduce(s = 0, x IN [n.born] | s + 1 % coalesce(x, 1)) AS c ORDER BY c",
];

#[test]
fn nothing_is_computed_on_memory_on_the_embedded_graph() {
    on_embedded(computes_nothing);
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn nothing_is_computed_on_memory_on_neo4j() {
    on_neo4j(computes_nothing);
}

fn computes_nothing(store: &dyn Store) {
    let traps: Vec<String> = TRAPS
        .iter()
        .map(|trap| confined(trap).unwrap_or_else(|refusal| panic!("{trap}: {refusal}")))
        .map(|trap| trap.as_str().to_owned())
        .collect();
    add_knowledge(store);
    let answers = || -> Vec<ReadResult> { traps.iter().map(|trap| store.read(trap)).collect() };
    let without = answers();
    add_memory(store);
    let has_snapped = |answer: &ReadResult| matches!(answer, Err(error) if error.contains("zero"));
    // Unconfined, the trap is triggered.
    assert!(has_snapped(&store.read(TRAPS[0])));
    let with = answers();
    // The cost may depend on the amount of memory, not on its content.
    let work = || -> Vec<Option<usize>> { traps.iter().map(|trap| store.work(trap)).collect() };
    let of_matching = work();
    for label in ["Session", "Channel", "Response"] {
        store.write(&format!(
            "MATCH (n:{label}) SET n.name = 'other', n.output = 'other', n.born = 7, n.released = 7, n.position = 7"
        ));
    }
    let of_other = work();
    for (at, trap) in traps.iter().enumerate() {
        assert!(!has_snapped(&without[at]), "{trap}: {:?}", without[at]);
        assert_eq!(with[at], without[at], "{trap}");
        assert_eq!(of_matching[at], of_other[at], "{trap}");
    }
}

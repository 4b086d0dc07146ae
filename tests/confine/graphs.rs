//! A small graph of films, and memory that must be kept apart from it.

use muninn::graph::confine::{ConfinedCypher, Refusal, StatementLimits, confine};
use muninn::graph::schema::Schema;

use crate::stores::Store;

/// In every text of the memory, and nowhere else.
pub(crate) const MARKER: &str = "RAVENSECRET";

pub(crate) fn schema() -> Schema {
    let text = r#"{
        "nodes": {
            "Person": [["name", "STRING"], ["born", "INTEGER"], ["id", "STRING"]],
            "Movie": [["title", "STRING"], ["released", "INTEGER"], ["id", "STRING"]],
            "Odd Thing": [["wert", "INTEGER"]]
        },
        "relationships": {"ACTED_IN": [["roles", "LIST"]], "DIRECTED": [], "FOLLOWS": []},
        "patterns": [
            ["Person", "ACTED_IN", "Movie"], ["Person", "DIRECTED", "Movie"],
            ["Person", "FOLLOWS", "Person"]
        ]
    }"#;
    serde_json::from_str(text).unwrap()
}

pub(crate) fn confined(query: &str) -> Result<ConfinedCypher, Refusal> {
    confine(query, &schema(), &StatementLimits::of_rows(100))
}

const KNOWLEDGE: &[&str] = &[
    "CREATE (:Person {id: 'p1', name: 'Keanu', born: 1964}), \
     (:Person {id: 'p2', name: 'Carrie', born: 1967}), \
     (:Person {id: 'p3', name: 'Lana', born: 1965}), \
     (:Movie {id: 'm1', title: 'The Matrix', released: 1999}), \
     (:Movie {id: 'm2', title: 'Speed', released: 1994}), \
     (:`Odd Thing` {id: 'g1', wert: 7})",
    "MATCH (p:Person), (m:Movie {id: 'm1'}) WHERE p.id IN ['p1', 'p2'] \
     CREATE (p)-[:ACTED_IN {roles: ['Neo']}]->(m)",
    "MATCH (p:Person {id: 'p1'}), (m:Movie {id: 'm2'}) CREATE (p)-[:ACTED_IN {roles: ['Jack']}]->(m)",
    "MATCH (p:Person {id: 'p3'}), (m:Movie {id: 'm1'}) CREATE (p)-[:DIRECTED]->(m)",
    "MATCH (a:Person {id: 'p2'}), (b:Person {id: 'p1'}) CREATE (a)-[:FOLLOWS]->(b)",
];

/// Memory, which also uses the knowledge's property names, with zeros to divide by.
const MEMORY: &[&str] = &[
    "CREATE (:Session {id: 'RAVENSECRET s', name: 'RAVENSECRET', title: 'RAVENSECRET', born: 0}), \
     (:Channel {id: 'RAVENSECRET c', name: 'RAVENSECRET', released: 0}), \
     (:MuninnSchema {id: 'RAVENSECRET v', version: 5}), \
     (:Response {id: 'RAVENSECRET r1', input: 'RAVENSECRET one', output: 'RAVENSECRET', \
       name: 'RAVENSECRET', title: 'RAVENSECRET', born: 0, released: 0, position: 1}), \
     (:Response {id: 'RAVENSECRET r2', input: 'RAVENSECRET two', output: 'RAVENSECRET', \
       name: 'RAVENSECRET', title: 'RAVENSECRET', born: 0, released: 0, position: 2})",
    "MATCH (s:Session), (r:Response) CREATE (s)-[:HAS_RESPONSE]->(r)",
    "MATCH (s:Session), (c:Channel) CREATE (s)-[:IN]->(c)",
    "MATCH (s:Session), (r:Response {position: 2}) CREATE (s)-[:LAST_RESPONSE]->(r)",
    "MATCH (a:Response {position: 1}), (b:Response {position: 2}) \
     CREATE (a)-[:NEXT]->(b), (b)-[:RECALLED {score: 0, roles: ['RAVENSECRET']}]->(a)",
    "MATCH (r:Response), (m:Movie) CREATE (r)-[:CONTEXT {roles: ['RAVENSECRET']}]->(m)",
    "MATCH (r:Response {position: 1}), (p:Person {id: 'p1'}) CREATE (r)-[:CONTEXT]->(p)",
];

pub(crate) fn add_knowledge(store: &dyn Store) {
    KNOWLEDGE
        .iter()
        .for_each(|statement| store.write(statement));
}

pub(crate) fn add_memory(store: &dyn Store) {
    MEMORY.iter().for_each(|statement| store.write(statement));
}

/// Returns the whole graph, to check that nothing changed.
pub(crate) fn everything(store: &dyn Store) -> Vec<String> {
    let mut all = store
        .read("MATCH (n) RETURN labels(n), properties(n)")
        .unwrap();
    all.extend(
        store
            .read("MATCH (a)-[r]->(b) RETURN a.id, type(r), b.id, r.roles")
            .unwrap(),
    );
    // Maps are unordered.
    let mut all: Vec<String> = all.iter().map(|row| sorted(row)).collect();
    all.sort();
    all
}

fn sorted(row: &str) -> String {
    let mut words: Vec<&str> = row.split([' ', ',', '{', '}', '(', ')']).collect();
    words.sort_unstable();
    words.join(" ")
}

mod allowing;
mod reading_back;

use super::*;

const GUARD: Guard<'_> = Guard {
    hidden_labels: &["Session", "Response"],
    hidden_types: &["CONTEXT", "NEXT"],
};

fn confine(
    query: &str,
    schema: &Schema,
    limits: &StatementLimits<'_>,
) -> Result<ConfinedCypher, Refusal> {
    GUARD.confine(query, schema, limits, &[])
}

fn schema() -> Schema {
    let text = r#"{
        "nodes": {"Person": [["name", "STRING"], ["born", "INTEGER"]],
                  "Movie": [["title", "STRING"], ["released", "INTEGER"]]},
        "relationships": {"ACTED_IN": [["roles", "LIST"]], "FOLLOWS": []},
        "patterns": [["Person", "ACTED_IN", "Movie"], ["Person", "FOLLOWS", "Person"]]
    }"#;
    serde_json::from_str(text).unwrap()
}

fn checked(query: &str) -> Result<ConfinedCypher, Refusal> {
    GUARD.confine(
        query,
        &schema(),
        &StatementLimits::of_rows(50),
        &["name", "many"],
    )
}

fn printed(query: &str) -> String {
    checked(query).unwrap().as_str().to_owned()
}

fn refusal(query: &str) -> String {
    checked(query).unwrap_err().to_string()
}

#[test]
fn nodes_and_relationships_without_a_name_become_knowledge() {
    for (query, expected) in [
        (
            "MATCH (n) RETURN n",
            "MATCH (n:Movie|Person) RETURN n LIMIT 50",
        ),
        (
            "MATCH (p:Person)-->(x) RETURN x",
            "MATCH (p:Person)-[:ACTED_IN|FOLLOWS]->(x:Movie|Person) RETURN x LIMIT 50",
        ),
        (
            "MATCH (p:!Person)-[r:!FOLLOWS]-() RETURN r",
            "MATCH (p:!Person&(Movie|Person))-[r:ACTED_IN]-(:Movie|Person) RETURN r LIMIT 50",
        ),
        (
            "MATCH p = shortestPath((a:Movie)-[*]-(b:Person)) RETURN p",
            "MATCH p = shortestPath((a:Movie)-[:ACTED_IN|FOLLOWS*]-(b:Person)) RETURN p LIMIT 50",
        ),
        (
            "MATCH (a:Movie)-[:ACTED_IN*]-(b)-[:FOLLOWS*2..]->(c:Person) RETURN b",
            "MATCH (a:Movie)-[:ACTED_IN*1..1000]-(b:Movie|Person)-[:FOLLOWS*2..1000]->(c:Person) \
             RETURN b LIMIT 50",
        ),
        (
            "MATCH (p:Person) WHERE p:Person|Movie RETURN count { (p)--() } AS n",
            "MATCH (p:Person) WHERE p:Person OR p:Movie RETURN COUNT { \
             (p:Movie|Person)-[:ACTED_IN|FOLLOWS]-(:Movie|Person) } AS n LIMIT 50",
        ),
        (
            // A bar after a label would be read as another label.
            "MATCH (p:Person) RETURN [x IN [1] WHERE (p:Person) | x] AS a, \
             [(p)--(m:Movie) WHERE NOT (m:Movie) | 1] AS b",
            "MATCH (p:Person) RETURN [x IN [1] WHERE (p:Person) | x] AS a, \
             [(p:Movie|Person)-[:ACTED_IN|FOLLOWS]-(m:Movie) WHERE (NOT m:Movie) | 1] AS b LIMIT 50",
        ),
        (
            "match (p:Person where p.born > 1960) /* old */ return p.name // names",
            "MATCH (p:Person) WHERE p.born > 1960 RETURN p.name LIMIT 50",
        ),
    ] {
        assert_eq!(printed(query), expected);
    }
}

#[test]
fn rows_are_limited_whatever_the_statement_says() {
    for (query, expected) in [
        ("RETURN 1 AS x LIMIT 9", "RETURN 1 AS x LIMIT 9"),
        ("RETURN 1 AS x LIMIT 900", "RETURN 1 AS x LIMIT 50"),
        (
            "RETURN 1 AS x LIMIT $many",
            "RETURN 1 AS x LIMIT CASE WHEN $many < 50 THEN $many ELSE 50 END",
        ),
        (
            "RETURN 1 AS x LIMIT CASE WHEN $many < 900 THEN $many ELSE 900 END",
            "RETURN 1 AS x LIMIT CASE WHEN $many < 50 THEN $many ELSE 50 END",
        ),
        (
            "RETURN 1 AS x UNION RETURN 2 AS x LIMIT 3",
            "CALL { RETURN 1 AS x UNION RETURN 2 AS x LIMIT 3 } RETURN x LIMIT 50",
        ),
    ] {
        assert_eq!(printed(query), expected);
    }
}

#[test]
fn columns_keep_the_names_they_were_written_with() {
    assert_eq!(
        printed("MATCH (p:Person) RETURN p.name, COUNT( * ) ORDER BY COUNT( * )"),
        "MATCH (p:Person) RETURN p.name, count(*) AS `COUNT( * )` ORDER BY `COUNT( * )` LIMIT 50"
    );
}

#[test]
fn an_arrow_is_turned_round_where_the_schema_knows_the_other() {
    let turned = checked("MATCH (m:Movie)-[:ACTED_IN]->(p:Person) RETURN p").unwrap();
    assert_eq!(
        turned.as_str(),
        "MATCH (m:Movie)<-[:ACTED_IN]-(p:Person) RETURN p LIMIT 50"
    );
    assert_eq!(turned.notes().len(), 1);
    for kept in [
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p",
        "MATCH (a:Person)<-[:FOLLOWS]-(b:Person) RETURN b",
        "MATCH (m:Movie)-[:ACTED_IN*2]->(p) RETURN p",
        "MATCH (m:Movie)-->(p) RETURN p",
        "MATCH (m:Movie)-[:FOLLOWS]->(p:Movie) RETURN p",
    ] {
        assert_eq!(checked(kept).unwrap().notes(), [""; 0], "{kept}");
    }
}

#[test]
fn what_the_schema_lacks_is_refused_with_what_is_nearest() {
    for (query, expected) in [
        (
            "MATCH (p:Persn) RETURN p",
            "line 1, column 10: there is no label Persn; perhaps Person",
        ),
        (
            "MATCH (p:Person)\n-[:ACTED]->(m) RETURN p",
            "line 2, column 4: there is no relationship type ACTED; perhaps ACTED_IN",
        ),
        (
            "MATCH (p:Person) RETURN p.nam",
            "line 1, column 27: Person has no property nam; perhaps name",
        ),
        (
            "MATCH (p:Person {title: 'x'}) RETURN p",
            "line 1, column 18: Person has no property title; there is born, name",
        ),
        (
            "MATCH (p:Person) WITH p AS q RETURN q {.titel}",
            "line 1, column 41: Person has no property titel; there is born, name",
        ),
        (
            "MATCH ()-[r:ACTED_IN]->() RETURN r.role",
            "line 1, column 36: ACTED_IN has no property role; perhaps roles",
        ),
        (
            "RETURN tolowr('X')",
            "line 1, column 8: the function tolowr is not known here; perhaps tolower",
        ),
    ] {
        assert_eq!(refusal(query), expected);
    }
}

#[test]
fn properties_of_what_is_not_certain_are_left_alone() {
    for query in [
        "MATCH (n) RETURN n.anything",
        "MATCH (p:Person) WITH p.name AS p RETURN p.anything",
        "MATCH (p:Person) WITH {it: p} AS m RETURN m.it.anything",
        "UNWIND [{a: 1}] AS p RETURN p.a",
        "MATCH (p:Person) RETURN [p IN [{a: 1}] | p.a] AS x",
        "MATCH (p:Person) RETURN date().year, p.born",
    ] {
        checked(query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"));
    }
}

#[test]
fn only_ids_of_nodes_are_ids() {
    for (query, expected) in [
        (
            "MATCH (p:Person) RETURN elementId(p) AS id, p.name AS name",
            vec!["id"],
        ),
        (
            "MATCH (p:Person) RETURN p.name, elementId(p)",
            vec!["elementId(p)"],
        ),
        (
            "MATCH (p:Person) RETURN collect(DISTINCT elementId(p)) AS ids",
            vec!["ids"],
        ),
        (
            "MATCH (p:Person), (m:Movie) RETURN [elementId(p), elementId(m)] AS ids",
            vec!["ids"],
        ),
        (
            "MATCH (p:Person) WITH collect(p) AS ps RETURN [x IN ps | elementId(x)] AS ids",
            vec!["ids"],
        ),
        (
            "MATCH (p:Person) WITH elementId(p) AS id RETURN id",
            vec!["id"],
        ),
        (
            "MATCH (p:Person) RETURN elementId(p) AS id UNION MATCH (m:Movie) RETURN elementId(m) AS id",
            vec!["id"],
        ),
        (
            "MATCH (p:Person) RETURN elementId(p) AS id UNION RETURN '4:x:7' AS id",
            vec![],
        ),
        ("MATCH (p:Person)-[r]->() RETURN elementId(r) AS id", vec![]),
        (
            "MATCH (p:Person) RETURN '4:x:7' AS id, p.name AS elementId",
            vec![],
        ),
        (
            "WITH '4:x:7' AS p MATCH (p) RETURN elementId(p) AS id",
            vec![],
        ),
        ("UNWIND ['4:x:7'] AS p RETURN elementId(p) AS id", vec![]),
        ("MATCH (p:Person) RETURN [elementId(p), '7'] AS ids", vec![]),
        (
            "MATCH (p:Person) RETURN [p IN ['7'] | elementId(p)] AS ids",
            vec![],
        ),
        ("MATCH (p:Person) RETURN elementId(p) + '7' AS id", vec![]),
        (
            "MATCH (p:Person) CALL { WITH p WITH p.name AS p RETURN p AS q } RETURN elementId(q) AS id",
            vec![],
        ),
        (
            "MATCH ((p:Person)-[:FOLLOWS]->(q)){1,2} RETURN elementId(p) AS id",
            vec![],
        ),
        (
            "MATCH (p:Person) RETURN reduce(p = '7', x IN [1] | p) AS id",
            vec![],
        ),
    ] {
        assert_eq!(checked(query).unwrap().id_columns(), expected, "{query}");
    }
}

#[test]
fn a_column_stands_once() {
    let query = "MATCH (p:Person) RETURN elementId(p) AS id, '4:x:7' AS id";
    assert_eq!(
        refusal(query),
        "line 1, column 45: two columns are called id; give one another name with AS"
    );
}

#[test]
fn an_empty_graph_can_compute_and_nothing_else() {
    let limits = StatementLimits::of_rows(5);
    let on_nothing = |query| confine(query, &Schema::default(), &limits);
    assert_eq!(
        on_nothing("RETURN 1 AS x").unwrap().as_str(),
        "RETURN 1 AS x LIMIT 5"
    );
    assert_eq!(
        on_nothing("MATCH (n) RETURN n").unwrap_err().to_string(),
        "line 1, column 7: there is no knowledge in the graph yet; answer without the graph"
    );
}

#[test]
fn a_schema_that_names_memory_changes_nothing() {
    let text = r#"{"nodes": {"Session": [["id", "STRING"]], "Movie": []},
        "relationships": {"NEXT": [], "SEQUEL": []}, "patterns": [["Session", "CONTEXT", "Movie"]]}"#;
    let schema: Schema = serde_json::from_str(text).unwrap();
    let confined = confine(
        "MATCH (n)--() RETURN n",
        &schema,
        &StatementLimits::of_rows(5),
    )
    .unwrap();
    assert_eq!(
        confined.as_str(),
        "MATCH (n:Movie)-[:SEQUEL]-(:Movie) RETURN n LIMIT 5"
    );
    assert!(
        confine(
            "MATCH (n:Session) RETURN n",
            &schema,
            &StatementLimits::of_rows(5)
        )
        .is_err()
    );
}

#[test]
fn what_a_model_means_is_understood() {
    for (query, expected) in [
        (
            "MATCH (m:Movie) WHERE m.title NOT IN ['x'] RETURN m.title",
            "MATCH (m:Movie) WHERE NOT m.title IN ['x'] RETURN m.title LIMIT 50",
        ),
        (
            "MATCH (m:Movie) WHERE size{(m)<-[:ACTED_IN]-(:Person)} > 2 RETURN m.title",
            "MATCH (m:Movie) WHERE COUNT { (m:Movie|Person)<-[:ACTED_IN]-(:Person) } > 2 \
             RETURN m.title LIMIT 50",
        ),
        (
            "MATCH (m:Movie) WHERE 1990 <= m.released < 2000 RETURN m.title",
            "MATCH (m:Movie) WHERE 1990 <= m.released AND m.released < 2000 RETURN m.title LIMIT 50",
        ),
        (
            "MATCH (m:Movie) WHERE exists(m.title) RETURN m.title",
            "MATCH (m:Movie) WHERE m.title IS NOT NULL RETURN m.title LIMIT 50",
        ),
    ] {
        assert_eq!(printed(query), expected);
    }
}

#[test]
fn nothing_is_computed_with_a_truth_value() {
    for query in [
        "MATCH (m:Movie) RETURN -exists(m.title) AS y",
        "MATCH (m:Movie) RETURN 1 + exists(m['title']) AS y",
        "MATCH (m:Movie) RETURN -(m.title IS NOT NULL) AS y",
    ] {
        let told = refusal(query);
        assert!(told.contains("true or false"), "{query}: {told}");
    }
}

#[test]
fn what_is_endless_is_refused_at_once() {
    let nested = format!("RETURN {}1{} AS x", "(".repeat(10_000), ")".repeat(10_000));
    let negated = format!("RETURN {}true AS x", "NOT ".repeat(5_000));
    let added = format!("RETURN 1{} AS x", " + 1".repeat(20_000));
    let entangled = format!(
        "RETURN {}1{} AS x",
        "[(a {x: ".repeat(30),
        "})-1]".repeat(30)
    );
    let maps = format!("RETURN {}1{} AS x", "{a: ".repeat(100), "}".repeat(100));
    let cases = format!(
        "RETURN {}1{} AS x",
        "CASE WHEN 1 THEN ".repeat(100),
        " END".repeat(100)
    );
    let paths = format!("MATCH {} RETURN 1 AS x", "(a {x: [".repeat(40));
    for query in [nested, negated, added, entangled, maps, cases, paths] {
        let start = std::time::Instant::now();
        assert!(checked(&query).is_err(), "{query}");
        assert!(start.elapsed().as_secs() < 20, "{query}");
    }
}

#[test]
fn a_schema_of_thousands_makes_no_endless_statement() {
    let mut schema = schema();
    for number in 0..5_000 {
        schema.nodes.insert(format!("Label{number}"), Vec::new());
    }
    let limits = StatementLimits::of_rows(5);
    assert!(confine("MATCH (p:Person) RETURN p.name", &schema, &limits).is_ok());
    assert!(confine("MATCH (n) RETURN n", &schema, &limits).is_ok());
    let refusal = confine("MATCH (a)--(b)--(c) RETURN a", &schema, &limits).unwrap_err();
    assert!(
        refusal.to_string().ends_with("name the labels and types"),
        "{refusal}"
    );
}

#[test]
fn labels_are_joined_by_one_set_of_signs() {
    for (query, expected) in [
        (
            "MATCH (n:Person:Movie) RETURN n",
            "MATCH (n:Person:Movie) RETURN n LIMIT 50",
        ),
        (
            // Neo4j accepts no colons beside a bar.
            "MATCH (n:Person:Movie)-[:ACTED_IN]-() RETURN n",
            "MATCH (n:Person&Movie)-[:ACTED_IN]-(:Movie|Person) RETURN n LIMIT 50",
        ),
        (
            // The column keeps its name however the labels are printed.
            "MATCH (n) RETURN EXISTS { (:Person:Movie)-[:ACTED_IN]->(:Movie) }",
            "MATCH (n:Movie|Person) RETURN EXISTS { (:Person&Movie)-[:ACTED_IN]->(:Movie) } \
             AS `EXISTS { (:Person:Movie)-[:ACTED_IN]->(:Movie) }` LIMIT 50",
        ),
        (
            "MATCH (p:Person) WHERE exists(p['name']) RETURN p",
            "MATCH (p:Person) WHERE p['name'] IS NOT NULL RETURN p LIMIT 50",
        ),
    ] {
        assert_eq!(printed(query), expected);
        assert_eq!(printed(expected), expected);
    }
}

#[test]
fn what_models_collect_may_be_collected() {
    for query in [
        "MATCH (m:Movie)<-[:ACTED_IN]-(p) WITH m, collect(p) AS ps UNWIND ps AS q RETURN q.name, collect(m.title) AS t",
        "MATCH (p:Person) WITH collect(p.name) AS n RETURN reduce(s = '', x IN n | s + x + ', ') AS t",
        "MATCH (a:Person), (m:Movie) WHERE a.name = m.title RETURN collect(m.title) AS t",
        "MATCH (a:Person {name: 'x'}), (m:Movie) RETURN collect(m.title) AS t",
        "UNWIND range(1, 100) AS i RETURN collect(i) AS t",
        "MATCH (p:Person) RETURN COLLECT { MATCH (p)--(m:Movie) RETURN m.title } AS t",
    ] {
        checked(query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"));
    }
}

#[test]
fn what_ordinary_rows_hold_may_be_held() {
    let nodes = [("Person".to_owned(), 10_000), ("Movie".to_owned(), 10_000)].into();
    let counted = StatementLimits::of_rows(50).with_nodes(&nodes);
    for query in [
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name, p.born, m.title, m.released, 'film' AS kind",
        "MATCH (m:Movie)<-[r:ACTED_IN]-(p:Person) WITH m, collect({name: p.name, roles: r.roles}) AS cast \
         RETURN m.title, size(cast) AS many, cast[..5] AS cast ORDER BY many DESC",
        "MATCH (p:Person)-[:ACTED_IN]->(m) WITH p, collect(m.title) AS titles WHERE size(titles) > 3 \
         WITH p.name AS name, titles MATCH (m:Movie {title: name}) RETURN m, titles",
        "MATCH (m:Movie) RETURN m.title, COLLECT { MATCH (m)<--(p:Person) RETURN p.name } AS cast",
        "MATCH (m:Movie) CALL (m) { MATCH (m)<--(p:Person) RETURN collect(p.name) AS cast } RETURN m.title, cast",
        "MATCH (m:Movie) RETURN m.title, [(m)<--(p:Person) | p {.name, .born}] AS cast",
        "MATCH (p:Person) RETURN collect(p.name)[..10] AS names, count(*) AS many",
        "MATCH path = (p:Person)-[*1..3]-(m:Movie) RETURN [n IN nodes(path) | n.name] AS names",
        "MATCH (p:Person) RETURN reduce(s = 0, x IN [1, 2, 3] | s + x) AS n, [p.name, [p.born, {a: [1]}]] AS l",
        "WITH ['Ada', 'Bo', 'Cy', 'Di', 'Eva', 'Flo', 'Gus', 'Hal', 'Ida', 'Jo'] AS names \
         MATCH (p:Person)-[:ACTED_IN]->(m:Movie)<-[:ACTED_IN]-(q:Person) WHERE p.name IN names RETURN q.name, m.title",
    ] {
        for limits in [StatementLimits::of_rows(50), counted] {
            confine(query, &schema(), &limits)
                .unwrap_or_else(|refusal| panic!("{query}: {refusal}"));
        }
    }
}

#[test]
fn a_node_has_no_more_neighbours_than_there_are_nodes() {
    let query = "WITH range(1, 200) AS l MATCH (p:Person)-[:ACTED_IN]->(m:Movie) \
        MATCH (m)<-[:ACTED_IN]-(q:Person) RETURN q.name, size(l) AS many";
    for (people, is_accepted) in [(50, true), (5_000, false)] {
        let nodes = [("Person".to_owned(), people), ("Movie".to_owned(), 40)].into();
        let limits = StatementLimits::of_rows(50).with_nodes(&nodes);
        let confined = confine(query, &schema(), &limits);
        assert_eq!(confined.is_ok(), is_accepted, "{people}");
    }
    assert!(checked(query).is_err(), "nothing was counted");
}

#[test]
fn a_reduce_that_nests_little_is_accepted() {
    for query in [
        "RETURN reduce(s = [1], x IN range(1, 50) | [s]) AS x",
        "RETURN reduce(s = [], x IN range(1, 500) | s + [x, [x]]) AS x",
        "RETURN reduce(s = {a: 0}, x IN range(1, 500) | {a: s.a + x}) AS x",
        "RETURN reduce(s = [0], x IN range(1, 500) | [s[0] + x]) AS x",
    ] {
        checked(query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"));
    }
}

#[test]
fn the_more_nodes_there_are_the_less_may_be_done_with_all_of_them() {
    let query = "MATCH (p:Person) WITH collect(p.name) AS all \
        RETURN [x IN all WHERE any(y IN all WHERE y = x + 'son')] AS pairs";
    let of = |people| {
        let nodes = [("Person".to_owned(), people), ("Movie".to_owned(), 9)].into();
        let limits = StatementLimits::of_rows(50).with_nodes(&nodes);
        confine(query, &schema(), &limits).is_ok()
    };
    assert!(of(30), "a team's people");
    assert!(
        !of(100_000),
        "ten thousand million comparisons, which no time-out ends"
    );
}

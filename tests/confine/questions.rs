//! Sixty-one questions of the usual kinds about the movies, with the Cypher that a model writes for
//! them: confining must not change the results.

use std::sync::Arc;

use muninn::demo::load_movies;
use muninn::graph::confine::{StatementLimits, confine};
use muninn::graph::query::{QueryError, QueryLimits};
use muninn::graph::schema::Schema;
use muninn::graph::{GraphConfig, GraphStore, open};
use serde_json::Map;
use tokio::runtime::Runtime;

use crate::graph::TestGraph;
use crate::stores::on_neo4j;

/// A question, its Cypher, and the number of rows.
type CypherQuestion = (&'static str, &'static str, usize);

#[rustfmt::skip]
const QUESTIONS: &[CypherQuestion] = &[
    ("How many movies are there?", "MATCH (m:Movie) RETURN count(m) AS movies", 1),
    ("How many people are there?", "MATCH (p:Person) RETURN count(p) AS people", 1),
    ("Who played in The Matrix?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie {title: 'The Matrix'}) RETURN p.name", 5),
    ("What else were they in?", "MATCH (m:Movie {title: 'The Matrix'})<-[:ACTED_IN]-(p:Person)-[:ACTED_IN]->(other:Movie) RETURN p.name, collect(other.title) AS others", 4),
    ("Who directed Cloud Atlas?", "MATCH (p:Person)-[:DIRECTED]->(m:Movie) WHERE toLower(m.title) = 'cloud atlas' RETURN p.name", 3),
    ("What roles did Tom Hanks play?", "MATCH (p:Person {name: 'Tom Hanks'})-[r:ACTED_IN]->(m:Movie) RETURN m.title, r.roles", 12),
    ("Who played three roles or more in one movie?", "MATCH (p:Person)-[r:ACTED_IN]->(m:Movie) WHERE size(r.roles) >= 3 RETURN p.name, m.title", 6),
    ("Which movies came out in the nineties?", "MATCH (m:Movie) WHERE m.released >= 1990 AND m.released < 2000 RETURN m.title", 20),
    ("Which movies came out in 1999?", "MATCH (m:Movie) WHERE m.released = 1999 RETURN m.title ORDER BY m.title", 4),
    ("What is the oldest movie?", "MATCH (m:Movie) RETURN m.title ORDER BY m.released LIMIT 1", 1),
    ("Which three movies are the newest?", "MATCH (m:Movie) RETURN m.title, m.released ORDER BY m.released DESC, m.title LIMIT 3", 3),
    ("Who was born before 1940?", "MATCH (p:Person) WHERE p.born < 1940 RETURN p.name, p.born", 10),
    ("Whose birth year is unknown?", "MATCH (p:Person) WHERE p.born IS NULL RETURN p.name", 5),
    ("How many movies came out each year?", "MATCH (m:Movie) RETURN m.released AS year, count(*) AS movies ORDER BY year", 18),
    ("Who acted in most movies?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name, count(m) AS movies ORDER BY movies DESC, p.name LIMIT 1", 1),
    ("Who acted in at least five movies?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) WITH p, count(m) AS movies WHERE movies >= 5 RETURN p.name, movies", 5),
    ("Who directed more than one movie?", "MATCH (p:Person)-[:DIRECTED]->(m:Movie) WITH p, count(m) AS movies WHERE movies > 1 RETURN p.name, movies", 8),
    ("Who acted in and directed the same movie?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie)<-[:DIRECTED]-(p) RETURN p.name, m.title", 3),
    ("Who only directed and never acted?", "MATCH (p:Person)-[:DIRECTED]->(:Movie) WHERE NOT (p)-[:ACTED_IN]->(:Movie) RETURN DISTINCT p.name", 25),
    ("Who both wrote and produced?", "MATCH (p:Person) WHERE (p)-[:WROTE]->(:Movie) AND (p)-[:PRODUCED]->(:Movie) RETURN p.name", 5),
    ("Who played with Keanu Reeves?", "MATCH (:Person {name: 'Keanu Reeves'})-[:ACTED_IN]->()<-[:ACTED_IN]-(other) RETURN DISTINCT other.name", 14),
    ("With whom did those play who played with Keanu Reeves, but not with him?", "MATCH (k:Person {name: 'Keanu Reeves'})-[:ACTED_IN]->()<-[:ACTED_IN]-(c)-[:ACTED_IN]->()<-[:ACTED_IN]-(cc) WHERE NOT (k)-[:ACTED_IN]->()<-[:ACTED_IN]-(cc) AND k <> cc RETURN DISTINCT cc.name", 27),
    ("Did Tom Hanks and Meg Ryan play together?", "MATCH (:Person {name: 'Tom Hanks'})-[:ACTED_IN]->(m)<-[:ACTED_IN]-(:Person {name: 'Meg Ryan'}) RETURN m.title", 3),
    ("Who are the directors Tom Hanks worked with?", "MATCH (:Person {name: 'Tom Hanks'})-[:ACTED_IN]->(m:Movie)<-[:DIRECTED]-(d:Person) RETURN DISTINCT d.name", 11),
    ("How far is Kevin Bacon from Meg Ryan?", "MATCH path = shortestPath((a:Person {name: 'Kevin Bacon'})-[*]-(b:Person {name: 'Meg Ryan'})) RETURN length(path) AS hops", 1),
    ("Who is within four steps of Kevin Bacon?", "MATCH (:Person {name: 'Kevin Bacon'})-[*1..4]-(other) RETURN count(DISTINCT other) AS many", 1),
    ("What is Top Gun connected to?", "MATCH (m:Movie {title: 'Top Gun'})-[r]-(n) RETURN type(r), n.name", 8),
    ("How many kinds of things are there?", "MATCH (n) RETURN labels(n) AS labels, count(*) AS many", 2),
    ("How are people and movies connected?", "MATCH (p:Person)-[r]->(m:Movie) RETURN type(r) AS kind, count(*) AS many ORDER BY many DESC", 5),
    ("Who follows whom?", "MATCH (a:Person)-[:FOLLOWS]->(b:Person) RETURN a.name, b.name", 3),
    ("Whom does James Thompson follow, directly or not?", "MATCH (:Person {name: 'James Thompson'})-[:FOLLOWS*]->(b) RETURN b.name", 1),
    ("Which movies were reviewed?", "MATCH (:Person)-[:REVIEWED]->(m:Movie) RETURN DISTINCT m.title", 6),
    ("What did Jessica Thompson think of Cloud Atlas?", "MATCH (:Person {name: 'Jessica Thompson'})-[r:REVIEWED]->(m:Movie {title: 'Cloud Atlas'}) RETURN r.summary, r.rating", 1),
    ("What is the average rating of each reviewed movie?", "MATCH (:Person)-[r:REVIEWED]->(m:Movie) RETURN m.title, avg(r.rating) AS rating ORDER BY rating DESC", 6),
    ("Which review is the best?", "MATCH (p:Person)-[r:REVIEWED]->(m:Movie) RETURN p.name, m.title, r.rating ORDER BY r.rating DESC LIMIT 1", 1),
    ("Which reviews are below 60?", "MATCH (p:Person)-[r:REVIEWED]->(m:Movie) WHERE r.rating < 60 RETURN p.name, m.title, r.summary", 1),
    ("Which movies have no review?", "MATCH (m:Movie) WHERE NOT EXISTS { (:Person)-[:REVIEWED]->(m) } RETURN count(m) AS many", 1),
    ("Which movies have no writer?", "MATCH (m:Movie) WHERE NOT (m)<-[:WROTE]-() RETURN m.title", 32),
    ("Which movies have more than one director?", "MATCH (m:Movie) WHERE COUNT { (m)<-[:DIRECTED]-() } > 1 RETURN m.title", 5),
    ("How large is the cast of each movie?", "MATCH (m:Movie) RETURN m.title, COUNT { (m)<-[:ACTED_IN]-(:Person) } AS cast ORDER BY cast DESC, m.title", 40),
    ("Which movie has the largest cast?", "MATCH (m:Movie)<-[:ACTED_IN]-(p) WITH m, count(p) AS cast ORDER BY cast DESC LIMIT 1 RETURN m.title, cast", 1),
    ("Which titles begin with The?", "MATCH (m:Movie) WHERE m.title STARTS WITH 'The ' RETURN m.title", 9),
    ("Which titles hold a number?", "MATCH (m:Movie) WHERE m.title =~ '.*[0-9].*' RETURN m.title", 1),
    ("Which taglines speak of love?", "MATCH (m:Movie) WHERE toLower(m.tagline) CONTAINS 'love' RETURN m.title, m.tagline", 4),
    ("Which movies have no tagline?", "MATCH (m:Movie) WHERE m.tagline IS NULL RETURN m.title", 1),
    ("How old was the cast of A Few Good Men?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie {title: 'A Few Good Men'}) RETURN p.name, m.released - p.born AS age ORDER BY age", 12),
    ("Who was youngest when acting?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) WHERE p.born IS NOT NULL RETURN p.name, m.title, m.released - p.born AS age ORDER BY age, p.name LIMIT 1", 1),
    ("What is the average age of a cast?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) WITH m, avg(m.released - p.born) AS age RETURN m.title, round(age) AS age", 40),
    ("Which decade had most movies?", "MATCH (m:Movie) RETURN (m.released / 10) * 10 AS decade, count(*) AS many ORDER BY many DESC, decade LIMIT 1", 1),
    ("Who acted in more than one decade?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) WITH p, collect(DISTINCT m.released / 10) AS decades WHERE size(decades) > 1 RETURN p.name, size(decades) AS many", 23),
    ("Who acts or directs, by name?", "MATCH (p:Person)-[:ACTED_IN]->(:Movie) RETURN p.name AS name UNION MATCH (p:Person)-[:DIRECTED]->(:Movie) RETURN p.name AS name", 131),
    ("Which movies did Nora Ephron write or direct?", "MATCH (p:Person {name: 'Nora Ephron'})-[:WROTE|DIRECTED]->(m:Movie) RETURN DISTINCT m.title", 3),
    ("What did Hugo Weaving and Keanu Reeves not do together?", "MATCH (h:Person {name: 'Hugo Weaving'})-[:ACTED_IN]->(m:Movie) WHERE NOT EXISTS { MATCH (:Person {name: 'Keanu Reeves'})-[:ACTED_IN]->(m) } RETURN m.title", 2),
    ("Is there a movie Speed?", "MATCH (m:Movie {title: 'Speed'}) RETURN count(m) > 0 AS there", 1),
    ("Which actors are on each movie of 2003, in one row?", "MATCH (m:Movie {released: 2003}) RETURN m.title, [(m)<-[:ACTED_IN]-(p) | p.name] AS cast", 3),
    ("Who was in a movie of each of the Wachowskis?", "MATCH (w:Person)-[:DIRECTED]->(m:Movie)<-[:ACTED_IN]-(p:Person) WHERE w.name ENDS WITH 'Wachowski' RETURN p.name, count(DISTINCT w) AS directors ORDER BY p.name", 15),
    ("Which actor pairs appear together most?", "MATCH (a:Person)-[:ACTED_IN]->(m:Movie)<-[:ACTED_IN]-(b:Person) WHERE a.name < b.name RETURN a.name, b.name, count(m) AS movies ORDER BY movies DESC, a.name, b.name LIMIT 5", 5),
    ("Where can I read about each movie's people, with roles in words?", "MATCH (p:Person)-[r]->(m:Movie {title: 'Hoffa'}) RETURN p.name, CASE type(r) WHEN 'ACTED_IN' THEN 'actor' WHEN 'DIRECTED' THEN 'director' ELSE 'crew' END AS part", 5),
    ("What movies and people are the sources for Apollo 13?", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie {title: 'Apollo 13'}) RETURN elementId(m) AS movieId, p.name, elementId(p) AS personId", 5),
    ("Who has the same birth year as Tom Cruise?", "MATCH (t:Person {name: 'Tom Cruise'}), (p:Person) WHERE p.born = t.born AND p <> t RETURN p.name", 5),
    ("Which years had no movie between 1990 and 2000?", "UNWIND range(1990, 2000) AS year OPTIONAL MATCH (m:Movie {released: year}) WITH year, count(m) AS many WHERE many = 0 RETURN year", 2),
];

/// Of the above, those that the embedded engine does not support: errors that go back to the model.
const GAPS: &[&str] = &[];

const LIMITS: QueryLimits = QueryLimits {
    rows: 1_000,
    bytes: 1_000_000,
    time: std::time::Duration::from_secs(60),
};

fn confined(query: &str, schema: &Schema) -> muninn::graph::confine::ConfinedCypher {
    confine(query, schema, &StatementLimits::of_rows(1_000))
        .unwrap_or_else(|refusal| panic!("{query}: {refusal}"))
}

async fn movies(config: &GraphConfig) -> Arc<GraphStore> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = open(config).await.unwrap();
    load_movies(&store).await.unwrap();
    store
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn confined_questions_give_the_same_rows_on_neo4j() {
    on_neo4j(|bare| {
        let runtime = Runtime::new().unwrap();
        let graph = TestGraph::of_environment();
        let config = GraphConfig {
            user: graph.user,
            password: graph.password.into(),
            ..GraphConfig::at(graph.url)
        };
        let store = runtime.block_on(movies(&config));
        let survey = runtime.block_on(store.schema()).unwrap();
        // Unconfined, a statement also sees the schema's version.
        bare.write("MATCH (n:MuninnSchema) DELETE n");
        let mut others = Vec::new();
        for (question, query, rows) in QUESTIONS {
            let sorted = |query: &str| {
                let mut rows = bare
                    .read(query)
                    .unwrap_or_else(|error| panic!("{question} {query}: {error}"));
                rows.sort();
                rows
            };
            let confined = confined(query, &survey.schema);
            let found = sorted(confined.as_str());
            assert_eq!(found, sorted(query), "{question}");
            others.extend((found.len() != *rows).then_some((question, found.len())));
        }
        assert!(others.is_empty(), "{others:#?}");
    });
}

#[tokio::test]
async fn confined_questions_give_as_many_rows_on_the_embedded_graph() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("embedded:{}", folder.path().display());
    let store = movies(&GraphConfig::at(&url)).await;
    let survey = store.schema().await.unwrap();
    let (mut gaps, mut others) = (Vec::new(), Vec::new());
    for (question, query, rows) in QUESTIONS {
        let confined = confined(query, &survey.schema);
        match store.query(&confined, Map::new(), LIMITS).await {
            Ok(found) => {
                let found = found.rows.len();
                others.extend((found != *rows).then_some((question, found)));
            }
            Err(QueryError::Repairable { .. }) => gaps.push(*question),
            Err(error) => panic!("{question}: {error}"),
        }
    }
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(gaps, GAPS);
    store.close().await.unwrap();
}

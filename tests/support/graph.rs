//! A Neo4j for tests.

use muninn::graph::MEMORY_LABELS;

/// The Neo4j of the environment.
#[derive(Debug)]
pub struct TestGraph {
    pub url: String,
    pub user: String,
    pub password: String,
}

impl TestGraph {
    /// # Panics
    /// Panics when there is none. Tests that need one are ignored by default.
    pub fn of_environment() -> Self {
        let url = variable("NEO4J_TEST_URI")
            .expect("NEO4J_TEST_URI is set; tests/servers/neo4j/neo4j-up starts a Neo4j");
        Self {
            url,
            user: variable("NEO4J_TEST_USER").unwrap_or_default(),
            password: variable("NEO4J_TEST_PASSWORD").unwrap_or_default(),
        }
    }

    fn open(&self) -> neo4rs::Graph {
        neo4rs::Graph::new(&self.url, &self.user, &self.password).unwrap()
    }

    pub async fn run(&self, statement: &str) {
        self.open().run(neo4rs::query(statement)).await.unwrap();
    }

    /// Returns the column `text` of the first row.
    pub async fn text(&self, statement: &str) -> String {
        let mut rows = self.open().execute(neo4rs::query(statement)).await.unwrap();
        let row = rows.next().await.unwrap().expect("a row");
        row.get("text").unwrap()
    }

    /// Returns the properties that contain a text, of nodes whose ids contain `place`, in lower
    /// case.
    pub async fn texts_with(&self, place: &str, text: &str) -> Vec<String> {
        let statement = neo4rs::query(
            "MATCH (n) WHERE any(id IN [n.audience, n.id, n.session, n.event] WHERE id CONTAINS $place) \
             UNWIND keys(n) AS key \
             WITH toLower(labels(n)[0] + ' ' + key + ': ' + coalesce(toStringOrNull(n[key]), '')) AS found \
             WHERE found CONTAINS $text RETURN found AS text",
        );
        let statement = statement.param("place", place).param("text", text);
        let mut rows = self.open().execute(statement).await.unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().await.unwrap() {
            found.push(row.get("text").unwrap());
        }
        found
    }

    /// Removes knowledge of an earlier test program: a bot with knowledge sends its model other
    /// requests.
    pub async fn forget_knowledge(&self) {
        let labels = MEMORY_LABELS.join("|");
        let knowledge = format!("MATCH (n) WHERE NOT n:({labels}) DETACH DELETE n");
        self.run(&knowledge).await;
        // Only sources that everybody sees; those of single channels disturb nobody.
        self.run("MATCH (s:MuninnSource) WHERE size(coalesce(s.channels, [])) = 0 DETACH DELETE s")
            .await;
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

//! Statements of an import.

/// Before the graph is emptied: nothing of the file is imported yet.
pub(crate) const BEGIN: &str = "\
    MERGE (m:MuninnSchema {id: 'schema'}) \
    SET m.importing = true, m.importFile = $file, m.importDone = null RETURN m.id AS id";

pub(crate) const ADVANCE: &str = "\
    MATCH (m:MuninnSchema {id: 'schema'}) SET m.importDone = $done RETURN count(m) AS times";

pub(crate) const FINISH: &str = "\
    MATCH (m:MuninnSchema {id: 'schema'}) \
    SET m.importing = false, m.importFile = null, m.importDone = null RETURN m.id AS id";

/// Removes a batch of nodes: one transaction over a large graph would not fit into memory.
pub(crate) const WIPE: &str = "\
    MATCH (n) WHERE NOT n:MuninnSchema AND NOT n:MuninnClaim AND NOT n:MuninnProcess AND NOT n:Pending \
    WITH n LIMIT 2000 DETACH DELETE n RETURN count(*) AS times";

/// Nodes are found by their number in the file until the import is done.
pub(crate) const CONSTRAINT: &str = "\
    CREATE CONSTRAINT muninn_import_number IF NOT EXISTS \
    FOR (n:MuninnImported) REQUIRE n.muninnImport IS UNIQUE";

pub(crate) const DROP_CONSTRAINT: &str = "DROP CONSTRAINT muninn_import_number IF EXISTS";

/// Removes the numbers from a batch of nodes.
pub(crate) const UNNUMBER: &str = "\
    MATCH (n:MuninnImported) WITH n LIMIT 5000 \
    REMOVE n:MuninnImported, n.muninnImport RETURN count(n) AS times";

/// Removes a batch of turns that belong to no conversation: they were forgotten while a server was exported, after the nodes were
/// read and before the relationships were. The nodes of their conversations were read before, too: the title may be the forgotten
/// question, and the summary tell it.
#[rustfmt::skip]
pub(crate) const DROP_UNCHAINED: &str = concat!(
    "MATCH (r:Response) WHERE r.audience IS NOT NULL AND NOT (r)<-[:HAS_RESPONSE]-() ",
    "WITH r LIMIT 1000 ",
    "OPTIONAL MATCH (s:Session {id: r.session}) ",
    "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(a:Response) WHERE ",
    is_answer!("a"),
    " WITH r, s, min(a.position) AS first ",
    "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(b:Response {position: first}) ",
    "WITH r, s, b ",
    "FOREACH (_ IN CASE WHEN s IS NULL THEN [] ELSE [1] END | ",
    "SET s.title = null, s.summary = null, s.summarizedThrough = null) ",
    "FOREACH (_ IN CASE WHEN b IS NULL THEN [] ELSE [1] END | ",
    "SET s.title = left(split(b.input, $fileNote)[0], 60)) ",
    "DETACH DELETE r ",
    "RETURN count(*) AS times"
);

/// Creates nodes with these labels.
pub(crate) fn nodes(labels: &str) -> String {
    format!(
        "UNWIND $rows AS row CREATE (n{labels}:MuninnImported) \
         SET n = row.properties, n.muninnImport = row.number RETURN count(n) AS times"
    )
}

/// Creates relationships of this type.
pub(crate) fn relationships(kind: &str) -> String {
    format!(
        "UNWIND $rows AS row \
         MATCH (a:MuninnImported {{muninnImport: row.from}}) \
         MATCH (b:MuninnImported {{muninnImport: row.to}}) \
         CREATE (a)-[r:{kind}]->(b) SET r = row.properties RETURN count(r) AS times"
    )
}

/// Creates nodes with these labels, which are found by their element IDs until the import is done.
/// The ID is set first: the embedded engine's log knows a node by the first ID that it gets. If
/// there is none it is null, which creates no property.
pub(crate) fn create_nodes(labels: &str) -> String {
    format!(
        "UNWIND $rows AS row CREATE (n{labels} {{id: row.properties.id}}) SET n += row.properties \
         RETURN row.place AS place, elementId(n) AS id"
    )
}

/// Creates relationships of this type between them.
pub(crate) fn create_relationships(kind: &str) -> String {
    format!(
        "UNWIND $rows AS row \
         MATCH (a) WHERE elementId(a) = row.from MATCH (b) WHERE elementId(b) = row.to \
         CREATE (a)-[r:{kind}]->(b) SET r += row.properties RETURN count(r) AS made"
    )
}

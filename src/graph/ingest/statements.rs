//! The statements of ingesting. They mean the same on both engines, with one exception: where a node's labels cannot be
//! replaced, a staged node is copied instead.

/// Takes the lease, or returns no row. Its node is locked before it is read. A holder on the same machine has died, because
/// the caller holds that machine's lock.
pub(super) const CLAIM: &str = "\
    MERGE (s:MuninnSource {id: $source}) SET s.touchedAt = $now WITH s \
    WHERE s.holder IS NULL OR s.heldUntil < $now OR s.holder STARTS WITH $machine \
    SET s.holder = $holder, s.heldUntil = $until \
    RETURN coalesce(s.version, 0) AS version";

pub(super) const HOLDER: &str = "\
    MATCH (s:MuninnSource {id: $source}) RETURN s.holder AS holder";

pub(super) const RENEW: &str = "\
    MATCH (s:MuninnSource {id: $source}) WHERE s.holder = $holder \
    SET s.heldUntil = $until RETURN count(s) AS times";

pub(super) const RELEASE: &str = "\
    MATCH (s:MuninnSource {id: $source}) WHERE s.holder = $holder \
    SET s.holder = null, s.heldUntil = null RETURN count(s) AS times";

/// First chunks of records after a key.
pub(super) fn records(label: &str) -> String {
    format!(
        "MATCH (n:{label}) WHERE n.recordKey > $after AND n.source = $source AND n.chunkSeqId = 0 \
         RETURN n.recordKey AS key, n.contentHash AS hash, n.embedder AS embedder \
         ORDER BY n.recordKey LIMIT $limit"
    )
}

/// Renews the lease; fails for a process that has lost it. The ID is set first: the embedded engine's log knows a node by
/// the first ID that it gets.
pub(super) const STAGE: &str = "\
    MATCH (s:MuninnSource {id: $source}) WHERE s.holder = $holder \
    SET s.heldUntil = $until \
    WITH s UNWIND $rows AS row \
    CREATE (n:MuninnStaged {id: row.id}) SET n += row \
    RETURN count(n) AS times";

pub(super) fn remove_records(label: &str) -> String {
    format!(
        "UNWIND $keys AS key MATCH (n:{label} {{recordKey: key}}) DETACH DELETE n \
         RETURN count(*) AS times"
    )
}

/// Marks the chunks of records that the exchange removes. Readers do not see the mark.
pub(super) fn mark_leaving(label: &str) -> String {
    format!(
        "UNWIND $keys AS key MATCH (n:{label} {{recordKey: key}}) SET n.leavingWith = $exchange \
         RETURN count(n) AS times"
    )
}

/// The chunks that an exchange marked, and all of a source. They are found by one scan of a label: in a transaction that
/// has changed many nodes, a lookup by key becomes slower with their number.
pub(super) const MARKED: &str = "n.source = $source AND n.leavingWith = $exchange";
pub(super) const OF_SOURCE: &str = "n.source = $source";

/// Removes chunks, where that costs no more than a change of labels.
pub(super) fn remove_served(label: &str, which: &str) -> String {
    format!("MATCH (n:{label}) WHERE {which} DETACH DELETE n RETURN count(*) AS times")
}

/// The labels of chunks.
pub(super) fn labels(label: &str, which: &str) -> String {
    format!("MATCH (n:{label}) WHERE {which} UNWIND labels(n) AS label RETURN DISTINCT label")
}

/// Removes the links from answers to the chunks that are going to be removed.
pub(super) fn untie(label: &str, which: &str) -> String {
    format!("MATCH (n:{label})<-[old:CONTEXT]-() WHERE {which} DELETE old RETURN count(*) AS times")
}

/// Stops serving chunks by removing all their `labels`. Removing 50,000 chunks in the same transaction takes Neo4j more
/// than 10 KB each; this takes 1.7 KB.
pub(super) fn retire(label: &str, labels: &str, which: &str) -> String {
    format!(
        "MATCH (n:{label}) WHERE {which} SET n:MuninnRetired REMOVE n{labels} \
         RETURN count(n) AS times"
    )
}

/// Removes some of the chunks that are not served any more, of any source.
pub(super) const REMOVE_RETIRED: &str = "\
    MATCH (n:MuninnRetired) WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS times";

/// Relinks the answers that were made from removed chunks to their replacements: the chunk with the same text, or under the
/// same heading, or at the same position, or else the first chunk of the record.
pub(super) fn carry_context(label: &str) -> String {
    format!(
        "MATCH (n:{label})<-[old:CONTEXT]-(r:Response) \
         WHERE n.source = $source AND n.leavingWith = $exchange \
         WITH n, r, old, n.recordKey AS key \
         MATCH (s:MuninnStaged {{recordKey: key}}) \
         WITH r, n, s, old.changedAt AS before, CASE WHEN s.text = n.text THEN 0 \
         WHEN s.heading = n.heading AND s.chunkSeqId = n.chunkSeqId THEN 1 \
         WHEN s.heading = n.heading THEN 2 \
         WHEN s.chunkSeqId = n.chunkSeqId THEN 3 ELSE 4 END AS distance \
         ORDER BY distance, s.chunkSeqId \
         WITH r, n, before, head(collect(s)) AS next, min(distance) AS distance \
         MERGE (r)-[c:CONTEXT]->(next) \
         SET c.changedAt = CASE WHEN distance = 0 THEN before ELSE datetime() END \
         RETURN count(c) AS times"
    )
}

/// The same from staged chunks to their served copies.
pub(super) fn carry_context_to_copies(labels: &str) -> String {
    format!(
        "MATCH (s:MuninnStaged)<-[old:CONTEXT]-(r:Response) \
         WHERE s.source = $source AND s.stagedAs = $kind \
         MATCH (n{labels} {{chunkId: s.chunkId}}) \
         MERGE (r)-[c:CONTEXT]->(n) SET c.changedAt = old.changedAt \
         RETURN count(c) AS times"
    )
}

pub(super) const STAGED_KINDS: &str = "\
    MATCH (n:MuninnStaged) WHERE n.source = $source RETURN DISTINCT n.stagedAs AS kind";

/// Gives staged chunks of a kind the labels under which they are served. Nothing else is changed: a transaction that also
/// changes two properties takes a quarter more memory and twice the time to commit.
pub(super) fn serve_relabelled(labels: &str) -> String {
    format!(
        "MATCH (n:MuninnStaged) WHERE n.source = $source AND n.stagedAs = $kind \
         SET n{labels} REMOVE n:MuninnStaged RETURN count(n) AS times"
    )
}

/// Makes a served copy of each staged chunk of a kind. The engine that needs it shows a node's first label as its `type`,
/// which would be copied as well.
pub(super) fn serve_copied(labels: &str) -> String {
    format!(
        "MATCH (s:MuninnStaged) WHERE s.source = $source AND s.stagedAs = $kind \
         CREATE (n{labels} {{id: s.id}}) SET n += properties(s) \
         SET n.type = null \
         RETURN count(n) AS times"
    )
}

pub(super) const REMOVE_STAGED: &str = "\
    MATCH (n:MuninnStaged) WHERE n.source = $source DETACH DELETE n RETURN count(*) AS times";

/// Relationships among staged chunks that an earlier try created.
pub(super) const UNLINK_STAGED: &str = "\
    MATCH (a:MuninnStaged)-[r]->(:MuninnStaged) WHERE a.source = $source WITH r LIMIT $most DELETE r \
    RETURN count(*) AS times";

pub(super) fn unlink(label: &str, kind: &str) -> String {
    format!(
        "UNWIND $rows AS row MATCH (a)-[old:{kind}]->(b:{label} {{chunkId: row.to}}) DELETE old \
         RETURN count(*) AS times"
    )
}

pub(super) fn link(label: &str, kind: &str) -> String {
    format!(
        "UNWIND $rows AS row \
         MATCH (a:{label} {{chunkId: row.from}}) MATCH (b:{label} {{chunkId: row.to}}) \
         CREATE (a)-[r:{kind}]->(b) RETURN count(r) AS times"
    )
}

pub(super) const COMPLETE: &str = "\
    MATCH (s:MuninnSource {id: $source}) \
    SET s.version = $version, s.since = datetime($since), s.kind = $kind, \
    s.embedder = $embedder, s.mapping = $mapping, s.propertyOrder = $propertyOrder, \
    s.paths = $paths, s.channels = $channels, s.records = $records, s.rejected = $rejected, s.circles = $circles, s.chunks = 0, \
    s.holder = null, s.heldUntil = null \
    RETURN count(s) AS times";

/// Counts the chunks that are served under a label and stores the number in their source. Readers compare it, because Neo4j
/// shows what a transaction wrote to nodes a moment before its indexes show it.
pub(super) fn complete_count(label: &str) -> String {
    format!(
        "MATCH (n:{label}) WHERE n.source = $source AND n.chunkId IS NOT NULL \
         WITH count(n) AS chunks \
         MATCH (s:MuninnSource {{id: $source}}) SET s.chunks = s.chunks + chunks \
         RETURN count(s) AS times"
    )
}

pub(super) const SOURCES: &str = "\
    MATCH (s:MuninnSource) \
    RETURN s.id AS name, coalesce(s.version, 0) AS version, s.since AS since, s.kind AS kind, \
    s.embedder AS embedder, s.mapping AS mapping, s.propertyOrder AS propertyOrder, s.paths AS paths, s.channels AS channels, \
    s.chunks AS chunks, coalesce(s.records, 0) AS records, coalesce(s.rejected, 0) AS rejected, \
    coalesce(s.circles, 0) AS circles, \
    CASE WHEN s.heldUntil > $now THEN s.holder ELSE null END AS holder \
    ORDER BY name";

pub(super) fn count_chunks(label: &str) -> String {
    format!(
        "MATCH (n:{label}) WHERE n.source IS NOT NULL \
         RETURN n.source AS source, count(n) AS chunks, count(n.embedding) AS vectors"
    )
}

pub(super) fn served(label: &str) -> String {
    format!(
        "MATCH (n:{label}) WHERE n.source = $source AND n.chunkId IS NOT NULL \
         OPTIONAL MATCH (above:{label})-[:Includes]->(n) \
         RETURN n.chunkId AS chunk, n.recordKey AS record, n.chunkSeqId AS sequence, \
         n.source AS source, n.sourceVersion AS version, labels(n) AS labels, n.title AS title, \
         n.heading AS heading, n.link AS link, n.text AS text, n.embedding AS embedding, \
         n.embedder AS embedder, n.kind AS kind, above.chunkId AS parent, \
         n.tags AS tags, n.date AS date"
    )
}

/// Keeps the name of a removed source in the answers that were made from it, as no chunk of it remains.
pub(super) fn remember_removed(label: &str) -> String {
    format!(
        "MATCH (n:{label})<-[:CONTEXT]-(r:Response) WHERE n.source = $source \
         WITH DISTINCT r WHERE NOT $source IN coalesce(r.removedSources, []) \
         SET r.removedSources = coalesce(r.removedSources, []) + [$source] \
         RETURN count(r) AS times"
    )
}

/// The IDs of chunks and records begin with the name of the source.
pub(super) fn rename_chunks(label: &str) -> String {
    format!(
        "MATCH (n:{label}) WHERE n.source = $source \
         SET n.chunkId = $name + substring(n.chunkId, size($source)), \
         n.recordKey = $name + substring(n.recordKey, size($source)), n.source = $name \
         RETURN count(n) AS times"
    )
}

/// The embedded engine's log knows a node by the ID with which it was created, so the node is replaced.
pub(super) const RENAME_SOURCE: &str = "\
    MATCH (s:MuninnSource {id: $source}) WHERE s.holder = $holder \
    CREATE (t:MuninnSource {id: $name}) \
    SET t.version = s.version, t.since = s.since, t.kind = s.kind, t.embedder = s.embedder, \
    t.mapping = s.mapping, t.propertyOrder = s.propertyOrder, t.paths = s.paths, \
    t.channels = s.channels, t.records = s.records, t.rejected = s.rejected, \
    t.circles = s.circles, t.chunks = s.chunks \
    RETURN count(t) AS times";

pub(super) const REMOVE_SOURCE: &str = "\
    MATCH (s:MuninnSource {id: $source}) DETACH DELETE s RETURN count(*) AS times";

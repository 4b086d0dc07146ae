//! Statements that save many turns in one transaction: one for all sessions, one for all channels,
//! one for all turns and so on. Their order is the one in which [`super::APPEND`] takes its locks.

/// Those of some events that already have a turn.
pub(crate) const KNOWN_EVENTS: &str = "\
    UNWIND $events AS event \
    MATCH (r:Response {eventId: event}) \
    RETURN r.eventId AS event, r.source AS source";

/// The sessions of the turns, and their locks.
pub(crate) const SESSIONS: &str = "\
    UNWIND $rows AS row \
    MERGE (s:Session {id: row.session}) \
    ON CREATE SET s.createdAt = datetime(row.createdAt), s.title = row.title \
    SET s.updatedAt = datetime(row.createdAt), s.lastAt = datetime(row.createdAt) \
    WITH s, row \
    SET s.title = coalesce(s.title, row.title)";

/// The channels of the turns. Each is locked by writing one of its properties before its counter is
/// read, which is then set to the position of the last turn.
pub(crate) const CHANNELS: &str = "\
    UNWIND $rows AS row \
    MERGE (c:Channel {id: row.audience}) \
    ON CREATE SET c.position = 0, c.epoch = 0 \
    SET c.platform = row.platform, c.workspace = row.workspace, c.name = row.channelName, c.privateTo = row.privateTo \
    WITH c, row \
    SET c.position = coalesce(c.position, 0) + row.turns";

pub(crate) const MEMBERS: &str = "\
    UNWIND $rows AS row \
    MATCH (s:Session {id: row.session}) \
    MATCH (c:Channel {id: row.audience}) \
    MERGE (s)-[:IN]->(c)";

/// The turns, each at an offset before the last position of its channel. A heard message has no label of
/// its own: a team's knowledge may have the same one, and whoever asks for that would be given it.
pub(crate) const TURNS: &str = "\
    UNWIND $rows AS row \
    MATCH (s:Session {id: row.session}) \
    MATCH (c:Channel {id: row.audience}) \
    CREATE (r:Response {id: row.id, session: row.session, audience: row.audience, \
    position: c.position - row.behind, createdAt: datetime(row.createdAt), source: row.source, \
    input: row.input, output: row.output, eventId: row.eventId, author: row.author, \
    authorName: row.authorName, volatile: row.volatile, promptTokens: row.promptTokens, \
    completionTokens: row.completionTokens, durationMs: row.durationMs}) \
    SET r.rephrasedQuestion = row.rephrasedQuestion, r.cypher = row.cypher, r.model = row.model, \
    r.embedding = row.embedding, r.embedder = row.embedder, r.trace = row.trace, r.link = row.link, \
    r.delivered = row.delivered, r.revisedAt = datetime(row.revisedAt), r.attached = row.attached, r.replyTo = row.replyTo, r.trust = row.trust, \
    r.cachedTokens = row.cachedTokens, r.costMicros = row.costMicros \
    CREATE (s)-[:HAS_RESPONSE]->(r)";

/// Links turns that follow one another within the transaction.
pub(crate) const NEXT: &str = "\
    UNWIND $rows AS row \
    MATCH (a:Response {id: row.from}) \
    MATCH (b:Response {id: row.to}) \
    CREATE (a)-[:NEXT]->(b)";

/// Continues the chains where they ended.
pub(crate) const ENDS: &str = "\
    UNWIND $rows AS row \
    MATCH (s:Session {id: row.session}) \
    MATCH (first:Response {id: row.first}) \
    MATCH (final:Response {id: row.last}) \
    OPTIONAL MATCH (s)-[pointer:LAST_RESPONSE]->(last) \
    WITH s, first, final, collect(pointer) AS pointers, collect(last) AS lasts \
    FOREACH (old IN pointers | DELETE old) \
    FOREACH (old IN lasts | CREATE (old)-[:NEXT]->(first)) \
    CREATE (s)-[:LAST_RESPONSE]->(final)";

pub(crate) const RECALLED: &str = "\
    UNWIND $rows AS row \
    MATCH (r:Response {id: row.turn}) \
    MATCH (m:Response {id: row.id}) WHERE m.audience IN row.audiences \
    CREATE (r)-[:RECALLED {score: row.score}]->(m)";

/// See [`super::APPEND_LINKED`].
pub(crate) const CONTEXT: &str = "\
    UNWIND $rows AS row \
    MATCH (r:Response {id: row.turn}) \
    OPTIONAL MATCH (k) WHERE elementId(k) = row.source \
    FOREACH (found IN CASE WHEN k IS NULL OR any(label IN labels(k) WHERE label IN $memory) \
    THEN [] ELSE [k] END | MERGE (r)-[:CONTEXT]->(found))";

//! Every statement of the store. They mean the same on both engines.
//!
//! Their form follows from the engines. The embedded engine has no `CALL {}` that writes and no slice of a `collect`, and reads a
//! history from the last response backwards. On Neo4j whatever is read before a write must be read under a lock, so a writing
//! statement first writes a property of the session node.

/// A turn as a map, without its vector.
macro_rules! turn {
    ($r:literal) => {
        concat!("{", turn_fields!($r), "}")
    };
}

/// A turn as a map, with its vector.
macro_rules! turn_with_embedding {
    ($r:literal) => {
        concat!(
            "{",
            turn_fields!($r),
            ", embedding: ",
            $r,
            ".embedding, embedder: ",
            $r,
            ".embedder}"
        )
    };
}

/// A turn as a map, with the text of its files.
macro_rules! turn_with_files {
    ($r:literal) => {
        concat!("{", turn_fields!($r), ", attached: ", $r, ".attached}")
    };
}

#[rustfmt::skip]
/// The properties of a turn, for a map.
macro_rules! turn_fields {
    ($r:literal) => {
        concat!(
            "id: ", $r, ".id, session: ", $r, ".session, position: ", $r, ".position, ",
            "createdAt: ", $r, ".createdAt, source: ", $r, ".source, input: ", $r, ".input, ",
            "rephrasedQuestion: ", $r, ".rephrasedQuestion, output: ", $r, ".output, ",
            "cypher: ", $r, ".cypher, eventId: ", $r, ".eventId, author: ", $r, ".author, ",
            "authorName: ", $r, ".authorName, volatile: ", $r, ".volatile, model: ", $r, ".model, ",
            "promptTokens: ", $r, ".promptTokens, completionTokens: ", $r, ".completionTokens, ",
            "durationMs: ", $r, ".durationMs, link: ", $r, ".link, delivered: ", $r, ".delivered, ",
            "revisedAt: ", $r, ".revisedAt, replyTo: ", $r, ".replyTo, trust: ", $r, ".trust"
        )
    };
}

/// Finds the answers that show what a turn says: from memory, which quotes it, or from a model that was given it in a listing,
/// as which it scored 1. With a score of 0 it only has words from there. Ends with a condition, which may go on with "AND".
#[rustfmt::skip]
macro_rules! shown_by {
    ($turn:literal) => {
        concat!(
            "OPTIONAL MATCH ", $turn, "<-[shown:RECALLED]-(q:Response) ",
            "WHERE shown.score > 0.0 AND (q.source = 'memory' OR shown.score >= 1.0) "
        )
    };
}

/// Finds the conversation of an answer that shows a turn. By its id, as there is usually no such answer, and the embedded engine
/// follows a relationship of nothing through the whole graph.
macro_rules! of_quote {
    () => {
        "OPTIONAL MATCH (o:Session {id: q.session}) "
    };
}

/// Distinguishes an answered response from heard messages and notes.
#[rustfmt::skip]
macro_rules! is_answer {
    ($r:literal) => {
        concat!(
            "coalesce(", $r, ".source, 'model') <> 'message' AND coalesce(", $r, ".source, 'model') <> 'note'"
        )
    };
}

/// The longest possible window. Cypher allows no parameter as the length of a path.
pub(crate) const MAX_WINDOW: usize = 64;

/// Maximum number of an audience's positions examined per statement.
pub(crate) const NEWS_LIMIT: i64 = 1_024;

/// Maximum number of a chain's turns read per statement.
pub(crate) const CHAIN_STEP: usize = 128;

/// Everything that a turn reads before it begins. It always returns one row, whether or not anything exists yet. Positions are
/// looked up individually because both engines have an index for that, and neither keeps the order of two properties; usually
/// there is nothing new.
macro_rules! begin_turn {
    ($hops:literal) => {
        concat!(
            "OPTIONAL MATCH (s:Session {id: $session}) ",
            "OPTIONAL MATCH (s)-[:LAST_RESPONSE]->(last) ",
            "OPTIONAL MATCH path = (last)<-[:NEXT*0..", $hops, "]-(t) WHERE length(path) < $window ",
            "WITH s, collect(CASE WHEN t IS NULL THEN null ELSE ",
            turn_with_files!("t"),
            " END) AS window ",
            "OPTIONAL MATCH (d:Response {eventId: $event}) ",
            "WITH s, window, CASE WHEN d IS NULL THEN null ELSE ",
            turn!("d"),
            " END AS duplicate ",
            "OPTIONAL MATCH (f:MuninnForgotten {id: $event}) ",
            "WITH s, window, duplicate, f IS NOT NULL AS isForgotten ",
            "OPTIONAL MATCH (c:Channel {id: $audience}) ",
            "WITH s.summary AS summary, s.summarizedThrough AS summarizedThrough, s.summaryTrust AS summaryTrust, window, duplicate, isForgotten, ",
            "coalesce(c.epoch, 0) AS epoch, coalesce(c.position, 0) AS last ",
            "UNWIND CASE WHEN last > $seen THEN range($seen + 1, CASE WHEN last > $until THEN $until ELSE last END) ",
            "ELSE [null] END AS position ",
            "OPTIONAL MATCH (n:Response {audience: $audience, position: position}) ",
            "RETURN summary, summarizedThrough, summaryTrust, window, duplicate, isForgotten, epoch, last, ",
            "collect(CASE WHEN n IS NULL THEN null ELSE ",
            turn_with_embedding!("n"),
            " END) AS news"
        )
    };
}

/// The longest window read with few hops: both engines follow all hops given, whatever the window is.
const FEW_TURNS: usize = 16;

/// The statement that reads everything for a turn with this window.
pub(crate) const fn begin_turn(window: usize) -> &'static str {
    if window <= FEW_TURNS {
        begin_turn!("15")
    } else {
        begin_turn!("63")
    }
}

/// Only the last turns of a session.
pub(crate) const WINDOW: &str = concat!(
    "OPTIONAL MATCH (s:Session {id: $session})-[:LAST_RESPONSE]->(last) ",
    "OPTIONAL MATCH path = (last)<-[:NEXT*0..63]-(t) WHERE length(path) < $window ",
    "RETURN collect(CASE WHEN t IS NULL THEN null ELSE ",
    turn_with_files!("t"),
    " END) AS window"
);

/// A range of an audience's turns, one row per turn, so that one can be read while the next is sent; always at least one row.
pub(crate) const TURNS_SINCE: &str = concat!(
    "OPTIONAL MATCH (c:Channel {id: $audience}) ",
    "WITH coalesce(c.epoch, 0) AS epoch, coalesce(c.position, 0) AS last ",
    "UNWIND CASE WHEN last > $seen THEN range($seen + 1, CASE WHEN last > $until THEN $until ELSE last END) ",
    "ELSE [null] END AS position ",
    "OPTIONAL MATCH (n:Response {audience: $audience, position: position}) ",
    "RETURN epoch, last, CASE WHEN n IS NULL THEN null ELSE ",
    turn!("n"),
    " END AS turn, n.embedding AS embedding, n.embedder AS embedder"
);

/// The epoch of an audience and its last position; always one row.
pub(crate) const COUNTERS: &str = "\
    OPTIONAL MATCH (c:Channel {id: $audience}) \
    RETURN coalesce(c.epoch, 0) AS epoch, coalesce(c.position, 0) AS last";

/// The turns of a range of an audience that satisfy a condition, without volatile ones.
macro_rules! stretch_where {
    ($holds:literal) => {
        concat!(
            "OPTIONAL MATCH (c:Channel {id: $audience}) ",
            "WITH coalesce(c.epoch, 0) AS epoch, coalesce(c.position, 0) AS last ",
            "UNWIND CASE WHEN last > $seen THEN range($seen + 1, CASE WHEN last > $until THEN $until ELSE last END) ",
            "ELSE [null] END AS position ",
            "OPTIONAL MATCH (n:Response {audience: $audience, position: position}) ",
            "RETURN epoch, last, ",
            "collect(CASE WHEN n IS NULL THEN null ",
            "WHEN ",
            $holds,
            " AND coalesce(n.volatile, false) = false THEN ",
            turn!("n"),
            " ELSE null END) AS news"
        )
    };
}

/// The turns of a range whose vector is missing or from another embedder, including those that [`crate::graph::Turn::can_be_recalled`]
/// excludes later. An embedder that can embed nothing of a text still leaves its name, so that it is not asked again.
pub(crate) const STALE_EMBEDDINGS: &str = stretch_where!("coalesce(n.embedder, '') <> $embedder");

/// The same for turns without a vector, except those found to have nothing to embed.
pub(crate) const MISSING_EMBEDDINGS: &str = stretch_where!("coalesce(n.embedder, '') = ''");

/// For each audience the number of turns with a vector of each embedder, perhaps of those that satisfy a condition, with an empty name for those
/// without one; and the inputs that memory alone answered, for [`crate::retrieval::speech::states_something`] to judge.
macro_rules! embedders_where {
    ($($holds:literal)?) => {
        concat!(
            "MATCH (r:Response) WHERE ",
            $($holds, " AND ",)?
            "coalesce(r.volatile, false) = false \
             RETURN r.audience AS audience, coalesce(r.embedder, '') AS embedder, \
             count(CASE WHEN coalesce(r.source, 'model') = 'memory' THEN null ELSE 1 END) AS turns, \
             collect(CASE WHEN coalesce(r.source, 'model') = 'memory' THEN r.input ELSE null END) AS told"
        )
    };
}

pub(crate) const EMBEDDERS: &str = embedders_where!();
pub(crate) const WITHOUT_EMBEDDER: &str = embedders_where!("coalesce(r.embedder, '') = ''");
pub(crate) const OF_EMBEDDER: &str = embedders_where!("r.embedder = $embedder");

/// The first embedder after a name, in their order. With an index this reads one turn, where all distinct names would read each.
pub(crate) const NEXT_EMBEDDER: &str = "\
    MATCH (r:Response) WHERE r.embedder > $after \
    RETURN r.embedder AS embedder ORDER BY r.embedder LIMIT 1";

/// Replaces vectors, and ends the audience's epoch. The channel is locked by writing one of its properties before its epoch is
/// read. A turn that was forgotten meanwhile is not found, nor is one whose text is another by now.
pub(crate) const SET_EMBEDDINGS: &str = "\
    MATCH (c:Channel {id: $audience}) \
    SET c.updatedAt = datetime() \
    WITH c \
    SET c.epoch = coalesce(c.epoch, 0) + 1 \
    WITH c \
    UNWIND $rows AS row \
    MATCH (r:Response {id: row.id, audience: $audience}) \
    WHERE coalesce(r.input, '') = row.input AND coalesce(r.output, '') = row.output \
    SET r.embedding = row.embedding, r.embedder = $embedder \
    RETURN count(r) AS turns";

/// Links a turn to earlier ones that it replaces.
pub(crate) const SUPERSEDE: &str = "\
    UNWIND $rows AS row \
    MATCH (r:Response {id: $id, audience: $audience}) \
    MATCH (o:Response {id: row.id, audience: $audience}) WHERE o.position < r.position \
    MERGE (r)-[link:SUPERSEDES]->(o) SET link.at = r.createdAt, link.how = row.how \
    RETURN count(o) AS links";

pub(crate) const SUPERSEDED: &str = "\
    MATCH (r:Response {audience: $audience})-[link:SUPERSEDES]->(o:Response {audience: $audience}) \
    RETURN r.id AS later, o.id AS earlier, link.at AS at, link.how AS how";

/// Optional properties of a turn. A regenerated answer costs again.
macro_rules! set_optional {
    () => {
        "SET r.rephrasedQuestion = $rephrasedQuestion, r.cypher = $cypher, r.model = $model, \
         r.embedding = $embedding, r.embedder = $embedder, r.trace = $trace, r.link = $link, \
         r.delivered = $delivered, r.revisedAt = datetime($revisedAt), r.attached = $attached, \
         r.replyTo = $replyTo, r.trust = $trust, r.cachedTokens = $cachedTokens, r.costMicros = coalesce(r.costMicros, 0) + $costMicros "
    };
}

/// Counts the marks that cover a question by its time, as "covering"; keeps these variables. Of a question in the millisecond of a
/// mark it is unknown which came first, and it is answered; the mark of a conversation includes its millisecond.
macro_rules! count_covering {
    ($($kept:literal)?) => {
        concat!(
            "UNWIND $marks AS mark ",
            "OPTIONAL MATCH (whole:MuninnForgotten {id: mark}) ",
            "WITH ", $($kept, ", ",)?
            "count(CASE WHEN whole.until > $askedAt THEN 1 ELSE null END) AS covering "
        )
    };
}

/// The first part of saving a turn. An event that already has a turn leaves nothing behind, not even a session, and so does a
/// question that was forgotten while it was answered. Then the session is locked; a process that waited for the lock checks
/// again whether its event has a turn, and gets no row if so. The channel is locked by writing one of its properties before
/// its counter is read.
macro_rules! append {
    ($tail:expr) => {
        concat!(
            count_covering!(),
            "WITH covering WHERE covering = 0 ",
            "OPTIONAL MATCH (early:Response {eventId: $eventId}) ",
            "WITH early WHERE early IS NULL ",
            "MERGE (s:Session {id: $session}) ",
            "ON CREATE SET s.createdAt = datetime($createdAt), s.title = $title ",
            "SET s.updatedAt = datetime($createdAt), s.lastAt = datetime($createdAt) ",
            "WITH s ",
            "OPTIONAL MATCH (d:Response {eventId: $eventId}) ",
            "WITH s, d WHERE d IS NULL ",
            "MERGE (c:Channel {id: $audience}) ",
            "ON CREATE SET c.position = 0, c.epoch = 0 ",
            "SET c.platform = $platform, c.workspace = $workspace, c.name = $channelName, c.privateTo = $privateTo ",
            "WITH s, c, coalesce(c.position, 0) + 1 AS position ",
            "SET c.position = position ",
            "MERGE (s)-[:IN]->(c) ",
            "CREATE (r:Response {id: $id, session: $session, audience: $audience, position: position, ",
            "createdAt: datetime($createdAt), source: $source, input: $input, output: $output, ",
            "eventId: $eventId, author: $author, authorName: $authorName, volatile: $volatile, ",
            "promptTokens: $promptTokens, completionTokens: $completionTokens, durationMs: $durationMs}) ",
            set_optional!(),
            "SET s.title = coalesce(s.title, $title) ",
            "CREATE (s)-[:HAS_RESPONSE]->(r) ",
            "WITH s, r, position ",
            "OPTIONAL MATCH (s)-[pointer:LAST_RESPONSE]->(last) ",
            "WITH s, r, position, collect(pointer) AS pointers, collect(last) AS lasts ",
            "FOREACH (old IN pointers | DELETE old) ",
            "FOREACH (old IN lasts | CREATE (old)-[:NEXT]->(r)) ",
            "CREATE (s)-[:LAST_RESPONSE]->(r) ",
            $tail
        )
    };
}

/// Saves a turn without any links.
pub(crate) const APPEND: &str = append!("RETURN position");

macro_rules! link_recalled {
    () => {
        "WITH r, position \
        UNWIND CASE WHEN size($recalled) = 0 THEN [null] ELSE $recalled END AS memory \
        OPTIONAL MATCH (m:Response {id: memory.id}) WHERE m.audience IN $recalls \
        FOREACH (found IN CASE WHEN m IS NULL THEN [] ELSE [m] END | \
        CREATE (r)-[:RECALLED {score: memory.score}]->(found)) \
        RETURN position, count(m) AS memories"
    };
}

/// Saves a turn with the memories that it was given.
pub(crate) const APPEND_RECALLED: &str = append!(link_recalled!());

/// The embedded engine searches all nodes for an element ID that is null or in a list, so there is one per row. Nothing of memory
/// is ever linked, whoever names it ([`crate::graph::MEMORY_LABELS`]). Nodes with a label of memory are excluded only after they were
/// found, or all nodes would be searched again.
macro_rules! link_sources {
    () => {
        concat!(
            "WITH r, position ",
            "UNWIND $context AS source ",
            "OPTIONAL MATCH (k) WHERE elementId(k) = source ",
            "FOREACH (found IN CASE WHEN k IS NULL OR k:Channel OR k:MuninnAccount OR k:MuninnClaim OR k:MuninnForgotten OR k:MuninnHeld OR k:MuninnImported OR k:MuninnPerson OR k:MuninnProcess OR k:MuninnRetired OR k:MuninnSchema OR k:MuninnSource OR k:MuninnStaged OR k:MuninnToken OR k:Pending OR k:Response OR k:Session ",
            "THEN [] ELSE [k] END | MERGE (r)-[:CONTEXT]->(found)) ",
            "WITH r, position, count(k) AS sources ",
            link_recalled!()
        )
    };
}

/// Saves a turn with the nodes from which it was made, at least one, and its memories.
pub(crate) const APPEND_LINKED: &str = append!(link_sources!());

pub(crate) const TURN_BY_EVENT: &str = concat!(
    "MATCH (r:Response {eventId: $event}) RETURN ",
    turn!("r"),
    " AS turn"
);

/// The first turns of a session.
pub(crate) const CHAIN_FIRST: &str = concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(first) WHERE NOT (first)<-[:NEXT]-() ",
    "MATCH path = (first)-[:NEXT*0..127]->(t) WHERE length(path) < $limit ",
    "RETURN length(path) AS step, ",
    turn!("t"),
    " AS turn"
);

/// The last turn of each of some sessions.
pub(crate) const CHAIN_ENDS: &str = "\
    UNWIND $sessions AS id MATCH (s:Session {id: id})-[:LAST_RESPONSE]->(r:Response) \
    RETURN s.id AS session, r.id AS id";

/// The turns of a session up to one of them. If that is gone: those with lower IDs, which begin with their time.
pub(crate) const TURNS_UNTIL: &str = "\
    MATCH (s:Session {id: $session}) \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(last:Response {id: $last}) \
    WITH s, coalesce(last.position, -1) AS through \
    MATCH (s)-[:HAS_RESPONSE]->(r:Response) \
    WHERE r.position <= through OR (through < 0 AND r.id < $last) \
    RETURN r.id AS id ORDER BY r.position";

/// The answers of a session after a position, without the heard messages between them.
pub(crate) const ANSWERS_AFTER: &str = concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(r:Response) WHERE ",
    is_answer!("r"),
    " OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(after:Response {id: $after}) ",
    "WITH r, coalesce(after.position, 0) AS through WHERE r.position > through ",
    "RETURN ",
    turn!("r"),
    " AS turn ORDER BY r.position LIMIT $limit"
);

/// The turns after a given one.
pub(crate) const CHAIN_AFTER: &str = concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(after:Response {id: $after}) ",
    "MATCH path = (after)-[:NEXT*1..128]->(t) WHERE length(path) <= $limit ",
    "RETURN length(path) AS step, ",
    turn!("t"),
    " AS turn"
);

/// Replaces a summary under the session's lock, unless another process was faster or something was forgotten.
pub(crate) const SAVE_SUMMARY: &str = "\
    MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(through:Response {id: $through}) \
    SET s.updatedAt = datetime() \
    WITH s \
    OPTIONAL MATCH (s)-[:IN]->(c:Channel) \
    WITH s, max(coalesce(c.epoch, 0)) AS epoch \
    WHERE coalesce(s.summarizedThrough, '') = $previous AND coalesce(epoch, 0) = $epoch \
    SET s.summary = $text, s.summarizedThrough = $through, s.summaryTrust = $trust \
    RETURN s.id AS session";

macro_rules! explain {
    ($head:expr) => {
        concat!(
            $head,
            "OPTIONAL MATCH (r)-[recalled:RECALLED]->(m:Response) ",
            "OPTIONAL MATCH (place:Channel {id: m.audience}) ",
            "WITH r, collect(CASE WHEN m IS NULL THEN null ELSE {score: recalled.score, ",
            "place: place.name, turn: ",
            turn!("m"),
            "} END) AS memories ",
            "OPTIONAL MATCH (r)-[source:CONTEXT]->(k) ",
            "WITH r, memories, collect(CASE WHEN k IS NULL THEN null ELSE ",
            "{labels: labels(k), properties: properties(k), ",
            "hasChanged: source.changedAt IS NOT NULL} END) AS sources ",
            "RETURN ",
            turn!("r"),
            " AS turn, r.trace AS trace, r.feedback AS feedback, memories, sources, ",
            "coalesce(r.removedSources, []) AS removed"
        )
    };
}

pub(crate) const EXPLAIN_LAST: &str = explain!(concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(r:Response) WHERE ",
    is_answer!("r"),
    " WITH r ORDER BY r.position DESC LIMIT 1 "
));

pub(crate) const EXPLAIN_ONE: &str =
    explain!("MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(r:Response {id: $response}) ");

/// Empties the answers in `quotes`, which quote what is forgotten, and the summaries that may contain it.
macro_rules! blot_out {
    () => {
        "FOREACH (q IN quotes | SET q.output = $blot, q.trace = null, q.embedding = null, q.embedder = null) \
         FOREACH (o IN quoting | SET o.summary = null, o.summarizedThrough = null) "
    };
}

/// Closes the chain of session `s` over response `r`, which is about to be deleted; binds its channel as `c`.
#[rustfmt::skip]
macro_rules! close_chain {
    () => {
        concat!(
            "OPTIONAL MATCH (before)-[:NEXT]->(r) ",
            "OPTIONAL MATCH (r)-[:NEXT]->(after) ",
            "OPTIONAL MATCH (s)-[pointer:LAST_RESPONSE]->(r) ",
            "OPTIONAL MATCH (s)-[:IN]->(c:Channel) ",
            "FOREACH (_ IN CASE WHEN before IS NULL OR after IS NULL THEN [] ELSE [1] END | ",
            "CREATE (before)-[:NEXT]->(after)) ",
            "FOREACH (_ IN CASE WHEN pointer IS NULL OR before IS NULL THEN [] ELSE [1] END | ",
            "CREATE (s)-[:LAST_RESPONSE]->(before)) "
        )
    };
}

/// Removes a turn from its chain, if it fits a condition, and sets something else of session `s`.
#[rustfmt::skip]
macro_rules! take_out {
    ($condition:literal, $set:literal) => {
        concat!(
            "MATCH (s:Session {id: $session}) ",
            "SET s.updatedAt = datetime() ",
            "WITH s ",
            "MATCH (s)-[:HAS_RESPONSE]->(r:Response {id: $id}) ", $condition,
            shown_by!("(r)"),
            of_quote!(),
            "WITH s, r, collect(DISTINCT q) AS quotes, collect(DISTINCT o) AS quoting ",
            blot_out!(),
            "WITH s, r ",
            close_chain!(),
            "FOREACH (_ IN CASE WHEN c IS NULL THEN [] ELSE [1] END | SET c.epoch = coalesce(c.epoch, 0) + 1) ",
            $set,
            "DETACH DELETE r ",
            "RETURN 1 AS times"
        )
    };
}

/// Removes one turn from its chain. The title is the first question without the notes about files, so it is removed with it.
#[rustfmt::skip]
pub(crate) const FORGET_TURN: &str = concat!(
    "MATCH (s:Session {id: $session}) ",
    "SET s.updatedAt = datetime() ",
    "WITH s ",
    "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(a:Response) WHERE a.id <> $id AND ",
    is_answer!("a"),
    " WITH s, a ORDER BY a.position LIMIT 1 ",
    "MATCH (s)-[:HAS_RESPONSE]->(r:Response {id: $id}) ",
    "WITH s, r, a ",
    shown_by!("(r)"),
    of_quote!(),
    "WITH s, r, a, collect(DISTINCT q) AS quotes, collect(DISTINCT o) AS quoting ",
    blot_out!(),
    "WITH s, r, a ",
    close_chain!(),
    "FOREACH (_ IN CASE WHEN a IS NULL THEN [1] ELSE [] END | SET s.title = null) ",
    "FOREACH (_ IN CASE WHEN a IS NOT NULL AND a.position > r.position THEN [1] ELSE [] END | ",
    "SET s.title = left(split(a.input, $fileNote)[0], 60)) ",
    "FOREACH (_ IN CASE WHEN c IS NULL THEN [] ELSE [1] END | SET c.epoch = coalesce(c.epoch, 0) + 1) ",
    "SET s.summary = null, s.summarizedThrough = null ",
    "DETACH DELETE r ",
    "RETURN 1 AS turns, 1 AS times"
);

/// Removes one of several turns from its chain. The title is left to [`forgetting::RETITLE`].
pub(crate) const TAKE_OUT: &str =
    take_out!("", "SET s.summary = null, s.summarizedThrough = null ");

/// Removes a session and its turns; the channel keeps its counters. A session for which people set the attention stays, empty.
#[rustfmt::skip]
pub(crate) const FORGET_SESSION: &str = concat!(
    "MATCH (s:Session {id: $session}) ",
    "SET s.updatedAt = datetime(), s.title = null, s.summary = null, s.summarizedThrough = null ",
    "WITH s ",
    "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r:Response) ",
    "WITH s, collect(DISTINCT r) AS turns ",
    shown_by!("(s)-[:HAS_RESPONSE]->(:Response)"),
    "AND q.session <> $session ",
    of_quote!(),
    "WITH s, turns, collect(DISTINCT q) AS quotes, collect(DISTINCT o) AS quoting ",
    blot_out!(),
    "WITH s, turns, size(turns) AS turnCount, coalesce(s.attention, 'open') AS attention ",
    "OPTIONAL MATCH (s)-[:IN]->(c:Channel) ",
    "FOREACH (_ IN CASE WHEN c IS NULL THEN [] ELSE [1] END | SET c.epoch = coalesce(c.epoch, 0) + 1) ",
    "FOREACH (r IN turns | DETACH DELETE r) ",
    "FOREACH (gone IN CASE WHEN attention = 'open' THEN [s] ELSE [] END | DETACH DELETE gone) ",
    "RETURN turnCount AS turns"
);

/// The mark of a forgotten turn: its event, so that the platform's copy is not read again.
pub(crate) const MARK_TURN: &str = "\
    MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(r:Response {id: $id}) \
    WITH r.eventId AS event \
    MERGE (f:MuninnForgotten {id: event}) SET f.session = $session, f.deletedAt = null RETURN f.id AS id";

/// The mark of a forgotten session: until when, in milliseconds.
pub(crate) const MARK_SESSION: &str = "\
    MERGE (f:MuninnForgotten {id: $session}) SET f.session = $session, \
    f.until = CASE WHEN coalesce(f.until, -1) > $until THEN f.until ELSE $until END \
    RETURN f.id AS id";

/// Marks the events of turns that are to be forgotten, or that were never in the graph: a message that is sent again looks like a
/// new one.
pub(crate) const MARK_EVENTS: &str = "\
    UNWIND $events AS row \
    MERGE (f:MuninnForgotten {id: row.event}) SET f.session = row.session, f.deletedAt = null RETURN count(f) AS marks";

pub(crate) const MARKS: &str =
    "MATCH (f:MuninnForgotten {session: $session}) RETURN f.id AS id, f.until AS until";

pub(crate) const SESSIONS: &str = concat!(
    "MATCH (s:Session) \
    OPTIONAL MATCH (s)-[:IN]->(c:Channel) \
    OPTIONAL MATCH (s)-[:LAST_RESPONSE]->(last) \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r) WHERE ",
    is_answer!("r"),
    " RETURN s.id AS id, s.title AS title, s.createdAt AS createdAt, c.id AS audience, \
    last.createdAt AS lastAt, count(DISTINCT r) AS turns"
);

pub(crate) const CHAIN_SHAPE: &str = "\
    OPTIONAL MATCH (s:Session {id: $session}) \
    OPTIONAL MATCH (s)-[pointer:LAST_RESPONSE]->() \
    WITH s, count(pointer) AS pointers \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r) \
    WITH s, pointers, count(r) AS turns \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(:Response)-[link:NEXT]->(:Response) \
    RETURN pointers, turns, count(link) AS links";

pub(crate) const COUNTS: &str = "\
    OPTIONAL MATCH (s:Session) WITH count(s) AS sessions \
    OPTIONAL MATCH (r:Response) RETURN sessions, count(r) AS turns";

pub(crate) const CONSTRAINT_NAMES: &str = "SHOW CONSTRAINTS YIELD name RETURN name";

pub(crate) const INDEX_NAMES: &str = "SHOW INDEXES YIELD name RETURN name";

pub(crate) const SCHEMA: &str = "\
    OPTIONAL MATCH (m:MuninnSchema {id: 'schema'}) \
    RETURN m.version AS version, m.importing AS importing, m.importFile AS importFile, \
    m.importDone AS importDone";

pub(crate) const SET_SCHEMA: &str = "\
    MERGE (m:MuninnSchema {id: 'schema'}) SET m.version = $version RETURN m.version AS version";

/// All nodes except the schema's and those about running processes.
/// Removes the label that earlier versions gave heard messages: a query for knowledge with the same label would reach them.
/// In batches, as one transaction over all of them might not fit into memory.
pub(crate) const DROP_MESSAGE_LABELS: &str = "\
    MATCH (r:Response:Message) WITH r LIMIT 5000 REMOVE r:Message RETURN count(*) AS times";

/// Removes what others had said in a conversation before the bot joined it, which version 1 kept with its first answer:
/// whoever deleted such a message or had it forgotten was not heard. It is the last entry, and no text before it contains
/// its beginning, because quotation marks in texts are escaped.
pub(crate) const CLEAR_PRIOR_MESSAGES: &str = r#"
    MATCH (r:Response)
    WHERE r.attached CONTAINS '{"name":"What was said here before you came","text":"'
    AND NOT r.attached ENDS WITH '"text":""}]'
    WITH r LIMIT 1000
    SET r.attached = split(r.attached, '{"name":"What was said here before you came","text":"')[0]
    + '{"name":"What was said here before you came","text":""}]'
    RETURN count(r) AS times"#;

pub(crate) const ALL_NODES: &str = "\
    MATCH (n) WHERE NOT n:MuninnSchema AND NOT n:MuninnClaim AND NOT n:MuninnProcess AND NOT n:MuninnToken AND NOT n:Pending \
    RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties";

pub(crate) const ALL_RELATIONSHIPS: &str = "\
    MATCH (a)-[r]->(b) \
    RETURN type(r) AS type, elementId(a) AS from, elementId(b) AS to, properties(r) AS properties";

pub(crate) const COUNT_NODES: &str = "MATCH (n) WHERE NOT n:MuninnSchema AND NOT n:MuninnClaim AND NOT n:MuninnProcess AND NOT n:MuninnToken AND NOT n:Pending RETURN count(n) AS nodes";

pub(crate) const COUNT_RELATIONSHIPS: &str = "MATCH ()-[r]->() RETURN count(r) AS relationships";

pub(crate) mod accounts;
pub(crate) mod answers;
pub(crate) mod appending;
pub(crate) mod attention;
pub(crate) mod browsing;
pub(crate) mod claims;
pub(crate) mod forgetting;
pub(crate) mod hearing;
pub(crate) mod import;
pub(crate) mod items;
pub(crate) mod messages;
pub(crate) mod pending;
pub(crate) mod spending;
pub(crate) mod tokens;

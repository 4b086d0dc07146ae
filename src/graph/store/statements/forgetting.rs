//! Statements about what is to be forgotten, and the marks that remain.

macro_rules! said {
    ($r:literal) => {
        concat!(
            $r,
            ".id AS id, ",
            $r,
            ".session AS session, ",
            $r,
            ".position AS position, ",
            $r,
            ".author AS author, ",
            $r,
            ".input AS input, ",
            $r,
            ".attached AS attached, ",
            $r,
            ".output AS output"
        )
    };
}

/// What people said in some turns, and the answers.
pub(crate) const SAID: &str = concat!(
    "UNWIND $ids AS id MATCH (r:Response {id: id}) RETURN ",
    said!("r")
);

macro_rules! answer {
    ($a:literal) => {
        concat!(
            $a,
            ".id AS id, ",
            $a,
            ".session AS session, ",
            $a,
            ".audience AS audience, ",
            $a,
            ".position AS position, ",
            $a,
            ".input AS input, ",
            $a,
            ".rephrasedQuestion AS rephrasedQuestion, ",
            $a,
            ".revisedAt IS NOT NULL AS isRevised, ",
            $a,
            ".trace AS trace, ",
            $a,
            ".cypher AS cypher, ",
            $a,
            ".output AS output"
        )
    };
}

/// The answers that were given some turns.
#[rustfmt::skip]
pub(crate) const GIVEN: &str = concat!(
    "UNWIND $ids AS id MATCH (r:Response {id: id})<-[:RECALLED]-(a:Response) ",
    "WITH a, collect(r.id) AS given RETURN ",
    answer!("a"),
    ", given"
);

/// The answers of a conversation after a position.
#[rustfmt::skip]
pub(crate) const AFTER: &str = concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(a:Response) WHERE a.position > $from AND ",
    is_answer!("a"),
    " WITH a ORDER BY a.position LIMIT $most RETURN ",
    answer!("a")
);

/// What some turns were given.
pub(crate) const ORIGINS: &str = concat!(
    "UNWIND $ids AS id MATCH (r:Response {id: id})-[:RECALLED]->(a:Response) RETURN r.id AS of, ",
    said!("a")
);

/// The turns of a conversation before a position, the last ones first.
pub(crate) const BEFORE: &str = concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(a:Response) WHERE a.position < $before ",
    "WITH a ORDER BY a.position DESC LIMIT $most RETURN ",
    said!("a")
);

/// Links answers to turns that they were not given themselves.
pub(crate) const LINK_ORIGINS: &str = "\
    UNWIND $links AS link MATCH (r:Response {id: link.from}) MATCH (m:Response {id: link.to}) \
    MERGE (r)-[memory:RECALLED]->(m) SET memory.score = coalesce(memory.score, 0.0) \
    RETURN count(memory) AS times";

/// What people other than these authors said in an audience with the letters of some words, perhaps within longer ones, by
/// ascending IDs.
pub(crate) const SAID_BY_OTHERS: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.id > $after AND NOT r.author IN $authors \
    WITH r, toLower(r.input) AS said WHERE any(word IN $words WHERE said CONTAINS word) \
    RETURN r.id AS id, r.input AS input ORDER BY r.id LIMIT $most";

/// Empties answers that repeat what is to be forgotten, and the summaries that may contain it. Answers with another text
/// by now are skipped; the lock is taken before that is checked.
pub(crate) const EMPTY: &str = "\
    UNWIND $answers AS answer \
    MATCH (s:Session)-[:HAS_RESPONSE]->(r:Response {id: answer.id}) \
    SET r.id = r.id WITH s, r, answer WHERE r.output = answer.output OR r.output = $blot \
    OPTIONAL MATCH (c:Channel {id: r.audience}) \
    SET r.output = $blot, r.trace = null, r.embedding = null, r.embedder = null, \
    r.rephrasedQuestion = null, r.cypher = null, s.summary = null, s.summarizedThrough = null \
    FOREACH (_ IN CASE WHEN c IS NULL THEN [] ELSE [1] END | SET c.epoch = coalesce(c.epoch, 0) + 1) \
    RETURN r.id AS id";

/// Removes how some answers came to be, which contains what is to be forgotten. The answers do not.
pub(crate) const CLEAR_TRACES: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) SET r.trace = null, r.cypher = null";

/// The turns of a conversation, in order.
pub(crate) const TURNS_OF: &str = "\
    MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(r:Response) \
    RETURN r.id AS id, r.createdAt AS createdAt, r.eventId AS event ORDER BY r.position";

/// Those of some turns that are still there.
pub(crate) const AMONG: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    RETURN r.id AS id, r.session AS session, r.audience AS audience, r.eventId AS event, \
    coalesce(r.source, 'model') AS source ORDER BY r.position LIMIT $most";

/// The delivered messages of some turns, and the listings that show them.
pub(crate) const SPOKEN: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    RETURN r.id AS id, r.session AS session, r.delivered AS delivered, r.quotedIn AS quotedIn, r.output = $blot AS isEmpty, \
    r.eventId AS event, r.createdAt AS createdAt, coalesce(r.source, 'model') AS source";

/// The answers that show what some turns say.
#[rustfmt::skip]
pub(crate) const QUOTING: &str = concat!(
    "UNWIND $ids AS id MATCH (r:Response {id: id}) ",
    shown_by!("(r)"),
    "WITH q WHERE q IS NOT NULL RETURN DISTINCT q.id AS id"
);

/// What a person said until a moment, by descending IDs.
pub(crate) const OF_PERSON: &str = "\
    MATCH (r:Response {author: $author}) WHERE r.createdAt <= datetime($until) AND r.id < $before \
    RETURN r.id AS id, r.session AS session, r.audience AS audience, r.eventId AS event, \
    coalesce(r.source, 'model') AS source ORDER BY r.id DESC LIMIT $most";

/// When the newest of a person's turns was kept, by the clock of the process that kept it.
pub(crate) const NEWEST_OF: &str = "\
    MATCH (r:Response {author: $author}) WITH r.createdAt AS createdAt \
    ORDER BY createdAt DESC LIMIT 1 RETURN createdAt";

/// What was said in an audience before a moment.
pub(crate) const OLD: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.createdAt < datetime($old) \
    RETURN r.id AS id, r.session AS session, r.audience AS audience, r.eventId AS event, \
    coalesce(r.source, 'model') AS source ORDER BY r.position LIMIT $most";

/// Marks that everything up to a moment is forgotten which a person said, or which was said in a place.
pub(crate) const MARK_COVERED: &str = "\
    MERGE (f:MuninnForgotten {id: $id}) \
    SET f.until = CASE WHEN coalesce(f.until, -1) > $until THEN f.until ELSE $until END RETURN f.id AS id";

/// Marks a message that was deleted on its platform. If nothing else marks it, the mark ends: nobody can read the message there
/// any more.
pub(crate) const MARK_DELETED: &str = "\
    MERGE (f:MuninnForgotten {id: $event}) \
    ON CREATE SET f.deletedAt = $now \
    SET f.session = $session RETURN f.id AS id";

/// The marks of messages that were deleted until a moment, without those whose turn is still there, which they hide.
macro_rules! old_deletions {
    ($tail:literal) => {
        concat!(
            "MATCH (f:MuninnForgotten) WHERE f.deletedAt <= $before ",
            "OPTIONAL MATCH (r:Response {eventId: f.id}) ",
            "WITH f, r WHERE r IS NULL ",
            $tail
        )
    };
}

pub(crate) const OLD_DELETIONS: &str = old_deletions!("RETURN f.id AS event LIMIT 1");

pub(crate) const SWEEP_DELETIONS: &str =
    old_deletions!("WITH f LIMIT 1000 DELETE f RETURN count(*) AS times");

/// Until when the messages of some people are forgotten.
pub(crate) const PERSON_MARKS: &str = "\
    UNWIND $authors AS author MATCH (f:MuninnForgotten {id: 'person ' + author}) \
    RETURN author, f.until AS until";

/// Until when some of these marks hold.
pub(crate) const COVERED_UNTIL: &str = "\
    UNWIND $marks AS mark MATCH (f:MuninnForgotten {id: mark}) RETURN f.until AS until";

/// Gives a conversation its first question as the title, or none if that is gone or has another text by now.
pub(crate) const RETITLE: &str = "\
    MATCH (s:Session {id: $session}) SET s.updatedAt = datetime() WITH s \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(a:Response {id: $first}) WHERE a.input = $input \
    SET s.title = CASE WHEN a IS NULL THEN null ELSE $title END RETURN 1 AS times";

/// Removes empty conversations, except those for which people set the attention.
pub(crate) const DROP_EMPTY_SESSIONS: &str = "\
    UNWIND $sessions AS id MATCH (s:Session {id: id}) \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r:Response) \
    WITH s, count(r) AS turns \
    WHERE turns = 0 AND coalesce(s.attention, 'open') = 'open' DETACH DELETE s";

/// Removes the names of channels in which nothing is left.
pub(crate) const UNNAME_EMPTY_CHANNELS: &str = "\
    UNWIND $audiences AS id MATCH (c:Channel {id: id}) \
    OPTIONAL MATCH (r:Response {audience: id}) \
    WITH c, count(r) AS turns WHERE turns = 0 SET c.name = ''";

/// Removes a turn that belongs to no conversation.
pub(crate) const FORGET_UNCHAINED: &str = concat!(
    "MATCH (r:Response {id: $id}) ",
    shown_by!("(r)"),
    of_quote!(),
    "WITH r, collect(DISTINCT q) AS quotes, collect(DISTINCT o) AS quoting ",
    blot_out!(),
    "WITH r ",
    "OPTIONAL MATCH (c:Channel {id: r.audience}) ",
    "FOREACH (_ IN CASE WHEN c IS NULL THEN [] ELSE [1] END | SET c.epoch = coalesce(c.epoch, 0) + 1) ",
    "DETACH DELETE r ",
    "RETURN 1 AS times"
);

/// Removes the lists that a person saw until a moment.
pub(crate) const DROP_LISTS: &str = "\
    MATCH (c:MuninnClaim) WHERE c.event STARTS WITH $prefix AND coalesce(c.outcomeAt, 0) <= $until DELETE c";

/// Replaces the votes on an answer, unless a vote was added meanwhile.
pub(crate) const SET_FEEDBACK: &str = "\
    MATCH (r:Response {id: $id}) SET r.id = r.id WITH r WHERE r.feedback = $before \
    SET r.feedback = $feedback RETURN r.id AS id";

/// The audiences of some turns, and whether their answers are empty.
pub(crate) const AUDIENCES_OF: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    RETURN r.id AS id, r.audience AS audience, r.output = $blot AS isEmpty";

/// Copies turns under a legal hold, for the operator alone.
pub(crate) const HOLD: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    MERGE (h:MuninnHeld {id: id + $suffix}) \
    SET h.audience = r.audience, h.session = r.session, h.createdAt = r.createdAt, \
    h.heldAt = datetime($now), h.author = r.author, h.authorName = r.authorName, \
    h.source = r.source, h.input = r.input, h.output = r.output, h.attached = r.attached, \
    h.link = r.link RETURN count(h) AS times";

/// The same for turns that are not in the graph.
pub(crate) const HOLD_UNSAVED: &str = "\
    UNWIND $rows AS row \
    MERGE (h:MuninnHeld {id: row.id}) \
    SET h.audience = row.audience, h.session = row.session, h.createdAt = datetime(row.createdAt), \
    h.heldAt = datetime($now), h.author = row.author, h.authorName = row.authorName, \
    h.source = row.source, h.input = row.input, h.output = row.output, h.attached = row.attached, \
    h.link = row.link RETURN count(h) AS times";

/// Number of copies by audience.
pub(crate) const HELD: &str = "\
    MATCH (h:MuninnHeld) RETURN h.audience AS audience, count(h) AS copies";

pub(crate) const RELEASE: &str = "\
    MATCH (h:MuninnHeld {audience: $audience}) DELETE h RETURN count(*) AS copies";

/// All channels.
pub(crate) const CHANNELS: &str = "MATCH (c:Channel) RETURN c.id AS audience";

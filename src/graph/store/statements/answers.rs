//! Statements about existing answers.

pub(crate) const AUDIENCE_OF: &str = "\
    MATCH (s:Session {id: $session})-[:IN]->(c:Channel) RETURN c.id AS audience";

/// The first part of replacing a turn, whose node, event, chain and position stay. Quotes of the old turn are emptied as
/// if it were forgotten, and indexes notice it by the epoch. A turn that follows a newer revision is not replaced, as
/// another process was faster. The links to what it replaced and what replaced it are removed, as they depended on the
/// old text; corrections by people stay. What the old turn was given stays linked with a score of zero, as a listing or
/// another answer may still show the old text. The title is the first question.
macro_rules! replace {
    ($tail:expr) => {
        concat!(
            "MATCH (s:Session {id: $session}) ",
            "SET s.updatedAt = datetime() ",
            "WITH s ",
            "MATCH (s)-[:HAS_RESPONSE]->(r:Response {id: $id}) WHERE r.audience = $audience ",
            "AND (r.revisedAt IS NULL OR r.revisedAt <= datetime($revisedAt)) ",
            shown_by!("(r)"),
            of_quote!(),
            "WITH s, r, collect(DISTINCT q) AS quotes, collect(DISTINCT o) AS quoting ",
            blot_out!(),
            "WITH s, r ",
            "OPTIONAL MATCH (r)-[memory:RECALLED]->() ",
            "WITH s, r, collect(memory) AS memories ",
            "OPTIONAL MATCH (r)-[source:CONTEXT]->() ",
            "WITH s, r, memories, collect(source) AS sources ",
            "OPTIONAL MATCH (r)-[earlier:SUPERSEDES]->() WHERE earlier.how <> 'correction' ",
            "WITH s, r, memories, sources, collect(earlier) AS replaced ",
            "OPTIONAL MATCH (r)<-[later:SUPERSEDES]-() WHERE later.how <> 'correction' ",
            "WITH s, r, memories, sources, replaced, collect(later) AS replacing ",
            "FOREACH (kept IN memories | SET kept.score = 0.0) ",
            "FOREACH (gone IN sources | DELETE gone) ",
            "FOREACH (gone IN replaced | DELETE gone) ",
            "FOREACH (gone IN replacing | DELETE gone) ",
            "WITH s, r ",
            "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(before:Response) WHERE ",
            is_answer!("before"),
            " AND before.position < r.position ",
            "WITH s, r, count(before) AS before ",
            "OPTIONAL MATCH (s)-[:IN]->(c:Channel) ",
            "FOREACH (_ IN CASE WHEN before = 0 AND $source <> 'message' AND $source <> 'note' THEN [1] ELSE [] END | SET s.title = $title) ",
            "FOREACH (_ IN CASE WHEN c IS NULL THEN [] ELSE [1] END | SET c.epoch = coalesce(c.epoch, 0) + 1) ",
            "SET r.source = $source, r.input = $input, r.output = $output, r.volatile = $volatile, ",
            "r.promptTokens = $promptTokens, r.completionTokens = $completionTokens, ",
            "r.durationMs = $durationMs ",
            set_optional!(),
            "WITH r, r.position AS position ",
            $tail
        )
    };
}

pub(crate) const REPLACE: &str = replace!("RETURN position");

pub(crate) const REPLACE_RECALLED: &str = replace!(link_recalled!());

pub(crate) const REPLACE_LINKED: &str = replace!(link_sources!());

/// An answer that is marked as forgotten is about to be deleted; whoever forgets it may not know its delivered messages.
pub(crate) const SET_DELIVERED: &str = "\
    MATCH (r:Response {id: $id}) SET r.delivered = $delivered WITH r \
    OPTIONAL MATCH (f:MuninnForgotten {id: r.eventId}) \
    RETURN r.output <> $blot AND f IS NULL AS stands";

/// The same for an answer that was just kept. Another process may have marked its question while it was saved, and not have found
/// it.
pub(crate) const SET_FIRST_DELIVERED: &str = concat!(
    "MATCH (r:Response {id: $id}) SET r.delivered = $delivered WITH r ",
    count_covering!("r"),
    "OPTIONAL MATCH (f:MuninnForgotten {id: r.eventId}) ",
    "RETURN r.output <> $blot AND f IS NULL AND covering = 0 AS stands"
);

/// Appends a vote on an answer. It reads nothing before, so concurrent votes are not lost.
macro_rules! add_feedback {
    ($where:literal) => {
        concat!(
            "MATCH (r:Response {audience: $audience}) WHERE ",
            $where,
            " AND size(coalesce(r.feedback, '')) < $most ",
            "SET r.feedback = coalesce(r.feedback, '') + $line RETURN r.id AS id"
        )
    };
}

/// To the answer that was delivered as this message.
pub(crate) const GIVE_FEEDBACK: &str = add_feedback!("r.delivered CONTAINS $sought");

/// To the answer with feedback of this event.
pub(crate) const WITHDRAW_FEEDBACK: &str = add_feedback!("r.feedback CONTAINS $sought");

pub(crate) const RESPONSE_OF_MESSAGE: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.delivered CONTAINS $sought \
    RETURN r.id AS id, r.session AS session";

/// Appends a line to each.
pub(crate) const QUOTED_IN: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    SET r.quotedIn = coalesce(r.quotedIn, '') + $line";

/// Those of which too many listings are recorded.
pub(crate) const QUOTED_TOO_OFTEN: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) WHERE size(coalesce(r.quotedIn, '')) > $most \
    RETURN r.id AS id, r.quotedIn AS quotedIn";

/// Shortens them, unless another listing was recorded meanwhile.
pub(crate) const SHORTEN_QUOTED_IN: &str = "\
    UNWIND $rows AS row MATCH (r:Response {id: row.id}) WHERE r.quotedIn = row.before \
    SET r.quotedIn = row.kept";

pub(crate) const LAST_RESPONSE_OF: &str = concat!(
    "MATCH (r:Response {audience: $audience}) WHERE ",
    is_answer!("r"),
    " RETURN r.id AS id, r.session AS session ORDER BY r.position DESC LIMIT 1"
);

/// The last turns of an audience, newest first.
pub(crate) const LAST_TURNS_OF: &str = concat!(
    "MATCH (r:Response {audience: $audience}) WHERE ",
    is_answer!("r"),
    " WITH r ORDER BY r.position DESC LIMIT $most RETURN ",
    turn!("r"),
    " AS turn ORDER BY r.position DESC"
);

/// When a person last said something in an audience, apart from one event.
pub(crate) const LAST_SAID_BY: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.author = $author AND r.eventId <> $event \
    RETURN max(r.createdAt) AS at";

/// The audience is written before it is read, so that only one of two processes gets the digest. What was claimed in the future
/// was claimed while a clock was wrong, and does not count.
pub(crate) const TAKE_DIGEST: &str = "\
    MATCH (c:Channel {id: $audience}) SET c.id = c.id \
    WITH c, coalesce(c.digestAt, 0) AS before, \
    CASE WHEN coalesce(c.digestTold, c.digestAt, 0) > $future THEN 0 ELSE coalesce(c.digestTold, c.digestAt, 0) END AS told \
    WHERE before < $at OR before > $future \
    SET c.digestAt = $at, c.digestTold = CASE WHEN told = 0 THEN $from ELSE told END \
    RETURN before, told";

pub(crate) const UNTAKE_DIGEST: &str = "\
    MATCH (c:Channel {id: $audience}) WHERE c.digestAt = $at SET c.digestAt = $before";

pub(crate) const DIGEST_TOLD: &str = "\
    MATCH (c:Channel {id: $audience}) WHERE c.digestAt = $at SET c.digestTold = $at";

/// The last turn of a person in an audience, or their last note, that is not being forgotten.
pub(crate) const LAST_OF_PERSON: &str = concat!(
    "MATCH (r:Response {audience: $audience}) WHERE r.author = $author AND coalesce(r.source, 'model') <> 'message' ",
    "WITH r ORDER BY r.position DESC LIMIT 50 ",
    "OPTIONAL MATCH (f:MuninnForgotten {id: r.eventId}) ",
    "WITH r, f WHERE f IS NULL ",
    "RETURN r.id AS id, r.session AS session ORDER BY r.position DESC LIMIT 1"
);

/// The last turns of a person in an audience, newest first, with notes and what was heard, that are not being forgotten.
pub(crate) const LAST_TURNS_OF_PERSON: &str = concat!(
    "MATCH (r:Response {audience: $audience}) WHERE r.author = $author ",
    "WITH r ORDER BY r.position DESC LIMIT $most ",
    "OPTIONAL MATCH (f:MuninnForgotten {id: r.eventId}) ",
    "WITH r, f WHERE f IS NULL RETURN ",
    turn!("r"),
    " AS turn ORDER BY r.position DESC"
);

/// The sessions in which a person asked something, newest first, with the first question.
pub(crate) const OWN_SESSIONS: &str = concat!(
    "MATCH (r:Response {author: $author}) WHERE r.session STARTS WITH $prefix AND ",
    is_answer!("r"),
    " WITH r ORDER BY r.createdAt \
    WITH r.session AS session, count(r) AS turns, max(r.createdAt) AS lastAt, \
    collect(substring(r.input, 0, $chars)) AS questions \
    RETURN session, turns, lastAt, questions[0] AS title ORDER BY lastAt DESC LIMIT $most"
);

pub(crate) const EXTENT: &str = concat!(
    "MATCH (r:Response {audience: $audience}) WHERE ",
    is_answer!("r"),
    " RETURN count(DISTINCT r.session) AS sessions, count(r) AS turns, min(r.createdAt) AS since"
);

/// Heard messages are on the same chain, but are not answers.
pub(crate) const LAST_IN: &str = concat!(
    "MATCH (s:Session {id: $session})-[:HAS_RESPONSE]->(r:Response) WHERE ",
    is_answer!("r"),
    " RETURN r.id AS id, s.id AS session ORDER BY r.position DESC LIMIT 1"
);

pub(crate) const SESSIONS_OF: &str = "\
    MATCH (s:Session)-[:IN]->(c:Channel {id: $audience}) \
    RETURN DISTINCT s.id AS id, c.id AS audience";

/// The sessions of a place and of everything below it.
pub(crate) const SESSIONS_UNDER: &str = "\
    MATCH (s:Session)-[:IN]->(c:Channel) \
    WHERE s.id = $place OR s.id STARTS WITH $under OR c.id = $place OR c.id STARTS WITH $under \
    RETURN DISTINCT s.id AS id, c.id AS audience";

pub(crate) const NEWEST_SESSIONS: &str = "\
    MATCH (s:Session) WHERE s.id STARTS WITH $prefix \
    WITH s ORDER BY s.updatedAt DESC LIMIT $most \
    OPTIONAL MATCH (s)-[:IN]->(c:Channel) \
    RETURN s.id AS id, s.updatedAt AS at, min(c.id) AS audience ORDER BY at DESC";

/// The usage since a moment: by a person, in an audience and those below it, and in total.
pub(crate) const USAGE: &str = concat!(
    "MATCH (r:Response) WHERE r.createdAt >= datetime($since) AND ",
    is_answer!("r"),
    " RETURN r.author IN $authors AS isMine, \
    r.audience = $audience OR r.audience STARTS WITH $under AS isHere, count(r) AS turns, \
    sum(coalesce(r.promptTokens, 0)) AS promptTokens, \
    sum(coalesce(r.completionTokens, 0)) AS completionTokens, \
    sum(coalesce(r.cachedTokens, 0)) AS cachedTokens, sum(coalesce(r.costMicros, 0)) AS costMicros"
);

pub(crate) const TURNS_BY_AUDIENCE: &str =
    "MATCH (r:Response) RETURN r.audience AS audience, count(r) AS turns";

/// The outcomes of the answers in a range of an audience's turns.
pub(crate) const OUTCOMES: &str = concat!(
    "UNWIND range($first, $last) AS position ",
    "MATCH (r:Response {audience: $audience, position: position}) WHERE ",
    is_answer!("r"),
    " OPTIONAL MATCH (r)-[given:RECALLED]->(m:Response) WHERE given.score > 0.0 ",
    "WITH r, collect(m.id) AS recalled ",
    "OPTIONAL MATCH (r)-[source:CONTEXT]->(k) ",
    "WITH r, recalled, collect(CASE WHEN k IS NULL THEN null ELSE source.changedAt IS NOT NULL END) AS sources ",
    "RETURN r.id AS id, r.feedback AS feedback, recalled, sources, ",
    "size(coalesce(r.removedSources, [])) AS removed"
);

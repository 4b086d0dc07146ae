//! Statements for browsing the conversations.

/// A page of conversations, those with the newest turns first. The last moment and ID of a conversation give its
/// position. A conversation kept by an earlier version has no such moment; its last change counts instead.
#[rustfmt::skip]
macro_rules! page {
    ($sessions:expr) => {
        concat!(
            $sessions,
            "WITH s, coalesce(s.lastAt, s.updatedAt) AS lastAt ",
            "WHERE lastAt >= datetime($since) ",
            "AND (lastAt < datetime($until) OR (lastAt = datetime($until) AND s.id > $after)) ",
            "AND (NOT $isRated OR s.id IN $rated) ",
            "WITH s, lastAt ORDER BY lastAt DESC, s.id LIMIT $most ",
            "MATCH (s)-[:IN]->(c:Channel) ",
            "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r) ",
            "RETURN s.id AS id, s.title AS title, c.id AS audience, c.platform AS platform, c.name AS place, ",
            "c.privateTo AS privateTo, lastAt, count(r) AS turns ORDER BY lastAt DESC, id"
        )
    };
}

/// Limits it to places.
#[rustfmt::skip]
macro_rules! in_places {
    () => {
        "MATCH (c:Channel) WHERE ($platform = '' OR c.platform = $platform) \
         AND ($audience = '' OR c.id = $audience) AND ($isAll OR c.id IN $readable) \
         MATCH (s:Session)-[:IN]->(c) "
    };
}

pub(crate) const PAGE: &str = page!("MATCH (s:Session) ");

pub(crate) const PAGE_IN_PLACES: &str = page!(in_places!());

/// Of conversations in which something was said. The searched words are in lower case.
pub(crate) const PAGE_OF_SAID: &str = page!(concat!(
    in_places!(),
    "MATCH (s)-[:HAS_RESPONSE]->(r:Response) \
     WHERE ($person = '' OR toLower(coalesce(r.authorName, '')) CONTAINS $person) \
     AND all(word IN $words WHERE toLower(coalesce(r.input, '') + ' ' + coalesce(r.output, '')) CONTAINS word) \
     WITH DISTINCT s "
));

pub(crate) const ONE: &str = "\
    MATCH (s:Session {id: $session})-[:IN]->(c:Channel) \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r) \
    RETURN s.id AS id, s.title AS title, c.id AS audience, c.platform AS platform, c.name AS place, \
    c.privateTo AS privateTo, coalesce(s.lastAt, s.updatedAt) AS lastAt, count(r) AS turns";

/// The places of conversations.
pub(crate) const PLACES: &str = "\
    MATCH (c:Channel) WHERE $isAll OR c.id IN $readable \
    RETURN c.id AS id, c.platform AS platform, c.name AS name ORDER BY platform, name, id LIMIT $most";

/// The places that an account may be able to read: its private ones, and those of several people.
pub(crate) const PERHAPS_READABLE: &str = "\
    MATCH (c:Channel {platform: $platform}) \
    WHERE c.privateTo = $account OR ($isShared AND c.privateTo IS NULL) RETURN c.id AS id";

/// The audiences of answers.
pub(crate) const AUDIENCES: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) RETURN r.id AS id, r.audience AS audience";

/// The answers with feedback.
pub(crate) const RATED: &str = "\
    MATCH (r:Response) WHERE r.feedback <> '' \
    RETURN r.session AS session, r.feedback AS feedback ORDER BY r.id DESC LIMIT $most";

/// The cost of answers, and their votes.
pub(crate) const COSTS: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    RETURN r.id AS id, r.costMicros AS costMicros, r.feedback AS feedback";

/// The turns directly before and after a turn.
pub(crate) const NEIGHBOURS: &str = "\
    MATCH (r:Response {id: $id}) \
    OPTIONAL MATCH (before:Response)-[:NEXT]->(r) \
    OPTIONAL MATCH (r)-[:NEXT]->(after:Response) \
    RETURN before.id AS before, after.id AS after";

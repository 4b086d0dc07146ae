//! Statements for people who look through the conversations.

/// A page of conversations, those with the newest turns first; a conversation's last moment and id say where it stands.
#[rustfmt::skip]
macro_rules! page {
    ($sessions:literal) => {
        concat!(
            $sessions,
            "MATCH (s)-[:IN]->(c:Channel) WHERE ($platform = '' OR c.platform = $platform) ",
            "AND ($audience = '' OR c.id = $audience) AND ($isAll OR c.id IN $readable) ",
            "AND (NOT $isRated OR s.id IN $rated) ",
            "MATCH (s)-[:LAST_RESPONSE]->(last) WHERE last.createdAt >= datetime($since) ",
            "AND (last.createdAt < datetime($until) OR (last.createdAt = datetime($until) AND s.id > $after)) ",
            "WITH s, c, last ORDER BY last.createdAt DESC, s.id LIMIT $most ",
            "OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r) ",
            "RETURN s.id AS id, s.title AS title, c.id AS audience, c.platform AS platform, c.name AS place, ",
            "c.privateTo AS privateTo, last.createdAt AS lastAt, count(r) AS turns ORDER BY lastAt DESC, id"
        )
    };
}

pub(crate) const PAGE: &str = page!("MATCH (s:Session) ");

/// Of conversations in which something was said. What is sought is in small letters.
pub(crate) const PAGE_OF_SAID: &str = page!(
    "MATCH (s:Session)-[:HAS_RESPONSE]->(r:Response) \
     WHERE ($person = '' OR toLower(coalesce(r.authorName, '')) CONTAINS $person) \
     AND all(word IN $words WHERE toLower(coalesce(r.input, '') + ' ' + coalesce(r.output, '')) CONTAINS word) \
     WITH DISTINCT s "
);

pub(crate) const ONE: &str = "\
    MATCH (s:Session {id: $session})-[:IN]->(c:Channel) \
    MATCH (s)-[:LAST_RESPONSE]->(last) \
    OPTIONAL MATCH (s)-[:HAS_RESPONSE]->(r) \
    RETURN s.id AS id, s.title AS title, c.id AS audience, c.platform AS platform, c.name AS place, \
    c.privateTo AS privateTo, last.createdAt AS lastAt, count(r) AS turns";

/// Where conversations are.
pub(crate) const PLACES: &str = "\
    MATCH (c:Channel) WHERE $isAll OR c.id IN $readable \
    RETURN c.id AS id, c.platform AS platform, c.name AS name ORDER BY platform, name, id LIMIT $most";

/// What an account may perhaps read: what it alone reads, and what several people do.
pub(crate) const PERHAPS_READABLE: &str = "\
    MATCH (c:Channel {platform: $platform}) \
    WHERE c.privateTo = $account OR ($isShared AND c.privateTo IS NULL) RETURN c.id AS id";

/// In which audiences answers were given.
pub(crate) const AUDIENCES: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) RETURN r.id AS id, r.audience AS audience";

/// The answers that people said something of.
pub(crate) const RATED: &str = "\
    MATCH (r:Response) WHERE r.feedback <> '' \
    RETURN r.session AS session, r.feedback AS feedback ORDER BY r.id DESC LIMIT $most";

/// What answers cost, and what people think of them.
pub(crate) const COSTS: &str = "\
    UNWIND $ids AS id MATCH (r:Response {id: id}) \
    RETURN r.id AS id, r.costMicros AS costMicros, r.feedback AS feedback";

/// What stands right before a turn, and right after it.
pub(crate) const NEIGHBOURS: &str = "\
    MATCH (r:Response {id: $id}) \
    OPTIONAL MATCH (before:Response)-[:NEXT]->(r) \
    OPTIONAL MATCH (r)-[:NEXT]->(after:Response) \
    RETURN before.id AS before, after.id AS after";

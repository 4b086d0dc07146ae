//! Statements about accounts on platforms that belong to one person. All times are the process's, in milliseconds.

/// An account gives a code to another one. The last code holds.
pub(crate) const OFFER: &str = "\
    MERGE (a:MuninnAccount {id: $id}) \
    SET a.platform = $platform, a.name = $name, a.home = $home, a.seenAt = $now, \
    a.code = $code, a.codeUntil = $until \
    RETURN a.id AS id";

/// Counts that an account enters a code, before anybody looks whether it is right.
pub(crate) const TRY: &str = "\
    MERGE (a:MuninnAccount {id: $id}) \
    SET a.platform = $platform, a.name = $name, a.home = $home, a.seenAt = $now \
    WITH a, CASE WHEN coalesce(a.triedSince, 0) < $since THEN 0 ELSE coalesce(a.tries, 0) END AS tries \
    SET a.tries = tries + 1, a.triedSince = CASE WHEN tries = 0 THEN $now ELSE a.triedSince END \
    RETURN a.tries AS tries, coalesce(a.code, '') = $code AS isOwn";

/// Uses a code up; no row where it is wrong, too old, used already or the account's own. It is locked before it is
/// looked at, so that it is used once.
pub(crate) const USE_CODE: &str = "\
    MATCH (a:MuninnAccount {code: $code}) SET a.id = a.id \
    WITH a WHERE a.code = $code AND a.codeUntil > $now AND a.id <> $id \
    SET a.code = null, a.codeUntil = null \
    RETURN a.id AS id, a.platform AS platform, a.name AS name, a.seenAt AS seenAt";

/// Makes some accounts those of one person.
pub(crate) const JOIN: &str = "\
    MERGE (p:MuninnPerson {id: $person}) \
    WITH p UNWIND $accounts AS id MATCH (a:MuninnAccount {id: id}) \
    MERGE (p)-[link:HAS_ACCOUNT]->(a) \
    SET link.since = coalesce(link.since, $now), a.seenAt = $now, a.tries = null, a.triedSince = null \
    RETURN count(a) AS accounts";

/// Removes the people whose accounts are another's now.
pub(crate) const DROP_PEOPLE: &str = "\
    UNWIND $people AS id MATCH (p:MuninnPerson {id: id}) DETACH DELETE p";

/// The accounts of whoever has this one.
pub(crate) const OF_PERSON: &str = "\
    MATCH (:MuninnAccount {id: $id})<-[:HAS_ACCOUNT]-(p:MuninnPerson) \
    MATCH (p)-[:HAS_ACCOUNT]->(a:MuninnAccount) \
    RETURN p.id AS person, a.id AS id, a.platform AS platform, a.name AS name, a.seenAt AS seenAt ORDER BY a.id";

/// All accounts that belong to somebody.
pub(crate) const ALL: &str = "\
    MATCH (p:MuninnPerson)-[:HAS_ACCOUNT]->(a:MuninnAccount) RETURN p.id AS person, a.id AS id ORDER BY a.id";

/// Takes an account from whoever has it.
pub(crate) const LEAVE: &str = "\
    MATCH (a:MuninnAccount {id: $id})<-[link:HAS_ACCOUNT]-(:MuninnPerson) DELETE link";

/// Removes people who have one account left, or none.
pub(crate) const DROP_LONELY: &str = "\
    UNWIND $people AS id MATCH (p:MuninnPerson {id: id}) \
    OPTIONAL MATCH (p)-[:HAS_ACCOUNT]->(a:MuninnAccount) \
    WITH p, count(a) AS accounts WHERE accounts < 2 DETACH DELETE p";

/// An account gave a sign of life.
pub(crate) const SEEN: &str =
    "MATCH (a:MuninnAccount {id: $id}) SET a.seenAt = $now RETURN a.id AS id";

/// Something is to be said to some accounts.
pub(crate) const TELL: &str = "\
    UNWIND $ids AS id MATCH (a:MuninnAccount {id: id}) \
    SET a.tell = CASE WHEN a.tell IS NULL THEN $text ELSE a.tell + '\\n\\n' + $text END \
    RETURN count(a) AS times";

/// What is to be said to whom.
pub(crate) const UNTOLD: &str = "\
    MATCH (a:MuninnAccount) WHERE a.tell IS NOT NULL \
    RETURN a.id AS id, a.platform AS platform, a.name AS name, a.home AS home, a.tell AS tell";

/// It was said, unless there is more by now.
pub(crate) const TOLD: &str = "\
    MATCH (a:MuninnAccount {id: $id}) WHERE a.tell = $text SET a.tell = null RETURN a.id AS id";

/// The places that one of some accounts alone reads.
pub(crate) const PRIVATE_TO: &str = "\
    UNWIND $ids AS id MATCH (c:Channel {privateTo: id}) \
    RETURN c.id AS audience ORDER BY c.id LIMIT $most";

pub(crate) const WHO_ALONE: &str = "MATCH (c:Channel {id: $audience}) RETURN c.privateTo AS person";

/// Forgets who some accounts belong to, and that there are any.
pub(crate) const FORGET_PEOPLE: &str = "\
    UNWIND $ids AS id MATCH (:MuninnAccount {id: id})<-[:HAS_ACCOUNT]-(p:MuninnPerson) DETACH DELETE p";

pub(crate) const FORGET: &str =
    "UNWIND $ids AS id MATCH (a:MuninnAccount {id: id}) DETACH DELETE a";

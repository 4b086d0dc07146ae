//! Statements about linked accounts. All times are the process's, in milliseconds.

/// Stores a code that an account gives to another one. Only the last code is valid.
pub(crate) const OFFER: &str = "\
    MERGE (a:MuninnAccount {id: $id}) \
    SET a.platform = $platform, a.name = $name, a.home = $home, a.seenAt = $now, \
    a.code = $code, a.codeUntil = $until \
    RETURN a.id AS id";

/// Counts an account's try to enter a code, before the code is checked.
pub(crate) const TRY: &str = "\
    MERGE (a:MuninnAccount {id: $id}) \
    SET a.platform = $platform, a.name = $name, a.home = $home, a.seenAt = $now \
    WITH a, CASE WHEN coalesce(a.triedSince, 0) < $since THEN 0 ELSE coalesce(a.tries, 0) END AS tries \
    SET a.tries = tries + 1, a.triedSince = CASE WHEN tries = 0 THEN $now ELSE a.triedSince END \
    RETURN a.tries AS tries, coalesce(a.code, '') = $code AS isOwn";

/// Uses a code up. Returns no row if the code is wrong, has expired, was used already or is the account's own. It
/// is locked before it is read, so that it is used once.
pub(crate) const USE_CODE: &str = "\
    MATCH (a:MuninnAccount {code: $code}) SET a.id = a.id \
    WITH a WHERE a.code = $code AND a.codeUntil > $now AND a.id <> $id \
    SET a.code = null, a.codeUntil = null \
    RETURN a.id AS id, a.platform AS platform, a.name AS name, a.seenAt AS seenAt";

/// Makes accounts belong to one person. Only those between which the code went are used now.
pub(crate) const JOIN: &str = "\
    MERGE (p:MuninnPerson {id: $person}) \
    WITH p UNWIND $accounts AS id MATCH (a:MuninnAccount {id: id}) \
    MERGE (p)-[link:HAS_ACCOUNT]->(a) \
    SET link.since = coalesce(link.since, $now), a.tries = null, a.triedSince = null, \
    a.seenAt = CASE WHEN id IN $used THEN $now ELSE a.seenAt END \
    RETURN count(a) AS accounts";

/// Removes people whose accounts belong to another person now.
pub(crate) const DROP_PEOPLE: &str = "\
    UNWIND $people AS id MATCH (p:MuninnPerson {id: id}) DETACH DELETE p";

/// The accounts of the person who owns this one.
pub(crate) const OF_PERSON: &str = "\
    MATCH (:MuninnAccount {id: $id})<-[:HAS_ACCOUNT]-(p:MuninnPerson) \
    MATCH (p)-[:HAS_ACCOUNT]->(a:MuninnAccount) \
    RETURN p.id AS person, a.id AS id, a.platform AS platform, a.name AS name, a.seenAt AS seenAt ORDER BY a.id";

/// All accounts that belong to a person.
pub(crate) const ALL: &str = "\
    MATCH (p:MuninnPerson)-[:HAS_ACCOUNT]->(a:MuninnAccount) RETURN p.id AS person, a.id AS id ORDER BY a.id";

/// Removes an account from its person.
pub(crate) const LEAVE: &str = "\
    MATCH (a:MuninnAccount {id: $id})<-[link:HAS_ACCOUNT]-(:MuninnPerson) DELETE link";

/// Removes people who have at most one account left.
pub(crate) const DROP_LONELY: &str = "\
    UNWIND $people AS id MATCH (p:MuninnPerson {id: id}) \
    OPTIONAL MATCH (p)-[:HAS_ACCOUNT]->(a:MuninnAccount) \
    WITH p, count(a) AS accounts WHERE accounts < 2 DETACH DELETE p";

/// Records that an account was used.
pub(crate) const SEEN: &str =
    "MATCH (a:MuninnAccount {id: $id}) SET a.seenAt = $now RETURN a.id AS id";

/// Queues a notification for some accounts.
pub(crate) const TELL: &str = "\
    UNWIND $ids AS id MATCH (a:MuninnAccount {id: id}) \
    SET a.tell = CASE WHEN a.tell IS NULL THEN $text ELSE a.tell + '\\n\\n' + $text END \
    RETURN count(a) AS times";

/// The pending notifications.
pub(crate) const UNTOLD: &str = "\
    MATCH (a:MuninnAccount) WHERE a.tell IS NOT NULL \
    RETURN a.id AS id, a.platform AS platform, a.name AS name, a.home AS home, a.tell AS tell";

/// Removes a notification, unless more was added meanwhile.
pub(crate) const TOLD: &str = "\
    MATCH (a:MuninnAccount {id: $id}) WHERE a.tell = $text SET a.tell = null RETURN a.id AS id";

/// The private places of some accounts.
pub(crate) const PRIVATE_TO: &str = "\
    UNWIND $ids AS id MATCH (c:Channel {privateTo: id}) \
    RETURN c.id AS audience ORDER BY c.id LIMIT $most";

pub(crate) const WHO_ALONE: &str = "MATCH (c:Channel {id: $audience}) RETURN c.privateTo AS person";

/// Removes the people that some accounts belong to, unless an account was linked after a moment; [`FORGET`] removes the
/// accounts.
pub(crate) const FORGET_PEOPLE: &str = "\
    UNWIND $ids AS id MATCH (:MuninnAccount {id: id})<-[:HAS_ACCOUNT]-(p:MuninnPerson) \
    MATCH (p)-[link:HAS_ACCOUNT]->(:MuninnAccount) \
    WITH p, max(coalesce(link.since, 0)) AS since WHERE since <= $until DETACH DELETE p";

pub(crate) const FORGET: &str = "\
    UNWIND $ids AS id MATCH (a:MuninnAccount {id: id}) WHERE coalesce(a.seenAt, 0) <= $until DETACH DELETE a";

//! Statements about the tokens of programs. All times are the process's, in milliseconds.

/// Stores a token, and removes the expired ones of its account.
pub(crate) const KEEP: &str = "\
    MERGE (t:MuninnToken {id: $id}) \
    SET t.hash = $hash, t.account = $account, t.platform = $platform, t.name = $name, t.places = $places, \
    t.createdAt = $now, t.until = $until \
    RETURN t.id AS id";

pub(crate) const DROP_OVER: &str =
    "MATCH (t:MuninnToken) WHERE t.until IS NOT NULL AND t.until <= $now DELETE t";

macro_rules! token {
    () => {
        "t.id AS id, t.hash AS hash, t.account AS account, t.platform AS platform, t.name AS name, t.places AS places, \
         t.createdAt AS createdAt, t.until AS until, t.usedAt AS usedAt"
    };
}

pub(crate) const BY_HASH: &str = concat!(
    "MATCH (t:MuninnToken {hash: $hash}) WHERE t.until IS NULL OR t.until > $now RETURN ",
    token!()
);

/// Those of some accounts, oldest first.
pub(crate) const OF_ACCOUNTS: &str = concat!(
    "UNWIND $accounts AS account MATCH (t:MuninnToken) WHERE t.account = account AND (t.until IS NULL OR t.until > $now) RETURN ",
    token!(),
    " ORDER BY t.createdAt, t.id"
);

pub(crate) const ALL: &str = concat!(
    "MATCH (t:MuninnToken) WHERE t.until IS NULL OR t.until > $now RETURN ",
    token!(),
    " ORDER BY t.createdAt, t.id"
);

pub(crate) const USED: &str =
    "MATCH (t:MuninnToken {hash: $hash}) SET t.usedAt = $now RETURN t.id AS id";

pub(crate) const REVOKE: &str =
    "UNWIND $ids AS id MATCH (t:MuninnToken) WHERE t.id = id DELETE t RETURN count(*) AS tokens";

/// Revokes the tokens of some accounts that were made until a moment.
pub(crate) const FORGET: &str = "\
    UNWIND $ids AS id MATCH (t:MuninnToken) WHERE t.account = id AND coalesce(t.createdAt, 0) <= $until DELETE t";

/// When something was last said in places.
pub(crate) const LAST_USED: &str = "\
    MATCH (c:Channel) WHERE c.id IN $ids \
    MATCH (s:Session)-[:IN]->(c) \
    WITH c, coalesce(s.lastAt, s.updatedAt) AS usedAt \
    RETURN c.id AS id, max(usedAt) AS lastAt";

/// The stored data of places.
pub(crate) const PLACES: &str = "\
    UNWIND $ids AS id MATCH (c:Channel {id: id}) \
    RETURN c.id AS id, c.platform AS platform, c.workspace AS workspace, c.name AS name, c.privateTo AS privateTo";

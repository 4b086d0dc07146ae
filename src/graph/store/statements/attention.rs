//! Statements about the attention set for a conversation and an audience.

/// Always returns one row.
pub(crate) const READ: &str = "\
    OPTIONAL MATCH (s:Session {id: $session}) \
    OPTIONAL MATCH (c:Channel {id: $audience}) \
    RETURN s.attention AS session, c.attention AS audience, \
    coalesce(s.silences, 0) AS silences, s.lastSilentAt AS lastSilentAt";

pub(crate) const OF_SESSION: &str = "\
    MATCH (s:Session {id: $session}) SET s.attention = $attention RETURN s.id AS id";

/// Creates the channel if nothing was said there yet.
pub(crate) const OF_AUDIENCE: &str = "\
    MERGE (c:Channel {id: $audience}) \
    ON CREATE SET c.position = 0, c.epoch = 0, c.platform = $platform, c.workspace = $workspace, \
    c.name = $name \
    SET c.attention = $attention RETURN c.id AS id";

pub(crate) const SILENT: &str = "\
    MATCH (s:Session {id: $session}) \
    SET s.silences = coalesce(s.silences, 0) + 1, s.lastSilentAt = datetime($at) RETURN s.id AS id";

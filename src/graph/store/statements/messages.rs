//! Statements about heard messages.

/// Everything said in an audience between two moments, by people to others and to the bot, newest first.
pub(crate) const BETWEEN: &str = concat!(
    "MATCH (r:Response {audience: $audience}) ",
    "WHERE r.createdAt >= datetime($from) AND r.createdAt < datetime($until) ",
    "WITH r ORDER BY r.createdAt DESC, r.position DESC LIMIT $most RETURN ",
    turn!("r"),
    " AS turn ORDER BY r.createdAt DESC, r.position DESC"
);

/// Everything said in an audience since a moment, newest first.
pub(crate) const KEPT_SINCE: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.createdAt >= datetime($from) \
    WITH r ORDER BY r.createdAt DESC, r.position DESC LIMIT $most \
    RETURN r.eventId AS event, r.session AS session ORDER BY r.createdAt DESC, r.position DESC";

/// What a person said to others in an audience.
pub(crate) const SAID_BY: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.author = $author AND r.source = 'message' \
    RETURN r.id AS id, r.session AS session, r.audience AS audience, r.eventId AS event, \
    r.source AS source ORDER BY r.position LIMIT $most";

/// The same, all at once.
pub(crate) const ALL_SAID_BY: &str = "\
    MATCH (r:Response {audience: $audience}) WHERE r.author = $author AND r.source = 'message' \
    RETURN r.id AS id, r.session AS session, r.audience AS audience, r.eventId AS event, \
    r.source AS source, r.createdAt AS createdAt";

/// Those of some events that were forgotten individually, or up to a moment with their conversation, their author or their
/// place.
pub(crate) const FORGOTTEN: &str = "\
    UNWIND $rows AS row UNWIND row.marks AS mark \
    MATCH (f:MuninnForgotten {id: mark}) \
    WHERE mark = row.event OR coalesce(f.until, -1) >= row.at \
    RETURN DISTINCT row.event AS event";

/// Removes one message from its chain. It was never a title, and no summary covers it.
pub(crate) const FORGET: &str = take_out!("WHERE r.source = 'message' ", "");

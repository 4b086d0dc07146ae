//! Statements about the usage of answers.

/// By day, person and place.
pub(crate) const DAYS: &str = concat!(
    "MATCH (r:Response) WHERE r.createdAt >= datetime($since) AND ",
    is_answer!("r"),
    " WITH substring(toString(r.createdAt), 0, 10) AS day, r.authorName AS person, r.audience AS audience, \
    count(r) AS answers, sum(coalesce(r.promptTokens, 0) + coalesce(r.completionTokens, 0)) AS tokens, \
    sum(coalesce(r.costMicros, 0)) AS costMicros, sum(coalesce(r.durationMs, 0)) AS durationMs \
    ORDER BY day DESC LIMIT $most \
    OPTIONAL MATCH (c:Channel {id: audience}) \
    RETURN day, person, c.name AS place, c.platform AS platform, answers, tokens, costMicros, durationMs"
);

pub(crate) const RECALLED: &str = concat!(
    "MATCH (r:Response)-[given:RECALLED]->() WHERE given.score > 0.0 AND r.createdAt >= datetime($since) AND ",
    is_answer!("r"),
    " WITH DISTINCT r \
    RETURN substring(toString(r.createdAt), 0, 10) AS day, count(r) AS answers"
);

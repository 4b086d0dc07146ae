//! Statements about single remembered items, for the people who said them.

/// What a person said in some audiences, newest first, without what was listed already, each with the time of its
/// correction. The searched words are in lower case.
#[rustfmt::skip]
macro_rules! said_by {
    ($holds:literal) => {
        concat!(
            "UNWIND $audiences AS audience ",
            "MATCH (r:Response {audience: audience}) WHERE r.author IN $authors ",
            "AND r.createdAt <= datetime($until) AND NOT r.id IN $listed ",
            "AND (NOT $onlyNotes OR r.source = 'note') ",
            $holds,
            "WITH r ORDER BY r.createdAt DESC, r.position DESC LIMIT $most ",
            "OPTIONAL MATCH (r)<-[link:SUPERSEDES {how: 'correction'}]-(:Response) ",
            "WITH r, min(link.at) AS correctedAt RETURN ",
            turn!("r"),
            " AS turn, correctedAt ORDER BY r.createdAt DESC, r.position DESC"
        )
    };
}

pub(crate) const OF_PERSON: &str = said_by!("");

pub(crate) const SOUGHT: &str = said_by!(
    "AND all(word IN $words WHERE toLower(coalesce(r.input, '') + ' ' + coalesce(r.output, '')) CONTAINS word) "
);

/// One item, with its audience and the author of its correction.
#[rustfmt::skip]
pub(crate) const ONE: &str = concat!(
    "MATCH (s:Session)-[:HAS_RESPONSE]->(r:Response {id: $id}) ",
    "OPTIONAL MATCH (c:Channel {id: r.audience}) ",
    "OPTIONAL MATCH (r)<-[link:SUPERSEDES {how: 'correction'}]-(n:Response) ",
    "RETURN ",
    turn!("r"),
    " AS turn, r.audience AS audience, c.platform AS platform, c.workspace AS workspace, c.name AS name, ",
    "c.privateTo AS privateTo, link.at AS correctedAt, n.authorName AS correctedBy, n.eventId AS correctedByEvent"
);

/// Links a correction to what it corrects, unless something else corrects that already. What is corrected is locked
/// before it is read, and indexes notice it by the epoch.
pub(crate) const CORRECT: &str = "\
    MATCH (o:Response {id: $earlier}) SET o.id = o.id \
    WITH o \
    OPTIONAL MATCH (o)<-[known:SUPERSEDES {how: 'correction'}]-(:Response) \
    WITH o, count(known) AS corrections WHERE corrections = 0 \
    MATCH (r:Response {id: $id, audience: o.audience}) \
    CREATE (r)-[:SUPERSEDES {at: r.createdAt, how: 'correction'}]->(o) \
    WITH r \
    MATCH (c:Channel {id: r.audience}) \
    SET c.epoch = coalesce(c.epoch, 0) + 1";

/// What a correction corrects.
pub(crate) const CORRECTED_BY: &str = "\
    MATCH (r:Response {id: $id})-[:SUPERSEDES {how: 'correction'}]->(o:Response) \
    RETURN o.id AS id, o.session AS session";

/// Those of some turns that exist, with their answers.
#[rustfmt::skip]
macro_rules! there {
    ($places:literal, $more:literal) => {
        concat!(
            "UNWIND $ids AS id MATCH (r:Response {id: id}) ",
            "OPTIONAL MATCH (f:MuninnForgotten {id: r.eventId}) ",
            "WITH r, f WHERE f IS NULL ",
            $places,
            "RETURN r.id AS id, coalesce(r.output, '') AS answer",
            $more
        )
    };
}

pub(crate) const THERE: &str = there!("", "");

/// The same, with the epochs of their audiences.
pub(crate) const THERE_WITH_EPOCHS: &str = there!(
    "OPTIONAL MATCH (c:Channel {id: r.audience}) ",
    ", r.audience AS audience, coalesce(c.epoch, 0) AS epoch"
);

/// What is kept of a person, by descending IDs.
#[rustfmt::skip]
pub(crate) const KEPT_OF: &str = concat!(
    "MATCH (r:Response {author: $author}) WHERE r.id < $before ",
    "WITH r ORDER BY r.id DESC LIMIT $most ",
    "OPTIONAL MATCH (c:Channel {id: r.audience}) ",
    "OPTIONAL MATCH (r)<-[link:SUPERSEDES {how: 'correction'}]-(:Response) ",
    "WITH r, c, min(link.at) AS correctedAt RETURN r.id AS id, ",
    turn_with_files!("r"),
    " AS turn, c.platform AS platform, c.name AS place, correctedAt ORDER BY r.id DESC"
);

/// Answers on which a person voted, by descending IDs.
pub(crate) const OPINIONS_OF: &str = "\
    MATCH (r:Response) WHERE r.id < $before AND coalesce(r.feedback, '') CONTAINS $person \
    RETURN r.id AS id, r.createdAt AS at, r.feedback AS feedback ORDER BY r.id DESC LIMIT $most";

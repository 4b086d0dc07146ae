//! Statements about the hearing rules that people set.

/// All channels with any rule.
pub(crate) const READ: &str = "\
    MATCH (c:Channel) WHERE c.memory IS NOT NULL OR c.announcedAt IS NOT NULL \
    OR c.optedOut IS NOT NULL OR c.offRecord IS NOT NULL \
    RETURN c.id AS audience, c.memory AS memory, c.announcedAt AS announcedAt, \
    coalesce(c.optedOut, []) AS optedOut, coalesce(c.offRecord, []) AS offRecord, \
    coalesce(c.pastHearing, []) AS pastHearing";

/// Creates the channel if nothing was said there yet.
macro_rules! channel {
    ($rest:literal) => {
        concat!(
            "MERGE (c:Channel {id: $audience}) \
             ON CREATE SET c.position = 0, c.epoch = 0, c.platform = $platform, \
             c.workspace = $workspace, c.name = $name ",
            $rest,
            " RETURN c.id AS id, coalesce(c.pastHearing, []) AS pastHearing"
        )
    };
}

pub(crate) const HEAR: &str = channel!("SET c.memory = 'channel'");

/// When it is turned on again, people are told again.
pub(crate) const HEAR_NOBODY: &str = channel!("SET c.memory = 'asked', c.announcedAt = null");

/// Only the first process announces it: the others get no row.
pub(crate) const ANNOUNCES: &str = channel!(
    "SET c.position = coalesce(c.position, 0) \
     WITH c WHERE c.announcedAt IS NULL SET c.announcedAt = datetime($now)"
);

pub(crate) const NOT_ANNOUNCED: &str =
    "MATCH (c:Channel {id: $audience}) SET c.announcedAt = null RETURN c.id AS id";

pub(crate) const OPT_OUT: &str =
    channel!("SET c.optedOut = [x IN coalesce(c.optedOut, []) WHERE x <> $item] + [$item]");

/// Only who had opted out leaves an entry.
pub(crate) const OPT_IN: &str = channel!(
    "SET c.pastHearing = CASE WHEN $item IN coalesce(c.optedOut, []) \
     THEN coalesce(c.pastHearing, []) + [$entry] ELSE coalesce(c.pastHearing, []) END, \
     c.optedOut = [x IN coalesce(c.optedOut, []) WHERE x <> $item]"
);

/// Only the first `off` leaves an entry, because the time off the record begins with it.
pub(crate) const OFF_RECORD: &str = channel!(
    "SET c.pastHearing = CASE WHEN $item IN coalesce(c.offRecord, []) \
     THEN coalesce(c.pastHearing, []) ELSE coalesce(c.pastHearing, []) + [$entry] END, \
     c.offRecord = [x IN coalesce(c.offRecord, []) WHERE x <> $item] + [$item]"
);

pub(crate) const ON_RECORD: &str = channel!(
    "SET c.pastHearing = CASE WHEN $item IN coalesce(c.offRecord, []) \
     THEN coalesce(c.pastHearing, []) + [$entry] ELSE coalesce(c.pastHearing, []) END, \
     c.offRecord = [x IN coalesce(c.offRecord, []) WHERE x <> $item]"
);

/// Replaces the entries before a time by one that covers them. Entries begin with their time, so they compare as text.
pub(crate) const DROP_OLD_ENTRIES: &str = "\
    MATCH (c:Channel {id: $audience}) \
    SET c.pastHearing = [x IN coalesce(c.pastHearing, []) WHERE x >= $since] + [$entry] \
    RETURN c.id AS id";

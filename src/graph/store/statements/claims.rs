//! Statements about claims on events. All times are the graph's, in milliseconds.

/// A claim is locked by writing one of its properties before it is read.
pub(crate) const CLAIM: &str = "\
    MERGE (c:MuninnClaim {event: $event}) SET c.touchedAt = timestamp() \
    WITH c, c.doneAt IS NOT NULL AS done, c.holder IS NOT NULL AS inherited, \
    c.holder IS NULL OR c.holder = $holder OR c.until < timestamp() AS free \
    FOREACH (_ IN CASE WHEN free AND NOT done THEN [1] ELSE [] END | \
    SET c.holder = $holder, c.session = $session, c.until = timestamp() + $lasts) \
    RETURN done, free, inherited";

/// Locked as by [`CLAIM`].
pub(crate) const REOPEN: &str = "\
    MATCH (c:MuninnClaim {event: $event}) SET c.touchedAt = timestamp() \
    WITH c WHERE c.doneAt IS NOT NULL \
    SET c.doneAt = null, c.holder = null, c.until = null, c.isStopped = null \
    RETURN c.event AS event";

pub(crate) const RENEW: &str = "\
    MATCH (c:MuninnClaim {event: $event}) WHERE c.holder = $holder \
    SET c.until = timestamp() + $lasts \
    WITH c, coalesce(c.isStopped, false) AS stopped \
    SET c.isStopped = null RETURN stopped";

/// Whether a live process works on the event, or another live process has its message.
pub(crate) const IS_CLAIMED: &str = "\
    OPTIONAL MATCH (c:MuninnClaim {event: $event}) WHERE c.doneAt IS NULL AND c.until >= timestamp() \
    WITH count(c) AS claims \
    OPTIONAL MATCH (p:Pending {eventId: $event}) \
    WHERE p.holder <> $holder AND p.leaseUntil >= timestamp() \
    WITH claims, count(p) AS messages WHERE claims + messages > 0 RETURN claims, messages";

/// The targets or the result of a command. The times are the process's here, as both engines store
/// these; that of a lasting outcome is in the future.
pub(crate) const OUTCOME: &str =
    "MATCH (c:MuninnClaim {event: $event}) RETURN c.outcome AS outcome";

pub(crate) const SET_OUTCOME: &str = "\
    MERGE (c:MuninnClaim {event: $event}) SET c.outcome = $outcome, c.outcomeAt = $at \
    RETURN c.event AS event";

/// The same where no process needs claims, and each node needs an ID of its own: the embedded engine
/// makes the others, and after a restart it makes some twice, which it then refuses. Earlier versions
/// of this program left those to it.
pub(crate) const SET_OUTCOME_WITHOUT_CLAIMS: &str = "\
    OPTIONAL MATCH (old:MuninnClaim {event: $event}) WHERE old.id <> $event \
    DELETE old \
    WITH count(*) AS before \
    MERGE (c:MuninnClaim {id: $event}) \
    SET c.event = $event, c.outcome = $outcome, c.outcomeAt = $at \
    RETURN c.event AS event";

/// What was left to the processes that serve a platform.
pub(crate) const HANDED_OVER: &str = "\
    MATCH (c:MuninnClaim) WHERE c.event STARTS WITH $prefix \
    RETURN c.event AS id, c.outcome AS content ORDER BY id LIMIT 100";

pub(crate) const REMOVE: &str = "MATCH (c:MuninnClaim {event: $event}) DELETE c";

pub(crate) const OLD_OUTCOMES: &str =
    "MATCH (c:MuninnClaim) WHERE c.outcomeAt < $before RETURN c.event AS event LIMIT 1";

/// Where no process needs claims, these are all there is.
pub(crate) const SWEEP_OUTCOMES: &str =
    "MATCH (c:MuninnClaim) WHERE c.outcomeAt < $before DELETE c RETURN count(*) AS removed";

pub(crate) const STOP: &str = "\
    MATCH (c:MuninnClaim) WHERE c.session = $session AND c.doneAt IS NULL \
    SET c.isStopped = true RETURN count(c) AS claims";

/// A lasting outcome may outlive its claim.
pub(crate) const SWEEP: &str = "\
    MATCH (c:MuninnClaim) WHERE coalesce(c.doneAt, c.until, c.outcomeAt) < timestamp() - $kept \
    AND coalesce(c.outcomeAt, 0) < timestamp() - $kept \
    WITH c LIMIT 1000 DELETE c RETURN count(*) AS removed";

//! Statements about pending messages and about the processes that accept them. All times are the graph's, in milliseconds.

/// Each process stores what it received itself: two may receive one event in different forms, and what one ignores may be a
/// question to the other. A pending message is locked by writing one of its properties before its lease is read.
pub(crate) const ACCEPT: &str = "\
    MERGE (p:Pending {id: $id}) SET p.touchedAt = timestamp() \
    WITH p, p.holder IS NULL OR p.holder = $holder OR p.leaseUntil < timestamp() AS free \
    FOREACH (_ IN CASE WHEN free THEN [1] ELSE [] END | \
    SET p.eventId = $event, p.payload = $payload, p.platform = $platform, p.session = $session, \
    p.acceptedAt = coalesce(p.acceptedAt, timestamp()), \
    p.holder = $holder, p.leaseUntil = timestamp() + $lasts) \
    RETURN free";

pub(crate) const RENEW: &str = "\
    UNWIND $events AS event \
    MATCH (p:Pending {eventId: event}) WHERE p.holder = $holder \
    SET p.leaseUntil = timestamp() + $lasts RETURN count(p) AS renewed";

/// Also ends the holder's claims on the events.
pub(crate) const FINISH: &str = "\
    UNWIND $events AS event \
    OPTIONAL MATCH (c:MuninnClaim {event: event}) \
    FOREACH (_ IN CASE WHEN c.holder = $holder AND c.doneAt IS NULL THEN [1] ELSE [] END | \
    SET c.doneAt = timestamp()) \
    WITH event \
    OPTIONAL MATCH (p:Pending {eventId: event}) WHERE p.holder = $holder \
    DELETE p RETURN count(event) AS finished";

pub(crate) const IS_PENDING: &str = "\
    MATCH (p:Pending {eventId: $event}) RETURN p.id AS id LIMIT 1";

pub(crate) const ERASE: &str = "\
    MATCH (p:Pending {eventId: $event}) DELETE p RETURN count(*) AS erased";

/// Some messages whose lease has ended, or that this holder had before a restart, oldest first. A process that assumed to be
/// alone may have answered while the graph was away, which only its journal shows; its messages are left to it until the
/// process itself counts as dead. A process that waited for the lock of a message notices that it is taken.
pub(crate) const TAKE_OVER: &str = "\
    MATCH (p:Pending) WHERE p.platform IN $platforms AND coalesce(p.takes, 0) < $mostTakes \
    AND (($own AND p.holder = $holder) OR (p.leaseUntil < timestamp() AND NOT EXISTS { \
    MATCH (m:MuninnProcess {holder: p.holder}) \
    WHERE m.holder <> $holder AND m.until >= timestamp() AND p.platform IN m.alone })) \
    WITH p ORDER BY p.acceptedAt LIMIT $most \
    SET p.touchedAt = timestamp() \
    WITH p WHERE p.leaseUntil < timestamp() OR ($own AND p.holder = $holder) \
    SET p.holder = $holder, p.leaseUntil = timestamp() + $lasts, p.takes = coalesce(p.takes, 0) + 1 \
    RETURN p.payload AS payload";

pub(crate) const RELEASE: &str = "\
    MATCH (p:Pending) WHERE p.holder = $holder SET p.leaseUntil = 0 RETURN count(p) AS released";

pub(crate) const SWEEP: &str = "\
    MATCH (p:Pending) WHERE p.acceptedAt < timestamp() - $kept \
    WITH p LIMIT 1000 DELETE p RETURN count(*) AS removed";

/// The platforms that other live processes serve. `alone` is stored for processes that take messages over: the platforms on
/// which this process assumes to be alone, or will do so after this answer.
pub(crate) const SIGN_IN: &str = "\
    MERGE (m:MuninnProcess {holder: $holder}) \
    SET m.platforms = $platforms, m.until = timestamp() + $lasts \
    WITH m OPTIONAL MATCH (o:MuninnProcess) \
    WHERE o.holder <> $holder AND o.until >= timestamp() \
    WITH m, collect(o.platforms) AS others \
    SET m.alone = [it IN $platforms WHERE it IN $alone OR none(served IN others WHERE it IN served)] \
    RETURN others";

pub(crate) const SERVED: &str = "\
    MATCH (m:MuninnProcess) WHERE m.until >= timestamp() \
    UNWIND m.platforms AS platform RETURN DISTINCT platform ORDER BY platform";

pub(crate) const SIGN_OUT: &str = "\
    MATCH (m:MuninnProcess) WHERE m.holder = $holder OR m.until < timestamp() \
    DELETE m RETURN count(*) AS removed";

//! Checks whether the places of the channel settings are audiences.

use std::collections::BTreeSet;

use muninn::graph::SessionOverview;
use muninn_platform::AudienceId;

/// Returns a sentence about each of these places that is a conversation, and one about those of which nothing is kept:
/// nothing may have been said there yet, or the ID is wrong.
pub(super) fn misplaced(places: &[AudienceId], sessions: &[SessionOverview]) -> Vec<String> {
    let audiences = sessions
        .iter()
        .map(|it| AudienceId::new(it.audience.as_str()));
    let audiences: BTreeSet<AudienceId> = audiences.collect();
    let (mut told, mut unknown) = (Vec::new(), Vec::new());
    for place in places {
        if audiences.iter().any(|it| it.is_within(place)) {
            continue;
        }
        match sessions.iter().find(|it| it.id == place.as_str()) {
            Some(SessionOverview { audience, .. }) => told.push(format!(
                "CHANNEL_SETTINGS has {place}, which is a conversation and no channel: nothing has these settings; write {audience} in its place"
            )),
            None => unknown.push(place.as_str()),
        }
    }
    if !unknown.is_empty() {
        told.push(format!(
            "CHANNEL_SETTINGS has places of which nothing is kept yet: {}; `muninn sessions` shows the audiences there are",
            unknown.join(", ")
        ));
    }
    told
}

#[cfg(test)]
mod tests {
    use chrono::Utc;

    use super::*;

    fn session(id: &str, audience: &str) -> SessionOverview {
        SessionOverview {
            id: id.to_owned(),
            audience: audience.to_owned(),
            created_at: Utc::now(),
            last_at: None,
            turns: 1,
            title: None,
        }
    }

    #[test]
    fn a_place_is_an_audience_or_above_one() {
        let sessions = [
            session("slack/T1/C1/1699.2", "slack/T1/C1"),
            session("slack/T1/C2/private/U1", "slack/T1/C2/private/U1"),
            session("terminal/default", "terminal"),
        ];
        for (place, told) in [
            ("slack/T1/C1", ""),
            ("slack/T1/C2", ""),
            ("slack/T1/C2/private/U1", ""),
            ("slack/T1", ""),
            ("terminal", ""),
            ("slack/T1/C1/1699.2", "write slack/T1/C1 in its place"),
            ("terminal/default", "write terminal in its place"),
            (
                "slack/T1/C1/1700.1",
                "nothing is kept yet: slack/T1/C1/1700.1;",
            ),
            ("slack/T1/C", "nothing is kept yet: slack/T1/C;"),
        ] {
            let found = misplaced(&[AudienceId::new(place)], &sessions);
            let is_right = match told {
                "" => found.is_empty(),
                told => found.len() == 1 && found[0].contains(told),
            };
            assert!(is_right, "{place}: {found:?}");
        }
        let both = ["slack/T1/C8", "slack/T1/C9"].map(AudienceId::new);
        let found = misplaced(&both, &sessions);
        assert!(
            found[0].contains("yet: slack/T1/C8, slack/T1/C9;"),
            "{found:?}"
        );
        assert_eq!(found.len(), 1);
    }
}

//! The places that a program can read at this moment, and those that a call is about.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId};

use super::call::{Mcp, Refused};
use super::caller::Caller;
use crate::graph::accounts::Account;

/// The audience of all terminals.
const TERMINAL: &str = "terminal";
/// Maximum number of places searched together.
const MOST_SEARCHED: usize = 50;
/// Maximum number of places listed as choices.
const MOST_NAMED: usize = 12;

/// A channel, room or direct message, with what the person asks privately there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// As far as it is known; a place in which nothing was kept is not.
    pub(super) audience: Audience,
    /// The audiences whose memory it has: its own, and the person's private one there.
    pub(super) memories: Vec<AudienceId>,
}

impl Place {
    pub(super) fn id(&self) -> &AudienceId {
        &self.audience.id
    }

    /// Whether this account alone reads it.
    pub(super) fn is_direct(&self, account: &Account) -> bool {
        self.audience.private_to.as_deref() == Some(&account.id)
    }

    fn is_called(&self, name: &str) -> bool {
        let bare = name.strip_prefix('#').unwrap_or(name);
        let own = self.audience.name.strip_prefix('#');
        own.unwrap_or(&self.audience.name)
            .eq_ignore_ascii_case(bare)
    }
}

impl Mcp {
    /// Every place that the program can read now. Asks the platforms.
    pub(super) async fn places(&self, caller: &Caller) -> Result<Vec<Place>, Refused> {
        let data = &self.data;
        let named = caller.places.as_deref().unwrap_or_default();
        let wanted = |place: &AudienceId| caller.reads(place);
        let mut readable = data.readable.by(&caller.account, named, wanted).await?;
        // Nobody has to have used a terminal before, so that a program there can begin.
        let terminal = AudienceId::new(TERMINAL);
        let is_at_terminal = caller.account.id.starts_with("terminal/");
        if is_at_terminal && caller.reads(&terminal) && !readable.contains(&terminal) {
            readable.push(terminal);
        }
        let known = data.store.places(&readable).await?;
        Ok(grouped(&readable, &known))
    }

    /// The named place, or all.
    pub(super) async fn chosen_places(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<Vec<Place>, Refused> {
        let places = self.places(caller).await?;
        match named {
            Some(named) => Ok(vec![chosen(&places, named)?]),
            None => Ok(places),
        }
    }

    /// The places that are searched together, and the number of those that are left out.
    pub(super) async fn searched_places(
        &self,
        places: Vec<Place>,
    ) -> Result<(Vec<Place>, usize), Refused> {
        // Their order is of consequence only where some are left out.
        let used = match places.len() > MOST_SEARCHED {
            true => {
                let ids = places.iter().flat_map(|it| &it.memories);
                let ids: Vec<&AudienceId> = ids.collect();
                self.data.store.last_used(&ids).await?
            }
            false => HashMap::new(),
        };
        Ok(searched(places, &used))
    }

    /// The place of a call: the named one, else the person's direct messages with the bot, else the only one.
    pub(super) async fn place(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<Place, Refused> {
        let places = self.places(caller).await?;
        if let Some(named) = named {
            return chosen(&places, named);
        }
        default_place(&places, &caller.account)
    }
}

/// Direct messages come first, so that none is left out for a channel, and then the places that were used last.
fn searched(
    mut places: Vec<Place>,
    used: &HashMap<AudienceId, DateTime<Utc>>,
) -> (Vec<Place>, usize) {
    let last_used = |place: &Place| {
        let used = place.memories.iter().filter_map(|it| used.get(it));
        used.max().copied()
    };
    places.sort_by_key(|it| (it.audience.private_to.is_none(), Reverse(last_used(it))));
    let left_out = places.len().saturating_sub(MOST_SEARCHED);
    places.truncate(MOST_SEARCHED);
    (places, left_out)
}

/// Channels with what is asked privately in them, ordered by the channels' IDs.
fn grouped(readable: &[AudienceId], known: &[Audience]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for id in readable {
        let channel = id.channel();
        let of_channel = places.iter_mut().find(|it| *it.id() == channel);
        if let Some(place) = of_channel {
            place.memories.push(id.clone());
            continue;
        }
        let described = known.iter().find(|it| it.id == channel);
        // If only something private of a channel was kept, its name is taken from that.
        let described = described.or_else(|| known.iter().find(|it| it.id == *id));
        let platform = || id.as_str().split('/').next().unwrap_or_default().to_owned();
        let audience = match described {
            Some(described) => Audience {
                private_to: match described.id == channel {
                    true => described.private_to.clone(),
                    false => None,
                },
                id: channel,
                ..described.clone()
            },
            None => Audience {
                platform: platform(),
                workspace: String::new(),
                name: channel.to_string(),
                private_to: None,
                id: channel,
            },
        };
        places.push(Place {
            audience,
            memories: vec![id.clone()],
        });
    }
    places.sort_by(|one, other| one.id().cmp(other.id()));
    places
}

fn chosen(places: &[Place], named: &str) -> Result<Place, Refused> {
    let named = named.trim();
    if let Some(at) = places.iter().position(|it| it.id().as_str() == named) {
        return Ok(places[at].clone());
    }
    let mut called = places.iter().filter(|it| it.is_called(named));
    match (called.next(), called.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(_), Some(_)) => Err(Refused::Because(format!(
            "several places are called {named:?}; give the id of one: {}",
            names(places)
        ))),
        // A place that they may not read is treated as missing.
        (None, _) => Err(Refused::Because(format!(
            "there is no place {named:?} that you may read; there are: {}",
            names(places)
        ))),
    }
}

fn default_place(places: &[Place], account: &Account) -> Result<Place, Refused> {
    let direct = places.iter().find(|it| it.is_direct(account));
    match (direct, places) {
        (Some(place), _) | (None, [place]) => Ok(place.clone()),
        (None, []) => Err(Refused::Because(
            "there is no place that you may read: talk with the bot in one first".to_owned(),
        )),
        (None, several) => Err(Refused::Because(format!(
            "say in which place, as `place`: {}",
            names(several)
        ))),
    }
}

fn names(places: &[Place]) -> String {
    let named = places.iter().take(MOST_NAMED);
    let named = named.map(|it| format!("{} ({})", it.id(), it.audience.name));
    let mut named: Vec<String> = named.collect();
    if places.len() > MOST_NAMED {
        named.push("and others that `list_sources` lists".to_owned());
    }
    match named.is_empty() {
        true => "none".to_owned(),
        false => named.join(", "),
    }
}

/// The private place of a person in a shared place: below its ID, with the part of the account's ID that is not in it.
pub(super) fn aside(place: &Audience, account: &Account) -> Audience {
    let own = account.id.split('/');
    let shared = own.zip(place.id.as_str().split('/'));
    let shared = shared.take_while(|(own, its)| own == its).count();
    let own: Vec<&str> = account.id.split('/').collect();
    let own = own[shared.min(own.len() - 1)..].join("/");
    Audience {
        id: AudienceId::new(format!("{}/private/{own}", place.id)),
        private_to: Some(account.id.clone()),
        ..place.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: &str, name: &str, private_to: Option<&str>) -> Audience {
        Audience {
            id: AudienceId::new(id),
            platform: id.split('/').next().unwrap().to_owned(),
            workspace: String::new(),
            name: name.to_owned(),
            private_to: private_to.map(str::to_owned),
        }
    }

    fn account(id: &str) -> Account {
        Account {
            id: id.to_owned(),
            platform: id.split('/').next().unwrap().to_owned(),
            name: "Ann".to_owned(),
        }
    }

    #[test]
    fn what_is_asked_aside_is_below_the_channel_as_the_platforms_have_it() {
        for (channel, person, expected) in [
            ("slack/T1/C1", "slack/T1/U1", "slack/T1/C1/private/U1"),
            ("discord/1/2", "discord/3", "discord/1/2/private/3"),
            (
                "matrix/!room:a",
                "matrix/@ann/b:a",
                "matrix/!room:a/private/@ann/b:a",
            ),
        ] {
            let aside = aside(&place(channel, "kitchen", None), &account(person));
            assert_eq!(aside.id.as_str(), expected);
            assert_eq!(aside.id.channel().as_str(), channel);
            assert_eq!(aside.private_to.as_deref(), Some(person));
        }
    }

    fn ids(all: &[&str]) -> Vec<AudienceId> {
        all.iter().map(|id| AudienceId::new(*id)).collect()
    }

    #[test]
    fn direct_messages_are_searched_however_many_channels_there_are() {
        let channels = (0..MOST_SEARCHED + 10).map(|number| format!("slack/T/C{number:03}"));
        let mut readable: Vec<AudienceId> = channels.map(AudienceId::new).collect();
        readable.push(AudienceId::new("slack/T/D1"));
        let known = [place("slack/T/D1", "direct", Some("slack/T/U"))];
        let (places, left_out) = searched(grouped(&readable, &known), &HashMap::new());
        assert_eq!((places.len(), left_out), (MOST_SEARCHED, 11));
        assert_eq!(places[0].id().as_str(), "slack/T/D1");
        assert_eq!(places[1].id().as_str(), "slack/T/C000");
        let (few, left_out) = searched(places, &HashMap::new());
        assert_eq!((few.len(), left_out), (MOST_SEARCHED, 0));
    }

    #[test]
    fn of_many_channels_those_that_were_used_last_are_searched() {
        let channels = (0..MOST_SEARCHED + 10).map(|number| format!("slack/T/C{number:03}"));
        let mut readable: Vec<AudienceId> = channels.map(AudienceId::new).collect();
        readable.extend(ids(&["slack/T/C058/private/U", "slack/T/D1"]));
        let known = [place("slack/T/D1", "direct", Some("slack/T/U"))];
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        let used = HashMap::from([
            (AudienceId::new("slack/T/C059"), at(2)),
            (AudienceId::new("slack/T/C058"), at(1)),
            (AudienceId::new("slack/T/C058/private/U"), at(3)),
        ]);
        let (places, _) = searched(grouped(&readable, &known), &used);
        let first: Vec<&str> = places.iter().map(|it| it.id().as_str()).take(4).collect();
        let expected = ["slack/T/D1", "slack/T/C058", "slack/T/C059", "slack/T/C000"];
        assert_eq!(first, expected);
    }

    #[test]
    fn a_channel_and_what_is_asked_privately_in_it_are_one_place() {
        let readable = ids(&[
            "slack/T/C2/private/U",
            "slack/T/C1",
            "slack/T/C1/private/U",
            "slack/T/D1",
        ]);
        let known = [
            place("slack/T/C1", "kitchen", None),
            place("slack/T/D1", "direct", Some("slack/T/U")),
            place("slack/T/C2/private/U", "attic", Some("slack/T/U")),
        ];
        let places = grouped(&readable, &known);
        let named: Vec<(&str, &str, usize, bool)> = places
            .iter()
            .map(|it| {
                let is_direct = it.is_direct(&account("slack/T/U"));
                (
                    it.id().as_str(),
                    &*it.audience.name,
                    it.memories.len(),
                    is_direct,
                )
            })
            .collect();
        assert_eq!(
            named,
            [
                ("slack/T/C1", "kitchen", 2, false),
                ("slack/T/C2", "attic", 1, false),
                ("slack/T/D1", "direct", 1, true),
            ]
        );
        let chosen = |named| chosen(&places, named).map(|it| it.id().to_string());
        assert_eq!(chosen("#Kitchen").unwrap(), "slack/T/C1");
        assert_eq!(chosen("slack/T/C2").unwrap(), "slack/T/C2");
        assert!(
            chosen("cellar")
                .unwrap_err()
                .to_string()
                .contains("slack/T/C1")
        );
        let home = default_place(&places, &account("slack/T/U")).unwrap();
        assert_eq!(home.id().as_str(), "slack/T/D1");
        assert!(default_place(&[], &account("slack/T/U")).is_err());
        assert!(default_place(&places, &account("slack/T/V")).is_err());
    }
}

//! Caches names of people and channels. Slack is asked occasionally; events do not wait long for
//! it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{Language, Recent, TimeZone};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout};

use crate::api::SlackApi;
use crate::errors::ApiError;

/// Maximum number of cached people and channels.
const REMEMBERED: usize = 4_096;

/// How long a response is cached…
const CACHE_LIFETIME: Duration = Duration::from_secs(3_600);

/// …and how long a failed lookup is.
const FAILED_LOOKUP_LIFETIME: Duration = Duration::from_secs(60);

/// How old the response may be on which it depends who may do what: a channel can be shared with
/// other organisations at any time, and a bot's membership ends.
const ACCESS_LIFETIME: Duration = Duration::from_secs(300);

/// Maximum wait of a message for names, within the three seconds for acknowledging it. Later names
/// are replaced by ids until then.
const NAME_LOOKUP_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) name: String,
    /// Is an administrator of the workspace.
    pub(crate) is_admin: bool,
    pub(crate) is_bot: bool,
    pub(crate) time_zone: Option<TimeZone>,
    pub(crate) language: Option<Language>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) name: String,
    /// Shared with other organisations.
    pub(crate) is_shared: bool,
    /// The bot is a member.
    pub(crate) is_member: bool,
    /// Whose direct messages with the bot it is.
    pub(crate) direct_with: Option<String>,
}

/// The result of a lookup, and its time.
struct CachedLookup<T> {
    what: Option<T>,
    at: Instant,
}

/// The cache of one kind of thing, and the lookups in flight.
struct LookupCache<T> {
    known: Mutex<Recent<String, CachedLookup<T>>>,
    asked: Mutex<HashMap<String, Arc<OnceCell<LookupResult<T>>>>>,
}

/// Inner `None`: Slack refused. Outer `None`: it took too long.
type LookupResult<T> = Option<Option<T>>;

pub(crate) struct Directory {
    /// The bot's workspace.
    team: String,
    people: LookupCache<Person>,
    channels: LookupCache<Channel>,
}

impl Directory {
    pub(crate) fn new(team: &str) -> Self {
        Self {
            team: team.to_owned(),
            people: LookupCache::new(),
            channels: LookupCache::new(),
        }
    }

    /// Returns a person, if known in time.
    pub(crate) async fn person(&self, api: &SlackApi, user: &str) -> Option<Person> {
        let arguments = [("user", user), ("include_locale", "true")];
        let ask = || async { api.get("users.info", &arguments).await };
        let read = |answer: &Value| person(&answer["user"], &self.team);
        self.people.look_up(user, CACHE_LIFETIME, ask, read).await
    }

    /// Returns a person's language in Slack, if known already.
    pub(crate) fn language_of(&self, user: &str) -> Option<Language> {
        let people = self.people.known.lock();
        people.get(&user.to_owned())?.what.as_ref()?.language
    }

    /// Returns a person's name, if known already.
    pub(crate) fn name_of(&self, user: &str) -> Option<String> {
        let people = self.people.known.lock();
        let found = people.get(&user.to_owned())?.what.as_ref()?;
        Some(found.name.clone())
    }

    /// Returns a channel, if known in time.
    pub(crate) async fn channel(&self, api: &SlackApi, id: &str) -> Option<Channel> {
        self.known_channel(api, id, CACHE_LIFETIME).await
    }

    /// Returns a channel as it was not long ago, to decide who may do what there. Asks once more if
    /// Slack does not answer in time.
    pub(crate) async fn channel_now(&self, api: &SlackApi, id: &str) -> Option<Channel> {
        match self.known_channel(api, id, ACCESS_LIFETIME).await {
            // A refusal is cached, so that this does not ask again then.
            None => self.known_channel(api, id, ACCESS_LIFETIME).await,
            known => known,
        }
    }

    async fn known_channel(&self, api: &SlackApi, id: &str, lifetime: Duration) -> Option<Channel> {
        let arguments = [("channel", id)];
        let ask = || async { api.get("conversations.info", &arguments).await };
        let read = |answer: &Value| channel(&answer["channel"]);
        self.channels.look_up(id, lifetime, ask, read).await
    }
}

impl<T: Clone> LookupCache<T> {
    fn new() -> Self {
        Self {
            known: Mutex::new(Recent::new(REMEMBERED)),
            asked: Mutex::default(),
        }
    }

    /// Returns the cached value, which may be that old, or asks Slack; concurrent lookups share one
    /// request.
    async fn look_up<F>(
        &self,
        id: &str,
        lifetime: Duration,
        ask: impl FnOnce() -> F,
        read: impl FnOnce(&Value) -> T,
    ) -> Option<T>
    where
        F: Future<Output = Result<Value, ApiError>>,
    {
        if let Some(known) = self.fresh(id, lifetime) {
            return known;
        }
        let cell = {
            let mut asked = self.asked.lock();
            Arc::clone(asked.entry(id.to_owned()).or_default())
        };
        let answered = cell.get_or_init(|| async {
            let answer = in_time(ask()).await?;
            let what = answer.map(|answer| read(&answer));
            let at = Instant::now();
            let found = CachedLookup {
                what: what.clone(),
                at,
            };
            self.known.lock().insert(id.to_owned(), found);
            Some(what)
        });
        let found = answered.await.clone();
        self.asked.lock().remove(id);
        found.flatten()
    }

    fn fresh(&self, id: &str, lifetime: Duration) -> Option<Option<T>> {
        let known = self.known.lock();
        let found = known.get(&id.to_owned())?;
        let lasts = if found.what.is_some() {
            lifetime
        } else {
            FAILED_LOOKUP_LIFETIME
        };
        (found.at.elapsed() < lasts).then(|| found.what.clone())
    }
}

/// Returns Slack's response, if it arrives in time.
async fn in_time(asked: impl Future<Output = Result<Value, ApiError>>) -> LookupResult<Value> {
    match timeout(NAME_LOOKUP_TIMEOUT, asked).await.ok()? {
        Ok(answer) => Some(Some(answer)),
        Err(error) => {
            tracing::debug!(%error, "a name is not known");
            Some(None)
        }
    }
}

/// Whether somebody is known to be of another organisation, with which a channel is shared. Of people
/// of an organisation with several workspaces, Slack tells all of theirs.
fn is_of_another(user: &Value, team: &str) -> bool {
    let listed = user["enterprise_user"]["teams"].as_array();
    let named = user["team_id"].as_str();
    let is_here = named == Some(team) || listed.is_some_and(|all| all.iter().any(|it| it == team));
    // The id may also be that of the whole organisation.
    let is_known = listed.is_some() || named.is_some_and(|named| named.starts_with('T'));
    is_known && !is_here
}

/// `team`: the bot's workspace.
fn person(user: &Value, team: &str) -> Person {
    let profile = &user["profile"];
    let names = [
        &profile["display_name"],
        &profile["real_name"],
        &user["real_name"],
        &user["name"],
    ];
    let name = names
        .iter()
        .find_map(|name| name.as_str().filter(|name| !name.is_empty()));
    Person {
        name: name.unwrap_or("somebody").to_owned(),
        // Of their own workspace, which may be another one.
        is_admin: (user["is_admin"] == true || user["is_owner"] == true)
            && !is_of_another(user, team),
        is_bot: user["is_bot"] == true,
        time_zone: user["tz"].as_str().and_then(|name| name.parse().ok()),
        language: user["locale"].as_str().and_then(Language::of_locale),
    }
}

fn channel(channel: &Value) -> Channel {
    let name = channel["name"].as_str().filter(|name| !name.is_empty());
    Channel {
        name: name.map_or_else(String::new, |name| format!("#{name}")),
        is_shared: channel["is_ext_shared"] == true || channel["is_pending_ext_shared"] == true,
        is_member: channel["is_member"] == true,
        direct_with: channel["user"]
            .as_str()
            .filter(|_| channel["is_im"] == true)
            .map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_admin_of_another_workspace_is_none_here() {
        for (told, is_admin) in [
            (json!({ "is_admin": true, "team_id": "T1" }), true),
            (json!({ "is_owner": true, "team_id": "T1" }), true),
            (json!({ "team_id": "T1" }), false),
            (json!({ "is_admin": true, "team_id": "T2" }), false),
            (json!({ "is_owner": true, "team_id": "T2" }), false),
            // In an organisation with several workspaces.
            (
                json!({ "is_admin": true, "team_id": "T2", "enterprise_user": { "teams": ["T2", "T1"] } }),
                true,
            ),
            (
                json!({ "is_admin": true, "team_id": "E1", "enterprise_user": { "teams": ["T1"] } }),
                true,
            ),
            (
                json!({ "is_admin": true, "team_id": "E2", "enterprise_user": { "teams": ["T3"] } }),
                false,
            ),
            // Slack does not tell whose they are.
            (json!({ "is_admin": true, "team_id": "E1" }), true),
            (json!({ "is_admin": true }), true),
        ] {
            assert_eq!(person(&told, "T1").is_admin, is_admin, "{told}");
        }
    }

    #[test]
    fn people_and_channels_are_read() {
        let ann = person(
            &json!({ "name": "ann", "is_owner": true, "team_id": "T1",
            "tz": "Europe/Lisbon", "locale": "pt-PT",
            "profile": { "display_name": "", "real_name": "Ann Smith" } }),
            "T1",
        );
        let expected = Person {
            name: "Ann Smith".to_owned(),
            is_admin: true,
            is_bot: false,
            time_zone: Some(TimeZone::Europe__Lisbon),
            language: Some(Language::Portuguese),
        };
        assert_eq!(ann, expected);
        assert_eq!(
            person(&json!({ "tz": "Moon/Tranquility" }), "T1").time_zone,
            None
        );
        assert_eq!(person(&json!({}), "T1").name, "somebody");
        let general = channel(&json!({ "name": "general", "is_ext_shared": true }));
        assert_eq!(
            (general.name.as_str(), general.is_shared),
            ("#general", true)
        );
        for (told, direct_with) in [
            (json!({ "is_im": true, "user": "U1" }), Some("U1")),
            (json!({ "is_im": true }), None),
            (json!({ "is_channel": true, "user": "U1" }), None),
        ] {
            assert_eq!(channel(&told).direct_with.as_deref(), direct_with);
        }
    }
}

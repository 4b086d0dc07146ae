//! Who people are and what channels are called. Asked of Slack once in a while; nothing that comes in
//! waits long for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::api::Api;
use crate::errors::ApiError;
use crate::recent::Recent;

/// People and channels that are remembered.
const REMEMBERED: usize = 4_096;

/// What Slack said is believed this long…
const FRESH: Duration = Duration::from_secs(3_600);

/// …and that it said nothing this long.
const UNKNOWN: Duration = Duration::from_secs(60);

/// A message waits at most this long for names, of the three seconds in which it is to be
/// acknowledged. Whose name comes later goes by their id until then.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) name: String,
    /// May administer the workspace.
    pub(crate) is_admin: bool,
    pub(crate) is_bot: bool,
    pub(crate) team: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) name: String,
    /// With people of other organisations.
    pub(crate) is_shared: bool,
    /// The bot is in it.
    pub(crate) is_member: bool,
}

/// What was found, if anything, and when.
struct Found<T> {
    what: Option<T>,
    at: Instant,
}

pub(crate) struct Directory {
    people: Mutex<Recent<String, Found<Person>>>,
    channels: Mutex<Recent<String, Found<Channel>>>,
}

impl Directory {
    pub(crate) fn new() -> Self {
        Self {
            people: Mutex::new(Recent::new(REMEMBERED)),
            channels: Mutex::new(Recent::new(REMEMBERED)),
        }
    }

    /// A person, as far as that is known in time.
    pub(crate) async fn person(&self, api: &Api, user: &str) -> Option<Person> {
        if let Some(known) = fresh(&self.people, user) {
            return known;
        }
        let arguments = [("user", user)];
        let found = in_time(api.get("users.info", &arguments))
            .await?
            .map(|answer| person(&answer["user"]));
        keep(&self.people, user, found.clone());
        found
    }

    /// How a person is called, if that is known already.
    pub(crate) fn name_of(&self, user: &str) -> Option<String> {
        let people = lock(&self.people);
        let found = people.get(&user.to_owned())?.what.as_ref()?;
        Some(found.name.clone())
    }

    /// A channel, as far as that is known in time.
    pub(crate) async fn channel(&self, api: &Api, id: &str) -> Option<Channel> {
        if let Some(known) = fresh(&self.channels, id) {
            return known;
        }
        let arguments = [("channel", id)];
        let found = in_time(api.get("conversations.info", &arguments)).await?;
        let found = found.map(|answer| channel(&answer["channel"]));
        keep(&self.channels, id, found.clone());
        found
    }
}

/// What Slack says; none inside where it refuses, none outside where it takes too long.
async fn in_time(asked: impl Future<Output = Result<Value, ApiError>>) -> Option<Option<Value>> {
    match timeout(PATIENCE, asked).await.ok()? {
        Ok(answer) => Some(Some(answer)),
        Err(error) => {
            tracing::debug!(%error, "a name is not known");
            Some(None)
        }
    }
}

fn fresh<T: Clone>(table: &Mutex<Recent<String, Found<T>>>, id: &str) -> Option<Option<T>> {
    let table = lock(table);
    let found = table.get(&id.to_owned())?;
    let lasts = if found.what.is_some() { FRESH } else { UNKNOWN };
    (found.at.elapsed() < lasts).then(|| found.what.clone())
}

fn keep<T>(table: &Mutex<Recent<String, Found<T>>>, id: &str, what: Option<T>) {
    let at = Instant::now();
    lock(table).insert(id.to_owned(), Found { what, at });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Tables of names: whatever a panic left of them is sound.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn person(user: &Value) -> Person {
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
        is_admin: user["is_admin"] == true || user["is_owner"] == true,
        is_bot: user["is_bot"] == true,
        team: user["team_id"].as_str().map(str::to_owned),
    }
}

fn channel(channel: &Value) -> Channel {
    let name = channel["name"].as_str().filter(|name| !name.is_empty());
    Channel {
        name: name.map_or_else(String::new, |name| format!("#{name}")),
        is_shared: channel["is_ext_shared"] == true || channel["is_pending_ext_shared"] == true,
        is_member: channel["is_member"] == true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_and_channels_are_read() {
        let ann = person(&json!({ "name": "ann", "is_owner": true, "team_id": "T1",
            "profile": { "display_name": "", "real_name": "Ann Smith" } }));
        let expected = Person {
            name: "Ann Smith".to_owned(),
            is_admin: true,
            is_bot: false,
            team: Some("T1".to_owned()),
        };
        assert_eq!(ann, expected);
        assert_eq!(person(&json!({})).name, "somebody");
        let general = channel(&json!({ "name": "general", "is_ext_shared": true }));
        assert_eq!(
            (general.name.as_str(), general.is_shared),
            ("#general", true)
        );
    }
}

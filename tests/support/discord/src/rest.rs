//! The REST interface, version 10: maps paths to handlers.

mod answers;
mod channels;
mod directory;
mod messages;
mod registry;
mod threads;

use std::collections::HashMap;

use serde_json::Value;

use crate::Id;
use crate::error::ApiError;
use crate::server::multipart::Sent;
use crate::world::World;

use answers::{Deed, InteractionOperation as Answers};
use channels::ChannelOperation as Channels;
use directory::DirectoryOperation as Directory;
use messages::MessageOperation as Messages;
use registry::{CommandOperation as Registry, CommandScope};
use threads::ThreadOperation as Threads;

/// The handler of a request, and what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Directory(Directory),
    Registry(Registry, CommandScope),
    Channel(Channels),
    Message(Messages),
    Thread(Threads),
    Answer(Answers),
}

impl Route {
    /// Whether the path contains a key of its own, or the route is public.
    pub(crate) fn needs_no_token(self) -> bool {
        matches!(self, Self::Answer(_) | Self::Directory(Directory::Gateway))
    }

    /// Whether it creates something, which the response's status shows.
    pub(crate) fn creates(self) -> bool {
        matches!(self, Self::Thread(Threads::Open | Threads::OpenFrom))
    }
}

/// Methods and paths, named as in the published description; the first match counts.
const ROUTES: &[(&str, &str, Route)] = &[
    ("GET", "/gateway", Route::Directory(Directory::Gateway)),
    (
        "GET",
        "/gateway/bot",
        Route::Directory(Directory::GatewayBot),
    ),
    ("GET", "/users/@me", Route::Directory(Directory::Me)),
    (
        "GET",
        "/users/@me/guilds",
        Route::Directory(Directory::MyGuilds),
    ),
    (
        "POST",
        "/users/@me/channels",
        Route::Directory(Directory::OpenDirect),
    ),
    (
        "GET",
        "/applications/@me",
        Route::Directory(Directory::Application),
    ),
    (
        "GET",
        "/oauth2/applications/@me",
        Route::Directory(Directory::Application),
    ),
    (
        "GET",
        "/applications/{application_id}/commands",
        Route::Registry(Registry::All, CommandScope::Everywhere),
    ),
    (
        "PUT",
        "/applications/{application_id}/commands",
        Route::Registry(Registry::Set, CommandScope::Everywhere),
    ),
    (
        "GET",
        "/applications/{application_id}/guilds/{guild_id}/commands",
        Route::Registry(Registry::All, CommandScope::Guild),
    ),
    (
        "PUT",
        "/applications/{application_id}/guilds/{guild_id}/commands",
        Route::Registry(Registry::Set, CommandScope::Guild),
    ),
    (
        "GET",
        "/channels/{channel_id}",
        Route::Channel(Channels::Look),
    ),
    (
        "PATCH",
        "/channels/{channel_id}",
        Route::Channel(Channels::Edit),
    ),
    (
        "GET",
        "/channels/{channel_id}/messages",
        Route::Message(Messages::List),
    ),
    (
        "POST",
        "/channels/{channel_id}/messages",
        Route::Message(Messages::Post),
    ),
    (
        "GET",
        "/channels/{channel_id}/messages/{message_id}",
        Route::Message(Messages::Look),
    ),
    (
        "PATCH",
        "/channels/{channel_id}/messages/{message_id}",
        Route::Message(Messages::Edit),
    ),
    (
        "DELETE",
        "/channels/{channel_id}/messages/{message_id}",
        Route::Message(Messages::Remove),
    ),
    (
        "POST",
        "/channels/{channel_id}/typing",
        Route::Channel(Channels::Type),
    ),
    (
        "POST",
        "/channels/{channel_id}/messages/{message_id}/threads",
        Route::Thread(Threads::OpenFrom),
    ),
    (
        "POST",
        "/channels/{channel_id}/threads",
        Route::Thread(Threads::Open),
    ),
    (
        "GET",
        "/channels/{channel_id}/threads/archived/public",
        Route::Thread(Threads::Archived),
    ),
    (
        "PUT",
        "/channels/{channel_id}/thread-members/{user_id}",
        Route::Thread(Threads::Add),
    ),
    (
        "GET",
        "/channels/{channel_id}/thread-members/{user_id}",
        Route::Thread(Threads::Member),
    ),
    (
        "GET",
        "/guilds/{guild_id}",
        Route::Directory(Directory::Guild),
    ),
    (
        "GET",
        "/guilds/{guild_id}/channels",
        Route::Directory(Directory::GuildChannels),
    ),
    (
        "GET",
        "/guilds/{guild_id}/members/{user_id}",
        Route::Directory(Directory::GuildMember),
    ),
    (
        "POST",
        "/interactions/{interaction_id}/{interaction_token}/callback",
        Route::Answer(Answers::Callback),
    ),
    (
        "POST",
        "/webhooks/{webhook_id}/{webhook_token}",
        Route::Answer(Answers::FollowUp),
    ),
    (
        "PATCH",
        "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
        Route::Answer(Answers::Original(Deed::Edit)),
    ),
    (
        "DELETE",
        "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
        Route::Answer(Answers::Original(Deed::Remove)),
    ),
    (
        "PATCH",
        "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        Route::Answer(Answers::One(Deed::Edit)),
    ),
    (
        "DELETE",
        "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        Route::Answer(Answers::One(Deed::Remove)),
    ),
];

/// A path that the server knows.
#[derive(Clone, Debug)]
pub(crate) struct RouteMatch {
    pub(crate) route: Route,
    /// Its name in the published description.
    pub(crate) template: &'static str,
    pub(crate) params: Vec<String>,
}

impl RouteMatch {
    /// Returns the part of the path that has its own rate limits: a channel, a server, or a webhook
    /// with its token.
    pub(crate) fn major(&self) -> String {
        let count = match self.route {
            Route::Answer(_) => 2,
            Route::Directory(_)
            | Route::Registry(..)
            | Route::Channel(_)
            | Route::Message(_)
            | Route::Thread(_) => 1,
        };
        let params: Vec<&str> = self.params.iter().take(count).map(String::as_str).collect();
        params.join("/")
    }
}

/// A request, as far as its response depends on it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) route: Route,
    pub(crate) params: Vec<String>,
    pub(crate) query: &'a HashMap<String, String>,
    pub(crate) body: &'a Value,
    /// Files that came with it.
    pub(crate) files: &'a [Sent],
    /// The application; zero if the path contains its own key.
    pub(crate) app: Id,
}

impl Call<'_> {
    /// Returns an id from the path.
    pub(crate) fn id(&self, number: usize) -> Result<Id, ApiError> {
        let text = self
            .params
            .get(number)
            .map(String::as_str)
            .unwrap_or_default();
        Id::parse(text).ok_or_else(|| {
            let message = format!("Value \"{text}\" is not snowflake.");
            ApiError::invalid_form(vec![crate::error::Wrong::new(
                "id",
                "NUMBER_TYPE_COERCE",
                message,
            )])
        })
    }

    pub(crate) fn text(&self, number: usize) -> &str {
        self.params
            .get(number)
            .map(String::as_str)
            .unwrap_or_default()
    }

    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }
}

/// Finds the route of a path.
pub(crate) fn find(method: &str, path: &str) -> Result<RouteMatch, ApiError> {
    let path = path
        .strip_prefix("/api/v10")
        .ok_or_else(ApiError::not_found)?;
    let mut error = ApiError::not_found();
    for (of, template, route) in ROUTES {
        let Some(params) = fit(template, path) else {
            continue;
        };
        if *of == method {
            return Ok(RouteMatch {
                route: *route,
                template,
                params,
            });
        }
        error = ApiError::method_not_allowed();
    }
    Err(error)
}

fn fit(template: &str, path: &str) -> Option<Vec<String>> {
    let mut params = Vec::new();
    let (mut wanted, mut there) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), there.next()) {
            (None, None) => return Some(params),
            (Some(name), Some(value)) if name.starts_with('{') && !value.is_empty() => {
                params.push(value.to_owned())
            }
            (Some(name), Some(value)) if name == value => {}
            _ => return None,
        }
    }
}

/// Executes a request and returns the response's body; null for none.
pub(crate) fn answer(world: &mut World, call: &Call<'_>) -> Result<Value, ApiError> {
    match call.route {
        Route::Directory(wants) => directory::answer(world, call, wants),
        Route::Registry(wants, scope) => registry::answer(world, call, wants, scope),
        Route::Channel(wants) => channels::answer(world, call, wants),
        Route::Message(wants) => messages::answer(world, call, wants),
        Route::Thread(wants) => threads::answer(world, call, wants),
        Route::Answer(wants) => answers::answer(world, call, wants),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_by_method() {
        let found = find("POST", "/api/v10/channels/1/messages").unwrap();
        assert_eq!(
            (found.route, found.params.as_slice()),
            (Route::Message(Messages::Post), &["1".to_owned()][..])
        );
        let original = find("PATCH", "/api/v10/webhooks/1/t/messages/@original").unwrap();
        assert_eq!(original.route, Route::Answer(Answers::Original(Deed::Edit)));
        // Each interaction has its own limits, and so has each channel.
        let major = (found.major(), original.major());
        assert_eq!(major, ("1".to_owned(), "1/t".to_owned()));
        for (method, path, status) in [
            ("GET", "/api/v10/nothing", 404),
            ("GET", "/api/v9/gateway", 404),
            ("PUT", "/api/v10/gateway", 405),
        ] {
            assert_eq!(find(method, path).unwrap_err().status, status);
        }
    }
}

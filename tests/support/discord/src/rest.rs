//! The REST interface, version 10: from an address to who answers it.

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
use crate::world::World;

/// What a request wants, one for each method and address the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Gateway,
    GatewayBot,
    Me,
    MyGuilds,
    OpenDirect,
    User,
    Application,
    Commands,
    SetCommands,
    AddCommand,
    Command,
    EditCommand,
    RemoveCommand,
    GuildCommands,
    SetGuildCommands,
    AddGuildCommand,
    GuildCommand,
    EditGuildCommand,
    RemoveGuildCommand,
    Channel,
    EditChannel,
    RemoveChannel,
    Messages,
    Post,
    Message,
    EditMessage,
    RemoveMessage,
    BulkDelete,
    Type,
    OpenThreadFrom,
    OpenThread,
    ThreadMembers,
    JoinThread,
    LeaveThread,
    AddThreadMember,
    RemoveThreadMember,
    React,
    Unreact,
    Reactions,
    Guild,
    GuildChannels,
    GuildMembers,
    GuildMember,
    Roles,
    ActiveThreads,
    ArchivedThreads,
    Callback,
    FollowUp,
    Answered,
    EditAnswer,
    RemoveAnswer,
    AnsweredOriginal,
    EditOriginal,
    RemoveOriginal,
}

impl Route {
    /// Its address holds a key of its own, or there is nothing to keep.
    pub(crate) fn needs_no_token(self) -> bool {
        matches!(
            self,
            Self::Gateway
                | Self::Callback
                | Self::FollowUp
                | Self::Answered
                | Self::EditAnswer
                | Self::RemoveAnswer
                | Self::AnsweredOriginal
                | Self::EditOriginal
                | Self::RemoveOriginal
        )
    }
}

/// Methods and addresses, named as in the published description; where two fit, the first does.
const ROUTES: &[(&str, &str, Route)] = &[
    ("GET", "/gateway", Route::Gateway),
    ("GET", "/gateway/bot", Route::GatewayBot),
    ("GET", "/users/@me", Route::Me),
    ("GET", "/users/@me/guilds", Route::MyGuilds),
    ("POST", "/users/@me/channels", Route::OpenDirect),
    ("GET", "/users/{user_id}", Route::User),
    ("GET", "/applications/@me", Route::Application),
    ("GET", "/oauth2/applications/@me", Route::Application),
    (
        "GET",
        "/applications/{application_id}/commands",
        Route::Commands,
    ),
    (
        "PUT",
        "/applications/{application_id}/commands",
        Route::SetCommands,
    ),
    (
        "POST",
        "/applications/{application_id}/commands",
        Route::AddCommand,
    ),
    (
        "GET",
        "/applications/{application_id}/commands/{command_id}",
        Route::Command,
    ),
    (
        "PATCH",
        "/applications/{application_id}/commands/{command_id}",
        Route::EditCommand,
    ),
    (
        "DELETE",
        "/applications/{application_id}/commands/{command_id}",
        Route::RemoveCommand,
    ),
    (
        "GET",
        "/applications/{application_id}/guilds/{guild_id}/commands",
        Route::GuildCommands,
    ),
    (
        "PUT",
        "/applications/{application_id}/guilds/{guild_id}/commands",
        Route::SetGuildCommands,
    ),
    (
        "POST",
        "/applications/{application_id}/guilds/{guild_id}/commands",
        Route::AddGuildCommand,
    ),
    (
        "GET",
        "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
        Route::GuildCommand,
    ),
    (
        "PATCH",
        "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
        Route::EditGuildCommand,
    ),
    (
        "DELETE",
        "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
        Route::RemoveGuildCommand,
    ),
    ("GET", "/channels/{channel_id}", Route::Channel),
    ("PATCH", "/channels/{channel_id}", Route::EditChannel),
    ("DELETE", "/channels/{channel_id}", Route::RemoveChannel),
    ("GET", "/channels/{channel_id}/messages", Route::Messages),
    ("POST", "/channels/{channel_id}/messages", Route::Post),
    (
        "POST",
        "/channels/{channel_id}/messages/bulk-delete",
        Route::BulkDelete,
    ),
    (
        "GET",
        "/channels/{channel_id}/messages/{message_id}",
        Route::Message,
    ),
    (
        "PATCH",
        "/channels/{channel_id}/messages/{message_id}",
        Route::EditMessage,
    ),
    (
        "DELETE",
        "/channels/{channel_id}/messages/{message_id}",
        Route::RemoveMessage,
    ),
    ("POST", "/channels/{channel_id}/typing", Route::Type),
    (
        "POST",
        "/channels/{channel_id}/messages/{message_id}/threads",
        Route::OpenThreadFrom,
    ),
    ("POST", "/channels/{channel_id}/threads", Route::OpenThread),
    (
        "GET",
        "/channels/{channel_id}/thread-members",
        Route::ThreadMembers,
    ),
    (
        "PUT",
        "/channels/{channel_id}/thread-members/@me",
        Route::JoinThread,
    ),
    (
        "DELETE",
        "/channels/{channel_id}/thread-members/@me",
        Route::LeaveThread,
    ),
    (
        "PUT",
        "/channels/{channel_id}/thread-members/{user_id}",
        Route::AddThreadMember,
    ),
    (
        "DELETE",
        "/channels/{channel_id}/thread-members/{user_id}",
        Route::RemoveThreadMember,
    ),
    (
        "PUT",
        "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
        Route::React,
    ),
    (
        "DELETE",
        "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
        Route::Unreact,
    ),
    (
        "GET",
        "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}",
        Route::Reactions,
    ),
    (
        "GET",
        "/channels/{channel_id}/threads/archived/public",
        Route::ArchivedThreads,
    ),
    (
        "GET",
        "/channels/{channel_id}/threads/archived/private",
        Route::ArchivedThreads,
    ),
    ("GET", "/guilds/{guild_id}", Route::Guild),
    ("GET", "/guilds/{guild_id}/channels", Route::GuildChannels),
    ("GET", "/guilds/{guild_id}/members", Route::GuildMembers),
    (
        "GET",
        "/guilds/{guild_id}/members/{user_id}",
        Route::GuildMember,
    ),
    ("GET", "/guilds/{guild_id}/roles", Route::Roles),
    (
        "GET",
        "/guilds/{guild_id}/threads/active",
        Route::ActiveThreads,
    ),
    (
        "POST",
        "/interactions/{interaction_id}/{interaction_token}/callback",
        Route::Callback,
    ),
    (
        "POST",
        "/webhooks/{webhook_id}/{webhook_token}",
        Route::FollowUp,
    ),
    (
        "GET",
        "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
        Route::AnsweredOriginal,
    ),
    (
        "PATCH",
        "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
        Route::EditOriginal,
    ),
    (
        "DELETE",
        "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
        Route::RemoveOriginal,
    ),
    (
        "GET",
        "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        Route::Answered,
    ),
    (
        "PATCH",
        "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        Route::EditAnswer,
    ),
    (
        "DELETE",
        "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        Route::RemoveAnswer,
    ),
];

/// An address that the server knows.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) route: Route,
    /// As the published description names it.
    pub(crate) template: &'static str,
    pub(crate) params: Vec<String>,
}

/// A file that came with a body.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) content: Vec<u8>,
}

/// A request, as far as its answer depends on it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) route: Route,
    pub(crate) params: Vec<String>,
    pub(crate) query: &'a HashMap<String, String>,
    pub(crate) body: &'a Value,
    pub(crate) files: &'a [File],
    /// Who asks; zero where the address holds its own key.
    pub(crate) app: Id,
}

impl Call<'_> {
    /// An id in the address.
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

/// What an address means.
pub(crate) fn find(method: &str, path: &str) -> Result<Found, ApiError> {
    let path = path
        .strip_prefix("/api/v10")
        .ok_or_else(ApiError::not_found)?;
    let mut error = ApiError::not_found();
    for (of, template, route) in ROUTES {
        let Some(params) = fit(template, path) else {
            continue;
        };
        if *of == method {
            return Ok(Found {
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

/// Does what is asked and says what the answer is; null for one without a body.
pub(crate) fn answer(world: &mut World, call: &Call<'_>) -> Result<Value, ApiError> {
    match call.route {
        Route::Gateway
        | Route::GatewayBot
        | Route::Me
        | Route::MyGuilds
        | Route::OpenDirect
        | Route::User
        | Route::Application
        | Route::Guild
        | Route::GuildChannels
        | Route::GuildMembers
        | Route::GuildMember
        | Route::Roles
        | Route::ActiveThreads => directory::answer(world, call),
        Route::Commands
        | Route::SetCommands
        | Route::AddCommand
        | Route::Command
        | Route::EditCommand
        | Route::RemoveCommand => registry::answer(world, call, None),
        Route::GuildCommands
        | Route::SetGuildCommands
        | Route::AddGuildCommand
        | Route::GuildCommand
        | Route::EditGuildCommand
        | Route::RemoveGuildCommand => registry::answer(world, call, Some(call.id(1)?)),
        Route::Channel | Route::EditChannel | Route::RemoveChannel | Route::Type => {
            channels::answer(world, call)
        }
        Route::Messages
        | Route::Post
        | Route::Message
        | Route::EditMessage
        | Route::RemoveMessage
        | Route::BulkDelete
        | Route::React
        | Route::Unreact
        | Route::Reactions => messages::answer(world, call),
        Route::OpenThreadFrom
        | Route::OpenThread
        | Route::ThreadMembers
        | Route::JoinThread
        | Route::LeaveThread
        | Route::AddThreadMember
        | Route::RemoveThreadMember
        | Route::ArchivedThreads => threads::answer(world, call),
        Route::Callback
        | Route::FollowUp
        | Route::Answered
        | Route::EditAnswer
        | Route::RemoveAnswer
        | Route::AnsweredOriginal
        | Route::EditOriginal
        | Route::RemoveOriginal => answers::answer(world, call),
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
            (Route::Post, &["1".to_owned()][..])
        );
        let original = find("PATCH", "/api/v10/webhooks/1/t/messages/@original").unwrap();
        assert_eq!(original.route, Route::EditOriginal);
        for (method, path, status) in [
            ("GET", "/api/v10/nothing", 404),
            ("GET", "/api/v9/gateway", 404),
            ("PUT", "/api/v10/gateway", 405),
        ] {
            assert_eq!(find(method, path).unwrap_err().status, status);
        }
    }
}

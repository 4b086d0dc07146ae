//! Accounts: people, bots and webhooks.

use serde_json::{Value, json};

use crate::Id;

#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) is_bot: bool,
    /// Accepts no direct messages.
    pub(crate) is_closed: bool,
    /// The language of their Discord.
    pub(crate) locale: String,
}

impl User {
    pub(crate) fn json(&self) -> Value {
        let mut user = json!({
            "id": self.id.json(), "username": self.name, "discriminator": "0", "global_name": null,
            "avatar": null, "banner": null, "accent_color": null, "avatar_decoration_data": null,
            "collectibles": null, "primary_guild": null, "public_flags": 0, "flags": 0,
        });
        if self.is_bot {
            user["bot"] = Value::Bool(true);
        }
        user
    }

    /// Returns it as the account itself receives it.
    pub(crate) fn own_json(&self) -> Value {
        let mut user = self.json();
        let own = json!({ "mfa_enabled": false, "locale": self.locale, "premium_type": 0, "email": null, "verified": true });
        for (name, value) in own.as_object().into_iter().flatten() {
            user[name] = value.clone();
        }
        user
    }
}

/// An application; its bot's account has the same id.
#[derive(Clone, Debug)]
pub(crate) struct DiscordApplication {
    pub(crate) id: Id,
    pub(crate) token: String,
    /// The privileged intents that its owner has enabled.
    pub(crate) privileged: u64,
    pub(crate) owner: Id,
    /// The number of shards that Discord recommends.
    pub(crate) shards: u64,
}

impl DiscordApplication {
    /// Returns the flags of an application in fewer than a hundred servers: presence, members,
    /// content.
    pub(crate) fn flags(&self) -> u64 {
        [(8, 13), (1, 15), (15, 19)]
            .into_iter()
            .filter(|(intent, _)| self.privileged & (1 << intent) != 0)
            .fold(0, |flags, (_, flag)| flags | 1 << flag)
    }

    pub(crate) fn json(&self, bot: &User, owner: &User, guilds: usize) -> Value {
        json!({
            "id": self.id.json(), "name": bot.name, "icon": null, "description": "", "type": null,
            "bot": bot.json(), "bot_public": true, "bot_require_code_grant": false, "summary": "",
            "verify_key": "0".repeat(64), "flags": self.flags(), "flags_new": self.flags().to_string(),
            "redirect_uris": [], "interactions_endpoint_url": null, "role_connections_verification_url": null,
            "owner": owner.json(), "approximate_guild_count": guilds, "approximate_user_install_count": 0,
            "approximate_user_authorization_count": 0, "event_webhooks_url": null, "event_webhooks_status": 1,
            "event_webhooks_types": [], "explicit_content_filter": 0, "team": null, "eligible_oauth2_scopes": [],
            "integration_types_config": { "0": {} }, "hook": true, "is_monetized": false,
        })
    }
}

/// Posts in a channel without an account.
#[derive(Clone, Debug)]
pub(crate) struct WebhookState {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) channel: Id,
}

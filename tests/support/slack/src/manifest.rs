//! Checks whether Slack would accept an app's manifest, by docs.slack.dev/reference/app-manifest,
//! and which scopes its events need.

use serde_json::Value;

/// The scopes of which an event needs one. Other events need none, or are unknown.
pub(crate) const EVENT_SCOPES: &[(&str, &[&str])] = &[
    ("app_mention", &["app_mentions:read"]),
    ("assistant_thread_context_changed", &["assistant:write"]),
    ("assistant_thread_started", &["assistant:write"]),
    ("channel_deleted", &["channels:read"]),
    ("file_shared", &["files:read"]),
    ("group_deleted", &["groups:read"]),
    ("member_joined_channel", &["channels:read", "groups:read"]),
    ("member_left_channel", &["channels:read", "groups:read"]),
    ("message.channels", &["channels:history"]),
    ("message.groups", &["groups:history"]),
    ("message.im", &["im:history"]),
    ("message.mpim", &["mpim:history"]),
    ("reaction_added", &["reactions:read"]),
    ("reaction_removed", &["reactions:read"]),
    ("team_join", &["users:read"]),
];

/// Further events that a bot like ours can subscribe to.
const FREE_EVENTS: &[&str] = &[
    "agent_session_stopped",
    "agent_session_title_changed",
    "app_context_changed",
    "app_home_opened",
    "app_rate_limited",
    "app_uninstalled",
    "channel_archive",
    "channel_left",
    "channel_rename",
    "channel_unarchive",
    "tokens_revoked",
];

/// What a field of a manifest must be.
enum ManifestFieldType {
    /// A text of at most this many characters.
    Text(usize),
    Flag,
    /// An https URL.
    Url,
    Word(&'static [&'static str]),
    /// Anything.
    Any,
    /// An object with the fields whose paths continue from here.
    Group,
    /// At most this many objects, with the fields whose paths continue from here.
    Groups(usize),
}

/// All fields by path; required ones end in `!`.
const FIELDS: &[(&str, ManifestFieldType)] = &[
    ("_metadata", ManifestFieldType::Any),
    ("display_information!", ManifestFieldType::Group),
    ("display_information.name!", ManifestFieldType::Text(35)),
    (
        "display_information.description",
        ManifestFieldType::Text(140),
    ),
    (
        "display_information.long_description",
        ManifestFieldType::Text(4_000),
    ),
    (
        "display_information.background_color",
        ManifestFieldType::Text(7),
    ),
    ("features", ManifestFieldType::Group),
    ("features.agent_view", ManifestFieldType::Group),
    (
        "features.agent_view.agent_description",
        ManifestFieldType::Text(300),
    ),
    (
        "features.agent_view.suggested_prompts",
        ManifestFieldType::Groups(4),
    ),
    (
        "features.agent_view.suggested_prompts.title!",
        ManifestFieldType::Text(255),
    ),
    (
        "features.agent_view.suggested_prompts.message!",
        ManifestFieldType::Text(4_000),
    ),
    ("features.agent_view.actions", ManifestFieldType::Any),
    ("features.app_home", ManifestFieldType::Group),
    (
        "features.app_home.home_tab_enabled",
        ManifestFieldType::Flag,
    ),
    (
        "features.app_home.messages_tab_enabled",
        ManifestFieldType::Flag,
    ),
    (
        "features.app_home.messages_tab_read_only_enabled",
        ManifestFieldType::Flag,
    ),
    ("features.assistant_view", ManifestFieldType::Group),
    (
        "features.assistant_view.assistant_description!",
        ManifestFieldType::Text(300),
    ),
    (
        "features.assistant_view.suggested_prompts",
        ManifestFieldType::Groups(4),
    ),
    (
        "features.assistant_view.suggested_prompts.title!",
        ManifestFieldType::Text(255),
    ),
    (
        "features.assistant_view.suggested_prompts.message!",
        ManifestFieldType::Text(4_000),
    ),
    ("features.bot_user", ManifestFieldType::Group),
    (
        "features.bot_user.display_name!",
        ManifestFieldType::Text(80),
    ),
    ("features.bot_user.always_online", ManifestFieldType::Flag),
    ("features.shortcuts", ManifestFieldType::Groups(10)),
    ("features.shortcuts.name!", ManifestFieldType::Text(24)),
    (
        "features.shortcuts.type!",
        ManifestFieldType::Word(&["global", "message"]),
    ),
    (
        "features.shortcuts.callback_id!",
        ManifestFieldType::Text(255),
    ),
    (
        "features.shortcuts.description!",
        ManifestFieldType::Text(150),
    ),
    ("features.slash_commands", ManifestFieldType::Groups(50)),
    (
        "features.slash_commands.command!",
        ManifestFieldType::Text(32),
    ),
    (
        "features.slash_commands.description!",
        ManifestFieldType::Text(2_000),
    ),
    (
        "features.slash_commands.should_escape",
        ManifestFieldType::Flag,
    ),
    ("features.slash_commands.url", ManifestFieldType::Url),
    (
        "features.slash_commands.usage_hint",
        ManifestFieldType::Text(1_000),
    ),
    ("oauth_config", ManifestFieldType::Group),
    ("oauth_config.redirect_urls", ManifestFieldType::Any),
    ("oauth_config.scopes", ManifestFieldType::Group),
    ("oauth_config.scopes.bot", ManifestFieldType::Any),
    ("oauth_config.scopes.bot_optional", ManifestFieldType::Any),
    ("settings", ManifestFieldType::Group),
    ("settings.event_subscriptions", ManifestFieldType::Group),
    (
        "settings.event_subscriptions.bot_events",
        ManifestFieldType::Any,
    ),
    (
        "settings.event_subscriptions.request_url",
        ManifestFieldType::Url,
    ),
    ("settings.interactivity", ManifestFieldType::Group),
    (
        "settings.interactivity.is_enabled!",
        ManifestFieldType::Flag,
    ),
    ("settings.interactivity.request_url", ManifestFieldType::Url),
    ("settings.org_deploy_enabled", ManifestFieldType::Flag),
    ("settings.socket_mode_enabled", ManifestFieldType::Flag),
    ("settings.token_rotation_enabled", ManifestFieldType::Flag),
];

/// Returns what Slack would refuse in a manifest, or what would not work; empty for a valid one.
pub fn manifest_faults(manifest: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    of_group(manifest, "", &mut faults);
    let features = &manifest["features"];
    let settings = &manifest["settings"];
    if features["agent_view"].is_object() && features["assistant_view"].is_object() {
        faults.push("features: agent_view beside assistant_view".to_owned());
    }
    for command in features["slash_commands"].as_array().into_iter().flatten() {
        if !command["command"]
            .as_str()
            .is_some_and(|command| command.starts_with('/'))
        {
            faults.push(format!(
                "slash_commands: a command begins with a slash: {}",
                command["command"]
            ));
        }
    }
    of_addresses(features, settings, &mut faults);
    of_scopes(manifest, &mut faults);
    faults
}

fn of_group(value: &Value, path: &str, faults: &mut Vec<String>) {
    let Some(fields) = value.as_object() else {
        return faults.push(format!("{path}: no object"));
    };
    let at = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    for (name, value) in fields {
        let path = at(name);
        match FIELDS
            .iter()
            .find(|(known, _)| known.trim_end_matches('!') == path)
        {
            Some((_, shape)) => of_field(value, shape, &path, faults),
            None => faults.push(format!("{path}: no such field")),
        }
    }
    for (known, _) in FIELDS {
        let required = known.strip_suffix('!');
        let own = required.and_then(|known| known.strip_prefix(&at("")));
        if let Some(name) = own.filter(|name| !name.contains('.'))
            && !fields.contains_key(name)
        {
            faults.push(format!("{}: is missing", at(name)));
        }
    }
}

fn of_field(value: &Value, shape: &ManifestFieldType, path: &str, faults: &mut Vec<String>) {
    let text = value.as_str();
    let is_right = match shape {
        ManifestFieldType::Text(most) => {
            text.is_some_and(|text| (1..=*most).contains(&text.chars().count()))
        }
        ManifestFieldType::Flag => value.is_boolean(),
        ManifestFieldType::Url => text.is_some_and(|text| text.starts_with("https://")),
        ManifestFieldType::Word(words) => text.is_some_and(|text| words.contains(&text)),
        ManifestFieldType::Any => true,
        ManifestFieldType::Group => return of_group(value, path, faults),
        ManifestFieldType::Groups(most) => {
            let groups = value.as_array().map_or(&[][..], Vec::as_slice);
            groups
                .iter()
                .for_each(|group| of_group(group, path, faults));
            (1..=*most).contains(&groups.len())
        }
    };
    if !is_right {
        faults.push(format!("{path}: not taken: {}", crate::state::brief(value)));
    }
}

/// Without Socket Mode every kind of delivery needs a URL.
fn of_addresses(features: &Value, settings: &Value, faults: &mut Vec<String>) {
    if settings["socket_mode_enabled"] == true {
        return;
    }
    let events = &settings["event_subscriptions"];
    let interactivity = &settings["interactivity"];
    let mut commands = features["slash_commands"].as_array().into_iter().flatten();
    let wants = [
        (
            events.is_object() && events["request_url"].is_null(),
            "event_subscriptions.request_url",
        ),
        (
            interactivity["is_enabled"] == true && interactivity["request_url"].is_null(),
            "interactivity.request_url",
        ),
        (
            commands.any(|command| command["url"].is_null()),
            "slash_commands.url",
        ),
    ];
    for (is_missing, name) in wants {
        if is_missing {
            faults.push(format!("{name}: is missing, and Socket Mode is off"));
        }
    }
}

/// Checks that features and events have their scopes, and that the events exist.
fn of_scopes(manifest: &Value, faults: &mut Vec<String>) {
    let features = &manifest["features"];
    let scopes = &manifest["oauth_config"]["scopes"]["bot"];
    let holds = |scope: &str| {
        scopes
            .as_array()
            .is_some_and(|scopes| scopes.iter().any(|held| held == scope))
    };
    let mut want = |is_wanted: bool, any_of: &[&str], what: &str| {
        if is_wanted && !any_of.iter().any(|scope| holds(scope)) {
            faults.push(format!("{what}: wants the scope {}", any_of.join(" or ")));
        }
    };
    want(
        features["slash_commands"].is_array(),
        &["commands"],
        "slash_commands",
    );
    want(features["shortcuts"].is_array(), &["commands"], "shortcuts");
    want(
        features["agent_view"].is_object(),
        &["assistant:write"],
        "agent_view",
    );
    want(
        features["assistant_view"].is_object(),
        &["assistant:write"],
        "assistant_view",
    );
    let events = &manifest["settings"]["event_subscriptions"]["bot_events"];
    let events = events.as_array().into_iter().flatten();
    let mut unknown = Vec::new();
    for event in events.filter_map(Value::as_str) {
        match EVENT_SCOPES.iter().find(|(name, _)| *name == event) {
            Some((_, scopes)) => want(true, scopes, event),
            None if FREE_EVENTS.contains(&event) => {}
            None => unknown.push(format!("bot_events: no such event: {event}")),
        }
    }
    faults.extend(unknown);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        json!({
            "_metadata": { "major_version": 2 },
            "display_information": { "name": "Muninn" },
            "features": {
                "agent_view": { "agent_description": "Remembers" },
                "bot_user": { "display_name": "muninn" },
                "slash_commands": [{ "command": "/muninn", "description": "Ask" }],
            },
            "oauth_config": { "scopes": { "bot": ["assistant:write", "commands", "im:history"] } },
            "settings": {
                "event_subscriptions": { "bot_events": ["message.im", "app_home_opened"] },
                "interactivity": { "is_enabled": true },
                "socket_mode_enabled": true,
            },
        })
    }

    #[test]
    fn a_good_manifest_has_no_faults() {
        assert_eq!(manifest_faults(&good()), [""; 0]);
    }

    #[test]
    fn each_fault_is_told() {
        let table = [
            (
                "/display_information/name",
                json!("x".repeat(36)),
                "display_information.name: not taken",
            ),
            (
                "/display_information",
                json!({}),
                "display_information.name: is missing",
            ),
            (
                "/features/slash_commands/0/command",
                json!("muninn"),
                "begins with a slash",
            ),
            (
                "/features/slash_commands/0/url",
                json!("http://x"),
                "slash_commands.url: not taken",
            ),
            (
                "/features/assistant_view",
                json!({ "assistant_description": "x" }),
                "beside assistant_view",
            ),
            ("/features/wings", json!(2), "features.wings: no such field"),
            (
                "/oauth_config/scopes/bot/2",
                json!("im:read"),
                "message.im: wants the scope im:history",
            ),
            (
                "/settings/socket_mode_enabled",
                json!(false),
                "slash_commands.url: is missing",
            ),
            (
                "/settings/event_subscriptions/bot_events/0",
                json!("message"),
                "no such event: message",
            ),
        ];
        for (place, value, fault) in table {
            let mut manifest = good();
            match manifest.pointer_mut(place) {
                Some(held) => *held = value,
                None => {
                    let (parent, name) = place.rsplit_once('/').unwrap();
                    manifest.pointer_mut(parent).unwrap()[name] = value;
                }
            }
            let faults = manifest_faults(&manifest);
            assert!(
                faults.iter().any(|told| told.contains(fault)),
                "{place}: {faults:?}"
            );
        }
    }
}

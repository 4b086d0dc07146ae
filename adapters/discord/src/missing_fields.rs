//! Completes events and messages in which a field is missing that serenity requires. Pure.
//!
//! serenity gives up an event as a whole if one field is missing, also a field that Discord
//! documents as optional, added lately, or leaves out of its own examples. The bot uses few fields
//! of an event, so the others get a neutral value.

use serde_json::{Map, Value, from_value, json};
use serenity::model::channel::Message;
use serenity::model::event::{Event, UnknownEvent};
use serenity::model::id::MessageId;

type Fields = Map<String, Value>;

/// An event that the bot uses, and cannot read.
#[derive(Debug)]
pub(crate) struct UnreadableEvent {
    pub(crate) kind: String,
    /// What is wrong with it, without anything that it says.
    pub(crate) reason: String,
}

/// Reads an event that serenity could not read. `None`: the bot does not use it.
pub(crate) fn read_completed(raw: UnknownEvent) -> Result<Option<Event>, UnreadableEvent> {
    let (kind, mut value) = (raw.kind, raw.value);
    if is_without_content(&kind, &value) {
        return Ok(None);
    }
    complete(&kind, &mut value);
    let read = match kind.as_str() {
        "READY" => from_value(value).map(Event::Ready),
        "GUILD_CREATE" => from_value(value).map(Event::GuildCreate),
        "GUILD_UPDATE" => from_value(value).map(Event::GuildUpdate),
        "GUILD_DELETE" => from_value(value).map(Event::GuildDelete),
        "CHANNEL_CREATE" => from_value(value).map(Event::ChannelCreate),
        "CHANNEL_UPDATE" => from_value(value).map(Event::ChannelUpdate),
        "CHANNEL_DELETE" => from_value(value).map(Event::ChannelDelete),
        "THREAD_CREATE" => from_value(value).map(Event::ThreadCreate),
        "THREAD_UPDATE" => from_value(value).map(Event::ThreadUpdate),
        "THREAD_DELETE" => from_value(value).map(Event::ThreadDelete),
        "GUILD_ROLE_CREATE" => from_value(value).map(Event::GuildRoleCreate),
        "GUILD_ROLE_UPDATE" => from_value(value).map(Event::GuildRoleUpdate),
        "GUILD_ROLE_DELETE" => from_value(value).map(Event::GuildRoleDelete),
        "GUILD_MEMBER_UPDATE" => from_value(value).map(Event::GuildMemberUpdate),
        "MESSAGE_CREATE" => from_value(value).map(Event::MessageCreate),
        "MESSAGE_UPDATE" => from_value(value).map(Event::MessageUpdate),
        "MESSAGE_DELETE" => from_value(value).map(Event::MessageDelete),
        "MESSAGE_DELETE_BULK" => from_value(value).map(Event::MessageDeleteBulk),
        "INTERACTION_CREATE" => from_value(value).map(Event::InteractionCreate),
        // Discord has many more kinds, and new ones with each version.
        _ => return Ok(None),
    };
    read.map(Some).map_err(|error| UnreadableEvent {
        kind,
        reason: reason(&error),
    })
}

/// A page of a channel's messages.
#[derive(Debug, Default)]
pub(crate) struct MessagePage {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    /// Messages that cannot be read, and what is wrong with each, without anything that it says.
    pub(crate) unreadable: Vec<(MessageId, String)>,
    /// The newest message, if there may be more after it.
    pub(crate) next: Option<MessageId>,
}

/// Reads a page that Discord was asked for. It is full with this many messages.
///
/// # Errors
/// Fails when a message has no id: then it is not known what is left out.
pub(crate) fn read_page(told: Vec<Value>, full: usize) -> serde_json::Result<MessagePage> {
    let is_full = told.len() == full;
    let mut page = MessagePage::default();
    for message in told {
        let id: MessageId = from_value(message["id"].clone())?;
        // Pages have their newest message first.
        page.next = page.next.max(Some(id));
        match read_message(message) {
            Ok(read) => page.messages.push(read),
            Err(error) => page.unreadable.push((id, reason(&error))),
        }
    }
    page.messages.sort_by_key(|message| message.id);
    page.next = page.next.filter(|_| is_full);
    Ok(page)
}

fn read_message(mut told: Value) -> serde_json::Result<Message> {
    complete("MESSAGE_CREATE", &mut told);
    from_value(told)
}

/// Whether an event has nothing that the bot could use: a server that is unavailable now, whose
/// channels are not known, or the channel of direct messages.
fn is_without_content(kind: &str, told: &Value) -> bool {
    match kind {
        "GUILD_CREATE" => told["unavailable"] == true,
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "CHANNEL_DELETE" => told["guild_id"].is_null(),
        _ => false,
    }
}

/// Returns which field is missing. serde's other messages may quote the event.
fn reason(error: &serde_json::Error) -> String {
    let said = error.to_string();
    if said.starts_with("missing field") {
        said
    } else {
        "another form".to_owned()
    }
}

/// Gives an event's fields what serenity requires of this kind.
fn complete(kind: &str, told: &mut Value) {
    let Value::Object(told) = told else {
        return;
    };
    match kind {
        "INTERACTION_CREATE" => complete_interaction(told),
        "MESSAGE_CREATE" => complete_message(told),
        // A field that an update does not have has not changed.
        "MESSAGE_UPDATE" => complete_parts_of_message(told),
        "GUILD_CREATE" | "GUILD_UPDATE" => complete_guild(told),
        "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => within(told, "role", complete_role),
        "GUILD_MEMBER_UPDATE" => set_missing(told, json!({ "joined_at": EPOCH })),
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "CHANNEL_DELETE" | "THREAD_CREATE"
        | "THREAD_UPDATE" => complete_channel(told),
        _ => {}
    }
}

/// A time that the bot does not use.
const EPOCH: &str = "1970-01-01T00:00:00Z";

fn complete_interaction(told: &mut Fields) {
    let id = told.get("id").cloned().unwrap_or_default();
    let channel = told.get("channel").and_then(|channel| channel.get("id"));
    let channel = channel.cloned().unwrap_or_default();
    let missing = json!({
        // The bot knows its application.
        "application_id": id, "channel_id": channel, "version": 1, "attachment_size_limit": 0,
        // Of no language.
        "locale": "",
    });
    set_missing(told, missing);
    empty(told, &["entitlements"]);
    within(told, "member", complete_member);
    within(told, "message", complete_message);
    within(told, "channel", complete_channel);
    within(told, "data", |data| {
        set_missing(data, json!({ "id": id, "type": 1 }));
        within(data, "resolved", |resolved| {
            resolved.retain(|name, _| name == "messages");
            within(resolved, "messages", |messages| {
                let messages = messages.values_mut().filter_map(Value::as_object_mut);
                messages.for_each(complete_message);
            });
        });
    });
}

fn complete_message(message: &mut Fields) {
    let missing = json!({
        "content": "", "type": 0, "tts": false, "pinned": false, "mention_everyone": false,
        "mentions": [], "mention_roles": [], "attachments": [],
    });
    set_missing(message, missing);
    empty(message, &["embeds", "reactions"]);
    complete_parts_of_message(message);
}

fn complete_parts_of_message(message: &mut Fields) {
    within(message, "member", |member| {
        set_missing(member, json!({ "roles": [] }));
    });
    within(message, "referenced_message", complete_message);
    within(message, "thread", complete_channel);
    each(message, "attachments", |file| {
        let address = file.get("url").cloned().unwrap_or_default();
        set_missing(file, json!({ "proxy_url": address }));
    });
}

/// Roles and channels are not made up: permissions would be computed without them, and what was
/// missed would count as read.
fn complete_guild(guild: &mut Fields) {
    let missing = json!({
        "name": "", "preferred_locale": "en-US", "joined_at": EPOCH, "large": false,
        "member_count": 0, "members": [], "threads": [], "verification_level": 0,
        "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
        "system_channel_flags": 0, "premium_tier": 0, "nsfw_level": 0,
        "premium_progress_bar_enabled": false,
    });
    set_missing(guild, missing);
    let unused = [
        "emojis",
        "features",
        "guild_scheduled_events",
        "presences",
        "stage_instances",
        "stickers",
        "voice_states",
    ];
    empty(guild, &unused);
    each(guild, "roles", complete_role);
    each(guild, "members", complete_member);
    each(guild, "channels", complete_channel);
    each(guild, "threads", complete_channel);
}

fn complete_role(role: &mut Fields) {
    let color = role.get("color").filter(|color| color.is_u64());
    let color = color.cloned().unwrap_or_else(|| 0.into());
    let missing = json!({
        "name": "", "color": color, "colors": { "primary_color": color }, "position": 0,
        "hoist": false, "managed": false, "mentionable": false,
    });
    set_missing(role, missing);
}

fn complete_member(member: &mut Fields) {
    let missing = json!({ "roles": [], "deaf": false, "mute": false, "flags": 0 });
    set_missing(member, missing);
}

fn complete_channel(channel: &mut Fields) {
    // Whether the bot is in the thread, and since when.
    channel.remove("member");
    within(channel, "thread_metadata", |data| {
        set_missing(
            data,
            json!({ "archived": false, "auto_archive_duration": 1440 }),
        );
    });
}

/// Sets the fields that are missing, or null, to these values.
fn set_missing(fields: &mut Fields, values: Value) {
    let Value::Object(values) = values else {
        return;
    };
    for (name, value) in values.into_iter().filter(|(_, value)| !value.is_null()) {
        let field = fields.entry(name).or_insert(Value::Null);
        if field.is_null() {
            *field = value;
        }
    }
}

/// Empties lists that the bot does not use.
fn empty(fields: &mut Fields, names: &[&str]) {
    for name in names {
        fields.insert((*name).to_owned(), json!([]));
    }
}

/// Completes the object in a field, if there is one.
fn within(fields: &mut Fields, name: &str, complete: impl Fn(&mut Fields)) {
    if let Some(Value::Object(inner)) = fields.get_mut(name) {
        complete(inner);
    }
}

/// Completes each object of a list.
fn each(fields: &mut Fields, name: &str, complete: impl Fn(&mut Fields)) {
    if let Some(Value::Array(all)) = fields.get_mut(name) {
        all.iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(complete);
    }
}

#[cfg(test)]
mod tests {
    use serenity::model::id::{GuildId, UserId};

    use super::*;
    use crate::directory::Change;
    use crate::event::{self, GatewayEvent};
    use crate::interaction::{InteractionKind, UserInteraction};

    const ME: UserId = UserId::new(5);

    /// Reads an event that serenity does not read by itself.
    fn read(kind: &str, told: &Value) -> Option<GatewayEvent> {
        let raw: Event = from_value(json!({ "t": kind, "d": told })).unwrap();
        let Event::Unknown(raw) = raw else {
            panic!("nothing is missing: {told}");
        };
        event::read(read_completed(raw).unwrap()?, ME)
    }

    fn asked(told: &Value) -> UserInteraction {
        match read("INTERACTION_CREATE", told) {
            Some(GatewayEvent::Asked(asked)) => *asked,
            other => panic!("{other:?}"),
        }
    }

    /// As in the examples of Discord's documentation of commands.
    fn member() -> Value {
        json!({
            "user": {
                "id": "53908232506183680", "username": "Mason", "discriminator": "1337",
                "avatar": "a_d5efa99b3eeaa7dd43acca82f5692432", "public_flags": 131141
            },
            "roles": ["539082325061836999"], "premium_since": null, "permissions": "2147483647",
            "pending": false, "nick": null, "mute": false, "is_pending": false, "deaf": false,
            "joined_at": "2017-03-13T19:19:14.040000+00:00"
        })
    }

    fn documented_message() -> Value {
        json!({
            "attachments": [], "author": {
                "avatar": "a_f03401914fb4f3caa9037578ab980920", "discriminator": "6538",
                "id": "167348773423415296", "public_flags": 1, "username": "ian"
            },
            "channel_id": "772908445358620702", "components": [], "content": "some message",
            "edited_timestamp": null, "embeds": [], "flags": 0, "id": "867793854505943041",
            "mention_everyone": false, "mention_roles": [], "mentions": [], "pinned": false,
            "timestamp": "2021-07-22T15:42:57.744000+00:00", "tts": false, "type": 0
        })
    }

    /// The example of a slash command in Discord's documentation.
    fn documented_command() -> Value {
        json!({
            "type": 2, "token": "A_UNIQUE_TOKEN", "member": member(), "id": "786008729715212338",
            "guild_id": "290926798626357999", "app_permissions": "442368",
            "guild_locale": "en-US", "locale": "en-US",
            "data": {
                "options": [{ "type": 3, "name": "cardname", "value": "The Gitrog Monster" }],
                "type": 1, "name": "cardsearch", "id": "771825006014889984"
            },
            "channel_id": "645027906669510667"
        })
    }

    /// The same person and place, with another kind of data.
    fn documented(kind: u8, data: &Value) -> Value {
        let mut told = documented_command();
        told["type"] = json!(kind);
        told["data"] = data.clone();
        told
    }

    #[test]
    fn interactions_are_read_as_the_documentation_prints_them() {
        let command = asked(&documented_command());
        assert_eq!(command.what, InteractionKind::Unknown);
        assert_eq!(command.who.id, UserId::new(53_908_232_506_183_680));
        assert!(command.who.language.is_some());
        let mut ask = documented_command();
        ask["data"]["name"] = json!("ask");
        ask["data"]["options"][0]["name"] = json!("question");
        ask.as_object_mut().unwrap().remove("locale");
        let ask = asked(&ask);
        let expected = InteractionKind::Ask {
            question: "The Gitrog Monster".to_owned(),
            private: false,
            thread: false,
        };
        assert_eq!((ask.what, ask.who.language), (expected, None));
        // Of a message's menu.
        let id = "867793854505943041";
        let data = json!({
            "id": "866818195033292851", "name": "context-menu-message-2", "target_id": id,
            "type": 3, "resolved": { "messages": { id: documented_message() } }
        });
        let InteractionKind::About(quoted) = asked(&documented(2, &data)).what else {
            panic!("no message");
        };
        assert_eq!(quoted.text, "some message");
        let data = json!({ "component_type": 2, "id": 2, "custom_id": "click_me" });
        let mut pressed = documented(3, &data);
        pressed["message"] = documented_message();
        let InteractionKind::Pressed { button, .. } = asked(&pressed).what else {
            panic!("no button");
        };
        assert_eq!(button, "click_me");
        let field = json!({ "type": 4, "id": 2, "custom_id": "text", "value": "five" });
        let row = json!({ "type": 1, "id": 1, "components": [field] });
        let data = json!({ "custom_id": "form", "components": [row] });
        let expected = InteractionKind::Submitted("form".to_owned(), "five".to_owned());
        assert_eq!(asked(&documented(5, &data)).what, expected);
    }

    /// The example of a guild in Discord's documentation, with what is said to come with the
    /// event, and a role as it was before roles had several colors.
    fn documented_guild() -> Value {
        let mut guild = json!({
            "id": "197038439483310086", "name": "Discord Testers",
            "icon": "f64c482b807da4f539cff778d174971c",
            "description": "The official place to report Discord Bugs!", "splash": null,
            "discovery_splash": null, "features": ["ANIMATED_ICON", "COMMUNITY"], "emojis": [],
            "banner": "9b6439a7de04f1d26af92f84ac9e1e4a", "owner_id": "73193882359173120",
            "application_id": null, "region": null, "afk_channel_id": null, "afk_timeout": 300,
            "system_channel_id": null, "widget_enabled": true, "widget_channel_id": null,
            "verification_level": 3, "default_message_notifications": 1, "mfa_level": 1,
            "explicit_content_filter": 2, "max_presences": 40_000, "max_members": 250_000,
            "vanity_url_code": "discord-testers", "premium_tier": 3,
            "premium_subscription_count": 33, "system_channel_flags": 0,
            "preferred_locale": "en-US", "rules_channel_id": "441688182833020939",
            "public_updates_channel_id": "281283303326089216",
            "safety_alerts_channel_id": "281283303326089216"
        });
        let role = json!({
            "id": "197038439483310086", "name": "@everyone", "color": 3_447_003, "hoist": true,
            "icon": null, "unicode_emoji": null, "position": 0, "permissions": "2048",
            "managed": false, "mentionable": false
        });
        let thread = json!({
            "id": "21", "type": 11, "name": "a thread", "parent_id": "20", "member": {},
            "guild_id": "197038439483310086", "thread_metadata": { "archived": false }
        });
        let with_event = json!({
            "roles": [role], "joined_at": "2015-04-26T06:26:56.936000+00:00", "large": false,
            "member_count": 1, "voice_states": [], "members": [member()], "presences": [],
            "channels": [{ "id": "20", "type": 0, "name": "general" }], "threads": [thread],
            "stage_instances": [], "guild_scheduled_events": [], "soundboard_sounds": []
        });
        for (name, value) in with_event.as_object().into_iter().flatten() {
            guild[name] = value.clone();
        }
        guild
    }

    #[test]
    fn a_server_is_known_without_what_was_added_lately_or_is_optional() {
        let read_guild = |told: &Value| match read("GUILD_CREATE", told) {
            Some(GatewayEvent::Changed(Change::Guild(guild, channels))) => (guild, channels),
            other => panic!("{other:?}"),
        };
        let (guild, channels) = read_guild(&documented_guild());
        assert_eq!(guild.id, GuildId::new(197_038_439_483_310_086));
        assert_eq!((guild.roles.len(), channels.len()), (1, 2));
        assert!(channels.iter().all(|channel| channel.guild == guild.id));
        assert!(guild.roles.values().all(|role| role.send_messages()));
        // Channels that are not told are unknown, which is not the same as none.
        let mut bare = documented_guild();
        bare.as_object_mut().unwrap().remove("channels");
        let raw = json!({ "t": "GUILD_CREATE", "d": bare });
        let Event::Unknown(raw) = from_value(raw).unwrap() else {
            panic!("nothing is missing");
        };
        let unreadable = read_completed(raw).unwrap_err();
        assert_eq!(unreadable.kind, "GUILD_CREATE");
        assert_eq!(unreadable.reason, "missing field `channels`");
        let role = documented_guild()["roles"][0].clone();
        let told = json!({ "guild_id": "197038439483310086", "role": role });
        let changed = read("GUILD_ROLE_UPDATE", &told);
        assert!(matches!(
            changed,
            Some(GatewayEvent::Changed(Change::Role(..)))
        ));
    }

    #[test]
    fn a_message_is_read_without_what_it_does_not_have() {
        let author = json!({ "id": "4", "username": "ann" });
        let file = json!({ "id": "8", "filename": "a.txt", "size": 5, "url": "https://a.example" });
        let mut told = json!({
            "id": "100", "channel_id": "20", "guild_id": "1", "author": author, "content": "hello",
            "timestamp": "2021-07-22T15:42:57.744000+00:00", "attachments": [file]
        });
        let Some(GatewayEvent::Said(said)) = read("MESSAGE_CREATE", &told) else {
            panic!("no message");
        };
        assert_eq!((said.text.as_str(), said.files.len()), ("hello", 1));
        assert_eq!(read_message(told.clone()).unwrap().content, "hello");
        assert!(said.is_regular);
        // An update without a text does not empty the message.
        told["edited_timestamp"] = told["timestamp"].clone();
        told.as_object_mut().unwrap().remove("content");
        assert!(read("MESSAGE_UPDATE", &told).is_none());
    }

    #[test]
    fn a_message_that_cannot_be_read_does_not_keep_its_page_from_being_read() {
        let message = |id: &str| {
            json!({
                "id": id, "channel_id": "20", "author": { "id": "4", "username": "ann" },
                "timestamp": "2021-07-22T15:42:57.744000+00:00", "content": id
            })
        };
        let mut unreadable = message("103");
        unreadable["author"] = json!({ "id": "4" });
        let told = vec![unreadable, message("102"), message("101")];
        let page = read_page(told.clone(), 3).unwrap();
        let read = page.messages.iter().map(|it| it.content.as_str());
        assert_eq!(read.collect::<Vec<_>>(), ["101", "102"]);
        let reason = "missing field `username`".to_owned();
        assert_eq!(page.unreadable, [(MessageId::new(103), reason)]);
        // The page is full all the same.
        assert_eq!(page.next, Some(MessageId::new(103)));
        assert_eq!(read_page(told, 100).unwrap().next, None);
        assert!(read_page(vec![json!({ "content": "whose?" })], 100).is_err());
    }

    #[test]
    fn what_the_bot_does_not_use_is_left_out() {
        for (kind, told) in [
            (
                "GUILD_CREATE",
                json!({ "id": "41771983423143937", "unavailable": true }),
            ),
            ("CHANNEL_CREATE", json!({ "id": "20", "type": 1 })),
            ("RESUMED", Value::Null),
            ("SOMETHING_NEW", json!({})),
        ] {
            assert!(read(kind, &told).is_none(), "{kind}");
        }
    }

    #[test]
    fn an_unreadable_event_is_described_without_what_it_says() {
        let told = json!({ "id": "1", "token": 7, "type": 2 });
        let raw = from_value(json!({ "t": "INTERACTION_CREATE", "d": told })).unwrap();
        let Event::Unknown(raw) = raw else {
            panic!("nothing is missing");
        };
        let unreadable = read_completed(raw).unwrap_err();
        assert_eq!(unreadable.reason, "another form");
    }
}

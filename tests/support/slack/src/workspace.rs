//! The workspace: its people, channels and messages, and their changes.
//!
//! Independent of HTTP, sockets and tokens. Events for the app are put into the outbox, if the app
//! subscribed to them, as in Slack.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::app::SlackApp;
use crate::ids::{BOT, BOT_USER, OTHER_TEAM, TEAM, id};
use crate::outgoing::OutgoingDelivery;
use crate::post::{Post, Writer};

/// The kind of a conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChannelKind {
    Public,
    Private,
    /// Between one person and the bot.
    Direct,
    /// Between some people and the bot.
    Group,
}

impl ChannelKind {
    /// Returns its name in events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Public => "channel",
            Self::Private => "group",
            Self::Direct => "im",
            Self::Group => "mpim",
        }
    }

    /// Returns the family in the names of its scopes and events.
    pub(crate) fn family(self) -> &'static str {
        match self {
            Self::Public => "channels",
            Self::Private => "groups",
            Self::Direct => "im",
            Self::Group => "mpim",
        }
    }
}

/// A member of the workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkspaceMember {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_admin: bool,
    pub(crate) is_owner: bool,
    /// Another app's bot, with the id of the bot.
    pub(crate) bot_id: Option<String>,
    /// Of another team (Slack Connect).
    pub(crate) is_stranger: bool,
    /// The chosen language; American English if `None`.
    pub(crate) locale: Option<String>,
}

impl WorkspaceMember {
    pub(crate) fn team(&self) -> &'static str {
        if self.is_stranger { OTHER_TEAM } else { TEAM }
    }
}

/// A conversation of any kind.
#[derive(Clone, Debug)]
pub(crate) struct StoredConversation {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: ChannelKind,
    /// User ids, including the bot's if it is a member.
    pub(crate) members: Vec<String>,
    pub(crate) is_archived: bool,
    /// Shared with another team (Slack Connect).
    pub(crate) is_shared: bool,
}

impl StoredConversation {
    pub(crate) fn has(&self, user: &str) -> bool {
        self.members.iter().any(|member| member == user)
    }
}

/// An assistant thread or agent session: what is shown beside its messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct AssistantSession {
    pub(crate) title: String,
    /// The status line ("is thinking…"); empty if none is shown.
    pub(crate) status: String,
    /// Every status line it had.
    pub(crate) statuses: Vec<String>,
    /// The lifecycle status of an agent session: `active`, `processing`, `suspended`, `closed`.
    pub(crate) lifecycle: String,
    pub(crate) lifecycles: Vec<String>,
    /// Title and message of each suggested prompt.
    pub(crate) prompts: Vec<(String, String)>,
    /// The context of an assistant thread; `None` if the session is not one.
    pub(crate) context: Option<Value>,
}

/// A file that the app is about to share.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    /// In bytes, as the app claimed.
    pub(crate) length: usize,
    /// `None` before the upload.
    pub(crate) content: Option<Vec<u8>>,
}

/// The state of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) app: SlackApp,
    pub(crate) members: BTreeMap<String, WorkspaceMember>,
    pub(crate) rooms: BTreeMap<String, StoredConversation>,
    /// In order of posting.
    pub(crate) posts: Vec<Post>,
    /// By channel and thread.
    pub(crate) sessions: BTreeMap<(String, String), AssistantSession>,
    /// Home views by person.
    pub(crate) homes: BTreeMap<String, Value>,
    /// Content by file id, with the file object.
    pub(crate) files: BTreeMap<String, (Value, Vec<u8>)>,
    /// The app's files that it has not shared yet, by id.
    pub(crate) uploads: BTreeMap<String, Upload>,
    pub(crate) outbox: Vec<OutgoingDelivery>,
    /// Mentions are told before their messages, with what is documented of them only.
    pub(crate) mentions_first: bool,
    /// The server's URL, for URLs in payloads.
    pub(crate) base_url: String,
    last_ts: i64,
    counter: usize,
}

impl Workspace {
    /// Returns a new number.
    pub(crate) fn number(&mut self) -> usize {
        self.counter += 1;
        self.counter
    }

    /// Returns a time that is later than all others here.
    pub(crate) fn ts(&mut self) -> String {
        let now = chrono::Utc::now().timestamp_micros();
        self.last_ts = now.max(self.last_ts + 1);
        let (seconds, micros) = (self.last_ts / 1_000_000, self.last_ts % 1_000_000);
        format!("{seconds}.{micros:06}")
    }

    pub(crate) fn add_member(&mut self, mut member: WorkspaceMember) -> String {
        let number = self.number();
        member.id = id('U', number);
        let id = member.id.clone();
        self.members.insert(id.clone(), member);
        id
    }

    /// Creates a conversation of these people and the bot.
    pub(crate) fn add_room(&mut self, kind: ChannelKind, name: &str, people: &[&str]) -> String {
        let number = self.number();
        let letter = match kind {
            ChannelKind::Public | ChannelKind::Private | ChannelKind::Group => 'C',
            ChannelKind::Direct => 'D',
        };
        let id = id(letter, number);
        let members = people.iter().chain(&[BOT_USER]).map(ToString::to_string);
        let room = StoredConversation {
            id: id.clone(),
            name: name.to_owned(),
            kind,
            members: members.collect(),
            is_archived: false,
            is_shared: false,
        };
        self.rooms.insert(id.clone(), room);
        id
    }

    /// Deletes a channel with its messages, and notifies the app: everywhere of a public one, and its
    /// members of a private one.
    pub(crate) fn remove_room(&mut self, channel: &str) {
        let Some(room) = self.rooms.remove(channel) else {
            return;
        };
        self.posts.retain(|post| post.channel != channel);
        let event = match room.kind {
            ChannelKind::Public => "channel_deleted",
            ChannelKind::Private | ChannelKind::Group if room.has(BOT_USER) => "group_deleted",
            ChannelKind::Private | ChannelKind::Group | ChannelKind::Direct => return,
        };
        self.tell(event, channel, json!({ "type": event, "channel": channel }));
    }

    /// Returns the direct messages of somebody and the bot.
    pub(crate) fn direct(&mut self, user: &str) -> String {
        let mut rooms = self.rooms.values();
        let is_direct = |room: &&StoredConversation| room.kind == ChannelKind::Direct;
        let found = rooms.find(|room| is_direct(room) && room.has(user) && room.has(BOT_USER));
        if let Some(room) = found {
            return room.id.clone();
        }
        self.add_room(ChannelKind::Direct, "", &[user])
    }

    pub(crate) fn room(&self, channel: &str) -> &StoredConversation {
        self.rooms.get(channel).expect("a channel that exists")
    }

    pub(crate) fn post(&self, channel: &str, ts: &str) -> Option<&Post> {
        let mut posts = self.posts.iter();
        posts.find(|post| post.channel == channel && post.ts == ts)
    }

    pub(crate) fn post_mut(&mut self, channel: &str, ts: &str) -> Option<&mut Post> {
        let mut posts = self.posts.iter_mut();
        posts.find(|post| post.channel == channel && post.ts == ts)
    }

    /// Returns the messages of a thread that everybody sees, its root first.
    pub(crate) fn thread<'a>(
        &'a self,
        channel: &'a str,
        root: &'a str,
    ) -> impl Iterator<Item = &'a Post> {
        self.posts.iter().filter(move |post| {
            let is_of = post.ts == root || post.thread_ts.as_deref() == Some(root);
            post.channel == channel && is_of && post.only_for.is_none() && !post.is_gone
        })
    }

    /// Stores a message, and notifies the app if it would see it.
    pub(crate) fn publish(&mut self, post: Post) -> String {
        let ts = post.ts.clone();
        let told = post.only_for.is_none();
        let channel = post.channel.clone();
        self.end_status(&post);
        self.posts.push(post);
        if told {
            self.tell_of_message(&channel, &ts);
        }
        ts
    }

    /// Clears the status line when the app posts in its thread.
    fn end_status(&mut self, post: &Post) {
        let thread = post.thread_ts.clone().unwrap_or_else(|| post.ts.clone());
        if matches!(post.writer, Writer::App)
            && let Some(session) = self.sessions.get_mut(&(post.channel.clone(), thread))
        {
            session.status.clear();
        }
    }

    /// Edits a message, and notifies the app.
    pub(crate) fn revise(&mut self, channel: &str, ts: &str, change: impl FnOnce(&mut Post)) {
        let Some(before) = self.post(channel, ts).map(|post| post.json(self)) else {
            return;
        };
        let post = self.post_mut(channel, ts).expect("it was there just now");
        change(post);
        self.tell_of_change(channel, ts, &before);
    }

    /// Deletes a message, and notifies the app. The root of a thread leaves a tombstone.
    pub(crate) fn remove(&mut self, channel: &str, ts: &str) {
        let Some(before) = self.post(channel, ts).map(|post| post.json(self)) else {
            return;
        };
        let replies = self.thread(channel, ts).count() > 1;
        let post = self.post_mut(channel, ts).expect("it was there just now");
        if replies {
            post.bury();
            self.tell_of_change(channel, ts, &before);
        } else {
            post.is_gone = true;
            self.tell_of_deletion(channel, ts, &before);
        }
    }

    pub(crate) fn session(&mut self, channel: &str, thread: &str) -> &mut AssistantSession {
        let key = (channel.to_owned(), thread.to_owned());
        self.sessions.entry(key).or_default()
    }

    /// Returns the language of a person's Slack.
    pub(crate) fn locale(&self, id: &str) -> &str {
        let chosen = self.members.get(id).and_then(|it| it.locale.as_deref());
        chosen.unwrap_or("en-US")
    }

    /// Returns a person as in `users.info`.
    pub(crate) fn user_json(&self, id: &str) -> Option<Value> {
        let bot = WorkspaceMember {
            id: BOT_USER.to_owned(),
            name: "Muninn".to_owned(),
            bot_id: Some(BOT.to_owned()),
            ..WorkspaceMember::default()
        };
        let member = if id == BOT_USER {
            &bot
        } else {
            self.members.get(id)?
        };
        Some(json!({
            "id": member.id, "team_id": member.team(), "name": member.name.to_lowercase(),
            "real_name": member.name, "deleted": false, "tz": "Europe/London",
            "tz_label": "Greenwich Mean Time", "tz_offset": 0,
            "is_admin": member.is_admin, "is_owner": member.is_owner,
            "is_primary_owner": false, "is_restricted": false,
            "is_ultra_restricted": false, "is_bot": member.bot_id.is_some(), "is_app_user": false,
            "is_stranger": member.is_stranger, "updated": 1_700_000_000,
            "profile": profile_json(member),
        }))
    }

    /// Returns a conversation as in `conversations.info`.
    pub(crate) fn room_json(&self, room: &StoredConversation) -> Value {
        if room.kind == ChannelKind::Direct {
            let user = room.members.iter().find(|member| *member != BOT_USER);
            return json!({ "id": room.id, "created": 1_700_000_000, "is_im": true,
                "is_org_shared": false, "is_archived": room.is_archived, "user": user });
        }
        let topic = json!({ "value": "", "creator": "", "last_set": 0 });
        json!({
            "id": room.id, "name": room.name, "name_normalized": room.name, "created": 1_700_000_000,
            "creator": room.members.first(), "context_team_id": TEAM,
            "is_channel": room.kind == ChannelKind::Public, "is_group": room.kind == ChannelKind::Private,
            "is_im": false, "is_mpim": room.kind == ChannelKind::Group,
            "is_private": room.kind != ChannelKind::Public, "is_archived": room.is_archived,
            "is_general": false, "is_shared": room.is_shared, "is_ext_shared": room.is_shared,
            "is_org_shared": false, "is_pending_ext_shared": false, "is_member": room.has(BOT_USER),
            "topic": topic, "purpose": topic, "previous_names": [],
        })
    }
}

/// Returns somebody's profile, which contains only a name.
fn profile_json(member: &WorkspaceMember) -> Value {
    let image = |size: u32| format!("https://a.slack-edge.com/ravens_{size}.png");
    json!({
        "real_name": member.name, "real_name_normalized": member.name, "display_name": member.name,
        "display_name_normalized": member.name, "title": "", "phone": "", "skype": "",
        "status_text": "", "status_emoji": "", "status_emoji_display_info": [], "status_expiration": 0,
        "huddle_state": "default_unset", "huddle_state_expiration_ts": 0,
        "image_48": image(48), "image_192": image(192), "team": member.team(),
    })
}

impl AssistantSession {
    /// Changes the lifecycle status of an agent session.
    pub(crate) fn enter(&mut self, lifecycle: &str) {
        lifecycle.clone_into(&mut self.lifecycle);
        self.lifecycles.push(lifecycle.to_owned());
    }
}

impl Workspace {
    /// Creates the root of a new assistant thread, which Slack posts by itself.
    pub(crate) fn open_thread(&mut self, channel: &str) -> String {
        let ts = self.ts();
        let mut post = Post::new(channel, ts.clone(), Writer::App, "New Assistant Thread");
        post.subtype = Some("assistant_app_thread");
        self.posts.push(post);
        ts
    }
}

/// Returns a file object ("File object").
pub(crate) fn file_json(
    workspace: &Workspace,
    file: &str,
    user: &str,
    name: &str,
    media_type: &str,
    size: usize,
) -> Value {
    let url = format!(
        "{}/files-pri/{file}/{}",
        workspace.base_url,
        name.replace(' ', "_")
    );
    let kind = name.rsplit_once('.').map_or("binary", |(_, kind)| kind);
    let now = chrono::Utc::now().timestamp();
    json!({
        "id": file, "created": now, "timestamp": now, "name": name, "title": name, "mimetype": media_type,
        "filetype": kind, "pretty_type": kind.to_uppercase(), "user": user, "editable": false, "size": size,
        "mode": "hosted", "is_external": false, "external_type": "", "is_public": true,
        "public_url_shared": false, "display_as_bot": false, "username": "", "url_private": url,
        "url_private_download": url, "permalink": format!("https://ravens.slack.com/files/{file}"),
        "has_rich_preview": false, "file_access": "visible",
    })
}

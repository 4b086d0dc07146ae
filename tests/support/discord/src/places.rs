//! Servers, channels and webhooks as a test holds them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::permissions::Overwrite;
use crate::person::DiscordPerson;
use crate::server::SharedWorld;
use crate::world::{
    self, ChannelType, EventScope, GuildMember, GuildRole, MessageDraft, World, intents,
};
use crate::{Id, Permissions};

/// A server.
#[derive(Clone, Debug)]
pub struct Guild {
    shared: Arc<SharedWorld>,
    bot: Id,
    id: Id,
}

impl Guild {
    pub(crate) fn new(shared: &Arc<SharedWorld>, bot: Id, name: &str) -> Self {
        let guild = Self::without_bot(shared, bot, name);
        guild.invite_bot();
        guild
    }

    pub(crate) fn without_bot(shared: &Arc<SharedWorld>, bot: Id, name: &str) -> Self {
        let id = shared.with(|world| world.new_guild(name));
        Self {
            shared: Arc::clone(shared),
            bot,
            id,
        }
    }

    pub fn id(&self) -> Id {
        self.id
    }

    /// The bot comes in, with a role of its own as after an invitation.
    pub fn invite_bot(&self) {
        self.invite(self.bot);
    }

    /// Another application comes in.
    pub fn invite(&self, app: Id) {
        let id = self.id;
        self.shared.with(|world| {
            let role = world.new_role(
                id,
                &world.users[&app].name.clone(),
                Permissions::EVERYONE,
                Some(app),
            );
            world.join(id, app, vec![role]);
            world.tell(
                "GUILD_CREATE",
                EventScope::App(app, Some(id)),
                intents::GUILDS,
                |world, listener| world.guild_create_json(&world.guilds[&id], listener),
            );
        });
    }

    /// Nobody may do this here any more, as far as their other roles do not let them.
    pub fn takes_from_everyone(&self, permissions: Permissions) {
        let id = self.id;
        self.shared.with(|world| {
            let guild = world.guilds.get_mut(&id).expect("the server is there");
            for role in &mut guild.roles {
                role.permissions = role.permissions & !permissions;
            }
        });
    }

    /// Somebody leaves; the bot is not told, as it does not listen to that.
    pub fn loses(&self, person: &DiscordPerson) {
        let id = self.id;
        self.shared.with(|world| {
            let guild = world.guilds.get_mut(&id).expect("the server is there");
            guild.members.remove(&person.id());
        });
    }

    /// The bot is sent away.
    pub fn removes_bot(&self) {
        let (id, bot) = (self.id, self.bot);
        self.shared.with(|world| {
            world.tell(
                "GUILD_DELETE",
                EventScope::App(bot, Some(id)),
                intents::GUILDS,
                |_, _| serde_json::json!({ "id": id.json() }),
            );
            if let Some(guild) = world.guilds.get_mut(&id) {
                guild.members.remove(&bot);
            }
        });
    }

    /// The server has as many active threads as Discord allows, or has fewer again.
    pub fn is_full_of_threads(&self, is_full: bool) {
        let id = self.id;
        self.shared.with(|world| {
            let guild = world.guilds.get_mut(&id).expect("the server is there");
            guild.is_full_of_threads = is_full;
        });
    }

    /// The server is not there for a while, as in an outage, or is again.
    pub fn is_out(&self, is_out: bool) {
        let id = self.id;
        self.shared.with(|world| {
            if let Some(guild) = world.guilds.get_mut(&id) {
                guild.is_out = is_out;
            }
            let event = if is_out {
                "GUILD_DELETE"
            } else {
                "GUILD_CREATE"
            };
            world.tell(
                event,
                EventScope::Guild(id),
                intents::GUILDS,
                |world, listener| {
                    if is_out {
                        serde_json::json!({ "id": id.json(), "unavailable": true })
                    } else {
                        world.guild_create_json(&world.guilds[&id], listener)
                    }
                },
            );
        });
    }

    /// Somebody new, who is in this server.
    pub fn person(&self, name: &str) -> DiscordPerson {
        self.member(name, false, &[])
    }

    /// Somebody who reads Discord in a language: `de`.
    pub fn reader(&self, name: &str, locale: &str) -> DiscordPerson {
        let reader = self.member(name, false, &[]);
        self.shared.with(|world| {
            let user = world.users.get_mut(&reader.id());
            user.expect("they came just now").locale = locale.to_owned();
        });
        reader
    }

    /// Somebody who may manage messages, threads and channels.
    pub fn moderator(&self, name: &str) -> DiscordPerson {
        let powers = Permissions::MANAGE_MESSAGES
            | Permissions::MANAGE_THREADS
            | Permissions::MANAGE_CHANNELS;
        let role = self.role("moderator", powers);
        self.member(name, false, &[role])
    }

    /// Another bot, which the test plays.
    pub fn other_bot(&self, name: &str) -> DiscordPerson {
        self.member(name, true, &[])
    }

    fn member(&self, name: &str, is_bot: bool, roles: &[Id]) -> DiscordPerson {
        let id = self.shared.with(|world| world.new_user(name, is_bot));
        let person = DiscordPerson::new(&self.shared, self.bot, id);
        self.admits(&person, roles);
        person
    }

    /// Somebody of another server comes into this one too, with roles.
    pub fn admits(&self, person: &DiscordPerson, roles: &[Id]) {
        self.shared
            .with(|world| world.join(self.id, person.id(), roles.to_vec()));
    }

    /// A new role.
    pub fn role(&self, name: &str, permissions: Permissions) -> Id {
        self.shared
            .with(|world| world.new_role(self.id, name, permissions, None))
    }

    /// Gives a member a role.
    pub fn grants(&self, person: &DiscordPerson, role: Id) {
        let (id, user) = (self.id, person.id());
        self.shared.with(|world| {
            if let Some(member) = world
                .guilds
                .get_mut(&id)
                .and_then(|guild| guild.members.get_mut(&user))
            {
                member.roles.push(role);
            }
            world.tell_of_member("GUILD_MEMBER_UPDATE", id, user);
        });
    }

    pub fn text(&self, name: &str) -> DiscordChannel {
        self.channel(name, ChannelType::Text, &[])
    }

    pub fn forum(&self, name: &str) -> DiscordChannel {
        self.channel(name, ChannelType::Forum, &[])
    }

    pub fn announcements(&self, name: &str) -> DiscordChannel {
        self.channel(name, ChannelType::Announcement, &[])
    }

    pub fn voice(&self, name: &str) -> DiscordChannel {
        self.channel(name, ChannelType::Voice, &[])
    }

    pub(crate) fn many_channels(&self, channels: usize) {
        let guild = self.id;
        self.shared.with(|world| {
            for position in 0..channels {
                let id = world.new_id();
                let name = format!("channel-{position}");
                let channel = world::StoredChannel {
                    position,
                    topic: Some(format!("What {name} is about")),
                    ..world::StoredChannel::new(id, ChannelType::Text, Some(guild), &name)
                };
                world.channels.insert(id, channel);
            }
        });
    }

    /// A channel of this server by its place among them.
    ///
    /// # Panics
    /// Panics when there are not as many.
    pub fn nth_channel(&self, number: usize) -> DiscordChannel {
        let id = self.shared.look(|world| {
            let mut here = world
                .channels
                .values()
                .filter(|channel| channel.guild == Some(self.id) && channel.thread.is_none());
            here.nth(number).expect("as many channels").id
        });
        DiscordChannel::new(&self.shared, self.bot, id)
    }

    fn channel(
        &self,
        name: &str,
        kind: ChannelType,
        overwrites: &[(Id, Overwrite)],
    ) -> DiscordChannel {
        let guild = self.id;
        let id = self.shared.with(|world| {
            let id = world.new_id();
            let position = world
                .channels
                .values()
                .filter(|channel| channel.guild == Some(guild))
                .count();
            let channel = world::StoredChannel {
                position,
                overwrites: overwrites.iter().copied().collect(),
                ..world::StoredChannel::new(id, kind, Some(guild), name)
            };
            world.channels.insert(id, channel);
            world.tell_of_channel("CHANNEL_CREATE", id);
            id
        });
        DiscordChannel::new(&self.shared, self.bot, id)
    }
}

/// A channel or a thread.
#[derive(Clone, Debug)]
pub struct DiscordChannel {
    pub(crate) shared: Arc<SharedWorld>,
    pub(crate) bot: Id,
    id: Id,
}

impl DiscordChannel {
    pub(crate) fn new(shared: &Arc<SharedWorld>, bot: Id, id: Id) -> Self {
        Self {
            shared: Arc::clone(shared),
            bot,
            id,
        }
    }

    pub fn id(&self) -> Id {
        self.id
    }

    /// It is deleted, with its threads.
    pub fn is_deleted(&self) {
        self.shared.with(|world| world.delete_channel(self.id));
    }

    /// The bot may no longer do this here.
    pub fn denies(&self, permissions: Permissions) {
        self.denies_to(self.bot, permissions);
    }

    /// Somebody may no longer do this here.
    pub fn denies_to(&self, member: Id, permissions: Permissions) {
        self.overwrite(member, |overwrite| {
            overwrite.deny = overwrite.deny | permissions;
            overwrite.allow = overwrite.allow & !permissions;
        });
    }

    /// The bot may do this here.
    pub fn allows(&self, permissions: Permissions) {
        self.overwrite(self.bot, |overwrite| {
            overwrite.allow = overwrite.allow | permissions;
            overwrite.deny = overwrite.deny & !permissions;
        });
    }

    fn overwrite(&self, whose: Id, change: impl FnOnce(&mut Overwrite)) {
        let id = self.id;
        self.shared.with(|world| {
            let saw = world.sees(self.bot, &world.channels[&id]);
            if let Some(channel) = world.channels.get_mut(&id) {
                let mut overwrite = channel.overwrites.get(&whose).copied().unwrap_or_default();
                change(&mut overwrite);
                channel.overwrites.insert(whose, overwrite);
            }
            let sees = world.sees(self.bot, &world.channels[&id]);
            world.tell_of_channel("CHANNEL_UPDATE", id);
            if sees && !saw {
                world.tell_of_threads(id);
            }
        });
    }

    /// A thread is archived, by time or by a moderator.
    pub fn is_archived(&self) {
        self.set(|thread| thread.archived = true);
    }

    /// A thread is locked and archived: only who manages threads opens it again.
    pub fn is_locked(&self) {
        self.set(|thread| {
            thread.locked = true;
            thread.archived = true;
        });
    }

    fn set(&self, change: impl FnOnce(&mut world::ThreadMetadata)) {
        let id = self.id;
        self.shared.with(|world| {
            let now = world.clock.now();
            if let Some(thread) = world
                .channels
                .get_mut(&id)
                .and_then(|channel| channel.thread.as_mut())
            {
                change(thread);
                thread.archived_at = now;
            }
            world.tell_of_channel("THREAD_UPDATE", id);
        });
    }

    /// A webhook that posts here.
    pub fn webhook(&self, name: &str) -> Webhook {
        let id = self.shared.with(|world| {
            let id = world.new_id();
            let webhook = world::WebhookState {
                id,
                name: name.to_owned(),
                channel: self.id,
            };
            world.webhooks.insert(id, webhook);
            id
        });
        Webhook {
            shared: Arc::clone(&self.shared),
            id,
        }
    }
}

/// Posts in a channel without being anybody.
#[derive(Clone, Debug)]
pub struct Webhook {
    shared: Arc<SharedWorld>,
    id: Id,
}

impl Webhook {
    /// # Panics
    /// Panics when its channel is gone.
    pub fn says(&self, text: &str) -> Id {
        self.shared.with(|world| {
            let channel = world.webhooks[&self.id].channel;
            let author = world.webhook_author();
            let draft = MessageDraft {
                webhook: Some(self.id),
                ..MessageDraft::text(text)
            };
            world.post(channel, author, draft)
        })
    }
}

impl World {
    fn new_guild(&mut self, name: &str) -> Id {
        let id = self.new_guild_id();
        let owner = self.new_user("owner", false);
        let everyone = GuildRole {
            id,
            name: "@everyone".to_owned(),
            permissions: Permissions::EVERYONE,
            of_app: None,
        };
        let guild = world::GuildState {
            id,
            name: name.to_owned(),
            owner,
            roles: vec![everyone],
            members: BTreeMap::new(),
            is_out: false,
            is_full_of_threads: false,
        };
        self.guilds.insert(id, guild);
        self.join(id, owner, Vec::new());
        id
    }

    fn new_role(
        &mut self,
        guild: Id,
        name: &str,
        permissions: Permissions,
        of_app: Option<Id>,
    ) -> Id {
        let id = self.new_id();
        let role = GuildRole {
            id,
            name: name.to_owned(),
            permissions,
            of_app,
        };
        let Some(found) = self.guilds.get_mut(&guild) else {
            return id;
        };
        let position = found.roles.len();
        let json = role.json(position);
        found.roles.push(role);
        self.tell(
            "GUILD_ROLE_CREATE",
            EventScope::Guild(guild),
            intents::GUILDS,
            |_, _| serde_json::json!({ "guild_id": guild.json(), "role": json }),
        );
        id
    }

    fn join(&mut self, guild: Id, user: Id, roles: Vec<Id>) {
        let joined_at = self.clock.now();
        if let Some(guild) = self.guilds.get_mut(&guild) {
            guild.members.insert(user, GuildMember { roles, joined_at });
        }
        if !self.apps.contains_key(&user) {
            self.tell_of_member("GUILD_MEMBER_ADD", guild, user);
        }
    }

    fn tell_of_member(&mut self, event: &'static str, guild: Id, user: Id) {
        self.tell(
            event,
            EventScope::Guild(guild),
            intents::MEMBERS,
            |world, _| {
                let member = world.member_json(&world.guilds[&guild], user);
                world::with_guild(member, Some(guild))
            },
        );
    }

    /// Who has come to see a channel is told of its threads.
    fn tell_of_threads(&mut self, channel: Id) {
        let Some(guild) = self.channels[&channel].guild else {
            return;
        };
        self.tell("THREAD_LIST_SYNC", EventScope::Channel(channel), intents::GUILDS, |world, listener| {
            let here = world.channels.values().filter(|thread| {
                let is_active = thread.thread.as_ref().is_some_and(|thread| !thread.archived);
                thread.parent == Some(channel) && is_active && world.sees(listener.app, thread)
            });
            let threads: Vec<_> = here.map(|thread| world.channel_json(thread, None)).collect();
            serde_json::json!({
                "guild_id": guild.json(), "channel_ids": [channel.json()], "threads": threads, "members": [],
            })
        });
    }

    /// The account behind which webhooks hide their own names.
    fn webhook_author(&mut self) -> Id {
        let known = self
            .users
            .values()
            .find(|user| user.name == "webhook" && user.is_bot)
            .map(|user| user.id);
        known.unwrap_or_else(|| self.new_user("webhook", true))
    }
}

//! Finds permissions that channel overwrites deny the bot although its roles have them.
//!
//! Asks Discord for each server's channels, and for the bot's roles there.

use serenity::model::Permissions;
use serenity::model::id::{RoleId, UserId};

use muninn_platform::{AnswerMode, SelfCheckFinding, count_with_noun};

use crate::allow::{DiscordAllowEntry, may_let_in};
use crate::api::DiscordApi;
use crate::directory::{Channel, DiscordChannelKind, overwritten};
use crate::errors::Failure;
use crate::event;
use crate::ids::DiscordPlace;
use crate::objects::MyGuild;
use crate::options::DiscordOptions;
use crate::rights;

/// Maximum number of servers to check.
const MOST_GUILDS: usize = 20;
/// Maximum number of channels named in one line.
const MOST_NAMED: usize = 8;

/// Returns a finding for each permission that overwrites deny, with the channels.
pub(super) async fn check_overwrites(
    options: &DiscordOptions,
    api: &DiscordApi,
    me: UserId,
    all: &[MyGuild],
) -> Vec<SelfCheckFinding> {
    let mut findings = Vec::new();
    for guild in all.iter().take(MOST_GUILDS) {
        if guild.permissions.administrator() {
            continue;
        }
        match of_guild(api, me, guild).await {
            Ok((roles, channels)) => {
                let channels = channels
                    .iter()
                    .filter(|channel| is_answered(options, channel));
                findings.extend(taken_away(options, guild, me, &roles, channels));
            }
            Err(failure) => findings.push(SelfCheckFinding::warning(format!(
                "the channels of {}: {failure}",
                guild.name
            ))),
        }
    }
    if all.len() > MOST_GUILDS {
        findings.push(SelfCheckFinding::warning(format!(
            "channels not looked at: those of {}",
            count_with_noun(all.len() - MOST_GUILDS, "more server")
        )));
    }
    findings
}

async fn of_guild(
    api: &DiscordApi,
    me: UserId,
    guild: &MyGuild,
) -> Result<(Vec<RoleId>, Vec<Channel>), Failure> {
    let roles = api.roles_of(guild.id, me).await?;
    let channels = api.channels(guild.id).await?;
    Ok((roles, channels.into_iter().map(event::channel).collect()))
}

/// Whether the bot may answer anybody there.
fn is_answered(options: &DiscordOptions, channel: &Channel) -> bool {
    let audience = DiscordPlace::new(Some(channel.guild), channel.id).audience();
    let mode = options.channels.answer_mode(&audience);
    mode.unwrap_or(options.answer) != AnswerMode::Never
        && may_let_in(&options.allow, channel.guild, channel.id)
}

fn taken_away<'a>(
    options: &DiscordOptions,
    guild: &MyGuild,
    me: UserId,
    roles: &[RoleId],
    channels: impl Iterator<Item = &'a Channel>,
) -> Vec<SelfCheckFinding> {
    let lacking: Vec<(&Channel, Permissions)> = channels
        .map(|channel| {
            let base = guild.permissions;
            let may = overwritten(base, &channel.overwrites, guild.id, me, roles);
            // Permissions that the roles lack are reported for the whole server.
            let lacks = (needed(channel.kind) & base) - may;
            let is_it =
                |entry: &DiscordAllowEntry| *entry == DiscordAllowEntry::Channel(channel.id);
            let is_named = options.allow.names(is_it);
            let is_hidden = lacks.contains(Permissions::VIEW_CHANNEL);
            // A hidden channel is deliberate, unless the allow list names it.
            let lacks = match (is_hidden, is_named) {
                (true, true) => Permissions::VIEW_CHANNEL,
                (true, false) => Permissions::empty(),
                (false, _) => lacks,
            };
            (channel, lacks)
        })
        .collect();
    let each = rights::NEEDED.iter().filter_map(|permission| {
        let here = lacking
            .iter()
            .filter(|(_, lacks)| lacks.contains(permission));
        let names: Vec<String> = here
            .map(|(channel, _)| format!("#{}", channel.name))
            .collect();
        (!names.is_empty()).then(|| finding(&guild.name, permission, &names))
    });
    each.collect()
}

fn needed(kind: DiscordChannelKind) -> Permissions {
    let here = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
    match kind {
        DiscordChannelKind::Text => rights::NEEDED,
        DiscordChannelKind::Forum => here | Permissions::SEND_MESSAGES_IN_THREADS,
        DiscordChannelKind::Flat
        | DiscordChannelKind::PublicThread
        | DiscordChannelKind::PrivateThread
        | DiscordChannelKind::Direct => Permissions::empty(),
    }
}

fn finding(guild: &str, permission: Permissions, channels: &[String]) -> SelfCheckFinding {
    let named = channels.iter().take(MOST_NAMED).cloned();
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match channels.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = rights::names(permission);
    let text = format!(
        "in {guild} these channels take {what} away from it: {named}{more}; give its role that in their settings, under Permissions"
    );
    // Without these two, no threads are opened and answers are posted elsewhere.
    let is_lesser = Permissions::CREATE_PUBLIC_THREADS | Permissions::CREATE_PRIVATE_THREADS;
    if is_lesser.contains(permission) {
        SelfCheckFinding::warning(text)
    } else {
        SelfCheckFinding::error(text)
    }
}

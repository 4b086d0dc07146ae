//! The checks of `muninn doctor`, and the invitation URL. Both ask Discord without connecting to
//! the gateway.

mod overwrites;

use muninn_platform::{PlatformError, SelfCheckFinding, count_with_noun};
use serenity::model::id::UserId;

use crate::api::DiscordApi;
use crate::commands;
use crate::errors::{Failure, FailureKind, disconnected, logged_out};
use crate::gateway;
use crate::gone::GUILDS_PAGE_SIZE;
use crate::objects::{Application, CurrentApplication, MyGuild};
use crate::options::DiscordOptions;
use crate::rights;
use crate::shards::Shards;

/// Checks token, intents, guilds and commands.
pub async fn check(options: &DiscordOptions) -> Vec<SelfCheckFinding> {
    let mut findings: Vec<SelfCheckFinding> = options.allow.finding().into_iter().collect();
    let asked = async {
        let api = DiscordApi::new(options)?;
        let me = api.me().await.map_err(said)?;
        let application = api.application().await.map_err(said)?;
        Ok::<_, PlatformError>((api, me, application))
    };
    let (api, CurrentApplication { id: me, username }, application) = match asked.await {
        Ok(known) => known,
        Err(error) => {
            findings.push(SelfCheckFinding::error(
                match std::error::Error::source(&error) {
                    Some(source) => format!("{error}: {source}"),
                    None => error.to_string(),
                },
            ));
            return findings;
        }
    };
    findings.push(SelfCheckFinding::ok(format!(
        "the token is that of {username}"
    )));
    findings.push(intents(options, &application));
    findings.extend(connections(options, &api).await);
    findings.extend(guilds(options, &api, me).await);
    findings.push(registered(options, &api).await);
    findings
}

/// The flags of an application that may read messages: limited (few guilds) or full.
const MAY_READ_MESSAGES: u64 = 1 << 18 | 1 << 19;

fn intents(options: &DiscordOptions, application: &Application) -> SelfCheckFinding {
    let Some(flags) = application.flags else {
        return SelfCheckFinding::warning("Discord does not say whether it may read messages");
    };
    let may = flags & MAY_READ_MESSAGES != 0;
    match (options.reads_messages, may) {
        (true, true) => SelfCheckFinding::ok("it may read messages, so threads are followed"),
        (true, false) => SelfCheckFinding::error(
            "it may not read messages, and Discord will not let it in; switch on \"Message Content Intent\" under \"Bot\" in the developer portal, or set DISCORD_MESSAGE_CONTENT=false: mentions, direct messages and commands are answered without it",
        ),
        (false, true) => SelfCheckFinding::warning(
            "it may read messages, but DISCORD_MESSAGE_CONTENT is false: only mentions, direct messages and commands are answered",
        ),
        (false, false) => SelfCheckFinding::warning(
            "it does not read messages, which suffices for mentions, direct messages and commands; threads are not followed",
        ),
    }
}

/// Reports whether the gateway refuses connections; nothing if it accepts them.
async fn connections(options: &DiscordOptions, api: &DiscordApi) -> Vec<SelfCheckFinding> {
    let at = match api.gateway().await {
        Ok(at) => at,
        Err(failure) => return vec![SelfCheckFinding::error(format!("its gateway: {failure}"))],
    };
    let probe = gateway::probe(options, at);
    if let Some(refusal) = probe.refusal(probe.shards.first()).await {
        return vec![SelfCheckFinding::error(refusal.to_string())];
    }
    let (shards, recommended) = (probe.shards, probe.recommended);
    let total = shards.total();
    if total >= recommended {
        return Vec::new();
    }
    vec![SelfCheckFinding::warning(if shards.is_all() {
        format!("DISCORD_SHARDS is {total}, but Discord recommends {recommended}; set it to auto")
    } else {
        format!(
            "DISCORD_SHARDS has {total} shards in all, but Discord recommends {recommended}; set the total of every process to {recommended} or more"
        )
    })]
}

/// Reports which servers this process hears, if other processes hear the rest.
fn share(shards: Shards, guilds: &[MyGuild]) -> Option<SelfCheckFinding> {
    let range = match shards {
        Shards::Part(range) if !range.is_all() => range,
        Shards::Part(_) | Shards::Auto | Shards::Number(_) => return None,
    };
    let own = guilds.iter().filter(|guild| range.hears(guild.id)).count();
    let all = count_with_noun(guilds.len(), "server");
    let all = if guilds.len() < GUILDS_PAGE_SIZE {
        all
    } else {
        format!("the {all} that Discord lists")
    };
    let directs = if range.hears_directs() {
        "direct messages come to this process"
    } else {
        "direct messages come to the process with shard 0"
    };
    Some(SelfCheckFinding::ok(format!(
        "this process runs {range}, with {own} of {all}; {directs}; the other shards have to be run by others"
    )))
}

/// Reports the bot's servers, and the permissions that it lacks there and in their channels.
async fn guilds(options: &DiscordOptions, api: &DiscordApi, me: UserId) -> Vec<SelfCheckFinding> {
    let guilds = match api.guilds().await {
        Ok(guilds) => guilds,
        Err(failure) => return vec![SelfCheckFinding::error(format!("its servers: {failure}"))],
    };
    let mut findings = vec![listed(&guilds)];
    findings.extend(share(options.shards, &guilds));
    for guild in &guilds {
        let missing = rights::NEEDED - guild.permissions;
        if !missing.is_empty() && !guild.permissions.administrator() {
            findings.push(SelfCheckFinding::error(format!(
                "in {} it lacks {}; give its role that, or open the address that `muninn invite discord` prints once more",
                guild.name,
                rights::names(missing)
            )));
        }
    }
    findings.extend(overwrites::check_overwrites(options, api, me, &guilds).await);
    findings
}

fn listed(guilds: &[MyGuild]) -> SelfCheckFinding {
    match guilds {
        [] => SelfCheckFinding::warning(
            "it is in no server yet; open the address that `muninn invite discord` prints",
        ),
        guilds => {
            let names: Vec<&str> = guilds.iter().take(5).map(|it| it.name.as_str()).collect();
            let more = if guilds.len() > names.len() {
                ", …"
            } else {
                ""
            };
            let servers = count_with_noun(guilds.len(), "server");
            SelfCheckFinding::ok(format!("it is in {servers}: {}{more}", names.join(", ")))
        }
    }
}

async fn registered(options: &DiscordOptions, api: &DiscordApi) -> SelfCheckFinding {
    let place = match options.guild {
        Some(guild) => format!("in server {guild}"),
        None => "everywhere".to_owned(),
    };
    match api.commands(options.guild).await {
        Ok(commands) if commands::are_registered(&commands) => {
            SelfCheckFinding::ok(format!("its commands are registered {place}"))
        }
        Ok(commands) if commands.is_empty() => SelfCheckFinding::warning(format!(
            "its commands are not registered {place} yet; `muninn serve` does it"
        )),
        Ok(_) => SelfCheckFinding::warning(format!(
            "the commands registered {place} are of another version; `muninn serve` registers them anew"
        )),
        Err(failure) => SelfCheckFinding::error(format!("its commands {place}: {failure}")),
    }
}

/// Returns the URL that invites the bot, with the least permissions it needs.
///
/// # Errors
/// Fails when Discord rejects the token, or cannot be reached.
pub async fn invite(options: &DiscordOptions) -> Result<String, PlatformError> {
    let api = DiscordApi::new(options)?;
    let Application { id, .. } = api.application().await.map_err(said)?;
    let permissions = rights::NEEDED.bits();
    Ok(format!(
        "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions={permissions}"
    ))
}

fn said(failure: Failure) -> PlatformError {
    match failure.kind {
        FailureKind::LoggedOut => logged_out(),
        FailureKind::Limited | FailureKind::Away | FailureKind::Refused(_) => disconnected(failure),
    }
}

//! Remembers in which servers a bot was. Only a bot that was in a server can have been removed from
//! it: another bot, whose token was set by mistake or on purpose, is in none of the earlier one's
//! servers, and what was said there must not be forgotten for that.

use std::collections::BTreeSet;

use muninn_platform::Missed;
use parking_lot::Mutex;
use serenity::model::id::{GuildId, UserId};

use crate::ids::number;
use crate::kept_lines::KeptLines;

/// The servers in which bots were. Kept in a file: on each line a bot and a server.
#[derive(Debug)]
pub(crate) struct SeenServers {
    kept: KeptLines,
    seen: Mutex<BTreeSet<(UserId, GuildId)>>,
}

impl SeenServers {
    /// Opens the file beside that of the time. Where it is absent or cannot be read, no bot was in
    /// any server.
    pub(crate) fn open(missed: &Missed) -> Self {
        let kept = KeptLines::beside(missed, "servers");
        let seen = kept.read(pair).unwrap_or_else(|error| {
            tracing::warn!(%error, "in which servers the bot was cannot be read; what was said in those that it was removed from is not forgotten at this start");
            BTreeSet::new()
        });
        Self {
            kept,
            seen: Mutex::new(seen),
        }
    }

    /// Records that a bot is in these servers.
    pub(crate) fn record(&self, bot: UserId, servers: impl IntoIterator<Item = GuildId>) {
        let mut seen = self.seen.lock();
        let before = seen.len();
        seen.extend(servers.into_iter().map(|server| (bot, server)));
        if seen.len() == before {
            return;
        }
        let lines = seen.iter().map(|(bot, server)| format!("{bot} {server}"));
        // At worst something stays that could be forgotten.
        if let Err(error) = self.kept.replace(lines) {
            tracing::error!(%error, file = ?self.kept.file(), "in which servers the bot is could not be kept");
        }
    }

    /// Whether a bot was in a server.
    pub(crate) fn has(&self, bot: UserId, server: GuildId) -> bool {
        self.seen.lock().contains(&(bot, server))
    }

    /// Says that what was said in these servers stays, and what to do about it.
    pub(crate) fn report_never_in(&self, bot: UserId, servers: &BTreeSet<GuildId>) {
        if servers.is_empty() {
            return;
        }
        let ids: Vec<String> = servers.iter().map(ToString::to_string).collect();
        tracing::error!(
            %bot,
            servers = ids.join(", "),
            file = ?self.kept.file(),
            "what was said in these servers is not forgotten, although this bot is in none of them, as it is not known to have been there: \
             if DISCORD_TOKEN is another bot's by mistake, set the right one; to have it forgotten at the next start, add a line \
             \"BOT SERVER\" for each to the file"
        );
    }
}

fn pair(line: &str) -> Option<(UserId, GuildId)> {
    let (bot, server) = line.split_once(' ')?;
    Some((
        UserId::new(number(bot)?),
        GuildId::new(number(server.trim())?),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bot_was_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let missed = Missed {
            file: Some(folder.path().join("discord-seen")),
            ..Missed::default()
        };
        let (bot, other) = (UserId::new(1), UserId::new(2));
        let [here, there, by_hand] = [10, 11, 12].map(GuildId::new);
        let seen = SeenServers::open(&missed);
        assert!(!seen.has(bot, here));
        seen.record(bot, [here]);
        seen.record(other, [there]);
        let file = folder.path().join("discord-seen.servers");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "1 10\n2 11\n");
        std::fs::write(&file, text + "2  12\nnonsense\n3 0\n").unwrap();
        let seen = SeenServers::open(&missed);
        for (whose, server, expected) in [
            (bot, here, true),
            (bot, there, false),
            (other, here, false),
            (other, there, true),
            (other, by_hand, true),
        ] {
            assert_eq!(seen.has(whose, server), expected, "{whose} {server}");
        }
    }
}

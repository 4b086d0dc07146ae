//! Decides which gateway connections a process holds, and whose events they deliver. Pure.
//!
//! Discord assigns each server to a shard by its id, and direct messages to the first shard
//! (<https://docs.discord.com/developers/events/gateway#sharding>).

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serenity::model::id::GuildId;

/// How many gateway connections to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shards {
    /// As many as Discord recommends for the bot's guilds.
    #[default]
    Auto,
    /// All of this number.
    Number(u32),
    /// Some of them: other processes hold the rest.
    Part(ShardRange),
}

impl Shards {
    /// Returns the shards of this process, given Discord's recommendation.
    pub(crate) fn of(self, recommended: u32) -> ShardRange {
        match self {
            Self::Auto => ShardRange::all(recommended),
            Self::Number(number) => ShardRange::all(number),
            Self::Part(range) => range,
        }
    }
}

/// Why a shard setting is invalid: what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {0}")]
pub struct ShardsError(pub &'static str);

const FORM: ShardsError = ShardsError(
    "auto, the number of shards, or those of this process out of all of them, such as 0-3/8 or 4/8",
);

impl FromStr for Shards {
    type Err = ShardsError;

    fn from_str(text: &str) -> Result<Self, ShardsError> {
        let text = text.trim();
        if text.is_empty() || text == "auto" {
            return Ok(Self::Auto);
        }
        let Some((these, total)) = text.split_once('/') else {
            return match number(text)? {
                0 => Err(ShardsError("1 shard at least, or auto")),
                number => Ok(Self::Number(number)),
            };
        };
        let (first, last) = these.split_once('-').unwrap_or((these, these));
        let range = ShardRange::new(number(first)?, number(last)?, number(total)?)?;
        Ok(Self::Part(range))
    }
}

fn number(text: &str) -> Result<u32, ShardsError> {
    text.trim().parse().map_err(|_| FORM)
}

/// A range of consecutive shards, counted from 0, out of all that the bot has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardRange {
    first: u32,
    last: u32,
    total: u32,
}

impl ShardRange {
    /// # Errors
    /// Fails when there are no such shards.
    pub fn new(first: u32, last: u32, total: u32) -> Result<Self, ShardsError> {
        if total == 0 {
            Err(ShardsError("of 1 shard at least in all"))
        } else if first > last {
            Err(ShardsError(
                "a range from a lower shard to a higher one, such as 0-3/8",
            ))
        } else if last >= total {
            Err(ShardsError(
                "of shards below their total: they are counted from 0, so the last of 8 is 7/8",
            ))
        } else {
            Ok(Self { first, last, total })
        }
    }

    /// All of this number, at least one.
    pub(crate) fn all(total: u32) -> Self {
        let total = total.max(1);
        Self {
            first: 0,
            last: total - 1,
            total,
        }
    }

    pub(crate) fn numbers(self) -> RangeInclusive<u32> {
        self.first..=self.last
    }

    pub(crate) fn first(self) -> u32 {
        self.first
    }

    pub(crate) fn last(self) -> u32 {
        self.last
    }

    /// Returns the number of shards of all processes together.
    pub(crate) fn total(self) -> u32 {
        self.total
    }

    /// Whether no other process holds any.
    pub(crate) fn is_all(self) -> bool {
        self.first == 0 && self.last == self.total - 1
    }

    /// Whether they deliver a server's events.
    pub(crate) fn hears(self, guild: GuildId) -> bool {
        self.numbers().contains(&self.shard_of(guild))
    }

    /// Whether they deliver direct messages.
    pub(crate) fn hears_directs(self) -> bool {
        self.first == 0
    }

    /// Returns the shard, of all, that delivers a server's events.
    pub(crate) fn shard_of(self, guild: GuildId) -> u32 {
        let shard = (guild.get() >> 22) % u64::from(self.total);
        u32::try_from(shard).expect("less than the total")
    }

    /// Formats them like the setting: `0-3/8`.
    pub(crate) fn setting(self) -> String {
        let Self { first, last, total } = self;
        if first == last {
            self.name(first)
        } else {
            format!("{first}-{last}/{total}")
        }
    }

    /// Returns a shard's name in saved files: `4/8`.
    pub(crate) fn name(self, shard: u32) -> String {
        format!("{shard}/{}", self.total)
    }
}

/// Formats them for people: `shards 0 to 3 of 8`.
impl fmt::Display for ShardRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, total } = self;
        if first == last {
            write!(f, "shard {first} of {total}")
        } else {
            write!(f, "shards {first} to {last} of {total}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u32, last: u32, total: u32) -> ShardRange {
        ShardRange::new(first, last, total).unwrap()
    }

    #[test]
    fn shards_are_read() {
        for (text, expected) in [
            ("", Shards::Auto),
            (" auto ", Shards::Auto),
            ("1", Shards::Number(1)),
            (" 16 ", Shards::Number(16)),
            ("0-3/8", Shards::Part(range(0, 3, 8))),
            (" 4 - 7 / 8 ", Shards::Part(range(4, 7, 8))),
            ("4/8", Shards::Part(range(4, 4, 8))),
            ("0/1", Shards::Part(ShardRange::all(1))),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("0", "1 shard at least"),
            ("0/0", "1 shard at least in all"),
            ("3-0/8", "from a lower shard to a higher one"),
            ("0-8/8", "below their total"),
            ("8/8", "below their total"),
            ("all", "such as 0-3/8"),
            ("-1", "such as 0-3/8"),
            ("1.5", "such as 0-3/8"),
            ("0-3", "such as 0-3/8"),
            ("0-/8", "such as 0-3/8"),
            ("-3/8", "such as 0-3/8"),
            ("0-1-2/8", "such as 0-3/8"),
            ("0/1/2", "such as 0-3/8"),
            ("0,1/8", "such as 0-3/8"),
            ("0-3/", "such as 0-3/8"),
            ("4294967296", "such as 0-3/8"),
        ] {
            let said = text.parse::<Shards>().unwrap_err().to_string();
            assert!(said.contains(says), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_server_has_one_shard_and_direct_messages_have_the_first() {
        let (lower, upper) = (range(0, 3, 8), range(4, 7, 8));
        for number in 0..32 {
            let guild = GuildId::new((number << 22) + 5);
            assert_eq!(u64::from(lower.shard_of(guild)), number % 8);
            assert_eq!(lower.hears(guild), number % 8 < 4);
            assert_ne!(lower.hears(guild), upper.hears(guild));
            assert!(ShardRange::all(3).hears(guild));
        }
        // The example in Discord's documentation follows the same rule: 175928847299117063 >> 22.
        let guild = GuildId::new(175_928_847_299_117_063);
        assert_eq!(
            upper.shard_of(guild),
            41_944_705_796_u64.rem_euclid(8) as u32
        );
        assert!(lower.hears_directs() && !upper.hears_directs());
        assert!(ShardRange::all(1).is_all() && range(0, 7, 8).is_all());
        assert!(!lower.is_all() && !upper.is_all());
    }

    #[test]
    fn they_are_named() {
        assert_eq!(range(0, 3, 8).to_string(), "shards 0 to 3 of 8");
        assert_eq!(range(4, 4, 8).to_string(), "shard 4 of 8");
        assert_eq!(range(4, 5, 8).name(5), "5/8");
        for written in ["0-3/8", "4/8"] {
            let Ok(Shards::Part(range)) = written.parse() else {
                panic!("{written}");
            };
            assert_eq!(range.setting(), written);
        }
    }
}

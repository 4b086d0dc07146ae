//! Decides who may talk to the bot. Pure; an empty list admits nobody.

use muninn_platform::{AllowEntry, AllowList};

/// The allow list of `SLACK_ALLOW`. The default admits nobody.
pub type SlackAllowList = AllowList<SlackAllowEntry>;

/// An entry of the allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlackAllowEntry {
    Workspace(String),
    Channel(String),
    User(String),
}

/// Who says something, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker<'a> {
    /// The workspace the person belongs to.
    pub(crate) workspace: &'a str,
    pub(crate) user: &'a str,
    pub(crate) channel: &'a str,
    /// The channel has people of other organisations too (Slack Connect).
    pub(crate) is_shared: bool,
}

/// How somebody is served who uses a command, a shortcut or a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Refused,
    /// What only they see: Slack does not say whether people of other organisations are in the
    /// channel, so nothing is shown to the others there.
    Alone,
    Whole,
}

impl AllowEntry for SlackAllowEntry {
    const VARIABLE: &'static str = "SLACK_ALLOW";
    const ENTRIES: &'static str = "ids of workspaces, channels or users";
    const FORMS: &'static str =
        "id of a workspace (T0123ABCD), channel (C0123ABCD) or user (U0123ABCD)";

    fn parse(entry: &str) -> Option<Self> {
        let is_of_id = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        let id = entry.to_owned();
        match entry.chars().next() {
            _ if entry.len() == 1 || !entry.chars().all(is_of_id) => None,
            Some('T') => Some(Self::Workspace(id)),
            Some('C' | 'G' | 'D') => Some(Self::Channel(id)),
            Some('U' | 'W') => Some(Self::User(id)),
            Some(_) | None => None,
        }
    }
}

impl Speaker<'_> {
    /// Whether messages there are answered. A channel shared with other organisations is only
    /// served if it is listed itself.
    pub(crate) fn is_let_in(&self, allow: &SlackAllowList) -> bool {
        let names_channel = |entry: &SlackAllowEntry| matches!(entry, SlackAllowEntry::Channel(id) if id == self.channel);
        let fits = |entry: &SlackAllowEntry| match entry {
            SlackAllowEntry::Channel(id) => id == self.channel,
            SlackAllowEntry::User(id) => id == self.user,
            SlackAllowEntry::Workspace(id) => id == self.workspace,
        };
        allow.names(names_channel) || !self.is_shared && allow.lets_in(fits)
    }
}

impl Access {
    /// `is_known`: Slack says what channel it is. It does not of private channels and direct messages
    /// that the bot is not in. `own`: the bot's workspace.
    pub(crate) fn of(
        allow: &SlackAllowList,
        speaker: Speaker<'_>,
        is_known: bool,
        own: &str,
    ) -> Self {
        let with = |is_shared| {
            let speaker = Speaker {
                is_shared,
                ..speaker
            };
            speaker.is_let_in(allow)
        };
        if with(speaker.is_shared || !is_known) {
            return Self::Whole;
        }
        // Where somebody of another workspace is, the channel is shared.
        let may_be_own = !is_known && speaker.workspace == own;
        if may_be_own && with(false) {
            Self::Alone
        } else {
            Self::Refused
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_is_named_is_let_in() {
        let speaker = |workspace, user, channel, is_shared| Speaker {
            workspace,
            user,
            channel,
            is_shared,
        };
        let ann = speaker("T1", "U1", "C1", false);
        let bob = speaker("T2", "U2", "C1", false);
        let shared = speaker("T1", "U1", "C2", true);
        for (allow, ann_is, bob_is, shared_is) in [
            ("", false, false, false),
            (" , ", false, false, false),
            ("*", true, true, false),
            ("T1", true, false, false),
            ("U2", false, true, false),
            ("C1", true, true, false),
            ("C2", false, false, true),
            ("*, C2", true, true, true),
            ("T1 U2", true, true, false),
            // Matches whole ids, not parts.
            ("T", false, false, false),
        ] {
            let Ok(allow) = allow.parse::<SlackAllowList>() else {
                assert_eq!(allow, "T");
                continue;
            };
            let served = [ann, bob, shared].map(|speaker| speaker.is_let_in(&allow));
            assert_eq!(served, [ann_is, bob_is, shared_is], "{allow:?}");
        }
    }

    #[test]
    fn where_slack_does_not_say_who_is_there_only_they_are_served() {
        use Access::{Alone, Refused, Whole};
        let allow = |list: &str| list.parse::<SlackAllowList>().unwrap();
        for (list, own, shared, unknown, unknown_of_others) in [
            ("", Refused, Refused, Refused, Refused),
            ("*", Whole, Refused, Alone, Refused),
            ("T1", Whole, Refused, Alone, Refused),
            ("T1 T2", Whole, Refused, Alone, Refused),
            ("U1", Whole, Refused, Alone, Refused),
            ("C1", Whole, Whole, Whole, Whole),
            ("C2", Refused, Refused, Refused, Refused),
        ] {
            for (workspace, is_shared, is_known, expected) in [
                ("T1", false, true, own),
                ("T1", true, true, shared),
                ("T1", false, false, unknown),
                ("T2", false, false, unknown_of_others),
            ] {
                let speaker = Speaker {
                    workspace,
                    user: "U1",
                    channel: "C1",
                    is_shared,
                };
                let access = Access::of(&allow(list), speaker, is_known, "T1");
                assert_eq!(access, expected, "{list:?} for {speaker:?} {is_known}");
            }
        }
    }

    #[test]
    fn what_is_no_entry_is_named() {
        for entry in ["T", "general", "#general", "**", "c123", "X123", "U-1"] {
            let error = entry.parse::<SlackAllowList>().unwrap_err();
            assert!(error.to_string().contains(entry), "{entry}");
        }
    }
}

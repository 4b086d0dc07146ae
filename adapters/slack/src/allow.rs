//! Who may talk to the bot. Pure, and closed where nothing was opened.

use std::str::FromStr;

/// What `SLACK_ALLOW` lets in. The default lets nobody in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    everyone: bool,
    workspaces: Vec<String>,
    channels: Vec<String>,
    users: Vec<String>,
}

/// An entry of `SLACK_ALLOW` that is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "SLACK_ALLOW has {0:?}, which is no id of a workspace (T0123ABCD), channel (C0123ABCD) or user (U0123ABCD), nor * for everyone"
)]
pub struct AllowError(String);

/// Who says something, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker<'a> {
    /// The workspace the person belongs to.
    pub(crate) workspace: &'a str,
    pub(crate) user: &'a str,
    pub(crate) channel: &'a str,
    /// People of other organisations are in the channel too (Slack Connect).
    pub(crate) is_shared: bool,
}

impl FromStr for Allow {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        let mut allow = Self::default();
        let entries = text.split([',', ' ', '\n']).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let is_id = entry.len() > 1
                && entry
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
            match entry.chars().next() {
                Some('*') if entry == "*" => allow.everyone = true,
                Some('T') if is_id => allow.workspaces.push(entry.to_owned()),
                Some('C' | 'G' | 'D') if is_id => allow.channels.push(entry.to_owned()),
                Some('U' | 'W') if is_id => allow.users.push(entry.to_owned()),
                Some(_) | None => return Err(AllowError(entry.to_owned())),
            }
        }
        Ok(allow)
    }
}

impl Allow {
    /// Nobody is let in.
    pub fn is_nobody(&self) -> bool {
        *self == Self::default()
    }

    /// Whether what is said there is answered. A channel that is shared with other organisations is
    /// served only where it is named.
    pub(crate) fn serves(&self, speaker: Speaker<'_>) -> bool {
        let named = |ids: &[String], id: &str| ids.iter().any(|known| known == id);
        if named(&self.channels, speaker.channel) {
            return true;
        }
        !speaker.is_shared
            && (self.everyone
                || named(&self.users, speaker.user)
                || named(&self.workspaces, speaker.workspace))
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
            // Exactly, and not as a part.
            ("T", false, false, false),
        ] {
            let Ok(allow) = allow.parse::<Allow>() else {
                assert_eq!(allow, "T");
                continue;
            };
            let served = [ann, bob, shared].map(|speaker| allow.serves(speaker));
            assert_eq!(served, [ann_is, bob_is, shared_is], "{allow:?}");
        }
    }

    #[test]
    fn what_is_no_entry_is_named() {
        for entry in ["T", "general", "#general", "**", "c123", "X123", "U-1"] {
            let error = entry.parse::<Allow>().unwrap_err();
            assert!(error.to_string().contains(entry), "{entry}");
        }
    }

    #[test]
    fn nothing_is_nobody() {
        assert!("".parse::<Allow>().unwrap().is_nobody());
        assert!(!"*".parse::<Allow>().unwrap().is_nobody());
    }
}

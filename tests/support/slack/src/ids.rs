//! Ids of things in the workspace, in Slack's formats.

/// The team that the app is installed in.
pub const TEAM: &str = "T00RAVENS1";

/// The team of strangers (Slack Connect).
pub const OTHER_TEAM: &str = "T00ROOKS01";

/// The app's bot user, which people mention.
pub const BOT_USER: &str = "U00MUNINN1";

/// The app's bot.
pub const BOT: &str = "B00MUNINN1";

/// The app.
pub const APP: &str = "A00MUNINN1";

/// The bot's token.
pub const BOT_TOKEN: &str = "xoxb-loopback-bot";

/// The app-level token, for Socket Mode.
pub const APP_TOKEN: &str = "xapp-loopback-app";

/// The secret that signs requests to the app.
pub const SIGNING_SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";

/// Returns the id number `n` of a kind: `id('C', 3)` is `C000000003`.
pub(crate) fn id(kind: char, n: usize) -> String {
    format!("{kind}{n:09}")
}

/// Whether it is an id: upper-case letters and digits after the letter of their kind.
pub(crate) fn is_id(text: &str, kinds: &str) -> bool {
    text.len() >= 9
        && text.starts_with(|first| kinds.contains(first))
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// Whether it is a message's id and time: seconds and six digits.
pub(crate) fn is_ts(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(seconds, micros)| {
        seconds.len() == 10 && micros.len() == 6 && digits(seconds) && digits(micros)
    })
}

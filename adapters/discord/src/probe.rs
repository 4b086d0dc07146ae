//! Finds out why Discord refuses a connection.
//!
//! serenity retries forever when Discord closes a connection for good (wrong shards, too many
//! servers, an unknown version), and Discord resets a token after 1,000 such attempts per day. So
//! the probe asks the gateway once by itself.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use muninn_platform::{PlatformError, misconfigured};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::errors::logged_out;
use crate::shards::ShardRange;

const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// How a connection identifies itself.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) url: String,
    pub(crate) token: SecretString,
    pub(crate) intents: u64,
    /// The shards of this process.
    pub(crate) shards: ShardRange,
    /// The number of shards that Discord recommends.
    pub(crate) recommended: u32,
}

impl Probe {
    /// Returns why Discord will never accept this shard. `None` if it does, or cannot be asked now.
    pub(crate) async fn refusal(&self, shard: u32) -> Option<PlatformError> {
        let closed = tokio::time::timeout(PROBE_TIMEOUT, self.close_code(shard));
        let code = closed.await.ok().flatten()?;
        let error = fatal(code, self.shards, self.recommended);
        if error.is_none() {
            tracing::warn!(code, "Discord closes the connection; it is tried again");
        }
        error
    }

    async fn close_code(&self, shard: u32) -> Option<u16> {
        let url = format!("{}/?v=10&encoding=json", self.url.trim_end_matches('/'));
        let (mut socket, _) = connect_async(url).await.ok()?;
        let identify = json!({ "op": 2, "d": {
            "token": self.token.expose_secret(),
            "intents": self.intents,
            "shard": [shard, self.shards.total()],
            "properties": { "os": std::env::consts::OS, "browser": "muninn", "device": "muninn" },
        }});
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) => match op(&text) {
                    Some(HELLO) => {
                        let identify = Message::Text(identify.to_string());
                        socket.send(identify).await.ok()?;
                    }
                    Some(DISPATCH | INVALID_SESSION) => {
                        let _ = socket.close(None).await;
                        return None;
                    }
                    Some(_) | None => {}
                },
                Message::Close(frame) => return Some(frame?.code.into()),
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        None
    }
}

const DISPATCH: u64 = 0;
const INVALID_SESSION: u64 = 9;
const HELLO: u64 = 10;

fn op(payload: &str) -> Option<u64> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    payload["op"].as_u64()
}

/// Converts a close code after which nobody may reconnect to an error.
fn fatal(code: u16, shards: ShardRange, recommended: u32) -> Option<PlatformError> {
    let is_all = shards.is_all();
    Some(match code {
        4004 => logged_out(),
        4010 if is_all => misconfigured(
            "Discord refuses the number of this connection (close code 4010); set DISCORD_SHARDS=auto, or to a number from 1",
        ),
        4010 => misconfigured(format!(
            "Discord refuses the number of this connection (close code 4010); it has {shards}: look at DISCORD_SHARDS"
        )),
        4011 => {
            let least = match (is_all, recommended > 1) {
                (true, true) => format!("set DISCORD_SHARDS=auto, or to {recommended} or more"),
                (true, false) => "set DISCORD_SHARDS=auto".to_owned(),
                (false, true) => format!(
                    "set the total in the DISCORD_SHARDS of every process to {recommended} or more"
                ),
                (false, false) => {
                    "set a higher total in the DISCORD_SHARDS of every process".to_owned()
                }
            };
            misconfigured(format!(
                "the bot is in more servers than its connections may carry (close code 4011); {least}"
            ))
        }
        4012 => misconfigured(
            "Discord does not speak this version of its gateway any more (close code 4012); update Muninn",
        ),
        4013 => misconfigured(
            "Discord does not know what Muninn wants to be told (close code 4013); update Muninn",
        ),
        4014 => disallowed_intents(),
        _ => return None,
    })
}

pub(crate) fn disallowed_intents() -> PlatformError {
    misconfigured(
        "Discord does not let Muninn read messages; switch on \"Message Content Intent\" under \"Bot\" in the developer portal, or set DISCORD_MESSAGE_CONTENT=false to answer mentions, direct messages and commands only",
    )
}

pub(crate) fn unknown_intents() -> PlatformError {
    fatal(4013, ShardRange::all(1), 1).unwrap_or_else(disallowed_intents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_final_says_what_to_set() {
        for (code, says) in [
            (4004, "DISCORD_TOKEN"),
            (4010, "DISCORD_SHARDS"),
            (4011, "DISCORD_SHARDS=auto, or to 3 or more"),
            (4012, "update Muninn"),
            (4013, "update Muninn"),
            (4014, "Message Content Intent"),
        ] {
            let said = fatal(code, ShardRange::all(1), 3).unwrap().to_string();
            assert!(said.contains(says), "{code}: {said}");
        }
        let some = ShardRange::new(0, 1, 4).unwrap();
        for (code, recommended, says) in [
            (4010, 4, "it has shards 0 to 1 of 4"),
            (4011, 8, "of every process to 8 or more"),
            (4011, 1, "set a higher total"),
        ] {
            let said = fatal(code, some, recommended).unwrap().to_string();
            assert!(said.contains(says), "{code}: {said}");
        }
        for code in [1000, 1006, 4000, 4001, 4007, 4008, 4009] {
            assert!(fatal(code, some, 3).is_none(), "{code}");
        }
    }
}

//! The adapter's options.

use std::net::SocketAddr;

use clap::Args;
use muninn_platform::{SettingsError, half_set, non_empty, non_empty_secret};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

/// Minimum bytes of a secret; a shorter one can be guessed.
const LEAST_SECRET: usize = 16;

/// Every option of the webhook.
#[derive(Args, Clone, Debug)]
pub struct WebhookArgs {
    /// Listen address (HOST:PORT) for signed messages of your own programs; unset to leave the webhook off; put a TLS proxy in front
    #[arg(long, env, global = true, default_value = "")]
    pub webhook_addr: String,
    /// Secret that signs requests in both directions, at least 16 characters
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub webhook_secret: SecretString,
    /// URL that answers are posted to
    #[arg(long, env, global = true, default_value = "")]
    pub webhook_answer_url: String,
}

/// The adapter's options.
#[derive(Clone, Debug)]
pub struct WebhookOptions {
    /// The address to listen at.
    pub address: SocketAddr,
    /// The shared secret that authenticates both sides.
    pub secret: SecretString,
    /// The URL for answers.
    pub answer_url: Url,
}

impl WebhookArgs {
    /// Returns the adapter's options, if the webhook is configured.
    ///
    /// # Errors
    /// Fails with the variable that has to change.
    pub fn options(self) -> Result<Option<WebhookOptions>, SettingsError> {
        let unreadable = |name, value, needs| SettingsError::Unreadable { name, value, needs };
        let secret = non_empty_secret(&self.webhook_secret);
        let answer_url = non_empty(&self.webhook_answer_url);
        let (address, secret, answer_url) =
            match (non_empty(&self.webhook_addr), secret, answer_url) {
                (None, None, None) => return Ok(None),
                (None, Some(_), _) => return half_set("WEBHOOK_SECRET", "WEBHOOK_ADDR"),
                (None, None, Some(_)) => return half_set("WEBHOOK_ANSWER_URL", "WEBHOOK_ADDR"),
                (Some(_), None, _) => return half_set("WEBHOOK_ADDR", "WEBHOOK_SECRET"),
                (Some(_), Some(_), None) => return half_set("WEBHOOK_ADDR", "WEBHOOK_ANSWER_URL"),
                (Some(address), Some(secret), Some(answer_url)) => (address, secret, answer_url),
            };
        if secret.expose_secret().len() < LEAST_SECRET {
            let needs = "at least 16 characters long, such as the output of `openssl rand -hex 32`";
            let hidden = "…".to_owned();
            return Err(unreadable("WEBHOOK_SECRET", hidden, needs));
        }
        let is_http = |url: &Url| matches!(url.scheme(), "http" | "https");
        let parsed = Url::parse(&answer_url).ok().filter(is_http);
        Ok(Some(WebhookOptions {
            address: address.parse().map_err(|_| {
                let needs = "an IP address with a port, such as 127.0.0.1:8081";
                unreadable("WEBHOOK_ADDR", address, needs)
            })?,
            answer_url: parsed.ok_or_else(|| {
                let needs = "an http:// or https:// address";
                unreadable("WEBHOOK_ANSWER_URL", answer_url, needs)
            })?,
            secret,
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    const SECRET: &str = "a secret of some length";

    fn options(arguments: &[&str]) -> Result<Option<WebhookOptions>, String> {
        let command = WebhookArgs::augment_args(Command::new("muninn"));
        let arguments = std::iter::once("muninn").chain(arguments.iter().copied());
        let read = WebhookArgs::from_arg_matches(&command.get_matches_from(arguments)).unwrap();
        read.options().map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_set_up_whole_or_not_at_all() {
        assert!(options(&[]).unwrap().is_none());
        let (addr, secret) = (["--webhook-addr", "[::1]:80"], ["--webhook-secret", SECRET]);
        let url = ["--webhook-answer-url", "https://example.org/answers"];
        let all = [addr, secret, url].concat();
        let read = options(&all).unwrap().unwrap();
        assert_eq!(read.answer_url.as_str(), "https://example.org/answers");
        assert!(!format!("{read:?}").contains(SECRET));
        for (arguments, said) in [
            (addr.to_vec(), "WEBHOOK_SECRET is not"),
            ([addr, secret].concat(), "WEBHOOK_ANSWER_URL is not"),
            (secret.to_vec(), "WEBHOOK_ADDR is not"),
            (url.to_vec(), "WEBHOOK_ADDR is not"),
            (
                [["--webhook-addr", "here"], secret, url].concat(),
                "WEBHOOK_ADDR is \"here\"",
            ),
            (
                [addr, ["--webhook-secret", "short"], url].concat(),
                "at least 16 characters",
            ),
            (
                [addr, secret, ["--webhook-answer-url", "ftp://a"]].concat(),
                "an http:// or https:// address",
            ),
        ] {
            let error = options(&arguments).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}

//! Slack's signatures of requests to an app's URL.
//!
//! "Verifying requests from Slack": `v0=` and the hex of an HMAC-SHA256, keyed with the signing
//! secret, over `v0:<timestamp>:<body>`.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Returns the value of `x-slack-signature` for a request.
///
/// `timestamp` is the value of `x-slack-request-timestamp`, in seconds since 1970.
pub fn sign(secret: &str, timestamp: &str, body: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(format!("v0:{timestamp}:{body}").as_bytes());
    let code = mac.finalize().into_bytes();
    let hex = code.iter().map(|byte| format!("{byte:02x}"));
    format!("v0={}", hex.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::sign;

    /// The example of the page "Verifying requests from Slack".
    #[test]
    fn the_documented_example_has_the_documented_signature() {
        let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow\
            &channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner\
            &command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands\
            %2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN\
            &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let secret = "8f742231b10e8888abcd99yyyzzz85a5";
        let expected = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
        assert_eq!(sign(secret, "1531420618", body), expected);
    }
}

//! The checks of `muninn doctor`: asks the homeserver about the account, without opening the store,
//! which a running bot locks.

use matrix_sdk::Client;
use matrix_sdk::authentication::matrix::MatrixSession;
use muninn_platform::{PlatformError, SelfCheckFinding};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ask::{self, AskError, Versions};
use crate::files::Folder;
use crate::login::{self, Stored};
use crate::options::{Login, MatrixOptions};

/// Checks homeserver, login, device and key backup.
pub async fn check(options: &MatrixOptions) -> Vec<SelfCheckFinding> {
    let mut findings: Vec<SelfCheckFinding> = options.allow.finding().into_iter().collect();
    let folder = Folder::look(&options.folder);
    if folder.recovery_key().exists() {
        findings.push(SelfCheckFinding::warning(format!(
            "the recovery key is still in {}; keep it somewhere safe and remove the file",
            folder.recovery_key().display()
        )));
    }
    let client = match login::anonymous_client(options).await {
        Ok(client) => client,
        Err(error) => {
            findings.push(SelfCheckFinding::error(error.into_error().to_string()));
            return findings;
        }
    };
    match homeserver(options, &client).await {
        Ok(finding) => findings.push(finding),
        Err(error) => {
            findings.push(SelfCheckFinding::error(error.to_string()));
            return findings;
        }
    }
    match Stored::read(&folder) {
        Ok(Some(stored)) => {
            findings.extend(session(options, &folder, &client, &stored.session).await)
        }
        Ok(None) => findings.push(not_logged_in(options)),
        Err(error) => findings.push(SelfCheckFinding::error(error.to_string())),
    }
    findings
}

async fn homeserver(
    options: &MatrixOptions,
    client: &Client,
) -> Result<SelfCheckFinding, PlatformError> {
    let (http, url) = (client.http_client(), client.homeserver());
    let Versions { versions } = ask::versions(http, &url)
        .await
        .map_err(|error| error.sentence(options))?;
    let newest = versions.last().map_or("no version", String::as_str);
    Ok(SelfCheckFinding::ok(format!(
        "{url} answers, and speaks up to {newest}"
    )))
}

fn not_logged_in(options: &MatrixOptions) -> SelfCheckFinding {
    match &options.login {
        Login::Password {
            password: None,
            user,
        } => SelfCheckFinding::error(format!(
            "{user} is not logged in; set MATRIX_PASSWORD for the first start"
        )),
        Login::Password { .. } | Login::AccessToken(_) => SelfCheckFinding::warning(
            "not logged in yet; `muninn serve` does it at its first start",
        ),
    }
}

async fn session(
    options: &MatrixOptions,
    folder: &Folder,
    client: &Client,
    session: &MatrixSession,
) -> Vec<SelfCheckFinding> {
    let (http, url) = (client.http_client(), client.homeserver());
    let meta = &session.meta;
    match ask::whoami(http, &url, &session.tokens).await {
        Ok(who)
            if who.user_id != meta.user_id
                || who
                    .device_id
                    .as_ref()
                    .is_some_and(|it| *it != meta.device_id) =>
        {
            return vec![SelfCheckFinding::error(format!(
                "the session in {} is of another account or device than it says; put a copy of the whole folder back",
                folder.path().display()
            ))];
        }
        Ok(_) => {}
        // Refreshable tokens live for minutes; only the bot itself may refresh them.
        Err(AskError::Expired) if session.tokens.refresh_token.is_some() => {
            return vec![SelfCheckFinding::warning(format!(
                "the access token of {} has run out; `muninn serve` gets a new one",
                meta.user_id
            ))];
        }
        Err(AskError::LoggedOut | AskError::Expired) => {
            return vec![SelfCheckFinding::error(
                login::logged_out(options).to_string(),
            )];
        }
        Err(error) => return vec![SelfCheckFinding::error(format!("{url}: {error}"))],
    }
    let path = format!("_matrix/client/v3/devices/{}", meta.device_id);
    match ask::get::<Value>(http, &url, &path, Some(&session.tokens)).await {
        Ok(_) => {}
        Err(AskError::NotFound | AskError::LoggedOut) => {
            return vec![SelfCheckFinding::error(
                login::logged_out(options).to_string(),
            )];
        }
        Err(error) => return vec![SelfCheckFinding::error(format!("the device: {error}"))],
    }
    let mut findings = vec![SelfCheckFinding::ok(format!(
        "logged in as {}, device {}",
        meta.user_id, meta.device_id
    ))];
    if !folder.has_keys() {
        findings.push(SelfCheckFinding::error(
            login::lost_keys(folder, meta).to_string(),
        ));
    }
    findings.push(trust(client, session).await);
    findings.push(backup(client, session).await);
    findings
}

async fn trust(client: &Client, session: &MatrixSession) -> SelfCheckFinding {
    let (user, device) = (&session.meta.user_id, &session.meta.device_id);
    let asked = json!({ "device_keys": { user.as_str(): [] } });
    let path = "_matrix/client/v3/keys/query";
    let (http, url) = (client.http_client(), client.homeserver());
    let answer: Value = match ask::post(http, &url, path, &session.tokens, &asked).await {
        Ok(answer) => answer,
        Err(error) => return SelfCheckFinding::error(format!("the device's keys: {error}")),
    };
    match signed(&answer, user.as_str(), device.as_str()) {
        Signed::Yes => SelfCheckFinding::ok(
            "the device is signed by its account, so clients show it as verified",
        ),
        Signed::No => SelfCheckFinding::error(
            "the device is not verified; set MATRIX_RECOVERY_KEY to the account's recovery key",
        ),
        Signed::NoAccountKeys => SelfCheckFinding::error(
            "the account has no keys for signing; start `muninn serve` with MATRIX_PASSWORD set",
        ),
        Signed::NoDevice => {
            SelfCheckFinding::error("the device has no keys, so encrypted rooms cannot be read")
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Signed {
    Yes,
    No,
    NoAccountKeys,
    NoDevice,
}

/// Whether the account has signed the device.
fn signed(answer: &Value, user: &str, device: &str) -> Signed {
    let signing = &answer["self_signing_keys"][user]["keys"];
    let Some(key) = signing.as_object().and_then(|keys| keys.keys().next()) else {
        return Signed::NoAccountKeys;
    };
    let device = &answer["device_keys"][user][device];
    if device.is_null() {
        return Signed::NoDevice;
    }
    if device["signatures"][user].get(key).is_some() {
        Signed::Yes
    } else {
        Signed::No
    }
}

#[derive(Deserialize)]
struct Backup {
    count: u64,
}

async fn backup(client: &Client, session: &MatrixSession) -> SelfCheckFinding {
    let path = "_matrix/client/v3/room_keys/version";
    let (http, url) = (client.http_client(), client.homeserver());
    match ask::get(http, &url, path, Some(&session.tokens)).await {
        Ok(Backup { count }) => {
            SelfCheckFinding::ok(format!("{count} keys of encrypted rooms are backed up"))
        }
        Err(AskError::NotFound) => SelfCheckFinding::warning(
            "no key backup: after a loss of the store encrypted messages stay unreadable",
        ),
        Err(error) => SelfCheckFinding::error(format!("the key backup: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_signed_or_not() {
        let keys = json!({ "@a:b": { "keys": { "ed25519:SSK": "SSK" } } });
        let device = |signatures: Value| json!({ "@a:b": { "D": { "signatures": { "@a:b": signatures } } } });
        for (answer, expected) in [
            (json!({}), Signed::NoAccountKeys),
            (json!({ "self_signing_keys": keys }), Signed::NoDevice),
            (
                json!({ "self_signing_keys": keys, "device_keys": device(json!({ "ed25519:D": "s" })) }),
                Signed::No,
            ),
            (
                json!({ "self_signing_keys": keys, "device_keys": device(json!({ "ed25519:SSK": "s" })) }),
                Signed::Yes,
            ),
        ] {
            assert_eq!(signed(&answer, "@a:b", "D"), expected, "{answer}");
        }
    }
}

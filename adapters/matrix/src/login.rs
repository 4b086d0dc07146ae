//! Creates a logged-in client from the options and the folder.
//!
//! The password is used once. Afterwards three things are kept that belong together: the session
//! (device and tokens), the store (the keys of that device), and the encryption key of the store.

#[cfg(test)]
mod frozen;
#[cfg(test)]
mod unreached;

use std::io;
use std::path::Path;

use matrix_sdk::authentication::matrix::MatrixSession;
use matrix_sdk::config::RequestConfig;
use matrix_sdk::encryption::vodozemac::Curve25519SecretKey;
use matrix_sdk::encryption::{BackupDownloadStrategy, EncryptionSettings};
use matrix_sdk::ruma::api::error::ErrorKind;
use matrix_sdk::store::RoomLoadSettings;
use matrix_sdk::{
    Client, ClientBuildError, HttpError, SessionMeta, SessionTokens, SqliteStoreConfig,
};
use muninn_platform::{
    PlatformError, RequestFailure, StartError, connect_at_start, in_one_line, misconfigured,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::ask::{self, AskError};
use crate::errors::{disconnected, of_discovery, of_http};
use crate::files::{self, Folder};
use crate::name::NAME;
use crate::options::{Login, MatrixOptions};
use crate::request_limits::{REQUEST_TIMEOUT, RETRIES};

/// The stored session.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// As configured.
    pub(crate) homeserver: String,
    pub(crate) session: MatrixSession,
    /// The device's signing key; sessions of earlier versions lack it.
    #[serde(default)]
    device_key: Option<String>,
}

impl Stored {
    pub(crate) fn read(folder: &Folder) -> Result<Option<Self>, PlatformError> {
        let path = folder.session();
        let Some(content) = files::read(&path).map_err(|error| unusable(&path, &error))? else {
            return Ok(None);
        };
        let stored = serde_json::from_slice(&content).map_err(|_| {
            misconfigured(format!(
                "{} is damaged. {}",
                path.display(),
                new_device(folder)
            ))
        })?;
        Ok(Some(stored))
    }

    fn write(&self, folder: &Folder) -> io::Result<()> {
        files::write(&folder.session(), &serde_json::to_vec(self)?)
    }
}

/// Returns a client that is, or was, logged in: the first request shows whether the session is
/// still valid.
pub(crate) async fn log_in(options: &MatrixOptions) -> Result<Client, StartError> {
    let folder =
        Folder::open(&options.folder).map_err(|error| unusable(&options.folder, &error))?;
    let client = match Stored::read(&folder)? {
        Some(stored) => restore(options, &folder, stored).await?,
        None => first_login(options, &folder).await?,
    };
    save_refreshed_tokens(&client, options, &folder)?;
    Ok(client)
}

async fn restore(
    options: &MatrixOptions,
    folder: &Folder,
    mut stored: Stored,
) -> Result<Client, StartError> {
    if !folder.has_keys() {
        return Err(lost_keys(folder, &stored.session.meta).into());
    }
    if let Some(sentence) = belongs_elsewhere(options, folder, &stored) {
        return Err(misconfigured(sentence).into());
    }
    let client = build(options, folder).await?;
    if let Login::AccessToken(token) = &options.login {
        let token = token.expose_secret();
        if stored.session.tokens.access_token != token {
            let meta = owner_of(options, token).await?;
            if meta != stored.session.meta {
                return Err(misconfigured(format!(
                    "MATRIX_ACCESS_TOKEN is for device {} of {}, but {} belongs to device {} of {}; set a token of that device, or move the folder away",
                    meta.device_id,
                    meta.user_id,
                    folder.path().display(),
                    stored.session.meta.device_id,
                    stored.session.meta.user_id,
                ))
                .into());
            }
            stored.session.tokens = tokens(token);
            save(&stored, folder)?;
        }
    }
    let restored = client
        .matrix_auth()
        .restore_session(stored.session.clone(), RoomLoadSettings::default())
        .await;
    restored.map_err(|error| damaged_store(folder, &error))?;
    match (&stored.device_key, device_key(&client).await) {
        (Some(known), Some(key)) if *known != key => {
            return Err(lost_keys(folder, &stored.session.meta).into());
        }
        (None, Some(key)) => {
            stored.device_key = Some(key);
            save(&stored, folder)?;
        }
        (_, Some(_) | None) => {}
    }
    Ok(client)
}

/// Returns the key that identifies the device.
async fn device_key(client: &Client) -> Option<String> {
    client.encryption().ed25519_key().await
}

/// Returns why the stored session does not match the configuration.
fn belongs_elsewhere(options: &MatrixOptions, folder: &Folder, stored: &Stored) -> Option<String> {
    let Login::Password { user, .. } = &options.login else {
        return None;
    };
    let of = &stored.session.meta.user_id;
    let is_same = user == of.as_str() || user.trim_start_matches('@') == of.localpart();
    (!is_same).then(|| {
        format!(
            "MATRIX_USER is {user}, but {} belongs to {of}; set another DATA_DIR, or move that folder away",
            folder.path().display()
        )
    })
}

async fn first_login(options: &MatrixOptions, folder: &Folder) -> Result<Client, StartError> {
    // Checked first, so that neither an unreachable homeserver nor an invalid token leaves anything
    // behind.
    let session = match &options.login {
        Login::AccessToken(token) => Some(MatrixSession {
            meta: owner_of(options, token.expose_secret()).await?,
            tokens: tokens(token.expose_secret()),
        }),
        Login::Password { user, password } => {
            needed(user, password.as_ref())?;
            reach(options).await?;
            None
        }
    };
    move_store_away(folder)?;
    let client = match new_client(options, folder, session).await {
        Ok(client) => client,
        Err(error) => {
            // Just created, for an account that could not be reached.
            let _ = std::fs::remove_dir_all(folder.store());
            return Err(error);
        }
    };
    let session = client
        .matrix_auth()
        .session()
        .ok_or_else(|| misconfigured("the homeserver gave no session"))?;
    let stored = Stored {
        homeserver: options.homeserver.clone(),
        session,
        device_key: device_key(&client).await,
    };
    save(&stored, folder)?;
    Ok(client)
}

/// Moves a store without a session away: keys of a deleted device are useless for the next one.
fn move_store_away(folder: &Folder) -> Result<(), PlatformError> {
    let store = folder.store();
    if store.exists() {
        let kept = folder
            .path()
            .join(format!("store-until-{}", chrono::Utc::now().timestamp()));
        std::fs::rename(&store, &kept).map_err(|error| unusable(&store, &error))?;
        tracing::warn!(kept = %kept.display(), "there was a store without a session; it was moved away");
    }
    Ok(())
}

/// Creates the store and logs in, or continues a session.
async fn new_client(
    options: &MatrixOptions,
    folder: &Folder,
    session: Option<MatrixSession>,
) -> Result<Client, StartError> {
    let client = build(options, folder).await?;
    match (&options.login, session) {
        (_, Some(session)) => client
            .matrix_auth()
            .restore_session(session, RoomLoadSettings::default())
            .await
            .map_err(|error| damaged_store(folder, &error))?,
        // Repeated with the same store: the SDK closes one on threads of its own, which would harm
        // another one that is created in its place meanwhile.
        (Login::Password { user, password }, None) => {
            let attempt = || with_password(options, &client, user, password.as_ref());
            connect_at_start(NAME, attempt).await?;
        }
        (Login::AccessToken(_), None) => {
            return Err(misconfigured("MATRIX_ACCESS_TOKEN is not set").into());
        }
    }
    Ok(client)
}

/// Returns the password of a first login.
fn needed<'a>(
    user: &str,
    password: Option<&'a SecretString>,
) -> Result<&'a SecretString, PlatformError> {
    password.ok_or_else(|| {
        misconfigured(format!(
            "there is no stored session for {user} yet; set MATRIX_PASSWORD for the first start"
        ))
    })
}

async fn with_password(
    options: &MatrixOptions,
    client: &Client,
    user: &str,
    password: Option<&SecretString>,
) -> Result<(), StartError> {
    let password = needed(user, password)?;
    client
        .matrix_auth()
        .login_username(user, password.expose_secret())
        .initial_device_display_name(&options.device_name)
        .request_refresh_token()
        .send()
        .await
        .map(|_| ())
        .map_err(|error| match error {
            matrix_sdk::Error::Http(error) => refused_login(options, user, &error),
            other => disconnected(other).into(),
        })
}

fn refused_login(options: &MatrixOptions, user: &str, error: &HttpError) -> StartError {
    let refusal = match error.client_api_error_kind() {
        Some(ErrorKind::Forbidden) => misconfigured(format!(
            "{} does not accept MATRIX_PASSWORD for {user}",
            options.homeserver
        )),
        Some(ErrorKind::UserDeactivated) => misconfigured(format!(
            "the account {user} on {} is deactivated",
            options.homeserver
        )),
        Some(ErrorKind::UserLocked) => misconfigured(format!(
            "the account {user} on {} is locked",
            options.homeserver
        )),
        Some(_) | None => return unreached(options, error),
    };
    refusal.into()
}

/// Describes why a first request failed.
fn unreached(options: &MatrixOptions, error: &HttpError) -> StartError {
    let failure = of_http(error);
    let error = match failure {
        RequestFailure::LoggedOut => misconfigured(format!(
            "{} does not accept MATRIX_ACCESS_TOKEN; make a new one",
            options.homeserver
        )),
        RequestFailure::Refused => misconfigured(format!(
            "{} is no Matrix homeserver, or refuses logins of this kind: {}",
            options.homeserver,
            in_one_line(error)
        )),
        RequestFailure::Limited(_) | RequestFailure::Away => misconfigured(format!(
            "{} cannot be reached: {}; check MATRIX_HOMESERVER",
            options.homeserver,
            in_one_line(error)
        )),
    };
    StartError::new(failure, error)
}

/// Returns a client without an account, for a few requests.
pub(crate) async fn anonymous_client(options: &MatrixOptions) -> Result<Client, StartError> {
    at(options)
        .build()
        .await
        .map_err(|error| not_built(options, error))
}

/// Returns when the homeserver answers.
async fn reach(options: &MatrixOptions) -> Result<(), StartError> {
    let client = anonymous_client(options).await?;
    ask::versions(client.http_client(), &client.homeserver())
        .await
        .map(drop)
        .map_err(|error| unanswered(options, &error))
}

/// Returns the owner of a token.
async fn owner_of(options: &MatrixOptions, token: &str) -> Result<SessionMeta, StartError> {
    let client = anonymous_client(options).await?;
    let (http, homeserver) = (client.http_client(), client.homeserver());
    let answer = ask::whoami(http, &homeserver, &tokens(token))
        .await
        .map_err(|error| unanswered(options, &error))?;
    let device_id = answer.device_id.ok_or_else(|| {
        misconfigured("MATRIX_ACCESS_TOKEN belongs to no device; log a device in")
    })?;
    Ok(SessionMeta {
        user_id: answer.user_id,
        device_id,
    })
}

fn unanswered(options: &MatrixOptions, error: &AskError) -> StartError {
    StartError::new(error.request_failure(), error.sentence(options))
}

fn tokens(access_token: &str) -> SessionTokens {
    SessionTokens {
        access_token: access_token.to_owned(),
        refresh_token: None,
    }
}

fn at(options: &MatrixOptions) -> matrix_sdk::ClientBuilder {
    let config = RequestConfig::new()
        .timeout(REQUEST_TIMEOUT)
        .retry_limit(RETRIES);
    let builder = Client::builder()
        .request_config(config)
        // The configured URL is used, at the first start and at each later one.
        .respect_login_well_known(false);
    if options.homeserver.contains("://") {
        builder.homeserver_url(&options.homeserver)
    } else {
        builder.server_name_or_homeserver_url(&options.homeserver)
    }
}

async fn build(options: &MatrixOptions, folder: &Folder) -> Result<Client, StartError> {
    let key = store_key(folder)?;
    let store = SqliteStoreConfig::new(folder.store()).key(Some(&key));
    at(options)
        .sqlite_store_with_config_and_cache_path(store, None::<&Path>)
        .with_encryption_settings(EncryptionSettings {
            auto_enable_cross_signing: true,
            auto_enable_backups: true,
            backup_download_strategy: BackupDownloadStrategy::AfterDecryptionFailure,
        })
        .handle_refresh_tokens()
        .build()
        .await
        .map_err(|error| match error {
            ClientBuildError::SqliteStore(error) => damaged_store(folder, &error).into(),
            other => not_built(options, other),
        })
}

fn not_built(options: &MatrixOptions, error: ClientBuildError) -> StartError {
    let sentence = format!(
        "MATRIX_HOMESERVER is {}, where no homeserver is found: {}",
        options.homeserver,
        in_one_line(&error)
    );
    let failure = match error {
        ClientBuildError::Http(error) => return unreached(options, &error),
        ClientBuildError::AutoDiscovery(answer) => of_discovery(&HttpError::from(answer)),
        _ => RequestFailure::Refused,
    };
    StartError::new(failure, misconfigured(sentence))
}

/// Returns the encryption key of the store, which is created together with it.
fn store_key(folder: &Folder) -> Result<[u8; 32], PlatformError> {
    let path = folder.store_key();
    let content = files::read(&path).map_err(|error| unusable(&path, &error))?;
    match content {
        Some(content) => content
            .try_into()
            .map_err(|_| damaged_store(folder, &io::Error::other("its key is damaged"))),
        None if folder.store().exists() => {
            Err(damaged_store(folder, &io::Error::other("its key is gone")))
        }
        None => {
            let key = *Curve25519SecretKey::new().to_bytes();
            files::write(&path, &key).map_err(|error| unusable(&path, &error))?;
            Ok(key)
        }
    }
}

fn save(stored: &Stored, folder: &Folder) -> Result<(), PlatformError> {
    stored
        .write(folder)
        .map_err(|error| unusable(&folder.session(), &error))
}

/// Saves refreshed tokens at once: the homeserver accepts the older ones no more.
fn save_refreshed_tokens(
    client: &Client,
    options: &MatrixOptions,
    folder: &Folder,
) -> Result<(), PlatformError> {
    let (homeserver, folder) = (options.homeserver.clone(), folder.clone());
    let reread = folder.clone();
    client
        .set_session_callbacks(
            Box::new(move |_| {
                let stored = Stored::read(&reread)?;
                stored
                    .map(|stored| stored.session.tokens)
                    .ok_or_else(|| "the session file is gone".into())
            }),
            Box::new(move |client| {
                let session = client
                    .matrix_auth()
                    .session()
                    .ok_or("there is no session to save")?;
                let homeserver = homeserver.clone();
                let before = Stored::read(&folder)?;
                Ok(Stored {
                    homeserver,
                    session,
                    device_key: before.and_then(|stored| stored.device_key),
                }
                .write(&folder)?)
            }),
        )
        .map_err(disconnected)
}

fn unusable(path: &Path, error: &io::Error) -> PlatformError {
    misconfigured(format!("{} cannot be used: {error}", path.display()))
}

/// Describes how to start again as a new device.
fn new_device(folder: &Folder) -> String {
    format!(
        "To go on as a new device: remove {}, and set MATRIX_PASSWORD. Encrypted messages from before are readable for it only with MATRIX_RECOVERY_KEY, out of the key backup",
        folder.session().display()
    )
}

/// Describes that the session exists, and the keys of its device are missing or different.
pub(crate) fn lost_keys(folder: &Folder, meta: &SessionMeta) -> PlatformError {
    misconfigured(format!(
        "The keys in {} are gone or are not those of device {}: it cannot read encrypted messages any more, old or new. Put a copy of the whole folder back if there is one. {}; then remove that device in another client",
        folder.store().display(),
        meta.device_id,
        new_device(folder)
    ))
}

fn damaged_store(folder: &Folder, error: &(dyn std::error::Error + 'static)) -> PlatformError {
    misconfigured(format!(
        "{} cannot be read: {}. Put a copy of the whole folder back if there is one. {}",
        folder.store().display(),
        in_one_line(error),
        new_device(folder)
    ))
}

/// Describes that the stored session is not accepted any more.
pub(crate) fn logged_out(options: &MatrixOptions) -> PlatformError {
    let folder = Folder::look(&options.folder);
    misconfigured(match &options.login {
        Login::Password { user, .. } => format!(
            "{} does not accept the session of {user} any more: the device was removed, or logged out. {}",
            options.homeserver,
            new_device(&folder)
        ),
        Login::AccessToken(_) => format!(
            "{} does not accept MATRIX_ACCESS_TOKEN any more; make a new one, and move {} away if it is for another device",
            options.homeserver,
            folder.path().display()
        ),
    })
}

//! Makes the bot's device trusted, and its messages readable after a loss.

use matrix_sdk::Client;
use matrix_sdk::encryption::recovery::{RecoveryError, RecoveryState};
use muninn_platform::{PlatformError, in_one_line, misconfigured};
use secrecy::ExposeSecret;

use crate::files::{self, Folder};
use crate::options::MatrixOptions;

/// Signs the device and enables the key backup, once a sync has loaded the state. Requests nothing
/// if all is set up.
pub(crate) async fn set_up(client: &Client, options: &MatrixOptions) -> Result<(), PlatformError> {
    let encryption = client.encryption();
    encryption.wait_for_e2ee_initialization_tasks().await;
    let recovery = encryption.recovery();
    match (recovery.state(), &options.recovery_key) {
        (RecoveryState::Enabled, _) => {}
        (RecoveryState::Incomplete, Some(key)) => {
            let recovered = recovery.recover(key.expose_secret().trim()).await;
            recovered.map_err(|error| not_recovered(&error))?;
            tracing::info!("the account's keys were recovered");
        }
        (RecoveryState::Incomplete, None) => tracing::warn!(
            "this device is not verified, as the account's keys are not here: set MATRIX_RECOVERY_KEY to its recovery key"
        ),
        // Unknown must not be treated as missing: a new key would invalidate the old one.
        (RecoveryState::Unknown, _) => {
            tracing::warn!("what keys the account has is not known; the next start looks again");
        }
        (RecoveryState::Disabled, key) => {
            if key.is_some() {
                tracing::warn!("MATRIX_RECOVERY_KEY is not used: nothing is stored under it");
            }
            make_recovery_key(client, options).await;
        }
    }
    Ok(())
}

/// Lets every room's next message be encrypted with a new key. The folder may be a restored backup:
/// continuing with its key would encrypt two messages with the same key material.
pub(crate) async fn rotate_room_keys(client: &Client) {
    for room in client.joined_rooms() {
        if let Err(error) = room.discard_room_key().await {
            tracing::warn!(room = %room.room_id(), error = in_one_line(&error), "its key could not be rotated");
        }
    }
}

fn not_recovered(error: &RecoveryError) -> PlatformError {
    misconfigured(format!(
        "MATRIX_RECOVERY_KEY does not open the account's keys: {}",
        in_one_line(error)
    ))
}

/// The key is written to a file for the operator, never to a log.
async fn make_recovery_key(client: &Client, options: &MatrixOptions) {
    let folder = Folder::look(&options.folder);
    let key = match client.encryption().recovery().enable().await {
        Ok(key) => key,
        Err(error) => {
            // Unencrypted rooms work without it, and the next start tries again.
            tracing::warn!(
                error = in_one_line(&error),
                "no key backup; after a loss of the store encrypted messages stay unreadable"
            );
            return;
        }
    };
    let path = folder.recovery_key();
    match files::write(&path, format!("{key}\n").as_bytes()) {
        Ok(()) => tracing::warn!(
            path = %path.display(),
            "a recovery key was made; it is in that file: keep it somewhere safe and remove the file"
        ),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "the recovery key could not be written");
        }
    }
}

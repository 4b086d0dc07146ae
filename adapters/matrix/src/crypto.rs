//! What makes the bot's device trusted, and its messages readable after a loss.

use matrix_sdk::Client;
use matrix_sdk::encryption::recovery::{RecoveryError, RecoveryState};
use muninn_platform::{PlatformError, in_one_line, misconfigured};
use secrecy::ExposeSecret;

use crate::files::{self, Folder};
use crate::options::Options;

/// Signs the device and turns the key backup on, once a sync has told what there is. Where all is
/// well already, nothing is asked.
pub(crate) async fn set_up(client: &Client, options: &Options) -> Result<(), PlatformError> {
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
        // Not to be guessed: a new key would make the old one worthless.
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

/// Lets every room's next message be encrypted with a new key. The folder may be a copy that was put
/// back: going on with a key of it would encrypt two messages in the same way.
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

/// The key goes to a file, never to a log: whoever runs the bot takes it from there.
async fn make_recovery_key(client: &Client, options: &Options) {
    let folder = Folder::look(&options.folder);
    let key = match client.encryption().recovery().enable().await {
        Ok(key) => key,
        Err(error) => {
            // Unencrypted rooms work without, and the next start tries again.
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

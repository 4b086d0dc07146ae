//! Tests that data stored by earlier versions can be opened, with the keys in it.
//! `.ci/freeze-formats` wrote it.

use std::fs;
use std::path::{Path, PathBuf};

use matrix_sdk::ruma::OwnedRoomId;
use matrix_sdk::ruma::events::room::encrypted::OriginalSyncRoomEncryptedEvent;
use matrix_sdk::ruma::serde::Raw;
use serde::Deserialize;
use serde_json::Value;

use super::{Stored, log_in};
use crate::files::Folder;
use crate::options::{Login, MatrixOptions};
use crate::testing::copy_folder;

/// A message from the time of the frozen store, as the homeserver has it and as it was written.
#[derive(Deserialize)]
struct FrozenMessage {
    room: OwnedRoomId,
    event: Raw<OriginalSyncRoomEncryptedEvent>,
    text: String,
}

fn versions() -> Vec<PathBuf> {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/formats");
    let versions = fs::read_dir(formats).unwrap();
    versions.map(|version| version.unwrap().path()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_of_every_version_is_opened_and_reads_what_was_said() {
    let versions = versions();
    assert!(!versions.is_empty());
    for version in versions {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("matrix");
        copy_folder(&version.join("matrix"), &folder);
        let stored = Stored::read(&Folder::look(&folder)).unwrap().unwrap();
        let login = Login::Password {
            user: stored.session.meta.user_id.to_string(),
            password: None,
        };
        // No server listens there: only the disk is read.
        let options = MatrixOptions::new(&stored.homeserver, login, folder);
        let client = log_in(&options).await.unwrap();
        assert_eq!(super::device_key(&client).await, stored.device_key);
        assert!(stored.device_key.is_some());

        let asked = fs::read(version.join("matrix.json")).unwrap();
        let asked: FrozenMessage = serde_json::from_slice(&asked).unwrap();
        let room = client.get_room(&asked.room).unwrap();
        let read = room.decrypt_event(&asked.event, None).await.unwrap();
        let read: Value = serde_json::from_str(read.raw().json().get()).unwrap();
        let body = read["content"]["body"].as_str().unwrap();
        assert!(body.ends_with(&asked.text), "{body}");
    }
}

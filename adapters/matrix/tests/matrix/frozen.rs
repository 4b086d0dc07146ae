//! Creates a store for later versions to open; `src/login/frozen.rs` tests that they do.

use std::fs;
use std::path::PathBuf;

use matrix_sdk::ruma::api::client::room::get_room_event::v3::Request;
use muninn_matrix::testing::{MatrixPerson, RoomKind, copy_folder};
use serde_json::{Value, json};

use crate::support::{MatrixInstallation, homeserver};

/// The discard port: whoever opens the frozen store connects to nobody.
const NOBODY: &str = "http://127.0.0.1:9";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "writes a store that later versions are to open (MUNINN_FREEZE): .ci/freeze-formats"]
async fn soak_a_store_is_written_for_later_versions() {
    let Some(version) = std::env::var_os("MUNINN_FREEZE").map(PathBuf::from) else {
        return;
    };
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let chat = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let text = "The spare key is under the third pot.";
    let (question, _) = chat.echoes(text).await;
    let (room, client) = (chat.room.room_id(), chat.room.client());
    let sealed = client.send(Request::new(room.to_owned(), question)).await;
    bot.stop().await;

    let frozen = version.join("matrix");
    copy_folder(&home.options.folder, &frozen);
    let session = frozen.join("session.json");
    let mut stored: Value = serde_json::from_slice(&fs::read(&session).unwrap()).unwrap();
    stored["homeserver"] = json!(NOBODY);
    fs::write(&session, stored.to_string()).unwrap();
    let asked = json!({"room": room, "event": sealed.unwrap().event, "text": text});
    fs::write(version.join("matrix.json"), asked.to_string()).unwrap();
}

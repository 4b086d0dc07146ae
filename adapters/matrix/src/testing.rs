//! A real homeserver with a person who has a client of their own, for tests that read like a chat.
//!
//! `SYNAPSE_TEST_URL` names the homeserver (`tests/servers/synapse/synapse-up` starts one).

mod chat;
mod keys;
mod losing;
mod timeout;
mod view;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use matrix_sdk::config::SyncSettings;
use matrix_sdk::encryption::EncryptionSettings;
use matrix_sdk::ruma::api::client::account::register::v3::Request as Register;
use matrix_sdk::ruma::api::client::membership::{join_room_by_id, leave_room};
use matrix_sdk::ruma::api::client::room::create_room::v3::Request as CreateRoom;
use matrix_sdk::ruma::api::client::room::upgrade_room;
use matrix_sdk::ruma::api::client::uiaa::{AuthData, Dummy};
use matrix_sdk::ruma::events::room::encryption::RoomEncryptionEventContent;
use matrix_sdk::ruma::events::room::join_rules::JoinRule;
use matrix_sdk::ruma::events::{EmptyStateKey, InitialStateEvent};
use matrix_sdk::ruma::{OwnedUserId, RoomId, RoomVersionId, UserId};
use matrix_sdk::{Client, Room, RoomMemberships, RoomState};
use tempfile::TempDir;
pub use timeout::TIMEOUT;
use tokio::task::JoinHandle;

pub use chat::MatrixChat;
pub use keys::KeyHolder;
pub use losing::LosingProxy;
pub use view::{RoomMessage, View};

/// Numbers accounts, so that they are unique, also across runs on the same server.
static ACCOUNTS: AtomicUsize = AtomicUsize::new(1);

/// Returns the homeserver's URL.
///
/// # Panics
/// Panics when there is none. Tests that need one are ignored by default.
pub fn homeserver() -> String {
    std::env::var("SYNAPSE_TEST_URL")
        .expect("SYNAPSE_TEST_URL is set; tests/servers/synapse/synapse-up starts a homeserver")
}

/// Copies a folder with its contents.
///
/// # Panics
/// Panics when it cannot be read, or the target exists.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder that is not there yet");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            std::fs::copy(from, to).expect("a copy");
        }
    }
}

/// A homeserver for a single test, which may stop it.
#[derive(Debug)]
pub struct OwnHomeserver {
    pub url: String,
    data: TempDir,
    arguments: Vec<String>,
}

impl OwnHomeserver {
    /// Starts one, with further arguments for `synapse-up`.
    ///
    /// # Panics
    /// Panics when it does not start.
    pub fn start(arguments: &[&str]) -> Self {
        let mut server = Self {
            url: String::new(),
            data: tempfile::tempdir().expect("a folder"),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        };
        server.url = server.up();
        server
    }

    /// Starts it again, on the same port.
    ///
    /// # Panics
    /// Panics when it does not start.
    pub fn up(&self) -> String {
        let output = Command::new(script("synapse-up"))
            .arg("--data")
            .arg(self.data.path())
            .args(&self.arguments)
            .output()
            .expect("synapse-up can be run");
        let printed = String::from_utf8_lossy(&output.stdout);
        let url = printed
            .lines()
            .find_map(|line| line.strip_prefix("SYNAPSE_URL="));
        let errors = String::from_utf8_lossy(&output.stderr);
        url.unwrap_or_else(|| panic!("no Synapse: {errors}"))
            .to_owned()
    }

    /// Stops it at once.
    pub fn down(&self) {
        // A stopped server needs no stop.
        let _ = Command::new(script("synapse-down"))
            .arg("--kill")
            .arg("--data")
            .arg(self.data.path())
            .output();
    }
}

impl Drop for OwnHomeserver {
    fn drop(&mut self) {
        self.down();
    }
}

/// A test runs in the folder of its package.
fn script(name: &str) -> PathBuf {
    Path::new("../../tests/servers/synapse").join(name)
}

/// A person's account.
#[derive(Clone, Debug)]
pub struct MatrixAccount {
    pub user: OwnedUserId,
    pub password: String,
}

impl MatrixAccount {
    /// Creates an account whose name begins with `name`.
    ///
    /// # Panics
    /// Panics when the homeserver does not make it.
    pub async fn new(homeserver: &str, name: &str) -> Self {
        let number = ACCOUNTS.fetch_add(1, Ordering::Relaxed);
        let run = chrono::Utc::now().timestamp_micros();
        let mut request = Register::new();
        request.username = Some(format!("{name}-{run}-{number}"));
        request.password = Some(format!("pw-{run}-{number}"));
        request.inhibit_login = true;
        request.auth = Some(AuthData::Dummy(Dummy::new()));
        let password = request.password.clone().unwrap_or_default();
        let client = Client::builder().homeserver_url(homeserver).build().await;
        let client = client.expect("a homeserver");
        let made = client.matrix_auth().register(request).await;
        let user = made.expect("an account").user_id;
        Self { user, password }
    }
}

/// Somebody who talks to the bot with a client of their own.
pub struct MatrixPerson {
    pub client: Client,
    pub account: MatrixAccount,
    view: view::Watch,
    /// A silent second person in rooms that are not direct.
    companion: OwnedUserId,
    syncing: Arc<Mutex<Option<JoinHandle<()>>>>,
    _store: TempDir,
}

/// The kind of a room.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoomKind {
    pub encrypted: bool,
    pub direct: bool,
}

impl RoomKind {
    pub const PLAIN: Self = Self {
        encrypted: false,
        direct: false,
    };
    pub const ENCRYPTED: Self = Self {
        encrypted: true,
        direct: false,
    };
    pub const DIRECT: Self = Self {
        encrypted: false,
        direct: true,
    };
}

impl MatrixPerson {
    /// Creates an account and logs in.
    ///
    /// # Panics
    /// Panics when that fails.
    pub async fn new(homeserver: &str, name: &str) -> Self {
        let account = MatrixAccount::new(homeserver, name).await;
        let store = tempfile::tempdir().expect("a folder");
        let client = Client::builder()
            .homeserver_url(homeserver)
            // With a proxy, the client stays with the proxy.
            .respect_login_well_known(false)
            .sqlite_store(store.path(), None)
            .with_encryption_settings(EncryptionSettings {
                auto_enable_cross_signing: true,
                ..EncryptionSettings::default()
            })
            .build()
            .await
            .expect("a client");
        let login = client.matrix_auth();
        let login = login.login_username(account.user.as_str(), &account.password);
        login.send().await.expect("logged in");
        client
            .encryption()
            .wait_for_e2ee_initialization_tasks()
            .await;
        let view = view::watch(&client);
        let person = Self {
            client,
            account,
            view,
            companion: MatrixAccount::new(homeserver, "companion").await.user,
            syncing: Arc::default(),
            _store: store,
        };
        let first = person.client.sync_once(SyncSettings::default()).await;
        first.expect("a first sync");
        person.listen();
        person
    }

    /// Starts syncing.
    pub fn listen(&self) {
        let client = self.client.clone();
        let syncing = tokio::spawn(async move {
            loop {
                // The SDK's own loop pauses for a second after each response.
                let settings = SyncSettings::default().timeout(Duration::from_secs(30));
                if client.sync_once(settings).await.is_err() {
                    // A homeserver that is down comes back.
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        });
        let before = self.syncing.lock().expect("no panic").replace(syncing);
        if let Some(before) = before {
            before.abort();
        }
    }

    /// Stops syncing and sending keys until [`MatrixPerson::listen`].
    pub fn go_offline(&self) {
        if let Some(syncing) = self.syncing.lock().expect("no panic").take() {
            syncing.abort();
        }
    }

    /// Creates a room and invites the bot; does not wait for it to join.
    ///
    /// # Panics
    /// Panics when the homeserver refuses.
    pub async fn invite(&self, bot: &UserId, kind: RoomKind) -> MatrixChat {
        let mut request = CreateRoom::new();
        request.invite = vec![bot.to_owned()];
        if !kind.direct {
            // Otherwise the bot would be alone there with the person.
            request.invite.push(self.companion.clone());
        }
        request.is_direct = kind.direct;
        request.name = (!kind.direct).then(|| "Ravens".to_owned());
        if kind.encrypted {
            let settings = RoomEncryptionEventContent::with_recommended_defaults();
            let event = InitialStateEvent::new(EmptyStateKey, settings);
            request.initial_state = vec![event.to_raw_any()];
        }
        let room = self.client.create_room(request).await.expect("a room");
        if kind.encrypted {
            // The SDK learns it by syncing, which may not have happened before the first message.
            room.request_encryption_state()
                .await
                .expect("known to be encrypted");
        }
        MatrixChat::new(room, bot, self.view.clone())
    }

    /// Creates a room that the bot joins.
    ///
    /// # Panics
    /// Panics when the bot does not join in time.
    pub async fn room(&self, bot: &UserId, kind: RoomKind) -> MatrixChat {
        let chat = self.invite(bot, kind).await;
        self.wait_for_member(&chat, bot).await;
        chat
    }

    /// Creates a room for two that nobody marked as direct, and that the bot joins.
    ///
    /// # Panics
    /// Panics when the bot does not join in time.
    pub async fn room_for_two(&self, bot: &UserId) -> MatrixChat {
        let mut request = CreateRoom::new();
        request.invite = vec![bot.to_owned()];
        let room = self.client.create_room(request).await.expect("a room");
        let chat = MatrixChat::new(room, bot, self.view.clone());
        self.wait_for_member(&chat, bot).await;
        chat
    }

    /// Waits until somebody has joined.
    ///
    /// # Panics
    /// Panics when they do not in time.
    pub async fn wait_for_member(&self, chat: &MatrixChat, member: &UserId) {
        let joined = async {
            loop {
                // Requested each time, as a member may be known only as invited.
                let members = chat.room.sync_members().await;
                members.expect("the members");
                let joined = chat.room.members(RoomMemberships::JOIN).await;
                let joined = joined.expect("the members");
                if joined.iter().any(|joined| joined.user_id() == member) {
                    return;
                }
                self.looks_again().await;
            }
        };
        let in_time = tokio::time::timeout(TIMEOUT, joined).await;
        assert!(in_time.is_ok(), "{member} did not join");
    }

    /// Brings a third person into a room, so that the bot is not alone there with one.
    ///
    /// # Panics
    /// Panics when they do not get in.
    pub async fn bring(&self, chat: &MatrixChat, other: &Self) {
        let invited = chat.room.invite_user_by_id(&other.account.user).await;
        invited.expect("invited");
        // The SDK's own call is not used: if the sync is faster, it forgets what came with it.
        let id = chat.room.room_id().to_owned();
        let joined = other.client.send(join_room_by_id::v3::Request::new(id));
        joined.await.expect("joined");
        self.wait_for_member(chat, &other.account.user).await;
        other.knows(chat.room.room_id()).await;
    }

    /// Leaves a room.
    ///
    /// # Panics
    /// Panics when the homeserver does not let them.
    pub async fn leaves(&self, chat: &MatrixChat) {
        let id = chat.room.room_id().to_owned();
        let left = self.client.send(leave_room::v3::Request::new(id)).await;
        left.expect("left");
    }

    /// Waits until this person's client has synced a room that they are in.
    async fn knows(&self, id: &RoomId) -> Room {
        let known = async {
            loop {
                let room = self.client.get_room(id);
                let is_known =
                    |room: &Room| room.state() == RoomState::Joined && room.is_state_fully_synced();
                if let Some(room) = room.filter(is_known) {
                    return room;
                }
                self.looks_again().await;
            }
        };
        let known = tokio::time::timeout(TIMEOUT, known).await;
        known.expect("a room that the client of who is in it knows")
    }

    /// Waits briefly until the view changes; what the client knows of a room may change later than
    /// that.
    async fn looks_again(&self) {
        let soon = Duration::from_millis(200);
        // The caller looks again in any case.
        let _ = tokio::time::timeout(soon, self.view.changed()).await;
    }

    /// Makes a room public to join.
    ///
    /// # Panics
    /// Panics when the homeserver does not.
    pub async fn opens(&self, chat: &MatrixChat) {
        let settings = chat.room.privacy_settings();
        let opened = settings.update_join_rule(JoinRule::Public).await;
        opened.expect("an open room");
    }

    /// Upgrades a room: it is replaced by another one, with only this person in it.
    ///
    /// # Panics
    /// Panics when that fails.
    pub async fn upgrade(&self, chat: &MatrixChat) -> MatrixChat {
        let id = chat.room.room_id().to_owned();
        let request = upgrade_room::v3::Request::new(id, RoomVersionId::V11);
        let upgraded = self.client.send(request).await.expect("an upgrade");
        let room = self.knows(&upgraded.replacement_room).await;
        MatrixChat::new(room, &chat.bot, self.view.clone())
    }

    /// Returns the same room as another person sees it.
    ///
    /// # Panics
    /// Panics when they are not in it.
    pub fn seen_by(&self, chat: &MatrixChat) -> MatrixChat {
        let room = self.client.get_room(chat.room.room_id());
        MatrixChat::new(room.expect("a member"), &chat.bot, self.view.clone())
    }
}

impl std::fmt::Debug for MatrixPerson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatrixPerson")
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}

impl Drop for MatrixPerson {
    fn drop(&mut self) {
        self.go_offline();
    }
}

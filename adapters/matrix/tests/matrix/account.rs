//! Login, device trust, and account problems.

use matrix_sdk::Client;
use matrix_sdk::authentication::matrix::MatrixSession;
use matrix_sdk::ruma::api::client::message::get_message_events;
use matrix_sdk::store::RoomLoadSettings;
use muninn_matrix::testing::{
    LosingProxy, MatrixChat, MatrixPerson, OwnHomeserver, RoomKind, TIMEOUT, copy_folder,
};
use muninn_matrix::{Login, MatrixOptions, check};
use muninn_platform::{CheckStatus, SelfCheckFinding};
use secrecy::SecretString;

use crate::support::{MatrixInstallation, bot_and_ann, homeserver, run};

fn wrong(findings: &[SelfCheckFinding]) -> Vec<&str> {
    let wrong = findings
        .iter()
        .filter(|finding| finding.verdict == CheckStatus::Error);
    wrong.map(|finding| finding.text.as_str()).collect()
}

/// Creates another client with the bot's stored session, without its store.
async fn beside(home: &MatrixInstallation) -> Client {
    let stored = std::fs::read_to_string(home.path("session.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let session: MatrixSession = serde_json::from_value(stored["session"].clone()).unwrap();
    let client = Client::builder()
        .homeserver_url(&home.homeserver)
        .build()
        .await
        .unwrap();
    let auth = client.matrix_auth();
    auth.restore_session(session, RoomLoadSettings::default())
        .await
        .unwrap();
    client
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn the_password_is_needed_once_and_the_doctor_is_content() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let before = check(&home.options).await;
    assert_eq!(wrong(&before), Vec::<&str>::new());
    assert!(
        before
            .iter()
            .any(|finding| finding.text.contains("not logged in yet"))
    );
    home.start().await.stop().await;
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let forget = |options: &mut MatrixOptions| {
        options.login = Login::Password {
            user: home.account.user.to_string(),
            password: None,
        };
    };
    let _bot = home.start_with(forget).await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    room.say("hello").await;
    room.hears("echo: hello").await;
    let after = check(&home.options).await;
    assert_eq!(wrong(&after), Vec::<&str>::new());
    for part in [
        "the recovery key is still in",
        "logged in as",
        "is signed by its account",
        "are backed up",
    ] {
        assert!(
            after.iter().any(|finding| finding.text.contains(part)),
            "{part} in {after:?}"
        );
    }
    for (file, secret) in [
        ("session.json", true),
        ("recovery-key", true),
        ("store-key", true),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(home.path(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077 == 0, secret, "{file}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn with_the_recovery_key_a_new_device_is_trusted_and_without_it_is_not() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    home.start().await.stop().await;
    let key = std::fs::read_to_string(home.path("recovery-key")).unwrap();
    std::fs::remove_dir_all(&home.options.folder).unwrap();
    home.start().await.stop().await;
    let found = check(&home.options).await;
    assert!(
        wrong(&found)[0].contains("is not verified; set MATRIX_RECOVERY_KEY"),
        "{found:?}"
    );
    // The same device, now with the key.
    let recover =
        |options: &mut MatrixOptions| options.recovery_key = Some(SecretString::from(key.clone()));
    home.start_with(recover).await.stop().await;
    assert_eq!(wrong(&check(&home.options).await), Vec::<&str>::new());
    // An invalid key.
    std::fs::remove_dir_all(&home.options.folder).unwrap();
    let mut options = home.options.clone();
    options.recovery_key = Some(SecretString::from("EsTa aaaa bbbb"));
    let with_wrong_key = MatrixInstallation { options, ..home };
    let said = with_wrong_key.begin().gives_up().await;
    assert!(
        said.starts_with("MATRIX_RECOVERY_KEY does not open"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_access_token_will_do() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let client = Client::builder()
        .homeserver_url(&homeserver)
        .build()
        .await
        .unwrap();
    let login = client
        .matrix_auth()
        .login_username(&home.account.user, &home.account.password);
    let token = login.send().await.unwrap().access_token;
    let with = |token: &str| Login::AccessToken(SecretString::from(token.to_owned()));
    // That client created no keys for this device.
    let first = home
        .start_with(|options| options.login = with(&token))
        .await;
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    room.say("hello").await;
    room.hears("echo: hello").await;
    first.stop().await;
    home.start_with(|options| options.login = with(&token))
        .await
        .stop()
        .await;
    let mut options = home.options.clone();
    options.login = with("syt_nonsense");
    let with_wrong_token = MatrixInstallation { options, ..home };
    let said = with_wrong_token.begin().gives_up().await;
    assert!(
        said.contains("does not accept MATRIX_ACCESS_TOKEN"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn tokens_that_run_out_are_refreshed_and_kept() {
    let server = OwnHomeserver::start(&["--token-lifetime", "5s"]);
    let home = MatrixInstallation::new(&server.url).await;
    let bot = home.start().await;
    let first = std::fs::read_to_string(home.path("session.json")).unwrap();
    let ann = MatrixPerson::new(&server.url, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    // The test needs real time to pass.
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    room.say("hello").await;
    room.hears("echo: hello").await;
    bot.stop().await;
    assert_ne!(
        std::fs::read_to_string(home.path("session.json")).unwrap(),
        first
    );
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    let _bot = home.start().await;
    room.say("again").await;
    room.hears("echo: again").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_is_wrong_with_an_account_is_said_in_a_sentence() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let says = async |set: &dyn Fn(&mut MatrixOptions), part: &str| {
        let mut options = home.options.clone();
        set(&mut options);
        let changed = MatrixInstallation {
            options,
            homeserver: home.homeserver.clone(),
            account: home.account.clone(),
            memory: Default::default(),
            folder: home.folder.clone(),
        };
        let said = changed.begin().gives_up().await;
        assert!(said.contains(part), "{part:?} in {said:?}");
    };
    let user = home.account.user.to_string();
    let with_password = |password: Option<&str>| Login::Password {
        user: user.clone(),
        password: password.map(|password| SecretString::from(password.to_owned())),
    };
    says(
        &|options| options.login = with_password(Some("wrong")),
        "does not accept MATRIX_PASSWORD",
    )
    .await;
    says(
        &|options| options.login = with_password(None),
        "set MATRIX_PASSWORD for the first start",
    )
    .await;
    says(
        &|options| options.homeserver = "not an address".to_owned(),
        "MATRIX_HOMESERVER",
    )
    .await;
    assert!(
        !home.path("session.json").exists(),
        "nothing is left of what failed"
    );

    home.start().await.stop().await;
    says(
        &|options| {
            options.login = Login::Password {
                user: "@other:localhost".to_owned(),
                password: None,
            }
        },
        "belongs to",
    )
    .await;
    // A damaged store.
    let store = home.path("store");
    let kept = home.path("kept");
    std::fs::create_dir(&kept).unwrap();
    for file in std::fs::read_dir(&store).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), kept.join(file.file_name())).unwrap();
        std::fs::write(
            file.path(),
            "this is no database, and long enough to be looked at",
        )
        .unwrap();
    }
    says(&|_| {}, "cannot be read").await;
    // A missing store.
    std::fs::remove_dir_all(&store).unwrap();
    says(
        &|_| {},
        "it cannot read encrypted messages any more, old or new",
    )
    .await;
    std::fs::rename(&kept, &store).unwrap();
    // A session that was ended elsewhere.
    beside(&home).await.matrix_auth().logout().await.unwrap();
    says(&|_| {}, "does not accept the session of").await;
    let found = check(&home.options).await;
    assert!(
        wrong(&found)[0].contains("the device was removed, or logged out. To go on"),
        "{found:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_homeserver_answers_the_doctor_says_so_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let login = Login::AccessToken(SecretString::from("secret".to_owned()));
    let mut options = MatrixOptions::new("http://127.0.0.1:1", login, folder.path().to_owned());
    options.allow = "*".parse().unwrap();
    let found = check(&options).await;
    assert!(wrong(&found)[0].contains("cannot be reached"), "{found:?}");
    assert!(
        wrong(&found)[0].contains("check MATRIX_HOMESERVER"),
        "{found:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_homeserver_that_is_away_at_the_first_start_is_waited_for() {
    let homeserver = homeserver();
    let mut home = MatrixInstallation::new(&homeserver).await;
    let proxy = LosingProxy::before(&homeserver).await;
    home.options.homeserver = proxy.address().to_owned();
    proxy.is_down_for(3);
    let bot = home.start().await;
    assert!(proxy.was_down());
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    room.say("hello").await;
    room.hears("echo: hello").await;
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_session_without_the_keys_of_its_device_is_refused() {
    let (home, bot, _ann) = bot_and_ann().await;
    bot.stop().await;
    let before = home.path("before");
    copy_folder(&home.path("store"), &before);
    for file in std::fs::read_dir(home.path("store")).unwrap() {
        let file = file.unwrap();
        if file.file_name().to_string_lossy().contains("crypto") {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    let said = home.begin().gives_up().await;
    assert!(
        said.contains("are gone or are not those of device"),
        "{said}"
    );
    let found = check(&home.options).await;
    assert!(
        wrong(&found)[0].contains("are gone or are not those of device"),
        "{found:?}"
    );
    // The failed starts created nothing in their place.
    std::fs::remove_dir_all(home.path("store")).unwrap();
    copy_folder(&before, &home.path("store"));
    home.start().await.stop().await;
    assert_eq!(wrong(&check(&home.options).await), Vec::<&str>::new());
    // The store and key of another device.
    let other = MatrixInstallation::new(&home.homeserver).await;
    other.start().await.stop().await;
    for part in ["store", "store-key"] {
        let (theirs, mine) = (other.path(part), home.path(part));
        if theirs.is_dir() {
            std::fs::remove_dir_all(&mine).unwrap();
            copy_folder(&theirs, &mine);
        } else {
            std::fs::copy(theirs, mine).unwrap();
        }
    }
    let said = home.begin().gives_up().await;
    assert!(
        said.contains("Put a copy of the whole folder back"),
        "{said}"
    );
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_folder_that_was_put_back_encrypts_with_new_keys() {
    run(RoomKind::ENCRYPTED, async |chat| {
        chat.echoes("one").await;
        chat.bot.ends().await;
        let backup = chat.home.folder.path().join("backup");
        copy_folder(&chat.home.options.folder, &backup);
        chat.starts_again().await;
        chat.echoes("two").await;
        chat.bot.ends().await;
        std::fs::remove_dir_all(&chat.home.options.folder).unwrap();
        copy_folder(&backup, &chat.home.options.folder);
        chat.starts_again().await;
        chat.ask("three").await;
        let used = async {
            while sessions(chat).await.len() < 3 {
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            }
        };
        let in_time = tokio::time::timeout(TIMEOUT, used).await;
        assert!(in_time.is_ok(), "{:?}", sessions(chat).await);
    });
}

/// Returns the encryption sessions of the bot's messages.
async fn sessions(room: &MatrixChat) -> std::collections::BTreeSet<String> {
    let id = room.room.room_id().to_owned();
    let mut request = get_message_events::v3::Request::backward(id);
    request.limit = matrix_sdk::ruma::uint!(100);
    let page = room.room.client().send(request).await.unwrap();
    let events = page.chunk.iter();
    let events = events.map(|event| serde_json::from_str(event.json().get()).unwrap());
    let own = events.filter(|event: &serde_json::Value| event["sender"] == room.bot.as_str());
    own.filter_map(|event| Some(event["content"]["session_id"].as_str()?.to_owned()))
        .collect()
}

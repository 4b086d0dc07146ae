//! Tests of logins while no homeserver answers.

use std::path::Path;

use muninn_platform::RequestFailure;
use secrecy::SecretString;

use super::log_in;
use crate::ask::AskError;
use crate::options::{Login, MatrixOptions};

/// Returns an address without a listener.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Tries to log in twice, as while an outage is waited out. Returns why that failed.
async fn fails(homeserver: &str, login: Login, folder: &Path) -> (RequestFailure, String) {
    let options = MatrixOptions::new(homeserver, login, folder.to_owned());
    log_in(&options).await.unwrap_err();
    let failed = log_in(&options).await.unwrap_err();
    (failed.failure(), failed.into_error().to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_homeserver_that_is_away_can_be_waited_for_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let secret = || SecretString::from("secret".to_owned());
    let password = || Login::Password {
        user: "muninn".to_owned(),
        password: Some(secret()),
    };
    let (address, name) = (format!("http://{}", nobody()), nobody());
    let (one, two, three) = (
        home.path().join("address"),
        home.path().join("token"),
        home.path().join("name"),
    );
    let all = tokio::join!(
        fails(&address, password(), &one),
        fails(&address, Login::AccessToken(secret()), &two),
        fails(&name, password(), &three),
    );
    for ((failure, sentence), folder) in [(all.0, one), (all.1, two), (all.2, three)] {
        assert_eq!(failure, RequestFailure::Away, "{sentence}");
        assert!(sentence.contains("cannot be reached"), "{sentence}");
        assert!(sentence.contains("check MATRIX_HOMESERVER"), "{sentence}");
        let left = std::fs::read_dir(folder).unwrap();
        assert_eq!(left.count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_address_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let login = Login::AccessToken(SecretString::from("secret".to_owned()));
    let (failure, sentence) = fails("not an address", login, home.path()).await;
    assert_eq!(failure, RequestFailure::Refused, "{sentence}");
}

#[test]
fn a_homeserver_that_is_unwell_is_waited_for() {
    for (status, failure) in [
        (429, RequestFailure::Limited(None)),
        (502, RequestFailure::Away),
        (503, RequestFailure::Away),
        (400, RequestFailure::Refused),
        (403, RequestFailure::Refused),
    ] {
        assert_eq!(AskError::Refused(status).request_failure(), failure);
    }
    assert_eq!(
        AskError::LoggedOut.request_failure(),
        RequestFailure::LoggedOut
    );
}

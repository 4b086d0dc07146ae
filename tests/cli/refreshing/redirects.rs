//! A site whose first page leads elsewhere.

use super::website::{PageResponse, Website, html};
use super::{SETTINGS, home, put, refreshed, texts};

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_of_the_first_page_does_not_replace_the_source() {
    let home = home();
    let site = Website::start().await;
    site.put("/guide/", html("Start.", &["one.html"]));
    site.put("/guide/one.html", html("One.", &[]));
    site.put("/login", html("Sign in.", &["/shop"]));
    site.put("/shop", html("Shop.", &[]));
    site.put("/manual/", html("Moved.", &["/shop"]));
    put(
        &home,
        SETTINGS,
        &format!("[site]\nweb = \"{}/guide/\"\n", site.address),
    );
    refreshed(&home).await;
    for status in [301, 302, 303, 307, 308] {
        site.put("/guide/", PageResponse::led(status, "/login"));
        let failed = home.run(&["source", "refresh"], "").await;
        failed.fails(1, &[]);
        assert!(
            failed.out.contains("/login, which is not below /guide/"),
            "{failed:?}"
        );
        assert_eq!(texts(&home).await, ["One.", "Start."]);
    }
    site.put("/guide/", PageResponse::led(301, "/manual/"));
    refreshed(&home).await;
    assert_eq!(texts(&home).await, ["Moved."]);
}

/// Below the root of a host is everything on it.
#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_redirect_does_not_replace_a_page_that_was_read_at_the_root() {
    let home = home();
    let site = Website::start().await;
    site.put("/", html("Start.", &["one.html"]));
    site.put("/one.html", html("One.", &[]));
    site.put("/login", html("Sign in.", &[]));
    site.put("/en/", html("Moved.", &[]));
    put(
        &home,
        SETTINGS,
        &format!("[site]\nweb = \"{}/\"\n", site.address),
    );
    refreshed(&home).await;
    for status in [302, 303, 307] {
        site.put("/", PageResponse::led(status, "/login"));
        let failed = home.run(&["source", "refresh"], "").await;
        failed.fails(1, &[]);
        assert!(
            failed
                .out
                .contains("/login now, where a page was read before"),
            "{failed:?}"
        );
        assert_eq!(texts(&home).await, ["One.", "Start."]);
    }
    site.put("/", PageResponse::led(301, "/en/"));
    refreshed(&home).await;
    assert_eq!(texts(&home).await, ["Moved."]);
}

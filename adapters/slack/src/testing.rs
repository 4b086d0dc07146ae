//! A hub on a loopback Slack, for unit tests.

use std::sync::Arc;

use loopback_slack::{APP_TOKEN, BOT_TOKEN, Slack};

use crate::hub::SlackHub;
use crate::options::{EventDelivery, SlackOptions};

/// Opens the hub; everybody is allowed.
pub(crate) async fn opened() -> (Slack, Arc<SlackHub>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let slack = Slack::start().await;
    let app_token = APP_TOKEN.into();
    let mut options = SlackOptions::new(BOT_TOKEN.into(), EventDelivery::Socket { app_token });
    options.api_url = slack.api_url();
    options.allow = "*".parse().unwrap();
    let hub = SlackHub::open(&options, false).await.unwrap();
    (slack, hub)
}

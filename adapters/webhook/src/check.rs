//! The check of `muninn doctor` for the webhook.

use muninn_platform::SelfCheckFinding;
use serde_json::json;

use crate::inbound::PATH;
use crate::options::WebhookOptions;
use crate::outbox::WebhookOutbox;

/// Checks whether answers are accepted.
pub async fn check(options: &WebhookOptions) -> Vec<SelfCheckFinding> {
    let WebhookOptions {
        address,
        answer_url,
        ..
    } = options;
    let mut shown = answer_url.clone();
    // Other parts of the URL may be secret.
    let _ = shown.set_password(None);
    shown.set_query(None);
    let way_in = SelfCheckFinding::warning(format!(
        "messages come to http://{address}{PATH}; programs elsewhere must reach it through a TLS proxy"
    ));
    let way_out = match WebhookOutbox::new(options) {
        Err(error) => SelfCheckFinding::error(error.to_string()),
        Ok(outbox) => match outbox.send_once(&json!({ "action": "ping" })).await {
            Ok(()) => SelfCheckFinding::ok(format!("{shown} takes signed requests")),
            Err(error) => SelfCheckFinding::error(format!(
                "{shown} does not take a signed ping: {error}; check WEBHOOK_ANSWER_URL and WEBHOOK_SECRET on both sides"
            )),
        },
    };
    vec![way_in, way_out]
}

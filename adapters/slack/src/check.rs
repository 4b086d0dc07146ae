//! The checks of `muninn doctor`: tokens, scopes, and whether events can arrive.

use std::time::Duration;

use muninn_platform::{PlatformError, SelfCheckFinding, misconfigured};
use reqwest::header::HeaderMap;
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::api::SlackApi;
use crate::errors::ApiError;
use crate::manifest::SCOPES;
use crate::options::{EventDelivery, SlackOptions};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Checks tokens, scopes and the way events arrive.
pub async fn check(options: &SlackOptions) -> Vec<SelfCheckFinding> {
    let mut findings: Vec<SelfCheckFinding> = options.allow.finding().into_iter().collect();
    let api = match SlackApi::new(options) {
        Ok(api) => api,
        Err(error) => {
            findings.push(SelfCheckFinding::error(error.to_string()));
            return findings;
        }
    };
    match asked(&api, options).await {
        Ok((answer, headers)) => {
            findings.push(account(&answer));
            findings.push(scopes(&headers));
        }
        Err(error) => findings.push(SelfCheckFinding::error(error.to_string())),
    }
    findings.push(entrance(&api, options).await);
    findings
}

/// Asks Slack who the bot is. The client library hides the headers, which list the scopes.
async fn asked(
    api: &SlackApi,
    options: &SlackOptions,
) -> Result<(Value, HeaderMap), PlatformError> {
    let base = options.api_url.trim_end_matches('/');
    let away = |_| {
        misconfigured(format!(
            "{base} cannot be reached; Slack's address is {}",
            crate::API_URL
        ))
    };
    let request = api
        .http
        .post(format!("{base}/auth.test"))
        .timeout(REQUEST_TIMEOUT)
        .bearer_auth(options.bot_token.expose_secret());
    let response = request.send().await.map_err(away)?;
    let headers = response.headers().clone();
    let body = response.text().await.map_err(away)?;
    let answer: Value = serde_json::from_str(&body).map_err(|_| {
        misconfigured(format!(
            "{base} is not Slack's Web API: its answer is no JSON"
        ))
    })?;
    match answer["error"].as_str() {
        None => Ok((answer, headers)),
        Some(code) => Err(misconfigured(format!(
            "Slack does not accept SLACK_BOT_TOKEN ({code}); it begins with xoxb- and stands under OAuth & Permissions"
        ))),
    }
}

fn account(answer: &Value) -> SelfCheckFinding {
    let text = |name: &str| answer[name].as_str().unwrap_or("?").to_owned();
    if !answer["bot_id"].is_string() {
        return SelfCheckFinding::error(
            "SLACK_BOT_TOKEN is a person's token; the bot's begins with xoxb-",
        );
    }
    SelfCheckFinding::ok(format!(
        "logged in as @{} in {} ({})",
        text("user"),
        text("team"),
        text("team_id")
    ))
}

fn scopes(headers: &HeaderMap) -> SelfCheckFinding {
    let granted = headers
        .get("x-oauth-scopes")
        .and_then(|value| value.to_str().ok());
    let Some(granted) = granted else {
        return SelfCheckFinding::warning("Slack does not say what the app may do");
    };
    let granted: Vec<&str> = granted.split(',').map(str::trim).collect();
    let missing: Vec<String> = SCOPES
        .iter()
        .filter(|(scope, _)| !granted.contains(scope))
        .map(|(scope, reason)| format!("{scope} ({reason})"))
        .collect();
    if missing.is_empty() {
        return SelfCheckFinding::ok("the app has every scope it needs");
    }
    SelfCheckFinding::error(format!(
        "the app lacks {}; add them under OAuth & Permissions and install it again",
        missing.join(", ")
    ))
}

async fn entrance(api: &SlackApi, options: &SlackOptions) -> SelfCheckFinding {
    match &options.entrance {
        EventDelivery::Http { address, .. } => SelfCheckFinding::warning(format!(
            "events come to http://{address}/slack/events; Slack must reach it by the https address in the app's settings"
        )),
        EventDelivery::Socket { .. } => match api.open_connection().await {
            Ok(_) => SelfCheckFinding::ok("Socket Mode is on, and the app's token opens a socket"),
            Err(error) => SelfCheckFinding::error(no_socket(&error)),
        },
    }
}

fn no_socket(error: &ApiError) -> String {
    match error {
        ApiError::Revoked { code, .. } => {
            format!(
                "Slack does not accept SLACK_APP_TOKEN ({code}); it begins with xapp- and stands under Basic Information"
            )
        }
        ApiError::MissingScope { needed, .. } => {
            format!("SLACK_APP_TOKEN lacks the scope {needed}; make one with connections:write")
        }
        ApiError::Refused { code, .. } => {
            format!("no socket ({code}); turn Socket Mode on in the app's settings")
        }
        ApiError::Limited { .. } | ApiError::Away { .. } => format!("no socket: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use muninn_platform::CheckStatus;

    use super::*;

    #[test]
    fn missing_scopes_are_named_with_their_reason() {
        let with = |granted: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-oauth-scopes", granted.parse().unwrap());
            scopes(&headers)
        };
        let all = crate::manifest::scopes().join(",");
        assert_eq!(with(&all).verdict, CheckStatus::Ok);
        let some = with(&all.replace("files:read", "files:write"));
        assert_eq!(some.verdict, CheckStatus::Error);
        assert!(
            some.text.contains("files:read (reads files"),
            "{}",
            some.text
        );
        assert_eq!(scopes(&HeaderMap::new()).verdict, CheckStatus::Warning);
    }
}

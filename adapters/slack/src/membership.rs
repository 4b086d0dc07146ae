//! Which channels somebody is in, according to Slack at this moment.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{AudienceId, Membership, MembershipError};
use serde_json::Value;

use crate::allow::Speaker;
use crate::errors::ApiError;
use crate::history_limits::next_cursor;
use crate::hub::SlackHub;
use crate::ids;

const METHOD: &str = "users.conversations";
/// Page size, limited by Slack to 999 channels; nobody is in more than this many pages.
const PAGE: &str = "999";
const MOST_PAGES: usize = 10;
const KINDS: &str = "public_channel,private_channel,mpim";

/// Asks Slack which channels people are in.
pub(crate) struct SlackMembership(Arc<SlackHub>);

impl SlackMembership {
    pub(crate) fn of(hub: &Arc<SlackHub>) -> Arc<dyn Membership> {
        Arc::new(Self(Arc::clone(hub)))
    }

    /// Returns the channels that the person is in, and whether each is shared with other
    /// organisations. Of private ones Slack lists those that the bot is in, too.
    async fn channels(&self, user: &str) -> Result<HashMap<String, bool>, ApiError> {
        let mut channels = HashMap::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let mut arguments = vec![("user", user), ("types", KINDS), ("limit", PAGE)];
            arguments.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let answer = self.0.api.get(METHOD, &arguments).await?;
            let page = answer["channels"].as_array().into_iter().flatten();
            channels.extend(page.filter_map(channel));
            cursor = next_cursor(&answer);
            if cursor.is_none() {
                break;
            }
        }
        Ok(channels)
    }

    /// Returns a direct message channel and whether it is shared with another organisation, if it is
    /// the bot's with this user.
    async fn direct(&self, id: &str, user: &str) -> Result<Option<(String, bool)>, ApiError> {
        let arguments = [("channel", id)];
        match self.0.api.get("conversations.info", &arguments).await {
            Ok(told) => Ok(channel(&told["channel"]).filter(|_| told["channel"]["user"] == user)),
            Err(ApiError::Refused { .. }) => Ok(None),
            Err(
                error @ (ApiError::Limited { .. }
                | ApiError::Away { .. }
                | ApiError::Revoked { .. }
                | ApiError::MissingScope { .. }),
            ) => Err(error),
        }
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what an error is mapped by"
)]
fn failed(error: ApiError) -> MembershipError {
    MembershipError(error.to_string())
}

fn channel(told: &Value) -> Option<(String, bool)> {
    let is_shared = told["is_ext_shared"] == true || told["is_pending_ext_shared"] == true;
    Some((told["id"].as_str()?.to_owned(), is_shared))
}

#[async_trait]
impl Membership for SlackMembership {
    async fn readable(
        &self,
        account: &str,
        mut places: Vec<AudienceId>,
    ) -> Result<Vec<AudienceId>, MembershipError> {
        let SlackHub {
            api, me, options, ..
        } = &*self.0;
        let user = ids::user_of(account).filter(|user| ids::author(&me.team, user) == account);
        let Some(user) = user else {
            return Ok(Vec::new());
        };
        let told = [("user", user)];
        let asked = tokio::try_join!(self.channels(user), api.get("users.info", &told));
        let (mut channels, person) = asked.map_err(failed)?;
        if person["user"]["deleted"] == true {
            return Ok(Vec::new());
        }
        for place in &places {
            let channel = ids::channel_for(&me.team, user, place);
            if let Some(channel) = channel.filter(|channel| ids::is_direct(channel)) {
                channels.extend(self.direct(channel, user).await.map_err(failed)?);
            }
        }
        let workspace = person["user"]["team_id"].as_str().unwrap_or(&me.team);
        places.retain(|place| {
            let channel = ids::channel_for(&me.team, user, place);
            let known = channel.and_then(|channel| channels.get_key_value(channel));
            known.is_some_and(|(channel, is_shared)| {
                let speaker = Speaker {
                    workspace,
                    user,
                    channel,
                    is_shared: *is_shared,
                };
                speaker.is_let_in(&options.allow)
            })
        });
        Ok(places)
    }
}

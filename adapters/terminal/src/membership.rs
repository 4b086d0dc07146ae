//! Membership in terminals: everybody at a terminal can read everything.

use async_trait::async_trait;
use muninn_platform::{AudienceId, Membership, MembershipError};

use crate::name::NAME;

/// All terminals are one audience, as [`Session`](crate::Session) says.
#[derive(Clone, Copy, Debug)]
pub struct TerminalMembership;

#[async_trait]
impl Membership for TerminalMembership {
    async fn readable(
        &self,
        account: &str,
        mut places: Vec<AudienceId>,
    ) -> Result<Vec<AudienceId>, MembershipError> {
        let is_ours = |id: &str| id.split('/').next() == Some(NAME);
        places.retain(|place| is_ours(account) && is_ours(place.as_str()));
        Ok(places)
    }

    /// Everybody reads everything.
    fn has_asides(&self) -> bool {
        false
    }
}

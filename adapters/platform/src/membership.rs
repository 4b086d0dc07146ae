//! Who may read what at this moment, according to a platform: the contract between pages that show
//! conversations and the platforms they are from.

use async_trait::async_trait;

use crate::{AudienceId, ByPlatform};

/// Tells which places an account may read.
#[async_trait]
pub trait Membership: Send + Sync {
    /// Returns those of these places that the account may read now. The platform is asked each
    /// time: whoever just left a channel cannot read it any more. Private questions in a channel
    /// are readable while the channel is; the caller checks that they belong to this account.
    ///
    /// # Errors
    /// Fails when the platform does not tell: then nobody may.
    async fn readable(
        &self,
        account: &str,
        places: Vec<AudienceId>,
    ) -> Result<Vec<AudienceId>, MembershipError>;

    /// Whether people can ask privately in a place of several people.
    fn has_asides(&self) -> bool {
        true
    }
}

/// The platform does not say who may read what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the platform does not tell who may read what: {0}")]
pub struct MembershipError(pub String);

/// The platforms of a process that tell who may read what.
pub type Memberships = ByPlatform<dyn Membership>;

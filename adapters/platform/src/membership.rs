//! Who may read what at this moment, as a platform says: the contract between pages that show conversations
//! and the platforms on which these are.

use async_trait::async_trait;

use crate::{AudienceId, ByPlatform};

/// Tells what an account may read.
#[async_trait]
pub trait Membership: Send + Sync {
    /// Which of these places of the platform the account may read now. The platform is asked each time: whoever left a
    /// channel a moment ago reads it no more. What one account alone reads in a channel it may read as long as it may
    /// read the channel; the caller sees to it that it is this account's.
    ///
    /// # Errors
    /// When the platform does not tell: then nobody may.
    async fn readable(
        &self,
        account: &str,
        places: Vec<AudienceId>,
    ) -> Result<Vec<AudienceId>, MembershipError>;

    /// Whether somebody may ask something in a place of several people that the others do not see.
    fn has_asides(&self) -> bool {
        true
    }
}

/// The platform does not tell who may read what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the platform does not tell who may read what: {0}")]
pub struct MembershipError(pub String);

/// The platforms of a process that tell who may read what.
pub type Memberships = ByPlatform<dyn Membership>;

//! What somebody may read at this moment, whether on a page or through a program that asks for them.
//!
//! The platforms are asked each time. A private place is read by its owner alone, also from the owner's other accounts.

use std::sync::Arc;

use chrono::Utc;
use muninn_platform::{AudienceId, MembershipError, Memberships};

use crate::conversation::people::is_unused;
use crate::graph::accounts::{Account, LinkedAccount};
use crate::graph::{GraphStore, StoreError};

/// Why it is unknown what somebody may read; they can then read nothing.
#[derive(Debug, thiserror::Error)]
pub enum NotReadable {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NotTold(#[from] MembershipError),
    /// The platform is not connected, or never tells.
    #[error("the platform {0} does not tell who may read what")]
    NoMembership(String),
}

/// Which places to ask the platform about.
#[derive(Clone, Copy)]
struct PlacesOf<'a> {
    named: &'a [AudienceId],
    /// Whether to include places that several people read.
    is_shared: bool,
}

/// Determines what people may read.
#[derive(Clone, Debug)]
pub struct ReadablePlaces {
    store: Arc<GraphStore>,
    memberships: Memberships,
}

/// How programs ask.
#[derive(Debug)]
pub struct ProgramAccess {
    pub address: String,
    /// What they read, as far as their people may.
    pub readable: ReadablePlaces,
}

impl ReadablePlaces {
    pub fn new(store: Arc<GraphStore>, memberships: Memberships) -> Self {
        Self { store, memberships }
    }

    /// Whether a platform tells who may read what.
    pub fn is_told_by(&self, platform: &str) -> bool {
        self.memberships.named(platform).is_some()
    }

    /// Whether somebody on this platform may ask something in a shared place that the others do not see.
    pub fn has_asides(&self, platform: &str) -> bool {
        let membership = self.memberships.named(platform);
        membership.is_some_and(|it| it.has_asides())
    }

    /// Returns the places that an account may read, and the private places of its owner's other accounts. Of `named`, it also
    /// returns places in which nothing was kept yet.
    ///
    /// # Errors
    /// Fails when the graph or the account's platform cannot be asked.
    pub async fn by(
        &self,
        account: &Account,
        named: &[AudienceId],
        wanted: impl Fn(&AudienceId) -> bool,
    ) -> Result<Vec<AudienceId>, NotReadable> {
        let of_all = PlacesOf {
            named,
            is_shared: true,
        };
        let mut all = self.of_account(account, of_all, &wanted).await?;
        for other in self.others(account).await? {
            let of_one = PlacesOf {
                named: &[],
                is_shared: false,
            };
            // Its platform may be away or not be served by this process; the places there are then left out.
            let others = self.of_account(&other, of_one, &wanted).await;
            all.extend(others.unwrap_or_default());
        }
        Ok(all)
    }

    async fn of_account(
        &self,
        account: &Account,
        of: PlacesOf<'_>,
        wanted: &impl Fn(&AudienceId) -> bool,
    ) -> Result<Vec<AudienceId>, NotReadable> {
        let platform = &account.platform;
        let membership = self.memberships.named(platform);
        let membership = membership.ok_or_else(|| NotReadable::NoMembership(platform.clone()))?;
        let mut places = self
            .store
            .perhaps_readable(platform, &account.id, of.is_shared)
            .await?;
        let unknown = of.named.iter().filter(|it| !places.contains(it)).cloned();
        let unknown: Vec<AudienceId> = unknown.collect();
        places.extend(unknown);
        places.retain(wanted);
        if places.is_empty() {
            return Ok(places);
        }
        Ok(membership.readable(&account.id, places).await?)
    }

    /// Returns the accounts in use that are linked to this one; none if this one itself was not used for long, as somebody else
    /// may have it now.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn others(&self, account: &Account) -> Result<Vec<Account>, StoreError> {
        let (linked, now) = (self.store.accounts_of(&account.id).await?, Utc::now());
        let is_own = |it: &LinkedAccount| it.account.id == account.id;
        if linked.iter().any(|it| is_own(it) && is_unused(it, now)) {
            return Ok(Vec::new());
        }
        let used = linked.into_iter().filter(|it| !is_unused(it, now));
        let others = used.map(|it| it.account);
        Ok(others.filter(|it| it.id != account.id).collect())
    }
}

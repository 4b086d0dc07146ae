//! What the pages show of the running process.

use async_trait::async_trait;

use muninn_platform::CheckStatus;

/// What a process reports to the operator.
#[async_trait]
pub trait Operating: Send + Sync {
    /// The findings of `muninn doctor`.
    async fn findings(&self) -> Vec<PartFinding>;
    /// The sources of knowledge that are not as fresh as they should be, and why.
    async fn stale_sources(&self) -> Vec<(String, String)>;
    /// Requests that settings, prompts and tools are read again.
    fn read_again(&self);
    /// Settings that changed since the start and are in use, those that wait for the next start, and
    /// problems.
    fn changes(&self) -> SettingsChanges;
}

impl std::fmt::Debug for dyn Operating {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operating").finish_non_exhaustive()
    }
}

/// The finding on one part.
#[derive(Clone, Debug)]
pub struct PartFinding {
    pub part: String,
    pub verdict: CheckStatus,
    pub text: String,
}

/// The effects of changed settings and files.
#[derive(Clone, Debug, Default)]
pub struct SettingsChanges {
    pub used: Vec<String>,
    pub waiting: Vec<String>,
    pub problems: Vec<String>,
}

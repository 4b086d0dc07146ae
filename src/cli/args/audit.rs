//! What `muninn audit` takes.

use chrono::NaiveDate;

#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct AuditArgs {
    /// The first day, as 2026-01-31; 30 days ago if you leave it out
    #[arg(long)]
    pub(in crate::cli) since: Option<NaiveDate>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

//! What `muninn health` takes.

use clap::Args;

#[derive(Args, Debug)]
pub(in crate::cli) struct HealthArgs {
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

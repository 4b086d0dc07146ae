//! What `muninn doctor` takes.

use clap::Args;

#[derive(Args, Debug)]
pub(in crate::cli) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

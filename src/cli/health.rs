//! `muninn health`.

use anyhow::bail;
use clap::Args;
use muninn::config::Config;

use super::admin;
use super::output::Exit;

#[derive(Args, Debug)]
pub(super) struct HealthArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Asks the process that has the data folder open whether it is healthy.
pub(super) async fn run(config: &Config, args: &HealthArgs) -> anyhow::Result<Exit> {
    match admin::connect(config).await? {
        Some(process) => process.ready(args.json).await,
        None => bail!(
            "no muninn runs with {}; start `muninn serve`, or name its folder in DATA_DIR",
            config.data_dir.display()
        ),
    }
}

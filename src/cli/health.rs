//! `muninn health`.

use anyhow::bail;
use muninn::config::Config;

use super::admin;
use super::output::Exit;

/// Asks the process that has the data folder open whether it is well.
pub(super) async fn run(config: &Config) -> anyhow::Result<Exit> {
    match admin::connect(config).await? {
        Some(process) => process.ready().await,
        None => bail!(
            "no muninn runs with {}; start `muninn serve`, or name its folder in DATA_DIR",
            config.data_dir.display()
        ),
    }
}

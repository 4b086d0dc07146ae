//! `muninn health`.

use anyhow::bail;
use muninn::config::Config;
use serde_json::{Value, json};

use super::admin;
use super::args::health::HealthArgs;
use super::exit::Exit;
use super::output::Output;

/// Asks the process that has the data folder open whether it is healthy.
pub(super) async fn run(config: &Config, args: &HealthArgs) -> anyhow::Result<Exit> {
    if let Some(process) = admin::connect(config).await? {
        return process.ready(args.json).await;
    }
    let trouble = format!(
        "no muninn runs with {}; start `muninn serve`, or name its folder in DATA_DIR",
        config.data_dir.display()
    );
    if !args.json {
        bail!(trouble);
    }
    Output::Here.say_json(&as_json(Some(&trouble))).await?;
    Ok(Exit::of(false))
}

/// Returns the JSON of this command; `trouble` is what is wrong.
pub(super) fn as_json(trouble: Option<&str>) -> Value {
    json!({"well": trouble.is_none(), "trouble": trouble})
}

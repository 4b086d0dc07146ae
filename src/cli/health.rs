//! `muninn health`.

use anyhow::bail;
use muninn::config::Config;
use muninn_platform::in_one_line;
use serde_json::{Value, json};

use super::admin;
use super::args::health::HealthArgs;
use super::exit::Exit;
use super::output::Output;

/// Asks the process that has the data folder open whether it is healthy.
pub(super) async fn run(config: &Config, args: &HealthArgs) -> anyhow::Result<Exit> {
    match ask(config, args).await {
        // A program reads JSON, whatever is wrong.
        Err(trouble) if args.json => {
            let trouble = in_one_line(trouble.as_ref());
            Output::Here.say_json(&as_json(Some(&trouble))).await?;
            Ok(Exit::of(false))
        }
        asked => asked,
    }
}

async fn ask(config: &Config, args: &HealthArgs) -> anyhow::Result<Exit> {
    // Nothing is done with a graph here.
    match admin::connect_to_any(config).await? {
        Some(process) => process.ready(args.json).await,
        None => bail!(
            "no muninn runs with {}; start `muninn serve`, or name its folder in DATA_DIR",
            config.data_dir.display()
        ),
    }
}

/// Returns the JSON of this command; `trouble` is what is wrong.
pub(super) fn as_json(trouble: Option<&str>) -> Value {
    json!({"well": trouble.is_none(), "trouble": trouble})
}

//! How fresh the sources are.

use muninn::config::Config;
use muninn::knowledge::origins::Freshness;
use muninn_platform::in_one_line;

/// Returns the freshness of the sources, or the error of the sources file.
pub(super) async fn freshness(config: &Config) -> Result<Vec<Freshness>, String> {
    let (file, data_dir) = (config.sources_file.clone(), config.data_dir.clone());
    let looked = tokio::task::spawn_blocking(move || Freshness::all(&file, &data_dir)).await;
    match looked {
        Ok(looked) => looked.map_err(|error| in_one_line(&error)),
        Err(error) => Err(error.to_string()),
    }
}

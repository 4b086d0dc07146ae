//! `muninn calibrate`.

use std::path::Path;

use anyhow::Context as _;
use muninn::memory::calibrate::{Calibrated, PromptContext, calibrate};
use muninn::memory::{DEFAULT_RECALL_LIMIT, calibration_file};
use muninn::wiring::{Models, models};

use super::context::Context;
use super::exit::Exit;

/// Fits recall to the configured embedder; prints and draws the effect of thresholds.
pub(super) async fn run(at: &Context, out: Option<&Path>) -> anyhow::Result<Exit> {
    let config = &at.config;
    let Models { chat: _, embedder } = models(config)?;
    let store = at.graph().await?;
    let beside = PromptContext {
        window: config.turn.window_turns,
        tokens: config.recall.tokens,
        limit: DEFAULT_RECALL_LIMIT,
    };
    let calibrated = calibrate(&store, &embedder, beside).await;
    store.close().await?;
    let Calibrated {
        calibration,
        exchanges,
        curve,
    } = calibrated?;
    let file = calibration_file::save(&config.data_dir, &calibration)?;
    let name = &calibration.embedder;
    let picture = match out {
        Some(folder) => {
            // It may be any folder of the user's, with files that others read.
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            folder.join(calibration_file::file_name(name, "svg"))
        }
        None => calibration_file::place(&config.data_dir, name, "svg"),
    };
    let in_use = config.recall.threshold.unwrap_or(calibration.threshold);
    std::fs::write(&picture, curve.svg(name, in_use))
        .with_context(|| format!("cannot write {}", picture.display()))?;
    let cosine = calibration.prior.cosine;
    at.out.say(&format!(
        "{name}, by {exchanges} exchanges and {} of their questions; cosines {:.3} ± {:.3}\n\n{}\n\
         Calibration: {}, for `muninn chat` and `muninn serve` from their next start\n\
         Curve: {}",
        curve.questions(),
        cosine.mean,
        cosine.deviation,
        curve.table(in_use),
        file.display(),
        picture.display()
    ))
    .await
}

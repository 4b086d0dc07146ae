//! `muninn backfill`.

use anyhow::bail;
use chrono::NaiveDate;
use clap::Args;
use muninn::conversation::backfill::BackfillState;
use muninn_platform::AudienceId;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::output::{Exit, Unit};

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(super) struct BackfillArgs {
    /// The channel, as in the channel settings: slack/T…/C…, discord/GUILD/CHANNEL or matrix/!room:server
    channel: String,
    /// The first day that is read, such as 2026-01-31
    #[arg(long)]
    since: NaiveDate,
}

/// Has the process that runs read a channel's history, and shows how far it is. It goes on there when nobody waits.
pub(super) async fn run(at: &Context, args: &BackfillArgs) -> anyhow::Result<Exit> {
    let Some(running) = &at.running else {
        bail!(
            "no process serves this channel; start `muninn serve`, which is connected to it, and try again"
        );
    };
    let channel = AudienceId::new(&args.channel);
    let zone = running.recaller.time_zone_in(&channel);
    let mut watched = running.backfills.begin(&channel, args.since, zone)?;
    let bar = at.out.bar(Unit::Things);
    loop {
        let progress = watched.borrow_and_update().clone();
        if progress.is_over() {
            bar.clear();
            at.out.say(&progress.to_string()).await?;
            return Ok(Exit::of(progress.state == BackfillState::Done));
        }
        // How much there is no platform tells.
        bar.show(progress.messages as u64, 0, &progress.to_string());
        if watched.changed().await.is_err() {
            bail!("the process is ending; the backfill goes on at the next start");
        }
    }
}

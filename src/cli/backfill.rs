//! `muninn backfill`.

use anyhow::bail;
use muninn::conversation::backfill::{BackfillProgress, BackfillState};
use muninn_platform::AudienceId;
use serde_json::{Value, json};

use super::args::backfill::BackfillArgs;
use super::context::Context;
use super::exit::Exit;
use super::progress::Unit;

fn as_json(channel: &AudienceId, progress: &BackfillProgress) -> Value {
    let (state, reason) = match &progress.state {
        BackfillState::Reading => ("reading", None),
        BackfillState::Resting(_) => ("resting", None),
        BackfillState::Done => ("done", None),
        BackfillState::Stopped(reason) => ("stopped", Some(reason.to_string())),
    };
    json!({
        "channel": channel.as_str(),
        "state": state,
        "reason": reason,
        "messages": progress.messages,
        "reached": progress.reached,
    })
}

/// Lets the running process read a channel's history, and shows the progress. It continues there
/// when nobody waits.
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
            if args.json {
                at.out.say_json(&as_json(&channel, &progress)).await?;
            } else {
                at.out.say(&progress.to_string()).await?;
            }
            return Ok(Exit::of(progress.state == BackfillState::Done));
        }
        // No platform tells the total.
        bar.show(progress.messages as u64, 0, &progress.to_string());
        if watched.changed().await.is_err() {
            bail!("the process is ending; the backfill goes on at the next start");
        }
    }
}

#[cfg(test)]
mod tests {
    use muninn_texts::text;

    use super::*;

    #[test]
    fn scripts_read_how_it_ended() {
        let progress = |state| BackfillProgress {
            messages: 7,
            reached: "2026-01-31T10:00:00Z".parse().ok(),
            state,
        };
        let told = |state| as_json(&AudienceId::new("slack/T1/C1"), &progress(state));
        assert_eq!(
            told(BackfillState::Done),
            json!({
                "channel": "slack/T1/C1", "state": "done", "reason": null, "messages": 7,
                "reached": "2026-01-31T10:00:00Z",
            })
        );
        let why = text!("backfill-future", day = "2030-01-01");
        let stopped = told(BackfillState::Stopped(why));
        assert_eq!(
            (&stopped["state"], &stopped["reason"]),
            (&json!("stopped"), &json!("2030-01-01 is in the future"))
        );
    }
}

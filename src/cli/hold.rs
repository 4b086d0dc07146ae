//! `muninn hold`: the copies of forgotten items under a legal hold.

use std::collections::BTreeMap;

use anyhow::bail;
use muninn::conversation::audit::{Audit, AuditAction, OPERATOR};
use muninn_platform::{AudienceId, count_with_noun};
use serde_json::json;

use super::args::hold::HoldCommand;
use super::context::Context;
use super::exit::Exit;
use super::prompt::answered;

impl HoldCommand {
    /// Asks the user for confirmation, if necessary.
    ///
    /// # Errors
    /// Fails when nobody is there to answer.
    pub(super) fn is_meant(&self) -> anyhow::Result<bool> {
        match self {
            Self::Release { place, yes: false } => answered(&format!(
                "Delete for good the copies of what was forgotten in {place}?"
            )),
            Self::List { .. } | Self::Release { .. } => Ok(true),
        }
    }
}

pub(super) async fn run(at: &Context, command: HoldCommand) -> anyhow::Result<Exit> {
    match command {
        HoldCommand::List { json } => list(at, json).await,
        HoldCommand::Release { place, yes: _ } => release(at, &AudienceId::new(place)).await,
    }
}

async fn list(at: &Context, is_json: bool) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let held = store.held_copy_counts().await;
    store.close().await?;
    let held = held?;
    let holds = at.config.channels.legal_holds();
    if is_json {
        let mut places: BTreeMap<String, (bool, usize)> = BTreeMap::new();
        for place in &holds {
            places.entry(place.to_string()).or_default().0 = true;
        }
        for (place, copies) in &held {
            places.entry(place.to_string()).or_default().1 = *copies;
        }
        let places = places.into_iter().map(
            |(place, (is_held, copies))| json!({"place": place, "held": is_held, "copies": copies}),
        );
        return at.out.say_json(&places.collect::<Vec<_>>()).await;
    }
    let mut lines: Vec<String> = holds
        .iter()
        .map(|place| format!("{place}: under a legal hold"))
        .collect();
    lines.extend(held.iter().map(|(place, copies)| {
        let copies = count_with_noun(*copies, "copy");
        format!("{place}: {copies} of what was forgotten")
    }));
    if lines.is_empty() {
        lines.push("No place is under a legal hold, and there are no copies.".to_owned());
    }
    at.out.say(&lines.join("\n")).await
}

async fn release(at: &Context, place: &AudienceId) -> anyhow::Result<Exit> {
    if at.config.channels.is_held(place) {
        bail!(
            "{place} is under a legal hold: take `legal_hold` out of its channel settings first, and run this again"
        );
    }
    let store = at.graph().await?;
    let released = store.release_held(place).await;
    store.close().await?;
    let released = released?;
    let audit = Audit::new(&at.config.data_dir);
    let about = place.as_str();
    audit
        .record_action(OPERATOR, AuditAction::HoldEnded, about, Some(released))
        .await;
    let copies = count_with_noun(released, "copy");
    at.out.say(&format!("{copies} of {place} deleted.")).await
}

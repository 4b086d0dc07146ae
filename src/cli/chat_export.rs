//! `muninn export --format chat-jsonl`: exports conversations of channels in the format for
//! fine-tuning.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use anyhow::{bail, ensure};
use muninn::conversation::audit::{Audit, AuditAction, OPERATOR};
use muninn::conversation::fine_tuning::ChatLines;
use muninn::graph::GraphStore;
use muninn::graph::answers::WhichSessions;
use muninn_platform::{AudienceId, ConversationId, count_with_noun};

use super::context::Context;
use super::exit::Exit;
use super::own_copy::Partial;

/// Turns read at once.
const PAGE: usize = 200;

/// Counts of what was written.
#[derive(Debug, Default)]
struct ChatExportCounts {
    lines: usize,
    /// As many as channels.
    lines_by_channel: Vec<usize>,
    left_out: usize,
}

/// Writes the conversations of some channels to `path`, atomically.
pub(super) async fn export(at: &Context, path: &Path, channels: &[String]) -> anyhow::Result<Exit> {
    ensure!(
        !channels.is_empty(),
        "name the channels whose people agree, by their ids: --channels slack/T1/C1,discord/7; `muninn sessions --json` lists them as audiences"
    );
    let store = at.graph().await?;
    let mut out = Partial::of(path)?;
    let written = write(&store, channels, &mut out).await;
    store.close().await?;
    let ChatExportCounts {
        lines,
        lines_by_channel,
        left_out,
    } = written?;
    out.publish()?;
    let audit = Audit::new(&at.config.data_dir);
    for (channel, lines) in channels.iter().zip(lines_by_channel) {
        audit
            .record_action(OPERATOR, AuditAction::Exported, channel, Some(lines))
            .await;
    }
    let said = format!(
        "{} written to {}; {} left out",
        count_with_noun(lines, "conversation"),
        path.display(),
        count_with_noun(left_out, "turn")
    );
    at.out.say(&said).await
}

async fn write(
    store: &GraphStore,
    channels: &[String],
    out: &mut Partial,
) -> anyhow::Result<ChatExportCounts> {
    let kept = store.hearing().await?;
    let mut written = ChatExportCounts::default();
    for channel in channels {
        let audience = AudienceId::new(channel);
        let Some(private_to) = store.private_to(&audience).await? else {
            bail!(
                "nothing is kept of a channel {channel:?}; `muninn sessions --json` lists them as audiences"
            );
        };
        if private_to.is_some() {
            bail!("{channel:?} is private to one person, who has not agreed: nothing was written");
        }
        let nobody = HashSet::new();
        let opted_out = kept.get(&audience).map_or(&nobody, |it| &it.opted_out);
        let before = written.lines;
        let sessions = store.find_sessions(WhichSessions::Of(&audience)).await?;
        for (session, _) in sessions {
            conversation(
                store,
                &session,
                ChatLines::new(opted_out),
                out,
                &mut written,
            )
            .await?;
        }
        written.lines_by_channel.push(written.lines - before);
    }
    Ok(written)
}

/// Writes one conversation, page by page.
async fn conversation(
    store: &GraphStore,
    session: &ConversationId,
    mut lines: ChatLines<'_>,
    out: &mut Partial,
    written: &mut ChatExportCounts,
) -> anyhow::Result<()> {
    let mut after = None;
    loop {
        let turns = store.answers_after(session, after, PAGE).await?;
        for line in turns.iter().filter_map(|turn| lines.push(turn)) {
            writeln!(out, "{line}")?;
            written.lines += 1;
        }
        match turns.last() {
            Some(last) if turns.len() == PAGE => after = Some(last.id),
            Some(_) | None => break,
        }
    }
    if let Some(line) = lines.end() {
        writeln!(out, "{line}")?;
        written.lines += 1;
    }
    written.left_out += lines.left_out;
    Ok(())
}

//! `muninn audit`: who forgot, corrected, exported or changed what.

use anyhow::Context as _;
use chrono::{DateTime, Days, NaiveTime, Utc};
use muninn::conversation::audit::{Audit, AuditEntry};
use muninn_platform::count_with_noun;

use super::args::audit::AuditArgs;
use super::context::Context;
use super::exit::Exit;

/// Default time range.
const LAST: Days = Days::new(30);

pub(super) async fn run(at: &Context, args: &AuditArgs) -> anyhow::Result<Exit> {
    let folder = &at.config.data_dir;
    let today = Utc::now().date_naive();
    let first = args.since.or(today.checked_sub_days(LAST)).unwrap_or(today);
    let since: DateTime<Utc> = first.and_time(NaiveTime::MIN).and_utc();
    let entries = match folder.exists() {
        true => Audit::new(folder)
            .since(since)
            .with_context(|| format!("cannot read the audit in {}", folder.display()))?,
        false => Vec::new(),
    };
    if args.json {
        return at.out.say_json(&entries).await;
    }
    if entries.is_empty() {
        return at.out.say(&format!("Nothing since {first}.")).await;
    }
    let lines: Vec<String> = entries.iter().map(line).collect();
    at.out.say(&lines.join("\n")).await
}

fn line(entry: &AuditEntry) -> String {
    let AuditEntry {
        at,
        who,
        action,
        about,
        count,
    } = entry;
    let count = count.map_or(String::new(), |count| {
        format!(" ({})", count_with_noun(count, "thing"))
    });
    let at = at.format("%Y-%m-%d %H:%M:%S");
    format!("{at}  {who}  {}: {about}{count}", action.name())
}

//! What the echo bot answers to which word.

use std::time::Duration;

use tokio::sync::watch;

use super::memory::EchoAnswer;
use crate::{Delivered, EventId, IncomingMessage, Language, Reply, SafeText, ShownItem, Withdrawn};

/// Takes the answer to a deleted message away, and searches for it if it is not recorded. Returns
/// false where it stays.
pub(super) async fn take_back(
    message: &IncomingMessage,
    of: &EventId,
    answered: Option<EchoAnswer>,
    reply: &dyn Reply,
) -> bool {
    let (conversation, mut gone) = answered.map_or_else(
        || (message.conversation.clone(), Delivered::default()),
        |answered| (answered.conversation, answered.delivered),
    );
    let withdrawer = reply.withdrawer();
    if gone.0.is_empty() {
        let found = withdrawer.find_answer(&conversation, of).await;
        gone = Delivered(found.unwrap_or_default());
    }
    for answer in &gone.0 {
        if withdrawer.withdraw(&conversation, answer).await != Withdrawn::Gone {
            return false;
        }
    }
    withdrawer.clear_title(&conversation).await;
    true
}

/// Withdraws all of it. Returns what stays.
pub(super) async fn take_away(said: Vec<EchoAnswer>, reply: &dyn Reply) -> String {
    let withdrawer = reply.withdrawer();
    let mut stays = Vec::new();
    for answered in said {
        for message in &answered.delivered.0 {
            match withdrawer.withdraw(&answered.conversation, message).await {
                Withdrawn::Gone => {}
                Withdrawn::NotYet => stays.push("later".to_owned()),
                Withdrawn::Stays(why) => stays.push(why.in_language(Language::English)),
            }
        }
        withdrawer.clear_title(&answered.conversation).await;
    }
    if stays.is_empty() {
        return "forgotten".to_owned();
    }
    format!("{} stay, because {}", stays.len(), stays.join("; "))
}

/// Returns the answer, unless there is none.
pub(super) async fn scripted(
    text: &str,
    reply: &mut dyn Reply,
    mut go_on: watch::Receiver<()>,
) -> Option<String> {
    let (word, words) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "say" => return Some(words.to_owned()),
        "long" => {
            let line = |line| format!("{line} *x* \"quoted\" <b>\n");
            return Some((0..words.parse().unwrap_or(1)).map(line).collect());
        }
        "table" => {
            let table = "| a | b |\n|---|---|\n| 1 | **2** |\n\n```rust\nfn f() {}\n```";
            return Some(table.to_owned());
        }
        "background" => return Some(prior(reply, words).await),
        "items" => return Some(items(reply)),
        "propose" => {
            reply.offer_items(&[item(0)]);
            return Some("Shall I do this?".to_owned());
        }
        "hand" => return Some(hand_over(words, reply).await),
        "grow" => {
            reply.update(&SafeText::streaming("so far ")).await;
            told_to(&mut go_on).await;
        }
        "wait" => told_to(&mut go_on).await,
        "drop" => {
            reply.update(&SafeText::streaming("to be dropped ")).await;
            told_to(&mut go_on).await;
            return None;
        }
        "stream" => {
            let pace = reply.pace().update_every;
            for end in 1..=3 {
                reply.update(&SafeText::new(&format!("step {end}"))).await;
                tokio::time::sleep(pace + Duration::from_millis(50)).await;
            }
        }
        _ => return Some(format!("echo: {text}")),
    }
    Some(format!("echo: {words}"))
}

fn item(number: u32) -> ShownItem {
    ShownItem {
        number,
        id: format!("0192f0c4-3b5e-7c11-8f00-00000000000{number}"),
        version: 7,
    }
}

fn items(reply: &mut dyn Reply) -> String {
    reply.offer_items(&[item(1), item(2)]);
    "1. the kettle\n2. the ladder".to_owned()
}

/// Hands two files over to the one who asks, and returns the outcome.
async fn hand_over(words: &str, reply: &mut dyn Reply) -> String {
    let words = words.strip_prefix("over ").unwrap_or(words);
    let files = [
        super::super::own_file("mine.json", "application/json", words.as_bytes()),
        super::super::own_file("mine.md", "text/markdown", b"# Mine\n"),
    ];
    if let Err(why) = reply.largest_file().await {
        return format!("not handed over: {why}");
    }
    match reply.hand_over(&files).await {
        Ok(place) => format!("handed over: {place:?}"),
        Err(why) => format!("not handed over: {why}"),
    }
}

/// Returns once the bot is told to continue, or ends.
async fn told_to(go_on: &mut watch::Receiver<()>) {
    let _ = go_on.changed().await;
}

/// Returns what was said before; `counted`: only the first and the last, with the number between.
async fn prior(reply: &mut dyn Reply, words: &str) -> String {
    let prior = reply.prior_messages().await;
    let lines = prior.said.iter();
    let mut lines: Vec<String> = lines
        .map(|said| format!("{}: {}", said.author, said.text))
        .collect();
    if words == "counted" && lines.len() > 2 {
        let (first, last) = (lines.remove(0), lines.pop().unwrap_or_default());
        lines = vec![first, format!("{} between", lines.len()), last];
    }
    if let Some(cut) = prior.cut {
        lines.push(format!("({cut})"));
    }
    format!("overheard:\n{}", lines.join("\n"))
}

pub(super) async fn files(message: &IncomingMessage, text: &str, reply: &mut dyn Reply) -> String {
    let mut said = format!("file: {text}");
    for file in &message.attachments {
        let read = reply.download(file, 1000).await;
        let content = match read {
            Ok(content) => format!(
                "{} bytes, {}",
                content.len(),
                String::from_utf8_lossy(&content)
            ),
            Err(error) => error.to_string(),
        };
        said.push_str(&format!("\n{} ({}): {content}", file.name, file.media_type));
    }
    said
}

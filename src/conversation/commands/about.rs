//! What the bot is, what it remembers of a place, and what it spent there.

use chrono::{TimeDelta, Utc};
use muninn_platform::{ChannelMemory, IncomingMessage, Language, PlatformVocabulary};
use muninn_texts::{Text, Value, text};

use super::Commands;
use crate::conversation::notice::{HearingNotice, Notice};
use crate::graph::StoreError;
use crate::graph::answers::Spent;
use crate::llm::Money;

impl Commands {
    pub(super) async fn about(
        &self,
        message: &IncomingMessage,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<String, StoreError> {
        let memory_stats = self
            .archive
            .store()
            .memory_stats(&message.audience.id)
            .await?;
        let language = message.language();
        let zone = self.recaller.time_zone_of(message);
        let remembered = match (memory_stats.turns, memory_stats.since) {
            (0, _) | (_, None) => text!("about-nothing"),
            (turns, Some(since)) => text!(
                "about-remembered",
                turns = text!("count-turns", count = turns),
                conversations = text!("count-conversations", count = memory_stats.sessions),
                since = Value::date(&since.with_timezone(&zone))
            ),
        };
        let (about, remembered) = (text!("about"), remembered.in_language(language));
        let heard = match self.hearing.memory(message.channel()) {
            ChannelMemory::Channel => {
                let notice = Notice::Hearing(HearingNotice::Everybody(vocabulary));
                format!("\n\n{}", notice.in_language(message.language()))
            }
            ChannelMemory::Asked => String::new(),
        };
        let (about, help) = (about.in_language(language), help(vocabulary, language));
        Ok(format!("{about}\n\n{remembered}{heard}\n\n{help}"))
    }

    pub(super) async fn usage(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let store = self.archive.store();
        let (accounts, audience) = (message.accounts(), &message.audience.id);
        let mut lines = Vec::new();
        for (days, called) in [(1, text!("usage-day")), (30, text!("usage-month"))] {
            let since = Utc::now() - TimeDelta::days(days);
            let usage = store.usage(&accounts, audience, since).await?;
            lines.push(called);
            lines.push(text!("usage-you", spent = spent(usage.person)));
            lines.push(text!("usage-here", spent = spent(usage.audience)));
        }
        let used = self.budgets.purse(Some(&**store), message).await.used();
        lines.extend(used.iter().map(|used| {
            text!(
                "usage-budget",
                whose = used.whose.text(),
                spent = used.spent.to_string(),
                limit = used.limit.to_string()
            )
        }));
        let said = lines
            .iter()
            .map(|line| line.in_language(message.language()));
        let lines: Vec<String> = said.collect();
        Ok(lines.join("\n"))
    }
}

/// The available commands, in the platform's vocabulary, without those that it refuses.
pub(super) fn help(vocabulary: &PlatformVocabulary, language: Language) -> String {
    let PlatformVocabulary {
        channel,
        conversation,
        has_slash_commands,
        refused,
        ..
    } = *vocabulary;
    let all = if has_slash_commands {
        text!("help-slash")
    } else {
        text!("help", channel, conversation)
    };
    // A command is the same words in every language.
    let refused: Vec<String> = refused.iter().map(|it| format!("- `{it}")).collect();
    let is_refused = |line: &&str| refused.iter().any(|it| line.starts_with(it));
    let all = all.in_language(language);
    let lines: Vec<&str> = all.lines().filter(|line| !is_refused(line)).collect();
    lines.join("\n")
}

fn spent(spent: Spent) -> Text {
    let Spent {
        turns,
        prompt_tokens,
        completion_tokens,
        cached_tokens,
        cost_micros,
    } = spent;
    let spent = text!(
        "spent",
        answers = text!("count-answers", count = turns),
        read = tokens_read(prompt_tokens, cached_tokens),
        written = text!("tokens-written", count = completion_tokens)
    );
    for_money(spent, Money(cost_micros))
}

/// `100 tokens read (80 of them cached)`
pub(crate) fn tokens_read(read: u64, cached: u64) -> Text {
    let tokens = text!("count-tokens", count = read);
    match cached {
        0 => text!("tokens-read", tokens),
        cached => text!("tokens-read-cached", tokens, cached),
    }
}

/// Appends `, for $0.0021`; nothing if it was free.
pub(crate) fn for_money(spent: Text, cost: Money) -> Text {
    match cost {
        Money(0) => spent,
        cost => text!("spent-money", spent, money = cost.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_leaves_out_what_is_refused_there() {
        let refusing = PlatformVocabulary {
            refused: &[
                "link my accounts",
                "export mine",
                "web",
                "mcp token",
                "backfill since",
            ],
            ..PlatformVocabulary::PLAIN
        };
        for language in Language::ALL {
            let all = help(&PlatformVocabulary::PLAIN, language);
            let some = help(&refusing, language);
            let left_out: Vec<&str> = all.lines().filter(|it| !some.contains(it)).collect();
            assert_eq!(left_out.len(), 5, "{language}: {left_out:?}");
            assert!(some.contains("`usage`"), "{language}: {some}");
            for command in refusing.refused {
                assert!(
                    !some.contains(&format!("`{command}")),
                    "{language}: {command}"
                );
            }
        }
    }
}

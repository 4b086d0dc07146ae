//! Summarises for somebody who was away what was decided, answered and left open in an audience. A model writes it;
//! without one, the most answered topics are listed.

mod findings;
mod layout;
mod listing;
mod topics;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arc_swap::ArcSwap;
use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{Channels, IncomingMessage, Language, TimeZone, midnight};

use muninn_texts::text;

use self::findings::{Findings, TopicBatch, batches, schema};
use self::layout::{ReadMessages, ReaderLocale, Written, bold, heading};
use self::listing::listing;
use self::topics::{Topic, TopicMessage, most_answered, topics};
use crate::agent::budget::{Budgets, Purse};
use crate::agent::prompts::{CatchUpPrompt, PromptError, Prompts, dated};
use crate::agent::sampling::SamplingByKind;
use crate::conversation::notice::{Notice, model_trouble};
use crate::graph::StoreError;
use crate::graph::items::ReadTurn;
use crate::llm::{AnswerShape, ChatMessage, ChatRequest, ModelChain, ModelError, Purpose};
use crate::memory::{Archive, Recaller, beginning};

/// How far back to look for somebody who never said anything here.
const DEFAULT_LOOKBACK: TimeDelta = TimeDelta::days(7);
/// Maximum number of messages read: the newest ones.
const MOST_MESSAGES: usize = 5_000;
/// Maximum number of model calls for one person.
const MOST_CALLS: usize = 6;
/// Maximum length of a reply, in tokens.
const REPLY_TOKENS: u32 = 2_000;

/// Writes summaries of what was said.
#[derive(Debug)]
pub struct CatchUp {
    archive: Arc<Archive>,
    recaller: Arc<Recaller>,
    /// Without a model, the most answered topics are listed.
    model: Option<Arc<ModelChain>>,
    prompts: ArcSwap<Prompts>,
    budgets: Arc<Budgets>,
    channels: Arc<Channels>,
}

/// A summary, and the turns of which it may say something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenSummary {
    pub text: String,
    pub made_from: Vec<ReadTurn>,
}

impl WrittenSummary {
    fn of(written: Written<'_>, heading: &str) -> Self {
        let Written { lines, made_from } = written;
        Self {
            text: format!("{heading}\n\n{}", lines.join("\n")),
            made_from: made_from.into_iter().map(|it| it.read.clone()).collect(),
        }
    }
}

/// Why the model found nothing.
#[derive(Debug, thiserror::Error)]
enum NotFound {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("its reply could not be read")]
    Unreadable,
}

impl NotFound {
    fn notice(&self) -> Notice {
        match self {
            Self::Model(error) => Notice::ModelDownListed(model_trouble(error)),
            Self::Prompt(_) => Notice::ModelDownListed(text!("model-prompt")),
            Self::Unreadable => Notice::ModelDownListed(text!("model-unreadable")),
        }
    }
}

impl CatchUp {
    pub fn new(
        archive: Arc<Archive>,
        recaller: Arc<Recaller>,
        model: Option<Arc<ModelChain>>,
        prompts: Arc<Prompts>,
        budgets: Arc<Budgets>,
        channels: Arc<Channels>,
    ) -> Self {
        Self {
            archive,
            recaller,
            model,
            prompts: ArcSwap::new(prompts),
            budgets,
            channels,
        }
    }

    /// Uses these prompts for later summaries.
    pub fn use_prompts(&self, prompts: Arc<Prompts>) {
        self.prompts.store(prompts);
    }

    /// Returns what was said in the message's audience since the day that `since` names in words, or since its author
    /// last wrote there.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn summarize_for_author(
        &self,
        message: &IncomingMessage,
        since: Option<&str>,
    ) -> Result<WrittenSummary, StoreError> {
        let zone = self.recaller.time_zone_of(message);
        // The answer is for the author alone.
        let reader = ReaderLocale {
            language: message.languages.person,
            zone,
        };
        let now = Utc::now();
        let from = match since {
            Some(words) => match beginning(words, now.with_timezone(&zone).date_naive()) {
                Some(day) => midnight(day, zone),
                None => return Ok(notice(&Notice::NoSuchDay(words.to_owned()), message)),
            },
            None => {
                let last = self.last_here(message).await?;
                last.map_or(now - DEFAULT_LOOKBACK, |last| {
                    last + TimeDelta::milliseconds(1)
                })
            }
        };
        let said = self.load_messages(message, from, now).await?;
        let store = &**self.archive.store();
        let purse = self.budgets.purse(Some(store), message).await;
        let written = self.write((message, &purse), &said.newest, reader).await;
        // Where the model found nothing to report, it would be wrong to say that nothing was said.
        let written = written.or_else(|| listed(&said.newest, reader));
        Ok(match written {
            Some(written) => WrittenSummary::of(written, &heading(&said, from, reader)),
            None => notice(&Notice::NothingSince(reader.day(from)), message),
        })
    }

    /// Returns what was said in the message's audience between two times, for everybody there; `None` if nothing was, or if
    /// the model found nothing to report.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn digest(
        &self,
        message: &IncomingMessage,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<WrittenSummary>, StoreError> {
        let reader = ReaderLocale {
            language: message.languages.place,
            zone: self.recaller.time_zone_of(message),
        };
        let said = self.load_messages(message, from, until).await?;
        let store = &**self.archive.store();
        let purse = self.budgets.purse_of_channel(Some(store), message).await;
        let written = self.write((message, &purse), &said.newest, reader).await;
        let heading = heading(&said, from, reader);
        Ok(written.map(|written| WrittenSummary::of(written, &heading)))
    }

    /// When the author last wrote here.
    async fn last_here(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let store = self.archive.store();
        store
            .last_said_by(&message.audience.id, &message.author.id, &message.event)
            .await
    }

    /// What people said in the audience.
    async fn load_messages(
        &self,
        message: &IncomingMessage,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<ReadMessages, StoreError> {
        let store = self.archive.store();
        // One more shows whether there are older ones.
        let turns = store
            .messages_between(&message.audience.id, from, until, MOST_MESSAGES + 1)
            .await?;
        let said = turns.iter().map(TopicMessage::from).collect();
        Ok(ReadMessages::newest(said, MOST_MESSAGES))
    }

    /// The summary; `None` where there is nothing to report.
    async fn write<'a>(
        &self,
        paid: (&IncomingMessage, &Purse<'_>),
        said: &'a [TopicMessage],
        reader: ReaderLocale,
    ) -> Option<Written<'a>> {
        let all = most_answered(&topics(said));
        let (mut written, rest) = match &self.model {
            Some(model) if !all.is_empty() => {
                self.summarize_topics(model, paid, &all, reader).await
            }
            Some(_) | None => (Written::default(), all),
        };
        written.extend(listing(&rest, reader));
        (!written.lines.is_empty()).then_some(written)
    }

    /// What the model found in the topics, and the topics for which it found nothing.
    async fn summarize_topics<'a>(
        &self,
        model: &ModelChain,
        (message, purse): (&IncomingMessage, &Purse<'_>),
        all: &[Topic<'a>],
        reader: ReaderLocale,
    ) -> (Written<'a>, Vec<Topic<'a>>) {
        let (batches, mut rest) = batches(all, MOST_CALLS);
        let mut sections = Sections::default();
        let mut made_from = Vec::new();
        let mut failed = None;
        for batch in batches {
            let found = match &failed {
                // After one failure the next call would fail too, and everybody waits.
                Some(_) => None,
                None => match self.ask(model, message, &batch, purse, reader.zone).await {
                    Ok(found) => Some(found),
                    Err(error) => {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "no model caught up"
                        );
                        failed = Some(error.notice());
                        None
                    }
                },
            };
            match found {
                Some(found) => {
                    sections.add(&batch, &found, reader);
                    // An entry may say more than the messages that it cites.
                    made_from.extend(batch.topics.iter().flat_map(Topic::all));
                }
                None => rest.extend(batch.topics),
            }
        }
        let mut lines = sections.lines(reader.language);
        if let Some(notice) = failed {
            lines.push(notice.in_language(reader.language));
        } else if !rest.is_empty() {
            lines.push(bold(&text!("catch-up-further"), reader.language));
        }
        (Written { lines, made_from }, most_answered(&rest))
    }

    async fn ask(
        &self,
        model: &ModelChain,
        message: &IncomingMessage,
        batch: &TopicBatch<'_>,
        purse: &Purse<'_>,
        zone: TimeZone,
    ) -> Result<Findings, NotFound> {
        let prompt = self.prompts.load().render(&CatchUpPrompt {
            person: &message.author.name,
            topics: &batch.quoted(zone),
        })?;
        let set = self.channels.of(message.channel());
        let request = ChatRequest {
            messages: vec![ChatMessage::System(dated(zone)), ChatMessage::User(prompt)],
            images: Vec::new(),
            model: None,
            tools: Vec::new(),
            known_tools: Vec::new(),
            shape: Some(AnswerShape {
                name: "catch_up",
                schema: schema(),
            }),
            sampling: SamplingByKind::of(set.as_ref()).into_summary(),
            max_tokens: REPLY_TOKENS,
            purpose: Purpose::Answer,
            person: format!("{}/{}", message.audience.platform, message.author.id),
        };
        purse.admit()?;
        let completion = Box::pin(model.complete(&request, &mut |_| {})).await?;
        purse.pay_completion(&completion);
        batch.read(&completion.text).ok_or(NotFound::Unreadable)
    }
}

/// What was said, as a list; `None` if nothing was.
fn listed(said: &[TopicMessage], reader: ReaderLocale) -> Option<Written<'_>> {
    let written = listing(&most_answered(&topics(said)), reader);
    (!written.lines.is_empty()).then_some(written)
}

/// The findings, as lines below their headings.
#[derive(Debug, Default)]
struct Sections {
    decided: Vec<String>,
    answered: Vec<String>,
    open: Vec<String>,
}

impl Sections {
    fn add(&mut self, batch: &TopicBatch<'_>, found: &Findings, reader: ReaderLocale) {
        for (lines, entries) in [
            (&mut self.decided, &found.decided),
            (&mut self.answered, &found.answered),
            (&mut self.open, &found.open),
        ] {
            lines.extend(entries.iter().map(|entry| batch.line(entry, reader)));
        }
    }

    fn lines(self, language: Language) -> Vec<String> {
        let sections = [
            (text!("catch-up-decided"), self.decided),
            (text!("catch-up-open"), self.open),
            (text!("catch-up-answered"), self.answered),
        ];
        let filled = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
        filled
            .flat_map(|(heading, lines)| std::iter::once(bold(&heading, language)).chain(lines))
            .collect()
    }
}

/// A notice for the author alone.
fn notice(notice: &Notice, message: &IncomingMessage) -> WrittenSummary {
    WrittenSummary {
        text: notice.in_language(message.languages.person),
        made_from: Vec::new(),
    }
}

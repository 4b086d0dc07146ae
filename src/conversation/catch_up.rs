//! What was decided, answered and left open in an audience while somebody was not there: with a model in its words,
//! without one as a list of what was answered most.

mod findings;
mod listing;
mod topics;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use muninn_platform::{Channels, IncomingMessage, TimeZone, counted, local_time};

use self::findings::{Batch, Findings, batches, schema};
use self::listing::listing;
use self::topics::{Said, Topic, most_answered, topics};
use crate::agent::budget::{Budgets, Purse};
use crate::agent::prompts::{PromptError, Prompts, WhatCameOfIt, dated};
use crate::agent::sampling::SamplingByKind;
use crate::conversation::notice::{Notice, model_trouble};
use crate::graph::StoreError;
use crate::live::Live;
use crate::llm::{AnswerShape, ChatMessage, ChatRequest, ModelChain, ModelError, Purpose};
use crate::memory::{Archive, Recaller, beginning};

/// How far back is looked for somebody who never said anything here.
const UNKNOWN: TimeDelta = TimeDelta::days(7);
/// Messages that are read at most, the newest.
const MOST_MESSAGES: usize = 5_000;
/// Calls of the model for one person at most.
const MOST_CALLS: usize = 6;
/// Tokens of a reply.
const REPLY_TOKENS: u32 = 2_000;

/// Tells what came of what was said.
#[derive(Debug)]
pub struct CatchUp {
    archive: Arc<Archive>,
    recaller: Arc<Recaller>,
    /// None: what was answered most is listed.
    model: Option<Arc<ModelChain>>,
    prompts: Live<Prompts>,
    budgets: Arc<Budgets>,
    channels: Arc<Channels>,
}

/// Why a model said nothing of it.
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
            Self::Prompt(_) | Self::Unreadable => Notice::ModelDownListed(self.to_string()),
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
            prompts: Live::new(prompts),
            budgets,
            channels,
        }
    }

    /// Makes later ones with these prompts.
    pub fn use_prompts(&self, prompts: Arc<Prompts>) {
        self.prompts.replace(prompts);
    }

    /// What was said in the message's audience since a day that `since` names in words, or since its author last said
    /// something there.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn tell(
        &self,
        message: &IncomingMessage,
        since: Option<&str>,
    ) -> Result<String, StoreError> {
        let zone = self.recaller.time_zone_of(message);
        let now = Utc::now();
        let from = match since {
            Some(words) => match beginning(words, now.with_timezone(&zone).date_naive()) {
                Some(day) => midnight(day, zone),
                None => return Ok(Notice::NoSuchDay(words.to_owned()).to_string()),
            },
            None => {
                let last = self.last_here(message).await?;
                last.map_or(now - UNKNOWN, |last| last + TimeDelta::milliseconds(1))
            }
        };
        let said = self.said(message, from, now).await?;
        let text = self.text(message, &said, zone).await;
        let since = moment(from, zone);
        Ok(match text {
            Some(text) => format!("{}\n\n{text}", heading(&said, &since)),
            None => Notice::NothingSince(since).to_string(),
        })
    }

    /// What was said in the message's audience between two times, for everybody there. None where nothing was.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn digest(
        &self,
        message: &IncomingMessage,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<String>, StoreError> {
        let zone = self.recaller.time_zone_of(message);
        let said = self.said(message, from, until).await?;
        let text = self.text(message, &said, zone).await;
        Ok(text.map(|text| format!("{}\n\n{text}", heading(&said, &moment(from, zone)))))
    }

    /// When the author last said something here.
    async fn last_here(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let store = self.archive.store();
        store
            .last_said_by(&message.audience.id, &message.author.id, &message.event)
            .await
    }

    /// What people said in the audience, in the order of time.
    async fn said(
        &self,
        message: &IncomingMessage,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<Said>, StoreError> {
        let store = self.archive.store();
        let turns = store
            .messages_between(&message.audience.id, from, until, MOST_MESSAGES)
            .await?;
        Ok(turns.iter().map(Said::from).collect())
    }

    /// None where nothing of it is worth telling.
    async fn text(
        &self,
        message: &IncomingMessage,
        said: &[Said],
        zone: TimeZone,
    ) -> Option<String> {
        let all = most_answered(&topics(said));
        let mut lines = Vec::new();
        let rest = match &self.model {
            Some(model) if !all.is_empty() => {
                let (told, rest) = self.told(model, message, &all, zone).await;
                lines = told;
                rest
            }
            Some(_) | None => all,
        };
        lines.extend(listing(&rest, zone));
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// What a model makes of the topics, and the topics that it made nothing of.
    async fn told<'a>(
        &self,
        model: &ModelChain,
        message: &IncomingMessage,
        all: &[Topic<'a>],
        zone: TimeZone,
    ) -> (Vec<String>, Vec<Topic<'a>>) {
        let (batches, mut rest) = batches(all, MOST_CALLS);
        let store = &**self.archive.store();
        let purse = self.budgets.purse(Some(store), message).await;
        let mut sections = Sections::default();
        let mut failed = None;
        for batch in batches {
            let found = match &failed {
                // What failed once would fail again, and everybody waits.
                Some(_) => None,
                None => match self.ask(model, message, &batch, &purse, zone).await {
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
                Some(found) => sections.add(&batch, &found, zone),
                None => rest.extend(batch.topics),
            }
        }
        let mut lines = sections.lines();
        if let Some(notice) = failed {
            lines.push(notice.to_string());
        } else if !rest.is_empty() {
            lines.push("**Further conversations**".to_owned());
        }
        (lines, most_answered(&rest))
    }

    async fn ask(
        &self,
        model: &ModelChain,
        message: &IncomingMessage,
        batch: &Batch<'_>,
        purse: &Purse<'_>,
        zone: TimeZone,
    ) -> Result<Findings, NotFound> {
        let prompt = self.prompts.get().render(&WhatCameOfIt {
            person: &message.author.name,
            topics: &batch.quoted(zone),
        })?;
        let set = self.channels.of(message.channel());
        let request = ChatRequest {
            messages: vec![ChatMessage::System(dated(zone)), ChatMessage::User(prompt)],
            images: Vec::new(),
            model: None,
            tools: Vec::new(),
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
        let configured = model.name(Purpose::Answer, None);
        purse.pay(configured, &completion.model, completion.usage);
        batch.read(&completion.text).ok_or(NotFound::Unreadable)
    }
}

/// What was found, as lines below their headings.
#[derive(Debug, Default)]
struct Sections {
    decided: Vec<String>,
    answered: Vec<String>,
    open: Vec<String>,
}

impl Sections {
    fn add(&mut self, batch: &Batch<'_>, found: &Findings, zone: TimeZone) {
        for (lines, entries) in [
            (&mut self.decided, &found.decided),
            (&mut self.answered, &found.answered),
            (&mut self.open, &found.open),
        ] {
            lines.extend(entries.iter().map(|entry| batch.line(entry, zone)));
        }
    }

    fn lines(self) -> Vec<String> {
        let sections = [
            ("**Decided**", self.decided),
            ("**Left open**", self.open),
            ("**Asked and answered**", self.answered),
        ];
        let filled = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
        filled
            .flat_map(|(heading, lines)| std::iter::once(heading.to_owned()).chain(lines))
            .collect()
    }
}

/// `Since Mon 13 Apr, 09:00: 75 messages by 9 people.`
fn heading(said: &[Said], since: &str) -> String {
    let mut people: Vec<&str> = said.iter().map(|said| said.author.as_str()).collect();
    people.sort_unstable();
    people.dedup();
    let people = match people.len() {
        1 => "1 person".to_owned(),
        many => format!("{many} people"),
    };
    format!(
        "Since {since}: {} by {people}.",
        counted(said.len(), "message")
    )
}

/// Who said it, and when.
fn headline(said: &Said, zone: TimeZone) -> String {
    format!("{}, {}", said.author_name, moment(said.at, zone))
}

/// `Mon 13 Apr 18:30`
fn moment(at: DateTime<Utc>, zone: TimeZone) -> String {
    at.with_timezone(&zone)
        .format("%a %-d %b %H:%M")
        .to_string()
}

/// The first moment of a day.
fn midnight(day: NaiveDate, zone: TimeZone) -> DateTime<Utc> {
    local_time(day, NaiveTime::MIN, zone)
}

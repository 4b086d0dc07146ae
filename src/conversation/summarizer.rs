//! Updates a session's rolling summary. [`crate::memory::summary`] decides when, and over which
//! turns.

use std::sync::Arc;

use arc_swap::ArcSwap;
use dashmap::{DashMap, DashSet};
use muninn_platform::{Channels, ConversationId, IncomingMessage};

use crate::agent::budget::Budgets;
use crate::agent::prompts::{self, PromptError, Prompts, Quoted, Summarize};
use crate::agent::sampling::SamplingByKind;
use crate::graph::session::Sessions;
use crate::graph::{ResponseId, StoreError, Summary, Trust, Turn, TurnRead};
use crate::llm::{ChatMessage, ChatRequest, ModelChain, ModelError, Purpose};
use crate::memory::{Archive, Recaller, summary};

/// Maximum tokens of each side of a turn that a summary is made from.
const TURN_TOKENS: u32 = 400;
/// The greatest number of turns after which a summary that is cut off again and again is tried once more, as a power of two.
const LONGEST_PAUSE: u32 = 6;

/// Writes summaries with the utility model.
#[derive(Debug)]
pub struct Summarizer {
    archive: Arc<Archive>,
    model: Arc<ModelChain>,
    prompts: ArcSwap<Prompts>,
    budgets: Arc<Budgets>,
    channels: Arc<Channels>,
    recaller: Arc<Recaller>,
    /// Number of newest turns that are not summarised.
    window_turns: usize,
    /// Sessions whose summary is being written. A turn that ends meanwhile starts no second one.
    writing: DashSet<ConversationId>,
    /// Sessions whose last summaries were cut off.
    cut_off: DashMap<ConversationId, CutOff>,
}

/// How often in a row a session's summary was cut off. Each try is paid for, and the next one is of the same turns.
#[derive(Debug, Default)]
struct CutOff {
    times: u32,
    /// How many turns are left until the next try.
    pause: u32,
}

impl CutOff {
    /// The first time may be chance.
    fn again(&mut self) {
        self.times += 1;
        self.pause = match self.times {
            1 => 0,
            times => 1 << times.min(LONGEST_PAUSE),
        };
    }

    /// Whether a turn of the pause was left, which is over now.
    fn pauses(&mut self) -> bool {
        let pauses = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        pauses
    }
}

/// Why there is no new summary. The next turn tries again, or after some cut off ones in a row a later one.
#[derive(Debug, thiserror::Error)]
enum NoSummary {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the model's summary was cut off")]
    Incomplete,
}

impl Summarizer {
    /// Leaves the last `window_turns` turns of a session out of its summary.
    pub fn new(
        archive: Arc<Archive>,
        model: Arc<ModelChain>,
        prompts: Arc<Prompts>,
        budgets: Arc<Budgets>,
        channels: Arc<Channels>,
        recaller: Arc<Recaller>,
        window_turns: usize,
    ) -> Self {
        Self {
            archive,
            model,
            prompts: ArcSwap::new(prompts),
            budgets,
            channels,
            recaller,
            window_turns,
            writing: DashSet::new(),
            cut_off: DashMap::new(),
        }
    }

    /// Uses these prompts for later summaries.
    pub fn use_prompts(&self, prompts: Arc<Prompts>) {
        self.prompts.store(prompts);
    }

    /// Extends the summary to the turns that left the window.
    pub async fn extend_summary(&self, sessions: &Sessions, message: &IncomingMessage) {
        let session = &message.conversation;
        if !self.writing.insert(session.clone()) {
            return;
        }
        let pauses = self
            .cut_off
            .get_mut(session)
            .is_some_and(|mut it| it.pauses());
        if !pauses {
            self.try_and_tell(sessions, message).await;
        }
        self.writing.remove(session);
    }

    async fn try_and_tell(&self, sessions: &Sessions, message: &IncomingMessage) {
        let session = &message.conversation;
        match self.try_to(sessions, message).await {
            Ok(covered) => {
                self.cut_off.remove(session);
                tracing::debug!(%session, covered, "summarised");
            }
            Err(error) => {
                if matches!(error, NoSummary::Incomplete) {
                    self.cut_off.entry(session.clone()).or_default().again();
                }
                metrics::counter!("muninn_failed_summaries_total").increment(1);
                tracing::warn!(error = &error as &dyn std::error::Error, %session, "no new summary");
            }
        }
    }

    async fn try_to(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
    ) -> Result<usize, NoSummary> {
        let store = self.archive.store();
        let before = store
            .begin_turn(&TurnRead {
                session: &message.conversation,
                audience: &message.audience.id,
                event: &message.event,
                window: 0,
                seen: i64::MAX,
            })
            .await?;
        let previous = before.summary.as_ref().map(|summary| summary.through);
        let most = summary::MAX_TURNS_PER_CALL + self.window_turns;
        let following = store.answers_after(&message.conversation, previous, most);
        let following = following.await?;
        let turns = summary::to_cover(&following, self.window_turns);
        let Some(last) = turns.last() else {
            return Ok(0);
        };
        let text = self.write(message, before.summary.as_ref(), turns).await?;
        let earlier = before.summary.as_ref().map(|summary| summary.trust);
        let carried = Summary {
            text,
            through: last.id,
            trust: Trust::derived(turns.iter().map(|turn| turn.trust).chain(earlier)),
        };
        self.save(sessions, message, &carried, previous, before.news.epoch)
            .await?;
        Ok(turns.len())
    }

    async fn write(
        &self,
        message: &IncomingMessage,
        previous: Option<&Summary>,
        turns: &[Turn],
    ) -> Result<String, NoSummary> {
        let replaced = previous.map_or("", |summary| summary.text.as_str());
        let previous = previous
            .map(|summary| prompts::lines(&summary.text))
            .unwrap_or_default();
        // Everybody in the conversation is answered with it.
        let zone = self.recaller.time_zone_in(message.channel());
        let turns: Vec<Quoted> = turns
            .iter()
            .map(|turn| Quoted::of_turn(turn, TURN_TOKENS, zone))
            .collect();
        let prompt = self.prompts.load().render(&Summarize {
            previous: &previous,
            turns: &turns,
            words: summary::WORDS,
        })?;
        let set = self.channels.of(message.channel());
        let request = ChatRequest {
            messages: vec![
                ChatMessage::System(prompts::dated(zone)),
                ChatMessage::User(prompt),
            ],
            images: Vec::new(),
            model: None,
            tools: Vec::new(),
            known_tools: Vec::new(),
            shape: None,
            sampling: SamplingByKind::of(set.as_ref()).into_summary(),
            // A word is about 4/3 tokens in English and more in other languages, and a service may count what a model thinks.
            max_tokens: 6 * summary::WORDS as u32,
            purpose: Purpose::Utility,
            person: format!("{}/{}", message.audience.platform, message.author.id),
        };
        let store = &**self.archive.store();
        let purse = self.budgets.purse(Some(store), message).await;
        purse.admit()?;
        let completion = Box::pin(self.model.complete(&request, &mut |_| {})).await?;
        purse.pay_completion(&completion);
        // It would take the place of a whole one, and of the turns that it does not tell of.
        if completion.withheld {
            return Err(NoSummary::Incomplete);
        }
        if completion.truncated {
            let whole = summary::whole_part(&completion.text, replaced);
            return whole.map(str::to_owned).ok_or(NoSummary::Incomplete);
        }
        Ok(completion.text)
    }

    /// Saves the summary, unless something was forgotten since it was begun, as the summary could
    /// still contain that.
    async fn save(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        carried: &Summary,
        previous: Option<ResponseId>,
        epoch: i64,
    ) -> Result<(), NoSummary> {
        let guard = sessions.lock(&message.conversation).await;
        let store = self.archive.store();
        if !store.save_summary(&guard, carried, previous, epoch).await? {
            tracing::debug!(session = %message.conversation, "the summary was overtaken");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_is_cut_off_again_and_again_is_tried_less_and_less_often() {
        let mut cut_off = CutOff::default();
        let mut pauses = Vec::new();
        for _cut_off in 0..8 {
            cut_off.again();
            let pause = std::iter::repeat_with(|| cut_off.pauses());
            pauses.push(pause.take_while(|pauses| *pauses).count());
        }
        assert_eq!(pauses, [0, 4, 8, 16, 32, 64, 64, 64]);
    }
}

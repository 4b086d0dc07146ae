//! Steps 7 to 9: an answer from the model, or else from what is available without one.

mod quoting;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use muninn_platform::Reply;
use tokio::sync::watch;

use super::draft::Draft;
use super::lineage;
use super::{NoDraft, Read, TurnError, TurnInput, TurnRunner};
use crate::agent::budget::Purse;
use crate::agent::links::LinkPolicy;
use crate::agent::model_session::ModelSession;
use crate::agent::prompt::{Brief, Memory};
use crate::agent::prompts::{PromptError, today};
use crate::agent::sampling::SamplingByKind;
use crate::agent::tools::{Knowledge, OfferedTools, SEARCH_KNOWLEDGE, SEARCH_NODES, Tools};
use crate::agent::{Agent, Budget, Evidence, Incomplete, NoAnswer};
use crate::conversation::interrupt::{Interrupt, Interruption};
use crate::conversation::notice::{Notice, model_trouble};
use crate::conversation::stream;
use crate::graph::Turn;
use crate::knowledge::search::{Degradation, KnowledgeFilter, Policy, SearchQuery};
use crate::llm::ModelChain;
use crate::memory::summary;

/// Number of earlier questions that knowledge search looks at.
const EARLIER: usize = 2;

/// The input of the agent.
struct AgentInput<'a> {
    asked: &'a TurnInput<'a>,
    read: &'a Read,
    policies: &'a [Policy],
    links: &'a LinkPolicy,
    /// The tools on the graph.
    offer: Option<Arc<OfferedTools>>,
    /// After this time the agent makes no further look-ups.
    late: Instant,
}

/// How the request to the model ended.
enum ModelRequestEnd {
    Answered(Result<String, NoAnswer>),
    TookTooLong(Duration),
    Interrupted(Interruption),
}

impl ModelRequestEnd {
    fn is_given_up(&self) -> bool {
        match self {
            Self::Interrupted(Interruption::GivenUp) => true,
            Self::Interrupted(Interruption::Stopped | Interruption::Superseded)
            | Self::Answered(_)
            | Self::TookTooLong(_) => false,
        }
    }
}

/// What the draft is then made from.
enum DraftFrom {
    /// The model's text, and the notice below it.
    Model(String, Option<Notice>),
    /// Nothing from the model, and why.
    WithoutModel(Notice),
    Nothing(NoDraft),
}

impl TurnRunner {
    /// Returns a draft, or why there is to be none. The replies and warnings of policies are part of it, whatever wrote it.
    pub(super) async fn draft(
        &self,
        asked: &TurnInput<'_>,
        read: &Read,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<Result<Draft, NoDraft>, TurnError> {
        let earlier = earlier_questions(read);
        let query = SearchQuery {
            text: asked.said(),
            earlier: &earlier,
            audience: asked.message.channel(),
            among: KnowledgeFilter::Everything,
            only: None,
            limit: None,
        };
        let policies = self
            .searcher
            .policies(&query, &read.sought, read.store_away);
        let policies = policies.await;
        let store = (!read.store_away).then(|| &**self.archive.store());
        let purse = self.budgets.purse(store, asked.message).await;
        let mut links = lineage::links(asked, read, &policies);
        let under = (policies.as_slice(), &links);
        let drafted = self.draft_under(under, &purse, asked, read, reply, interrupt);
        let drafted = Box::pin(drafted)
            .await?
            .map(|draft| draft.warning(&policies));
        Ok(drafted.map(|mut draft| {
            draft.trust = lineage::trust(asked, read, &draft);
            links.add_recalled(&draft.recalled);
            if let Some(hosts) = links.after(&draft.evidence) {
                draft.text = hosts.limit(&draft.text);
            }
            let used = purse.take_warnings().into_iter();
            draft.below.extend(used.map(Notice::BudgetNearlyUp));
            draft
        }))
    }

    async fn draft_under(
        &self,
        (policies, links): (&[Policy], &LinkPolicy),
        purse: &Purse<'_>,
        asked: &TurnInput<'_>,
        read: &Read,
        reply: &mut dyn Reply,
        interrupt: &Interrupt,
    ) -> Result<Result<Draft, NoDraft>, TurnError> {
        let mut evidence = Evidence::default();
        if !read.store_away && self.searcher.is_missing() {
            evidence.degradations.push(Degradation::Loading);
        }
        let Some(model) = &self.model else {
            let draft = self.quote_memory(asked, read, None, evidence);
            return draft.await.map(Ok);
        };
        let models = self.model_session(model, asked, purse);
        let limit = models.turn_limit(self.config.timeout);
        let input = AgentInput {
            asked,
            read,
            policies,
            links,
            offer: self.offer(read, &mut evidence).await,
            late: Instant::now() + limit / 2,
        };
        let (shown, watched) = watch::channel(String::new());
        let ended = {
            let asking = self.ask(&models, input, &shown, &mut evidence);
            let asking = async {
                tokio::select! {
                    answered = asking => ModelRequestEnd::Answered(answered),
                    interruption = interrupt.wait_until_raised() => ModelRequestEnd::Interrupted(interruption),
                    () = tokio::time::sleep(limit) => ModelRequestEnd::TookTooLong(limit),
                }
            };
            stream::show_while_writing(reply, watched, asking).await
        };
        let written = shown.borrow().trim().to_owned();
        let is_given_up = ended.is_given_up();
        let mut draft = match draft_from(ended, &written, self.incomplete(&evidence))? {
            DraftFrom::Model(text, below) => {
                let cut = asked.files.given_in_part(&evidence.cut_files);
                let below = below.into_iter().chain(cut.map(Notice::FilesInPart));
                let language = asked.message.language();
                let mut draft = Draft::of_model(text, evidence, read, language);
                draft.below.splice(0..0, below);
                draft
            }
            DraftFrom::WithoutModel(why) => self.without_model(asked, read, why, evidence).await?,
            DraftFrom::Nothing(none) => return Ok(Err(none)),
        };
        draft.calls = models.into_calls();
        draft.is_given_up = is_given_up;
        Ok(Ok(draft))
    }

    /// A model session for this person in this channel.
    fn model_session<'a>(
        &'a self,
        model: &'a ModelChain,
        asked: &'a TurnInput<'_>,
        purse: &'a Purse<'_>,
    ) -> ModelSession<'a> {
        let (message, set) = (asked.message, &asked.kind.set);
        let person = format!("{}/{}", message.audience.platform, message.author.id);
        ModelSession::new(model, person, self.config.answer_tokens)
            .with_images(&asked.files.images)
            .with_purse(purse)
            .with_time_zone(self.recaller.time_zone_of(message))
            .sampling(SamplingByKind::of(Some(set)))
            .with_answer_model(set.model.as_deref())
    }

    /// The graph tools that are available, if the graph can be asked.
    async fn offer(&self, read: &Read, evidence: &mut Evidence) -> Option<Arc<OfferedTools>> {
        if read.store_away {
            return None;
        }
        self.toolbox.offer().await.unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "no schema");
            evidence.degradations.push(Degradation::NotAsked);
            None
        })
    }

    /// The notice for an answer that was cut short.
    fn incomplete(&self, evidence: &Evidence) -> Option<Notice> {
        evidence.incomplete.map(|incomplete| match incomplete {
            Incomplete::CutOff { written } => cut_off(written, self.config.answer_tokens),
            Incomplete::Withheld => Notice::Withheld,
        })
    }

    async fn ask(
        &self,
        models: &ModelSession<'_>,
        input: AgentInput<'_>,
        shown: &watch::Sender<String>,
        evidence: &mut Evidence,
    ) -> Result<String, NoAnswer> {
        let AgentInput {
            asked,
            read,
            policies,
            links,
            offer,
            late,
        } = input;
        let TurnInput {
            message,
            text,
            files,
            kind,
            began: _,
        } = *asked;
        let summary = read.context.summary.as_ref();
        let zone = self.recaller.time_zone_of(message);
        let memories = read.recalled.iter().map(|it| Memory::of(it, zone));
        let memories: Vec<Memory> = memories.collect();
        let today = today(zone);
        let tools = self.tools(models, asked, read, offer).await;
        let asks_graph =
            |offer: &&Arc<OfferedTools>| self.toolbox.names(offer).any(|it| kind.allows(it));
        let offer = tools.offer.as_ref().filter(asks_graph);
        let knowledge = offer.map_or("", |offer| &offer.knowledge).to_owned();
        let sources = tools.knowledge.as_ref().map(Knowledge::in_a_line);
        let agent = Agent {
            prompts: &kind.prompts,
            brief: Brief {
                name: &self.config.bot_name,
                persona: kind.set.persona.trim(),
                instructions: &kind.instructions,
                is_strict: kind.is_strict(),
                is_brief: kind.is_brief(),
                today: &today,
                summary: summary.map(|summary| summary.text.as_str()),
                window: summary::uncovered(&read.context.window, summary, self.config.window_turns),
                memories: &memories,
                findings: &[],
                knowledge: &knowledge,
                sources: sources.as_deref().unwrap_or_default(),
                refusal: "",
                may_look_further: false,
                reminders: &[],
                author: &message.author.name,
                question: text,
                understood: "",
                files: &files.texts,
            },
            language: message.language(),
            models,
            tools,
            policies,
            links,
            budget: self.budget(models, late),
            shown,
        };
        agent.answer(evidence).await
    }

    /// The tools that the model may call.
    async fn tools<'a>(
        &'a self,
        models: &'a ModelSession<'_>,
        asked: &TurnInput<'a>,
        read: &'a Read,
        offer: Option<Arc<OfferedTools>>,
    ) -> Tools<'a> {
        let (message, kind) = (asked.message, asked.kind);
        Tools {
            models,
            prompts: &kind.prompts,
            recaller: &self.recaller,
            store: (!read.store_away).then(|| &**self.archive.store()),
            message,
            shown: read.shown(),
            toolbox: &self.toolbox,
            offer,
            knowledge: self.knowledge(asked, read).await,
            outside: self.outside_tools(message.channel()).await,
            allowed: kind.tools(),
            is_strict: kind.is_strict(),
            has_proposed: AtomicBool::new(false),
        }
    }

    /// The limits on the cost of an answer.
    fn budget(&self, models: &ModelSession<'_>, late: Instant) -> Budget {
        let (config, can) = (&self.config, models.capabilities());
        Budget {
            prompt: prompt_tokens(config.context_tokens, config.answer_tokens, can.context),
            rounds: config.agent_max_rounds,
            late,
            reranks: config.recall_rerank,
            searches_first: config.calls_no_tools
                || can.too_weak_for_tools
                || can.context.is_some_and(|context| context < LEAST_FOR_TOOLS),
        }
    }

    /// The team's knowledge, as far as everybody who reads the answer may see it.
    async fn knowledge<'a>(
        &'a self,
        asked: &TurnInput<'a>,
        read: &'a Read,
    ) -> Option<Knowledge<'a>> {
        let audience = asked.message.channel();
        let kind = asked.kind;
        let searcher = &self.searcher;
        let (mut sources, mut labels) = if read.store_away {
            (
                searcher.known_sources(audience),
                searcher.known_node_labels(),
            )
        } else {
            (
                searcher.sources(audience).await,
                searcher.node_labels().await,
            )
        };
        sources.retain(|source| {
            let is_named = |only: &[String]| only.contains(source);
            kind.allows(SEARCH_KNOWLEDGE) && kind.sources().is_none_or(is_named)
        });
        if !kind.allows(SEARCH_NODES) {
            labels.clear();
        }
        let earlier = earlier_questions(read);
        Knowledge::new(searcher, sources, labels, earlier, kind.sources())
    }
}

/// The earlier questions that knowledge search looks at, oldest first: not what was noted, or said to one another.
fn earlier_questions(read: &Read) -> Vec<&str> {
    let window = read.context.window.iter();
    let answered = window.filter(|turn| turn.is_answered()).rev();
    let mut asked: Vec<&str> = answered.take(EARLIER).map(Turn::said).collect();
    asked.reverse();
    asked
}

/// The notice for an answer that was cut off after this many tokens. A model with little room for an answer ends it before
/// the limit that is set, which then changes nothing.
fn cut_off(written: u32, limit: u32) -> Notice {
    // Services may count a few tokens less.
    if written.saturating_mul(10) >= limit.saturating_mul(9) {
        Notice::CutOff { tokens: limit }
    } else {
        Notice::CutShort
    }
}

/// Decides what the draft is made from, by how the request to the model ended and the text so far. `incomplete` is the notice for
/// an answer that was cut short.
fn draft_from(
    ended: ModelRequestEnd,
    written: &str,
    incomplete: Option<Notice>,
) -> Result<DraftFrom, PromptError> {
    let why = match ended {
        ModelRequestEnd::Answered(Ok(answer)) => return Ok(DraftFrom::Model(answer, incomplete)),
        ModelRequestEnd::Answered(Err(NoAnswer::Silent)) => {
            return Ok(DraftFrom::Nothing(NoDraft::Silent));
        }
        ModelRequestEnd::Answered(Err(error)) => {
            let why = match (no_answer(error)?, incomplete) {
                // Where nothing was written, there is nothing to go on with.
                (Notice::NoAnswer, Some(Notice::Withheld)) => Notice::Withheld,
                (why, _) => why,
            };
            return Ok(DraftFrom::WithoutModel(why));
        }
        ModelRequestEnd::Interrupted(interruption @ Interruption::Superseded) => {
            return Ok(DraftFrom::Nothing(NoDraft::Interrupted(interruption)));
        }
        ModelRequestEnd::Interrupted(interruption) if written.is_empty() => {
            return Ok(DraftFrom::Nothing(NoDraft::Interrupted(interruption)));
        }
        ModelRequestEnd::Interrupted(Interruption::Stopped | Interruption::GivenUp) => {
            Notice::Stopped
        }
        ModelRequestEnd::TookTooLong(limit) => {
            let seconds = limit.as_secs();
            tracing::warn!(
                seconds,
                "a turn took too long; raise TURN_TIMEOUT, or lower ANSWER_TOKENS"
            );
            Notice::TookTooLong(limit)
        }
    };
    Ok(match written.is_empty() {
        true => DraftFrom::WithoutModel(why),
        false => DraftFrom::Model(format!("{written} …"), Some(why)),
    })
}

/// The notice that the model gave no answer.
fn no_answer(error: NoAnswer) -> Result<Notice, PromptError> {
    match error {
        NoAnswer::Prompt(error) => Err(error),
        NoAnswer::Nothing | NoAnswer::Silent => Ok(Notice::NoAnswer),
        NoAnswer::Model(error) => {
            metrics::counter!("muninn_degradations_total", "degradation" => "model").increment(1);
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the model is down: answering without it"
            );
            Ok(Notice::ModelDown(model_trouble(&error)))
        }
    }
}

/// Below this many tokens of context, a model has no room for tool descriptions.
const LEAST_FOR_TOOLS: u32 = 3_000;

/// Maximum tokens of a prompt: what the setting leaves beside an answer, or the model's limit if that is smaller.
fn prompt_tokens(setting: u32, answer: u32, known: Option<u32>) -> u32 {
    let context = known.map_or(setting, |known| known.min(setting));
    if context == setting {
        return setting - answer;
    }
    context - answer.min(context / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Source;

    #[test]
    fn what_people_say_to_one_another_is_no_earlier_question() {
        let turn = |source, input: &str| Turn {
            source,
            ..Turn::of("c", "ada", input, "")
        };
        let window = vec![
            turn(Source::Model, "Who is the harbour master?"),
            turn(Source::Retrieval, "When does the ferry leave?"),
            turn(Source::Message, "I went swimming."),
            turn(Source::Memory, "And on Mondays?"),
            turn(Source::Note, "The key is under the mat."),
            turn(Source::Message, "Lunch at noon?"),
        ];
        let read = Read::of_window(window);
        let asked = earlier_questions(&read);
        assert_eq!(asked, ["When does the ferry leave?", "And on Mondays?"]);
    }

    #[test]
    fn the_limit_is_named_where_it_was_reached() {
        let tokens = 1_500;
        for (written, notice) in [
            (1_500, Notice::CutOff { tokens }),
            (1_490, Notice::CutOff { tokens }),
            (6_000, Notice::CutOff { tokens }),
            (1_024, Notice::CutShort),
            (0, Notice::CutShort),
        ] {
            assert_eq!(cut_off(written, tokens), notice, "{written}");
        }
    }

    #[test]
    fn nothing_is_cut_off_where_nothing_was_written() {
        let drafted = |incomplete| {
            let ended = ModelRequestEnd::Answered(Err(NoAnswer::Nothing));
            draft_from(ended, "", Some(incomplete))
        };
        for cut in [Notice::CutOff { tokens: 1_500 }, Notice::CutShort] {
            assert!(matches!(
                drafted(cut),
                Ok(DraftFrom::WithoutModel(Notice::NoAnswer))
            ));
        }
        assert!(matches!(
            drafted(Notice::Withheld),
            Ok(DraftFrom::WithoutModel(Notice::Withheld))
        ));
    }
}

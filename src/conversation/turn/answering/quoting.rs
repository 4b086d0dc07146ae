//! Answers without the model: quotes from memory, and from the team's knowledge.

use muninn_platform::TimeZone;
use muninn_texts::text;

use crate::agent::Evidence;
use crate::agent::planner::{KnowledgeNeed, has_what_is_asked, need};
use crate::agent::prompt::Memory;
use crate::agent::prompts::{DialogueAct, FindingsPrompt, MemoryPrompt, Quoted};
use crate::agent::tools::ToolResult;
use crate::conversation::notice::Notice;
use crate::conversation::turn::draft::{Draft, take_back_proposals};
use crate::conversation::turn::{Read, TurnError, TurnInput, TurnRunner};
use crate::graph::{Source, Trust};
use crate::knowledge::search::citations;
use crate::memory::{MOST_QUOTED, Recalled, names_time_as_subject, split_quotes};
use crate::retrieval::speech::{names_saying, without_framing};

/// From this probability, or this share of the question's words, a memory goes before any passage. Set by hand: "order B-1042"
/// had 0.21 for a question about another order.
const LIKELY: f64 = 0.5;
const MUCH_OF_THE_QUESTION: f32 = 0.5;

impl TurnRunner {
    /// An answer without the model: the findings of the tools, or else quotes from memory.
    pub(super) async fn without_model(
        &self,
        asked: &TurnInput<'_>,
        read: &Read,
        why: Notice,
        mut evidence: Evidence,
    ) -> Result<Draft, TurnError> {
        if !evidence.has_knowledge() && evidence.cited.is_empty() {
            return self.quote_memory(asked, read, Some(why), evidence).await;
        }
        // The model called the tools, but did not write what follows.
        evidence.model.clear();
        // What it quotes is no memory of this conversation.
        evidence.is_volatile = true;
        let listed = asked.kind.prompts.render(&FindingsPrompt {
            findings: &evidence.findings,
        })?;
        let mut draft = Draft::of_quotes(listed, evidence, read, asked.message.language());
        draft.above = Some(above_findings(why));
        Ok(draft)
    }

    /// An answer that only quotes: from memory, or else from the team's knowledge.
    pub(super) async fn quote_memory(
        &self,
        asked: &TurnInput<'_>,
        read: &Read,
        above: Option<Notice>,
        mut evidence: Evidence,
    ) -> Result<Draft, TurnError> {
        take_back_proposals(&mut evidence.tools);
        // Nobody sees the window then, so it is searched as well.
        let mut recalled = self.recaller.quote(
            &asked.message.recalled_audiences(),
            &read.sought,
            &read.context.window,
            &read.hidden,
        );
        let is_new = |memory: &&Recalled| !recalled.iter().any(|it| it.id == memory.id);
        let more: Vec<Recalled> = evidence.recalled.iter().filter(is_new).cloned().collect();
        recalled.extend(more);
        let said = DialogueAct::of(asked.said());
        // Whoever wants something forgotten is told how, and is not quoted it.
        let is_wish = said == DialogueAct::AsksToForget;
        if is_wish {
            recalled.clear();
            evidence.recalled.clear();
        }
        if !is_wish && let Some(found) = self.passages_before(asked, read, &recalled).await {
            // What was said since may correct an outdated document, although it shares only a word with the question.
            recalled.retain(is_about_the_question);
            recalled.truncate(MOST_QUOTED);
            return self.quote_passages(asked, read, above, evidence, found, recalled);
        }
        let (answering, beside) = split_quotes(recalled);
        let zone = self.recaller.time_zone_of(asked.message);
        let answer = asked.kind.prompts.render(&MemoryPrompt::new(
            &as_quoted(&answering, zone),
            &as_quoted(&beside, zone),
            said,
            asked.message.language(),
        ))?;
        let recalled = [answering, beside].concat();
        let text = match is_of_another_time_than_asked(asked.said(), &recalled) {
            true => {
                let heading = text!("quoted-other-time").in_language(asked.message.language());
                format!("{heading}\n\n{answer}")
            }
            false => answer,
        };
        Ok(Draft {
            text,
            sources: None,
            source: Source::Memory,
            recalled,
            below: Draft::notices(read, &evidence.degradations),
            evidence,
            calls: Vec::new(),
            above,
            warnings: Vec::new(),
            trust: Trust::Talk,
            is_given_up: false,
        })
    }

    /// The passages that are quoted before these memories. What shares no word with the question, or asks itself, is a
    /// guess: a passage that answers goes before it. What shares only a little of it gives way to a passage that surely answers.
    async fn passages_before(
        &self,
        asked: &TurnInput<'_>,
        read: &Read,
        recalled: &[Recalled],
    ) -> Option<ToolResult> {
        let is_likely = recalled.iter().any(is_likely_an_answer);
        if is_likely || need(without_framing(asked.said())) != KnowledgeNeed::Knowledge {
            return None;
        }
        let found = self.find_passages(asked, read).await?;
        let has_answer = recalled.iter().any(is_about_the_question);
        let mut scores = found.cited.iter().map(|cited| &cited.hit.scores);
        (!has_answer || scores.any(has_what_is_asked)).then_some(found)
    }

    /// The passages that a question finds in the team's knowledge; `None` if they hardly answer it.
    async fn find_passages(&self, asked: &TurnInput<'_>, read: &Read) -> Option<ToolResult> {
        let knowledge = self.knowledge(asked, read).await?;
        let found = knowledge.quote(asked.message.channel(), asked.said()).await;
        (!found.cited.is_empty()).then_some(found)
    }

    /// An answer that quotes passages, and memories beside them, after what ran for it.
    fn quote_passages(
        &self,
        asked: &TurnInput<'_>,
        read: &Read,
        above: Option<Notice>,
        ran: Evidence,
        found: ToolResult,
        beside: Vec<Recalled>,
    ) -> Result<Draft, TurnError> {
        let language = asked.message.language();
        let mut evidence = ran.without_findings();
        evidence.take(found);
        // Its quotes are not memories of this conversation.
        evidence.is_volatile = true;
        let mut quotes = citations::quoted(&evidence.cited);
        if !beside.is_empty() {
            let zone = self.recaller.time_zone_of(asked.message);
            let memories = as_quoted(&beside, zone);
            let said = DialogueAct::Question;
            let prompt = MemoryPrompt::new(&[], &memories, said, language);
            quotes = format!("{quotes}\n\n{}", asked.kind.prompts.render(&prompt)?);
        }
        // By this the graph knows that the answer shows them, and empties it if one of them is forgotten.
        evidence
            .listed
            .extend(beside.iter().map(|memory| memory.id));
        let mut draft = Draft::of_quotes(quotes, evidence, read, language);
        let is_new = |memory: &Recalled| !draft.recalled.iter().any(|it| it.id == memory.id);
        let new: Vec<Recalled> = beside.into_iter().filter(is_new).collect();
        draft.recalled.extend(new);
        draft.above = above.map(above_findings);
        Ok(draft)
    }
}

/// The notice above what was found, which nobody said here.
fn above_findings(why: Notice) -> Notice {
    match why {
        Notice::ModelDown(why) => Notice::ModelDownAfterTools(why),
        other => other,
    }
}

/// Whether a memory shares a word with the question, or was said at the time that it names, and is more than a question.
fn is_about_the_question(recalled: &Recalled) -> bool {
    let features = &recalled.features;
    let is_of_the_time = features.hints.within >= 1.0 || features.hints.dated >= 1.0;
    (features.coverage > 0.0 || is_of_the_time) && features.hints.asking <= 0.0
}

/// Whether such a memory shares more than a little of the question, or was said by whom or when it names.
fn is_likely_an_answer(recalled: &Recalled) -> bool {
    let features = &recalled.features;
    let hints = &features.hints;
    let is_pointed_to = hints.speaker > 0.0 || hints.within >= 1.0 || hints.dated >= 1.0;
    let shares_much = features.coverage >= MUCH_OF_THE_QUESTION;
    is_about_the_question(recalled)
        && (is_pointed_to || shares_much || recalled.probability >= LIKELY)
}

/// Whether a question asks what was said at some time, and all that is quoted was said at another.
fn is_of_another_time_than_asked(question: &str, quoted: &[Recalled]) -> bool {
    let is_about_it = |one: &Recalled| names_time_as_subject(question, &one.input);
    names_saying(question) && is_all_of_another_time(quoted) && !quoted.iter().any(is_about_it)
}

/// Whether a question names a time, and nothing of what is quoted was said then or is about it.
fn is_all_of_another_time(quoted: &[Recalled]) -> bool {
    let is_of_another = |one: &Recalled| {
        let hints = &one.features.hints;
        // Zero without a time in the question.
        hints.within > 0.0 && hints.within < 1.0 && hints.dated < 1.0
    };
    !quoted.is_empty() && quoted.iter().all(is_of_another)
}

fn as_quoted(recalled: &[Recalled], zone: TimeZone) -> Vec<Quoted> {
    let quoted = recalled
        .iter()
        .map(|memory| Memory::of(memory, zone).quoted);
    quoted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_that_shares_little_or_only_asks_gives_way_to_a_passage() {
        let memory = |probability, coverage, asking, within| {
            let mut memory = crate::testing::recalled(chrono::Utc::now());
            memory.probability = probability;
            memory.features.coverage = coverage;
            memory.features.hints.asking = asking;
            memory.features.hints.within = within;
            memory
        };
        for (memory, is_about, is_likely) in [
            (memory(0.9, 0.7, 0.0, 0.0), true, true),
            (memory(0.9, 0.2, 0.0, 0.0), true, true),
            (memory(0.2, 0.7, 0.0, 0.0), true, true),
            (memory(0.2, 0.0, 0.0, 1.0), true, true),
            (memory(0.2, 0.3, 0.0, 0.0), true, false),
            (memory(0.9, 0.0, 0.0, 0.0), false, false),
            (memory(0.9, 1.0, 1.0, 0.0), false, false),
        ] {
            let found = (is_about_the_question(&memory), is_likely_an_answer(&memory));
            assert_eq!(found, (is_about, is_likely), "{memory:?}");
        }
    }

    #[test]
    fn what_was_said_at_another_time_is_told_from_what_was_said_then() {
        let memory = |within, dated| {
            let mut memory = crate::testing::recalled(chrono::Utc::now());
            memory.features.hints.within = within;
            memory.features.hints.dated = dated;
            memory
        };
        for (quoted, is_of_another) in [
            (vec![], false),
            (vec![memory(0.2, 0.0)], true),
            (vec![memory(0.2, 0.0), memory(0.04, 0.0)], true),
            (vec![memory(0.2, 0.0), memory(1.0, 0.0)], false),
            (vec![memory(0.2, 1.0)], false),
            (vec![memory(0.0, 0.0)], false),
        ] {
            assert_eq!(is_all_of_another_time(&quoted), is_of_another, "{quoted:?}");
        }
    }

    #[test]
    fn what_was_said_about_a_time_need_not_have_been_said_then() {
        let said = |input: &str| {
            let mut memory = crate::testing::recalled(chrono::Utc::now());
            memory.input = input.to_owned();
            memory.features.hints.within = 0.2;
            vec![memory]
        };
        let delivery = "Bob wrote that the delivery comes on Friday.";
        for (question, quoted, is_of_another) in [
            ("what did Marta say yesterday?", "The oven is hot.", true),
            ("What did Bob write on Monday?", delivery, true),
            ("What did Bob write about Friday?", delivery, false),
            ("What came yesterday?", delivery, false),
        ] {
            let found = is_of_another_time_than_asked(question, &said(quoted));
            assert_eq!(found, is_of_another, "{question}");
        }
    }
}

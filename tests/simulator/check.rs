//! The invariants of every run. Pure, over what was said, shown, asked of the model and kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::desk::Post;
use crate::export::Graph;
use crate::people::{ExpectedMessageState, STOPPED, Said, SimulatedPerson};
use crate::words::{Token, nonce_of, tokens};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Invariant {
    /// A message is accepted, or its sender is told to send it again.
    Accepted,
    /// Every accepted message is answered, an edit too.
    Answered,
    /// … once.
    AnsweredOnce,
    /// Each shown answer is kept, once.
    KeptOnce,
    /// The turns of a conversation are one chain.
    OneChain,
    /// Nobody's words reach the model or the answers of another channel.
    OwnAudience,
    /// What was deleted or forgotten exists nowhere.
    Forgotten,
    /// Queues are bounded.
    Bounded,
    /// A process that is told to end ends.
    Ends,
    /// Nothing panics, and every request conforms to its documentation.
    WellFormed,
}

/// An invariant that did not hold.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) invariant: Invariant,
    pub(crate) problem: String,
}

impl Violation {
    pub(crate) fn new(invariant: Invariant, problem: impl Into<String>) -> Self {
        Self {
            invariant,
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.invariant, self.problem)
    }
}

/// All that is known at the end of a plan.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) run: &'a str,
    pub(crate) said: Vec<&'a Said>,
    pub(crate) posts: Vec<Post>,
    pub(crate) history: Vec<Post>,
    pub(crate) prompts: Vec<String>,
    pub(crate) nonces: HashMap<Token, Vec<String>>,
    pub(crate) graph: Graph,
    pub(crate) model_quotes: bool,
    /// A disk was full, so not everything could be written.
    pub(crate) was_disk_full: bool,
}

impl Evidence<'_> {
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        found.extend(self.answered_twice());
        found.extend(self.leaks());
        found.extend(self.chains());
        found.extend(self.kept());
        found.extend(self.remains());
        found
    }

    /// Returns every word that identifies something gone.
    pub(crate) fn gone_words(&self) -> Vec<String> {
        let gone = self.said.iter();
        let gone = gone.filter(|said| said.fate == ExpectedMessageState::Gone && !said.is_unsure);
        gone.flat_map(|said| self.words(said)).collect()
    }

    /// Returns the words of a message and its answers. If answers quote earlier words, those from
    /// before an edit stay in the answers of that time.
    fn words(&self, said: &Said) -> Vec<String> {
        let mut tokens = said.tokens(self.run);
        if self.model_quotes {
            tokens.drain(..tokens.len() - 1);
        }
        let nonces = tokens.iter().filter_map(|token| self.nonces.get(token));
        let nonces: Vec<String> = nonces.flatten().cloned().collect();
        let tokens = tokens.iter().map(ToString::to_string);
        tokens.chain(nonces).collect()
    }

    /// Finds versions of a question for which two answers of the model were shown. An answer that
    /// repeats something forgotten or edited just when it is shown is replaced by a new one. Where
    /// answers grow, only messages that exist at the end count: a beginning may be removed before
    /// it repeats anything.
    fn answered_twice(&self) -> Vec<Violation> {
        let mut shown: BTreeMap<(String, String, Token), BTreeSet<String>> = BTreeMap::new();
        let whole = self.history.iter().filter(|it| it.grows_in.is_none());
        let standing = self.posts.iter().filter(|it| it.grows_in.is_some());
        for post in whole.chain(standing) {
            let said = tokens(&post.text);
            let mut repeats = said.iter().skip(1);
            let is_outdated = repeats.any(|token| self.is_outdated(token));
            if let (Some(nonce), Some(token), false) =
                (nonce_of(&post.text), said.first(), is_outdated)
            {
                let of = (post.channel.clone(), post.question.clone(), token.clone());
                let answer = post.grows_in.clone().unwrap_or(nonce);
                shown.entry(of).or_default().insert(answer);
            }
        }
        let twice = shown.into_iter().filter(|(_, answers)| answers.len() > 1);
        twice
            .filter(|((_, _, token), _)| !self.is_unsure(token))
            .map(|((channel, question, _), answers)| {
                let problem = format!("{channel} {question} was answered as {answers:?}");
                Violation::new(Invariant::AnsweredOnce, problem)
            })
            .collect()
    }

    /// Whether it was forgotten, or says something else now.
    fn is_outdated(&self, token: &Token) -> bool {
        let mut said = self.said.iter();
        said.any(|said| {
            said.channel == token.channel
                && said.number == token.number
                && (said.fate == ExpectedMessageState::Gone || said.version != token.version)
        })
    }

    fn is_unsure(&self, token: &Token) -> bool {
        let mut said = self.said.iter();
        said.any(|said| {
            said.channel == token.channel
                && said.number == token.number
                && (said.is_unsure || said.may_be_stopped)
        })
    }

    fn leaks(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        let mut leak = |problem| found.push(Violation::new(Invariant::OwnAudience, problem));
        for prompt in &self.prompts {
            let channels: BTreeSet<usize> = tokens(prompt).iter().map(|it| it.channel).collect();
            if channels.len() > 1 {
                leak(format!(
                    "a prompt has words of the channels {channels:?}: {prompt}"
                ));
            }
        }
        let name = |channel| SimulatedPerson::name_of(self.run, channel);
        for post in &self.history {
            let foreign = tokens(&post.text).into_iter();
            for token in foreign.filter(|token| name(token.channel) != post.channel) {
                leak(format!(
                    "{} was answered {:?}, of {token}",
                    post.channel, post.text
                ));
            }
        }
        for turn in &self.graph.turns {
            let said = [&turn.input, &turn.output].map(|text| tokens(text));
            for token in said.into_iter().flatten() {
                if !turn.event.contains(&name(token.channel)) {
                    leak(format!("{} is kept with {token}", turn.event));
                }
            }
            if !turn.event.starts_with(&format!("{}/", turn.audience)) {
                leak(format!("{} is kept for {}", turn.event, turn.audience));
            }
        }
        found
    }

    fn chains(&self) -> Vec<Violation> {
        let sessions = self.graph.sessions.iter();
        sessions
            .filter_map(|(node, id)| {
                let problem = self.chain(node)?;
                Some(Violation::new(
                    Invariant::OneChain,
                    format!("{id}: {problem}"),
                ))
            })
            .collect()
    }

    /// Describes what is wrong with the chain of a conversation.
    fn chain(&self, session: &str) -> Option<String> {
        let all: BTreeSet<&str> = self.graph.from("HAS_RESPONSE", session).collect();
        let last: Vec<&str> = self.graph.from("LAST_RESPONSE", session).collect();
        let is_last_right = last.len() == usize::from(!all.is_empty());
        if !is_last_right {
            return Some(format!(
                "{} turns, and {} of them are the last",
                all.len(),
                last.len()
            ));
        }
        let mut before: HashMap<&str, Vec<&str>> = HashMap::new();
        for (kind, from, to) in &self.graph.relationships {
            if kind == "NEXT" && (all.contains(from.as_str()) || all.contains(to.as_str())) {
                before.entry(to).or_default().push(from);
            }
        }
        let mut seen = BTreeSet::new();
        let mut at = last.first().copied();
        while let Some(turn) = at {
            if !seen.insert(turn) {
                return Some("its chain is a circle".to_owned());
            }
            let earlier = before.get(turn).map_or(&[][..], Vec::as_slice);
            if earlier.len() > 1 {
                return Some(format!("{} turns come before one", earlier.len()));
            }
            at = earlier.first().copied();
        }
        (seen != all).then(|| {
            format!(
                "{} turns, and {} of them in the chain",
                all.len(),
                seen.len()
            )
        })
    }

    fn kept(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        let mut unlike = |problem| found.push(Violation::new(Invariant::KeptOnce, problem));
        let mut by_event: BTreeMap<&str, usize> = BTreeMap::new();
        for turn in &self.graph.turns {
            *by_event.entry(&turn.event).or_default() += 1;
        }
        for (event, times) in by_event.into_iter().filter(|(_, times)| *times > 1) {
            unlike(format!("{event} is kept {times} times"));
        }
        for said in self
            .said
            .iter()
            .filter(|said| said.fate == ExpectedMessageState::Live && !said.is_unsure)
        {
            let channel = SimulatedPerson::name_of(self.run, said.channel);
            let shown = self.posts.iter();
            let mut shown =
                shown.filter(|post| post.channel == channel && post.question == said.id());
            let Some(post) = shown.next() else { continue };
            let event = format!("webhook/{channel}/{}", said.id());
            let kept = self.graph.turns.iter().find(|turn| turn.event == event);
            let was_told = self.was_disk_full && post.text.contains("could not be saved anywhere");
            match (kept, nonce_of(&post.text)) {
                (None, _) if was_told || (said.may_be_stopped && post.text == STOPPED) => {}
                (None, _) => unlike(format!(
                    "{event} was answered {:?}, and is not kept",
                    post.text
                )),
                (Some(turn), Some(nonce)) if !turn.output.contains(&nonce) => {
                    unlike(format!(
                        "{event} was answered {:?}, and {:?} is kept",
                        post.text, turn.output
                    ));
                }
                (Some(_), Some(_) | None) => {}
            }
        }
        for event in &self.graph.pending {
            unlike(format!("{event} was answered, and is still pending"));
        }
        found
    }

    /// Finds what is gone and still exists, except in files.
    fn remains(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for said in self
            .said
            .iter()
            .filter(|said| said.fate == ExpectedMessageState::Gone && !said.is_unsure)
        {
            let words = self.words(said);
            let mut remains = |place: &str, text: &str| {
                if let Some(word) = words.iter().find(|word| text.contains(word.as_str())) {
                    let problem = format!("{word} is gone, and in {place}: {}", around(text, word));
                    found.push(Violation::new(Invariant::Forgotten, problem));
                }
            };
            remains("the graph", &self.graph.text);
            for post in &self.posts {
                remains("what the bot said", &post.text);
            }
            for prompt in self
                .prompts
                .iter()
                .skip(said.gone_since.unwrap_or(usize::MAX))
            {
                remains("a prompt", prompt);
            }
        }
        found
    }
}

/// Returns the text around a word.
fn around(text: &str, word: &str) -> String {
    let at = text.find(word).unwrap_or_default();
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    text[line..end].chars().take(1500).collect()
}

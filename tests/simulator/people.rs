//! The people: each follows the plan in one channel, and records the results.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::check::{Invariant, Violation};
use crate::desk::{PlatformDesk, Post, ProcessAddress};
use crate::faults::FullDisks;
use crate::model::Model;
use crate::plan::Step;
use crate::words::{Token, nonce_of, tokens};

/// Longer than any retry here, however busy the machine is.
const TO_SETTLE: Duration = Duration::from_secs(150);

/// How often a command is repeated whose answer may be lost, and the interval.
const GIVEN_AT_MOST: usize = 5;
const TO_GIVE_AGAIN: Duration = Duration::from_secs(20);

/// The text of an answer that somebody stopped.
pub(crate) const STOPPED: &str = "(stopped)";

/// The expected outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedMessageState {
    /// It has to be answered, and kept.
    Live,
    /// Its person deleted it, or had it forgotten.
    Gone,
}

/// A question.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) channel: usize,
    pub(crate) conversation: u64,
    pub(crate) number: u64,
    /// The latest version.
    pub(crate) version: u64,
    /// When it was asked.
    pub(crate) sent_at: DateTime<Utc>,
    pub(crate) fate: ExpectedMessageState,
    /// The prompt from which on it must not appear any more.
    pub(crate) gone_since: Option<usize>,
    /// Its removal can be seen at the desk: its answer was there when it was deleted, and no kill
    /// comes between that and the graph.
    pub(crate) is_seen_to_go: bool,
    /// Somebody stopped an answer in its conversation.
    pub(crate) may_be_stopped: bool,
    /// It was accepted, changed or answered while a disk was full: the bot then says that it keeps
    /// nothing.
    pub(crate) is_unsure: bool,
}

impl Said {
    pub(crate) fn id(&self) -> String {
        format!("m{}", self.number)
    }

    pub(crate) fn tokens(&self, run: &str) -> Vec<Token> {
        let versions = 0..=self.version;
        versions.map(|version| self.token(run, version)).collect()
    }

    pub(crate) fn token(&self, run: &str, version: u64) -> Token {
        Token {
            run: run.to_owned(),
            channel: self.channel,
            number: self.number,
            version,
        }
    }
}

/// State shared by all people.
#[derive(Clone)]
pub(crate) struct Around {
    pub(crate) run: String,
    pub(crate) desk: Arc<PlatformDesk>,
    pub(crate) model: Arc<Model>,
    pub(crate) doors: Vec<Arc<ProcessAddress>>,
    /// Steps of all channels so far.
    pub(crate) steps: watch::Sender<usize>,
    pub(crate) full_disks: Arc<FullDisks>,
    pub(crate) window_turns: usize,
    /// Whether a process is killed, or told to end, at some time.
    pub(crate) kills: bool,
    /// Whether the graph fails at some time.
    pub(crate) graph_fails: bool,
}

/// The person of a channel.
pub(crate) struct SimulatedPerson {
    around: Around,
    channel: usize,
    pub(crate) said: Vec<Said>,
    /// Commands by id, and whether each is certainly kept.
    pub(crate) commands: Vec<(String, bool)>,
}

impl SimulatedPerson {
    pub(crate) fn new(around: Around, channel: usize) -> Self {
        Self {
            around,
            channel,
            said: Vec::new(),
            commands: Vec::new(),
        }
    }

    pub(crate) fn name_of(run: &str, channel: usize) -> String {
        format!("{run}-{channel}")
    }

    fn name(&self) -> String {
        Self::name_of(&self.around.run, self.channel)
    }

    pub(crate) async fn acts(&mut self, steps: &[Step]) -> Result<(), Violation> {
        for (at, step) in steps.iter().enumerate() {
            let full_until = self.around.full_disks.ended();
            let done = self.does(*step).await;
            // A repeated message may have been accepted by a process with a full disk.
            if self.around.full_disks.were_any_since(full_until) {
                self.is_unsure_of(&step.changes());
            }
            // Steps that will not happen any more must not be waited for.
            let by = if done.is_ok() { 1 } else { steps.len() - at };
            self.around.steps.send_modify(|steps| *steps += by);
            done?;
        }
        Ok(())
    }

    async fn does(&mut self, step: Step) -> Result<(), Violation> {
        match step {
            Step::Ask {
                number,
                conversation,
            } => {
                let body = self.asks(number, conversation);
                self.posts(&body, number).await
            }
            Step::AskTwice {
                number,
                conversation,
            } => {
                let body = self.asks(number, conversation);
                let (one, other) = tokio::join!(
                    self.posts(&body, number),
                    self.posts(&body, number.wrapping_add(1))
                );
                one.and(other)
            }
            Step::AskBoth { first, second } => {
                let (one, other) = (self.asks(first, 0), self.asks(second, 1));
                let (one, other) =
                    tokio::join!(self.posts(&one, first), self.posts(&other, second));
                one.and(other)
            }
            Step::Edit { number } => self.edits(number).await,
            Step::Delete { number } => self.deletes(number).await,
            Step::Redeliver { number } => {
                let Some(said) = self.of_number(number) else {
                    return Ok(());
                };
                let (token, conversation) = (said.token(&self.around.run, 0), said.conversation);
                let mut body = self.question(number, conversation, &token);
                body["sent_at"] = json!(said.sent_at);
                self.posts(&body, number.wrapping_add(1)).await
            }
            Step::Stop { conversation } => self.stops(conversation).await,
            Step::ForgetLast { conversation } => self.forgets_last(conversation).await,
            Step::ForgetConversation { conversation } => {
                let command = "/forget conversation";
                self.forgets(conversation, command, |said| {
                    said.conversation == conversation
                })
                .await
            }
            Step::ForgetMe => self.forgets(0, "/forget me yes", |_| true).await,
            Step::Why { conversation } => self.commands(conversation, "/why").await.map(drop),
            Step::History { conversation } => {
                self.commands(conversation, "/history").await.map(drop)
            }
            Step::Settle => self.settles().await,
            Step::Wait { ms } => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok(())
            }
        }
    }

    fn of_number(&self, number: u64) -> Option<&Said> {
        self.said.iter().find(|said| said.number == number)
    }

    fn is_unsure(&self) -> bool {
        self.around.full_disks.are_any()
    }

    fn body(&self, id: &str, conversation: u64) -> Value {
        let channel = self.name();
        json!({
            "id": id, "channel": channel, "conversation": format!("c{conversation}"),
            "author": { "id": format!("ann-{channel}"), "name": "Ann", "is_admin": true },
            "sent_at": Utc::now(),
        })
    }

    fn question(&self, number: u64, conversation: u64, token: &Token) -> Value {
        let mut body = self.body(&format!("m{number}"), conversation);
        body["text"] = json!(format!("The berth {token} is free on which day?"));
        body
    }

    async fn posts(&self, body: &Value, first: u64) -> Result<(), Violation> {
        let first = usize::try_from(first).unwrap_or_default();
        let posted = self.around.desk.says(&self.around.doors, first, body).await;
        posted.map_err(|problem| Violation::new(Invariant::Accepted, problem))
    }

    /// Records a question, and returns it.
    fn asks(&mut self, number: u64, conversation: u64) -> Value {
        let said = Said {
            channel: self.channel,
            conversation,
            number,
            version: 0,
            sent_at: Utc::now(),
            fate: ExpectedMessageState::Live,
            gone_since: None,
            is_seen_to_go: false,
            may_be_stopped: false,
            is_unsure: false,
        };
        let mut body = self.question(number, conversation, &said.token(&self.around.run, 0));
        body["sent_at"] = json!(said.sent_at);
        self.said.push(said);
        body
    }

    async fn edits(&mut self, number: u64) -> Result<(), Violation> {
        let run = self.around.run.clone();
        let mut said = self.said.iter_mut();
        let Some(said) =
            said.find(|said| said.number == number && said.fate == ExpectedMessageState::Live)
        else {
            return Ok(());
        };
        said.version += 1;
        let (token, conversation) = (said.token(&run, said.version), said.conversation);
        let mut body = self.question(number, conversation, &token);
        body["id"] = json!(format!("m{number}e{}", token.version));
        body["type"] = json!("edit");
        body["of"] = json!(format!("m{number}"));
        self.posts(&body, number).await
    }

    async fn deletes(&mut self, number: u64) -> Result<(), Violation> {
        let stands = self.around.desk.answer(&self.name(), &format!("m{number}"));
        let is_seen_to_go = stands.is_some() && !self.around.kills;
        let mut said = self.said.iter_mut();
        let Some(said) =
            said.find(|said| said.number == number && said.fate == ExpectedMessageState::Live)
        else {
            return Ok(());
        };
        said.fate = ExpectedMessageState::Gone;
        said.is_seen_to_go = is_seen_to_go;
        let conversation = said.conversation;
        let mut body = self.body(&format!("m{number}d"), conversation);
        body["type"] = json!("deletion");
        body["of"] = json!(format!("m{number}"));
        self.posts(&body, number).await
    }

    async fn stops(&mut self, conversation: u64) -> Result<(), Violation> {
        for said in &mut self.said {
            said.may_be_stopped |= said.conversation == conversation;
        }
        let id = format!("s{}", self.commands.len());
        let mut body = self.body(&id, conversation);
        body["type"] = json!("stop");
        // A stop concerns the turn in flight and is not waited for.
        self.posts(&body, conversation).await
    }

    /// Gives a command; returns its id.
    async fn commands(&mut self, conversation: u64, command: &str) -> Result<String, Violation> {
        let id = format!("o{}", self.commands.len());
        let full_until = self.around.full_disks.ended();
        let mut body = self.body(&id, conversation);
        body["text"] = json!(command);
        self.posts(&body, conversation).await?;
        let is_sure =
            !self.around.desk.may_lose_told() && !self.around.full_disks.were_any_since(full_until);
        self.commands.push((id.clone(), is_sure));
        Ok(id)
    }

    async fn forgets_last(&mut self, conversation: u64) -> Result<(), Violation> {
        // The last question is only known when no turn is in flight.
        self.settles().await?;
        let before = self.shown();
        let unclear = self.unclear_last(conversation);
        let id = self.commands(conversation, "/forget last").await?;
        self.answered(&id).await?;
        let told = self.around.desk.answer(&self.name(), &id);
        if !told.is_some_and(|told| told.starts_with("Forgotten")) {
            return Ok(());
        }
        if let Some(unclear) = unclear {
            // Answers that repeat it are removed with it.
            let all = self.said.iter().map(|said| said.number);
            let repeats = |number: &u64| self.quotes_one_of(*number, &unclear);
            let repeating: Vec<u64> = all.filter(repeats).collect();
            self.is_unsure_of(&[unclear, repeating].concat());
            return self.settles().await;
        }
        // Answers that repeat it elsewhere may be removed first.
        let is_here = |said: &&Said| said.conversation == conversation;
        let here = self.said.iter().filter(is_here).map(|said| said.number);
        let here: Vec<u64> = here.filter(|number| before.contains(number)).collect();
        let is_gone = || {
            // An edit may be answered meanwhile: more may be shown than before.
            let shown = self.shown();
            before.iter().any(|it| !shown.contains(it))
                && (here.is_empty() || here.iter().any(|it| !shown.contains(it)))
        };
        if !waits(TO_SETTLE, is_gone).await && !self.is_unsure() {
            let problem = format!("after {id} each answer of {} still stands", self.name());
            return Err(Violation::new(Invariant::Forgotten, problem));
        }
        let after = self.shown();
        let gone: Vec<u64> = before
            .into_iter()
            .filter(|it| !after.contains(it))
            .collect();
        let earlier = self
            .said
            .iter()
            .filter(|said| said.fate == ExpectedMessageState::Gone);
        let others: Vec<u64> = earlier
            .map(|said| said.number)
            .chain(gone.clone())
            .collect();
        // What repeats an earlier version was emptied at the edit and stayed at the desk. It goes
        // with anything that it may have repeated.
        let (emptied, gone): (Vec<u64>, Vec<u64>) = gone
            .into_iter()
            .partition(|it| self.repeats_what_was_edited(&format!("m{it}")));
        let mut by_itself = gone.iter().filter(|it| !self.quotes_one_of(**it, &others));
        let last = by_itself.next().copied();
        self.is_unsure_of(&emptied);
        if last.is_none() {
            // Each of these answers may have been removed with what it repeats, and nothing tells
            // which question was forgotten itself.
            self.is_unsure_of(&gone);
        }
        let since = self.prompts_until_now();
        for said in self
            .said
            .iter_mut()
            .filter(|said| Some(said.number) == last)
        {
            said.fate = ExpectedMessageState::Gone;
            said.gone_since = since;
        }
        self.settles().await
    }

    /// Records that the outcome of these questions is unknown.
    fn is_unsure_of(&mut self, numbers: &[u64]) {
        let unsure = self.said.iter_mut();
        let unsure = unsure.filter(|said| numbers.contains(&said.number));
        unsure.for_each(|said| said.is_unsure = true);
    }

    /// Whether the answers to this ever had one of the words.
    fn ever_said(&self, history: &[Post], id: &str, words: &[String]) -> bool {
        let name = self.name();
        let mut its = history
            .iter()
            .filter(|post| post.channel == name && post.question == id);
        its.any(|post| words.iter().any(|word| post.text.contains(word)))
    }

    /// Whether an answer ever had a word of another question from before that was edited.
    fn repeats_what_was_edited(&self, id: &str) -> bool {
        let others = self.said.iter().filter(|said| said.id() != id);
        let earlier = |said: &Said| {
            let mut tokens = said.tokens(&self.around.run);
            tokens.pop();
            tokens
        };
        let words: Vec<String> = others
            .flat_map(earlier)
            .map(|token| token.to_string())
            .collect();
        self.ever_said(&self.around.desk.history(), id, &words)
    }

    /// Whether an answer ever had a word of another of these questions: then it is removed with
    /// that one.
    fn quotes_one_of(&self, number: u64, others: &[u64]) -> bool {
        let run = &self.around.run;
        let others = self
            .said
            .iter()
            .filter(|said| said.number != number && others.contains(&said.number));
        let words: Vec<String> = others
            .flat_map(|said| said.tokens(run))
            .map(|it| it.to_string())
            .collect();
        self.ever_said(&self.around.desk.history(), &format!("m{number}"), &words)
    }

    /// Returns the questions that may be forgotten as the last one of a conversation, if that
    /// cannot be seen. This happens when some answers are not shown, because they were removed with
    /// what they repeated, or only say that they were stopped, and then nothing was kept. It also
    /// happens when a question was deleted before the answer to its latest version was shown: that
    /// may still be in flight, and be the last. And it happens while a disk is full: what was answered then may be kept
    /// nowhere, and what was deleted then may still be kept.
    fn unclear_last(&self, conversation: u64) -> Option<Vec<u64>> {
        let live = || {
            self.said
                .iter()
                .filter(|said| said.fate == ExpectedMessageState::Live)
        };
        let here = || live().filter(|said| said.conversation == conversation);
        let is_told = |said: &Said| {
            let answer = self.around.desk.answer(&self.name(), &said.id());
            answer.is_some_and(|text| text != STOPPED)
        };
        // Without questions in the conversation, the last one of the channel is meant.
        let is_clear = match here().next() {
            Some(_) => here().all(is_told),
            None => live().all(is_told),
        };
        let history = self.around.desk.history();
        let was_shown = |said: &Said| {
            let newest = said.token(&self.around.run, said.version).to_string();
            let mut shown = history.iter();
            shown.any(|post| {
                // A stopped question is answered when the platform delivers it again.
                let is_its = post.channel == self.name()
                    && post.question == said.id()
                    && post.text != STOPPED;
                is_its && (said.version == 0 || post.text.contains(&newest))
            })
        };
        let may_come = |said: &Said| said.fate == ExpectedMessageState::Gone && !was_shown(said);
        // The edit of a stopped question may be processed just now, while its answer is gone for a
        // moment.
        let is_quiet = self.prompts_until_now().is_some();
        let is_unsure = self.said.iter().any(|said| said.is_unsure);
        match is_quiet && is_clear && !is_unsure && !self.said.iter().any(may_come) {
            true => None,
            false => Some(live().map(|said| said.number).collect()),
        }
    }

    /// Returns the live questions with a shown answer.
    fn shown(&self) -> Vec<u64> {
        let is_shown = |said: &&Said| {
            said.fate == ExpectedMessageState::Live
                && self.around.desk.answer(&self.name(), &said.id()).is_some()
        };
        self.said
            .iter()
            .filter(is_shown)
            .map(|said| said.number)
            .collect()
    }

    async fn forgets(
        &mut self,
        conversation: u64,
        command: &str,
        what: impl Fn(&Said) -> bool,
    ) -> Result<(), Violation> {
        self.settles().await?;
        if !self.is_told_forgotten(conversation, command).await? {
            return Ok(());
        }
        let (since, is_unsure) = (self.prompts_until_now(), self.is_unsure());
        let (desk, name) = (Arc::clone(&self.around.desk), self.name());
        // Nothing of it was kept, so it counts as new when it is sent again.
        let was_stopped = |said: &Said| {
            desk.answer(&name, &said.id())
                .is_some_and(|it| it == STOPPED)
        };
        for said in &mut self.said {
            if what(said) && said.fate == ExpectedMessageState::Live {
                said.fate = ExpectedMessageState::Gone;
                said.is_unsure |= is_unsure || was_stopped(said);
                said.gone_since = since;
            }
        }
        self.settles().await
    }

    /// Gives a command that forgets, and returns whether success was reported. If the answer may be
    /// lost, the command is repeated.
    async fn is_told_forgotten(
        &mut self,
        conversation: u64,
        command: &str,
    ) -> Result<bool, Violation> {
        let says_so = |told: &String| told.starts_with("Forgotten") || told.starts_with("I forgot");
        let desk = Arc::clone(&self.around.desk);
        if desk.may_lose_told() {
            for _ in 0..GIVEN_AT_MOST {
                let id = self.commands(conversation, command).await?;
                let name = self.name();
                let is_told = || desk.told(&name, &id).iter().any(says_so);
                if waits(TO_GIVE_AGAIN, is_told).await {
                    return Ok(true);
                }
            }
        }
        let id = self.commands(conversation, command).await?;
        self.answered(&id).await?;
        Ok(desk.told(&self.name(), &id).iter().any(says_so))
    }

    /// Returns the number of prompts when no turn is in flight any more. `None`: a stopped and
    /// edited question may still be answered, and its prompt may contain what is gone now.
    fn prompts_until_now(&self) -> Option<usize> {
        let has_ended = |said: &Said| {
            let newest = said.token(&self.around.run, said.version).to_string();
            let answer = self.around.desk.answer(&self.name(), &said.id());
            answer.is_some_and(|text| {
                text.contains(&newest) || (text == STOPPED && said.version == 0)
            })
        };
        let live = self
            .said
            .iter()
            .filter(|said| said.fate == ExpectedMessageState::Live);
        // Questions that may have left the window are not waited for, although they may still be
        // answered again.
        let is_edited = |said: &Said| self.around.window_turns < 50 && said.version > 0;
        live.filter(|said| said.may_be_stopped || is_edited(said))
            .all(has_ended)
            .then(|| self.around.model.prompts_so_far())
    }

    async fn answered(&self, id: &str) -> Result<(), Violation> {
        let name = self.name();
        let is_there = || !self.around.desk.told(&name, id).is_empty();
        if waits(TO_SETTLE, is_there).await || self.is_unsure() {
            return Ok(());
        }
        let problem = format!("{name} {id} has no answer");
        Err(Violation::new(Invariant::Answered, problem))
    }

    /// Returns when everything is as expected.
    pub(crate) async fn settles(&mut self) -> Result<(), Violation> {
        if !waits(TO_SETTLE, || self.unsettled().is_none()).await
            && let Some(violation) = self.unsettled()
        {
            return Err(violation);
        }
        let since = self.prompts_until_now();
        for said in &mut self.said {
            if said.fate == ExpectedMessageState::Gone
                && said.gone_since.is_none()
                && said.is_seen_to_go
            {
                said.gone_since = since;
            }
        }
        Ok(())
    }

    /// Returns something that is not yet as expected.
    fn unsettled(&self) -> Option<Violation> {
        let posts = self.around.desk.posts();
        let name = self.name();
        let answer = |id: &str| {
            let mut posts = posts.iter();
            posts.find(|post| post.channel == name && post.question == id)
        };
        let unlike = |invariant, problem| Some(Violation::new(invariant, problem));
        for said in self.said.iter().filter(|said| !said.is_unsure) {
            let id = said.id();
            match (said.fate, answer(&id)) {
                // A notice contains nothing of it.
                (ExpectedMessageState::Gone, Some(post)) if post.text != STOPPED => {
                    let problem = format!("{name} {id} is gone, and {:?} stands there", post.text);
                    return unlike(Invariant::Forgotten, problem);
                }
                (ExpectedMessageState::Live, None) if !self.quoted_what_is_gone(&id) => {
                    return unlike(Invariant::Answered, format!("{name} {id} has no answer"));
                }
                (ExpectedMessageState::Live, Some(post)) if self.is_outdated(said, &post.text) => {
                    let problem = format!(
                        "{name} {id} was edited {} times, and {:?} stands there",
                        said.version, post.text
                    );
                    return unlike(Invariant::Answered, problem);
                }
                (ExpectedMessageState::Live | ExpectedMessageState::Gone, Some(_) | None) => {}
            }
        }
        for (id, _) in self.commands.iter().filter(|(_, is_sure)| *is_sure) {
            if answer(id).is_none() && !self.quoted_what_is_gone(id) {
                return unlike(Invariant::Answered, format!("{name} {id} has no answer"));
            }
        }
        None
    }

    /// Whether an answer belongs to an earlier version of its question.
    fn is_outdated(&self, said: &Said, text: &str) -> bool {
        let newest = said.token(&self.around.run, said.version).to_string();
        // Questions outside the window are not answered again, nor are stopped ones.
        let is_followed = self.around.window_turns >= 50 && !said.may_be_stopped;
        is_followed && nonce_of(text).is_some() && !text.contains(&newest)
    }

    /// Whether the model was given one of these words for the answer to this. Whether an answer that waited for the graph
    /// repeats what was forgotten meanwhile cannot be told any more, so it is removed too.
    fn was_given(&self, id: &str, words: &[String]) -> bool {
        let run = &self.around.run;
        let Some(said) = self.said.iter().find(|said| said.id() == id) else {
            return false;
        };
        let own = said.tokens(run);
        let prompts = self.around.model.prompts();
        let mut its = prompts.iter().filter(|prompt| {
            let last = tokens(prompt).pop();
            last.is_some_and(|last| own.contains(&last))
        });
        its.any(|prompt| words.iter().any(|word| prompt.contains(word)))
    }

    /// Whether the answers to this ever had a word of something that is, or may be, gone, or listed
    /// an answer with one: then they are removed too.
    fn quoted_what_is_gone(&self, id: &str) -> bool {
        let run = &self.around.run;
        let words = |said: &Said| said.tokens(run).into_iter().map(|token| token.to_string());
        let is_gone = |said: &&Said| said.fate == ExpectedMessageState::Gone || said.is_unsure;
        let gone = self.said.iter().filter(is_gone);
        let gone: Vec<String> = gone.flat_map(words).collect();
        let history = self.around.desk.history();
        let had = |id: &str, words: &[String]| self.ever_said(&history, id, words);
        let may_have_had = !gone.is_empty() && self.repeats_what_was_edited(id);
        if had(id, &gone) || may_have_had || (self.around.graph_fails && self.was_given(id, &gone))
        {
            return true;
        }
        let is_listing = self.commands.iter().any(|(command, _)| command == id);
        // A listing may be from before what it shows was answered again, and show what that had repeated.
        let edited = self.said.iter().filter(|said| said.version > 0);
        let shows_edited = had(id, &edited.flat_map(words).collect::<Vec<_>>());
        if is_listing && !gone.is_empty() && shows_edited {
            return true;
        }
        let emptied = self.said.iter().filter(|said| had(&said.id(), &gone));
        is_listing && had(id, &emptied.flat_map(words).collect::<Vec<_>>())
    }
}

/// Waits until a condition holds; returns whether it did in time.
pub(crate) async fn waits(most: Duration, holds: impl Fn() -> bool) -> bool {
    let waited = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    };
    tokio::time::timeout(most, waited).await.is_ok()
}

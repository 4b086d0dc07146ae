//! What the bot answers about itself: `help`, `history`, `why`, `usage`, `forget`.

mod export_mine;
mod forget_me;
mod items;
mod link;
mod once;
mod proposed;
mod remember;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use muninn_platform::{
    Attention, ChannelMemory, Channels, Command, ConversationId, ForgetWhat, IncomingMessage,
    Language, MessageId, Reply, Scope, ShownItem, Vocabulary, Withdraw, excerpt,
};
use muninn_texts::{Text, Value, text};

pub use self::export_mine::Exports;
pub use self::items::{WhichItem, shown_item};
use self::once::CommandOutcome;
pub use self::proposed::Agreed;
use crate::agent::budget::Budgets;
use crate::conversation::attention::Listening;
use crate::conversation::audit::{Action, Audit};
use crate::conversation::catch_up::CatchUp;
use crate::conversation::explain::explain;
use crate::conversation::hearing::HearingRules;
use crate::conversation::notice::Notice;
use crate::conversation::people::People;
use crate::conversation::withdrawals::{
    PlannedWithdrawals, ToWithdraw, WithdrawalOutcome, Withdrawals,
};
use crate::graph::answers::{Spent, WhichResponse, WhichSessions};
use crate::graph::items::AsRead;
use crate::graph::session::{SessionGuard, Sessions};
use crate::graph::{Forget, Forgotten, ResponseId, StoreError, Turn};
use crate::llm::Money;
use crate::memory::{Archive, Recaller};

/// Turns that `history` shows.
const HISTORY: usize = 20;
/// Turns that are looked through for somebody's last one.
const LOOK_BACK: usize = 64;

/// What can be asked, in the words of a platform.
fn help(vocabulary: &Vocabulary) -> Text {
    let Vocabulary {
        channel,
        conversation,
        has_slash_commands,
        ..
    } = *vocabulary;
    if has_slash_commands {
        text!("help-slash")
    } else {
        text!("help", channel, conversation)
    }
}

/// Runs commands.
#[derive(Debug)]
pub struct Commands {
    pub archive: Arc<Archive>,
    pub recaller: Arc<Recaller>,
    pub withdrawals: Arc<Withdrawals>,
    pub budgets: Arc<Budgets>,
    pub listening: Arc<Listening>,
    pub hearing: Arc<HearingRules>,
    /// What is set for them; their language, for one.
    pub channels: Arc<Channels>,
    pub catch_up: CatchUp,
    pub audit: Audit,
    pub people: Arc<People>,
    pub exports: Exports,
}

/// Where a command is given: what things are called there, and what takes the bot's messages away.
pub struct CommandContext {
    pub vocabulary: &'static Vocabulary,
    pub withdraw: Arc<dyn Withdraw>,
}

impl std::fmt::Debug for CommandContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandContext").finish_non_exhaustive()
    }
}

impl CommandContext {
    pub fn of(reply: &dyn Reply) -> Self {
        Self {
            vocabulary: reply.vocabulary(),
            withdraw: reply.withdrawer(),
        }
    }
}

/// What a command says.
#[derive(Debug)]
pub struct CommandAnswer {
    pub text: String,
    /// The answers that it shows something of.
    pub shows: Vec<AsRead>,
    /// What of it can be forgotten or corrected by itself.
    pub items: Vec<ShownItem>,
}

impl From<String> for CommandAnswer {
    fn from(text: String) -> Self {
        Self {
            text,
            shows: Vec::new(),
            items: Vec::new(),
        }
    }
}

/// What is said of a command to everybody who sees it.
fn answering(notice: &Notice, message: &IncomingMessage) -> CommandAnswer {
    notice.in_language(message.language()).into()
}

impl Commands {
    /// Runs a command and says what came of it.
    pub async fn run(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        command: &Command,
        context: &CommandContext,
    ) -> CommandAnswer {
        let said = match command {
            Command::Help => Ok(help(context.vocabulary)
                .in_language(message.language())
                .into()),
            Command::Unknown(name) => Ok(answering(&Notice::UnknownCommand(name.clone()), message)),
            Command::History => self.history(message).await,
            Command::Why => self.why_last(message).await,
            Command::WhyOf(answer) => self.why_of(message, answer).await,
            Command::About => {
                let about = self.about(message, context.vocabulary).await;
                about.map(CommandAnswer::from)
            }
            Command::Attend(attention, scope) => {
                let set = self.attend(guard, message, *attention, *scope, context.vocabulary);
                set.await.map(|notice| answering(&notice, message))
            }
            Command::Remember(memory) => {
                let set = self.remember(message, *memory, context.vocabulary);
                set.await.map(|notice| answering(&notice, message))
            }
            Command::OffTheRecord(scope) => {
                let set = self.record(message, false, *scope, context.vocabulary);
                set.await.map(|notice| answering(&notice, message))
            }
            Command::OnTheRecord(scope) => {
                let set = self.record(message, true, *scope, context.vocabulary);
                set.await.map(|notice| answering(&notice, message))
            }
            Command::OptIn => {
                let set = self.opt_in(message, context.vocabulary);
                set.await.map(|notice| answering(&notice, message))
            }
            Command::Link(code) => {
                let linked = self.link_accounts(message, code.as_deref());
                linked.await.map(|notice| answering(&notice, message))
            }
            Command::Unlink => {
                let unlinked = self.unlink_account(message).await;
                unlinked.map(|notice| answering(&notice, message))
            }
            Command::Usage => self.usage(message).await.map(CommandAnswer::from),
            // The bot sees to these itself: they are about other sessions than the one it holds.
            Command::Again(_)
            | Command::CatchUp(_)
            | Command::Backfill(_)
            | Command::PlaceGone
            | Command::OptOut
            | Command::Note(_)
            | Command::Memory(_)
            | Command::Correct { .. }
            | Command::Shown(..)
            | Command::ExportMine
            | Command::Web
            | Command::WebSignOut
            | Command::Token(_)
            | Command::Forget(
                ForgetWhat::Last
                | ForgetWhat::Audience
                | ForgetWhat::Item(_)
                | ForgetWhat::Me { .. },
            ) => Ok(answering(&Notice::Failed, message)),
            Command::Forget(ForgetWhat::Session) => {
                let said = self.forget_session(guard, message, context).await;
                said.map(CommandAnswer::from)
            }
        };
        said.unwrap_or_else(|error| answering(&failed(&error), message))
    }

    async fn history(&self, message: &IncomingMessage) -> Result<CommandAnswer, StoreError> {
        let mut turns = self.archive.window(message, HISTORY).await?;
        turns.retain(Turn::is_answered);
        if turns.is_empty() {
            // Where answers stand in threads, people ask beside them.
            let audience = &message.audience.id;
            turns = self.archive.store().last_turns(audience, HISTORY).await?;
        }
        if turns.is_empty() {
            return Ok(answering(&Notice::NothingYet, message));
        }
        let line = |turn| in_history(turn, message.language());
        let lines: Vec<String> = turns.iter().map(line).collect();
        let silences = self.silences(message).await?;
        let lines: Vec<String> = lines.into_iter().chain(silences).collect();
        Ok(CommandAnswer {
            text: lines.join("\n"),
            shows: turns.iter().map(AsRead::from).collect(),
            items: Vec::new(),
        })
    }

    /// Of this conversation, or else of this place: where answers stand in threads, people ask
    /// beside them.
    async fn why_last(&self, message: &IncomingMessage) -> Result<CommandAnswer, StoreError> {
        let store = self.archive.store();
        let here = WhichResponse::LastIn(&message.conversation);
        let place = WhichResponse::LastOf(&message.audience.id);
        if store.find_response(here).await?.is_none()
            && let Some((session, response)) = store.find_response(place).await?
        {
            return self.why(message, &session, Some(response)).await;
        }
        let mut said = self.why(message, &message.conversation, None).await?;
        if let Some(line) = self.silences(message).await? {
            said.text = format!("{}\n{line}", said.text);
        }
        Ok(said)
    }

    /// How often the model chose to say nothing in this conversation.
    async fn silences(&self, message: &IncomingMessage) -> Result<Option<String>, StoreError> {
        let store = self.archive.store();
        let kept = store.attention(&message.conversation, &message.audience.id);
        let kept = kept.await?;
        let last = kept.last_silent_at.filter(|_| kept.silences > 0);
        Ok(last.map(|last| {
            let times = kept.silences;
            Notice::StayedSilent { times, last }.in_language(message.language())
        }))
    }

    /// Sets which messages are answered, and says what holds now.
    async fn attend(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        attention: Attention,
        scope: Scope,
        vocabulary: &'static Vocabulary,
    ) -> Result<Notice, StoreError> {
        let store = self.archive.store();
        match scope {
            Scope::Audience if !message.author.is_admin => {
                return Ok(Notice::ModeratorNeededToMute(vocabulary));
            }
            Scope::Audience => {
                let audience = &message.audience;
                store.set_audience_attention(audience, attention).await?;
            }
            Scope::Conversation if !store.set_session_attention(guard, attention).await? => {
                return Ok(Notice::NotInConversation(vocabulary));
            }
            Scope::Conversation => {}
        }
        self.listening.outdate();
        let about = match scope {
            Scope::Audience => message.audience.id.as_str(),
            Scope::Conversation => guard.session().as_str(),
        };
        let action = Action::ChangedAttention;
        self.audit.did(message, action, about, None).await;
        let kept = store.attention(guard.session(), &message.audience.id);
        Ok(Notice::Attends {
            attention,
            scope,
            still: kept.await?.attention(),
            vocabulary,
        })
    }

    async fn why_of(
        &self,
        message: &IncomingMessage,
        answer: &MessageId,
    ) -> Result<CommandAnswer, StoreError> {
        let found = self
            .archive
            .response_of_message(&message.audience.id, answer);
        match found.await? {
            Some((session, response)) => self.why(message, &session, Some(response)).await,
            None => Ok(answering(&Notice::NoSuchAnswer, message)),
        }
    }

    async fn about(
        &self,
        message: &IncomingMessage,
        vocabulary: &'static Vocabulary,
    ) -> Result<String, StoreError> {
        let memory_stats = self
            .archive
            .store()
            .memory_stats(&message.audience.id)
            .await?;
        let language = message.language();
        let remembered = match (memory_stats.turns, memory_stats.since) {
            (0, _) | (_, None) => text!("about-nothing"),
            (turns, Some(since)) => text!(
                "about-remembered",
                turns = text!("count-turns", count = turns),
                conversations = text!("count-conversations", count = memory_stats.sessions),
                since = Value::date(&since)
            ),
        };
        let (about, remembered) = (text!("about"), remembered.in_language(language));
        let heard = match self.hearing.memory(message.channel()) {
            ChannelMemory::Channel => {
                let notice = Notice::HearsEverybody(vocabulary);
                format!("\n\n{}", notice.in_language(message.language()))
            }
            ChannelMemory::Asked => String::new(),
        };
        let (about, help) = (
            about.in_language(language),
            help(vocabulary).in_language(language),
        );
        Ok(format!("{about}\n\n{remembered}{heard}\n\n{help}"))
    }

    async fn why(
        &self,
        message: &IncomingMessage,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<CommandAnswer, StoreError> {
        let explained = self.archive.store().explain(session, response).await?;
        let Some(explained) = explained else {
            return Ok(answering(&Notice::NothingYet, message));
        };
        let mut text = explain(&explained, message.language());
        let recalled = || explained.recalled.iter().map(|(_, turn)| turn);
        if !explained.recalled.is_empty() && self.number_recalled(message, recalled()).await {
            let hint = Notice::RecalledHint.in_language(message.language());
            text = format!("{text}\n{hint}");
        }
        let items = items::shown(recalled());
        let shown = std::iter::once(&explained.turn).chain(recalled());
        let shows = shown.map(AsRead::from).collect();
        Ok(CommandAnswer { text, shows, items })
    }

    /// What was said here while the one who asks was not. The caller holds no session: a model may take long over it.
    pub async fn catch_up(&self, message: &IncomingMessage, since: Option<&str>) -> String {
        said(
            self.catch_up.tell(message, since).await,
            message.languages.person,
        )
    }

    /// Forgets the last turn of the one who asks, and says what came of it. The caller holds no
    /// session: the turn may be of another one.
    pub async fn forget_last(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> String {
        let forgotten = async {
            let about = match self.earlier(message).await? {
                Some(CommandOutcome::Said(said)) => return Ok(said),
                Some(CommandOutcome::Turn(session, response)) => Some(LastTurn {
                    session,
                    response,
                    is_waiting: false,
                }),
                Some(
                    CommandOutcome::Session(_)
                    | CommandOutcome::Sessions(_)
                    | CommandOutcome::Person { .. },
                )
                | None => self.last_of(message).await?,
            };
            let Some(LastTurn {
                session,
                response,
                is_waiting,
            }) = about
            else {
                return self
                    .have_said(
                        message,
                        Notice::NothingToForget.in_language(message.language()),
                    )
                    .await;
            };
            let outcome = CommandOutcome::Turn(session.clone(), response);
            match self.keep_outcome(message, &outcome).await {
                // What waits for the graph is forgotten without it.
                Err(error) if is_waiting && error.is_outage() => {}
                kept => kept?,
            }
            let guard = sessions.lock(&session).await;
            let (outcome, planned) = self.forget_turn(&guard, message, response, context).await;
            drop(guard);
            let visible = self.withdrawals.carry_out(planned).await;
            match outcome {
                Ok(forgotten) => {
                    let about = session.as_str();
                    let turns = Some(forgotten.turns);
                    self.audit
                        .did(message, Action::ForgotTurn, about, turns)
                        .await;
                    let quotes = forgotten.quotes;
                    let said = in_words(
                        &Notice::ForgotTurn { quotes },
                        &forgotten,
                        visible,
                        message.language(),
                    );
                    self.have_said(message, said).await
                }
                Err(error) if is_waiting && error.is_outage() => {
                    let notice = Notice::ForgotWaitingTurn;
                    Ok(in_words(
                        &notice,
                        &Forgotten::default(),
                        visible,
                        message.language(),
                    ))
                }
                Err(error) => Err(error),
            }
        };
        said(forgotten.await, message.language())
    }

    /// The last turn of the one who asks, in this conversation, or else in this place: where answers
    /// stand in threads, people ask beside them.
    async fn last_of(&self, message: &IncomingMessage) -> Result<Option<LastTurn>, StoreError> {
        let waiting = |(session, response)| LastTurn {
            session,
            response,
            is_waiting: true,
        };
        let saved = |(session, response)| LastTurn {
            session,
            response,
            is_waiting: false,
        };
        let (audience, person) = (&message.audience.id, &message.author.id);
        // What waits for the graph is newer than what is in it.
        let here = Some(&message.conversation);
        if let Some(found) = self.archive.last_waiting(audience, here, person) {
            return Ok(Some(waiting(found)));
        }
        let mut turns = self.archive.window(message, LOOK_BACK).await?;
        let in_graph = self
            .archive
            .in_graph(&message.conversation, &message.event, &turns);
        let gone = self.archive.gone(&in_graph).await?.forgotten;
        // A note is a turn of theirs, too. What a deletion is about to take is nobody's last turn.
        turns.retain(|turn| !turn.is_message() && !gone.contains(&turn.id));
        if turns.is_empty() {
            if let Some(found) = self.archive.last_waiting(audience, None, person) {
                return Ok(Some(waiting(found)));
            }
            let last = WhichResponse::LastTo(audience, person);
            let found = self.archive.store().find_response(last).await?;
            return Ok(found.map(saved));
        }
        let mine = turns.iter().rfind(|turn| turn.author == message.author.id);
        Ok(mine.map(|turn| saved((message.conversation.clone(), turn.id))))
    }

    /// Forgets one turn, wherever it is kept. What the bot said in it is still to be taken away, as planned.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn forget_turn(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turn: ResponseId,
        context: &CommandContext,
    ) -> (Result<Forgotten, StoreError>, PlannedWithdrawals) {
        let mut planned = match self
            .plan_withdrawal(guard, message, Some(turn), context)
            .await
        {
            Ok(planned) => planned,
            Err(error) => return (Err(error), PlannedWithdrawals::default()),
        };
        let here = self.forget_here(guard.session(), |waiting| waiting.id == turn);
        let here = here.await;
        let there = self.archive.store().forget(guard, Forget::Turn(turn)).await;
        if let Ok(there) = &there {
            planned.add(self.plan_emptied(there, message, context).await);
        }
        self.recaller.forget(&message.audience.id);
        (there.map(|there| together(there, here)), planned)
    }

    /// Writes down what went out of answers that were emptied, some of it since somebody looked for what is to be taken
    /// away.
    pub(super) async fn plan_emptied(
        &self,
        forgotten: &Forgotten,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> PlannedWithdrawals {
        let all = ToWithdraw::of(&message.conversation, forgotten.emptied.clone(), false);
        self.plan_on_platforms(all, message, context).await
    }

    /// Writes down what the bot said in a turn, or in all of a session, before it is forgotten. It is marked first: what
    /// shows any of it and is kept after this look is taken away by whoever shows it.
    async fn plan_withdrawal(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turn: Option<ResponseId>,
        context: &CommandContext,
    ) -> Result<PlannedWithdrawals, StoreError> {
        let (session, store) = (guard.session(), self.archive.store());
        let mut spoken = self.archive.spoken_waiting(session, turn);
        let saved = async {
            store
                .mark(session, turn.map_or(Forget::Session, Forget::Turn))
                .await?;
            store.spoken(session, turn).await
        };
        match saved.await {
            Ok(saved) => spoken.extend(saved),
            // What waits for the graph can be forgotten without it.
            Err(error) if error.is_outage() && turn.is_some() && !spoken.is_empty() => {}
            Err(error) => return Err(error),
        }
        let has_title = match turn {
            // The title is the first question.
            Some(turn) => {
                let first = store.answers_after(session, None, 1).await;
                let first = first.unwrap_or_default();
                first.first().is_none_or(|first| first.id == turn)
            }
            None => true,
        };
        let all = ToWithdraw::of(session, spoken, has_title);
        Ok(self.plan_on_platforms(all, message, context).await)
    }

    /// Writes down what is to be taken away, on whatever platform it stands.
    async fn plan_on_platforms(
        &self,
        all: Vec<ToWithdraw>,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> PlannedWithdrawals {
        let here = &message.audience.platform;
        let mut by_platform = BTreeMap::from([(here.clone(), Vec::new())]);
        for one in all {
            let platform = one.conversation.platform().to_owned();
            by_platform.entry(platform).or_default().push(one);
        }
        let mut planned = PlannedWithdrawals::default();
        for (platform, all) in by_platform {
            let withdraw = if platform == *here {
                Arc::clone(&context.withdraw)
            } else {
                self.withdrawals.of(&platform)
            };
            let more = self.withdrawals.plan_withdrawal(&platform, withdraw, all);
            planned.add(more.await);
        }
        planned
    }

    /// Forgets everything said in a place that is gone, and below it. There is nobody to be told.
    pub async fn place_gone(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        context: &CommandContext,
    ) {
        let forgotten = async {
            let store = self.archive.store();
            let place = message.conversation.as_str();
            let mut all = PlannedWithdrawals::default();
            let mut forgotten = Forgotten::default();
            for (session, audience) in store.find_sessions(WhichSessions::Under(place)).await? {
                let guard = sessions.lock(&session).await;
                let (of_session, planned) = self.forget_whole(&guard, message, context).await?;
                all.add(planned);
                forgotten = together(forgotten, of_session);
                self.recaller.forget(&audience);
            }
            self.withdrawals.carry_out(all).await;
            Ok::<_, StoreError>(forgotten.turns)
        };
        match forgotten.await {
            Ok(turns) => {
                tracing::info!(place = %message.conversation, turns, "forgotten: the place is gone");
            }
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                place = %message.conversation,
                "a place is gone, but what was said there could not be forgotten"
            ),
        }
    }

    /// Forgets everything said in an audience, one session after the other, and says what came of
    /// it. The caller holds no session, so that two who do this at once do not wait for each other.
    pub async fn forget_audience(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> String {
        let vocabulary = context.vocabulary;
        if !message.author.is_admin {
            return Notice::ModeratorNeeded(vocabulary).in_language(message.language());
        }
        let forgotten = async {
            let about = match self.outcome(message).await? {
                Some(CommandOutcome::Said(said)) => return Ok(said),
                Some(CommandOutcome::Sessions(about)) => about,
                Some(
                    CommandOutcome::Session(_)
                    | CommandOutcome::Turn(..)
                    | CommandOutcome::Person { .. },
                )
                | None => {
                    let audience = &message.audience.id;
                    let here = WhichSessions::Of(audience);
                    let found = self.archive.store().find_sessions(here).await?;
                    let mut about: Vec<_> = found.into_iter().map(|(session, _)| session).collect();
                    about.extend(self.archive.waiting_sessions(audience));
                    let outcome = CommandOutcome::Sessions(about.clone());
                    self.keep_outcome(message, &outcome).await?;
                    about
                }
            };
            let (forgotten, planned) = self
                .forget_sessions(sessions, message, about, context)
                .await?;
            let about = message.audience.id.as_str();
            let turns = Some(forgotten.turns);
            self.audit
                .did(message, Action::ForgotChannel, about, turns)
                .await;
            let visible = self.withdrawals.carry_out(planned).await;
            let notice = match forgotten.turns {
                0 => Notice::NothingYet,
                turns => Notice::ForgotAudience { turns, vocabulary },
            };
            self.have_said(
                message,
                in_words(&notice, &forgotten, visible, message.language()),
            )
            .await
        };
        said(forgotten.await, message.language())
    }

    async fn forget_sessions(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        about: Vec<ConversationId>,
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        let mut forgotten = Forgotten::default();
        let mut all = PlannedWithdrawals::default();
        for session in about {
            let guard = sessions.lock(&session).await;
            let (of_session, planned) = self.forget_whole(&guard, message, context).await?;
            all.add(planned);
            forgotten = together(forgotten, of_session);
        }
        self.recaller.forget(&message.audience.id);
        Ok((forgotten, all))
    }

    /// Forgets all of a session, in the graph and what waits for it, and plans to take away what the bot
    /// said there.
    async fn forget_whole(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        let mut planned = self.plan_withdrawal(guard, message, None, context).await?;
        let there = self.archive.store().forget(guard, Forget::Session).await?;
        planned.add(self.plan_emptied(&there, message, context).await);
        let here = self.forget_here(guard.session(), |_| true).await;
        self.listening.forget(guard.session());
        Ok((together(there, here), planned))
    }

    async fn usage(&self, message: &IncomingMessage) -> Result<String, StoreError> {
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

    async fn forget_session(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let vocabulary = context.vocabulary;
        if !message.author.is_admin && !self.all_mine(guard, message).await? {
            let notice = Notice::NotYoursToForget(vocabulary);
            return Ok(notice.in_language(message.language()));
        }
        match self.outcome(message).await? {
            Some(CommandOutcome::Said(said)) => return Ok(said),
            // The last turn is gone, so the first try took effect; what came since stays.
            Some(CommandOutcome::Session(last)) if !self.is_last(message, last).await? => {
                return self
                    .have_said(message, Notice::ForgotAll.in_language(message.language()))
                    .await;
            }
            Some(
                CommandOutcome::Session(_)
                | CommandOutcome::Sessions(_)
                | CommandOutcome::Turn(..)
                | CommandOutcome::Person { .. },
            )
            | None => {
                let window = self.archive.window(message, 1).await?;
                let last = window.last().map(|turn| turn.id);
                let outcome = CommandOutcome::Session(last);
                self.keep_outcome(message, &outcome).await?;
            }
        }
        let (forgotten, planned) = self.forget_whole(guard, message, context).await?;
        self.recaller.forget(&message.audience.id);
        let about = guard.session().as_str();
        let turns = Some(forgotten.turns);
        self.audit
            .did(message, Action::ForgotConversation, about, turns)
            .await;
        let notice = match forgotten.turns {
            0 => Notice::NothingToForget,
            turns => Notice::ForgotSession { turns, vocabulary },
        };
        let visible = self.withdrawals.carry_out(planned).await;
        self.have_said(
            message,
            in_words(&notice, &forgotten, visible, message.language()),
        )
        .await
    }

    /// Forgets what waits for the graph.
    async fn forget_here(
        &self,
        session: &ConversationId,
        gone: impl Fn(&Turn) -> bool + Send + Sync,
    ) -> Forgotten {
        let forgotten = self.archive.forget(session, gone).await;
        let (turns, is_in_file) = match forgotten {
            Ok(turns) => (turns, false),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "what was forgotten is still in the journal's file");
                (1, true)
            }
        };
        Forgotten {
            turns,
            is_in_file,
            ..Forgotten::default()
        }
    }

    /// Whether only this person talked in the session.
    async fn all_mine(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<bool, StoreError> {
        if self
            .archive
            .others_wait(guard.session(), &message.author.id)
        {
            return Ok(false);
        }
        let mut after = None;
        loop {
            let turns = self
                .archive
                .store()
                .chain(guard.session(), after, LOOK_BACK)
                .await?;
            if turns.iter().any(|turn| turn.author != message.author.id) {
                return Ok(false);
            }
            match turns.last() {
                Some(last) => after = Some(last.id),
                None => return Ok(true),
            }
        }
    }
}

/// Somebody's last turn.
struct LastTurn {
    session: ConversationId,
    response: ResponseId,
    /// It is not in the graph yet, as far as is known.
    is_waiting: bool,
}

/// What was forgotten in two places.
fn together(one: Forgotten, other: Forgotten) -> Forgotten {
    Forgotten {
        emptied: [one.emptied, other.emptied].concat(),
        turns: one.turns + other.turns,
        quotes: one.quotes + other.quotes,
        is_in_file: one.is_in_file || other.is_in_file,
    }
}

/// What was forgotten, and what could not be done of it: in the chat, and in a file.
fn in_words(
    notice: &Notice,
    forgotten: &Forgotten,
    visible: WithdrawalOutcome,
    language: Language,
) -> String {
    let mut said = notice.in_language(language);
    if visible != WithdrawalOutcome::default() {
        let visible = Notice::StillVisible(visible).in_language(language);
        said = format!("{said} {visible}");
    }
    if forgotten.is_in_file {
        let in_file = Notice::StillInFile.in_language(language);
        said = format!("{said}\n\n{in_file}");
    }
    said
}

/// The outcome of a command, in words.
fn said(outcome: Result<String, StoreError>, language: Language) -> String {
    outcome.unwrap_or_else(|error| failed(&error).in_language(language))
}

/// What is said of a command that failed.
fn failed(error: &StoreError) -> Notice {
    tracing::warn!(error = error as &dyn std::error::Error, "a command failed");
    if error.is_outage() {
        Notice::StoreNeeded
    } else {
        Notice::Failed
    }
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

/// The same, with `, for $0.0021` behind it; nothing where nothing was paid.
pub(crate) fn for_money(spent: Text, cost: Money) -> Text {
    match cost {
        Money(0) => spent,
        cost => text!("spent-money", spent, money = cost.to_string()),
    }
}

fn in_history(turn: &Turn, language: Language) -> String {
    let at = Value::moment(&turn.created_at).in_language(language);
    format!(
        "[{at}] {}: {}\n    {}",
        turn.author_name,
        excerpt(&turn.input),
        excerpt(&turn.output),
    )
}

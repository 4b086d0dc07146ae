//! Commands for single remembered items, for the people who said them: note, list, correct and forget.
//!
//! A number refers to the last list that this person saw in this conversation. The graph keeps the IDs of that list for an
//! hour, without its words, so that every process resolves a number the same way. A button carries the ID of its one item.

use chrono::{DateTime, Utc};
use muninn_platform::{
    ConversationId, EventId, IncomingMessage, Listing, PlatformVocabulary, ShownItem, TimeZone,
    excerpt,
};
use muninn_texts::{Text, Value, text};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::forget::forgotten_text;
use super::once::CommandOutcome;
use super::{CommandContext, Commands, outcome_text};
use crate::conversation::audit::AuditAction;
use crate::conversation::notice::{ItemNotice, Notice};
use crate::conversation::withdrawals::PlannedWithdrawals;
use crate::graph::items::{KeptItem, ListedItem, OwnItems};
use crate::graph::session::Sessions;
use crate::graph::{Forgotten, NewTurn, ResponseId, Source, StoreError, Turn};
use crate::retrieval::speech::states_something;

/// Items per page.
const PAGE: usize = 10;
/// The same for a search.
const FOUND: usize = 20;
/// Maximum number of items that one list numbers.
const MOST_LISTED: usize = 100;
/// Maximum number of versions of an item that are forgotten together.
const MOST_VERSIONS: usize = 32;

/// The numbered items of a list, for the person who saw it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Numbered {
    items: Vec<NumberedItem>,
    /// When the last of them was said: the next page is older. `None` if there is no next page.
    until: Option<DateTime<Utc>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct NumberedItem {
    id: ResponseId,
    /// Distinguishes the shown text of an item from later ones.
    version: u64,
}

impl NumberedItem {
    fn of(turn: &Turn) -> Self {
        // The same in every version of this program, as buttons remain for years.
        let mut hasher = blake3::Hasher::new();
        hasher.update(&turn.input.len().to_le_bytes());
        hasher.update(turn.input.as_bytes());
        hasher.update(turn.output.as_bytes());
        let hash = hasher.finalize();
        let version = hash.as_bytes().iter().take(8);
        Self {
            id: turn.id,
            version: version.fold(0, |version, byte| version << 8 | u64::from(*byte)),
        }
    }
}

/// The item that a command means.
enum MeantItem {
    Turn(ConversationId, ResponseId),
    /// There is none, or the command is done already: this is the reply.
    Answered(String),
}

/// The button data of items that a list numbers from 1.
pub(super) fn shown<'a>(listed: impl Iterator<Item = &'a Turn>) -> Vec<ShownItem> {
    let items = listed.zip(1..);
    items
        .map(|(turn, number)| shown_item(turn, number))
        .collect()
}

/// The button data of an item with its number in a list.
pub fn shown_item(turn: &Turn, number: u32) -> ShownItem {
    let NumberedItem { id, version } = NumberedItem::of(turn);
    ShownItem {
        number,
        id: id.to_string(),
        version,
    }
}

/// Refers to an item in a list.
#[derive(Clone, Copy, Debug)]
pub enum WhichItem<'a> {
    /// Its number in the last list that the author saw.
    Number(u32),
    /// A button below any list.
    Shown(&'a ShownItem),
}

impl WhichItem<'_> {
    fn number(self) -> u32 {
        match self {
            Self::Number(number) => number,
            Self::Shown(item) => item.number,
        }
    }
}

impl Commands {
    /// Keeps a note of the audience, and says where it applies.
    pub async fn note(
        &self,
        message: &IncomingMessage,
        text: &str,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<Notice, Notice> {
        if text.is_empty() {
            return Err(Notice::NothingToNote);
        }
        let note = note(message, message.conversation.as_str(), text);
        let note = NewTurn::of(message.audience.clone(), note);
        match self.archive.keep_messages(vec![note]).await {
            Ok(()) => Ok(Notice::Noted {
                is_private: message.also_recalls.is_some(),
                vocabulary,
            }),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "a note could not be kept");
                Err(Notice::NotNoted)
            }
        }
    }

    /// Lists what is kept here of the author, for them alone.
    pub async fn list(&self, message: &IncomingMessage, listing: &Listing) -> String {
        outcome_text(
            self.try_list(message, listing).await,
            message.languages.person,
        )
    }

    async fn try_list(
        &self,
        message: &IncomingMessage,
        listing: &Listing,
    ) -> Result<String, StoreError> {
        // For the author alone.
        let language = message.languages.person;
        let (words, page) = looked_for(listing);
        let earlier = match listing {
            Listing::Newest | Listing::Search(_) => None,
            Listing::More => match self.load_numbering(message).await? {
                Some(earlier) => Some(earlier),
                None => return Ok(Notice::Item(ItemNotice::ListAgain).in_language(language)),
            },
        };
        let mut items = earlier.as_ref().map_or(Vec::new(), |it| it.items.clone());
        let is_end = earlier.as_ref().is_some_and(|it| it.until.is_none());
        if is_end || items.len() + page > MOST_LISTED {
            return Ok(Notice::Item(ItemNotice::ListEnds(items.len())).in_language(language));
        }
        let until = earlier.and_then(|it| it.until);
        let listed: Vec<ResponseId> = items.iter().map(|it| it.id).collect();
        let own = OwnItems {
            accounts: &message.accounts(),
            audiences: &message.recalled_audiences(),
            words: &words,
            until,
            listed: &listed,
            only_notes: false,
            most: page + 1,
        };
        let mut found = self.archive.store().own_items(&own).await?;
        let has_more = found.len() > page;
        found.truncate(page);
        if found.is_empty() {
            return Ok(Notice::Item(ItemNotice::NothingListed {
                is_search: !words.is_empty(),
                is_end: !listed.is_empty(),
            })
            .in_language(language));
        }
        let first = items.len() + 1;
        items.extend(found.iter().map(|it| NumberedItem::of(&it.turn)));
        let last = found.last().map(|it| it.turn.created_at);
        let until = last.filter(|_| has_more && words.is_empty());
        self.save_numbering(message, &Numbered { items, until })
            .await?;
        let hint = Notice::Item(ItemNotice::ListHint {
            first,
            has_more,
            is_search: !words.is_empty(),
        });
        let zone = self.recaller.time_zone_of(message);
        let lines = found.iter().zip(first..);
        let lines = lines.map(|(item, number)| line(item, number, zone).in_language(language));
        let lines: Vec<String> = lines.chain([hint.in_language(language)]).collect();
        Ok(lines.join("\n"))
    }

    /// Stores the items to which the author's numbers refer. Returns whether that succeeded.
    pub(super) async fn number_recalled<'a>(
        &self,
        message: &IncomingMessage,
        recalled: impl Iterator<Item = &'a Turn>,
    ) -> bool {
        let numbered = Numbered {
            items: recalled.map(NumberedItem::of).collect(),
            until: None,
        };
        match self.save_numbering(message, &numbered).await {
            Ok(()) => true,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "what the numbers of a list mean could not be kept");
                false
            }
        }
    }

    async fn save_numbering(
        &self,
        message: &IncomingMessage,
        numbered: &Numbered,
    ) -> Result<(), StoreError> {
        let numbered = serde_json::to_string(numbered)
            .map_err(|error| StoreError::Unexpected(error.to_string()))?;
        let store = self.archive.store();
        store.set_outcome(&list_of(message), &numbered).await
    }

    async fn load_numbering(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<Numbered>, StoreError> {
        let kept = self.archive.store().outcome(&list_of(message)).await?;
        // An unreadable one was written by another version of this program.
        Ok(kept.and_then(|kept| serde_json::from_str(&kept).ok()))
    }

    /// The item to which a number or button refers.
    async fn resolve_item(
        &self,
        message: &IncomingMessage,
        which: WhichItem<'_>,
    ) -> Result<Result<NumberedItem, Notice>, StoreError> {
        let number = match which {
            WhichItem::Shown(ShownItem { id, version, .. }) => {
                let id = Uuid::parse_str(id).map(ResponseId);
                let version = *version;
                let item = id.map(|id| NumberedItem { id, version });
                return Ok(item.map_err(|_| Notice::Item(ItemNotice::ListAgain)));
            }
            WhichItem::Number(number) => number,
        };
        let Some(numbered) = self.load_numbering(message).await? else {
            return Ok(Err(Notice::Item(ItemNotice::ListAgain)));
        };
        let at = (number as usize).checked_sub(1);
        let item = at.and_then(|at| numbered.items.get(at));
        let listed = numbered.items.len();
        Ok(item
            .copied()
            .ok_or(Notice::Item(ItemNotice::NoSuchNumber { number, listed })))
    }

    /// The item itself, or why the author may not change it.
    async fn item(
        &self,
        message: &IncomingMessage,
        which: WhichItem<'_>,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<Result<KeptItem, Notice>, StoreError> {
        let number = which.number();
        let listed = match self.resolve_item(message, which).await? {
            Ok(listed) => listed,
            Err(notice) => return Ok(Err(notice)),
        };
        let Some(item) = self.archive.store().item(listed.id).await? else {
            return Ok(Err(Notice::Item(ItemNotice::Gone(number))));
        };
        let is_of_here = message.recalled_audiences().contains(&&item.audience.id);
        Ok(if !is_of_here {
            Err(Notice::Item(ItemNotice::ListAgain))
        } else if NumberedItem::of(&item.turn).version != listed.version {
            Err(Notice::Item(ItemNotice::Changed(number)))
        } else if !may_change(message, &item) {
            Err(Notice::Item(ItemNotice::NotYours { number, vocabulary }))
        } else {
            Ok(item)
        })
    }

    /// Replaces an item's text. The old item stays, marked as no longer valid. The caller holds no session, as the item
    /// may be in another one.
    pub async fn correct(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        (which, text): (WhichItem<'_>, &str),
        vocabulary: &'static PlatformVocabulary,
    ) -> String {
        if text.is_empty() {
            return Notice::Item(ItemNotice::NothingToCorrect(which.number()))
                .in_language(message.language());
        }
        outcome_text(
            self.try_correct(sessions, message, (which, text), vocabulary)
                .await,
            message.language(),
        )
    }

    async fn try_correct(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        (which, text): (WhichItem<'_>, &str),
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<String, StoreError> {
        let number = which.number();
        let about = match self.meant_item(message, which, vocabulary).await? {
            MeantItem::Turn(session, id) => (session, id),
            MeantItem::Answered(text) => return Ok(text),
        };
        let (session, id) = about;
        // Corrections of one session are made one at a time.
        let guard = sessions.lock(&session).await;
        let Some(item) = self.archive.store().item(id).await? else {
            return Ok(Notice::Item(ItemNotice::Gone(number)).in_language(message.language()));
        };
        if let Some(earlier) = self.other_correction_notice(message, &item) {
            return Ok(earlier.in_language(message.language()));
        }
        if is_only_asked(&item.turn) {
            let notice = Notice::Item(ItemNotice::NothingStated(number));
            return Ok(notice.in_language(message.language()));
        }
        let note = NewTurn::of(
            item.audience.clone(),
            Turn {
                reply_to: Some(item.turn.event.clone()),
                ..note(message, session.as_str(), text)
            },
        );
        self.archive.correct(note, id).await?;
        let corrected = self.archive.store().item(id).await?;
        drop(guard);
        let notice = match corrected {
            Some(item) => self.after_correcting(message, &item, number).await,
            None => Notice::Item(ItemNotice::Gone(number)),
        };
        self.save_reply(message, notice.in_language(message.language()))
            .await
    }

    /// Checks the item after a correction. A correction that is not in effect is removed.
    async fn after_correcting(
        &self,
        message: &IncomingMessage,
        item: &KeptItem,
        number: u32,
    ) -> Notice {
        // Another process was faster; otherwise both corrections would be valid.
        if let Some(notice) = self.other_correction_notice(message, item) {
            let (audience, event) = (&item.audience.id, &message.event);
            let forgotten = self.archive.forget_message(audience, event).await;
            if let Err(error) = forgotten {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "a correction that came too late is still there");
            }
            return notice;
        }
        let (action, about) = (AuditAction::Corrected, item.turn.session.as_str());
        self.audit
            .record_message_action(message, action, about, Some(1))
            .await;
        Notice::Item(ItemNotice::Corrected(number))
    }

    /// The notice that somebody else corrected the item, or the author did with another message.
    fn other_correction_notice(
        &self,
        message: &IncomingMessage,
        item: &KeptItem,
    ) -> Option<Notice> {
        let corrected = item.corrected.as_ref()?;
        (corrected.event != message.event.as_str()).then(|| {
            Notice::Item(ItemNotice::AlreadyCorrected {
                by: corrected.by.clone(),
                at: corrected
                    .at
                    .with_timezone(&self.recaller.time_zone_of(message)),
            })
        })
    }

    /// Forgets an item with the versions that it corrected, and returns the reply. The caller holds no session, as the
    /// item may be in another one.
    pub async fn forget_item(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        which: WhichItem<'_>,
        context: &CommandContext,
    ) -> String {
        outcome_text(
            self.try_forget_item(sessions, message, which, context)
                .await,
            message.language(),
        )
    }

    /// Finds the turn that a command means. A command that is delivered again means the same turn
    /// as before, whatever its number stands for by now.
    async fn meant_item(
        &self,
        message: &IncomingMessage,
        which: WhichItem<'_>,
        vocabulary: &'static PlatformVocabulary,
    ) -> Result<MeantItem, StoreError> {
        match self.outcome(message).await? {
            Some(CommandOutcome::Said(said)) => return Ok(MeantItem::Answered(said)),
            Some(CommandOutcome::Turn(session, id, _)) => return Ok(MeantItem::Turn(session, id)),
            Some(
                CommandOutcome::Session(_)
                | CommandOutcome::Sessions(_)
                | CommandOutcome::Person { .. },
            )
            | None => {}
        }
        let item = match self.item(message, which, vocabulary).await? {
            Ok(item) => item,
            Err(notice) => {
                return Ok(MeantItem::Answered(notice.in_language(message.language())));
            }
        };
        let (session, id) = (ConversationId::new(&item.turn.session), item.turn.id);
        let outcome = CommandOutcome::Turn(session.clone(), id, None);
        self.keep_outcome(message, &outcome).await?;
        Ok(MeantItem::Turn(session, id))
    }

    async fn try_forget_item(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        which: WhichItem<'_>,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let number = which.number();
        let about = match self.meant_item(message, which, context.vocabulary).await? {
            MeantItem::Turn(session, id) => (session, id),
            MeantItem::Answered(text) => return Ok(text),
        };
        let versions = self.versions(about).await?;
        let earlier = versions.len() - 1;
        let mut forgotten = Forgotten::default();
        let mut all = PlannedWithdrawals::default();
        // The oldest first: if this is interrupted, the valid version is what remains.
        for (session, id) in versions.into_iter().rev() {
            let guard = sessions.lock(&session).await;
            let (outcome, planned) = self.forget_turn(&guard, message, id, context).await;
            all.add(planned);
            forgotten = forgotten.plus(outcome?);
        }
        for audience in message.recalled_audiences() {
            self.recaller.forget(audience);
        }
        let about = message.channel().as_str();
        let turns = Some(forgotten.turns);
        self.audit
            .record_message_action(message, AuditAction::ForgotItem, about, turns)
            .await;
        let visible = self.withdrawals.carry_out(all).await;
        let notice = Notice::Item(ItemNotice::Forgot { number, earlier });
        self.save_reply(
            message,
            forgotten_text(&notice, &forgotten, visible, message.language()),
        )
        .await
    }

    /// An item with the versions that it corrected, newest first.
    async fn versions(
        &self,
        newest: (ConversationId, ResponseId),
    ) -> Result<Vec<(ConversationId, ResponseId)>, StoreError> {
        let mut versions = vec![newest];
        let mut at = 0;
        while at < versions.len() && versions.len() < MOST_VERSIONS {
            for earlier in self.archive.store().corrects(versions[at].1).await? {
                if !versions.contains(&earlier) {
                    versions.push(earlier);
                }
            }
            at += 1;
        }
        Ok(versions)
    }
}

/// The words that a listing searches for, and its page size.
fn looked_for(listing: &Listing) -> (Vec<String>, usize) {
    match listing {
        Listing::Newest | Listing::More => (Vec::new(), PAGE),
        Listing::Search(words) => {
            let words = words.split_whitespace();
            (words.map(str::to_lowercase).collect(), FOUND)
        }
    }
}

/// The key under which the last list that a person saw in a place is stored.
fn list_of(message: &IncomingMessage) -> EventId {
    EventId::new(format!("list/{}/{}", message.author.id, message.channel()))
}

/// Whether a turn is a question that memory alone answered: neither it nor its answer is recalled.
fn is_only_asked(turn: &Turn) -> bool {
    turn.source == Source::Memory && !states_something(turn.said())
}

fn may_change(message: &IncomingMessage, item: &KeptItem) -> bool {
    message.accounts().contains(&item.turn.author) || message.may_moderate(&item.audience.id)
}

fn note(message: &IncomingMessage, session: &str, text: &str) -> Turn {
    Turn {
        // Other clocks may be ahead; nothing was said later than now.
        created_at: message.sent_at.min(Utc::now()),
        author_name: message.author.name.clone(),
        event: message.event.to_string(),
        link: message.link.clone(),
        ..Turn::note(session, &message.author.id, text)
    }
}

/// `3. [2026-04-02] you noted: …`
fn line(item: &ListedItem, number: usize, zone: TimeZone) -> Text {
    let ListedItem { turn, corrected_at } = item;
    let day = |at: &DateTime<Utc>| Value::date(&at.with_timezone(&zone));
    let date = day(&turn.created_at);
    let text = excerpt(&turn.input);
    let told = match turn.source {
        Source::Note => text!("list-noted", text),
        Source::Message => text!("list-said", text),
        // What it quotes has a number of its own.
        Source::Knowledge | Source::Retrieval | Source::Memory if turn.model.is_none() => {
            text!("list-told-only", text)
        }
        Source::Model | Source::Knowledge | Source::Retrieval | Source::Memory => {
            text!("list-told", text, answer = excerpt(&turn.output))
        }
    };
    match corrected_at {
        None => text!("list-line", number, date, told),
        Some(at) => text!(
            "list-line-corrected",
            number,
            date,
            told,
            corrected = day(at)
        ),
    }
}

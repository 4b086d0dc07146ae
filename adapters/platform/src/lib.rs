//! The contract between Muninn and a chat platform.
//!
//! An adapter turns what happens on its platform into [`Incoming`] values for the bot's [`Inbox`],
//! and gives each message a [`Reply`] through which its answer goes back. It knows this crate and
//! nothing of the bot; the bot knows this crate and nothing of any platform.

mod allow;
mod announce;
mod attachment;
mod backoff;
mod backticks;
mod brackets;
mod by_platform;
mod channel_memory;
mod channels;
mod columns;
mod command;
mod connect;
mod digest;
mod doubt;
mod errors;
mod excerpt;
mod fence;
mod finding;
mod hand_over;
mod heard;
mod history;
#[cfg(feature = "http-server")]
mod http_server;
mod inbox;
mod incoming;
mod indicator;
mod keyed_queue;
mod left_over;
mod live_answer;
mod markdown;
mod membership;
mod pages;
mod plural;
mod quiet;
mod rate_limit;
mod recent;
pub mod redact;
mod reply;
mod request;
mod request_failure;
mod safe_text;
mod seen_until;
mod settings;
mod shown_item;
mod split;
pub mod suggest;
mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
mod vocabulary;
mod withdraw;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

pub use allow::{AllowEntry, AllowError, AllowList};
pub use announce::{Announce, Announced, NoAnnouncements};
pub use attachment::Attachment;
pub use backoff::{Backoff, RATE_LIMIT_PAUSE, RetryBudget, rate_limit_pause, retry};
pub use backticks::{backticks, closing_backticks};
pub use brackets::balanced;
pub use by_platform::ByPlatform;
pub use channel_memory::ChannelMemory;
pub use channels::{
    AnswerMode, AnswerStyle, ChannelSettings, Channels, ChannelsError, Grounding, NoAnswerMode,
    Sampling, SamplingSettings,
};
/// A time zone of the IANA database, such as `Europe/Lisbon`.
pub use chrono_tz::Tz as TimeZone;
pub use columns::Columns;
pub use command::{Attention, Command, ForgetWhat, ItemDeed, Listing, Scope, TokenDeed};
pub use connect::{StartError, UNREACHABLE_TIMEOUT, Warnings, connect_at_start};
pub use digest::{DigestSchedule, NoSchedule, local_time, midnight};
pub use doubt::{Doubt, Unconfirmed};
pub use errors::{in_one_line, misconfigured};
pub use excerpt::{excerpt, one_line};
pub use finding::{CheckStatus, SelfCheckFinding};
pub use hand_over::{HandedOver, NotHandedOver, OwnFile};
pub use heard::HeardAudiences;
pub use history::{Histories, History, HistoryError, HistoryPage};
#[cfg(feature = "http-server")]
pub use http_server::{HttpLimits, serve_http};
pub use inbox::{Ack, Arrival, Arrivals, Inbox, InboxClosed, InboxFull, LeftOver};
pub use incoming::{
    Addressed, Audience, AudienceId, Author, Body, ConversationId, EventId, FURTHEST_AHEAD,
    Feedback, Incoming, IncomingMessage, KeptMessage, MessageId, Opinion, OwnSession,
    clamp_platform_time,
};
pub use indicator::Indicator;
pub use keyed_queue::{KeyedQueue, QueuePlace};
pub use left_over::Readdress;
pub use live_answer::{
    AbandonedAnswer, AnswerPart, AnswerSink, AnswerStage, Directly, DisplayOutcome,
    DroppedReplyState, Edited, LiveAnswer, LiveAnswerAction, LiveAnswerEvent, LiveReply,
};
pub use markdown::{escaped, linked};
pub use membership::{Membership, MembershipError, Memberships};
pub use muninn_texts::{Language, Languages};
pub use pages::{Bounds, Cut, Ends, Page, PageOrder, ReadPages, read_pages};
pub use plural::count_with_noun;
pub use quiet::{Addressees, Hearing, Speaker, Utterance, classify_hearing};
pub use rate_limit::RateLimit;
pub use recent::{Recent, SharedRecent};
pub use reply::{
    Delivered, DownloadError, Pace, PriorMessage, PriorMessages, PrivateFallback, Reply,
    SilentReply, TextLimit, add_chunk,
};
pub use request::{IgnoreReason, Request};
pub use request_failure::RequestFailure;
pub use safe_text::{LinkHosts, SafeText, without_controls};
pub use seen_until::{Missed, ONE_CONNECTION, SeenUntil, replace_file};
pub use settings::{SettingsError, half_set, non_empty, non_empty_secret, none_if_all_unset};
pub use shown_item::ShownItem;
pub use tasks::{end_tasks, join_task};
pub use vocabulary::PlatformVocabulary;
pub use withdraw::{NoEarlierMessages, NotNow, Withdraw, Withdrawn};

pub use self::errors::PlatformError;

/// A chat platform the bot is present on.
#[async_trait]
pub trait Platform: Send + Sync {
    /// The platform's name, the prefix of its conversation ids: `terminal`, `slack`…
    fn name(&self) -> &'static str;

    /// Delivers what arrives into `inbox` until `shutdown` is cancelled or the platform ends by
    /// itself (a terminal whose input closed).
    ///
    /// # Errors
    /// Fails when the platform cannot be reached or used any more and retrying has been given up.
    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError>;
}

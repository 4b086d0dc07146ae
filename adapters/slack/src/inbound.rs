//! From a push to the bot.

mod asked;
mod assisted;
mod left_over;

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use muninn_platform::{
    Addressed, AnswerMode, Attachment, Audience, AudienceId, Author, Body, EventId, Inbox,
    InboxClosed, Incoming, IncomingMessage, Reply,
};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::NAME;
use crate::allow::Speaker;
use crate::directory::Person;
use crate::ephemeral::{EphemeralReply, Whisper};
use crate::event::{Event, Interaction, Kind, Message, Push, Slash, What};
use crate::files;
use crate::hub::Hub;
use crate::ids::{self, Place, Within};
use crate::lines::Lines;
use crate::meaning::{Facts, Heard, Meaning, Said, Silence, meaning};
use crate::reply::{PostedReply, Target};
use crate::text::{mentioned, plain};

/// Slack waits three seconds before it sends an event again. Within this time the bot has it, or
/// Slack is told nothing and sends it again.
const ACCEPTANCE: Duration = Duration::from_secs(2);

/// Pushes on their way to the bot; more are refused, and Slack sends them again.
const UNDER_WAY: usize = 1_024;

/// Names that are looked up of those mentioned in one message.
const MENTIONED: usize = 5;

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The bot has it, or it means nothing to it.
    Yes,
    /// Not now: it is to be sent again.
    No,
}

/// Hands what happens in the workspace to the bot.
#[derive(Clone)]
pub(crate) struct Inbound {
    pub(crate) hub: Arc<Hub>,
    inbox: Inbox,
    lines: Arc<Lines>,
    under_way: Arc<Semaphore>,
}

/// A push that means something.
enum Work {
    Event(Box<(Event, Meaning)>),
    Slash(Slash),
    Interaction(Interaction),
}

/// Who did something, and by which name they are known.
struct Doer<'a> {
    user: &'a str,
    /// As the push says.
    name: Option<&'a str>,
    team: Option<&'a str>,
}

/// A message on its way to the bot.
struct Draft {
    event: EventId,
    place: Place,
    addressed: Addressed,
    body: Body,
    attachments: Vec<Attachment>,
    link: Option<String>,
    sent_at: chrono::DateTime<Utc>,
    /// What else may be recalled for it.
    also_recalls: Option<AudienceId>,
}

impl Inbound {
    pub(crate) fn new(hub: Arc<Hub>, inbox: Inbox) -> Self {
        Self {
            hub,
            inbox,
            lines: Arc::default(),
            under_way: Arc::new(Semaphore::new(UNDER_WAY)),
        }
    }

    /// Takes a push in: its place in the line of its conversation at once, so that the order is kept
    /// whoever calls; the rest when the result is waited for, and within the time Slack gives.
    /// `is_late`: Slack has sent it before.
    pub(crate) fn take(
        &self,
        push: Push,
        is_late: bool,
    ) -> impl Future<Output = Taken> + Send + use<> {
        let line = line_of(&push);
        let task = self.sift(push).map(|work| {
            let permit = Arc::clone(&self.under_way).try_acquire_owned().ok()?;
            let mut place = self.lines.queue(line);
            let inbound = self.clone();
            // Goes on when it takes too long, so that what Slack sends again finds it done.
            Some(self.hub.chores.spawn(async move {
                place.turn().await;
                let told = inbound.tell(work, is_late).await;
                drop((place, permit));
                told
            }))
        });
        async move {
            match task {
                None => Taken::Yes,
                Some(Some(task)) => in_time(task).await,
                Some(None) => {
                    tracing::warn!(
                        most = UNDER_WAY,
                        "too much comes in; Slack is to send it again"
                    );
                    Taken::No
                }
            }
        }
    }

    /// What is left to do; nothing for most of what is said in a workspace, which then need not wait
    /// for anything.
    fn sift(&self, push: Push) -> Option<Work> {
        match push {
            Push::Event(event) => {
                let meaning = meaning(&event.what, &self.facts(&event));
                match &meaning {
                    Meaning::Nothing(why) => {
                        note_silence(&event.what, *why);
                        None
                    }
                    Meaning::Uninstalled => {
                        tracing::warn!("the app was taken out of the workspace; install it again");
                        None
                    }
                    Meaning::Said(_)
                    | Meaning::Edited { .. }
                    | Meaning::Deleted { .. }
                    | Meaning::Stop(_)
                    | Meaning::Home { .. }
                    | Meaning::Begun { .. } => Some(Work::Event(Box::new((event, meaning)))),
                }
            }
            Push::Slash(given) => Some(Work::Slash(given)),
            Push::Interaction(done) => Some(Work::Interaction(done)),
            Push::Other => None,
        }
    }

    async fn tell(&self, work: Work, is_late: bool) -> Result<(), InboxClosed> {
        match work {
            Work::Event(event) => {
                let (event, meaning) = *event;
                self.event(event, meaning, is_late).await
            }
            Work::Slash(given) => self.slash(&given).await,
            Work::Interaction(done) => self.interaction(&done).await,
        }
    }

    async fn event(
        &self,
        event: Event,
        meaning: Meaning,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let own_id = ids::other_event(&self.hub.me.team, &event.id);
        match (meaning, event.what) {
            (Meaning::Said(heard), What::Message(message)) => {
                self.said(&message, heard, is_late).await
            }
            (
                Meaning::Edited {
                    of,
                    addressed,
                    place,
                },
                What::Changed { now, .. },
            ) => {
                self.edited(own_id, &now, &of, addressed, place, is_late)
                    .await
            }
            (Meaning::Deleted { of, place }, What::Deleted { user, .. }) => {
                let user = user.unwrap_or_else(|| self.hub.me.user.clone());
                self.deleted(own_id, &user, &of, place).await
            }
            (Meaning::Stop(place), _) => self.stop(&place).await,
            (Meaning::Home { user, direct }, _) => self.home(own_id, &user, &direct).await,
            (
                Meaning::Begun {
                    place,
                    looks_at,
                    is_new,
                },
                _,
            ) => {
                self.begun(&place, looks_at, is_new);
                Ok(())
            }
            (Meaning::Nothing(_) | Meaning::Uninstalled, _) => Ok(()),
            // Each meaning comes of one kind of event only.
            (Meaning::Said(_) | Meaning::Edited { .. } | Meaning::Deleted { .. }, _) => Ok(()),
        }
    }

    fn facts(&self, event: &Event) -> Facts {
        let hub = &self.hub;
        let (user, team, channel, kind) = match &event.what {
            What::Message(message) | What::Changed { now: message, .. } => (
                message.user.as_deref(),
                message.team.as_deref(),
                message.channel.as_str(),
                message.kind,
            ),
            What::Deleted { channel, kind, .. } => (None, None, channel.as_str(), *kind),
            What::Home { user, channel, .. } | What::Assistant { user, channel, .. } => {
                (Some(user.as_str()), None, channel.as_str(), Kind::Direct)
            }
            // Whoever sees the button is in the channel.
            What::Stopped { channel, .. } => (None, None, channel.as_str(), Kind::Channel),
            What::Uninstalled | What::Other => (None, None, "", Kind::Channel),
        };
        Facts {
            me: hub.me.user.clone(),
            is_allowed: matches!(event.what, What::Stopped { .. } | What::Uninstalled)
                || hub.options.allow.serves(Speaker {
                    workspace: team.unwrap_or(&hub.me.team),
                    user: user.unwrap_or_default(),
                    channel,
                    is_shared: event.is_shared,
                }),
            mode: self.mode(channel, kind),
            direct_threads: hub.options.direct_threads,
        }
    }

    fn mode(&self, channel: &str, kind: Kind) -> AnswerMode {
        let options = &self.hub.options;
        let audience = ids::audience(&self.hub.me.team, channel);
        let set = options.channels.answer_mode(&audience);
        set.unwrap_or(match kind {
            Kind::Channel => options.answer,
            Kind::Direct => AnswerMode::Always,
        })
    }

    async fn said(
        &self,
        message: &Message,
        heard: Heard,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let hub = &self.hub;
        let Heard {
            addressed,
            said,
            place,
            files,
        } = heard;
        let Some(user) = message.user.as_deref() else {
            return Ok(());
        };
        // A mention comes as a message and as a mention, under two ids of their own.
        let event = ids::message_event(&hub.me.team, &message.channel, &message.ts);
        if hub.has_seen(&event) {
            return Ok(());
        }
        let doer = Doer {
            user,
            name: None,
            team: message.team.as_deref(),
        };
        let (person, audience) = self.who_and_where(&doer, &place, &message.text).await;
        if person.is_bot {
            return Ok(());
        }
        let conversation = place.conversation(&hub.me.team);
        hub.remember_conversation(event.clone(), conversation);
        let (body, reply) = self.answered(message, user, said, &place, is_late);
        let draft = Draft {
            event: event.clone(),
            also_recalls: self.looked_at(&place).await,
            addressed,
            body,
            attachments: files.iter().map(files::attachment).collect(),
            link: Some(hub.link(&message.channel, &message.ts, message.thread.as_deref())),
            sent_at: message.sent_at().min(Utc::now()),
            place,
        };
        self.deliver(draft, &doer, person, audience, reply).await?;
        hub.saw(event);
        Ok(())
    }

    /// What a message says, and the way its answer goes back: a command's goes to its author alone.
    fn answered(
        &self,
        message: &Message,
        user: &str,
        said: Said,
        place: &Place,
        is_late: bool,
    ) -> (Body, Box<dyn Reply>) {
        let question = ids::message_event(&self.hub.me.team, &message.channel, &message.ts);
        match said {
            Said::Text(text) => {
                let text = self.plain(&text);
                let mut target = self.target(message, user, place.clone(), question, is_late);
                target.title = assisted::title(&text);
                self.entitle(place, &target.title);
                (Body::Text(text), self.posted(target))
            }
            Said::Command(command) => {
                let thread = place.thread().map(str::to_owned);
                let whisper = Whisper {
                    channel: message.channel.clone(),
                    user: user.to_owned(),
                    thread: thread.filter(|_| message.thread.is_some()),
                    response_url: None,
                    question,
                    is_command: true,
                };
                (Body::Command(command), self.whispered(whisper))
            }
        }
    }

    fn target(
        &self,
        message: &Message,
        user: &str,
        place: Place,
        question: EventId,
        may_be_repetition: bool,
    ) -> Target {
        let team = message.team.clone();
        Target {
            place,
            question,
            question_ts: Some(message.ts.clone()),
            asker: user.to_owned(),
            team: team.unwrap_or_else(|| self.hub.me.team.clone()),
            title: String::new(),
            may_be_repetition,
        }
    }

    fn posted(&self, target: Target) -> Box<dyn Reply> {
        Box::new(PostedReply::new(Arc::clone(&self.hub), target))
    }

    fn whispered(&self, whisper: Whisper) -> Box<dyn Reply> {
        Box::new(EphemeralReply::new(Arc::clone(&self.hub), whisper))
    }

    async fn edited(
        &self,
        event: EventId,
        now: &Message,
        of: &str,
        addressed: Addressed,
        place: Place,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let hub = &self.hub;
        let Some(user) = now.user.as_deref() else {
            return Ok(());
        };
        if hub.has_seen(&event) {
            return Ok(());
        }
        let place = self.place_of(of, place);
        let doer = Doer {
            user,
            name: None,
            team: now.team.as_deref(),
        };
        let (person, audience) = self.who_and_where(&doer, &place, &now.text).await;
        let target = self.target(now, user, place.clone(), event.clone(), is_late);
        let draft = Draft {
            event: event.clone(),
            addressed,
            body: Body::Edit {
                of: ids::message_event(&hub.me.team, &now.channel, of),
                text: self.plain(&now.text),
            },
            attachments: Vec::new(),
            link: Some(hub.link(&now.channel, of, now.thread.as_deref())),
            sent_at: Utc::now(),
            also_recalls: None,
            place,
        };
        let reply = self.posted(target);
        self.deliver(draft, &doer, person, audience, reply).await?;
        hub.saw(event);
        Ok(())
    }

    /// The place of an earlier question, as it was when it was asked.
    fn place_of(&self, question: &str, otherwise: Place) -> Place {
        let event = ids::message_event(&self.hub.me.team, &otherwise.channel, question);
        let known = self.hub.conversation_of(&event);
        let known = known.and_then(|known| Place::parse(known.as_str()));
        known.unwrap_or(otherwise)
    }

    async fn deleted(
        &self,
        event: EventId,
        user: &str,
        of: &str,
        place: Place,
    ) -> Result<(), InboxClosed> {
        let hub = &self.hub;
        if hub.has_seen(&event) {
            return Ok(());
        }
        let place = self.place_of(of, place);
        let doer = Doer {
            user,
            name: None,
            team: None,
        };
        let (person, audience) = self.who_and_where(&doer, &place, "").await;
        let gone = ids::message_event(&hub.me.team, &place.channel, of);
        let target = Target {
            place: place.clone(),
            question: gone.clone(),
            question_ts: Some(of.to_owned()),
            asker: user.to_owned(),
            team: hub.me.team.clone(),
            title: String::new(),
            may_be_repetition: false,
        };
        let draft = Draft {
            event: event.clone(),
            addressed: Addressed::InConversation,
            body: Body::Deletion { of: gone },
            attachments: Vec::new(),
            link: None,
            sent_at: Utc::now(),
            also_recalls: None,
            place,
        };
        let reply = self.posted(target);
        self.deliver(draft, &doer, person, audience, reply).await?;
        hub.saw(event);
        Ok(())
    }

    async fn stop(&self, place: &Place) -> Result<(), InboxClosed> {
        let conversation = place.conversation(&self.hub.me.team);
        self.inbox.deliver(Incoming::Stop(conversation)).await
    }

    /// Who asks, and who reads it. Names that are not known in time are ids.
    async fn who_and_where(
        &self,
        doer: &Doer<'_>,
        place: &Place,
        text: &str,
    ) -> (Person, Audience) {
        let Hub {
            api, directory, me, ..
        } = &*self.hub;
        let others = mentioned(text, MENTIONED)
            .into_iter()
            .filter(|user| *user != me.user);
        let others = others.map(|user| directory.person(api, user));
        let channel = async {
            if ids::is_direct(&place.channel) {
                return None;
            }
            directory.channel(api, &place.channel).await
        };
        let (person, channel, _) = tokio::join!(
            directory.person(api, doer.user),
            channel,
            futures::future::join_all(others)
        );
        let person = person.unwrap_or_else(|| Person {
            name: doer.name.unwrap_or(doer.user).to_owned(),
            ..Person::default()
        });
        let named = channel
            .map(|channel| channel.name)
            .filter(|name| !name.is_empty());
        let channel = named.unwrap_or_else(|| place.channel.clone());
        let name = match &place.within {
            Within::Private(_) => format!("{} in {channel}", person.name),
            Within::Thread(_) | Within::Main if ids::is_direct(&place.channel) => {
                format!("direct messages with {}", person.name)
            }
            Within::Thread(_) | Within::Main => channel,
        };
        let audience = Audience {
            id: place.audience(&me.team),
            platform: NAME.to_owned(),
            workspace: me.team.clone(),
            name,
        };
        (person, audience)
    }

    fn plain(&self, text: &str) -> String {
        let name_of = |user: &str| self.hub.directory.name_of(user);
        let plain = plain(text, &self.hub.me.user, &name_of);
        // "@Muninn: when?"
        plain.trim_start_matches([':', ',']).trim_start().to_owned()
    }

    async fn deliver(
        &self,
        draft: Draft,
        doer: &Doer<'_>,
        person: Person,
        audience: Audience,
        reply: Box<dyn Reply>,
    ) -> Result<(), InboxClosed> {
        let team = &self.hub.me.team;
        // Nobody else is in a direct message, or sees what is private.
        let is_alone = ids::is_direct(&draft.place.channel)
            || matches!(draft.place.within, Within::Private(_));
        let message = IncomingMessage {
            event: draft.event,
            conversation: draft.place.conversation(team),
            audience,
            author: Author {
                id: ids::author(team, doer.user),
                name: person.name,
                is_admin: person.is_admin || is_alone,
            },
            addressed: draft.addressed,
            body: draft.body,
            attachments: draft.attachments,
            link: draft.link,
            sent_at: draft.sent_at,
            also_recalls: draft.also_recalls,
        };
        self.inbox
            .deliver(Incoming::Message { message, reply })
            .await
    }
}

async fn in_time(task: JoinHandle<Result<(), InboxClosed>>) -> Taken {
    match timeout(ACCEPTANCE, task).await {
        Ok(Ok(Ok(()))) => Taken::Yes,
        Ok(Ok(Err(InboxClosed))) => Taken::No,
        Ok(Err(error)) => {
            tracing::error!(%error, "a push could not be taken in");
            Taken::No
        }
        Err(_) => {
            tracing::warn!("the bot is busy; Slack is to send it again");
            Taken::No
        }
    }
}

/// What is kept in order: a conversation, or what one person does beside one.
fn line_of(push: &Push) -> String {
    let of_message = |channel: &str, thread: Option<&String>, ts: &str| {
        format!("{channel}/{}", thread.map_or(ts, String::as_str))
    };
    match push {
        Push::Event(event) => match &event.what {
            What::Message(message) | What::Changed { now: message, .. } => match message.kind {
                Kind::Direct => message.channel.clone(),
                Kind::Channel => of_message(&message.channel, message.thread.as_ref(), &message.ts),
            },
            What::Deleted {
                channel,
                kind,
                ts,
                thread,
                ..
            } => match kind {
                Kind::Direct => channel.clone(),
                Kind::Channel => of_message(channel, thread.as_ref(), ts),
            },
            What::Assistant { channel, .. } => channel.clone(),
            What::Home { .. } | What::Stopped { .. } | What::Uninstalled | What::Other => {
                event.id.clone()
            }
        },
        Push::Slash(slash) => format!("{}/{}", slash.channel, slash.user),
        Push::Interaction(done) => format!("{}/buttons", done.user),
        Push::Other => String::new(),
    }
}

fn note_silence(what: &What, why: Silence) {
    match why {
        Silence::NotAllowed => {
            if let What::Message(message) = what {
                tracing::info!(
                    channel = message.channel,
                    user = message.user.as_deref().unwrap_or_default(),
                    "not answered: SLACK_ALLOW does not let them in"
                );
            }
        }
        Silence::Own | Silence::Bot | Silence::NotAddressed | Silence::Irrelevant => {}
    }
}

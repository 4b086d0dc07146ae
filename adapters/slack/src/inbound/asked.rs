//! Handles interactions other than messages: slash commands, buttons, shortcuts, the home tab.

use std::sync::Arc;

use muninn_platform::{
    Body, Command, EventId, Feedback, ForgetWhat, InboxClosed, IncomingMessage, MessageId, Opinion,
    Reply, Request, SafeText, ShownItem,
};
use muninn_texts::text;
use reqwest::Url;
use serde_json::json;

use super::SlackEventHandler;
use super::actor::Actor;
use crate::allow::{Access, Speaker};
use crate::content;
use crate::ephemeral::{EphemeralTarget, Responded, respond};
use crate::event::{Interaction, SlackInteractionKind, Slash};
use crate::files::is_slacks;
use crate::home::HomeReply;
use crate::hub::SlackHub;
use crate::ids::{self, PlaceInChannel, SlackPlace};
use crate::mrkdwn::{fallback, markdown};
use crate::name::NAME;
use crate::views;
use crate::wanted::{Incomplete, InteractionIntent, interaction_intent, slash};

impl SlackEventHandler {
    pub(super) async fn home(
        &self,
        event: EventId,
        user: &str,
        direct: &str,
    ) -> Result<(), InboxClosed> {
        self.hub.remember_direct(user, direct);
        let place = SlackPlace::new(direct, PlaceInChannel::Main);
        let reply = self.home_reply(user, direct);
        let doer = Actor::nameless(user, None);
        self.deliver_command(event, place, &doer, Command::About, reply)
            .await
    }

    pub(super) fn home_reply(&self, user: &str, direct: &str) -> Box<dyn Reply> {
        let (user, direct) = (user.to_owned(), direct.to_owned());
        Box::new(HomeReply::new(Arc::clone(&self.hub), user, direct))
    }

    pub(super) async fn deliver_command(
        &self,
        event: EventId,
        place: SlackPlace,
        doer: &Actor<'_>,
        command: Command,
        reply: Box<dyn Reply>,
    ) -> Result<(), InboxClosed> {
        self.deliver_interaction(event, place, doer, Body::Command(command), reply)
            .await
    }

    /// Handles an interaction.
    pub(super) async fn deliver_interaction(
        &self,
        event: EventId,
        place: SlackPlace,
        doer: &Actor<'_>,
        body: Body,
        reply: Box<dyn Reply>,
    ) -> Result<(), InboxClosed> {
        if self.hub.seen.has(&event) {
            return Ok(());
        }
        let is_direct = self.hub.is_direct_with(doer.user, &place.channel).await;
        let who = self.who_and_where(doer, &place, "", is_direct).await;
        let also_recalls = match place.within {
            PlaceInChannel::Private(_) => Some(ids::audience(&self.hub.me.team, &place.channel)),
            PlaceInChannel::Thread(_) | PlaceInChannel::Main => None,
        };
        let message = IncomingMessage {
            also_recalls,
            ..self.message(event.clone(), &place, doer, who, body)
        };
        self.deliver(message, reply).await?;
        self.hub.record_received(event);
        Ok(())
    }

    pub(super) async fn slash(&self, given: &Slash) -> Result<(), InboxClosed> {
        let doer = Actor {
            user: &given.user,
            name: Some(&given.user_name),
            team: given.team.as_deref(),
        };
        let event = ids::other_event(&self.hub.me.team, &given.trigger);
        let whisper = EphemeralTarget {
            channel: given.channel.clone(),
            user: given.user.clone(),
            thread: None,
            response_url: given.response_url.clone(),
            question: event,
            is_command: false,
            may_be_shared: false,
        };
        // Together, as Slack waits for three seconds only, and does not send a command again.
        let (access, ()) = tokio::join!(
            self.access(&doer, &given.channel),
            self.look_up_mentioned(&given.text)
        );
        let wish = slash(given, &self.plain(&given.text));
        self.handle_intent(wish, &doer, access, whisper).await
    }

    pub(super) async fn interaction(&self, done: &Interaction) -> Result<(), InboxClosed> {
        let doer = Actor {
            user: &done.user,
            name: Some(&done.user_name),
            team: done.team.as_deref(),
        };
        let thread = match &done.deed {
            SlackInteractionKind::Button { thread, .. }
            | SlackInteractionKind::Submitted { thread, .. } => thread.clone(),
            SlackInteractionKind::Shortcut { .. } => None,
        };
        let event = ids::other_event(&self.hub.me.team, &done.trigger);
        let whisper = EphemeralTarget {
            channel: done.channel.clone().unwrap_or_default(),
            user: done.user.clone(),
            // An answer to the response URL would be outside the thread.
            response_url: done.response_url.clone().filter(|_| thread.is_none()),
            thread,
            question: event,
            is_command: false,
            may_be_shared: false,
        };
        let of = done.channel.as_deref().unwrap_or_default();
        let language = match &done.deed {
            // It becomes a question of the person.
            SlackInteractionKind::Shortcut { .. } => self.hub.language_told(&done.user, of).await,
            SlackInteractionKind::Button { .. } | SlackInteractionKind::Submitted { .. } => {
                self.hub.language(&done.user, of)
            }
        };
        let wish = interaction_intent(done, self.hub.options.direct_threads, language);
        if let InteractionIntent::Share(text) = &wish {
            match self.access(&doer, &whisper.channel).await {
                Access::Whole => self.share(done, text).await,
                Access::Alone => {
                    self.tell_aside(text!("slack-not-shared").in_language(language), whisper);
                }
                Access::Refused => {}
            }
            return Ok(());
        }
        if let InteractionIntent::Form(item) = &wish {
            match self.access(&doer, &whisper.channel).await {
                Access::Whole | Access::Alone => self.open_form(done, item, whisper).await,
                Access::Refused => {}
            }
            return Ok(());
        }
        let access = self.access(&doer, &whisper.channel).await;
        self.handle_intent(wish, &doer, access, whisper).await
    }

    /// Asks somebody for a correction. Slack opens a form within three seconds, or not at all.
    async fn open_form(&self, done: &Interaction, item: &ShownItem, whisper: EphemeralTarget) {
        let about = json!({
            "item": item.token(),
            "channel": done.channel,
            "thread": whisper.thread,
            "response_url": done.response_url,
        });
        let language = self.hub.language(&done.user, &whisper.channel);
        let view = views::correction_form(item, &about, language);
        let arguments = json!({ "trigger_id": done.trigger, "view": view });
        let opened = self.hub.api.post("views.open", &arguments).await;
        if let Err(error) = opened {
            tracing::warn!(%error, "Slack did not open a form");
            let number = item.number;
            let how = text!("form-not-opened", number).in_language(language);
            self.tell_aside(how, whisper);
        }
    }

    pub(super) async fn handle_intent(
        &self,
        wish: InteractionIntent,
        doer: &Actor<'_>,
        access: Access,
        mut whisper: EphemeralTarget,
    ) -> Result<(), InboxClosed> {
        match access {
            Access::Whole => whisper.may_be_shared = true,
            Access::Alone => {}
            Access::Refused => {
                let allow = &self.hub.options.allow;
                allow.note_not_answered(&whisper.channel, doer.user);
                return Ok(());
            }
        }
        match wish {
            // The last two are handled above.
            InteractionIntent::Nothing
            | InteractionIntent::Share(_)
            | InteractionIntent::Form(_) => Ok(()),
            InteractionIntent::Stop(place) => self.stop(&place).await,
            InteractionIntent::Incomplete(what) => {
                self.tell_how(what, whisper).await;
                Ok(())
            }
            InteractionIntent::ForgetDirect { said_to_be } => {
                self.forget_direct(doer, &said_to_be, whisper.question)
                    .await
            }
            InteractionIntent::Opinion {
                answer,
                opinion,
                of,
            } => self.opinion(doer, &answer, opinion, &of).await,
            InteractionIntent::Ask { said, of } => self.ask(doer, said, of, whisper).await,
        }
    }

    async fn forget_direct(
        &self,
        doer: &Actor<'_>,
        said_to_be: &str,
        event: EventId,
    ) -> Result<(), InboxClosed> {
        let Some(direct) = self.hub.direct_of(doer.user, said_to_be).await else {
            tracing::warn!(
                user = doer.user,
                channel = said_to_be,
                "nothing was forgotten: Slack does not say that these are their direct messages"
            );
            return Ok(());
        };
        let reply = self.home_reply(doer.user, &direct);
        let of = SlackPlace::new(direct, PlaceInChannel::Main);
        let forget = Command::Forget(ForgetWhat::Audience);
        self.deliver_command(event, of, doer, forget, reply).await
    }

    async fn ask(
        &self,
        doer: &Actor<'_>,
        said: Request,
        of: SlackPlace,
        mut whisper: EphemeralTarget,
    ) -> Result<(), InboxClosed> {
        let event = whisper.question.clone();
        let body = match said {
            Request::Text(text) => Body::Text(self.plain(&text)),
            Request::Command(command) => {
                whisper.is_command = true;
                Body::Command(command)
            }
        };
        let reply = self.ephemeral_reply(whisper);
        self.deliver_interaction(event, of, doer, body, reply).await
    }

    /// Explains how to use a command.
    async fn tell_how(&self, what: Incomplete, whisper: EphemeralTarget) {
        let command = &self.hub.options.command;
        let language = self.hub.language_told(&whisper.user, &whisper.channel);
        let how = match what {
            Incomplete::Ask => text!("slack-ask-how", command),
        };
        self.tell_aside(how.in_language(language.await), whisper);
    }

    /// Tells somebody something privately, without the bot.
    fn tell_aside(&self, how: String, mut whisper: EphemeralTarget) {
        whisper.is_command = true;
        let mut reply = self.ephemeral_reply(whisper);
        self.hub.chores.spawn(async move {
            if let Err(error) = reply.finish(&[SafeText::new(&how)]).await {
                tracing::debug!(%error, "how a command is used could not be said");
            }
        });
    }

    /// Decides how somebody is served in a channel; an empty one is a place without others.
    pub(super) async fn access(&self, doer: &Actor<'_>, channel: &str) -> Access {
        let SlackHub {
            api,
            directory,
            me,
            options,
            ..
        } = &*self.hub;
        let is_shared = match channel {
            "" => Some(false),
            _ => match directory.channel_now(api, channel).await {
                Some(known) => Some(known.is_shared),
                // Nobody else is there.
                None if self.hub.knows_direct(doer.user, channel) => Some(false),
                None => None,
            },
        };
        let speaker = Speaker {
            workspace: doer.team.unwrap_or(&me.team),
            user: doer.user,
            channel,
            is_shared: is_shared.unwrap_or(true),
        };
        Access::of(&options.allow, speaker, is_shared.is_some(), &me.team)
    }

    /// Records an opinion. Each person has one per answer: the opposite one is withdrawn.
    pub(super) async fn opinion(
        &self,
        doer: &Actor<'_>,
        answer: &MessageId,
        opinion: Opinion,
        of: &SlackPlace,
    ) -> Result<(), InboxClosed> {
        let team = &self.hub.me.team;
        let event = |opinion: Opinion| {
            let word = match opinion {
                Opinion::Good => "good",
                Opinion::Bad => "bad",
            };
            EventId::new(format!("{NAME}/{team}/{answer}/{word}/{}", doer.user))
        };
        let other = match opinion {
            Opinion::Good => Opinion::Bad,
            Opinion::Bad => Opinion::Good,
        };
        let given = Feedback::Given {
            event: event(opinion),
            answer: answer.clone(),
            person: ids::author(team, doer.user),
            opinion,
        };
        let audience = of.audience(team);
        self.inbox
            .deliver_opinion(audience, given, event(other))
            .await
    }

    /// Shares an ephemeral answer with the channel.
    pub(super) async fn share(&self, done: &Interaction, text: &str) {
        let address = done.response_url.as_deref();
        let address = address.and_then(|url| Url::parse(url).ok());
        let Some(address) = address.filter(|url| is_slacks(url, &self.hub.options.api_url)) else {
            return;
        };
        let hub = Arc::clone(&self.hub);
        // The button stands until the answer is shared, so it may be pressed twice.
        let answer = above(done);
        if !answer
            .as_ref()
            .is_none_or(|answer| hub.begin_sharing(answer))
        {
            return;
        }
        let person = hub.directory.person(&hub.api, &done.user).await;
        let name = person.map_or_else(|| done.user_name.clone(), |person| person.name);
        // Everybody there reads it.
        let of = done.channel.as_deref().unwrap_or_default();
        let audience = ids::audience(&hub.me.team, of);
        let language = hub.options.channels.language(&audience, None);
        let by = text!("slack-shared", name).in_language(language);
        let text = SafeText::new(&format!("{text}\n\n{by}"));
        let shared = json!({
            "response_type": "in_channel",
            "replace_original": false,
            "text": fallback(&text),
            "blocks": [{ "type": "markdown", "text": markdown(text.as_str()) }],
            "metadata": content::shared(),
            "unfurl_links": false,
            "unfurl_media": false,
        });
        // Only the person who pressed the button waits for it.
        let chores = self.hub.chores.clone();
        chores.spawn(async move {
            match respond(&hub, address.clone(), shared).await {
                Responded::Taken => {
                    respond(&hub, address, json!({ "delete_original": true })).await;
                }
                // The person sees that it failed, and may press again.
                Responded::Refused | Responded::Unknown | Responded::Unreached => {
                    if let Some(answer) = answer {
                        hub.shared.insert(answer, false);
                    }
                }
            }
        });
    }
}

/// Returns the message above a button.
fn above(done: &Interaction) -> Option<MessageId> {
    let SlackInteractionKind::Button { ts, .. } = &done.deed else {
        return None;
    };
    Some(ids::message(done.channel.as_deref()?, ts.as_deref()?))
}

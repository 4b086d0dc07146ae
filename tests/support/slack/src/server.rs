//! The server, as a test holds it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get, post};
use serde_json::Value;

use crate::app::SlackApp;
use crate::call::Call;
use crate::channel::SlackChannel;
use crate::delivery::{self, Addresses, Delivery, DeliveryTimings};
use crate::faults::ResponseFault;
use crate::ids::{APP_TOKEN, BOT_TOKEN};
use crate::manifest::manifest_faults;
use crate::outgoing::OutgoingKind;
use crate::person::{SlackPerson, TIMEOUT};
use crate::post::StreamState;
use crate::sockets::{self, SocketCommand};
use crate::state::{SharedState, State, brief};
use crate::web;
use crate::workspace::{ChannelKind, WorkspaceMember};

/// A Slack with one workspace and one app in it. See the crate.
#[derive(Debug)]
pub struct Slack {
    address: SocketAddr,
    pub(crate) shared: Arc<SharedState>,
    serving: tokio::task::JoinHandle<()>,
    is_checked: bool,
}

impl Slack {
    /// With an app that has all it needs, over Socket Mode.
    pub async fn start() -> Self {
        Self::with(SlackApp::default()).await
    }

    /// With the app that this manifest describes; what Slack would not take of it is a violation.
    pub async fn with_manifest(manifest: &Value) -> Self {
        let slack = Self::with(SlackApp::from_manifest(manifest)).await;
        slack.shared.change(|state| {
            for fault in manifest_faults(manifest) {
                state.violate(format!("manifest: {fault}"));
            }
        });
        slack
    }

    /// With this app.
    ///
    /// # Panics
    /// Panics when there is no port for it.
    pub async fn with(app: SlackApp) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut state = State::default();
        state.workspace.app = app;
        state.workspace.base_url = format!("http://{address}");
        let shared = SharedState::new(state);
        let router = Router::new()
            .route("/api/{method}", any(web::call))
            .route("/link/", get(sockets::link))
            .route("/response/{team}/{number}", post(web::response_url))
            .route("/files-pri/{id}/{name}", get(web::file))
            .route("/upload/v1/{id}", post(web::upload))
            .route("/login", get(web::login))
            .with_state(Arc::clone(&shared));
        let serving = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("it serves until it is aborted");
        });
        let is_checked = false;
        Self {
            address,
            shared,
            serving,
            is_checked,
        }
    }

    /// Where the Web API is: `http://127.0.0.1:<port>/api`.
    pub fn api_url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    /// Where the server itself is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on the app is told to open its connections at another address, which is to lead here.
    pub fn open_sockets_at(&self, front: SocketAddr) {
        self.shared
            .change(|state| state.sockets.front = Some(front));
    }

    /// Somebody new in the workspace.
    pub fn person(&self, name: &str) -> SlackPerson {
        self.member(WorkspaceMember {
            name: name.to_owned(),
            ..WorkspaceMember::default()
        })
    }

    /// Somebody who reads Slack in a language: `de-DE`.
    pub fn reader(&self, name: &str, locale: &str) -> SlackPerson {
        self.member(WorkspaceMember {
            name: name.to_owned(),
            locale: Some(locale.to_owned()),
            ..WorkspaceMember::default()
        })
    }

    /// A workspace administrator.
    pub fn admin(&self, name: &str) -> SlackPerson {
        let name = name.to_owned();
        self.member(WorkspaceMember {
            name,
            is_admin: true,
            ..WorkspaceMember::default()
        })
    }

    /// Somebody of another team, as in Slack Connect channels.
    pub fn stranger(&self, name: &str) -> SlackPerson {
        let name = name.to_owned();
        self.member(WorkspaceMember {
            name,
            is_stranger: true,
            ..WorkspaceMember::default()
        })
    }

    /// Another app's bot.
    pub fn other_bot(&self, name: &str) -> SlackPerson {
        let bot_id = self
            .shared
            .change(|state| crate::ids::id('B', state.workspace.number()));
        let (name, bot_id) = (name.to_owned(), Some(bot_id));
        self.member(WorkspaceMember {
            name,
            bot_id,
            ..WorkspaceMember::default()
        })
    }

    fn member(&self, member: WorkspaceMember) -> SlackPerson {
        let id = self
            .shared
            .change(|state| state.workspace.add_member(member));
        SlackPerson::new(Arc::clone(&self.shared), id)
    }

    /// A public channel with the bot in it.
    pub fn channel(&self, name: &str) -> SlackChannel {
        self.channel_of(ChannelKind::Public, name, &[])
    }

    /// A private channel with the bot and these people in it.
    pub fn private_channel(&self, name: &str, people: &[&SlackPerson]) -> SlackChannel {
        self.channel_of(ChannelKind::Private, name, people)
    }

    /// A group direct message of the bot and these people.
    pub fn group(&self, people: &[&SlackPerson]) -> SlackChannel {
        self.channel_of(ChannelKind::Group, "mpdm-group-1", people)
    }

    /// Direct messages between these people, of which the bot is told nothing.
    pub fn direct_between(&self, people: &[&SlackPerson]) -> SlackChannel {
        let direct = self.channel_of(ChannelKind::Direct, "", people);
        direct.remove_bot();
        direct
    }

    fn channel_of(&self, kind: ChannelKind, name: &str, people: &[&SlackPerson]) -> SlackChannel {
        let people: Vec<&str> = people.iter().map(|person| person.id()).collect();
        let id = self
            .shared
            .change(|state| state.workspace.add_room(kind, name, &people));
        SlackChannel::new(Arc::clone(&self.shared), id)
    }

    /// From now on the app is told over HTTP.
    pub fn tell_over_http(&self, addresses: Addresses) {
        self.balance(vec![addresses]);
    }

    /// From now on the app is told over HTTP, its replicas in turn, as behind a load balancer: retries and repeated
    /// events reach another one. None: over Socket Mode.
    pub fn balance(&self, replicas: Vec<Addresses>) {
        self.shared
            .change(|state| state.deliveries.addresses = replicas);
    }

    /// Other waits than Slack's.
    pub fn set_waits(&self, waits: DeliveryTimings) {
        self.shared.change(|state| state.waits = waits);
    }

    /// Changes what the app may do and is told, as a new installation does.
    pub fn reinstall(&self, app: SlackApp) {
        self.shared.change(|state| state.workspace.app = app);
    }

    /// Each event from now on is delivered so many times more.
    pub fn repeat_events(&self, times: usize) {
        self.shared.change(|state| state.deliveries.repeats = times);
    }

    /// From now on a mention is told before its message, and with what is documented of it only: without files.
    pub fn mention_first(&self) {
        self.shared
            .change(|state| state.workspace.mentions_first = true);
    }

    /// Keeps events back until [`Slack::let_go`].
    pub fn hold_events(&self) {
        self.shared.change(|state| state.deliveries.is_held = true);
    }

    /// Tells the events that were kept back, in their order.
    pub fn let_go(&self) {
        self.shared.change(|state| {
            state.deliveries.is_held = false;
            for id in std::mem::take(&mut state.deliveries.held) {
                delivery::tell(&self.shared, state, id, "");
            }
        });
    }

    /// Tells an event of any form, whether the app subscribed to it or not; its event id is given back.
    pub fn tell_event(&self, event: Value) -> String {
        self.shared.change(|state| {
            let payload = state.workspace.envelope(event);
            let id = payload["event_id"].as_str().unwrap_or_default().to_owned();
            state.workspace.send(OutgoingKind::Event, &id, payload);
            id
        })
    }

    /// Tells an outer event of any form, such as one that was told before.
    pub fn tell_payload(&self, payload: Value) {
        self.shared
            .change(|state| state.workspace.send(OutgoingKind::Event, "raw", payload));
    }

    /// The next call of a method goes wrong; an empty method is any.
    pub fn fail_next(&self, method: &str, fault: ResponseFault) {
        self.fail(method, fault, 1);
    }

    /// So many calls of a method go wrong.
    pub fn fail(&self, method: &str, fault: ResponseFault, times: usize) {
        self.shared
            .change(|state| state.faults.plan(method, fault, times, 0));
    }

    /// So many calls of a method pass, then one goes wrong.
    pub fn fail_after(&self, method: &str, passing: usize, fault: ResponseFault) {
        self.shared
            .change(|state| state.faults.plan(method, fault, 1, passing));
    }

    /// Ends every stream that runs, as Slack does with those that live for about five minutes.
    pub fn expire_streams(&self) {
        self.shared.change(|state| {
            for post in &mut state.workspace.posts {
                if post.stream == StreamState::Running {
                    post.stream = StreamState::Stopped;
                }
            }
        });
    }

    /// Keeps the documented rate limits from now on.
    pub fn keep_limits(&self) {
        self.shared.change(|state| state.limits.are_kept = true);
    }

    /// The app is distributed outside the Marketplace: history and replies once a minute, 15 items.
    pub fn unlist(&self) {
        self.shared.change(|state| state.limits.is_unlisted = true);
    }

    /// History and replies come in pages of so many messages, which name no cursor of the next: as in the older paging by
    /// time.
    pub fn page_by_time(&self, most: usize) {
        self.shared
            .change(|state| state.limits.page_by_time = Some(most));
    }

    /// Revokes the bot's token, and the app's.
    pub fn revoke_tokens(&self) {
        self.shared
            .change(|state| state.revoked = vec![BOT_TOKEN.to_owned(), APP_TOKEN.to_owned()]);
    }

    /// How many connections there are in Socket Mode.
    pub fn connections(&self) -> usize {
        self.shared.look().sockets.open.len()
    }

    /// Waits until so many connections were opened since the start, and one of them is usable.
    ///
    /// # Panics
    /// Panics when they are not in time.
    pub async fn connected(&self, times: usize) {
        let is_there = |state: &State| {
            let usable = state.sockets.open.iter().any(|one| !one.is_retiring);
            (state.sockets.opened >= times && usable).then_some(())
        };
        let connected = self.shared.until(TIMEOUT, is_there).await;
        let opened = self.shared.look().sockets.opened;
        assert!(
            connected.is_ok(),
            "{times} connections were waited for; {opened} were opened"
        );
    }

    /// Cuts every connection without a good-bye.
    pub fn cut_sockets(&self) {
        self.shared
            .change(|state| state.sockets.all(&SocketCommand::Cut));
    }

    /// Closes every connection with a good-bye.
    pub fn close_sockets(&self) {
        self.shared
            .change(|state| state.sockets.all(&SocketCommand::Close));
    }

    /// Every connection stays open and says nothing more, not even a pong.
    pub fn freeze_sockets(&self) {
        self.shared.change(|state| {
            state.sockets.all(&SocketCommand::Freeze);
            state
                .sockets
                .open
                .iter_mut()
                .for_each(|one| one.is_retiring = true);
        });
    }

    /// Tells every connection to disconnect, and closes it a while later ([`DeliveryTimings::refresh`]).
    pub fn disconnect_sockets(&self, reason: &str) {
        let frame = SocketCommand::Text(sockets::disconnect(reason).to_string());
        let (senders, wait) = self.shared.change(|state| {
            state.sockets.all(&frame);
            let open = state.sockets.open.iter_mut();
            let senders = open.map(|one| {
                one.is_retiring = true;
                one.sender.clone()
            });
            (senders.collect::<Vec<_>>(), state.waits.refresh)
        });
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            for sender in senders {
                // It may be closed already.
                let _ = sender.send(SocketCommand::Close);
            }
        });
    }

    /// Sends every connection a text as it is.
    pub fn send_text(&self, text: &str) {
        self.shared
            .change(|state| state.sockets.all(&SocketCommand::Text(text.to_owned())));
    }

    /// Every call of the Web API and of response addresses so far.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.look().calls.clone()
    }

    /// The calls of one method so far.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.method == method);
        calls
    }

    /// Waits for so many calls of a method since the start.
    ///
    /// # Panics
    /// Panics when they do not come in time.
    pub async fn called(&self, method: &str, times: usize) -> Vec<Call> {
        let called = self.shared.until(TIMEOUT, |state| {
            let calls = state.calls.iter().filter(|call| call.method == method);
            let calls: Vec<Call> = calls.cloned().collect();
            (calls.len() >= times).then_some(calls)
        });
        match called.await {
            Ok(calls) => calls,
            Err(()) => panic!(
                "{method} was waited for, {times} times; it came {}",
                self.calls_of(method).len()
            ),
        }
    }

    /// Everything that the app was told, or is.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared.look().deliveries.all.clone()
    }

    /// Waits until nothing is on its way any more.
    ///
    /// # Panics
    /// Panics when something still is.
    pub async fn all_told(&self) {
        let told = self.shared.until(TIMEOUT, |state| {
            let mut all = state.deliveries.all.iter();
            all.all(Delivery::is_over).then_some(())
        });
        if told.await.is_err() {
            let mut pending = self.deliveries();
            pending.retain(|delivery| !delivery.is_over());
            let pending: Vec<String> = pending
                .iter()
                .map(|delivery| brief(&delivery.payload))
                .collect();
            panic!("still on their way:\n{}", pending.join("\n"));
        }
    }

    /// Violations that contain `part` are expected: they do not fail the test.
    pub fn forgive(&self, part: &str) {
        self.shared.change(|state| {
            state
                .violations
                .retain(|violation| !violation.contains(part));
            state.forgiven.push(part.to_owned());
        });
    }

    /// The documented rules that were broken so far.
    pub fn violations(&self) -> Vec<String> {
        self.shared.look().violations.clone()
    }

    /// As [`Slack::violations`]; they fail the test no more.
    pub fn take_violations(&self) -> Vec<String> {
        self.shared
            .change(|state| std::mem::take(&mut state.violations))
    }

    /// Fails the test if a documented rule was broken.
    ///
    /// # Panics
    /// Panics when one was.
    #[track_caller]
    pub fn finish(mut self) {
        self.check();
    }

    #[track_caller]
    fn check(&mut self) {
        self.is_checked = true;
        let violations = self.violations();
        assert!(
            violations.is_empty(),
            "loopback Slack:\n{}",
            violations.join("\n")
        );
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        self.serving.abort();
        self.shared
            .change(|state| state.sockets.all(&SocketCommand::Cut));
        if !self.is_checked && !std::thread::panicking() {
            self.check();
        }
    }
}

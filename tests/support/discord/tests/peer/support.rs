//! A bot on serenity, with its cache, which echoes what it is asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loopback_discord::{Discord, TIMEOUT, TOKEN};
use serenity::all::{
    ButtonStyle, ChannelType, ClientBuilder, Command, CommandDataOptionValue, CommandInteraction,
    CommandOptionType, ComponentInteraction, Context, CreateActionRow, CreateAllowedMentions,
    CreateAutocompleteResponse, CreateButton, CreateCommand, CreateCommandOption,
    CreateInteractionResponse, CreateInteractionResponseFollowup, CreateInteractionResponseMessage,
    CreateMessage, CreateThread, EditInteractionResponse, EditMessage, Event, EventHandler,
    GatewayIntents, Http, HttpBuilder, Interaction, Message, RawEventHandler, Ready, ShardManager,
};
use serenity::async_trait;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the bot's client complained about or did not know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    /// Names of received events, as the client knows them.
    pub(crate) events: Vec<String>,
    /// How many messages of people the bot has handled.
    pub(crate) messages_handled: usize,
}

pub(crate) struct Peer {
    pub(crate) http: Arc<Http>,
    pub(crate) log: Arc<watch::Sender<Log>>,
    pub(crate) cache: Arc<serenity::cache::Cache>,
    shards: Arc<ShardManager>,
    running: JoinHandle<serenity::Result<()>>,
}

/// How the bot connects to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerTransport {
    Proxy,
    /// With a test's authority and Discord's own names, so that the client's rate limiter works.
    Tls,
}

pub(crate) fn http(discord: &Discord, way: PeerTransport, token: &str) -> Http {
    let _ = rustls::crypto::ring::default_provider().install_default();
    collect_warnings();
    match way {
        PeerTransport::Proxy => HttpBuilder::new(token)
            .proxy(discord.url())
            .ratelimiter_disabled(true)
            .build(),
        PeerTransport::Tls => {
            let authority =
                reqwest_012::Certificate::from_pem(discord.authority().as_bytes()).unwrap();
            let client = reqwest_012::Client::builder()
                .use_rustls_tls()
                .tls_built_in_root_certs(false)
                .add_root_certificate(authority)
                .resolve("discord.com", discord.tls_address());
            HttpBuilder::new(token)
                .client(client.build().unwrap())
                .build()
        }
    }
}

pub(crate) fn all_intents() -> GatewayIntents {
    GatewayIntents::non_privileged() | GatewayIntents::MESSAGE_CONTENT
}

/// Starts a server and a bot on it, and waits until it is ready.
pub(crate) async fn with_peer(way: PeerTransport) -> (Discord, Peer) {
    let discord = Discord::start().await;
    let peer = Peer::start(&discord, way, all_intents()).await;
    (discord, peer)
}

impl Peer {
    pub(crate) async fn start(
        discord: &Discord,
        way: PeerTransport,
        intents: GatewayIntents,
    ) -> Self {
        Self::start_shards(discord, way, intents, 1).await
    }

    pub(crate) async fn start_shards(
        discord: &Discord,
        way: PeerTransport,
        intents: GatewayIntents,
        shards: u32,
    ) -> Self {
        let log = Arc::new(watch::Sender::new(Log::default()));
        let handler = Echo {
            log: Arc::clone(&log),
        };
        let builder = ClientBuilder::new_with_http(http(discord, way, TOKEN), intents);
        let mut client = builder
            .event_handler(handler.clone())
            .raw_event_handler(handler)
            .await
            .unwrap();
        assert_eq!(*client.ws_url.lock().await, discord.gateway_url());
        let peer = Self {
            http: Arc::clone(&client.http),
            cache: Arc::clone(&client.cache),
            shards: Arc::clone(&client.shard_manager),
            log,
            running: tokio::spawn(async move { client.start_shards(shards).await }),
        };
        discord.registered("ask").await;
        discord.connected(shards as usize).await;
        peer
    }

    /// Waits until the client has received an event of this name.
    pub(crate) async fn hears_of(&self, event: &str) {
        let mut log = self.log.subscribe();
        let heard = log.wait_for(|log| log.events.iter().any(|known| known == event));
        let heard = tokio::time::timeout(TIMEOUT, heard).await.is_ok();
        assert!(
            heard,
            "{event} was not heard of, but {:?}",
            self.log.borrow().events
        );
    }

    /// Waits until the bot has handled this many messages of people.
    pub(crate) async fn handles_messages(&self, count: usize) {
        let mut log = self.log.subscribe();
        let handled = log.wait_for(|log| log.messages_handled >= count);
        let handled = tokio::time::timeout(TIMEOUT, handled).await.is_ok();
        assert!(handled, "{count} messages were not handled");
    }

    /// Waits for complaints of the client; returns and clears them.
    pub(crate) async fn complains(&self) -> String {
        let mut log = self.log.subscribe();
        let complained = log.wait_for(|log| !log.lines.is_empty());
        assert!(
            tokio::time::timeout(TIMEOUT, complained).await.is_ok(),
            "nothing went wrong"
        );
        let mut lines = Vec::new();
        self.log
            .send_modify(|log| lines = std::mem::take(&mut log.lines));
        lines.join("\n")
    }

    /// Ends the bot and the server; fails if the client complained.
    pub(crate) async fn finish(self, discord: Discord) {
        self.shards.shutdown_all().await;
        let ended = tokio::time::timeout(Duration::from_secs(10), self.running).await;
        assert!(ended.is_ok(), "the client did not end");
        assert_eq!(self.log.borrow().lines, Vec::<String>::new());
        assert_eq!(misread(), Vec::<String>::new());
        discord.finish();
    }
}

#[derive(Clone)]
struct Echo {
    log: Arc<watch::Sender<Log>>,
}

impl Echo {
    fn note(&self, result: serenity::Result<()>) {
        if let Err(error) = result {
            self.log
                .send_modify(|log| log.lines.push(format!("{error:?}")));
        }
    }
}

fn quiet() -> CreateAllowedMentions {
    CreateAllowedMentions::new()
}

fn buttons() -> CreateActionRow {
    let button = |name: &str| {
        CreateButton::new(format!("v1:{name}"))
            .label(name)
            .style(ButtonStyle::Secondary)
    };
    CreateActionRow::Buttons(vec![button("Why?"), button("Again")])
}

#[async_trait]
impl RawEventHandler for Echo {
    async fn raw_event(&self, _: Context, event: Event) {
        let name = event.name().unwrap_or_else(|| "unknown".to_owned());
        self.log.send_modify(|log| {
            if let Event::Unknown(unknown) = &event {
                log.lines.push(format!("an unknown event: {unknown:?}"));
            }
            log.events.push(name);
        });
    }
}

#[async_trait]
impl EventHandler for Echo {
    async fn ready(&self, context: Context, _: Ready) {
        let question = CreateCommandOption::new(
            CommandOptionType::String,
            "question",
            "What you want to know",
        )
        .required(true);
        let private =
            CreateCommandOption::new(CommandOptionType::Boolean, "private", "Only you see it");
        let name = CreateCommandOption::new(CommandOptionType::String, "name", "Which")
            .required(true)
            .set_autocomplete(true);
        let commands = vec![
            CreateCommand::new("ask")
                .description("Asks")
                .add_option(question)
                .add_option(private),
            CreateCommand::new("session")
                .description("Finds")
                .add_option(name),
            CreateCommand::new("Ask about this").kind(serenity::all::CommandType::Message),
        ];
        self.note(
            Command::set_global_commands(&context, commands)
                .await
                .map(|_| ()),
        );
    }

    async fn message(&self, context: Context, message: Message) {
        let me = context.cache.current_user().id;
        if message.author.bot || message.kind == serenity::all::MessageType::ThreadStarterMessage {
            return;
        }
        self.note(answer(&context, &message, me).await);
        self.log.send_modify(|log| log.messages_handled += 1);
    }

    async fn interaction_create(&self, context: Context, interaction: Interaction) {
        let done = match interaction {
            Interaction::Command(command) => answer_command(&context, &command).await,
            Interaction::Component(component) => answer_button(&context, &component).await,
            Interaction::Autocomplete(typing) => {
                let typed = typing
                    .data
                    .autocomplete()
                    .map(|option| option.value.to_owned())
                    .unwrap_or_default();
                let choices = CreateAutocompleteResponse::new()
                    .add_string_choice(format!("the one of {typed}"), typed);
                typing
                    .create_response(&context, CreateInteractionResponse::Autocomplete(choices))
                    .await
            }
            other => panic!("{other:?}"),
        };
        self.note(done);
    }
}

async fn answer(
    context: &Context,
    message: &Message,
    me: serenity::all::UserId,
) -> serenity::Result<()> {
    let is_mention = message.mentions.iter().any(|user| user.id == me);
    let channel = message.channel_id.to_channel(context).await?;
    let is_thread = channel
        .clone()
        .guild()
        .is_some_and(|channel| channel.thread_metadata.is_some());
    let is_direct = message.guild_id.is_none();
    let place = if is_thread || is_direct {
        message.channel_id
    } else if is_mention {
        let thread = CreateThread::new("Answer").kind(ChannelType::PublicThread);
        message
            .channel_id
            .create_thread_from_message(context, message.id, thread)
            .await?
            .id
    } else {
        return Ok(());
    };
    let text = message.content.replace(&format!("<@{me}> "), "");
    place.broadcast_typing(&context.http).await?;
    let first = CreateMessage::new().content("…").allowed_mentions(quiet());
    let mut said = place.send_message(context, first).await?;
    let whole = EditMessage::new()
        .content(format!("echo: {text}"))
        .allowed_mentions(quiet())
        .components(vec![buttons()]);
    said.edit(context, whole).await
}

async fn answer_command(context: &Context, command: &CommandInteraction) -> serenity::Result<()> {
    let options = &command.data.options;
    let is_private = options.iter().any(|option| {
        option.name == "private" && option.value == CommandDataOptionValue::Boolean(true)
    });
    let question = match command.data.target_id {
        Some(id) => command.data.resolved.messages[&id.to_message_id()]
            .content
            .clone(),
        None => options[0].value.as_str().unwrap_or_default().to_owned(),
    };
    let deferral = CreateInteractionResponseMessage::new().ephemeral(is_private);
    command
        .create_response(context, CreateInteractionResponse::Defer(deferral))
        .await?;
    let whole = EditInteractionResponse::new()
        .content(format!("echo: {question}"))
        .allowed_mentions(quiet())
        .components(vec![buttons()]);
    command.edit_response(context, whole).await?;
    if question.contains("long") {
        let more = CreateInteractionResponseFollowup::new()
            .content("and more")
            .allowed_mentions(quiet())
            .ephemeral(is_private);
        command.create_followup(context, more).await?;
    }
    Ok(())
}

async fn answer_button(
    context: &Context,
    component: &ComponentInteraction,
) -> serenity::Result<()> {
    if component.data.custom_id == "v1:Again" {
        component
            .create_response(context, CreateInteractionResponse::Acknowledge)
            .await?;
        let again = EditMessage::new()
            .content("echo: again")
            .allowed_mentions(quiet());
        return component.message.clone().edit(context, again).await;
    }
    let because = CreateInteractionResponseMessage::new()
        .content("because")
        .ephemeral(true)
        .allowed_mentions(quiet());
    component
        .create_response(context, CreateInteractionResponse::Message(because))
        .await
}

/// serenity's warnings, from all tests of this process.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Warnings;

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        let metadata = event.metadata();
        if *metadata.level() <= tracing::Level::WARN && metadata.target().starts_with("serenity") {
            let mut text = String::new();
            event.record(
                &mut |_: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                    text.push_str(&format!("{value:?} "));
                },
            );
            WARNINGS.lock().unwrap().push(text);
        }
    }
}

fn collect_warnings() {
    use tracing_subscriber::layer::SubscriberExt;
    // Only the first test of the process installs it.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Warnings));
}

/// Returns payloads that serenity could not read, and responses with an unexpected status.
fn misread() -> Vec<String> {
    let warnings = WARNINGS.lock().unwrap();
    let is_misread = |line: &&String| {
        [
            "deserializing",
            "decompressing",
            "Mismatched",
            "Sent invalid opcode",
            "Sent invalid message",
            "Sent invalid seq",
            "Unhandled",
        ]
        .iter()
        .any(|part| line.contains(part))
    };
    warnings.iter().filter(is_misread).cloned().collect()
}

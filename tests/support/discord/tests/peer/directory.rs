//! All other requests: serenity must understand every response of the server.

use loopback_discord::Permissions;
use serde_json::json;
use serenity::all::{ApplicationId, ChannelId, GuildId, MessageId, UserId};

use crate::support::{PeerTransport, with_peer};

#[tokio::test(flavor = "multi_thread")]
async fn who_and_what_there_is() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let (ann, general) = (guild.person("ann"), guild.text("general"));
    guild.forum("help");
    guild.voice("talk");
    let chat = ann.at(&general);
    let thread = chat.open_thread("plans");
    let http = &peer.http;
    let (guild_id, ann_id) = (GuildId::new(guild.id().get()), UserId::new(ann.id().get()));
    assert_eq!(http.get_current_user().await.unwrap().name, "Muninn");
    assert_eq!(http.get_guilds(None, None).await.unwrap()[0].name, "Ravens");
    assert_eq!(http.get_guild(guild_id).await.unwrap().name, "Ravens");
    assert_eq!(http.get_channels(guild_id).await.unwrap().len(), 3);
    assert_eq!(
        http.get_member(guild_id, ann_id).await.unwrap().user.name,
        "ann"
    );
    let application = http.get_current_application_info().await.unwrap();
    assert!(
        application.flags.unwrap().bits() & 1 << 19 != 0,
        "it may read contents"
    );
    let inside = ChannelId::new(thread.id().get());
    inside.add_thread_member(http, ann_id).await.unwrap();
    let here = ChannelId::new(general.id().get());
    let said = MessageId::new(chat.say("ravens").get());
    general.allows(Permissions::MANAGE_MESSAGES | Permissions::MANAGE_CHANNELS);
    http.delete_message(here, said, None).await.unwrap();
    http.edit_channel(here, &json!({ "topic": "birds" }), None)
        .await
        .unwrap();
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_set_at_once() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = GuildId::new(discord.guild("Ravens").id().get());
    let http = &peer.http;
    http.set_application_id(ApplicationId::new(discord.bot().get()));
    assert_eq!(http.get_global_commands().await.unwrap().len(), 3);
    let why = json!([{ "name": "why", "description": "d" }]);
    let own = http.create_guild_commands(guild, &why).await.unwrap();
    let set = http.create_guild_commands(guild, &why).await.unwrap();
    assert_eq!(set[0].id, own[0].id, "a known command keeps its id");
    assert_eq!(http.get_guild_commands(guild).await.unwrap().len(), 1);
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_can_be_changed_and_taken_away() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let chat = guild.person("ann").at(&guild.text("general"));
    let http = &peer.http;
    http.set_application_id(ApplicationId::new(discord.bot().get()));
    let asked = chat.ask("a long one?", &[]);
    asked.hears("echo: a long one?").await;
    let more = asked
        .finds("what follows", |said| said.text == "and more")
        .await;
    let (token, id) = (asked.token(), MessageId::new(more.id.get()));
    let body = json!({ "content": "changed", "allowed_mentions": { "parse": [] } });
    http.edit_followup_message(&token, id, &body, Vec::new())
        .await
        .unwrap();
    asked.hears("changed").await;
    http.delete_followup_message(&token, id).await.unwrap();
    http.delete_original_interaction_response(&token)
        .await
        .unwrap();
    assert_eq!(chat.said().len(), 0);
    peer.finish(discord).await;
}

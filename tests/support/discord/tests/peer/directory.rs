//! Everything else that can be asked of the server: what it answers is what serenity knows.

use loopback_discord::Permissions;
use serde_json::json;
use serenity::all::{
    ApplicationId, ChannelId, CommandId, GuildId, MessageId, ReactionType, UserId,
};

use crate::support::{Way, with_peer};

#[tokio::test(flavor = "multi_thread")]
async fn who_and_what_there_is() {
    let (discord, peer) = with_peer(Way::Proxy).await;
    let guild = discord.guild("Ravens");
    let (ann, general) = (guild.person("ann"), guild.text("general"));
    guild.forum("help");
    let talk = guild.voice("talk");
    let chat = ann.at(&general);
    let thread = chat.open_thread("plans");
    let http = &peer.http;
    let (guild_id, ann_id) = (GuildId::new(guild.id().get()), UserId::new(ann.id().get()));
    assert_eq!(http.get_current_user().await.unwrap().name, "Muninn");
    assert_eq!(http.get_user(ann_id).await.unwrap().name, "ann");
    assert_eq!(http.get_guilds(None, None).await.unwrap()[0].name, "Ravens");
    assert_eq!(http.get_guild(guild_id).await.unwrap().name, "Ravens");
    assert_eq!(http.get_channels(guild_id).await.unwrap().len(), 3);
    assert_eq!(
        http.get_guild_members(guild_id, Some(10), None)
            .await
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        http.get_member(guild_id, ann_id).await.unwrap().user.name,
        "ann"
    );
    assert_eq!(http.get_guild_roles(guild_id).await.unwrap().len(), 2);
    let application = http.get_current_application_info().await.unwrap();
    assert!(
        application.flags.unwrap().bits() & 1 << 19 != 0,
        "it may read contents"
    );
    assert_eq!(
        guild_id
            .get_active_threads(http)
            .await
            .unwrap()
            .threads
            .len(),
        1
    );
    let inside = ChannelId::new(thread.id().get());
    inside.join_thread(http).await.unwrap();
    assert_eq!(inside.get_thread_members(http).await.unwrap().len(), 2);
    inside.add_thread_member(http, ann_id).await.unwrap();
    inside.leave_thread(http).await.unwrap();
    thread.channel().is_archived();
    let here = ChannelId::new(general.id().get());
    assert_eq!(
        here.get_archived_public_threads(http, None, None)
            .await
            .unwrap()
            .threads
            .len(),
        1
    );
    let said = MessageId::new(chat.say("ravens").get());
    let like = ReactionType::Unicode("👍".to_owned());
    http.create_reaction(here, said, &like).await.unwrap();
    assert_eq!(
        http.get_reaction_users(here, said, &like, 10, None)
            .await
            .unwrap()
            .len(),
        1
    );
    http.delete_reaction_me(here, said, &like).await.unwrap();
    general.allows(Permissions::MANAGE_MESSAGES | Permissions::MANAGE_CHANNELS);
    http.delete_message(here, said, None).await.unwrap();
    let both = [chat.say("one"), chat.say("two")].map(|id| id.to_string());
    http.delete_messages(here, &json!({ "messages": both }), None)
        .await
        .unwrap();
    http.edit_channel(here, &json!({ "topic": "birds" }), None)
        .await
        .unwrap();
    talk.allows(Permissions::MANAGE_CHANNELS);
    http.delete_channel(ChannelId::new(talk.id().get()), None)
        .await
        .unwrap();
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_kept_one_by_one() {
    let (discord, peer) = with_peer(Way::Proxy).await;
    let guild = GuildId::new(discord.guild("Ravens").id().get());
    let http = &peer.http;
    http.set_application_id(ApplicationId::new(discord.bot().get()));
    let (body, changed) = (
        json!({ "name": "why", "description": "d" }),
        json!({ "description": "e" }),
    );
    let global = http.create_global_command(&body).await.unwrap();
    assert_eq!(
        http.get_global_command(global.id).await.unwrap().name,
        "why"
    );
    http.edit_global_command(global.id, &changed).await.unwrap();
    http.delete_global_command(global.id).await.unwrap();
    assert_eq!(http.get_global_commands().await.unwrap().len(), 3);
    let own = http.create_guild_command(guild, &body).await.unwrap();
    assert_eq!(
        http.get_guild_command(guild, own.id).await.unwrap().name,
        "why"
    );
    let own = http
        .edit_guild_command(guild, own.id, &changed)
        .await
        .unwrap();
    assert_eq!(own.description, "e");
    let set = http
        .create_guild_commands(guild, &json!([body]))
        .await
        .unwrap();
    assert_eq!(set[0].id, own.id, "a known command keeps its id");
    http.delete_guild_command(guild, own.id).await.unwrap();
    assert_eq!(http.get_guild_commands(guild).await.unwrap().len(), 0);
    assert!(
        http.get_guild_command(guild, CommandId::new(1))
            .await
            .is_err()
    );
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_can_be_looked_at_changed_and_taken_away() {
    let (discord, peer) = with_peer(Way::Proxy).await;
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
    assert_eq!(
        http.get_original_interaction_response(&token)
            .await
            .unwrap()
            .content,
        "echo: a long one?"
    );
    assert_eq!(
        http.get_followup_message(&token, id).await.unwrap().content,
        "and more"
    );
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

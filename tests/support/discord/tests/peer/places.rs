//! Threads, forums, permissions and deletions.

use loopback_discord::{Permissions, Target};
use serenity::all::{
    ChannelId, CreateAllowedMentions, CreateMessage, EditMessage, EditThread, MessageId,
};

use crate::support::{PeerTransport, with_peer};

fn quiet(text: &str) -> CreateMessage {
    CreateMessage::new()
        .content(text)
        .allowed_mentions(CreateAllowedMentions::new())
}

/// Returns Discord's code of a refusal.
fn code<T: std::fmt::Debug>(result: serenity::Result<T>) -> isize {
    let error = result.unwrap_err();
    let serenity::Error::Http(serenity::http::HttpError::UnsuccessfulRequest(refusal)) = error
    else {
        panic!("{error:?}")
    };
    refusal.error.code
}

#[tokio::test(flavor = "multi_thread")]
async fn forums_private_threads_and_announcements_are_threads_too() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let (ann, ben) = (guild.person("ann"), guild.person("ben"));
    let post = ann.at(&guild.forum("help")).open_post("A question", "how?");
    post.hears("echo: how?").await;
    let general = guild.text("general");
    let private = ann.at(&general).open_private_thread("secret");
    private.say("not for the bot");
    private.mention("come in");
    private.hears("echo: come in").await;
    assert_eq!(ben.at(&general).threads().len(), 0);
    assert_eq!(private.said().len(), 1);
    let news = ann.at(&guild.announcements("news"));
    let question = news.mention("what is new?");
    news.thread_on(question)
        .await
        .hears("echo: what is new?")
        .await;
    for event in [
        "THREAD_CREATE",
        "THREAD_MEMBER_UPDATE",
        "THREAD_MEMBERS_UPDATE",
    ] {
        peer.hears_of(event).await;
    }
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_done_is_refused_by_discords_codes() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let (ann, general) = (guild.person("ann"), guild.text("general"));
    let chat = ann.at(&general);
    let here = ChannelId::new(general.id().get());
    let said = MessageId::new(chat.say("hello").get());
    // The bot reads the channel for it, which it may not do any more below.
    peer.handles_messages(1).await;

    let mine = here.send_message(&peer.http, quiet("mine")).await.unwrap();
    let text = EditMessage::new()
        .content("x")
        .allowed_mentions(CreateAllowedMentions::new());
    assert_eq!(
        code(here.edit_message(&peer.http, said, text.clone()).await),
        50005
    );
    assert_eq!(code(here.delete_message(&peer.http, said).await), 50013);
    assert_eq!(
        code(here.message(&peer.http, MessageId::new(1)).await),
        10008
    );
    let gone = quiet("x").reference_message((here, MessageId::new(1)));
    assert_eq!(code(here.send_message(&peer.http, gone).await), 50035);

    general.denies(Permissions::SEND_MESSAGES);
    assert_eq!(code(here.send_message(&peer.http, quiet("x")).await), 50013);
    general.allows(Permissions::SEND_MESSAGES);
    general.denies(Permissions::VIEW_CHANNEL);
    assert_eq!(code(here.send_message(&peer.http, quiet("x")).await), 50001);
    general.allows(Permissions::VIEW_CHANNEL);

    let thread = chat.open_thread("a thread");
    let inside = ChannelId::new(thread.id().get());
    let said = inside.send_message(&peer.http, quiet("x")).await.unwrap();
    thread.channel().is_archived();
    assert_eq!(
        code(inside.edit_message(&peer.http, said.id, text.clone()).await),
        50083
    );
    inside
        .send_message(&peer.http, quiet("it opens again"))
        .await
        .unwrap();
    assert!(!chat.threads()[0].is_archived);
    thread.channel().is_locked();
    assert_eq!(
        code(inside.send_message(&peer.http, quiet("x")).await),
        160_005
    );
    let opened = inside
        .edit_thread(&peer.http, EditThread::new().archived(false))
        .await;
    assert_eq!(code(opened), 50013);

    general.is_deleted();
    assert_eq!(
        code(here.edit_message(&peer.http, mine.id, text).await),
        10003
    );
    ann.closes_direct_messages(true);
    let direct = serenity::all::UserId::new(ann.id().get())
        .create_dm_channel(&peer.http)
        .await
        .unwrap();
    assert_eq!(
        code(direct.id.send_message(&peer.http, quiet("x")).await),
        50007
    );
    for event in [
        "CHANNEL_UPDATE",
        "CHANNEL_DELETE",
        "CHANNEL_CREATE",
        "THREAD_UPDATE",
        "THREAD_LIST_SYNC",
    ] {
        peer.hears_of(event).await;
    }
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_change_and_take_away_is_told() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let general = guild.text("general");
    let (ann, mod_) = (guild.person("ann"), guild.moderator("mo"));
    let chat = ann.at(&general);
    let said: Vec<_> = ["one", "two", "three"]
        .iter()
        .map(|text| chat.say(text))
        .collect();
    chat.edit(said[0], "one and a half");
    chat.reply(said[1], "indeed");
    chat.types();
    chat.unfurls(said[1], "https://example.org");
    chat.pin(said[2]);
    let history = ChannelId::new(general.id().get())
        .messages(&peer.http, serenity::all::GetMessages::new().limit(3))
        .await;
    let history: Vec<String> = history
        .unwrap()
        .into_iter()
        .map(|message| message.content)
        .collect();
    assert_eq!(history, ["", "indeed", "three"]);
    chat.delete(said[0]);
    mod_.at(&general).bulk_delete(&said[1..]);
    general.webhook("news").says("from outside");
    guild.other_bot("crow").at(&general).say("caw");
    for event in [
        "MESSAGE_UPDATE",
        "MESSAGE_DELETE",
        "MESSAGE_DELETE_BULK",
        "TYPING_START",
        "CHANNEL_PINS_UPDATE",
    ] {
        peer.hears_of(event).await;
    }
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_with_messages() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let general = guild.text("general");
    let chat = guild.person("ann").at(&general);
    let here = ChannelId::new(general.id().get());
    let said = chat.attach("notes.txt", "text/plain", b"ten o'clock", "when?");
    let message = here
        .message(&peer.http, MessageId::new(said.get()))
        .await
        .unwrap();
    let file = &message.attachments[0];
    assert_eq!((file.filename.as_str(), file.size), ("notes.txt", 11));
    assert_eq!(file.download().await.unwrap(), b"ten o'clock");
    chat.menu("Ask about this", Target::Message(said))
        .hears("echo: when?")
        .await;
    peer.finish(discord).await;
}

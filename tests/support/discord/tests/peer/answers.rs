//! Whole conversations with serenity, a client that does not know this server.

use loopback_discord::Target;
use serde_json::json;

use crate::support::{PeerTransport, with_peer};

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_opens_a_thread_and_the_talk_goes_on_there() {
    for way in [PeerTransport::Proxy, PeerTransport::Tls] {
        let (discord, peer) = with_peer(way).await;
        let general = discord.guild("Ravens").text("general");
        let guild = discord.guild("Crows");
        let ann = guild.person("ann");
        let chat = ann.at(&guild.text("general"));
        chat.say("nobody is meant");
        let question = chat.mention("are you there?");
        let thread = chat.thread_on(question).await;
        let answer = thread.hears("echo: are you there?").await;
        assert_eq!(answer.texts, ["…", "echo: are you there?"]);
        assert!(!thread.typed().is_empty());
        thread.say("and now?");
        thread.hears("echo: and now?").await;
        assert_eq!(chat.said().len(), 0);
        assert_ne!(general.id(), chat.id());
        peer.finish(discord).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_deferred_edited_and_followed_up() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let (ann, ben) = (guild.person("ann"), guild.person("ben"));
    let general = guild.text("general");
    let chat = ann.at(&general);
    let answer = chat
        .ask("a long one?", &[])
        .hears("echo: a long one?")
        .await;
    assert!(!answer.is_ephemeral && !answer.is_thinking);
    chat.hears("and more").await;
    let private = chat.ask("a secret?", &[("private", json!(true))]);
    assert!(private.hears("echo: a secret?").await.is_ephemeral);
    assert!(
        ben.at(&general)
            .said()
            .iter()
            .all(|said| said.text != "echo: a secret?")
    );
    let choices = chat.completes("session", "name", "rav").await;
    assert_eq!(choices, [("the one of rav".to_owned(), json!("rav"))]);
    let said = chat.say("ravens fly");
    chat.menu("Ask about this", Target::Message(said))
        .hears("echo: ravens fly")
        .await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn buttons_and_direct_messages_work() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let ann = discord.guild("Ravens").person("ann");
    let chat = ann.direct();
    chat.say("hello");
    let answer = chat.hears("echo: hello").await;
    let why = chat.click(&answer, "Why?").hears("because").await;
    assert!(why.is_ephemeral);
    let again = chat.click(&answer, "Again");
    chat.finds("the answer anew", |said| {
        said.id == answer.id && said.text == "echo: again"
    })
    .await;
    assert!(again.is_silent());
    peer.finish(discord).await;
}

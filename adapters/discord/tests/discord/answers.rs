//! What answers look like on their way and in the end.

use crate::support::{Home, Way, scene, scene_in};
use loopback_discord::Settings;

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_opens_a_thread_and_is_answered_there() {
    for way in [Way::Proxy, Way::Real] {
        let scene = scene_in(Home::with(way, Settings::default()).await).await;
        let question = scene
            .chat
            .mention("What is the code of the coffee machine?");
        let thread = scene.chat.thread_on(question).await;
        let answer = thread
            .hears("echo: What is the code of the coffee machine?")
            .await;
        assert_eq!(
            scene.chat.threads()[0].name,
            "What is the code of the coffee machine?"
        );
        assert!(answer.hides_embeds);
        let labels: Vec<&str> = answer.buttons.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["Why?", "👍", "👎", "Regenerate"]);
        thread.say("And of the door?");
        thread.hears("echo: And of the door?").await;
        assert_eq!(scene.chat.said().len(), 0, "nothing beside the thread");
        scene.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_asked_by_command_is_answered_in_its_place() {
    for way in [Way::Proxy, Way::Real] {
        let scene = scene_in(Home::with(way, Settings::default()).await).await;
        let asked = scene.chat.ask("who leads?", &[]);
        let answer = asked.hears("echo: who leads?").await;
        assert!(!answer.is_ephemeral);
        assert!(asked.follow_ups().is_empty());
        scene.finish().await;
    }
}

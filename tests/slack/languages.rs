//! The bot's own texts, in the reader's language.

use loopback_slack::Message;

use super::home::SlackProgram;
use super::support::model_server::{ModelServer, Reply};
use super::support::program::{asks, end};
use super::{is_kept, standing};

fn says(beginning: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.shown.starts_with(beginning)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_is_told_in_their_language_and_everybody_in_the_channels() {
    let server = ModelServer::start().await;
    let mut home = SlackProgram::over_socket(&server).await;
    let channel = home.slack.channel("kitchen");
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("channels.toml");
    let set = format!(
        "[\"slack/T00RAVENS1/{}\"]\nlanguage = \"pt\"\n",
        channel.id()
    );
    std::fs::write(&settings, set).unwrap();
    let settings = settings.display().to_string();
    home.program = home.program.with("CHANNEL_SETTINGS", settings);
    home.program = home.program.with("LANGUAGE", "it_IT:fr");
    let bot = home.start().await;
    let jonas = home.slack.reader("Jonas", "de-DE");
    let kenji = home.slack.reader("Kenji", "ja-JP");
    let (jonas_here, kenji_here) = (jonas.in_channel(&channel), kenji.in_channel(&channel));

    // Private commands are answered in the person's language, even in the same channel.
    jonas_here.slash("/muninn", "memory").await;
    jonas_here
        .hears("Ich habe nichts von dem behalten, was du hier gesagt hast.")
        .await;
    kenji_here.slash("/muninn", "memory").await;
    kenji_here
        .hears("ここでのあなたの発言は、何も記憶していません。")
        .await;

    // Public messages to the bot are answered in the channel's language.
    server.expects(asks("is 4711.")).answers("Notiert.");
    let told = jonas_here.ask("Der Code der Kaffeemaschine is 4711.");
    let thread = jonas_here.in_thread(&told);
    thread.finds("the answer", is_kept("Notiert.")).await;
    let kenji_thread = kenji_here.in_thread(&told);
    kenji_thread.ask("mute channel");
    kenji_thread
        .finds(
            "that he may not",
            says("Só um administrador do workspace pode"),
        )
        .await;
    thread.ask("forget last");
    thread
        .finds("that it is forgotten", says("Esquecido: sua mensagem de "))
        .await;

    // In direct messages the person's language counts; if it is unset, that of LANGUAGE.
    let direct = kenji.with_bot();
    direct.ask("forget last");
    direct
        .hears("ここには、忘れるべきあなたの発言はありません。")
        .await;
    let elsewhere = home.slack.channel("garden");
    let garden = jonas.in_channel(&elsewhere);
    garden.ask("history");
    garden.hears("Rien n’a encore été dit ici.").await;

    // The notice of an answer without a model.
    server
        .expects(asks("Wer hat Schlüssel?"))
        .replies(Reply::refusal(401, "invalid_api_key", "no such key"));
    let asked = garden.ask("Wer hat Schlüssel?");
    let thread = garden.in_thread(&asked);
    thread
        .finds("what is left", |it| {
            it.shown.contains("Je n’ai aucun souvenir à ce sujet.")
        })
        .await;
    assert!(
        standing(&thread)
            .iter()
            .any(|it| it.contains("Je n’ai pas pu interroger le modèle")),
        "{:?}",
        standing(&thread)
    );
    end(bot).await;
    server.finish();
    home.slack.finish();
}

//! Channels of different kinds: one bot, whose settings make it another in each of them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use muninn::demo::load_movies;
use serde_json::json;
use support::bot::{Place, TestBot};
use support::model_server::{ModelServer, Request};

/// A bot with the movies, whose settings file is `settings`: `PLACE` stands there for the name of the place, so that
/// `PLACE/general` is the channel of [`TestBot::room`].
async fn bot_with(place: &Place, server: &ModelServer, settings: &str) -> TestBot {
    let folder = place.path().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("nodes.toml"), "embed = \"none\"").unwrap();
    let path = place.path().join("channels.toml");
    std::fs::write(&path, settings.replace("PLACE", &place.prefix())).unwrap();
    let options = [
        format!("--channel-settings={}", path.display()),
        format!("--prompts-dir={}", folder.display()),
    ];
    let options = options.each_ref().map(String::as_str);
    let bot = place.bot(&place.config(Some(server), &options)).await;
    load_movies(&bot.store).await.unwrap();
    bot
}

fn utility(begin: &'static str) -> impl Fn(&Request) -> bool {
    move |request| request.model() == "utility" && request.last_user().starts_with(begin)
}

const CONTENT: &str = r#"{"questions": []}"#;

#[tokio::test(flavor = "multi_thread")]
async fn words_are_chosen_as_is_set_for_each_kind_of_call() {
    let place = Place::embedded();
    let server = ModelServer::start().await;
    let settings = "
        ['*'.sampling]
        answer = { temperature = 0.8, seed = 7 }
        ['PLACE/general'.sampling]
        answer = { temperature = 0.1, stop = ['---'] }
        critique = { temperature = 0.5 }
    ";
    let bot = bot_with(&place, &server, settings).await;
    let question = "How many films are there?";
    let call = json!({"question": question});
    // Statements and the critic's questions are written the likeliest way unless something else is set.
    let statement = "MATCH (m:Movie) RETURN count(m) AS films";
    let answering = |room: &'static str| {
        move |request: &Request| {
            let body = &request.body;
            let expected = match room {
                "general" => (json!(0.1), json!(["---"])),
                _ => (json!(0.8), json!(null)),
            };
            (body["temperature"].clone(), body["stop"].clone()) == expected && body["seed"] == 7
        }
    };
    for (room, critique) in [("general", 0.5), ("other", 0.0)] {
        server
            .expects(move |request| answering(room)(request) && !request.tools().is_empty())
            .calls(&[("text2cypher", call.clone())]);
        server
            .expects(|request| {
                request.texts("user")[0].contains("# Schema") && request.body["temperature"] == 0.0
            })
            .answers(statement);
        server
            .expects(move |request| {
                utility("Judge whether")(request) && request.body["temperature"] == critique
            })
            .answers(CONTENT);
        server
            .expects(move |request| answering(room)(request) && request.tools().is_empty())
            .answers("40.");
        let answer = bot.room_of("a", room).say("ada", question).await;
        assert_eq!(answer.text(), "40.");
    }
    bot.end().await;
    server.finish();
}

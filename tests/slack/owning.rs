//! A person's own items.

use loopback_slack::Message;
use serde_json::json;

use super::home::SlackProgram;
use super::is_kept;
use super::support::http_server::{HttpReply, HttpServer};
use super::support::model_server::{ModelServer, ModelServerRequest};
use super::support::program::{asks, end, kill};

fn says(words: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.is_ephemeral && message.shown.contains(words)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recalled_is_corrected_and_forgotten_by_who_said_it_and_given_to_them() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_http(&server).await;
    let bot = home.start().await;
    let channel = home.slack.channel("kitchen");
    let (ann, bob) = (home.slack.person("Ann"), home.slack.person("Bob"));
    let (anns, bobs) = (ann.in_channel(&channel), bob.in_channel(&channel));
    server.expects(asks("is 4711.")).answers("Noted.");
    let told = anns.ask("The code of the coffee machine is 4711.");
    let noted = anns.in_thread(&told);
    noted.finds("the answer", is_kept("Noted.")).await;
    server.expects(asks("machine?")).answers("It is 4711.");
    let asked = bobs.ask("What is the code of the coffee machine?");
    let thread = bobs.in_thread(&asked);
    let answer = thread.finds("it", is_kept("It is 4711.")).await;

    // Bob did not say it, so neither a button nor a number works.
    thread.click(&answer, "Why?").await;
    let why = thread.finds("why", says("Recalled:")).await;
    assert_eq!(why.buttons(), ["Forget 1", "Correct 1"]);
    thread.click(&why, "Forget 1").await;
    thread
        .finds("no", says("Somebody else said number 1"))
        .await;
    bobs.slash("/muninn", "forget 1").await;
    let twice = |said: &[Message]| {
        let told = said
            .iter()
            .filter(|it| says("Somebody else said number 1")(it));
        (told.count() == 2).then_some(())
    };
    bobs.sees("no, by the number too", twice).await;

    // Ann did.
    let anns_view = anns.in_thread(&asked);
    anns_view.click(&answer, "Why?").await;
    let why = anns_view.finds("why", says("Recalled:")).await;
    anns_view.click(&why, "Correct 1").await;
    let form = ann.sees_form().await;
    ann.submits(&form, "The code of the coffee machine is 4712.")
        .await;
    anns_view
        .finds("that", says("Corrected. From now on"))
        .await;
    anns_view.click(&why, "Forget 1").await;
    anns_view
        .finds("that", says("Forgotten: what was number 1"))
        .await;
    anns_view.click(&why, "Forget 1").await;
    anns_view.finds("that", says("is forgotten already")).await;

    anns.slash("/muninn", "export mine").await;
    let sent = says("I sent it to you in a direct message.");
    anns.finds("where it is", sent).await;
    let given = ann.with_bot().said();
    let [(json, content), (markdown, _)] = given[0].files.as_slice() else {
        panic!("{given:?}");
    };
    assert!(json.ends_with(".json") && markdown.ends_with(".md"));
    let all: Vec<serde_json::Value> = serde_json::from_slice(content).unwrap();
    let texts: Vec<&str> = all.iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(texts, ["The code of the coffee machine is 4712."]);
    end(bot).await;
    server.finish();
    home.slack.finish();
}

/// Adds a tool that opens tickets at a service, with a confirmation.
fn tickets(home: &SlackProgram, service: &HttpServer) {
    let tools = home.program.folder.path().join("own/tools");
    std::fs::create_dir_all(&tools).unwrap();
    let tool = format!(
        "name = 'open_ticket'\ndescription = 'Opens a ticket.'\nmethod = 'POST'\nurl = '{}/tickets'\nprivate = true\n",
        service.url()
    );
    std::fs::write(tools.join("open.toml"), tool).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_change_something_is_done_when_who_asked_presses_the_button() {
    let (server, service) = (ModelServer::start().await, HttpServer::start().await);
    let mut home = SlackProgram::over_http(&server).await;
    home.program = home
        .program
        .with("PROMPTS_DIR", "own")
        .with("AGENT_MAX_ROUNDS", "0");
    tickets(&home, &service);
    let bot = home.start().await;
    let channel = home.slack.channel("kitchen");
    let (ann, bob) = (home.slack.person("Ann"), home.slack.person("Bob"));
    server
        .expects(|request: &ModelServerRequest| request.tools().contains(&"open_ticket"))
        .calls(&[("open_ticket", json!({}))]);
    server
        .expects(|request: &ModelServerRequest| request.last_user().contains("not done yet"))
        .answers("I can.");
    let asked = ann.in_channel(&channel).ask("Open a ticket.");
    let (anns, bobs) = (
        ann.in_channel(&channel).in_thread(&asked),
        bob.in_channel(&channel).in_thread(&asked),
    );
    let asks = |it: &Message| {
        it.shown.contains("Shall I do this?") && it.buttons().contains(&"Do it".to_owned())
    };
    let question = anns.finds("the question", asks).await;
    bobs.click(&question, "Do it").await;
    bobs.finds("no", says("Only the one whom I asked")).await;

    // After a kill it still knows the proposal.
    kill(bot).await;
    let bot = home.start().await;
    service.expects(
        "POST /tickets",
        &[],
        None,
        HttpReply::json(&json!({"number": 7})),
    );
    anns.click(&question, "Do it").await;
    anns.finds("that", says("Done: `open_ticket`.")).await;
    anns.click(&question, "Do it").await;
    anns.finds("once", says("That is decided already")).await;
    end(bot).await;
    server.finish();
    service.finish();
    home.slack.finish();
}

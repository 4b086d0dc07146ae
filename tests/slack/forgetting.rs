//! Forgotten messages stay forgotten, although Slack still has them.

use loopback_slack::Message;

use super::home::SlackProgram;
use super::is_kept;
use super::support::files::files_with;
use super::support::model_server::{ModelServer, ModelServerRequest};
use super::support::program::{asks, end, prompt};

fn says(words: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.is_ephemeral && message.shown.to_lowercase().contains(words)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_is_not_read_again_from_the_thread() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_socket(&server).await;
    let bot = home.start().await;
    let channel = home.slack.channel("general");
    let (ann, bob) = (home.slack.person("Ann"), home.slack.person("Bob"));
    let (ann, bob) = (ann.in_channel(&channel), bob.in_channel(&channel));
    let root = bob.say("The launch is in Lisbon.");
    let thread = ann.in_thread(&root);
    server
        .expects(|request| {
            request.last_user().ends_with("4711.") && prompt(request).contains("Lisbon")
        })
        .answers("Noted.");
    thread.ask("My locker has the code 4711.");
    thread.hears("Noted.").await;
    thread.ask("forget last");
    thread.finds("that it forgot", says("forg")).await;
    end(bot).await;

    // A process without that memory. Colleagues' messages can still be read.
    let bot = home.start().await;
    let without = |words: &'static [&'static str]| {
        move |request: &ModelServerRequest| !words.iter().any(|word| prompt(request).contains(word))
    };
    let no_code = without(&["4711"]);
    server
        .expects(move |request| {
            request.last_user().ends_with("And now?")
                && no_code(request)
                && prompt(request).contains("Lisbon")
        })
        .answers("Nothing new.");
    thread.ask("And now?");
    thread.hears("Nothing new.").await;

    thread.ask("forget thread");
    let forgot = |said: &[Message]| {
        let told = said.iter().filter(|message| says("forg")(message));
        (told.count() == 2).then_some(())
    };
    thread.sees("that it forgot all of it", forgot).await;
    let nothing = without(&["4711", "Lisbon", "And now"]);
    server
        .expects(move |request| request.last_user().ends_with("Anything?") && nothing(request))
        .answers("Nothing at all.");
    bob.in_thread(&root).ask("Anything?");
    thread.hears("Nothing at all.").await;
    end(bot).await;
    server.finish();
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn slash_commands_say_what_was_said_and_how_they_are_used() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_socket(&server).await;
    let bot = home.start().await;
    let ann = home.slack.person("Ann");
    let general = ann.in_channel(&home.slack.channel("general"));
    general.slash("/muninn", "history").await;
    general
        .finds("nothing", |message| message.is_ephemeral)
        .await;
    for (question, answer) in [("Is it ten?", "It is ten."), ("Or two?", "It is two.")] {
        server.expects(asks(question)).answers(answer);
        general
            .in_thread(&general.ask(question))
            .finds(answer, is_kept(answer))
            .await;
    }
    general.slash("/muninn", "history").await;
    let history = general.finds("the history", says("is it ten?")).await;
    let at = |words: &str| history.shown.find(words).unwrap();
    assert!(at("Is it ten?") < at("Or two?"), "{}", history.shown);
    assert!(history.shown.contains("It is two."));
    general.slash("/muninn", "ask").await;
    let how = general.finds("how to ask", says("/muninn ask")).await;
    assert!(how.buttons().is_empty());
    end(bot).await;
    server.finish();
    home.slack.finish();
}

/// A word that only Ann says, and answers that repeat her.
const SECRET: &str = "quokka";

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_person_stands_in_no_message_of_the_bot_and_in_no_file() {
    let server = ModelServer::start().await;
    let mut home = SlackProgram::over_socket(&server).await;
    home.program.is_logged = true;
    let bot = home.start().await;
    let channel = home.slack.channel("general");
    let (ann, bob) = (home.slack.person("Ann"), home.slack.person("Bob"));
    let direct = ann.with_bot();
    let (ann, bob) = (ann.in_channel(&channel), bob.in_channel(&channel));
    server
        .expects(asks("animal is the quokka."))
        .answers("The quokka, noted.");
    let thread = ann.in_thread(&ann.ask("My spirit animal is the quokka."));
    thread
        .finds("the answer", is_kept("The quokka, noted."))
        .await;
    server
        .expects(asks("does my colleague like?"))
        .answers("The quokka, I think.");
    let asked = bob.in_thread(&bob.ask("Which animal does my colleague like?"));
    asked
        .finds("what repeats her", is_kept("The quokka, I think."))
        .await;
    server
        .expects(asks("for a quokka?"))
        .answers("A quokka likes leaves.");
    direct.say("What is food for a quokka?");
    direct
        .finds("the answer", |it| it.shown.contains("likes leaves"))
        .await;

    direct.say("forget me yes");
    direct
        .finds("the receipt", |it| {
            it.shown
                .contains("I forgot everything of yours: 2 questions")
        })
        .await;
    for chat in [&thread, &asked, &direct] {
        chat.sees("nothing of her", |said| {
            let mut bots = said.iter().filter(|it| it.is_bots && !it.is_deleted);
            let is_clean = |it: &Message| {
                let all = [&it.shown, &it.text].map(|text| text.to_lowercase());
                !all.iter().any(|text| text.contains(SECRET))
            };
            bots.all(is_clean).then_some(())
        })
        .await;
    }
    end(bot).await;
    let files = files_with(home.program.folder.path(), SECRET);
    assert!(files.is_empty(), "{files:?}");
    server.finish();
    home.slack.finish();
}

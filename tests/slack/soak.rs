//! Long runs with many kills and many questions: `.ci/soak` runs them.

use std::time::Duration;

use loopback_slack::Chat;

use super::home::SlackProgram;
use super::replicas::Replicas;
use super::support::bot::BotStorage;
use super::support::model_server::ModelServer;
use super::support::program::{end, kill};
use super::support::proxy::Proxy;

const KILLS: u64 = 25;
const THREADS: usize = 20;
/// Questions per thread.
const QUESTIONS: usize = 10;

/// Counts the answers to a question; after trouble, a notice follows the text.
fn answers(chat: &Chat, question: &str) -> usize {
    let answer = format!("You asked: {question}");
    let said = chat.said().into_iter();
    let standing = said.filter(|message| !message.is_deleted && message.shown.starts_with(&answer));
    standing.count()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn killed_at_any_moment_it_answers_each_question_once() {
    let server = ModelServer::start().await;
    server.echoes();
    let home = SlackProgram::over_socket(&server).await;
    let chat = home.slack.person("Ann");
    let chat = chat.in_channel(&home.slack.channel("killed"));
    let mut asked = Vec::new();
    let mut bot = home.start().await;
    for kills in 0..KILLS {
        let question = format!("Is this question {kills}?");
        asked.push((chat.in_thread(&chat.ask(&question)), question));
        // From before it is accepted until after it is answered.
        tokio::time::sleep(Duration::from_millis(kills * 613 % 700)).await;
        kill(bot).await;
        bot = home.start().await;
    }
    for (thread, question) in &asked {
        let answer = format!("You asked: {question}");
        thread
            .finds(question, |said| said.shown.starts_with(&answer))
            .await;
    }
    end(bot).await;
    for (thread, question) in &asked {
        assert_eq!(answers(thread, question), 1, "{:#?}", thread.said());
    }
    drop(home);
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn two_processes_over_a_slow_graph_answer_each_question_once() {
    let server = ModelServer::start().await;
    server.echoes();
    let address = BotStorage::neo4j_address();
    let wire = Proxy::to(address).await;
    let all = Replicas::through(&server, Some(&wire)).await;
    let chat = all.slack.person("Ann");
    let chat = chat.in_channel(&all.slack.channel("slow"));
    // Both receive everything.
    all.slack.repeat_events(1);
    let mut asked = Vec::new();
    for at in 0..THREADS {
        match at * 4 / THREADS {
            1 => wire.slow(Duration::from_secs(3)),
            2 => {
                wire.slow(Duration::ZERO);
                wire.cut();
                wire.mend();
            }
            _ => {}
        }
        let first = format!("Is this question {at} of 0?");
        let thread = chat.in_thread(&chat.ask(&first));
        let more = (1..QUESTIONS).map(|number| format!("Is this question {at} of {number}?"));
        let more: Vec<String> = more.collect();
        more.iter().for_each(|question| drop(thread.ask(question)));
        tokio::time::sleep(Duration::from_secs(1)).await;
        asked.push((thread, std::iter::once(first).chain(more)));
    }
    for (thread, questions) in asked {
        for question in questions {
            let answer = format!("You asked: {question}");
            thread
                .finds(&question, |said| said.shown.starts_with(&answer))
                .await;
            assert_eq!(answers(&thread, &question), 1, "{:#?}", thread.said());
        }
        assert_eq!(
            super::standing(&thread).len(),
            QUESTIONS,
            "{:#?}",
            thread.said()
        );
    }
    all.end(server).await;
}

//! An allow list that changes while the bot runs.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use loopback_slack::{APP_TOKEN, BOT_TOKEN, Slack, TIMEOUT};

use super::home::manifest;
use super::support::model_server::{Gate, ModelServer, Reply};
use super::support::program::{Program, asks, end};

/// Waits until the log contains these words this many times.
pub(crate) async fn logs(log: &Path, words: &str, times: usize) {
    let said = async {
        while std::fs::read_to_string(log).unwrap().matches(words).count() < times {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(TIMEOUT, said).await;
    assert!(
        in_time.is_ok(),
        "{words}: {}",
        std::fs::read_to_string(log).unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_list_is_read_again_and_no_turn_is_lost() {
    let server = ModelServer::start().await;
    let slack = Slack::with_manifest(&manifest(&server, &[]).await).await;
    let (ann, bob) = (slack.person("Ann"), slack.person("Bob"));
    let program = Program::new(&server)
        .with("SLACK_API_URL", slack.api_url())
        .with("SLACK_BOT_TOKEN", BOT_TOKEN)
        .with("SLACK_APP_TOKEN", APP_TOKEN);
    let file = program.folder.path().join(".env");
    let log = program.folder.path().join("log");
    let allow = |list: &str| std::fs::write(&file, format!("SLACK_ALLOW={list:?}\n")).unwrap();
    allow(ann.id());
    let mut serve = program.command(&["serve"]);
    serve.stderr(File::create(&log).unwrap()).kill_on_drop(true);
    let bot = serve.spawn().unwrap();
    slack.connected(1).await;
    let general = slack.channel("general");
    let (anns, bobs) = (ann.in_channel(&general), bob.in_channel(&general));

    // Ann is being answered when Bob replaces her on the list.
    let gate = Gate::closed();
    server
        .expects(asks("Who am I?"))
        .replies(Reply::chunks(["Ann", ", I think."]).paused(&gate));
    let thread = anns.in_thread(&anns.ask("Who am I?"));
    thread
        .finds("its beginning", |message| message.shown.starts_with("Ann"))
        .await;
    bobs.ask("And I?");
    logs(&log, "not answered: SLACK_ALLOW", 1).await;
    allow(bob.id());
    logs(&log, "settings were read again: SLACK_ALLOW", 1).await;
    gate.open();
    thread.hears("Ann, I think.").await;
    server.expects(asks("And I now?")).answers("Bob.");
    bobs.in_thread(&bobs.ask("And I now?")).hears("Bob.").await;
    anns.ask("And I?");
    logs(&log, "not answered: SLACK_ALLOW", 2).await;

    // A list with a mistake admits nobody new, and keeps those who are still on it.
    allow(&format!("{}, {}, x7", ann.id(), bob.id()));
    logs(&log, "only those are let in who were before", 1).await;
    anns.ask("Am I back?");
    logs(&log, "not answered: SLACK_ALLOW", 3).await;
    server.expects(asks("Still here?")).answers("Yes.");
    bobs.in_thread(&bobs.ask("Still here?")).hears("Yes.").await;

    // A missing file admits nobody.
    std::fs::remove_file(&file).unwrap();
    logs(&log, "SLACK_ALLOW is empty, so nobody is answered", 1).await;
    bobs.ask("And now?");
    logs(&log, "not answered: SLACK_ALLOW", 4).await;
    end(bot).await;
    server.finish();
    slack.finish();
}

//! discord.py as a second client, which knows nothing of the first.
//!
//! `DISCORD_PY` names a Python that has it (`tests/servers/discord/discord-py-up` makes one). Without it nothing is
//! tested and the test says so; with `MUNINN_REQUIRE_DISCORD_PY=1` that is a failure.

use std::process::{Child, Command, Stdio};

use loopback_discord::{Discord, TOKEN};
use serde_json::json;

/// Ends with the test.
struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        // One that has ended by itself needs no end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(
    clippy::print_stderr,
    reason = "who runs the tests is told what was not tested"
)]
fn python() -> Option<String> {
    let python = std::env::var("DISCORD_PY").ok();
    let is_required = std::env::var("MUNINN_REQUIRE_DISCORD_PY").as_deref() == Ok("1");
    assert!(
        python.is_some() || !is_required,
        "MUNINN_REQUIRE_DISCORD_PY is set, but DISCORD_PY is not"
    );
    if python.is_none() {
        eprintln!("DISCORD_PY is not set: discord.py is not tried");
    }
    python
}

#[tokio::test(flavor = "multi_thread")]
async fn discord_py_answers_a_mention_a_command_and_a_button() {
    let Some(python) = python() else { return };
    let discord = Discord::start().await;
    let guild = discord.guild("Ravens");
    let general = guild.text("general");
    let chat = guild.person("ann").at(&general);
    let script = "../../servers/discord/echo_bot.py";
    let bot = Command::new(python)
        .args([script, &discord.url(), &discord.gateway_url(), TOKEN])
        .stdin(Stdio::null())
        .spawn()
        .expect("Python can be run");
    let bot = Bot(bot);
    discord.registered("ask").await;
    discord.connected(1).await;
    let question = chat.mention("are you there?");
    let thread = chat.thread_on(question).await;
    let answer = thread.hears("echo: are you there?").await;
    assert!(!answer.is_thinking);
    let asked = chat.ask("and by command?", &[("private", json!(true))]);
    let answer = asked.hears("echo: and by command?").await;
    assert!(answer.is_ephemeral);
    chat.click(&answer, "Why?").hears("because").await;
    assert_eq!(
        chat.completes("session", "name", "rav").await,
        [("the one of rav".to_owned(), json!("rav"))]
    );
    discord.drops_connections();
    thread.say("are you back?");
    thread.hears("echo: are you back?").await;
    assert_eq!(discord.counts().resumed, 1);
    drop(bot);
    discord.finish();
}

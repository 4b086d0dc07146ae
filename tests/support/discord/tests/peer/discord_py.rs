//! Tests with discord.py as a second, independent client.
//!
//! `DISCORD_PY` names a Python that has it (`tests/servers/discord/discord-py-up` installs one).

use std::process::{Child, Command, Stdio};

use loopback_discord::{Discord, TOKEN};
use serde_json::json;

/// Killed when the test ends.
struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python() -> String {
    std::env::var("DISCORD_PY").expect("DISCORD_PY is set; see .ci/run")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs discord.py (DISCORD_PY)"]
async fn discord_py_answers_a_mention_a_command_and_a_button() {
    let python = python();
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

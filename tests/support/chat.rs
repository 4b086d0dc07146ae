//! Tests that have only what is said and answered: a bot and its model are started before the test,
//! and ended and checked after it.
//!
//! ```ignore
//! run(place, async |chat| {
//!     chat.expects(asks("Hello?")).answers("Hi!");
//!     let answer = chat.room("a").say("ada", "Hello?").await;
//!     assert_eq!(answer.text(), "Hi!");
//! })
//! .await;
//! ```

use std::ops::Deref;

use muninn::config::Config;
use muninn::conversation::ledger::Ledger;

use super::bot::{BotStorage, TestBot};
use super::model_server::{Expecting, ModelServer, ModelServerRequest};

/// A running bot, its place, and its model.
pub struct ScriptedChat {
    pub place: BotStorage,
    /// Runs also while the bot has no model, and is asked nothing then.
    pub model: ModelServer,
    has_model: bool,
    options: Vec<String>,
    /// `None` after [`ScriptedChat::end`].
    running: Option<TestBot>,
}

/// Runs a test with a bot and a scripted model. Then ends the bot, and fails unless the model was
/// asked exactly what the test expected.
pub async fn run(place: BotStorage, test: impl AsyncFnOnce(&mut ScriptedChat)) {
    run_with(place, &[], test).await;
}

/// As [`run`], with options of the bot.
pub async fn run_with(
    place: BotStorage,
    options: &[&str],
    test: impl AsyncFnOnce(&mut ScriptedChat),
) {
    run_chat(place, true, options, test).await;
}

/// As [`run_with`], with a bot that has no model.
pub async fn run_without_model(
    place: BotStorage,
    options: &[&str],
    test: impl AsyncFnOnce(&mut ScriptedChat),
) {
    run_chat(place, false, options, test).await;
}

async fn run_chat(
    place: BotStorage,
    has_model: bool,
    options: &[&str],
    test: impl AsyncFnOnce(&mut ScriptedChat),
) {
    let mut chat = ScriptedChat {
        place,
        model: ModelServer::start().await,
        has_model,
        options: owned(options),
        running: None,
    };
    chat.restart().await;
    test(&mut chat).await;
    // Where the test panics instead, its own message is the only one.
    chat.end().await;
    chat.model.finish();
}

impl ScriptedChat {
    /// Scripts one reply of the model, for the first matching request.
    #[track_caller]
    pub fn expects(
        &self,
        fits: impl Fn(&ModelServerRequest) -> bool + Send + 'static,
    ) -> Expecting<'_> {
        self.model.expects(fits)
    }

    /// Returns what a bot here is configured with, if it has these options.
    pub fn config(&self, options: &[&str]) -> Config {
        let model = self.has_model.then_some(&self.model);
        self.place.config(model, options)
    }

    /// Starts another bot on the same data, which the test ends. Only a graph on a server has room
    /// for two.
    pub async fn another_bot(&self) -> TestBot {
        self.start(Ledger::disabled()).await
    }

    /// Ends the bot, for a test that looks at what it leaves.
    pub async fn end(&mut self) {
        if let Some(bot) = self.running.take() {
            bot.end().await;
        }
    }

    /// Ends the bot, and starts it on the same data.
    pub async fn restart(&mut self) {
        self.restart_on(Ledger::disabled()).await;
    }

    /// As [`ScriptedChat::restart`], with other options.
    pub async fn restart_with(&mut self, options: &[&str]) {
        self.options = owned(options);
        self.restart().await;
    }

    /// As [`ScriptedChat::restart`], with the model that it did not have before.
    pub async fn restart_with_model(&mut self) {
        self.has_model = true;
        self.restart().await;
    }

    /// As [`ScriptedChat::restart`], with a ledger.
    pub async fn restart_on(&mut self, ledger: Ledger) {
        self.end().await;
        self.running = Some(self.start(ledger).await);
    }

    async fn start(&self, ledger: Ledger) -> TestBot {
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        self.place.bot_with(&self.config(&options), ledger).await
    }
}

/// People talk to the running bot.
impl Deref for ScriptedChat {
    type Target = TestBot;

    fn deref(&self) -> &TestBot {
        self.running.as_ref().expect("the test has not ended it")
    }
}

fn owned(options: &[&str]) -> Vec<String> {
    options.iter().map(|&option| option.to_owned()).collect()
}

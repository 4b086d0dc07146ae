//! Conformance tests for every adapter, written once, over places with an
//! [`EchoBot`](super::EchoBot) and a person.

use std::time::Duration;

use async_trait::async_trait;

use super::EchoBot;

/// Longer than anything takes, also on a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two looks at the place.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A place on a platform, with the bot and a person in it. What the person says is meant for the bot.
#[async_trait]
pub trait ConformancePlace: Send + Sync {
    /// Says something. Returns the platform's id of the message.
    async fn say(&self, text: &str) -> String;

    /// Edits a message. Returns false on platforms without edits.
    async fn edit(&self, message: &str, text: &str) -> bool;

    /// Deletes a message. Returns false on platforms without deletions.
    async fn delete(&self, message: &str) -> bool;

    /// Returns the bot's messages as the person sees them now, in order.
    async fn said(&self) -> Vec<String>;

    /// Returns everything that can still be read of the bot's messages, including earlier wordings.
    async fn readable(&self) -> Vec<String> {
        self.said().await
    }

    /// Whether an answer is shown while it grows.
    fn shows_growing(&self) -> bool;

    /// Returns everybody whom the bot's messages pinged.
    async fn pinged(&self) -> Vec<String>;

    /// Returns the files that the bot gave the person alone, with their contents. `None`: the
    /// platform cannot hand files over.
    async fn own_files(&self) -> Option<Vec<(String, String)>>;

    fn bot(&self) -> &EchoBot;

    /// Ends the bot as `kill -9` does and starts it again.
    async fn crash(&mut self);
}

/// Runs every test case, each in a new place.
///
/// # Panics
/// Panics when one fails; the output says which.
pub async fn every_case<P: ConformancePlace>(new: impl AsyncFn() -> P) {
    answers_once(&new().await).await;
    shows_what_grows(&new().await).await;
    takes_away_what_is_given_up(&new().await).await;
    loses_nothing_of_what_is_long(&new().await).await;
    follows_edits(&new().await).await;
    follows_deletions(&new().await).await;
    finds_the_answer_that_nobody_knows_of(&new().await).await;
    takes_away_what_is_forgotten(new().await).await;
    pings_nobody(&new().await).await;
    gives_files_to_the_asker_alone(&new().await).await;
    answers_after_a_crash(new().await).await;
}

async fn answers_once(place: &impl ConformancePlace) {
    place.say("hello").await;
    stands(place, "one answer", |said| said == ["echo: hello"]).await;
    place.say("again").await;
    stands(place, "another", |said| {
        said == ["echo: hello", "echo: again"]
    })
    .await;
}

async fn shows_what_grows(place: &impl ConformancePlace) {
    place.say("grow it").await;
    if place.shows_growing() {
        let begins = |said: &[String]| matches!(said, [one] if one.starts_with("so far"));
        stands(place, "its beginning", begins).await;
    } else {
        waits(place).await;
    }
    place.bot().go_on();
    stands(place, "the whole in its place", |said| said == ["echo: it"]).await;
}

async fn takes_away_what_is_given_up(place: &impl ConformancePlace) {
    place.say("drop it").await;
    if place.shows_growing() {
        let begins = |said: &[String]| matches!(said, [one] if one.starts_with("to be dropped"));
        stands(place, "its beginning", begins).await;
    } else {
        waits(place).await;
    }
    place.bot().go_on();
    stands(place, "nothing of it", |said| said.is_empty()).await;
}

async fn loses_nothing_of_what_is_long(place: &impl ConformancePlace) {
    place.say("long 600").await;
    let is_whole = |said: &[String]| said.iter().any(|part| part.contains("599 "));
    let said = stands(place, "the last line", is_whole).await;
    let lines: Vec<&str> = said.iter().flat_map(|part| part.lines()).collect();
    let numbers: Vec<usize> = lines
        .iter()
        .filter_map(|line| line.split_once(' ')?.0.parse().ok())
        .collect();
    assert_eq!(numbers, (0..600).collect::<Vec<_>>(), "in their order");
}

async fn follows_edits(place: &impl ConformancePlace) {
    let question = place.say("Berlin").await;
    stands(place, "the answer", |said| said == ["echo: Berlin"]).await;
    place.say("next").await;
    stands(place, "the next", |said| said.len() == 2).await;
    if place.edit(&question, "Oslo").await {
        let changed = |said: &[String]| said == ["echo: Oslo", "echo: next"];
        stands(place, "another answer in its place", changed).await;
    }
}

async fn follows_deletions(place: &impl ConformancePlace) {
    let question = place.say("a slip").await;
    stands(place, "the answer", |said| said == ["echo: a slip"]).await;
    if place.delete(&question).await {
        stands(place, "nothing", |said| said.is_empty()).await;
    }
}

async fn finds_the_answer_that_nobody_knows_of(place: &impl ConformancePlace) {
    let question = place.say("unkept slip").await;
    stands(place, "the answer", |said| said == ["echo: unkept slip"]).await;
    place.say("another").await;
    let both = ["echo: unkept slip", "echo: another"];
    stands(place, "both answers", |said| said == both).await;
    if place.delete(&question).await {
        stands(place, "the other", |said| said == ["echo: another"]).await;
    }
}

async fn takes_away_what_is_forgotten(mut place: impl ConformancePlace) {
    place.say("a secret").await;
    stands(&place, "the answer", |said| said == ["echo: a secret"]).await;
    place.say("grow a secret").await;
    waits_for(&place, 2).await;
    place.bot().go_on();
    let both = |said: &[String]| said == ["echo: a secret", "echo: a secret"];
    stands(&place, "what grew", both).await;
    // The next process delivers again what is not recorded yet.
    let both_noted = |log: &super::EchoLog| (log.answered >= 2).then_some(());
    place.bot().gets("both noted", both_noted).await;
    // Another process withdraws it, whichever one said it.
    place.crash().await;
    place.say("forget").await;
    stands(&place, "nothing but that", |said| said == ["forgotten"]).await;
    let readable = place.readable().await;
    assert!(
        !readable.iter().any(|text| text.contains("secret")),
        "{readable:?}"
    );
}

async fn pings_nobody(place: &impl ConformancePlace) {
    place
        .say("say @everyone @here @room <!channel> <!here> <@U1> <@1> <@&1> <!subteam^S1>")
        .await;
    stands(place, "the answer", |said| said.len() == 1).await;
    assert_eq!(place.pinged().await, [""; 0]);
}

async fn gives_files_to_the_asker_alone(place: &impl ConformancePlace) {
    place.say("hand over all of mine").await;
    let says = |said: &[String]| said.iter().any(|it| it.contains("handed over:"));
    let said = stands(place, "what became of them", says).await;
    let is_refused = said.iter().any(|it| it.starts_with("not handed over:"));
    match place.own_files().await {
        Some(files) => {
            assert!(!is_refused, "{said:?}");
            let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["mine.json", "mine.md"]);
            assert_eq!(files[0].1, "all of mine");
        }
        None => assert!(is_refused, "it says why: {said:?}"),
    }
}

async fn answers_after_a_crash(mut place: impl ConformancePlace) {
    place.say("wait a moment").await;
    waits(&place).await;
    place.crash().await;
    waits(&place).await;
    place.bot().go_on();
    stands(&place, "one answer", |said| said == ["echo: a moment"]).await;
    place.say("well").await;
    let both = |said: &[String]| said == ["echo: a moment", "echo: well"];
    stands(&place, "nothing twice", both).await;
}

/// Returns once a message is in flight.
async fn waits(place: &impl ConformancePlace) {
    waits_for(place, 1).await;
}

async fn waits_for(place: &impl ConformancePlace, messages: usize) {
    let got = |log: &super::EchoLog| (log.messages.len() >= messages).then_some(());
    place.bot().gets("the message", got).await;
}

async fn stands(
    place: &impl ConformancePlace,
    what: &str,
    is_there: impl Fn(&[String]) -> bool,
) -> Vec<String> {
    let looked = async {
        loop {
            let said = place.said().await;
            if is_there(&said) {
                return said;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    match tokio::time::timeout(TIMEOUT, looked).await {
        Ok(said) => said,
        Err(_) => panic!("{what} does not stand there: {:?}", place.said().await),
    }
}

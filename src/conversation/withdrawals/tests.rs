use std::collections::VecDeque;

use async_trait::async_trait;

use muninn_platform::EventId;

use super::queue::MAX_FAILURES;
use super::*;
use crate::graph::session::Sessions;
use crate::graph::{GraphConfig, open};
use crate::memory::journal::Journal;

/// Answers successive attempts with these outcomes; after that every attempt succeeds.
#[derive(Default)]
struct ScriptedWithdrawer {
    outcomes: Mutex<VecDeque<Withdrawn>>,
    gone: Mutex<Vec<String>>,
    /// How often it only later tells where an answer is.
    is_away: Mutex<usize>,
}

impl ScriptedWithdrawer {
    fn meets(outcomes: impl IntoIterator<Item = Withdrawn>) -> Arc<Self> {
        Arc::new(Self {
            outcomes: Mutex::new(outcomes.into_iter().collect()),
            ..Self::default()
        })
    }

    fn gone(&self) -> Vec<String> {
        self.gone.lock().unwrap().clone()
    }
}

#[async_trait]
impl Withdraw for ScriptedWithdrawer {
    async fn withdraw(&self, _: &ConversationId, message: &MessageId) -> Withdrawn {
        let next = self.outcomes.lock().unwrap().pop_front();
        let outcome = next.unwrap_or(Withdrawn::Gone);
        if outcome == Withdrawn::Gone {
            self.gone.lock().unwrap().push(message.to_string());
        }
        outcome
    }

    async fn find_answer(
        &self,
        _: &ConversationId,
        question: &EventId,
    ) -> Result<Vec<MessageId>, NotNow> {
        let mut is_away = self.is_away.lock().unwrap();
        if *is_away > 0 {
            *is_away -= 1;
            return Err(NotNow);
        }
        let parts = [1, 2].map(|part| MessageId::new(format!("{question}, part {part}")));
        Ok(parts.to_vec())
    }

    async fn clear_title(&self, conversation: &ConversationId) -> Withdrawn {
        self.gone
            .lock()
            .unwrap()
            .push(format!("title of {conversation}"));
        Withdrawn::Gone
    }
}

fn three() -> Vec<ForgottenConversation> {
    let session = ConversationId::new("chat/a");
    let messages = ["1", "2", "3"].map(MessageId::new).to_vec();
    let spoken = DeliveredAnswer::new(session.clone(), Delivered(messages));
    ForgottenConversation::of(&session, vec![spoken], true)
}

fn lines(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("withdrawals-0.jsonl"));
    text.unwrap_or_default().lines().count()
}

#[tokio::test]
async fn all_of_it_goes_with_the_title() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let chat = ScriptedWithdrawer::meets([]);
    let planned = withdrawals
        .plan_withdrawal("chat", chat.clone(), three())
        .await;
    assert_eq!(lines(folder.path()), 1);
    assert_eq!(
        withdrawals.carry_out(planned).await,
        WithdrawalOutcome::default()
    );
    assert_eq!(chat.gone(), ["1", "2", "3", "title of chat/a"]);
    assert_eq!(lines(folder.path()), 0);
}

#[tokio::test(start_paused = true)]
async fn what_only_others_see_is_withdrawn_and_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let stays = || Withdrawn::stays("it is pinned");
    let chat = ScriptedWithdrawer::meets([stays(), Withdrawn::Gone, stays(), Withdrawn::NotYet]);
    let aside = ConversationId::new("chat/a/private/bob");
    let messages = ["aside 1", "aside 2", "aside 3", "aside 4"].map(MessageId::new);
    let shown = DeliveredAnswer::new(aside.clone(), Delivered(messages.to_vec()));
    let aside = ForgottenConversation::of(&aside, vec![shown], false);
    let untold = withdrawals.plan_withdrawal("chat", chat.clone(), aside);
    let mut planned = untold.await.untold();
    let told = withdrawals.plan_withdrawal("chat", chat.clone(), three());
    planned.add(told.await);
    let outcome = withdrawals.carry_out(planned).await;
    assert_eq!(outcome, WithdrawalOutcome::default());
    assert_eq!(chat.gone(), ["aside 2", "1", "2", "3", "title of chat/a"]);
    // It is tried again all the same.
    assert_eq!(lines(folder.path()), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_may_stand_is_looked_for_until_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Arc::new(Withdrawals::open(folder.path()).unwrap());
    let chat = ScriptedWithdrawer::meets([]);
    *chat.is_away.lock().unwrap() = 2;
    let session = ConversationId::new("chat/a");
    let unseen = DeliveredAnswer {
        unseen: Some(EventId::new("q")),
        ..DeliveredAnswer::new(session.clone(), Delivered::default())
    };
    let planned = withdrawals
        .plan_withdrawal(
            "chat",
            chat.clone(),
            ForgottenConversation::of(&session, vec![unseen], false),
        )
        .await;
    assert_eq!(lines(folder.path()), 1);
    assert_eq!(withdrawals.carry_out(planned).await.later, 1);
    let end = CancellationToken::new();
    let done = async {
        while chat.gone().len() < 2 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), done);
    assert_eq!(chat.gone(), ["q, part 1", "q, part 2"]);
}

#[tokio::test]
async fn what_stays_is_counted_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let stays = || Withdrawn::stays("it is pinned");
    let chat = ScriptedWithdrawer::meets([stays(), Withdrawn::Gone, stays()]);
    let planned = withdrawals.plan_withdrawal("chat", chat, three()).await;
    let outcome = withdrawals.carry_out(planned).await;
    let expected = BTreeMap::from([(Value::from("it is pinned"), 2)]);
    assert_eq!((outcome.later, outcome.stays), (0, expected));
    assert_eq!(lines(folder.path()), 0);
}

#[tokio::test]
async fn what_could_not_be_taken_away_is_known_to_show_something_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let stays = Withdrawn::stays("it is pinned");
    let chat = ScriptedWithdrawer::meets([stays, Withdrawn::NotYet]);
    let planned = withdrawals.plan_withdrawal("chat", chat.clone(), three());
    withdrawals.carry_out(planned.await).await;
    let listing = Delivered(vec![MessageId::new("5")]);
    let listing = DeliveredAnswer::new(ConversationId::new("chat/a"), listing);
    let answers = vec![ResponseId::fresh()];
    withdrawals.record_listing(chat, listing, answers).await;
    for (platform, message, expected) in [
        ("chat", "1", true),
        ("chat", "2", true),
        ("chat", "3", true),
        ("chat", "4", false),
        // Nothing that it lists is known to be forgotten.
        ("chat", "5", false),
        ("other", "1", false),
    ] {
        let found = withdrawals.shows_forgotten(platform, &MessageId::new(message));
        assert_eq!(found, expected, "{platform} {message}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_go_yet_is_tried_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Arc::new(Withdrawals::open(folder.path()).unwrap());
    let not_yet = std::iter::repeat_n(Withdrawn::NotYet, 4);
    let chat = ScriptedWithdrawer::meets([Withdrawn::Gone].into_iter().chain(not_yet));
    let planned = withdrawals
        .plan_withdrawal("chat", chat.clone(), three())
        .await;
    assert_eq!(withdrawals.carry_out(planned).await.later, 2);
    let end = CancellationToken::new();
    let running = tokio::spawn({
        let (withdrawals, end) = (Arc::clone(&withdrawals), end.clone());
        async move { withdrawals.run(end).await }
    });
    while chat.gone().len() < 4 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    end.cancel();
    running.await.unwrap();
    assert_eq!(chat.gone(), ["1", "2", "3", "title of chat/a"]);
}

#[tokio::test(start_paused = true)]
async fn it_is_given_up_after_a_bounded_number_of_tries() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Arc::new(Withdrawals::open(folder.path()).unwrap());
    let chat = ScriptedWithdrawer::meets(std::iter::repeat_n(Withdrawn::NotYet, 1_000));
    let planned = withdrawals
        .plan_withdrawal("chat", chat.clone(), three())
        .await;
    withdrawals.carry_out(planned).await;
    let running = tokio::spawn({
        let withdrawals = Arc::clone(&withdrawals);
        async move { withdrawals.run(CancellationToken::new()).await }
    });
    tokio::time::sleep(Duration::from_secs(24 * 3_600)).await;
    let tried = 1_000 - chat.outcomes.lock().unwrap().len();
    assert_eq!(tried, usize::try_from(MAX_FAILURES).unwrap());
    running.abort();
}

#[tokio::test]
async fn what_was_planned_and_then_given_up_is_taken_away_later() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let chat = ScriptedWithdrawer::meets([]);
    let planned = withdrawals.plan_withdrawal("chat", chat.clone(), three());
    // The graph reported that it could not forget the turn.
    drop(planned.await);
    let end = CancellationToken::new();
    let done = async {
        while chat.gone().len() < 4 {
            tokio::task::yield_now().await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), done);
    assert_eq!(lines(folder.path()), 0);
}

#[tokio::test]
async fn another_process_goes_on_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let dead = Withdrawals::open(folder.path()).unwrap();
    let other = Withdrawals::open(folder.path()).unwrap();
    let away = ScriptedWithdrawer::meets(std::iter::repeat_n(Withdrawn::NotYet, 9));
    for process in [&dead, &other] {
        let planned = process.plan_withdrawal("chat", away.clone(), three()).await;
        assert_eq!(process.carry_out(planned).await.later, 3);
    }
    drop((dead, other));
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let chat = ScriptedWithdrawer::meets([]);
    let end = CancellationToken::new();
    withdrawals.connected("elsewhere", ScriptedWithdrawer::meets([]));
    withdrawals.connected("chat", chat.clone());
    let done = async {
        while chat.gone().len() < 8 {
            tokio::task::yield_now().await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), done);
    assert_eq!(lines(folder.path()), 0);
    assert!(!folder.path().join("withdrawals-1.jsonl").exists());
}

#[tokio::test]
async fn what_was_emptied_by_a_process_that_is_gone_goes_when_its_platform_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let messages = Delivered(vec![MessageId::new("1")]);
    let spoken = DeliveredAnswer::new(ConversationId::new("chat/a"), messages);
    withdrawals.queue_withdrawals(vec![spoken]).await;
    assert_eq!(lines(folder.path()), 1);
    let chat = ScriptedWithdrawer::meets([]);
    withdrawals.connected("chat", chat.clone());
    let end = CancellationToken::new();
    let done = async {
        while chat.gone().is_empty() {
            tokio::task::yield_now().await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), done);
    assert_eq!(chat.gone(), ["1"]);
}

#[tokio::test]
async fn what_says_something_else_by_now_is_not_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let chat = ScriptedWithdrawer::meets([]);
    let planned = withdrawals
        .plan_withdrawal("chat", chat.clone(), three())
        .await;
    let elsewhere = ConversationId::new("chat/b");
    withdrawals
        .cancel_withdrawal(&elsewhere, &Delivered(vec![MessageId::new("1")]))
        .await;
    let here = ConversationId::new("chat/a");
    withdrawals
        .cancel_withdrawal(&here, &Delivered(vec![MessageId::new("2")]))
        .await;
    withdrawals.carry_out(planned).await;
    assert_eq!(chat.gone(), ["1", "3", "title of chat/a"]);
}

#[test]
fn a_line_of_the_file_is_written_so() {
    let line = Withdrawal {
        platform: "slack".to_owned(),
        left: ForgottenConversation {
            conversation: ConversationId::new("slack/T/C/1"),
            messages: vec![MessageId::new("1700000000.000100")],
            answers_to: Vec::new(),
            emptied: Vec::new(),
            listed: Vec::new(),
            title: true,
        },
        tries: 2,
    };
    // A change of this format would break files of earlier versions.
    assert_eq!(
        serde_json::to_string(&line).unwrap(),
        r#"{"platform":"slack","conversation":"slack/T/C/1","messages":["1700000000.000100"],"title":true,"tries":2}"#
    );
    let looks = Withdrawal {
        left: ForgottenConversation {
            messages: Vec::new(),
            answers_to: vec![EventId::new("slack/T/C/1")],
            title: false,
            ..line.left
        },
        ..line
    };
    assert_eq!(
        serde_json::to_string(&looks).unwrap(),
        r#"{"platform":"slack","conversation":"slack/T/C/1","messages":[],"answers_to":["slack/T/C/1"],"title":false,"tries":2}"#
    );
    let lists = Withdrawal {
        left: ForgottenConversation {
            messages: vec![MessageId::new("1700000000.000100")],
            answers_to: Vec::new(),
            listed: vec![ResponseId(uuid::Uuid::nil())],
            ..looks.left
        },
        ..looks
    };
    assert_eq!(
        serde_json::to_string(&lists).unwrap(),
        r#"{"platform":"slack","conversation":"slack/T/C/1","messages":["1700000000.000100"],"listed":["00000000-0000-0000-0000-000000000000"],"title":false,"tries":2}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_nobody_can_check_is_taken_away_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let chat = ScriptedWithdrawer::meets([]);
    let listing = DeliveredAnswer::new(
        ConversationId::new("chat/a"),
        Delivered(vec![MessageId::new("1")]),
    );
    let told = withdrawals.record_listing(chat.clone(), listing, vec![ResponseId::fresh()]);
    told.await;
    assert_eq!(lines(folder.path()), 1);
    let end = CancellationToken::new();
    let tried = async {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        assert_eq!(chat.gone(), [""; 0]);
        while chat.gone().is_empty() {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), tried);
    assert_eq!(chat.gone(), ["1"]);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_can_reach_is_not_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let chat = ScriptedWithdrawer::meets([]);
    let end = CancellationToken::new();
    let unreached = withdrawals.of("chat");
    let planned = withdrawals.plan_withdrawal("chat", unreached, three());
    assert_eq!(withdrawals.carry_out(planned.await).await.later, 3);
    let connected = async {
        tokio::time::sleep(Duration::from_secs(24 * 3_600)).await;
        assert_eq!(lines(folder.path()), 1);
        withdrawals.connected("chat", chat.clone());
        while chat.gone().len() < 4 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), connected);
    assert_eq!(lines(folder.path()), 0);
}

/// A process that serves `own`, and sees others serve `theirs`.
fn process(
    folder: &Path,
    store: &Arc<GraphStore>,
    own: &str,
    theirs: &str,
) -> (Withdrawals, Arc<Archive>, Arc<ScriptedWithdrawer>) {
    let withdrawals = Withdrawals::open(folder).unwrap();
    let journal = Journal::open(folder).unwrap();
    let sessions = Arc::new(Sessions::default());
    let archive = Arc::new(Archive::new(Arc::clone(store), journal, sessions, 8));
    archive.neighbours().serve(&[own.to_owned()]);
    archive.neighbours().seen(vec![theirs.to_owned()]);
    withdrawals.set_archive(&archive);
    let chat = ScriptedWithdrawer::meets([]);
    withdrawals.connected(own, chat.clone());
    (withdrawals, archive, chat)
}

#[tokio::test]
async fn what_another_process_can_reach_is_left_to_it() {
    let (graph, one, other) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let url = format!("embedded:{}", graph.path().display());
    let store = Arc::new(open(&GraphConfig::at(url)).await.unwrap());
    let (from, _archive, here) = process(one.path(), &store, "terminal", "chat");
    let (to, _other_archive, chat) = process(other.path(), &store, "chat", "terminal");
    let nobody = ConversationId::new("elsewhere/a");
    let shown = Delivered(vec![MessageId::new("1")]);
    let shown = DeliveredAnswer::new(nobody, shown);
    from.queue_withdrawals(vec![shown]).await;
    let planned = from.plan_withdrawal("chat", from.of("chat"), three()).await;
    // While the command is carried out, it counts what is left.
    from.exchange_once(&store).await.unwrap();
    assert_eq!(lines(one.path()), 2);
    assert_eq!(from.carry_out(planned).await.later, 3);

    from.exchange_once(&store).await.unwrap();
    // What no process serves stays here.
    assert_eq!((lines(one.path()), lines(other.path())), (1, 0));
    to.exchange_once(&store).await.unwrap();
    assert_eq!(store.handed_over("chat").await.unwrap(), []);
    assert_eq!(lines(other.path()), 1);
    let end = CancellationToken::new();
    let done = async {
        while chat.gone().len() < 4 {
            tokio::task::yield_now().await;
        }
        end.cancel();
    };
    tokio::join!(to.run(end.clone()), done);
    assert_eq!(chat.gone(), ["1", "2", "3", "title of chat/a"]);
    assert_eq!(here.gone(), [""; 0]);
    assert_eq!(lines(other.path()), 0);
}

#[tokio::test]
async fn what_was_printed_or_given_to_programs_waits_for_no_process() {
    let (graph, one) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = format!("embedded:{}", graph.path().display());
    let store = Arc::new(open(&GraphConfig::at(url)).await.unwrap());
    let (from, archive, chat) = process(one.path(), &store, "chat", "terminal");
    archive
        .neighbours()
        .seen(vec!["mcp".to_owned(), "terminal".to_owned()]);
    for conversation in ["mcp/a", "terminal/a"] {
        let conversation = ConversationId::new(conversation);
        let shown = Delivered(vec![MessageId::new("1")]);
        let shown = DeliveredAnswer::new(conversation, shown);
        from.queue_withdrawals(vec![shown]).await;
    }
    assert_eq!(lines(one.path()), 2);
    from.exchange_once(&store).await.unwrap();
    for platform in ["mcp", "terminal"] {
        assert_eq!(store.handed_over(platform).await.unwrap(), []);
    }
    let end = CancellationToken::new();
    let done = async {
        while lines(one.path()) > 0 {
            tokio::task::yield_now().await;
        }
        end.cancel();
    };
    tokio::join!(from.run(end.clone()), done);
    assert_eq!(chat.gone(), [""; 0]);
}

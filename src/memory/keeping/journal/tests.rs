use std::io::Write as _;

use super::*;
use crate::testing::new_turn;

fn turns(session: &str, number: usize) -> Vec<NewTurn> {
    (0..number)
        .map(|n| new_turn(session, &n.to_string()))
        .collect()
}

async fn kept(folder: &Path, turns: &[NewTurn]) -> Journal {
    let journal = Journal::open(folder).unwrap();
    for turn in turns {
        journal.keep(turn.clone()).await.unwrap();
    }
    journal
}

fn ids(turns: &[Arc<NewTurn>]) -> Vec<ResponseId> {
    turns.iter().map(|turn| turn.turn.id).collect()
}

fn went_out_as(message: &str) -> Delivered {
    Delivered(vec![muninn_platform::MessageId::new(message)])
}

#[tokio::test]
async fn what_was_kept_is_there_after_a_restart_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let turns = turns("terminal/a", 3);
    let journal = kept(folder.path(), &turns).await;
    let delivered = went_out_as("m");
    assert!(
        journal
            .set_delivered(turns[1].turn.id, &delivered)
            .await
            .unwrap()
    );
    drop(journal);

    let journal = Journal::open(folder.path()).unwrap();
    assert!(journal.holds("terminal/a"));
    let waiting = journal.of_session("terminal/a");
    assert_eq!(
        ids(&waiting),
        turns.iter().map(|it| it.turn.id).collect::<Vec<_>>()
    );
    assert_eq!(waiting[1].turn.delivered, Some(delivered));
    journal.remove_saved(&[turns[0].turn.id]);
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.len(), 2);
    journal.remove_saved(&[turns[1].turn.id, turns[2].turn.id]);
    drop(journal);
    assert!(Journal::open(folder.path()).unwrap().is_empty());
}

/// A former version was quadratic, because it rewrote the whole file for each turn.
#[cfg(unix)]
#[tokio::test]
async fn the_file_is_only_added_to_until_most_of_it_is_of_the_past() {
    use std::os::unix::fs::MetadataExt as _;

    let folder = tempfile::tempdir().unwrap();
    let turns = turns("terminal/a", 100);
    let journal = kept(folder.path(), &turns).await;
    let path = journal.path.clone();
    let before = std::fs::metadata(&path).unwrap();
    for turn in &turns {
        let delivered = went_out_as("m");
        let waits = journal.set_delivered(turn.turn.id, &delivered).await;
        assert!(waits.unwrap());
    }
    let done: Vec<ResponseId> = turns.iter().map(|it| it.turn.id).collect();
    for few in done[..90].chunks(10) {
        journal.remove_saved(few);
    }
    // Keeping waits for earlier writes.
    journal.keep(turns[0].clone()).await.unwrap();
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(after.ino(), before.ino());
    assert!(after.len() < 2 * before.len());
    journal.remove_saved(&done);
    drop(journal);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

#[tokio::test]
async fn half_a_line_was_never_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let journal = kept(folder.path(), &[new_turn("terminal/a", "whole")]).await;
    let path = journal.path.clone();
    drop(journal);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(b"{\"audience\":").unwrap();

    let journal = kept(folder.path(), &[new_turn("terminal/a", "next")]).await;
    assert_eq!(journal.len(), 2);
    drop(journal);
    assert_eq!(Journal::open(folder.path()).unwrap().len(), 2);
}

#[tokio::test]
async fn a_journal_of_an_earlier_version_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let turn = new_turn("terminal/a", "earlier");
    let line = line_log::json_line(&turn).unwrap();
    std::fs::write(folder.path().join("journal-0.jsonl"), line).unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(
        journal.turn_of_event(&turn.turn.event).unwrap().turn,
        turn.turn
    );
}

#[tokio::test]
async fn what_the_graph_refuses_is_set_aside_and_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let turn = new_turn("terminal/a", "odd");
    let journal = kept(folder.path(), std::slice::from_ref(&turn)).await;
    let why = StoreError::Unexpected("it is odd".to_owned());
    journal.set_aside(&turn, &why).await.unwrap();
    assert!(journal.is_empty());
    assert_eq!(journal.set_aside.all().unwrap()[0].turn.turn, turn.turn);
    assert_eq!(journal.retry_set_aside().await.unwrap(), 1);
    assert!(journal.set_aside.all().unwrap().is_empty());
    drop(journal);
    assert_eq!(Journal::open(folder.path()).unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_file_whether_it_waits_was_saved_or_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let turns = turns("terminal/a", 3);
    let mut journal_of = new_turn("terminal/a", "keepsake");
    journal_of.turn.session = "terminal/b".to_owned();
    let journal = kept(folder.path(), &turns).await;
    journal.keep(journal_of).await.unwrap();
    journal.remove_saved(&[turns[0].turn.id]);
    let why = StoreError::Unexpected("it is odd".to_owned());
    journal.set_aside(&turns[1], &why).await.unwrap();
    let is_gone = |turn: &NewTurn| turn.turn.session == "terminal/a";
    assert_eq!(journal.forget(is_gone).await.unwrap(), 2);
    let mut read = String::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        read.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert!(read.contains("keepsake"));
    for turn in &turns {
        // What the graph is told about a forgotten offline turn contains its event, which is the
        // same here.
        let id = format!("\"id\":\"{}\"", turn.turn.id);
        assert!(!read.contains(&id), "{read}");
    }
}

#[tokio::test]
async fn a_damaged_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("journal-0.jsonl"), "nonsense\n").unwrap();
    let error = Journal::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
}

#[tokio::test]
async fn two_processes_have_a_journal_each_and_a_later_one_has_both() {
    let folder = tempfile::tempdir().unwrap();
    let one = kept(folder.path(), &[new_turn("terminal/a", "one")]).await;
    let other = kept(folder.path(), &[new_turn("terminal/a", "other")]).await;
    assert_ne!(one.path, other.path);
    assert_eq!(waiting_in(folder.path()).unwrap(), 2);
    drop((one, other));
    let later = Journal::open(folder.path()).unwrap();
    let said: Vec<String> = later
        .of_session("terminal/a")
        .iter()
        .map(|turn| turn.turn.input.clone())
        .collect();
    assert_eq!(said, ["one", "other"]);
    drop(later);
    assert_eq!(waiting_in(folder.path()).unwrap(), 2);
}

#[tokio::test]
async fn only_the_sessions_that_are_free_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = turns("terminal/a", 2);
    all.extend(turns("terminal/b", 2));
    let journal = kept(folder.path(), &all).await;
    let of = |session: &str| (ConversationId::new(session), 2);
    assert_eq!(journal.sessions(), [of("terminal/a"), of("terminal/b")]);
    let free = HashSet::from(["terminal/b"]);
    assert_eq!(
        ids(&journal.first_of(&free, 10)),
        [all[2].turn.id, all[3].turn.id]
    );
    let both = HashSet::from(["terminal/a", "terminal/b"]);
    assert_eq!(journal.first_of(&both, 3).len(), 3);
}

#[tokio::test]
async fn a_place_has_the_sessions_below_it_that_wait_or_were_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = [
        "discord/1/2",
        "discord/1/2/3",
        "discord/1/20/3",
        "discord/1/2/4",
    ];
    let turns: Vec<NewTurn> = sessions.map(|it| new_turn(it, it)).into();
    let journal = kept(folder.path(), &turns).await;
    let why = StoreError::Unexpected("it is odd".to_owned());
    journal.set_aside(&turns[3], &why).await.unwrap();
    let found = journal.sessions_under("discord/1/2").into_iter();
    let found: Vec<String> = found.map(|(it, _)| it.as_str().to_owned()).collect();
    assert_eq!(found, [sessions[0], sessions[1], sessions[3]]);
}

#[tokio::test]
async fn what_went_out_is_kept_with_the_marks_that_may_cover_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut new = new_turn("terminal/a", "Which port?");
    new.asked_at = Some(Utc::now());
    let session = ConversationId::new("terminal/a");
    let shown = DeliveredAnswer::new(session, went_out_as("m"));
    let (first, earlier) = (new.turn.id, ResponseId::fresh());
    // A line of an earlier version.
    let line = serde_json::json!({"Untold": [earlier, shown]});
    let path = folder.path().join("journal-0.jsonl");
    std::fs::write(path, format!("{line}\n")).unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let marks = Some(CoveringMarks::of(&new));
    let keeping = journal.keep_delivery(first, shown.clone(), marks.clone());
    keeping.await.unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    let mut untold = journal.untold_deliveries();
    untold.sort_by_key(|(response, ..)| *response == earlier);
    assert_eq!(
        untold,
        [(first, shown.clone(), marks), (earlier, shown, None)]
    );
}

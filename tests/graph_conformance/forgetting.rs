//! Forgetting: the chain closes, nothing that quoted it is left, indexes are notified.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use muninn::conversation::withdrawals::{ForgottenConversation, Withdrawals};
use muninn::graph::answers::{DeliveredAnswer, Marks};
use muninn::graph::items::{ChangedTurns, ReadTurn};
use muninn::graph::trace::ToolUse;
use muninn::graph::{Forget, Forgotten, NewTurn, ResponseId, Source, Summary, Trust};
use muninn::memory::QueueWithdrawals;
use muninn::memory::journal::{Journal, Refused, SetAside};
use muninn_platform::{
    Attention, Channels, ConversationId, Delivered, EventId, MessageId, PriorMessage, Withdraw,
    Withdrawn,
};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::appending::TakenAway;
use crate::lanes::{GraphBackend, StoreConversation, bare, ids};
use crate::messages::{archive, said};

on_every_store!(
    the_chain_closes_over_a_forgotten_turn,
    a_forgotten_last_turn_moves_the_pointer,
    the_only_turn_can_be_forgotten,
    what_is_not_there_is_not_forgotten,
    a_summary_goes_with_what_it_covered,
    quotes_of_a_forgotten_turn_are_blotted_out,
    listings_of_a_forgotten_turn_are_known,
    what_is_listed_very_often_loses_its_oldest_listings,
    a_listing_of_which_the_graph_was_told_late_goes_with_what_it_shows,
    an_answer_that_may_have_gone_out_is_known,
    who_read_a_turn_is_told_when_it_is_about_to_go,
    who_shows_an_answer_is_told_when_it_is_about_to_go,
    who_read_an_answer_is_told_when_it_was_emptied,
    who_read_an_answer_is_told_when_it_was_given_anew,
    what_says_again_an_answer_that_goes_as_well_is_emptied,
    what_says_again_a_quote_of_it_is_emptied,
    what_says_again_a_turn_through_another_that_went_before_is_emptied,
    what_says_again_an_answer_that_was_given_anew_since_is_emptied,
    a_listing_that_shows_what_an_answer_said_before_is_withdrawn,
    what_quoted_an_answer_that_was_given_anew_since_is_taken_away,
    letters_within_a_word_of_somebody_else_are_not_the_word,
    a_trace_that_says_it_again_goes_without_its_answer,
    an_emptied_answer_that_another_process_gave_anew_stays,
    a_session_goes_with_all_its_turns,
    a_session_of_many_turns_goes_in_several_transactions,
    turns_up_to_one_that_is_gone_are_those_before_it,
    some_turns_of_a_session_go_at_once_and_what_came_after_them_stays,
    a_title_has_no_note_about_a_file,
    what_people_set_for_a_session_stays_when_its_turns_go,
    what_is_replaced_or_emptied_under_a_legal_hold_is_copied,
    what_the_graph_does_not_have_is_copied_under_a_legal_hold_too,
    an_epoch_rises_with_every_forgetting,
    what_was_forgotten_leaves_its_mark_and_no_text,
    a_person_is_forgotten_whole_also_where_the_clock_was_set_back,
);

async fn a_person_is_forgotten_whole_also_where_the_clock_was_set_back(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut said = talk.turn("my locker is 12");
    // The server also has the data of other tests.
    let author = format!("author of {}", talk.session.as_str());
    said.turn.author.clone_from(&author);
    said.turn.created_at = Utc::now() + TimeDelta::hours(1);
    talk.append(&said).await;
    let accounts = [author.clone()];
    let until = talk.store.until_now(&accounts).await.unwrap();
    let kept = talk.store.turns_of_person(&author, until).await;
    assert_eq!(kept.unwrap().len(), 1);
    let forgotten = talk.store.forget_person(&accounts, Utc::now(), until);
    assert_eq!(forgotten.await.unwrap().turns, 1);
    assert_eq!(talk.chain().await, []);
}

async fn what_was_forgotten_leaves_its_mark_and_no_text(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let said = |event: &str, at: DateTime<Utc>| PriorMessage {
        event: Some(EventId::new(event)),
        author_id: None,
        author: "Ann".to_owned(),
        text: "a secret".to_owned(),
        at,
    };
    let secret = talk.say("a secret").await;
    let kept = talk.say("b").await;
    let marks = async || {
        talk.elsewhere(&store)
            .store
            .marks(&talk.session)
            .await
            .unwrap()
    };
    assert_eq!(marks().await, Marks::default());
    talk.forget(Forget::Turn(secret.id)).await;
    let now = Utc::now();
    assert!(marks().await.covers_message(&said(&secret.event, now)));
    assert!(!marks().await.covers_message(&said(&kept.event, now)));
    for _ in 0..2 {
        talk.forget(whole_session()).await;
        assert!(marks().await.covers_message(&said(&kept.event, now)));
    }
    let later = Utc::now() + TimeDelta::seconds(1);
    assert!(!marks().await.covers_message(&said("later", later)));
    assert!(marks().await.covers_message(&said(&secret.event, later)));
    let beside = talk.beside().session;
    assert_eq!(store.marks(&beside).await.unwrap(), Marks::default());
}

async fn the_chain_closes_over_a_forgotten_turn(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut said = Vec::new();
    for n in 0..5 {
        said.push(talk.say(&format!("question {n}")).await);
    }
    for gone in [2, 0] {
        let gone = said.remove(gone);
        let forgotten = talk.forget(Forget::Turn(gone.id)).await;
        assert_eq!(
            forgotten,
            Forgotten {
                turns: 1,
                quotes: 0,
                ..Forgotten::default()
            }
        );
        assert_eq!(ids(&talk.chain().await), ids(&said));
    }
    // The title was the first question.
    let sessions = talk.store.sessions().await.unwrap();
    let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title.as_deref(), Some("question 1"));
    said.push(talk.say("and on").await);
    assert_eq!(ids(&talk.chain().await), ids(&said));
    // No position is reused, so an index that saw the old turns cannot confuse them with a new one.
    assert_eq!(said.last().map(|turn| turn.position), Some(6));
}

async fn a_forgotten_last_turn_moves_the_pointer(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.say("a").await;
    let last = talk.say("b").await;
    talk.forget(Forget::Turn(last.id)).await;
    assert_eq!(talk.begin("x", 5, 0).await.window, [bare(&first)]);
    // Its event may become a turn again.
    let mut again = talk.turn("b");
    again.turn.event = last.event;
    let again = talk.append(&again).await;
    assert_eq!(ids(&talk.chain().await), [first.id, again.id]);
}

async fn the_only_turn_can_be_forgotten(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let only = talk.say("a secret").await;
    talk.forget(Forget::Turn(only.id)).await;
    assert!(talk.chain().await.is_empty());
    let sessions = talk.store.sessions().await.unwrap();
    let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title, None);
    talk.say("b").await;
    assert_eq!(talk.chain().await.len(), 1);
    let sessions = talk.store.sessions().await.unwrap();
    let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title.as_deref(), Some("b"));
}

async fn what_is_not_there_is_not_forgotten(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let nothing = Forgotten::default();
    assert_eq!(talk.forget(whole_session()).await, nothing);
    assert_eq!(
        talk.forget(Forget::Turn(ResponseId::fresh())).await,
        nothing
    );
    let other = talk.beside().say("of another session").await;
    talk.say("a").await;
    assert_eq!(talk.forget(Forget::Turn(other.id)).await, nothing);
    assert_eq!(talk.begin("x", 1, 0).await.news.turns.len(), 2);
}

async fn a_summary_goes_with_what_it_covered(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.say("a").await;
    let second = talk.say("b").await;
    let epoch = talk.begin("x", 1, 0).await.news.epoch;
    let summary = Summary {
        text: "a and b".to_owned(),
        through: second.id,
        trust: Trust::Talk,
    };
    let save = async || {
        let guard = talk.sessions.lock(&talk.session).await;
        talk.store
            .save_summary(&guard, &summary, None, epoch)
            .await
            .unwrap()
    };
    assert!(save().await);
    talk.forget(Forget::Turn(first.id)).await;
    assert_eq!(talk.begin("x", 1, 0).await.summary, None);
    // A summary made from forgotten turns is not saved any more.
    assert!(!save().await);
}

async fn quotes_of_a_forgotten_turn_are_blotted_out(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("my number is 1234").await;
    let mut quotes = Vec::new();
    for (talk, source) in [
        (&talk, Source::Memory),
        (&beside, Source::Memory),
        (&beside, Source::Model),
    ] {
        let mut new = talk.turn("what was the number?");
        new.turn.source = source;
        new.turn.output = "You said 1234".to_owned();
        new.recalled = vec![(secret.id, 0.9)];
        quotes.push(talk.append(&new).await);
    }
    let guard = beside.sessions.lock(&beside.session).await;
    let summary = Summary {
        text: "1234".to_owned(),
        through: quotes[1].id,
        trust: Trust::Talk,
    };
    assert!(
        beside
            .store
            .save_summary(&guard, &summary, None, 0)
            .await
            .unwrap()
    );
    drop(guard);
    let mut went_out = Vec::new();
    for (number, quote) in quotes.iter().enumerate() {
        let messages = Delivered(vec![MessageId::new(format!("m{number}"))]);
        let delivered = talk.store.set_delivered(quote.id, &messages).await;
        delivered.unwrap();
        let session = ConversationId::new(&quote.session);
        went_out.push(DeliveredAnswer {
            emptied: Some(quote.id),
            ..DeliveredAnswer::new(session, messages)
        });
    }
    let mut forgotten = talk.forget(Forget::Turn(secret.id)).await;
    // The emptied answers are reported with the messages that were delivered.
    forgotten
        .emptied
        .sort_by(|a, b| a.messages.0.cmp(&b.messages.0));
    assert_eq!(
        forgotten,
        Forgotten {
            turns: 1,
            quotes: 3,
            emptied: went_out,
            ..Forgotten::default()
        }
    );
    let here = talk.chain().await;
    assert!(!here[0].output.contains("1234") && !here[0].output.is_empty());
    let there = beside.chain().await;
    assert!(!there[0].output.contains("1234"));
    // So does a model's text made from it.
    assert!(!there[1].output.contains("1234"));
    let context = talk.begin("x", 5, 0).await;
    assert_eq!(context.news.turns[0].embedding, None);
    assert_eq!(beside.begin("x", 5, 0).await.summary, None);
}

async fn listings_of_a_forgotten_turn_are_known(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.say("my number is 1234").await;
    let second = talk.say("and 5678").await;
    let listing = |session: &str, message: &str| {
        let messages = Delivered(vec![MessageId::new(message)]);
        DeliveredAnswer::new(ConversationId::new(session), messages)
    };
    for turn in [&first, &second] {
        let messages = Delivered(vec![MessageId::new(&turn.event)]);
        talk.store.set_delivered(turn.id, &messages).await.unwrap();
    }
    let answer = listing(talk.session.as_str(), &first.event);
    let (both, one) = (listing("a", "history"), listing("b", "why"));
    let quoted = talk
        .store
        .record_quotes(&[first.id, second.id], &both)
        .await;
    quoted.unwrap();
    talk.store.record_quotes(&[second.id], &one).await.unwrap();
    let spoken = talk
        .store
        .delivered_messages(&talk.session, Some(first.id))
        .await;
    assert_eq!(spoken.unwrap(), [answer.clone(), both.clone()]);
    let spoken = talk
        .store
        .delivered_messages(&talk.session, None)
        .await
        .unwrap();
    assert_eq!(spoken.iter().filter(|it| **it == both).count(), 2);
    assert!(spoken.contains(&one));
}

async fn what_is_listed_very_often_loses_its_oldest_listings(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let turn = talk.say("my number is 1234").await;
    let listing = |number: usize| {
        let messages = Delivered(vec![MessageId::new(format!(
            "!direct:a.example/$event{number}"
        ))]);
        DeliveredAnswer::new(ConversationId::new("matrix/!room:a.example/main"), messages)
    };
    let folder = tempfile::tempdir().unwrap();
    let taken = Arc::new(TakenAway::default());
    let archive = archive(&talk, folder.path());
    let archive = archive.with_withdrawals(Arc::clone(&taken) as Arc<dyn QueueWithdrawals>);
    let shown = [ReadTurn::new(turn.id, "")];
    for number in 0..400 {
        let recorded = archive.record_quotes(&shown, &listing(number)).await;
        assert!(recorded.unwrap());
    }
    let session = &talk.session;
    let recorded = talk.store.delivered_messages(session, Some(turn.id)).await;
    let (recorded, taken) = (recorded.unwrap(), taken.0.lock());
    // What is not found any more when the turn is forgotten, is gone already.
    for number in 0..400 {
        let (stands, is_gone) = (
            recorded.contains(&listing(number)),
            taken.contains(&listing(number)),
        );
        assert_ne!(stands, is_gone, "{number}");
    }
    assert!(recorded.contains(&listing(399)) && taken.contains(&listing(0)));
    assert!(recorded.len() > 50, "{}", recorded.len());
}

async fn a_listing_of_which_the_graph_was_told_late_goes_with_what_it_shows(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    let archive = Arc::new(archive(&talk, folder.path()));
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    withdrawals.set_archive(&archive);
    let (kept, forgotten) = (
        talk.say("my number is 1234").await,
        talk.say("and 5678").await,
    );
    let listing = |message: &str| {
        let messages = Delivered(vec![MessageId::new(message)]);
        DeliveredAnswer::new(talk.session.clone(), messages)
    };
    let chat = Arc::new(WithdrawalRecorder::default());
    for (message, turns) in [
        ("of one", vec![kept.id]),
        ("of both", vec![kept.id, forgotten.id]),
    ] {
        let withdraw = Arc::clone(&chat) as Arc<dyn Withdraw>;
        withdrawals
            .record_listing(withdraw, listing(message), turns)
            .await;
    }
    talk.forget(Forget::Turn(forgotten.id)).await;
    let end = CancellationToken::new();
    let is_told = async {
        while talk
            .store
            .delivered_messages(&talk.session, Some(kept.id))
            .await
            .unwrap()
            .len()
            < 2
            || chat.0.lock().is_empty()
        {
            tokio::task::yield_now().await;
        }
        end.cancel();
    };
    tokio::join!(withdrawals.run(end.clone()), is_told);
    assert_eq!(*chat.0.lock(), [MessageId::new("of both")]);
    let spoken = talk
        .store
        .delivered_messages(&talk.session, Some(kept.id))
        .await;
    assert!(spoken.unwrap().contains(&listing("of one")));
}

async fn an_answer_that_may_have_gone_out_is_known(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let yesterday = Utc::now() - TimeDelta::hours(25);
    let mut old = talk.turn("a");
    old.turn.created_at = yesterday;
    talk.append(&old).await;
    let mut heard = talk.turn("b");
    heard.turn.source = Source::Message;
    talk.append(&heard).await;
    let open = talk.say("c").await;
    let spoken = talk
        .store
        .delivered_messages(&talk.session, None)
        .await
        .unwrap();
    let unseen: Vec<_> = spoken.iter().map(|it| it.unseen.clone()).collect();
    assert_eq!(unseen, [Some(EventId::new(&open.event))]);
    let messages = Delivered(vec![MessageId::new("m")]);
    talk.store.set_delivered(open.id, &messages).await.unwrap();
    let spoken = talk
        .store
        .delivered_messages(&talk.session, None)
        .await
        .unwrap();
    assert_eq!(
        spoken,
        [DeliveredAnswer::new(talk.session.clone(), messages)]
    );
}

async fn who_read_a_turn_is_told_when_it_is_about_to_go(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let store = &talk.store;
    let (first, second) = (talk.say("a").await, talk.say("b").await);
    let read = [ReadTurn::from(&first), ReadTurn::from(&second)];
    assert_eq!(
        store.find_changed_turns(&read).await.unwrap(),
        ChangedTurns::default()
    );
    let what = Forget::Turn(first.id);
    store
        .mark_being_forgotten(&talk.session, what)
        .await
        .unwrap();
    assert_eq!(
        store.find_changed_turns(&read).await.unwrap().forgotten,
        [first.id]
    );
    assert_eq!(ids(&talk.chain().await), [first.id, second.id]);
    talk.forget(what).await;
    assert_eq!(
        store.find_changed_turns(&read).await.unwrap().forgotten,
        [first.id]
    );
    store
        .mark_being_forgotten(&talk.session, whole_session())
        .await
        .unwrap();
    let gone = store.find_changed_turns(&read).await.unwrap();
    assert_eq!(gone.forgotten, [first.id, second.id]);
}

async fn who_shows_an_answer_is_told_when_it_is_about_to_go(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let said = talk.say("which port?").await;
    let shown = Delivered(vec![MessageId::new("shown")]);
    assert!(talk.store.set_delivered(said.id, &shown).await.unwrap());
    let what = Forget::Turn(said.id);
    talk.store
        .mark_being_forgotten(&talk.session, what)
        .await
        .unwrap();
    assert!(!talk.store.set_delivered(said.id, &shown).await.unwrap());
    talk.forget(what).await;
    assert!(!talk.store.set_delivered(said.id, &shown).await.unwrap());
}

async fn who_read_an_answer_is_told_when_it_was_emptied(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let mut repeats = Vec::new();
    for given in [Some(secret.id), None] {
        let mut new = beside.turn("what was it?");
        new.turn.source = Source::Model;
        new.turn.output = "It is ZEBRA-4711".to_owned();
        // The second one has it from the first, in the window.
        new.recalled = given.map(|id| (id, 0.9)).into_iter().collect();
        repeats.push(beside.append(&new).await);
    }
    let before: Vec<ReadTurn> = repeats.iter().map(ReadTurn::from).collect();
    assert!(
        talk.store
            .find_changed_turns(&before)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(talk.forget(Forget::Turn(secret.id)).await.quotes, 2);
    let gone = talk.store.find_changed_turns(&before).await.unwrap();
    assert_eq!(gone.emptied, ids(&repeats));
    assert_eq!(gone.forgotten, []);
    // Reading them now reveals nothing of it.
    let after: Vec<ReadTurn> = beside.chain().await.iter().map(ReadTurn::from).collect();
    assert_eq!(after.len(), 2);
    assert!(
        talk.store
            .find_changed_turns(&after)
            .await
            .unwrap()
            .is_empty()
    );
}

/// An answer of a model that was given some turns.
fn answered(talk: &StoreConversation, output: &str, given: Vec<(ResponseId, f64)>) -> NewTurn {
    let mut new = talk.turn("what was it?");
    new.turn.source = Source::Model;
    new.turn.output = output.to_owned();
    new.recalled = given;
    new
}

async fn what_says_again_an_answer_that_goes_as_well_is_emptied(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    talk.say("the code of the safe is ZEBRA-4711").await;
    let says = |talk: &StoreConversation, given| answered(talk, "It is ZEBRA-4711", given);
    // It has it from the window, and another conversation has it only from there.
    let first = talk.append(&says(&talk, vec![])).await;
    let elsewhere = beside.append(&says(&beside, vec![(first.id, 0.9)])).await;
    let read = ReadTurn::from(&elsewhere);
    assert_eq!(talk.forget(whole_session()).await.quotes, 1);
    let gone = talk.store.find_changed_turns(&[read]).await.unwrap();
    assert_eq!(gone.emptied, [elsewhere.id]);
}

async fn what_says_again_a_quote_of_it_is_emptied(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let mut quote = beside.turn("what was it?");
    quote.turn.source = Source::Memory;
    quote.turn.output = "> the code of the safe is ZEBRA-4711".to_owned();
    quote.recalled = vec![(secret.id, 0.9)];
    let quote = beside.append(&quote).await;
    // It has it only from the window.
    let mut again = beside.turn("say it again?");
    again.turn.source = Source::Model;
    again.turn.output = "It is ZEBRA-4711".to_owned();
    let again = beside.append(&again).await;
    let read = [&quote, &again].map(ReadTurn::from);
    assert_eq!(talk.forget(Forget::Turn(secret.id)).await.quotes, 2);
    let gone = talk.store.find_changed_turns(&read).await.unwrap();
    assert_eq!(gone.emptied, [quote.id, again.id]);
}

async fn what_says_again_a_turn_through_another_that_went_before_is_emptied(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (between, elsewhere) = (talk.beside(), talk.beside());
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let says = |talk: &StoreConversation, given| answered(talk, "It is ZEBRA-4711", given);
    // Each has it from the one before, the second of them in the window.
    let first = between
        .append(&says(&between, vec![(secret.id, 0.9)]))
        .await;
    let second = between.append(&says(&between, vec![])).await;
    let third = elsewhere
        .append(&says(&elsewhere, vec![(first.id, 0.9)]))
        .await;
    assert_eq!(between.forget(Forget::Turn(first.id)).await.quotes, 0);
    let read = [&second, &third].map(ReadTurn::from);
    let gone = talk.store.find_changed_turns(&read).await.unwrap();
    assert!(gone.is_empty(), "{gone:?}");
    // It was not given that itself.
    let shown = talk.store.explain(&elsewhere.session, None).await.unwrap();
    assert_eq!(shown.unwrap().recalled, []);
    assert_eq!(talk.forget(Forget::Turn(secret.id)).await.quotes, 2);
    let gone = talk.store.find_changed_turns(&read).await.unwrap();
    assert_eq!(gone.emptied, [second.id, third.id]);
}

async fn what_says_again_an_answer_that_was_given_anew_since_is_emptied(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let repeats = "It is ZEBRA-4711";
    let first = talk.append(&answered(&talk, repeats, vec![])).await;
    let elsewhere = answered(&beside, repeats, vec![(first.id, 0.9)]);
    let elsewhere = beside.append(&elsewhere).await;
    let mut anew = answered(&talk, "I may not say", vec![]);
    anew.turn.id = first.id;
    anew.turn.revised_at = Some(first.created_at);
    let guard = talk.sessions.lock(&talk.session).await;
    assert!(talk.store.replace(&guard, &anew).await.unwrap());
    drop(guard);
    let read = [&anew.turn, &elsewhere].map(ReadTurn::from);
    assert_eq!(talk.forget(Forget::Turn(secret.id)).await.quotes, 1);
    let gone = talk.store.find_changed_turns(&read).await.unwrap();
    assert_eq!(gone.emptied, [elsewhere.id]);
}

async fn a_listing_that_shows_what_an_answer_said_before_is_withdrawn(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let repeats = answered(&beside, "It is ZEBRA-4711", vec![(secret.id, 0.9)]);
    let repeats = beside.append(&repeats).await;
    let messages = Delivered(vec![MessageId::new("history")]);
    let listing = DeliveredAnswer::new(beside.session.clone(), messages);
    let listed = talk.store.record_quotes(&[repeats.id], &listing).await;
    listed.unwrap();
    // Nothing of that is given to the new answer.
    let mut anew = answered(&beside, "I may not say", vec![]);
    anew.turn.id = repeats.id;
    anew.turn.revised_at = Some(repeats.created_at);
    let guard = beside.sessions.lock(&beside.session).await;
    assert!(talk.store.replace(&guard, &anew).await.unwrap());
    drop(guard);
    let shown = talk.store.explain(&beside.session, None).await.unwrap();
    assert_eq!(shown.unwrap().recalled, []);
    let planned = talk
        .store
        .delivered_messages(&talk.session, Some(secret.id));
    assert!(planned.await.unwrap().contains(&listing));
    let forgotten = talk.forget(Forget::Turn(secret.id)).await;
    assert_eq!((forgotten.quotes, forgotten.emptied), (0, vec![listing]));
    // The new answer stands.
    let shown = talk.store.explain(&beside.session, None).await.unwrap();
    assert_eq!(shown.unwrap().turn.output, "I may not say");
}

async fn letters_within_a_word_of_somebody_else_are_not_the_word(lane: &GraphBackend) {
    let store = lane.open().await;
    // More than one statement reads.
    let mut many = vec!["See you on Friday."; 600];
    many.push("Is IDA here?");
    for (by_others, is_emptied) in [
        (vec!["See you on Friday, and happy holidays!"], true),
        (vec!["Ida's holiday begins on Friday."], false),
        (many, false),
    ] {
        let talk = StoreConversation::on(&store);
        let secret = talk.turn("My daughter's name is Ida.");
        let secret = talk.append(&secret).await;
        let said = by_others.iter().map(|text| said(&talk, "U2", text).into());
        let said: Vec<Arc<NewTurn>> = said.collect();
        store.append_all(&[], &said).await.unwrap();
        let mut answer = talk.turn("What is her daughter called?");
        answer.turn.author = "U3".to_owned();
        answer.turn.source = Source::Model;
        answer.turn.output = "Ida.".to_owned();
        let answer = talk.append(&answer).await;
        let read = ReadTurn::from(&answer);
        let forgotten = talk.forget(Forget::Turn(secret.id)).await;
        assert_eq!(
            forgotten.quotes,
            usize::from(is_emptied),
            "{}",
            by_others[0]
        );
        let gone = store.find_changed_turns(&[read]).await.unwrap();
        assert_eq!(gone.emptied == [answer.id], is_emptied);
    }
}

async fn a_trace_that_says_it_again_goes_without_its_answer(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("the locker code is ZEBRA-4711").await;
    let looks_up = |talk: &StoreConversation, words: &str, given| {
        let mut new = talk.turn("whose is the locker?");
        new.turn.author = "U2".to_owned();
        new.turn.source = Source::Model;
        new.turn.output = "I do not know.".to_owned();
        new.recalled = given;
        new.trace.tools = vec![ToolUse {
            name: "search_memory".to_owned(),
            arguments: serde_json::json!({ "query": words }).to_string(),
            ..ToolUse::default()
        }];
        new
    };
    let after = looks_up(&talk, "ZEBRA-4711 owner", vec![]);
    let after = talk.append(&after).await;
    let given = looks_up(&beside, "owner\nZEBRA-4711", vec![(secret.id, 0.9)]);
    let given = beside.append(&given).await;
    let mut by_statement = looks_up(&talk, "owner", vec![]);
    by_statement.turn.cypher = Some("MATCH (l {code: 'ZEBRA-4711'}) RETURN l".to_owned());
    let by_statement = talk.append(&by_statement).await;
    let other = talk.append(&looks_up(&talk, "quokka", vec![])).await;
    // What shows how it came to be shows that, too.
    let messages = Delivered(vec![MessageId::new("why")]);
    let why = DeliveredAnswer::new(talk.session.clone(), messages);
    talk.store.record_quotes(&[after.id], &why).await.unwrap();
    let shown = talk
        .store
        .delivered_messages(&talk.session, Some(secret.id));
    assert!(shown.await.unwrap().contains(&why));
    assert_eq!(talk.forget(Forget::Turn(secret.id)).await.quotes, 0);
    for (turn, is_kept) in [
        (&after, false),
        (&given, false),
        (&by_statement, false),
        (&other, true),
    ] {
        let session = ConversationId::new(&turn.session);
        let explained = talk.store.explain(&session, Some(turn.id)).await;
        let explained = explained.unwrap().unwrap();
        assert_eq!(explained.turn.output, "I do not know.");
        assert_eq!(explained.turn.cypher, None);
        assert_eq!(explained.trace.tools.len(), usize::from(is_kept));
    }
}

async fn what_quoted_an_answer_that_was_given_anew_since_is_taken_away(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let mut repeats = talk.turn("what was it?");
    repeats.turn.source = Source::Model;
    repeats.turn.output = "It is ZEBRA-4711".to_owned();
    let repeats = talk.append(&repeats).await;
    let mut quote = beside.turn("what is it?");
    quote.turn.source = Source::Memory;
    quote.turn.output = "and the answer then:\n> It is ZEBRA-4711".to_owned();
    quote.recalled = vec![(repeats.id, 0.9)];
    let quote = beside.append(&quote).await;
    let shown = Delivered(vec![MessageId::new("quoted")]);
    assert!(talk.store.set_delivered(quote.id, &shown).await.unwrap());
    // It is emptied now, but still in the chat as it was.
    let mut anew = talk.turn("what was it, please?");
    anew.turn.id = repeats.id;
    anew.turn.output = "I may not say".to_owned();
    anew.turn.revised_at = Some(repeats.created_at);
    let guard = talk.sessions.lock(&talk.session).await;
    assert!(talk.store.replace(&guard, &anew).await.unwrap());
    drop(guard);
    let shown = DeliveredAnswer::new(beside.session.clone(), shown);
    let planned = talk
        .store
        .delivered_messages(&talk.session, Some(secret.id))
        .await;
    assert!(planned.unwrap().contains(&shown));
    let forgotten = talk.forget(Forget::Turn(secret.id)).await;
    let shown = DeliveredAnswer {
        emptied: Some(quote.id),
        ..shown
    };
    assert_eq!((forgotten.quotes, forgotten.emptied), (0, vec![shown]));
}

/// Records the messages that were withdrawn.
#[derive(Default)]
struct WithdrawalRecorder(parking_lot::Mutex<Vec<MessageId>>);

#[async_trait]
impl Withdraw for WithdrawalRecorder {
    async fn withdraw(&self, _: &ConversationId, message: &MessageId) -> Withdrawn {
        self.0.lock().push(message.clone());
        Withdrawn::Gone
    }
}

async fn an_emptied_answer_that_another_process_gave_anew_stays(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let secret = talk.say("the code of the safe is ZEBRA-4711").await;
    let (stays, goes) = (
        Delivered(vec![MessageId::new("stays")]),
        MessageId::new("goes"),
    );
    let mut answers = Vec::new();
    for messages in [&stays, &Delivered(vec![goes.clone()])] {
        let mut repeats = talk.turn("what was it?");
        repeats.turn.source = Source::Model;
        repeats.turn.output = "It is ZEBRA-4711".to_owned();
        let repeats = talk.append(&repeats).await;
        assert!(
            talk.store
                .set_delivered(repeats.id, messages)
                .await
                .unwrap()
        );
        answers.push(repeats);
    }
    let forgotten = talk.forget(Forget::Turn(secret.id)).await;
    assert_eq!(forgotten.emptied.len(), 2);
    // The process that answered it shows it in place of the emptied one.
    let mut anew = talk.turn("what was it?");
    anew.turn.id = answers[0].id;
    anew.turn.delivered = Some(stays);
    anew.turn.output = "I may not say".to_owned();
    let guard = talk.sessions.lock(&talk.session).await;
    assert!(talk.store.replace(&guard, &anew).await.unwrap());
    drop(guard);

    let folder = tempfile::tempdir().unwrap();
    let withdrawals = Withdrawals::open(folder.path()).unwrap();
    let withdrawals = withdrawals.with_store(Arc::clone(&talk.store));
    let all = ForgottenConversation::of(&talk.session, forgotten.emptied, false);
    let chat = Arc::new(WithdrawalRecorder::default());
    let planned = withdrawals
        .plan_withdrawal("chat", Arc::clone(&chat) as Arc<dyn Withdraw>, all)
        .await;
    withdrawals.carry_out(planned).await;
    assert_eq!(*chat.0.lock(), [goes]);
}

async fn who_read_an_answer_is_told_when_it_was_given_anew(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let said = talk.say("which port?").await;
    let beginning: String = said.output.chars().take(3).collect();
    let [read, nothing, in_part] =
        [&said.output, "", &format!("{beginning}…")].map(|answer| ReadTurn::new(said.id, answer));
    let all = [read, nothing, in_part];
    assert!(
        talk.store
            .find_changed_turns(&all)
            .await
            .unwrap()
            .is_empty()
    );
    let mut anew = talk.turn("which port, please?");
    anew.turn.id = said.id;
    anew.turn.output = "another answer".to_owned();
    let guard = talk.sessions.lock(&talk.session).await;
    assert!(talk.store.replace(&guard, &anew).await.unwrap());
    let gone = talk.store.find_changed_turns(&all).await.unwrap();
    assert_eq!(gone.anew, vec![said.id; 2]);
    assert!(!gone.is_any_forgotten());
}

async fn a_session_goes_with_all_its_turns(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let mut secret = None;
    for n in 0..5 {
        secret = Some(talk.say(&format!("{n}")).await);
    }
    let mut quote = beside.turn("what?");
    quote.turn.source = Source::Memory;
    quote.recalled = vec![(secret.unwrap().id, 0.5)];
    beside.append(&quote).await;
    let mut own = talk.turn("what?");
    own.turn.source = Source::Memory;
    own.recalled = quote.recalled.clone();
    talk.append(&own).await;
    let forgotten = talk.forget(whole_session()).await;
    assert_eq!(
        forgotten,
        Forgotten {
            turns: 6,
            quotes: 1,
            ..Forgotten::default()
        }
    );
    assert!(talk.chain().await.is_empty());
    let left = talk.begin("x", 5, 0).await.news;
    assert_eq!(ids(&left.turns), [quote.turn.id]);
    let sessions = talk.store.sessions().await.unwrap();
    assert!(!sessions.iter().any(|one| one.id == talk.session.as_str()));
    assert_eq!(talk.say("a new beginning").await.position, 8);
    assert_eq!(talk.chain().await.len(), 1);
}

async fn a_session_of_many_turns_goes_in_several_transactions(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let asked = talk.say("which port?").await;
    let folder = tempfile::tempdir().unwrap();
    let heard = (0..250).map(|n| said(&talk, "Priya", &format!("message {n}")));
    let heard: Vec<NewTurn> = heard.collect();
    let kept = archive(&talk, folder.path());
    kept.keep_messages(heard.clone()).await.unwrap();
    let beside = talk.beside();
    let mut quote = beside.turn("what?");
    quote.turn.source = Source::Memory;
    quote.recalled = vec![(asked.id, 0.5)];
    beside.append(&quote).await;
    let forgotten = talk.forget(whole_session()).await;
    assert_eq!((forgotten.turns, forgotten.quotes), (251, 1));
    assert!(talk.chain().await.is_empty());
    let left = talk.begin("x", 5, 0).await.news;
    assert_eq!(ids(&left.turns), [quote.turn.id]);
    assert_ne!(left.turns[0].output, quote.turn.output);
    let sessions = talk.store.sessions().await.unwrap();
    assert!(!sessions.iter().any(|one| one.id == talk.session.as_str()));
    // None of them is kept again.
    kept.keep_messages(heard).await.unwrap();
    assert!(talk.chain().await.is_empty());
}

async fn turns_up_to_one_that_is_gone_are_those_before_it(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (first, last, since) = (
        talk.say("a").await,
        talk.say("b").await,
        talk.say("c").await,
    );
    let until = async |turn: &muninn::graph::Turn| {
        let turns = talk.store.turns_until(&talk.session, turn.id).await;
        turns.unwrap()
    };
    assert_eq!(until(&last).await, [first.id, last.id]);
    talk.forget(Forget::Turn(last.id)).await;
    assert_eq!(until(&last).await, [first.id]);
    assert_eq!(until(&since).await, [first.id, since.id]);
}

async fn some_turns_of_a_session_go_at_once_and_what_came_after_them_stays(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    let heard = (0..150).map(|n| said(&talk, "Priya", &format!("message {n}")));
    let kept = archive(&talk, folder.path());
    kept.keep_messages(heard.collect()).await.unwrap();
    talk.say("my number is 1234").await;
    let until = talk.say("my floor is 5").await;
    let stays = talk.say("who is on call?").await;
    let about = talk.store.turns_until(&talk.session, until.id).await;
    let about = about.unwrap();
    let mut late = said(&talk, "Priya", "it was 950");
    late.turn.created_at = Utc::now() - TimeDelta::seconds(1);
    let guard = talk.sessions.lock(&talk.session).await;
    let forgotten = talk.store.forget_turns(&guard, &about, Utc::now()).await;
    drop(guard);
    assert_eq!(forgotten.unwrap().turns, 152);
    assert_eq!(ids(&talk.chain().await), [stays.id]);
    let sessions = talk.store.sessions().await.unwrap();
    let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title.as_deref(), Some("who is on call?"));
    // What was said before the command and is read after it is not kept.
    kept.keep_messages(vec![late]).await.unwrap();
    assert_eq!(ids(&talk.chain().await), [stays.id]);
}

async fn a_title_has_no_note_about_a_file(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut asked = Vec::new();
    for n in 0..3 {
        let question = format!("question {n}\n[file: stdin]");
        asked.push(talk.say(&question).await.id);
    }
    let title = async || {
        let sessions = talk.store.sessions().await.unwrap();
        let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
        mine.unwrap().title.clone()
    };
    assert_eq!(title().await.as_deref(), Some("question 0"));
    talk.forget(Forget::Turn(asked[0])).await;
    assert_eq!(title().await.as_deref(), Some("question 1"));
    let guard = talk.sessions.lock(&talk.session).await;
    let forgetting = talk.store.forget_turns(&guard, &asked[1..2], Utc::now());
    assert_eq!(forgetting.await.unwrap().turns, 1);
    assert_eq!(title().await.as_deref(), Some("question 2"));
}

async fn what_people_set_for_a_session_stays_when_its_turns_go(lane: &GraphBackend) {
    let store = lane.open().await;
    for (set, is_kept) in [(Attention::Muted, true), (Attention::Open, false)] {
        for is_old in [true, false] {
            let talk = StoreConversation::on(&store);
            talk.say("my number is 1234").await;
            let guard = talk.sessions.lock(&talk.session).await;
            assert!(store.set_session_attention(&guard, set).await.unwrap());
            drop(guard);
            if is_old {
                let later = Utc::now() + TimeDelta::seconds(1);
                let forgotten = store.forget_old(&talk.audience.id, later).await;
                assert_eq!(forgotten.unwrap().turns, 1);
            } else {
                assert_eq!(talk.forget(whole_session()).await.turns, 1);
            }
            assert!(talk.chain().await.is_empty());
            let read = store.attention(&talk.session, &talk.audience.id).await;
            assert_eq!(read.unwrap().session, set, "{is_old}");
            let sessions = store.sessions().await.unwrap();
            let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
            assert_eq!(mine.is_some(), is_kept, "{set:?} {is_old}");
            assert_eq!(mine.and_then(|one| one.title.as_deref()), None);
        }
    }
}

/// Puts the audience of a conversation under a legal hold.
fn hold(talk: &StoreConversation, folder: &Path) {
    let settings = folder.join("channels.toml");
    let held = format!("['{}']\nlegal_hold = true\n", talk.audience.id);
    std::fs::write(&settings, held).unwrap();
    let settings = Channels::load(&settings).unwrap();
    talk.store.hold_by(Arc::new(settings));
}

/// Number of copies of what was forgotten in the audience of a conversation.
async fn held_copies(talk: &StoreConversation) -> usize {
    let held = talk.store.held_copy_counts().await.unwrap();
    let here = held.iter().find(|(place, _)| *place == talk.audience.id);
    here.map_or(0, |(_, copies)| *copies)
}

async fn what_the_graph_does_not_have_is_copied_under_a_legal_hold_too(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    hold(&talk, folder.path());
    // It was refused, and is forgotten here.
    let refused = Refused {
        turn: talk.turn("My locker is 12."),
        reason: "it is odd".to_owned(),
        at: Utc::now(),
    };
    SetAside::of(folder.path()).add(&refused).unwrap();
    // It waits, and is forgotten by another process.
    let waiting = said(&talk, "Bob", "We ship on Friday.");
    let journal = Journal::open(folder.path()).unwrap();
    journal.keep(waiting.clone()).await.unwrap();
    drop(journal);
    let kept = archive(&talk, folder.path());
    let event = EventId::new(&waiting.turn.event);
    kept.mark_forgotten(&talk.session, &event).await.unwrap();
    kept.replay().await.unwrap();
    assert_eq!((kept.waiting(), held_copies(&talk).await), (0, 1));
    assert_eq!(kept.forget(&talk.session, |_| true).await.unwrap(), 1);
    assert!(SetAside::of(folder.path()).all().unwrap().is_empty());
    assert_eq!(held_copies(&talk).await, 2);
    let released = talk.store.release_held(&talk.audience.id).await;
    assert_eq!(released.unwrap(), 2);
}

async fn what_is_replaced_or_emptied_under_a_legal_hold_is_copied(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let folder = tempfile::tempdir().unwrap();
    hold(&talk, folder.path());
    let copies = async || held_copies(&talk).await;
    // A heard message that is edited so that it is answered.
    let heard = said(&talk, "Bob", "We ship without the test.");
    let kept = archive(&talk, folder.path());
    kept.keep_messages(vec![heard.clone()]).await.unwrap();
    let mut asked = talk.turn("When do we ship?");
    asked.turn.event.clone_from(&heard.turn.event);
    talk.append(&asked).await;
    assert_eq!(copies().await, 1);
    // Answers that are emptied because of what they repeat or quote.
    let secret = talk.say("my number is 1234").await;
    for output in ["You said 1234", "It is the one from yesterday"] {
        let mut quote = talk.beside().turn("what was the number?");
        quote.turn.source = Source::Memory;
        quote.turn.output = output.to_owned();
        quote.recalled = vec![(secret.id, 0.9)];
        let session = ConversationId::new(&quote.turn.session);
        let guard = talk.sessions.lock(&session).await;
        store.append(&guard, &quote).await.unwrap();
    }
    assert_eq!(talk.forget(Forget::Turn(secret.id)).await.quotes, 2);
    assert_eq!(copies().await, 4);
    assert_eq!(store.release_held(&talk.audience.id).await.unwrap(), 4);
}

async fn an_epoch_rises_with_every_forgetting(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let epoch = async || talk.begin("x", 1, 0).await.news.epoch;
    let first = talk.say("a").await;
    let second = talk.say("b").await;
    // What was read tells it, too.
    let read = [ReadTurn::from(&first), ReadTurn::from(&second)];
    let told = async || {
        let looking = talk.store.find_changed_turns_and_epochs(&read);
        let (gone, epochs) = looking.await.unwrap();
        (gone.forgotten, epochs.get(&talk.audience.id).copied())
    };
    let before = epoch().await;
    assert_eq!(told().await, (vec![], Some(before)));
    talk.forget(Forget::Turn(first.id)).await;
    let between = epoch().await;
    assert!(between > before);
    assert_eq!(told().await, (vec![first.id], Some(between)));
    talk.forget(whole_session()).await;
    assert!(epoch().await > between);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// `None` appends; a number forgets the turn at that place (modulo the length).
    #[test]
    fn any_sequence_leaves_one_chain(steps in prop::collection::vec(prop::option::of(0_usize..20), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lane = GraphBackend::embedded();
            let talk = StoreConversation::on(&lane.open().await);
            let mut expected: Vec<ResponseId> = Vec::new();
            for step in steps {
                match step {
                    Some(place) if !expected.is_empty() => {
                        let gone = expected.remove(place % expected.len());
                        assert_eq!(talk.forget(Forget::Turn(gone)).await.turns, 1);
                    }
                    Some(_) | None => expected.push(talk.say("a").await.id),
                }
                assert_eq!(ids(&talk.chain().await), expected);
            }
            talk.store.close().await.unwrap();
        });
    }
}

fn whole_session() -> Forget {
    Forget::Session {
        said_until: Utc::now(),
    }
}

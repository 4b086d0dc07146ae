//! Overheard messages, on the chains of their threads.

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, TimeZone as _, Utc};
use muninn::graph::answers::WhichResponse;
use muninn::graph::{Forget, GraphConfig, NewTurn, Source, Turn};
use muninn::llm::Embedder;
use muninn::memory::journal::Journal;
use muninn::memory::{Archive, Calibration, Edit, RecallSettings, Recaller};

use muninn::retrieval::LocalEmbedder;
use muninn_platform::{AudienceId, EventId};

use crate::lanes::{GraphBackend, StoreConversation, ids};
use crate::proxy::Proxy;

on_every_store!(
    messages_of_many_threads_are_kept_once,
    what_is_about_answers_does_not_see_messages,
    what_was_only_heard_can_still_be_answered,
    messages_wait_behind_what_waits_of_their_thread,
    messages_are_edited_and_forgotten_by_their_events,
    all_that_a_person_said_to_others_in_one_audience_is_forgotten,
    an_answer_that_waits_is_emptied_with_what_it_repeats,
    an_answer_that_waits_is_emptied_with_what_the_graph_has,
    what_was_said_between_two_moments_is_read_in_order,
    what_goes_on_with_something_is_recalled_with_it_until_it_is_changed,
    candidates_are_those_that_the_graph_has_now,
);

/// Returns a message of somebody to others in a talk.
pub(crate) fn said(talk: &StoreConversation, author: &str, text: &str) -> NewTurn {
    let message = Turn::message(talk.session.as_str(), author, text);
    let heard = talk.turn(text);
    NewTurn {
        turn: Turn {
            event: format!("event/{}", message.id),
            embedding: heard.turn.embedding,
            link: Some("https://chat.test/2".to_owned()),
            ..message
        },
        ..heard
    }
}

pub(crate) fn archive(talk: &StoreConversation, folder: &std::path::Path) -> Archive {
    Archive::new(
        Arc::clone(&talk.store),
        Journal::open(folder).unwrap(),
        Arc::clone(&talk.sessions),
        8,
    )
}

async fn messages_of_many_threads_are_kept_once(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (beside, elsewhere) = (talk.beside(), StoreConversation::on(&talk.store));
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let asked = talk.say("Who is on call?").await;
    let mut messages: Vec<NewTurn> = (0..900)
        .map(|n| {
            let place = [&talk, &beside, &elsewhere][n % 3];
            said(place, "Priya", &format!("message {n}"))
        })
        .collect();
    messages[3].turn.reply_to = Some(messages[0].turn.event.clone());
    archive.keep_messages(messages.clone()).await.unwrap();
    // Again, with one more, and one of them twice.
    messages.extend([said(&talk, "Tom", "the last"), messages[0].clone()]);
    archive.keep_messages(messages.clone()).await.unwrap();
    assert_eq!(archive.waiting(), 0);
    for place in [&talk, &beside, &elsewhere] {
        let shape = talk.store.chain_shape(&place.session).await.unwrap();
        assert!(shape.is_whole(), "{shape:?}");
    }
    let chain = talk.chain().await;
    assert_eq!(chain.len(), 302);
    assert_eq!(chain[0].id, asked.id);
    assert_eq!(chain[1].input, "message 0");
    assert_eq!(chain[1].source, Source::Message);
    assert_eq!(chain[1].output, "");
    assert_eq!(chain[1].link.as_deref(), Some("https://chat.test/2"));
    assert_eq!(chain[2].reply_to.as_ref(), Some(&messages[0].turn.event));
    assert_eq!(chain[301].input, "the last");
    let news = talk.store.turns_since(&talk.audience.id, 0, 2_000).await;
    let news = news.unwrap();
    assert_eq!(news.turns.len(), 602);
    assert!(news.turns.iter().all(|turn| turn.embedding.is_some()));
    let theirs = talk
        .store
        .turns_since(&elsewhere.audience.id, 0, 2_000)
        .await;
    assert_eq!(theirs.unwrap().turns.len(), 300);
    // The chain continues.
    assert_eq!(talk.say("Thanks").await.position, 603);
}

async fn what_is_about_answers_does_not_see_messages(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let store = &talk.store;
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let last = || store.find_response(WhichResponse::LastIn(&talk.session));
    let before = said(&talk, "Snorri", "Anybody here?");
    archive.keep_messages(vec![before.clone()]).await.unwrap();
    assert_eq!(last().await.unwrap(), None);
    assert!(!archive.takes_part(&talk.session).await);
    assert!(store.explain(&talk.session, None).await.unwrap().is_none());
    let mut asked = talk.turn("Who is on call?");
    asked.recalled = vec![(before.turn.id, 0.7)];
    let asked = talk.append(&asked).await;
    let mut after: Vec<NewTurn> = (0..20).map(|n| said(&talk, "U1", &n.to_string())).collect();
    for message in &mut after {
        message.turn.author = "U1".to_owned();
    }
    archive.keep_messages(after).await.unwrap();
    let sought = Some((talk.session.clone(), asked.id));
    let audience = &talk.audience.id;
    for which in [
        WhichResponse::LastIn(&talk.session),
        WhichResponse::LastOf(audience),
        WhichResponse::LastTo(audience, "U1"),
    ] {
        assert_eq!(store.find_response(which).await.unwrap(), sought);
    }
    assert!(archive.takes_part(&talk.session).await);
    assert_eq!(
        ids(&store.last_turns(audience, 9).await.unwrap()),
        [asked.id]
    );
    assert_eq!(store.memory_stats(audience).await.unwrap().turns, 1);
    let since = Utc.with_ymd_and_hms(2020, 1, 1, 0, 0, 0).unwrap();
    let usage = store
        .usage(&["U1".to_owned()], audience, since)
        .await
        .unwrap();
    assert_eq!((usage.person.turns.min(1), usage.audience.turns), (1, 1));
    let own = store.own_sessions("U1", talk.session.as_str(), 9).await;
    let own = own.unwrap();
    assert_eq!((own.len(), own[0].turns), (1, 1));
    assert_eq!(own[0].title, "Who is on call?");
    let overview = store.sessions().await.unwrap();
    let mine = overview.iter().find(|it| it.id == talk.session.as_str());
    let mine = mine.unwrap();
    assert_eq!(
        (mine.turns, mine.title.as_deref()),
        (1, Some("Who is on call?"))
    );
    let following = store.answers_after(&talk.session, None, 9).await.unwrap();
    assert_eq!(ids(&following), [asked.id]);
    let following = store.answers_after(&talk.session, Some(asked.id), 9);
    assert!(following.await.unwrap().is_empty());
    // It was made from a message, and is shown as one.
    let why = store.explain(&talk.session, None).await.unwrap().unwrap();
    assert_eq!(why.turn.id, asked.id);
    assert!(why.recalled[0].1.is_message());
    // The window has both, as far back as its answers.
    let window = talk.begin("another", 4, 0).await.window;
    assert_eq!(window.len(), 22);
    // The title is a question to the bot, even after the first is forgotten.
    let next = talk.say("And who after that?").await;
    talk.forget(Forget::Turn(asked.id)).await;
    let overview = store.sessions().await.unwrap();
    let mine = overview.iter().find(|it| it.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title.as_deref(), Some("And who after that?"));
    talk.forget(Forget::Turn(next.id)).await;
    let overview = store.sessions().await.unwrap();
    let mine = overview.iter().find(|it| it.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title, None);
    assert!(
        !self::archive(&talk, tempfile::tempdir().unwrap().path())
            .takes_part(&talk.session)
            .await
    );
}

async fn what_was_only_heard_can_still_be_answered(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let mut messages: Vec<NewTurn> = ["one", "two", "three"]
        .map(|text| said(&talk, "Priya", text))
        .into();
    archive.keep_messages(messages.clone()).await.unwrap();
    let event = messages[1].turn.event.clone();
    assert_eq!(talk.begin(&event, 8, 0).await.duplicate, None);
    let mut asked = talk.turn("two, @muninn?");
    asked.turn.event.clone_from(&event);
    let asked = talk.append(&asked).await;
    let duplicate = talk.begin(&event, 8, 0).await.duplicate.unwrap();
    assert_eq!(duplicate.id, asked.id);
    let texts = |chain: Vec<Turn>| chain.into_iter().map(|it| it.input).collect::<Vec<_>>();
    assert_eq!(texts(talk.chain().await), ["one", "three", "two, @muninn?"]);
    let shape = talk.store.chain_shape(&talk.session).await.unwrap();
    assert!(shape.is_whole(), "{shape:?}");
    // Kept again, it does not change.
    archive.keep_messages(messages.clone()).await.unwrap();
    assert_eq!(texts(talk.chain().await), ["one", "three", "two, @muninn?"]);
    // The same for one from the journal.
    let mut late = talk.turn("three, @muninn?");
    late.turn
        .event
        .clone_from(&messages.pop().unwrap().turn.event);
    let guard = talk.sessions.lock(&talk.session).await;
    let late = [Arc::new(late)];
    talk.store.append_all(&[guard], &late).await.unwrap();
    assert_eq!(
        texts(talk.chain().await),
        ["one", "two, @muninn?", "three, @muninn?"]
    );
}

async fn messages_wait_behind_what_waits_of_their_thread(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let waiting = talk.turn("asked while the graph was away");
    journal.keep(waiting.clone()).await.unwrap();
    let archive = Archive::new(
        Arc::clone(&talk.store),
        journal,
        Arc::clone(&talk.sessions),
        8,
    );
    let messages = vec![
        said(&talk, "Priya", "said behind it"),
        said(&beside, "Tom", "said elsewhere"),
        said(&talk, "Tom", "and more"),
    ];
    archive.keep_messages(messages.clone()).await.unwrap();
    archive.keep_messages(messages).await.unwrap();
    assert_eq!(archive.waiting(), 3);
    assert_eq!(beside.chain().await.len(), 1);
    assert!(talk.chain().await.is_empty());
    assert_eq!(archive.replay().await.unwrap(), 3);
    let chain: Vec<String> = talk.chain().await.into_iter().map(|it| it.input).collect();
    assert_eq!(
        chain,
        [
            "asked while the graph was away",
            "said behind it",
            "and more"
        ]
    );
    assert_eq!(talk.chain().await[0].id, waiting.turn.id);
}

async fn messages_are_edited_and_forgotten_by_their_events(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let store = &talk.store;
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let messages: Vec<NewTurn> = ["rent?", "it is 900", "thanks", "lunch?"]
        .map(|text| said(&talk, "Priya", text))
        .into();
    archive.keep_messages(messages.clone()).await.unwrap();
    let event = |n: usize| EventId::new(&messages[n].turn.event);
    let edit = |n: usize, author: &'static str| {
        let event = event(n);
        let (archive, audience) = (&archive, &talk.audience);
        async move {
            let edit = Edit {
                event: &event,
                audience,
                author,
                text: "it is 950",
                at: Utc::now(),
            };
            archive.edit_message(&edit).await.unwrap()
        }
    };
    assert!(!edit(1, "Tom").await);
    let epoch = talk.begin("e", 9, 0).await.news.epoch;
    assert!(edit(1, "Priya").await);
    let begun = talk.begin("e", 9, 0).await;
    assert!(begun.news.epoch > epoch);
    let edited = &begun.news.turns[1];
    assert_eq!(
        (&*edited.input, edited.source),
        ("it is 950", Source::Message)
    );
    // Nothing embeds here: the vector of the old text is gone.
    assert_eq!(edited.embedding, None);
    assert!(edited.revised_at.is_some());
    assert_eq!(edited.link, messages[1].turn.link);
    let elsewhere = AudienceId::new("elsewhere");
    assert!(!archive.forget_message(&elsewhere, &event(3)).await.unwrap());
    for n in [3, 0] {
        assert!(
            archive
                .forget_message(&talk.audience.id, &event(n))
                .await
                .unwrap()
        );
        assert!(
            !archive
                .forget_message(&talk.audience.id, &event(n))
                .await
                .unwrap()
        );
        let shape = store.chain_shape(&talk.session).await.unwrap();
        assert!(shape.is_whole(), "{shape:?}");
    }
    // Read again, it is not kept again.
    archive.keep_messages(messages.clone()).await.unwrap();
    assert_eq!(inputs(&talk.chain().await), ["it is 950", "thanks"]);
    archive
        .keep_messages(vec![said(&talk, "Priya", "next")])
        .await
        .unwrap();
    assert_eq!(inputs(&talk.chain().await), ["it is 950", "thanks", "next"]);
}

async fn all_that_a_person_said_to_others_in_one_audience_is_forgotten(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (beside, elsewhere) = (talk.beside(), StoreConversation::on(&talk.store));
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let mut messages: Vec<NewTurn> = (0..1_200)
        .map(|n| {
            let author = ["Priya", "Priya", "Tom"][n % 3];
            said([&talk, &beside][n % 2], author, &n.to_string())
        })
        .collect();
    messages.push(said(&elsewhere, "Priya", "elsewhere"));
    archive.keep_messages(messages.clone()).await.unwrap();
    let mut asked = talk.turn("asked by Priya");
    asked.turn.author = "Priya".to_owned();
    talk.append(&asked).await;
    let kept = talk.say("asked by Snorri").await;
    let gone = archive
        .forget_heard_messages(&talk.audience.id, "Priya")
        .await;
    assert_eq!(gone.unwrap().turns, 800);
    let gone = archive
        .forget_heard_messages(&talk.audience.id, "Priya")
        .await;
    assert_eq!(gone.unwrap().turns, 0);
    for place in [&talk, &beside] {
        let shape = talk.store.chain_shape(&place.session).await.unwrap();
        assert!(shape.is_whole(), "{shape:?}");
        let chain = place.chain().await;
        let mut theirs = chain.iter().filter(|turn| turn.author == "Priya");
        // Their questions to the bot have to be forgotten separately.
        assert!(theirs.all(|turn| !turn.is_message()));
    }
    assert_eq!(talk.chain().await.last().unwrap().id, kept.id);
    assert_eq!(beside.chain().await.len(), 200);
    assert_eq!(elsewhere.chain().await.len(), 1);
    // Forgotten messages are not kept again when they are read again.
    archive.keep_messages(messages).await.unwrap();
    assert_eq!(beside.chain().await.len(), 200);
    // It is forgotten in the journal too.
    let folder = tempfile::tempdir().unwrap();
    let waiting = Journal::open(folder.path()).unwrap();
    waiting.keep(said(&talk, "Priya", "waits")).await.unwrap();
    waiting
        .keep(said(&talk, "Tom", "waits, too"))
        .await
        .unwrap();
    let archive = Archive::new(
        Arc::clone(&talk.store),
        waiting,
        Arc::clone(&talk.sessions),
        8,
    );
    let gone = archive
        .forget_heard_messages(&talk.audience.id, "Priya")
        .await;
    assert_eq!((gone.unwrap().turns, archive.waiting()), (1, 1));
}

async fn an_answer_that_waits_is_emptied_with_what_it_repeats(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    // Other tests' conversations in the same graph are not hers.
    let priya = format!("priya of {}", talk.session);
    for is_person in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let told = said(&talk, &priya, "the gate code is zebra4711");
        let mut answer = talk.turn("Which code?");
        answer.turn.output = "It is zebra4711.".to_owned();
        answer.turn.author = "Tom".to_owned();
        journal.keep(told).await.unwrap();
        journal.keep(answer.clone()).await.unwrap();
        let archive = Archive::new(
            Arc::clone(&talk.store),
            journal,
            Arc::clone(&talk.sessions),
            8,
        );
        if is_person {
            let person = std::slice::from_ref(&priya);
            let now = Utc::now();
            let forgetting = archive.forget_person(person, now, now, false);
            forgetting.await.unwrap();
        } else {
            let audience = &talk.audience.id;
            let gone = archive.forget_heard_messages(audience, &priya).await;
            gone.unwrap();
        }
        assert_eq!(archive.replay().await.unwrap(), 1);
        let kept = talk.chain().await;
        let kept = kept.iter().find(|it| it.id == answer.turn.id).unwrap();
        assert!(!kept.output.contains("zebra4711"), "{}", kept.output);
    }
}

/// Returns an answer that repeats the code of a gate, and an archive in which it waits for the graph.
async fn waiting_answer(talk: &StoreConversation, folder: &std::path::Path) -> (NewTurn, Archive) {
    let mut answer = talk.turn("Which code?");
    answer.turn.output = "It is zebra4711.".to_owned();
    answer.turn.author = "Tom".to_owned();
    let journal = Journal::open(folder).unwrap();
    journal.keep(answer.clone()).await.unwrap();
    let archive = Archive::new(
        Arc::clone(&talk.store),
        journal,
        Arc::clone(&talk.sessions),
        8,
    );
    (answer, archive)
}

async fn an_answer_that_waits_is_emptied_with_what_the_graph_has(lane: &GraphBackend) {
    let store = lane.open().await;
    for is_heard in [true, false] {
        let talk = StoreConversation::on(&store);
        let folder = tempfile::tempdir().unwrap();
        let told = "the gate code is zebra4711";
        let told = match is_heard {
            true => said(&talk, "Priya", told),
            false => talk.turn(told),
        };
        let told = talk.append(&told).await;
        let (answer, archive) = waiting_answer(&talk, folder.path()).await;
        if is_heard {
            let (audience, event) = (&talk.audience.id, EventId::new(&told.event));
            assert!(archive.forget_message(audience, &event).await.unwrap());
        } else {
            let guard = talk.sessions.lock(&talk.session).await;
            let saved = archive.save_before_forgetting(&guard, told.id).await;
            saved.unwrap();
            let forgotten = store.forget(&guard, Forget::Turn(told.id)).await;
            assert_eq!(forgotten.unwrap().turns, 1);
        }
        archive.replay().await.unwrap();
        let kept = talk.chain().await;
        assert_eq!(ids(&kept), [answer.turn.id]);
        assert!(!kept[0].output.contains("zebra4711"), "{}", kept[0].output);
    }
}

/// Until somebody looks for it, the graph counts as away.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_waits_is_saved_before_something_is_forgotten_as_soon_as_the_graph_is_back() {
    let (config, _share) = GraphBackend::server_together().await;
    let target = config.url.split_once("://").unwrap().1.to_owned();
    let proxy = Proxy::to(target).await;
    let through = GraphConfig {
        url: proxy.bolt_url(),
        timeout: Duration::from_secs(10),
        ..config
    };
    let talk = StoreConversation::on(&muninn::graph::open(&through).await.unwrap());
    let told = talk.say("the gate code is zebra4711").await;
    let folder = tempfile::tempdir().unwrap();
    let (answer, archive) = waiting_answer(&talk, folder.path()).await;
    proxy.cut();
    archive.replay().await.unwrap_err();
    let guard = talk.sessions.lock(&talk.session).await;
    let saved = archive.save_before_forgetting(&guard, told.id).await;
    assert!(saved.unwrap_err().is_transient());
    proxy.mend();
    // The pool notices its dead connections.
    let mut saved = archive.save_before_forgetting(&guard, told.id).await;
    for _ in 0..20 {
        if saved.is_ok() {
            break;
        }
        saved = archive.save_before_forgetting(&guard, told.id).await;
    }
    saved.unwrap();
    assert!(archive.is_away());
    assert_eq!(ids(&talk.chain().await), [told.id, answer.turn.id]);
}

async fn what_was_said_between_two_moments_is_read_in_order(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let noon = Utc.with_ymd_and_hms(2026, 4, 6, 12, 0, 0).unwrap();
    let mut messages: Vec<NewTurn> = (0..10)
        .map(|n| said(&talk, "Priya", &n.to_string()))
        .collect();
    for (minute, message) in (0..).zip(&mut messages) {
        message.turn.created_at = noon + TimeDelta::minutes(minute);
    }
    // Older messages that are read later.
    messages.rotate_left(3);
    messages[4].turn.reply_to = Some("event/other".to_owned());
    archive.keep_messages(messages.clone()).await.unwrap();
    let mut asked = talk.turn("asked");
    asked.turn.created_at = noon + TimeDelta::seconds(150);
    talk.append(&asked).await;
    let between = |from: i64, until: i64, most| {
        let minute = |minutes| noon + TimeDelta::minutes(minutes);
        talk.store
            .messages_between(&talk.audience.id, minute(from), minute(until), most)
    };
    let read = between(1, 9, 100).await.unwrap();
    assert_eq!(
        inputs(&read),
        ["1", "2", "asked", "3", "4", "5", "6", "7", "8"]
    );
    assert_eq!(read[2].output, "answer to asked");
    assert_eq!(read[7].reply_to.as_deref(), Some("event/other"));
    assert_eq!(inputs(&between(1, 9, 3).await.unwrap()), ["6", "7", "8"]);
}

fn inputs(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| &*turn.input).collect()
}

fn recaller() -> Arc<Recaller> {
    let calibration = Calibration::shipped().unwrap();
    let settings = RecallSettings::by(&calibration);
    let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
    Arc::new(Recaller::new(embedder, calibration, settings))
}

async fn candidates_are_those_that_the_graph_has_now(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let recaller = recaller();
    let question = "What is the code of the locker?";
    let found = async || {
        let sought = recaller.embed_query(question).await;
        let found = recaller.current_candidates(&store, &talk.audience.id, &sought, 10);
        let found = found.await.unwrap().into_iter();
        found.map(|it| it.exchange.id).collect::<Vec<_>>()
    };
    let first = talk.say("The code of the locker is 4711.").await;
    assert_eq!(found().await, [first.id]);
    // Nobody tells the index of what is said, or of what another process forgets.
    let second = talk.say("The locker has the code 4712 now.").await;
    let both = found().await;
    assert!(both.contains(&first.id) && both.contains(&second.id));
    let elsewhere = talk.elsewhere(&lane.open_again(&store).await);
    elsewhere.forget(Forget::Turn(first.id)).await;
    assert_eq!(found().await, [second.id]);
    // Nor of what is just being forgotten.
    let marked = elsewhere
        .store
        .mark_being_forgotten(&talk.session, Forget::Turn(second.id));
    marked.await.unwrap();
    assert_eq!(found().await, []);
}

async fn what_goes_on_with_something_is_recalled_with_it_until_it_is_changed(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    let recaller = recaller();
    let archive = archive(&talk, folder.path()).with_recaller(Arc::clone(&recaller));
    let audience = &talk.audience.id;
    let say = |author: &str, text: &str, reply_to: Option<&NewTurn>| {
        let mut message = said(&talk, author, text);
        message.turn.embedding = None;
        message.turn.reply_to = reply_to.map(|it| it.turn.event.clone());
        message
    };
    let asked = say(
        "Priya",
        "Can the boiler man come for the inspection this week?",
        None,
    );
    let lunch = say("Ada", "The soup place is closed all week, by the way", None);
    let answer = say("Tom", "yes, Thursday", Some(&asked));
    let rent = say("Ada", "The rent of the studio is 900 euros a month.", None);
    let all = vec![asked.clone(), lunch, answer.clone(), rent.clone()];
    archive.keep_messages(all).await.unwrap();
    let store = &talk.store;
    recaller.load(store, audience).await;
    let raised = say(
        "Ada",
        "The rent of the studio goes up to 950 euros now.",
        None,
    );
    archive.keep_messages(vec![raised.clone()]).await.unwrap();
    let links = store.superseded(audience).await.unwrap();
    let links: Vec<_> = links.iter().map(|it| (it.later, it.earlier)).collect();
    assert_eq!(links, [(raised.turn.id, rent.turn.id)]);
    let recalled = async |question: &str| {
        assert!(recaller.catch_up(store, audience).await);
        let sought = recaller.embed_query(question).await;
        assert!(sought.vector.is_some());
        let recalled = recaller.recall(&[audience], &sought, &[], &[]);
        assert!(
            recalled
                .iter()
                .all(|it| it.is_message && it.output.is_empty())
        );
        recalled.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    let question = "When does the boiler man come?";
    let found = recalled(question).await;
    let both = [asked.turn.id, answer.turn.id];
    assert!(both.iter().all(|id| found.contains(id)), "{found:?}");
    let quoted = recaller.quote(&[audience], &recaller.embed_query(question).await, &[], &[]);
    assert!(
        quoted
            .iter()
            .any(|it| it.id == answer.turn.id && &*it.author == "Tom")
    );
    // Its question has changed, so it does not answer it any more.
    let event = EventId::new(&asked.turn.event);
    let edit = Edit {
        event: &event,
        audience: &talk.audience,
        author: "Priya",
        text: "Shall we water the ferns?",
        at: Utc::now(),
    };
    assert!(archive.edit_message(&edit).await.unwrap());
    let quoted = async |question: &str| {
        assert!(recaller.catch_up(store, audience).await);
        let quoted = recaller.quote(&[audience], &recaller.embed_query(question).await, &[], &[]);
        quoted.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert!(!quoted(question).await.contains(&answer.turn.id));
    let ferns = "When do we water the ferns?";
    assert!(quoted(ferns).await.contains(&answer.turn.id));
    assert!(archive.forget_message(audience, &event).await.unwrap());
    assert!(!quoted(ferns).await.contains(&answer.turn.id));
}

//! Conversations about the team's knowledge: the whole bot, the movies in a real graph, and a
//! scripted model.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use muninn::demo::{CONTRACTS, load_movies};
use muninn::knowledge::ingest::{Ingest, ingest};
use muninn::knowledge::mapping::Mapping;
use muninn::knowledge::source::Source;
use muninn::llm::Embedder;
use muninn::retrieval::LocalEmbedder;
use serde_json::json;
use support::bot::BotStorage;
use support::chat::{ScriptedChat, run, run_with, run_without_model};
use support::model_server::{ModelServerRequest, Reply};
use support::proxy::Proxy;

/// Runs a test with the movies. Nodes are only searched if it says so, since turns change once they
/// are loaded.
async fn run_with_movies(
    place: BotStorage,
    more: &[&str],
    test: impl AsyncFnOnce(&mut ScriptedChat),
) {
    let folder = place.path().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("nodes.toml"), "embed = \"none\"").unwrap();
    let folder = format!("--prompts-dir={}", folder.display());
    let own = more
        .iter()
        .any(|option| option.starts_with("--prompts-dir"));
    let more: Vec<&str> = more
        .iter()
        .copied()
        .chain((!own).then_some(&*folder))
        .collect();
    run_with(place, &more, async |chat| {
        load_movies(&chat.store).await.unwrap();
        test(chat).await;
    })
    .await;
}

/// Whether it is the first call of a turn: the message itself, with tools.
fn routes(text: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| request.last_user().ends_with(text) && request.tools().contains(&"text2cypher")
}

/// Whether it is the last call of a turn: the message below what was found, without tools.
fn answers(
    text: &'static str,
    found: &'static [&'static str],
) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| {
        let asked = request.last_user();
        let has_all = found.iter().all(|found| asked.contains(found));
        request.tools().is_empty() && request.model() == "chat" && asked.ends_with(text) && has_all
    }
}

fn utility(begin: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| request.model() == "utility" && request.last_user().starts_with(begin)
}

fn criticises(request: &ModelServerRequest) -> bool {
    utility("Judge whether")(request) && request.body["response_format"].is_object()
}

fn writes_cypher(question: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| {
        let prompt = request.texts("user")[0];
        prompt.contains("# Schema") && prompt.trim_end().ends_with(&format!("> {question}"))
    }
}

const CONTENT: &str = r#"{"questions": []}"#;

support::bot::on_every_graph!(
    small_talk_is_one_call,
    one_tool_answers_and_why_tells_what_it_used,
    two_tools_at_once_and_a_follow_up_question,
    a_question_that_leans_on_the_last_is_rephrased,
    a_statement_that_was_refused_is_repaired_and_memory_stays_out_of_reach,
    a_statement_that_cannot_be_repaired_is_given_up,
    a_team_adds_a_tool_and_a_volatile_answer_is_not_recalled,
    a_film_is_found_by_what_happens_in_it,
);

async fn small_talk_is_one_call(place: BotStorage) {
    run_with_movies(place, &[], async |chat| {
        let room = chat.room("a");
        chat.expects(routes("Good morning!"))
            .answers("Good morning, Ada!");
        let answer = room.say("ada", "Good morning!").await;
        assert_eq!(answer.text(), "Good morning, Ada!");
        let why = room.command("ada", "why").await.text();
        assert!(why.contains("in 1 call"), "{why}");
    })
    .await;
}

async fn one_tool_answers_and_why_tells_what_it_used(place: BotStorage) {
    run_with_movies(place, &[], async |chat| {
        let room = chat.room("a");
        chat.expects(|request| {
            let tools = request.tools();
            routes("Which films did Keanu make?")(request)
                && tools.contains(&"find_movies_by_actor")
                && request.texts("system")[0].contains("Movie (40)")
        })
        .calls(&[("find_movies_by_actor", json!({"name": "keanu"}))]);
        chat.expects(criticises).answers(CONTENT);
        chat.expects(answers(
            "Which films did Keanu make?",
            &[
                "> actor: Keanu Reeves; title: The Matrix; released: 1999; roles: Neo; cast: ",
                "Laurence Fishburne",
                "directors: ",
                "Lilly Wachowski",
            ],
        ))
        .answers("Seven, The Matrix among them.");
        let answer = room.say("ada", "Which films did Keanu make?").await;
        assert_eq!(answer.text(), "Seven, The Matrix among them.");

        let why = room.command("ada", "why").await.text();
        for told in [
            "from the team's knowledge graph",
            "in 3 calls: route",
            "find_movies_by_actor {\"name\":\"keanu\"}: found 7",
            "The critic asked nothing more.",
            "```cypher\nMATCH",
            "- (Movie) ",
            "The Matrix",
            "- (Person) ",
        ] {
            assert!(why.contains(told), "{told} is missing in:\n{why}");
        }
    })
    .await;
}

/// The conversation of the document that started this project: something about robots, and then
/// something for children.
async fn a_film_is_found_by_what_happens_in_it(place: BotStorage) {
    run_with_movies(place, &[], async |chat| {
        // Now its nodes are searched.
        chat.restart_with(&[]).await;
        let room = chat.room("a");
        let first = "Can you recommend a movie about robots?";
        chat.expects(move |request: &ModelServerRequest| {
            routes(first)(request) && request.tools().contains(&"search_nodes")
        })
        .calls(&[("search_nodes", json!({"query": "a movie about robots"}))]);
        chat.expects(criticises).answers(CONTENT);
        chat.expects(answers(
            first,
            &[
                "I, Robot (source the graph; related: ",
                "> | plot: A homicide detective who distrusts robots",
                "> | ageRating: PG-13",
            ],
        ))
        .answers("I, Robot: a detective who distrusts robots looks into a death [1].");
        room.say("ada", first).await;

        let second = "Which of these is for children?";
        let alone = "Which movies about robots are suitable for children?";
        chat.model.scripts_rephrasing();
        chat.expects(utility("Make the last question"))
            .answers(alone);
        chat.expects(move |request: &ModelServerRequest| request.last_user().contains(alone))
            .calls(&[("search_nodes", json!({"query": alone}))]);
        chat.expects(criticises).answers(CONTENT);
        chat.expects(answers(
            "Which of these is for children?\n\n\
             (Understood as: Which movies about robots are suitable for children?)",
            &[
                "WALL·E",
                "> | ageRating: G",
                "> | stars: 4.2",
                "Ben Burtt (ACTED_IN)",
                "Andrew Stanton (DIRECTED)",
            ],
        ))
        .answers("WALL·E, of 2008: it has 4.2 stars.");
        let answer = room.say("ada", second).await;
        assert_eq!(answer.text(), "WALL·E, of 2008: it has 4.2 stars.");

        let why = room.command("ada", "why").await.text();
        for told in ["search_nodes", "(Movie) ", "WALL·E"] {
            assert!(why.contains(told), "{told} is missing in:\n{why}");
        }
    })
    .await;
}

async fn two_tools_at_once_and_a_follow_up_question(place: BotStorage) {
    run_with_movies(place, &[], async |chat| {
        let room = chat.room("a");
        let question = "Who played in The Matrix, and what else was Hugo Weaving in?";
        chat.expects(routes(question)).calls(&[
            ("find_movie_by_title", json!({"title": "The Matrix"})),
            ("find_movies_by_actor", json!({"name": "Hugo Weaving"})),
        ]);
        chat.expects(|request| criticises(request) && request.last_user().contains("Cloud Atlas"))
            .answers("Sure:\n```json\n{\"questions\": [\"Who directed Cloud Atlas?\"]}\n```");
        chat.expects(|request| {
            let asked = request.last_user();
            asked.starts_with("Choose the tools") && asked.ends_with("> Who directed Cloud Atlas?")
        })
        .calls(&[(
            "text2cypher",
            json!({"question": "Who directed Cloud Atlas?"}),
        )]);
        chat.expects(writes_cypher("Who directed Cloud Atlas?"))
            .answers(
                "```cypher\nMATCH (p:Person)-[:DIRECTED]->(m:Movie {title: 'Cloud Atlas'}) \
                 RETURN elementId(p) AS id, p.name AS director ORDER BY director\n```",
            );
        chat.expects(|request| {
            criticises(request) && request.last_user().contains("Lana Wachowski")
        })
        .answers(CONTENT);
        chat.expects(answers(
            question,
            &[
                "find_movie_by_title(title: \"The Matrix\"): 3 rows",
                "Cloud Atlas",
                "director: Lana Wachowski",
            ],
        ))
        .answers("Keanu Reeves and others.");
        assert_eq!(
            room.say("ada", question).await.text(),
            "Keanu Reeves and others."
        );
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("The critic asked: Who directed Cloud Atlas?"),
            "{why}"
        );
    })
    .await;
}

async fn a_question_that_leans_on_the_last_is_rephrased(place: BotStorage) {
    run_with_movies(place, &[], async |chat| {
        let room = chat.room("a");
        chat.expects(routes("I like Top Gun.")).answers("So do I.");
        room.say("ada", "I like Top Gun.").await;

        chat.model.scripts_rephrasing();
        chat.expects(|request| {
            utility("Make the last question")(request)
                && request.last_user().contains("> ada: I like Top Gun.")
                && request.last_user().ends_with("> Who was in it?")
        })
        .answers("Who acted in Top Gun?");
        chat.expects(routes(
            "Who was in it?\n\n(Understood as: Who acted in Top Gun?)",
        ))
        .calls(&[("find_movie_by_title", json!({"title": "Top Gun"}))]);
        chat.expects(|request| {
            criticises(request) && request.last_user().contains("> Who acted in Top Gun?")
        })
        .answers(CONTENT);
        chat.expects(answers(
            "(Understood as: Who acted in Top Gun?)",
            &["Tom Cruise as Maverick"],
        ))
        .answers("Tom Cruise.");
        assert_eq!(
            room.say("ada", "Who was in it?").await.text(),
            "Tom Cruise."
        );
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("Understood as: Who acted in Top Gun?"),
            "{why}"
        );
    })
    .await;
}

async fn a_statement_that_was_refused_is_repaired_and_memory_stays_out_of_reach(place: BotStorage) {
    run_with_movies(place, &[], async |chat| {
        let room = chat.room("a");
        chat.expects(routes("How many films are there?")).calls(&[(
            "text2cypher",
            json!({"question": "How many films are there?"}),
        )]);
        chat.expects(writes_cypher("How many films are there?"))
            .answers("MATCH (r:Response) RETURN r.input");
        chat.expects(|request| request.last_user().contains("refused: line 1, column 10"))
            .answers("MATCH (m:Film) RETURN count(m) AS films");
        chat.expects(|request| request.last_user().contains("Film"))
            .answers("MATCH (m:Movie) RETURN count(m) AS films");
        chat.expects(criticises).answers(CONTENT);
        chat.expects(answers("How many films are there?", &["> films: 40"]))
            .answers("40.");
        assert_eq!(
            room.say("ada", "How many films are there?").await.text(),
            "40."
        );
        let why = room.command("ada", "why").await.text();
        assert!(why.contains("written again 2 times"), "{why}");
    })
    .await;
}

async fn a_statement_that_cannot_be_repaired_is_given_up(place: BotStorage) {
    run_with_movies(place, &["--agent-max-rounds=0"], async |chat| {
        let room = chat.room("a");
        chat.expects(routes("Delete everything!"))
            .calls(&[("text2cypher", json!({"question": "Delete everything!"}))]);
        chat.expects(writes_cypher("Delete everything!"))
            .answers("MATCH (n) DETACH DELETE n");
        chat.expects(|request| request.last_user().contains("That statement was refused"))
            .answers("MATCH (n) DETACH DELETE n");
        chat.expects(answers(
            "Delete everything!",
            &["failed: line 1, column 11"],
        ))
        .answers("I only read.");
        assert_eq!(
            room.say("ada", "Delete everything!").await.text(),
            "I only read.\n\n(Every look-up for this answer failed, so nothing in it was looked up.)"
        );
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("text2cypher") && why.contains("failed"),
            "{why}"
        );
        assert_eq!(chat.store.schema().await.unwrap().nodes["Movie"], 40);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rephrased_question_that_was_cut_off_does_not_take_the_place_of_the_message() {
    run_with_movies(BotStorage::embedded(), &[], async |chat| {
        let room = chat.room("a");
        chat.expects(routes("I like Top Gun.")).answers("So do I.");
        room.say("ada", "I like Top Gun.").await;
        chat.model.scripts_rephrasing();
        chat.expects(utility("Make the last question"))
            .replies(Reply::text("Who was in the film Top").finish("length"));
        chat.expects(routes("Who was in it?"))
            .answers("Tom Cruise.");
        let answer = room.say("ada", "Who was in it?").await.text();
        assert_eq!(answer, "Tom Cruise.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_calls_go_back_to_the_model() {
    run_with_movies(
        BotStorage::embedded(),
        &["--agent-max-rounds=0"],
        async |chat| {
            let room = chat.room("a");
            chat.expects(routes("Who is in Hoffa?")).calls(&[
                ("find_movie_by_title", json!({"year": 1992})),
                ("imdb", json!({})),
            ]);
            chat.expects(|request| {
                let results = request.tool_results();
                results.len() == 2
                    && results[0].contains("not called")
                    && results[0].contains("title")
                    && results[1].contains("there is no such tool; there are search_memory, ")
                    && results[1].contains("find_movie")
            })
            .calls(&[("find_movie_by_title", json!({"title": "Hoffa"}))]);
            chat.expects(answers("Who is in Hoffa?", &["Jack Nicholson as Hoffa"]))
                .answers("Jack Nicholson.");
            assert_eq!(
                room.say("ada", "Who is in Hoffa?").await.text(),
                "Jack Nicholson."
            );
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_is_answered_when_a_wrong_call_cannot_be_corrected() {
    run_with_movies(
        BotStorage::embedded(),
        &["--agent-max-rounds=0"],
        async |chat| {
            let room = chat.room("a");
            chat.expects(routes("Who is in Hoffa?")).calls(&[
                ("find_movie_by_title", json!({"title": "Hoffa"})),
                ("imdb", json!({})),
            ]);
            chat.expects(|request| request.tool_results().len() == 2)
                .replies(Reply::refusal(
                    400,
                    "invalid_request_error",
                    "The `reasoning_content` in the thinking mode must be passed back to the API.",
                ));
            chat.expects(answers("Who is in Hoffa?", &["Jack Nicholson as Hoffa"]))
                .answers("Jack Nicholson.");
            assert_eq!(
                room.say("ada", "Who is in Hoffa?").await.text(),
                "Jack Nicholson."
            );
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_is_told_when_the_model_goes_down() {
    run_with_movies(
        BotStorage::embedded(),
        &["--agent-max-rounds=0"],
        async |chat| {
            let room = chat.room("a");
            chat.expects(routes("Who is in Hoffa?"))
                .calls(&[("find_movie_by_title", json!({"title": "Hoffa"}))]);
            chat.expects(answers("Who is in Hoffa?", &[]))
                .replies(Reply::refusal(401, "invalid_api_key", "no"));
            let answer = room.say("ada", "Who is in Hoffa?").await.text();
            assert!(answer.contains("so this is only what I found"), "{answer}");
            assert!(answer.contains("Jack Nicholson as Hoffa"), "{answer}");
            let why = room.command("ada", "why").await.text();
            assert!(
                why.contains("No model wrote it: it lists what") && !why.contains("Written by"),
                "{why}"
            );
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_shapes_and_a_critic_that_chats_cost_nothing_but_the_round() {
    run_with_movies(BotStorage::embedded(), &[], async |chat| {
        let room = chat.room("a");
        chat.expects(routes("Who is in Hoffa?"))
            .calls(&[("find_movie_by_title", json!({"title": "Hoffa"}))]);
        chat.expects(criticises).replies(Reply::refusal(
            400,
            "invalid_request_error",
            "response_format is not supported",
        ));
        chat.expects(|request| {
            utility("Judge whether")(request) && request.body["response_format"].is_null()
        })
        .answers("It is all there, I think.");
        chat.expects(answers("Who is in Hoffa?", &["Jack Nicholson"]))
            .answers("Jack Nicholson.");
        assert_eq!(
            room.say("ada", "Who is in Hoffa?").await.text(),
            "Jack Nicholson."
        );
    })
    .await;
}

async fn a_team_adds_a_tool_and_a_volatile_answer_is_not_recalled(place: BotStorage) {
    let prompts = tempfile::tempdir().unwrap();
    std::fs::create_dir(prompts.path().join("tools")).unwrap();
    let text = "name = \"count_movies\"\ndescription = \"Counts the movies.\"\nrow_limit = 1\n\
                    volatile = true\ncypher = \"MATCH (m:Movie) RETURN count(m) AS movies\"\n";
    std::fs::write(prompts.path().join("tools/count.toml"), text).unwrap();
    std::fs::write(prompts.path().join("nodes.toml"), "embed = \"none\"").unwrap();
    let unfit = text
        .replace("count_movies", "count_cars")
        .replace("Movie", "Car");
    std::fs::write(prompts.path().join("tools/cars.toml"), unfit).unwrap();
    let folder = format!("--prompts-dir={}", prompts.path().display());
    run_with_movies(place, &[&folder, "--agent-max-rounds=0"], async |chat| {
        chat.expects(|request| {
            let tools = request.tools();
            routes("How many movies do we track now?")(request)
                && tools.contains(&"count_movies")
                && !tools.contains(&"count_cars")
        })
        .calls(&[("count_movies", json!({}))]);
        chat.expects(answers(
            "How many movies do we track now?",
            &["> movies: 40"],
        ))
        .answers("40 at the moment.");
        chat.room("a")
            .say("ada", "How many movies do we track now?")
            .await;

        chat.expects(|request| !request.last_user().contains("40 at the moment"))
            .answers("I would have to look.");
        chat.room("b")
            .say("bob", "How many movies do we track now?")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn without_the_graph_the_model_is_offered_no_knowledge_and_a_tool_that_fails_is_told() {
    let address = BotStorage::neo4j_address();
    let proxy = Proxy::to(address).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    let options = ["--agent-max-rounds=0", "--graph-timeout=20"];
    run_with_movies(place, &options, async |chat| {
        let room = chat.room("a");
        chat.expects(routes("Hello!")).answers("Hi!");
        room.say("ada", "Hello!").await;
        proxy.cut();
        chat.expects(|request| {
            request.last_user().ends_with("Who is in Hoffa?")
                && request.tools() == ["search_memory"]
        })
        .answers("I cannot look that up now.");
        let answer = room.say("ada", "Who is in Hoffa?").await.text();
        assert!(answer.starts_with("I cannot look that up now."), "{answer}");
        assert!(answer.contains("My memory cannot be reached"), "{answer}");
        proxy.mend();
        chat.saved_all().await;
    })
    .await;
}

/// Returns the length of two texts' common beginning, in bytes.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}

/// Asserts that consecutive requests share at least nine tenths of the stable part.
fn begin_alike(requests: &[String], stable: usize) {
    for pair in requests.windows(2) {
        let alike = common(&pair[0], &pair[1]);
        assert!(alike * 10 >= stable * 9, "{alike} of {stable}: {pair:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_the_same_in_every_turn_stands_first_in_its_prompts() {
    // Turns leave the window, and a summary replaces them.
    run_with_movies(
        BotStorage::embedded(),
        &["--window-turns=2"],
        async |chat| {
            let room = chat.room("a");
            for question in [
                "Who directed The Matrix?",
                "Which films are the oldest ones of all?",
            ] {
                chat.expects(routes(question))
                    .calls(&[("text2cypher", json!({"question": question}))]);
                chat.expects(writes_cypher(question)).answers(
                    "```cypher\nMATCH (m:Movie) RETURN m.title AS title \
                 ORDER BY m.released LIMIT 2\n```",
                );
            }
            chat.expects(criticises)
                .always_replies(Reply::text(CONTENT));
            // No rephrased question may be as long as this: each is asked as it is.
            chat.model.scripts_rephrasing();
            chat.expects(utility("Make the last question"))
                .always_replies(Reply::text(&"word ".repeat(300)));
            chat.expects(|request| request.model() == "utility")
                .always_replies(Reply::text("They talked about films."));
            chat.expects(|request| request.model() == "chat")
                .always_replies(Reply::text("Noted."));
            for said in [
                "My favourite film is The Matrix.",
                "Who directed The Matrix?",
                "I saw it in 1999.",
                "And again in 2003.",
                "Which films are the oldest ones of all?",
                "Thanks.",
                "What was my favourite film?",
                "And when did I see it?",
                "Good night!",
            ] {
                room.say("ada", said).await;
            }
            let has_summary = |asked: &[ModelServerRequest]| {
                asked.last().unwrap().texts("system")[0].contains("talked about films")
            };
            let summarised = async {
                while !has_summary(&chat.model.chats()) {
                    room.say("ada", "And?").await;
                }
            };
            let in_time = tokio::time::timeout(Duration::from_secs(30), summarised).await;
            in_time.expect("a summary is in the prompt");
            chat.end().await;
            let asked = chat.model.chats();
            let all = |request: &ModelServerRequest| {
                let (tools, system) = (&request.body["tools"], request.texts("system")[0]);
                format!("{tools}{system}")
            };
            let routed: Vec<String> = asked
                .iter()
                .filter(|it| !it.tools().is_empty())
                .map(all)
                .collect();
            assert!(routed.len() >= 9);
            begin_alike(&routed, routed[0].len());

            let written = asked.iter().filter_map(|it| {
                let prompt = it.texts("user")[0];
                prompt.contains("# Schema").then(|| prompt.to_owned())
            });
            let written: Vec<String> = written.collect();
            assert_eq!(written.len(), 2);
            let stable = written[0]
                .find("# Examples")
                .or(written[0].find("# Question"));
            begin_alike(&written, stable.unwrap());
        },
    )
    .await;
}

/// Ingests the contracts of the demo like any table.
async fn ingest_contracts(chat: &ScriptedChat) {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("contracts.csv");
    std::fs::write(&table, CONTRACTS).unwrap();
    let mapping = Mapping::built_in("contracts").unwrap().unwrap();
    let what = Ingest {
        source: Source::find(std::slice::from_ref(&table), None, Some(mapping)).unwrap(),
        paths: vec!["contracts.csv".to_owned()],
        channels: Vec::new(),
        data_dir: folder.path(),
        is_dry: false,
    };
    let embedder = Arc::new(Embedder::Local(LocalEmbedder::shipped().unwrap()));
    let summary = ingest(&chat.store, &embedder, what, &mut |_far| {})
        .await
        .unwrap();
    assert_eq!((summary.counts.new, summary.rejected), (8 + 6 + 2, 0));
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn contracts_of_a_table_are_asked_about_in_two_languages() {
    run(BotStorage::embedded(), async |chat| {
        ingest_contracts(chat).await;
        let room = chat.room("a");
        let active = "MATCH (c:Contract) WHERE c.start <= date() AND c.end >= date() \
                      RETURN DISTINCT c.number AS number ORDER BY number";
        let hops = "MATCH (:Vendor {name: 'Harbour Trading'})<-[:MADE_THROUGH]-(:Contract)\
                    -[:SUPPLIED_BY]->(s:Supplier) \
                    RETURN count(DISTINCT s.name) AS suppliers";
        let running: &[&str] = &["K-101", "K-103", "K-104", "K-106", "K-107"];
        let four: &[&str] = &["> suppliers: 4"];
        for (question, cypher, found) in [
            ("Which contracts are active?", active, running),
            ("哪些合約仍然有效?", active, running),
            (
                "How many suppliers are connected to Harbour Trading through a contract?",
                hops,
                four,
            ),
            ("有多少供應商透過合約與 Harbour Trading 有關?", hops, four),
        ] {
            chat.expects(routes(question))
                .calls(&[("text2cypher", json!({"question": question}))]);
            chat.expects(writes_cypher(question)).answers(cypher);
            chat.expects(criticises).answers(CONTENT);
            chat.expects(move |request| {
                let read = request.last_user();
                let is_there = |one: &&str| read.contains(*one);
                found.iter().all(is_there) && !read.contains("K-102") && !read.contains("K-108")
            })
            .answers("So it is.");
            assert_eq!(room.say("ada", question).await.text(), "So it is.");
        }
    })
    .await;
}

/// Ingests a document of the team.
async fn ingest_document(chat: &ScriptedChat) {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("office.md");
    let text = "# The office\n\nThe xylophone is kept in room 7.\n\n# The yard\n\nThe bins stand behind the shed.\n";
    std::fs::write(&document, text).unwrap();
    let what = Ingest {
        source: Source::find(std::slice::from_ref(&document), None, None).unwrap(),
        paths: vec!["office.md".to_owned()],
        channels: Vec::new(),
        data_dir: folder.path(),
        is_dry: false,
    };
    let embedder = Arc::new(Embedder::Local(LocalEmbedder::shipped().unwrap()));
    ingest(&chat.store, &embedder, what, &mut |_far| {})
        .await
        .unwrap();
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_calls_no_tool_is_shown_what_a_question_surely_is_about() {
    run(BotStorage::embedded(), async |chat| {
        ingest_document(chat).await;
        // What the bot looks for at its start exists.
        chat.restart().await;
        let room = chat.room("a");
        let shown = |request: &ModelServerRequest| {
            let told = request.body["messages"].to_string();
            told.contains("kept in room 7") && request.tools().contains(&"search_knowledge")
        };
        let question = "Where is the xylophone kept?";
        chat.expects(move |request| shown(request) && request.last_user().ends_with(question))
            .answers("In room 7 [1].");
        let answer = room.say("ada", question).await.text();
        assert!(answer.starts_with("In room 7"), "{answer}");
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("office.md") && why.contains("in 1 call"),
            "{why}"
        );

        // It may search further, and is not told to refuse if the shown passages do not suffice.
        let asks_further = |request: &ModelServerRequest| {
            let asked = request.last_user();
            asked.contains("call the tools") || asked.contains("look further with the tools")
        };
        chat.expects(move |request| shown(request) && asks_further(request))
            .answers("I cannot answer that from the team's documents and records.");
        let asked = "Who tuned the xylophone that is kept in the office?";
        room.say("ada", asked).await;
        let why = room.command("ada", "why").await.text();
        assert!(!why.contains("office.md"), "{why}");

        // Messages without a sure hit, and those that ask for nothing, are answered without
        // passages.
        for said in ["What is the capital of France?", "The bins smell today."] {
            chat.expects(move |request| !shown(request) && request.last_user().ends_with(said))
                .answers("Well.");
            assert_eq!(room.say("ada", said).await.text(), "Well.");
        }
    })
    .await;
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_a_passage_that_answers_goes_before_a_memory_without_a_common_word() {
    run_without_model(BotStorage::embedded(), &[], async |chat| {
        ingest_document(chat).await;
        // What the bot looks for at its start exists.
        chat.restart().await;
        let guitar = "I left my guitar at the theatre.";
        chat.room("a").say("ada", guitar).await;
        for (question, said) in [
            ("In which room is my xylophone?", "kept in room 7"),
            ("Where did I leave my guitar?", guitar),
        ] {
            let room = chat.room("b");
            let answer = room.say("ada", question).await.text();
            assert!(answer.contains(said), "{answer}");
            if said != guitar {
                let why = room.command("ada", "why").await.text();
                assert!(why.contains("- search_knowledge {"), "{why}");
                assert!(!why.contains("critic"), "{why}");
            }
            assert!(said == guitar || !answer.contains(guitar), "{answer}");
        }
    })
    .await;
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn what_ran_before_the_model_went_down_is_told_beside_a_quoted_passage() {
    run(BotStorage::embedded(), async |chat| {
        ingest_document(chat).await;
        // What the bot looks for at its start exists.
        chat.restart().await;
        let room = chat.room("a");
        chat.expects(|request| request.last_user().ends_with("Good morning!"))
            .answers("Hello!");
        room.say("ada", "Good morning!").await;

        // What it is rephrased to finds no passage, so the model calls a tool.
        chat.model.scripts_rephrasing();
        chat.expects(|request| request.to_rephrase().is_some())
            .answers("In which year is my birthday?");
        chat.expects(|request| request.tools().contains(&"search_memory"))
            .calls(&[("search_memory", json!({"query": "birthday"}))]);
        chat.expects(|_| true)
            .always_replies(Reply::refusal(400, "invalid", "no"));
        let answer = room.say("ada", "In which room is my xylophone?").await;
        let answer = answer.text();
        assert!(answer.contains("kept in room 7"), "{answer}");
        let why = room.command("ada", "why").await.text();
        for told in [
            "Understood as: In which year is my birthday?",
            "search_memory",
            "search_knowledge",
        ] {
            assert!(why.contains(told), "{why}");
        }
    })
    .await;
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_a_file_beside_a_question_hides_no_passage() {
    run_without_model(BotStorage::embedded(), &[], async |chat| {
        let question = "In which room is my xylophone?";
        let with_log = chat.room("a").with_file("stdin", "", b"It rains.");
        let nothing = with_log.say("ada", question).await.text();
        assert!(!nothing.contains('>'), "{nothing}");

        ingest_document(chat).await;
        // What the bot looks for at its start exists.
        chat.restart().await;
        let with_image = chat.room("c").with_file("a.png", "image/png", b"");
        let with_log = chat.room("b").with_file("stdin", "", b"It rains.");
        for room in [chat.room("d"), with_log, with_image] {
            let answer = room.say("ada", question).await.text();
            assert!(answer.contains("kept in room 7"), "{answer}");
            // The question that was asked before is no answer.
            assert!(!answer.contains(&format!("> {question}")), "{answer}");
        }
        for session in chat.store.sessions().await.unwrap() {
            assert_eq!(session.title.as_deref(), Some(question));
        }
    })
    .await;
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_beside_a_question_is_not_searched_for() {
    run(BotStorage::embedded(), async |chat| {
        ingest_document(chat).await;
        // What the bot looks for at its start exists.
        chat.restart().await;
        let question = "Where is the xylophone kept?";
        let with_image = chat.room("a").with_file("a.png", "image/png", b"");
        chat.expects(move |request| {
            let asked = request.last_user();
            let note = "[file: a.png, which was not read: the model sees no images]";
            asked.contains("kept in room 7") && asked.ends_with(&format!("{question}\n{note}"))
        })
        .answers("In room 7 [1].");
        with_image.say("ada", question).await;
        let why = chat.room("a").command("ada", "why").await.text();
        let searched = format!("search_knowledge {{\"query\":\"{question}\"}}");
        assert!(why.replace("\": \"", "\":\"").contains(&searched), "{why}");
    })
    .await;
}

/// On a graph of its own: on a shared server everybody would be offered its search.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_as_text_is_no_answer_whatever_form_it_has() {
    let call = r#"{"name": "search_knowledge", "parameters": {"question": "xylophone"}}"#;
    for written in [
        call.to_owned(),
        format!("```json\n{call}\n```"),
        format!("<tool_call>{call}</tool_call>"),
    ] {
        run(BotStorage::embedded(), async |chat| {
            ingest_document(chat).await;
            // What the bot looks for at its start exists.
            chat.restart().await;
            chat.expects(|_| true)
                .always_replies(Reply::chunks(written.split_inclusive(' ')));
            let room = chat.room("a");
            let answer = room.say("ada", "Where is the xylophone kept?").await;
            let answer = answer.text();
            assert!(answer.contains("kept in room 7"), "{answer}");
            assert!(!answer.contains("parameters"), "{answer}");
        })
        .await;
    }
}

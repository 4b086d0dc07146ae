use proptest::prelude::*;

use serde_json::json;

use super::*;
use crate::agent::effort::{VERY_SLOW_STEP, effort};

const MESSAGE: &str = "Who played Neo?";

fn limits() -> TurnLimits {
    TurnLimits {
        rounds: 2,
        rephrases: true,
        questions_per_round: 2,
        calls: 6,
        calls_at_once: 2,
        corrections: 2,
        prompt_tokens: 800,
        searches_first: None,
        offers_first: None,
        is_strict: false,
        lookup: None,
        may_stay_silent: false,
        shrinks: 2,
    }
}

fn calls(n: usize) -> Vec<ToolCall> {
    (0..n)
        .map(|n| ToolCall {
            id: n.to_string(),
            name: "search_memory".to_owned(),
            arguments: "{}".to_owned(),
        })
        .collect()
}

fn questions(all: &[&str]) -> Vec<String> {
    all.iter().map(|&it| it.to_owned()).collect()
}

fn message(text: &str) -> TurnQuestion {
    TurnQuestion::Message(text.to_owned())
}

fn follow_up(text: &str) -> TurnQuestion {
    TurnQuestion::FollowUp(text.to_owned())
}

fn route(question: TurnQuestion) -> TurnStep {
    TurnStep::Route {
        question,
        tokens: 800,
    }
}

const SEARCH: Lookup = Lookup("search_knowledge", "query");
const CRITIQUE: TurnStep = TurnStep::Critique { direct: None };
const FINE: ToolCallResults = ToolCallResults {
    has_wrong_call: false,
    is_late: false,
};
const WRONG: ToolCallResults = ToolCallResults {
    has_wrong_call: true,
    is_late: false,
};
const LATE: ToolCallResults = ToolCallResults {
    has_wrong_call: false,
    is_late: true,
};
const ANSWER: TurnStep = TurnStep::Answer { tokens: 800 };

/// Events that can happen to a run.
#[derive(Clone, Copy, Debug)]
enum Event {
    Rephrased(Option<&'static str>),
    Routed(&'static str, usize),
    Returned(ToolCallResults),
    Criticised(&'static [&'static str]),
    Answered(&'static str),
    /// What may fit, if the service told.
    TooLong(Option<u32>),
}
use Event::{Answered, Criticised, Rephrased, Routed, TooLong};

fn happen(run: &mut AgentRun, event: Event) -> TurnStep {
    match event {
        Rephrased(question) => run.rephrased(question.map(str::to_owned)),
        Routed(text, n) => run.routed(text, calls(n)),
        Event::Returned(returned) => run.tools_returned(returned),
        Criticised(all) => run.criticised(questions(all)),
        Answered(text) => run.answered(text),
        TooLong(room) => run.prompt_too_long(room, 0),
    }
}

/// A turn as a sequence of events and expected steps.
fn told(limits: TurnLimits, has_history: bool, first: &TurnStep, story: Vec<(Event, TurnStep)>) {
    let (mut run, step) = AgentRun::start(limits, MESSAGE, has_history);
    assert_eq!(&step, first);
    for (at, (event, expected)) in story.into_iter().enumerate() {
        assert_eq!(happen(&mut run, event), expected, "{at}: {event:?}");
    }
}

#[test]
fn small_talk_is_one_call() {
    let reply = TurnStep::Reply("Hello!".to_owned());
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![(Routed("Hello!", 0), reply)],
    );
}

#[test]
fn with_a_history_it_is_rephrased_first_and_as_it_was_where_that_failed() {
    let rephrase = || TurnStep::Rephrase(message(MESSAGE));
    told(
        limits(),
        true,
        &rephrase(),
        vec![(Rephrased(Some("Neo?")), route(message("Neo?")))],
    );
    for failed in [None, Some(" ")] {
        told(
            limits(),
            true,
            &rephrase(),
            vec![(Rephrased(failed), route(message(MESSAGE)))],
        );
    }
}

#[test]
fn what_tools_found_is_answered_once_the_critic_is_content() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 2), TurnStep::CallTools(calls(2))),
            (Event::Returned(FINE), CRITIQUE),
            (Criticised(&[]), ANSWER),
            (Answered("Keanu."), TurnStep::Reply("Keanu.".to_owned())),
        ],
    );
}

#[test]
fn what_is_open_is_asked_in_rounds() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(FINE), CRITIQUE),
            (Criticised(&["A?", "B?", "C?"]), route(follow_up("A?"))),
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(FINE), TurnStep::Rephrase(follow_up("B?"))),
            (Rephrased(Some("B2?")), route(follow_up("B2?"))),
            // No tool can help, so the critic's second and last round follows.
            (Routed("I do not know.", 0), CRITIQUE),
            (Criticised(&["D?"]), route(follow_up("D?"))),
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(FINE), ANSWER),
        ],
    );
}

#[test]
fn a_question_is_not_asked_twice() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(FINE), CRITIQUE),
            (
                Criticised(&["who played neo?", " ", "A?"]),
                route(follow_up("A?")),
            ),
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(FINE), CRITIQUE),
            (Criticised(&["a?"]), ANSWER),
        ],
    );
}

#[test]
fn wrong_calls_go_back_twice() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(WRONG), route(message(MESSAGE))),
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(WRONG), route(message(MESSAGE))),
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(WRONG), CRITIQUE),
        ],
    );
}

#[test]
fn calls_are_bounded_at_once_and_in_all() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 9), TurnStep::CallTools(calls(2))),
            (Event::Returned(WRONG), route(message(MESSAGE))),
            (Routed("", 9), TurnStep::CallTools(calls(2))),
            (Event::Returned(WRONG), route(message(MESSAGE))),
            (Routed("", 9), TurnStep::CallTools(calls(2))),
            (Event::Returned(WRONG), ANSWER),
        ],
    );
}

#[test]
fn when_it_is_late_what_there_is_is_answered() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(LATE), ANSWER),
        ],
    );
}

#[test]
fn without_rounds_there_is_no_critic() {
    told(
        TurnLimits {
            rounds: 0,
            ..limits()
        },
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(FINE), ANSWER),
        ],
    );
}

#[test]
fn a_prompt_too_long_gets_shorter_each_time() {
    let routed = |tokens| TurnStep::Route {
        question: message(MESSAGE),
        tokens,
    };
    told(
        limits(),
        false,
        &routed(800),
        vec![
            (TooLong(None), routed(532)),
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(LATE), TurnStep::Answer { tokens: 532 }),
            // Never the same prompt again, whatever the service says.
            (TooLong(Some(600)), TurnStep::Answer { tokens: 354 }),
            (TooLong(Some(150)), TurnStep::GiveUp),
        ],
    );
}

#[test]
fn blank_text_is_no_answer() {
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![(Routed(" \n", 0), TurnStep::GiveUp)],
    );
    told(
        limits(),
        false,
        &route(message(MESSAGE)),
        vec![
            (Routed("", 1), TurnStep::CallTools(calls(1))),
            (Event::Returned(LATE), ANSWER),
            (Answered(" \n"), TurnStep::GiveUp),
        ],
    );
}

proptest! {
    /// Whatever the model and the critic say, a turn ends within its limit of calls.
    #[test]
    fn every_turn_ends_within_its_limits(
        (rounds, calls_in_all, corrections, shrinks) in (0..4u32, 0..8usize, 0..3u32, 0..3u32),
        has_history: bool,
        script in prop::collection::vec(0..6u8, 1..40),
    ) {
        let limits = TurnLimits { rounds, calls: calls_in_all, corrections, shrinks, ..limits() };
        let (mut run, mut step) = AgentRun::start(limits, MESSAGE, has_history);
        let mut script = script.into_iter().cycle();
        let (mut asked, mut called, mut criticised) = (0, 0, 0);
        loop {
            let dice = script.next().unwrap_or_default();
            step = match step {
                TurnStep::Rephrase(_) => run.rephrased((dice > 2).then(|| format!("{dice}?"))),
                TurnStep::Route { .. } => {
                    asked += 1;
                    match dice {
                        0 => run.prompt_too_long(None, 0),
                        1 => run.routed("Hello.", vec![]),
                        _ => run.routed("", calls(usize::from(dice))),
                    }
                }
                TurnStep::CallTools(made) => {
                    prop_assert!(!made.is_empty() && made.len() <= 2);
                    called += made.len();
                    run.tools_returned(ToolCallResults { has_wrong_call: dice > 3, is_late: dice == 0 })
                }
                TurnStep::Peek(_) => run.peeked_in_vain(),
                TurnStep::Critique { direct: _ } => {
                    criticised += 1;
                    run.criticised((0..dice).map(|n| format!("{criticised} {n}?")).collect())
                }
                TurnStep::Answer { .. } => {
                    asked += 1;
                    if dice == 0 { run.prompt_too_long(None, 0) } else { run.answered("So.") }
                }
                TurnStep::Reply(_) | TurnStep::GiveUp | TurnStep::StaySilent => break,
            };
            prop_assert!(called <= calls_in_all && criticised <= rounds);
            let most = 2 + rounds * 2 + corrections + shrinks;
            prop_assert!(asked <= most, "{} of {}", asked, most);
        }
    }
}

#[test]
fn who_calls_no_tools_is_given_what_was_found() {
    let search = |query: &str| SEARCH.call(query);
    told(
        TurnLimits {
            searches_first: Some(SEARCH),
            ..limits()
        },
        false,
        &TurnStep::CallTools(vec![search(MESSAGE)]),
        vec![
            (Event::Returned(ToolCallResults::default()), ANSWER),
            (Answered("So."), TurnStep::Reply("So.".to_owned())),
        ],
    );
}

#[test]
fn tools_are_left_out_where_they_leave_no_room() {
    let (mut run, _) = AgentRun::start(limits(), MESSAGE, false);
    let step = run.prompt_too_long(Some(500), 300);
    assert_eq!(step, TurnStep::Answer { tokens: 500 });
}

#[test]
fn a_model_that_turns_out_slow_is_asked_less() {
    let (mut run, first) = AgentRun::start(limits(), MESSAGE, true);
    assert_eq!(first, TurnStep::Rephrase(message(MESSAGE)));
    run.rephrased(None);
    run.routed("", calls(1));
    // Rounds are left, but the model is too slow for another.
    run.reduce_effort(effort(2, Some(VERY_SLOW_STEP)));
    assert_eq!(run.tools_returned(FINE), ANSWER);
    // A running round ends without rephrasing.
    let (mut run, _) = AgentRun::start(limits(), MESSAGE, false);
    run.routed("", calls(1));
    run.tools_returned(FINE);
    run.criticised(questions(&["A?", "B?"]));
    run.routed("", calls(1));
    run.reduce_effort(effort(2, Some(VERY_SLOW_STEP)));
    assert_eq!(run.tools_returned(FINE), route(follow_up("B?")));
    run.routed("", calls(1));
    assert_eq!(run.tools_returned(FINE), ANSWER);
}

#[test]
fn a_model_that_is_known_to_be_slow_rephrases_nothing() {
    let limits = TurnLimits {
        rephrases: false,
        ..limits()
    };
    let (_, first) = AgentRun::start(limits, MESSAGE, true);
    assert_eq!(first, route(message(MESSAGE)));
}

#[test]
fn where_the_rephrased_question_differs_much_both_are_searched() {
    let limits = TurnLimits {
        searches_first: Some(SEARCH),
        ..limits()
    };
    let searched = |rephrased: &str| {
        let (mut run, _) = AgentRun::start(limits, MESSAGE, true);
        match run.rephrased(Some(rephrased.to_owned())) {
            TurnStep::CallTools(calls) => calls.into_iter().map(|call| call.arguments).collect(),
            other => vec![format!("{other:?}")],
        }
    };
    let query = |query: &str| json!({"query": query}).to_string();
    let alike = "Who played Neo then?";
    assert_eq!(searched(alike), [query(alike)]);
    let other = "Which actor was seen as Thomas Anderson?";
    assert_eq!(searched(other), [query(other), query(MESSAGE)]);
}

#[test]
fn the_model_may_find_that_a_message_is_not_for_it() {
    let calls = || {
        let mut calls = calls(2);
        STAY_SILENT.clone_into(&mut calls[1].name);
        calls
    };
    let limits = TurnLimits {
        may_stay_silent: true,
        ..limits()
    };
    let (mut run, _) = AgentRun::start(limits, "see you there", false);
    assert_eq!(run.routed("", calls()), TurnStep::StaySilent);
    // A message that mentions the bot is answered; `stay_silent` is then not a tool.
    let limits = TurnLimits {
        may_stay_silent: false,
        ..limits
    };
    let (mut run, _) = AgentRun::start(limits, "see you there", false);
    assert_eq!(run.routed("", calls()), TurnStep::CallTools(calls()));
}

/// Limits with strict grounding.
fn strict() -> TurnLimits {
    TurnLimits {
        is_strict: true,
        lookup: Some(SEARCH),
        ..limits()
    }
}

fn responds(answer: &str) -> Vec<ToolCall> {
    vec![ToolCall {
        id: "r".to_owned(),
        name: RESPOND.to_owned(),
        arguments: json!({"answer": answer}).to_string(),
    }]
}

#[test]
fn a_direct_answer_is_read_however_it_is_given() {
    let reply = |text: &str| TurnStep::Reply(text.to_owned());
    let hello = "Good morning!";
    for (arguments, text, step) in [
        (r#"{"answer": "Hello there."}"#, "", reply("Hello there.")),
        (r#"{"response": "Hello there."}"#, "", reply("Hello there.")),
        (r#""Hello there.""#, "", reply("Hello there.")),
        (r#"{"answer": 42}"#, "", reply("42")),
        (r#"{"answer": "Hel"#, "Hello.", reply("Hello.")),
        (r#"{"answer": ""}"#, "Hello.", reply("Hello.")),
        // The answer is written in a step of its own.
        (r#"{"answer": "Hel"#, "", ANSWER),
    ] {
        let mut call = responds("");
        arguments.clone_into(&mut call[0].arguments);
        let (mut run, _) = AgentRun::start(limits(), hello, false);
        assert_eq!(run.routed(text, call), step, "{arguments}");
    }
}

#[test]
fn strictly_a_text_without_a_look_up_is_looked_up_all_the_same() {
    let (mut run, _) = AgentRun::start(strict(), MESSAGE, false);
    let step = run.routed("Keanu Reeves, as everybody knows.", vec![]);
    assert_eq!(step, TurnStep::CallTools(vec![SEARCH.call(MESSAGE)]));
    assert_eq!(run.tools_returned(FINE), CRITIQUE);
    assert_eq!(run.criticised(vec![]), ANSWER);
    // If nothing can be looked up, the model has only the conversation, and was told to keep to it.
    let nothing = TurnLimits {
        lookup: None,
        ..strict()
    };
    let (mut run, _) = AgentRun::start(nothing, MESSAGE, false);
    assert_eq!(run.routed("So.", vec![]), TurnStep::Reply("So.".to_owned()));
    // After a failed look-up the model may say so.
    let (mut run, _) = AgentRun::start(strict(), MESSAGE, false);
    run.routed("", calls(1));
    run.tools_returned(WRONG);
    assert_eq!(run.routed("So.", vec![]), TurnStep::Reply("So.".to_owned()));
}

#[test]
fn strictly_the_critic_sees_a_direct_answer() {
    let direct = || Some("Keanu.".to_owned());
    let (mut run, _) = AgentRun::start(strict(), MESSAGE, false);
    assert_eq!(
        run.routed("", responds("Keanu.")),
        TurnStep::Critique { direct: direct() }
    );
    assert_eq!(run.criticised(vec![]), TurnStep::Reply("Keanu.".to_owned()));
    // What it leaves open is looked up, and the answer is written again.
    let (mut run, _) = AgentRun::start(strict(), MESSAGE, false);
    run.routed("", responds("Keanu."));
    assert_eq!(
        run.criticised(questions(&["Which Keanu?"])),
        route(follow_up("Which Keanu?"))
    );
    run.routed("", calls(1));
    assert_eq!(run.tools_returned(FINE), CRITIQUE);
    assert_eq!(run.criticised(vec![]), ANSWER);
    // Without a critic nothing is checked.
    let (mut run, _) = AgentRun::start(
        TurnLimits {
            rounds: 0,
            ..strict()
        },
        MESSAGE,
        false,
    );
    assert_eq!(
        run.routed("", responds("Keanu.")),
        TurnStep::Reply("Keanu.".to_owned())
    );
}

#[test]
fn strictly_small_talk_is_answered_at_once() {
    for (text, made) in [("Good morning!", vec![]), ("", responds("Good morning!"))] {
        let (mut run, _) = AgentRun::start(strict(), "Good morning!", false);
        assert_eq!(
            run.routed(text, made),
            TurnStep::Reply("Good morning!".to_owned())
        );
    }
}

#[test]
fn strictly_what_a_model_may_know_by_itself_is_looked_up() {
    for question in [
        "What is the capital of Australia?",
        "Who invented the safety catch of our north gate?",
        "What is 38 times 7?",
    ] {
        let looked_up = TurnStep::CallTools(vec![SEARCH.call(question)]);
        let (mut run, _) = AgentRun::start(strict(), question, false);
        assert_eq!(run.routed("So.", vec![]), looked_up, "{question}");
        let (mut run, _) = AgentRun::start(strict(), question, false);
        let direct = Some("So.".to_owned());
        assert_eq!(
            run.routed("", responds("So.")),
            TurnStep::Critique { direct },
            "{question}"
        );
        // So it is for a model that calls no tools.
        let weak = TurnLimits {
            searches_first: Some(SEARCH),
            ..strict()
        };
        let (_, step) = AgentRun::start(weak, question, false);
        assert_eq!(step, looked_up, "{question}");
    }
    // What is asked of the bot itself is no such question.
    for talk in ["What can you do?", "Forget it."] {
        let (mut run, _) = AgentRun::start(strict(), talk, false);
        let reply = TurnStep::Reply("So.".to_owned());
        assert_eq!(run.routed("So.", vec![]), reply, "{talk}");
    }
}

#[test]
fn strictly_what_asks_for_several_things_is_taken_apart_first() {
    let both = "Who played Neo and who directed it?";
    let (_, step) = AgentRun::start(strict(), both, false);
    assert_eq!(step, TurnStep::Rephrase(message(both)));
    let (_, step) = AgentRun::start(limits(), both, false);
    assert_eq!(step, route(message(both)));
}

#[test]
fn who_calls_no_tools_is_given_nothing_for_small_talk_and_what_is_sure_for_a_remark() {
    let weak = TurnLimits {
        searches_first: Some(SEARCH),
        ..limits()
    };
    let hello = "Good morning!";
    let (_, step) = AgentRun::start(weak, hello, false);
    assert_eq!(step, route(message(hello)));
    let remark = "My cat is called Miso.";
    let (mut run, step) = AgentRun::start(weak, remark, false);
    assert_eq!(step, TurnStep::Peek(vec![SEARCH.call(remark)]));
    assert_eq!(run.peeked_in_vain(), route(message(remark)));
    let (mut run, _) = AgentRun::start(weak, remark, false);
    assert_eq!(run.tools_returned(FINE), ANSWER);
}

#[test]
fn a_question_is_searched_for_before_a_model_that_may_call_tools() {
    let able = TurnLimits {
        offers_first: Some(SEARCH),
        ..limits()
    };
    // Sure matches are shown with the question; the model may look further.
    let (mut run, step) = AgentRun::start(able, MESSAGE, false);
    assert_eq!(step, TurnStep::Peek(vec![SEARCH.call(MESSAGE)]));
    assert_eq!(run.tools_returned(FINE), route(message(MESSAGE)));
    assert_eq!(run.routed("", calls(1)), TurnStep::CallTools(calls(1)));
    // It is searched once only.
    let (mut run, _) = AgentRun::start(able, MESSAGE, false);
    assert_eq!(run.peeked_in_vain(), route(message(MESSAGE)));
    assert_eq!(
        run.prompt_too_long(None, 0),
        TurnStep::Route {
            question: message(MESSAGE),
            tokens: 532,
        }
    );
    // If no time is left, the answer is written from them.
    let (mut run, _) = AgentRun::start(able, MESSAGE, false);
    let late = ToolCallResults {
        is_late: true,
        ..FINE
    };
    assert_eq!(run.tools_returned(late), ANSWER);
    for remark in ["Good morning!", "My cat is called Miso."] {
        let (_, step) = AgentRun::start(able, remark, false);
        assert_eq!(step, route(message(remark)), "{remark}");
    }
}

#[test]
fn what_stands_beside_the_question_is_not_searched_for_again() {
    let able = TurnLimits {
        offers_first: Some(SEARCH),
        ..limits()
    };
    let again = || ToolCall {
        id: "1".to_owned(),
        arguments: json!({"query": "who played Neo", "show_records": false}).to_string(),
        ..SEARCH.call(MESSAGE)
    };
    let offered = || {
        let (mut run, _) = AgentRun::start(able, MESSAGE, false);
        assert_eq!(run.tools_returned(FINE), route(message(MESSAGE)));
        run
    };
    let mut run = offered();
    assert_eq!(run.routed("", vec![again()]), CRITIQUE);
    assert_eq!(run.criticised(Vec::new()), ANSWER);
    // What else is called for is called.
    let both = [vec![again()], calls(1)].concat();
    assert_eq!(offered().routed("", both), TurnStep::CallTools(calls(1)));
    let mut other = again();
    other.arguments = json!({"query": "Neo"}).to_string();
    let called = TurnStep::CallTools(vec![other.clone()]);
    assert_eq!(offered().routed("", vec![other]), called);
    // Nothing sure was found, so nothing stands there.
    let (mut run, _) = AgentRun::start(able, MESSAGE, false);
    assert_eq!(run.peeked_in_vain(), route(message(MESSAGE)));
    let called = TurnStep::CallTools(vec![again()]);
    assert_eq!(run.routed("", vec![again()]), called);
    // The call shows the records.
    let records = "Show me documents about Neo";
    let (mut run, _) = AgentRun::start(able, records, false);
    let called = TurnStep::CallTools(vec![SEARCH.call(records)]);
    assert_eq!(run.routed("", vec![SEARCH.call(records)]), called);
}

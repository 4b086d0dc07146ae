use super::*;

/// Three threads of 40 messages among three people, of a mountain rescue.
const RESCUE: &str = include_str!("../../../../tests/data/talk/quiet.jsonl");
/// Seven threads of other trades, in eight languages.
const OTHERS: &str = include_str!("../../../../tests/data/talk/quiet-more.jsonl");

#[derive(Deserialize)]
struct ThreadMessage {
    thread: String,
    seq: u32,
    author: String,
    text: String,
    reply_to: Option<u32>,
    for_bot: bool,
}

#[derive(Debug, PartialEq)]
struct Score {
    answered: usize,
    of: usize,
    wrongly: usize,
    others: usize,
}

fn rows(text: &str) -> Vec<ThreadMessage> {
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().unwrap()
}

/// What an adapter knows of a message: `@` is a mention, and replies are those of the data.
fn told(row: &ThreadMessage, all: &[ThreadMessage]) -> (Utterance, bool) {
    let to = all
        .iter()
        .find(|it| it.thread == row.thread && Some(it.seq) == row.reply_to);
    let names_bot = row.text.contains("@Muninn");
    let utterance = Utterance {
        by: match row.author.as_str() {
            "Muninn" => Speaker::Bot,
            name => person(name),
        },
        text: row.text.clone(),
        toward: Addressees {
            names_people: row.text.contains('@') && !names_bot,
            answers_person: to.is_some_and(|it| it.author != "Muninn"),
            omits_bot: false,
        },
        at: DateTime::UNIX_EPOCH + TimeDelta::minutes(row.seq.into()),
    };
    let answers_bot = to.is_some_and(|it| it.author == "Muninn");
    (utterance, names_bot || answers_bot)
}

fn person(name: &str) -> Speaker {
    Speaker::Person {
        id: format!("id of {name}"),
        name: name.to_owned(),
    }
}

fn score(data: &str) -> Score {
    let all = rows(data);
    let mut score = Score {
        answered: 0,
        of: 0,
        wrongly: 0,
        others: 0,
    };
    for (at, row) in all.iter().enumerate() {
        let (said, is_direct) = told(row, &all);
        if said.by == Speaker::Bot {
            continue;
        }
        let before = all[..at].iter().filter(|it| it.thread == row.thread);
        let before: Vec<Utterance> = before.map(|it| told(it, &all).0).collect();
        let is_heard = is_direct || classify_hearing(&said, &before, &["Muninn"]).is_for_bot();
        if row.for_bot {
            score.of += 1;
            score.answered += usize::from(is_heard);
        } else {
            score.others += 1;
            score.wrongly += usize::from(is_heard);
        }
    }
    score
}

#[test]
fn threads_of_people_are_told_from_what_is_for_the_bot() {
    let found = score(RESCUE);
    assert_eq!((found.of, found.others), (30, 90));
    assert!(found.answered >= 27 && found.wrongly <= 6, "{found:?}");
}

#[test]
fn the_rules_hold_for_other_trades_and_languages() {
    let found = score(OTHERS);
    assert_eq!((found.of, found.others), (75, 214));
    assert!(found.answered >= 70 && found.wrongly <= 12, "{found:?}");
}

/// A thread in few words: `Ann: …`, `Bot: …`; the last line is heard. Lines begin with minutes, if any.
fn heard(talk: &str) -> Hearing {
    let mut lines: Vec<Utterance> = talk
        .lines()
        .map(str::trim)
        .enumerate()
        .map(|(number, line)| {
            let (name, text) = line.split_once(": ").unwrap();
            let (minute, name) = name.split_once(' ').unwrap_or(("", name));
            let minute = minute.parse().unwrap_or(i64::try_from(number).unwrap());
            Utterance {
                by: if name == "Bot" {
                    Speaker::Bot
                } else {
                    person(name)
                },
                text: text.to_owned(),
                toward: Addressees::default(),
                at: DateTime::UNIX_EPOCH + TimeDelta::minutes(minute),
            }
        })
        .collect();
    let said = lines.pop().unwrap();
    classify_hearing(&said, &lines, &["Muninn", "Night Owl"])
}

const ASKED: &str = "Bea: hi\nAnn: Muninn, when is it?\nBot: At nine.\n";

fn after_answer(line: &str) -> Hearing {
    heard(&format!("{ASKED}{line}"))
}

fn after_people(line: &str) -> Hearing {
    heard(&format!(
        "{ASKED}Bea: nine is too early\nAnn: it is not\n{line}"
    ))
}

#[test]
fn a_name_calls_the_bot_or_talks_about_it() {
    for (line, expected) in [
        ("Bea: Muninn note that", Hearing::Named),
        ("Bea: ok then muninn, what was it", Hearing::Named),
        ("Bea: what was it, Muninn?", Hearing::Named),
        ("Bea: Night Owl, what was it", Hearing::Named),
        ("Bea: does Muninn know the room?", Hearing::Named),
        ("Bea: hey bot, the room?", Hearing::Named),
        ("Bea: Muninn is it always nine?", Hearing::Named),
        ("Bea: thanks Muninn", Hearing::Named),
        ("Bea: weiß der Bot das?", Hearing::Named),
        ("Bea: somebody ask Muninn", Hearing::BetweenPeople),
        ("Bea: Muninn says ten", Hearing::BetweenPeople),
        ("Bea: Muninn is slow today", Hearing::BetweenPeople),
        ("Bea: Muninn never sleeps", Hearing::BetweenPeople),
        ("Bea: Muninn's answer was better", Hearing::BetweenPeople),
        ("Bea: the robot could draw it", Hearing::BetweenPeople),
    ] {
        assert_eq!(after_people(line), expected, "{line}");
    }
}

#[test]
fn who_else_is_called_is_asked() {
    for line in [
        "Ann: Bea, can you check?",
        "Ann: Bea can you check",
        "Ann: ok. Bea?",
        "Ann: and what do you think, Bea?",
        "Ann: thanks Bea",
        "Ann: thank you, Bea",
        "Ann: bea kannst du das machen?",
        "Ann: can you take it Bea",
    ] {
        assert_eq!(after_answer(line), Hearing::NamesOther, "{line}");
    }
    for line in ["Ann: and who told Bea?", "Ann: when did Bea leave?"] {
        assert_eq!(after_answer(line), Hearing::FollowsUp, "{line}");
    }
}

#[test]
fn what_follows_on_an_answer_is_told_from_remarks() {
    for (line, expected) in [
        ("Bea: and the day after?", Hearing::FollowsUp),
        ("Bea: how many are coming", Hearing::FollowsUp),
        ("Ann: and the room", Hearing::FollowsUp),
        ("Ann: no, I meant the other one", Hearing::FollowsUp),
        ("Ann: list them all", Hearing::Task),
        ("Bea: write that down please", Hearing::Task),
        ("Bea: that is early", Hearing::Remark),
        ("Bea: remember when it was ten", Hearing::Remark),
        ("Bea: https://example.org/?q=1", Hearing::Remark),
        ("Bea: nine?? I heard ten", Hearing::Remark),
        ("Bea: which nine? there are two", Hearing::FollowsUp),
        ("Bea: change it to ten", Hearing::Task),
        ("Bea: who brings the cake?", Hearing::AsksPeople),
        ("Bea: does anybody have a car?", Hearing::AsksPeople),
        ("Bea: 😂😂", Hearing::Laughter),
        ("Bea: hahaha", Hearing::Laughter),
    ] {
        assert_eq!(after_answer(line), expected, "{line}");
    }
}

#[test]
fn the_bots_own_question_is_answered() {
    let asked = "Bea: hi\nAnn: Muninn, book it\nBot: For how many?\nAnn: for six";
    assert_eq!(heard(asked), Hearing::AnswersBot);
}

#[test]
fn people_who_talk_are_left_alone_until_they_ask_what_only_notes_know() {
    for (line, expected) in [
        ("Bea: and then?", Hearing::BetweenPeople),
        ("Bea: are you sure?", Hearing::BetweenPeople),
        ("Bea: is that written anywhere?", Hearing::Records),
        (
            "Bea: did you get that in writing, is it written down for you?",
            Hearing::BetweenPeople,
        ),
        ("Bea: please note: ten from now on", Hearing::Task),
        ("Bea: note to self: buy milk", Hearing::BetweenPeople),
        ("Bea: remember to bring the keys", Hearing::BetweenPeople),
        ("Bea: record heat today", Hearing::BetweenPeople),
        ("300 Bea: when is the next one?", Hearing::Opens),
        ("300 Bea: sleep well", Hearing::BetweenPeople),
    ] {
        assert_eq!(after_people(line), expected, "{line}");
    }
}

#[test]
fn who_talks_with_the_bot_alone_is_answered() {
    let alone = "Ann: Muninn, a poem\nBot: Roses.\nAnn: make it shorter";
    assert_eq!(heard(alone), Hearing::Alone);
    // Somebody else was here once.
    let again = |turns| {
        format!(
            "Bea: hi\n{}Ann: hm",
            "Ann: shorter\nBot: Rose.\n".repeat(turns)
        )
    };
    assert_eq!(heard(&again(6)), Hearing::Alone);
    assert_eq!(heard(&again(5)), Hearing::Remark);
    let third = "Ann: Muninn, a poem\nBot: Roses.\nBea: nice";
    assert_eq!(heard(third), Hearing::Remark);
}

#[test]
fn what_is_said_aside_does_not_end_the_talk_with_the_bot() {
    let aside = |line: &str| heard(&format!("{ASKED}Bea: oh no\n{line}"));
    assert_eq!(aside("Ann: and the room?"), Hearing::FollowsUp);
    assert_eq!(aside("Cem: and the room?"), Hearing::FollowsUp);
    assert_eq!(aside("Cem: are you sad?"), Hearing::BetweenPeople);
    assert_eq!(after_people("Cem: and the room?"), Hearing::BetweenPeople);
    let exchange = heard(&format!(
        "{ASKED}Bea: nine is too early\nAnn: it is not\nBea: is it dark?"
    ));
    assert_eq!(exchange, Hearing::BetweenPeople);
}

#[test]
fn who_was_named_before_can_be_called() {
    let talk = "Bea: hi\nAnn: Muninn, who drives?\nBot: You and Jonas.\n";
    let call = heard(&format!("{talk}Ann: Jonas, can you take me?"));
    assert_eq!(call, Hearing::NamesOther);
    let goes_on = heard(&format!("{talk}Bea: and who walks?"));
    assert_eq!(goes_on, Hearing::FollowsUp);
}

#[test]
fn what_the_platform_says_comes_before_guessing() {
    let at = DateTime::UNIX_EPOCH;
    let said = |text: &str, toward: Addressees| Utterance {
        by: person("Bea"),
        text: text.to_owned(),
        toward,
        at,
    };
    let answer = Utterance {
        by: Speaker::Bot,
        ..said("At nine.", Addressees::default())
    };
    let reply = Addressees {
        answers_person: true,
        ..Addressees::default()
    };
    let mention = Addressees {
        names_people: true,
        ..Addressees::default()
    };
    let before = [answer];
    let hear = |said: &Utterance| super::classify_hearing(said, &before, &["Muninn"]);
    assert_eq!(hear(&said("and the room?", reply)), Hearing::AnswersOther);
    assert_eq!(hear(&said("and the room?", mention)), Hearing::NamesOther);
    assert_eq!(hear(&said("Muninn, and the room?", reply)), Hearing::Named);
    assert_eq!(
        hear(&said("and the room?", Addressees::default())),
        Hearing::Alone
    );
}

proptest::proptest! {
    #[test]
    fn nothing_that_is_said_is_too_odd(text in "\\PC{0,60}", other in "\\PC{0,60}") {
        let said = |name: &str, text: &str| Utterance {
            by: person(name),
            text: text.to_owned(),
            toward: Addressees::default(),
            at: DateTime::UNIX_EPOCH,
        };
        let before = [said("Bea", &other), Utterance { by: Speaker::Bot, ..said("", &text) }];
        classify_hearing(&said("Ann", &text), &before, &[&other, "Muninn"]);
    }
}

//! Tests an answer over a failing chat: in any order of chunks, failures, stops, edits, deletions
//! and crashes people read each part once, or nothing.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

/// A message in the chat: its index in the list of all messages ever posted.
type Id = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
struct PostedMessage {
    part: usize,
    text: String,
    is_gone: bool,
    /// People archived the thread, or the time to change it is over.
    is_stuck: bool,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestOutcome {
    Done,
    /// Refused before anything was done.
    Refused,
    /// Done, but the platform's response is lost.
    Lost,
}

/// What people and the process do, in sequence.
#[derive(Clone, Debug)]
enum Step {
    Grow,
    /// The text is complete, in so many parts.
    Finish(usize),
    /// The turn was stopped or failed: the reply is dropped.
    GiveUp,
    /// `kill -9`: the next process delivers it again.
    Crash,
    /// The question is edited: the next answer replaces the last delivered one.
    EditQuestion,
    /// Somebody deletes one of the bot's messages.
    Delete(usize),
    /// One of the bot's messages cannot be changed any more.
    Stick(usize),
}

#[derive(Debug, Default)]
struct SimulatedChat {
    messages: Vec<PostedMessage>,
    fates: VecDeque<RequestOutcome>,
}

impl SimulatedChat {
    fn fate(&mut self) -> RequestOutcome {
        self.fates.pop_front().unwrap_or(RequestOutcome::Done)
    }

    fn post(&mut self, part: usize, text: &str) -> Id {
        self.messages.push(PostedMessage {
            part,
            text: text.to_owned(),
            is_gone: false,
            is_stuck: false,
        });
        self.messages.len() - 1
    }

    /// What people read.
    fn read(&self) -> Vec<&str> {
        let standing = self.messages.iter().filter(|message| !message.is_gone);
        standing.map(|message| message.text.as_str()).collect()
    }

    /// Returns the messages of the answer by part, as a platform that marks them would; then those
    /// that repeat a part.
    fn find(&self) -> Vec<Option<Id>> {
        let (mut found, mut spare): (Vec<Option<Id>>, Vec<_>) = (Vec::new(), Vec::new());
        for (id, message) in self.messages.iter().enumerate() {
            if message.is_gone {
                continue;
            }
            if found.len() <= message.part {
                found.resize(message.part + 1, None);
            }
            match &mut found[message.part] {
                place @ None => *place = Some(id),
                Some(_) => spare.push(Some(id)),
            }
        }
        found.extend(spare);
        found
    }

    fn edit(&mut self, id: Id, text: &str) -> Edited<Id> {
        let message = &mut self.messages[id];
        if message.is_gone {
            Edited::Gone
        } else if message.is_stuck {
            Edited::Stuck(id)
        } else {
            text.clone_into(&mut message.text);
            Edited::As(id)
        }
    }
}

/// A process with one reply.
struct ReplyingProcess {
    answer: LiveAnswer<Id>,
    version: usize,
}

fn text(version: usize, part: usize) -> String {
    format!("answer {version}, part {part}")
}

impl ReplyingProcess {
    fn grow(&mut self, chat: &mut SimulatedChat) {
        let LiveAnswerAction::Show(shown) = self.answer.step(LiveAnswerEvent::Grew) else {
            return;
        };
        let growing = format!("{}…", text(self.version, 0));
        let fate = chat.fate();
        let outcome = match (fate, shown) {
            (RequestOutcome::Refused, _) => DisplayOutcome::NotNow,
            (RequestOutcome::Done, None) => DisplayOutcome::As(chat.post(0, &growing)),
            (RequestOutcome::Lost, None) => {
                chat.post(0, &growing);
                DisplayOutcome::Unknown
            }
            (RequestOutcome::Done | RequestOutcome::Lost, Some(id)) => {
                match chat.edit(id, &growing) {
                    Edited::As(id) => DisplayOutcome::As(id),
                    Edited::Gone | Edited::Stuck(_) => DisplayOutcome::NotNow,
                }
            }
        };
        assert_eq!(
            self.answer.step(LiveAnswerEvent::Shown(outcome)),
            LiveAnswerAction::Nothing
        );
    }

    /// Whether it reached its end.
    fn finish(&mut self, chat: &mut SimulatedChat, parts: usize) -> bool {
        let mut event = LiveAnswerEvent::Finish { parts };
        let most = 4 * (parts + chat.messages.len()) + 4;
        for _ in 0..most {
            let action = self.answer.step(event);
            let fate = match action {
                LiveAnswerAction::Done => return true,
                // What is merely spare may stay where it cannot be removed; that is not tested
                // here.
                LiveAnswerAction::Delete { is_spare: true, .. } => RequestOutcome::Done,
                _ => chat.fate(),
            };
            if fate == RequestOutcome::Refused {
                return false;
            }
            event = match action {
                LiveAnswerAction::Find => LiveAnswerEvent::Found(chat.find()),
                LiveAnswerAction::Post { part } => {
                    LiveAnswerEvent::Posted(chat.post(part, &text(self.version, part)))
                }
                LiveAnswerAction::Edit { message, part } => {
                    LiveAnswerEvent::Edited(chat.edit(message, &text(self.version, part)))
                }
                LiveAnswerAction::Delete { message, .. } => {
                    chat.messages[message].is_gone = true;
                    LiveAnswerEvent::Deleted
                }
                LiveAnswerAction::Done | LiveAnswerAction::Nothing | LiveAnswerAction::Show(_) => {
                    panic!("{action:?} while finishing")
                }
            };
            if fate == RequestOutcome::Lost {
                return false;
            }
        }
        panic!("it does not end");
    }

    fn give_up(&mut self, chat: &mut SimulatedChat) {
        let AbandonedAnswer { messages, unheard } = self.answer.give_up();
        let unheard = if unheard { chat.find() } else { Vec::new() };
        for id in messages.into_iter().chain(unheard.into_iter().flatten()) {
            chat.messages[id].is_gone = true;
        }
    }

    /// Creates the next reply to the same question, of this or another process.
    fn again(version: usize) -> Self {
        let mut answer = LiveAnswer::new();
        answer.expect_earlier();
        Self { answer, version }
    }
}

fn fate() -> impl Strategy<Value = RequestOutcome> {
    prop_oneof![4 => Just(RequestOutcome::Done), 1 => Just(RequestOutcome::Refused), 1 => Just(RequestOutcome::Lost)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Grow),
        3 => (1_usize..5).prop_map(Step::Finish),
        1 => Just(Step::GiveUp),
        1 => Just(Step::Crash),
        1 => Just(Step::EditQuestion),
        1 => (0_usize..6).prop_map(Step::Delete),
        1 => (0_usize..6).prop_map(Step::Stick),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Whatever happens, one more delivery on a healthy platform repairs the answer: each part is
    /// posted once, in order, and nothing else.
    #[test]
    fn an_answer_stands_whole_and_once(
        steps in proptest::collection::vec(step(), 0..14),
        fates in proptest::collection::vec(fate(), 0..30),
    ) {
        let mut chat = SimulatedChat { fates: fates.into(), ..SimulatedChat::default() };
        let mut process = ReplyingProcess { answer: LiveAnswer::new(), version: 0 };
        let mut delivered: Vec<Id> = Vec::new();
        for step in steps {
            match step {
                Step::Grow => process.grow(&mut chat),
                Step::Finish(parts) => {
                    if process.finish(&mut chat, parts) {
                        let expected: Vec<String> =
                            (0..parts).map(|part| text(process.version, part)).collect();
                        let ids: Vec<Id> = process.answer.messages().copied().collect();
                        let texts: Vec<&str> =
                            ids.iter().map(|id| chat.messages[*id].text.as_str()).collect();
                        prop_assert_eq!(texts, expected);
                        delivered = ids;
                        process = ReplyingProcess::again(process.version);
                    } else {
                        // What is posted stays, and the next delivery completes it.
                        process.answer.give_up();
                        process = ReplyingProcess::again(process.version);
                    }
                }
                Step::GiveUp => {
                    process.give_up(&mut chat);
                    process = ReplyingProcess::again(process.version);
                }
                Step::Crash => process = ReplyingProcess::again(process.version),
                Step::EditQuestion => {
                    process.give_up(&mut chat);
                    let before: Vec<String> = chat.read().into_iter().map(str::to_owned).collect();
                    process = ReplyingProcess { answer: LiveAnswer::new(), version: process.version + 1 };
                    if delivered.is_empty() {
                        process.answer.expect_earlier();
                    } else {
                        process.answer.replace(delivered.clone());
                        // A posted answer is not changed for one that may be given up.
                        process.grow(&mut chat);
                        prop_assert_eq!(chat.read(), before);
                    }
                }
                Step::Delete(id) => {
                    if let Some(message) = chat.messages.get_mut(id) {
                        message.is_gone = true;
                    }
                }
                Step::Stick(id) => {
                    if let Some(message) = chat.messages.get_mut(id) {
                        message.is_stuck = true;
                    }
                }
            }
        }
        chat.fates.clear();
        let version = process.version + 1;
        let mut last = ReplyingProcess::again(version);
        // Nothing is shown before the existing messages are known.
        let before = chat.messages.len();
        last.grow(&mut chat);
        prop_assert_eq!(chat.messages.len(), before);
        prop_assert!(last.finish(&mut chat, 2));
        let ids: Vec<Id> = last.answer.messages().copied().collect();
        let texts: Vec<&str> = ids.iter().map(|id| chat.messages[*id].text.as_str()).collect();
        prop_assert_eq!(texts, [text(version, 0), text(version, 1)]);
        let read = chat.read();
        prop_assert_eq!(read.len(), 2, "{:?}", read);
    }

    /// An answer that is given up leaves nothing, and the one it was to replace stays unchanged.
    #[test]
    fn what_is_given_up_leaves_no_trace(
        grows in 1_usize..6,
        replaces in 0_usize..4,
        fates in proptest::collection::vec(fate(), 0..8),
    ) {
        let mut chat = SimulatedChat::default();
        let mut process = ReplyingProcess { answer: LiveAnswer::new(), version: 0 };
        if replaces > 0 {
            prop_assert!(process.finish(&mut chat, replaces));
            let earlier = process.answer.messages().copied().collect();
            process = ReplyingProcess { answer: LiveAnswer::new(), version: 1 };
            process.answer.replace(earlier);
        }
        let before: Vec<String> = chat.read().into_iter().map(str::to_owned).collect();
        chat.fates = fates.into();
        for _ in 0..grows {
            process.grow(&mut chat);
        }
        chat.fates.clear();
        process.give_up(&mut chat);
        prop_assert_eq!(chat.read(), before);
    }
}

#[test]
fn one_answer_grows_in_one_message() {
    let mut chat = SimulatedChat::default();
    let mut process = ReplyingProcess {
        answer: LiveAnswer::new(),
        version: 0,
    };
    for _ in 0..3 {
        process.grow(&mut chat);
        assert_eq!(chat.read(), ["answer 0, part 0…"]);
    }
    assert!(process.finish(&mut chat, 2));
    assert_eq!(chat.read(), ["answer 0, part 0", "answer 0, part 1"]);
    assert_eq!(chat.messages.len(), 2);
}

#[test]
fn what_is_refused_while_it_grows_is_shown_no_more() {
    let mut answer: LiveAnswer<Id> = LiveAnswer::new();
    assert_eq!(
        answer.step(LiveAnswerEvent::Grew),
        LiveAnswerAction::Show(None)
    );
    answer.step(LiveAnswerEvent::Shown(DisplayOutcome::Refused));
    assert_eq!(
        answer.step(LiveAnswerEvent::Grew),
        LiveAnswerAction::Nothing
    );
    assert_eq!(
        answer.step(LiveAnswerEvent::Finish { parts: 1 }),
        LiveAnswerAction::Post { part: 0 }
    );
}

#[test]
fn what_the_platform_recognises_is_shown_again_and_removed_where_it_is_given_up() {
    let mut answer: LiveAnswer<Id> = LiveAnswer::new();
    for _ in 0..2 {
        assert_eq!(
            answer.step(LiveAnswerEvent::Grew),
            LiveAnswerAction::Show(None)
        );
        answer.step(LiveAnswerEvent::Shown(DisplayOutcome::Repeatable));
    }
    let given_up = AbandonedAnswer {
        messages: Vec::new(),
        unheard: true,
    };
    assert_eq!(answer.clone().give_up(), given_up);
    // It is posted without a search.
    assert_eq!(
        answer.step(LiveAnswerEvent::Finish { parts: 1 }),
        LiveAnswerAction::Post { part: 0 }
    );
    assert!(!answer.give_up().unheard);
}

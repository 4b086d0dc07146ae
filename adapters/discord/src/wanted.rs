//! Decides what an interaction asks for, and its first response. Pure: looked-up facts are in the
//! `InteractionContext`.

use muninn_platform::{
    AnswerMode, Body, Command, ForgetWhat, ItemDeed, Language, Opinion, ShownItem,
};
use muninn_texts::{Text, text};
use serenity::model::id::MessageId;

use crate::buttons::{self, Button, ButtonOwner, ItemButton, Pressed, Row};
use crate::directory::{DiscordChannelKind, DiscordLocation};
use crate::ids::{self, DiscordPlace};
use crate::intent::{about, is_admin};
use crate::interaction::{InteractionKind, UserInteraction};
use crate::message::Quoted;

/// Facts about the interaction's surroundings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InteractionContext {
    pub(crate) is_allowed: bool,
    pub(crate) mode: AnswerMode,
    /// The language for a question that somebody asks without words.
    pub(crate) language: Language,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InteractionAction {
    /// A sentence for the asker only.
    Say {
        text: Text,
        row: Row,
    },
    /// Replaces the message with the buttons.
    Instead(Text),
    /// Something for the bot.
    Turn(InteractionTurn),
    Stop(DiscordPlace),
    Opinion {
        answer: MessageId,
        /// The place of the answer.
        place: DiscordPlace,
        opinion: Opinion,
    },
    /// Asks for the correction of a listed item.
    Form(ShownItem),
    /// Shows a conversation, or all.
    Session(Option<String>),
    /// Offers conversations while the asker types.
    Choices(String),
    /// Not ours.
    Nothing,
}

/// Something for the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InteractionTurn {
    pub(crate) body: Body,
    pub(crate) place: DiscordPlace,
    /// Only the asker sees the answer.
    pub(crate) is_private: bool,
    pub(crate) shows: FirstResponse,
    pub(crate) thread: NewThread,
    pub(crate) has_buttons: bool,
}

/// The first response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstResponse {
    /// "Muninn is thinking…", which becomes the answer.
    Thinking,
    /// Nothing: the message of the button becomes the answer.
    Nothing,
}

/// Whether the answer gets a thread of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewThread {
    No,
    Public,
    Private,
}

/// Decides what an interaction asks for.
pub(crate) fn interaction_action(
    asked: &UserInteraction,
    facts: InteractionContext,
) -> InteractionAction {
    match &asked.what {
        InteractionKind::TypingSession(_) if !facts.is_allowed => {
            InteractionAction::Choices(String::new())
        }
        InteractionKind::TypingSession(typed) => InteractionAction::Choices(typed.clone()),
        _ if !facts.is_allowed => say(text!("not-allowed")),
        InteractionKind::Ask {
            question,
            private,
            thread,
        } => ask(asked, facts, question, *private, *thread),
        InteractionKind::About(quoted) => about_message(asked, facts, quoted),
        InteractionKind::Given(command) => given(asked, command.clone()),
        InteractionKind::Unplaced { .. } => say(text!("say-where")),
        InteractionKind::Forget(what) => forget(asked, what),
        InteractionKind::Session(chosen) => InteractionAction::Session(chosen.clone()),
        InteractionKind::Pressed {
            button,
            on,
            is_private,
        } => match (buttons::parse(button), ItemButton::parse(button)) {
            (Some(pressed), _) => self::pressed(asked, pressed, *on, *is_private),
            (None, Some((button, item))) => pressed_at_item(asked, button, item),
            (None, None) => say(text!("old-button")),
        },
        InteractionKind::Submitted(form, text) => match ItemButton::parse(form) {
            Some((_, item)) => {
                let deed = ItemDeed::Correct(text.trim().to_owned());
                own(asked, Command::Shown(item, deed))
            }
            None => say(text!("old-button")),
        },
        InteractionKind::Unknown => InteractionAction::Nothing,
    }
}

/// Returns the asker and place of a first response.
pub(crate) fn belongs(asked: &UserInteraction) -> ButtonOwner {
    let place = match &asked.what {
        InteractionKind::Forget(what) if what == "private" => {
            here(&asked.spot).private_to(asked.who.id)
        }
        _ => here(&asked.spot),
    };
    ButtonOwner {
        asker: asked.who.id,
        place,
    }
}

fn here(spot: &DiscordLocation) -> DiscordPlace {
    DiscordPlace::new(spot.guild, spot.channel)
}

fn say(text: Text) -> InteractionAction {
    InteractionAction::Say {
        text,
        row: Row::None,
    }
}

/// Builds a turn of the conversation that the interaction is in.
fn turn(asked: &UserInteraction, body: Body, is_private: bool) -> InteractionTurn {
    InteractionTurn {
        body,
        place: here(&asked.spot),
        is_private,
        shows: FirstResponse::Thinking,
        thread: NewThread::No,
        has_buttons: false,
    }
}

fn given(asked: &UserInteraction, command: Command) -> InteractionAction {
    if command.is_about_items() {
        return own(asked, command);
    }
    // Everybody there sees who kept a note; its text is in the answer.
    let is_private = !matches!(command, Command::Note(_));
    InteractionAction::Turn(turn(asked, Body::Command(command), is_private))
}

/// Builds a command whose answer only the asker sees.
fn privately(asked: &UserInteraction, command: Command) -> InteractionAction {
    InteractionAction::Turn(turn(asked, Body::Command(command), true))
}

/// Builds a question about somebody's message.
fn about_message(
    asked: &UserInteraction,
    facts: InteractionContext,
    quoted: &Quoted,
) -> InteractionAction {
    if facts.mode == AnswerMode::Never {
        return say(text!("never-here"));
    }
    if quoted.text.trim().is_empty() && quoted.files.is_empty() {
        return say(text!("no-text"));
    }
    InteractionAction::Turn(InteractionTurn {
        has_buttons: true,
        ..turn(asked, Body::Text(about(quoted, facts.language)), false)
    })
}

fn ask(
    asked: &UserInteraction,
    facts: InteractionContext,
    question: &str,
    private: bool,
    thread: bool,
) -> InteractionAction {
    if facts.mode == AnswerMode::Never {
        return say(text!("never-here"));
    }
    let question = question.trim();
    if question.is_empty() {
        return say(text!("no-question"));
    }
    // Direct messages are private, and threads have no threads.
    let is_private = private && asked.spot.kind != DiscordChannelKind::Direct;
    let thread = match (
        thread && asked.spot.kind == DiscordChannelKind::Text,
        is_private,
    ) {
        (true, false) => NewThread::Public,
        (true, true) => NewThread::Private,
        (false, _) => NewThread::No,
    };
    // A thread that is opened for it takes the place of this. Where it cannot be opened, the answer
    // is for the asker alone all the same.
    let place = if is_private {
        here(&asked.spot).private_to(asked.who.id)
    } else {
        here(&asked.spot)
    };
    InteractionAction::Turn(InteractionTurn {
        place,
        is_private,
        thread,
        has_buttons: true,
        ..turn(asked, Body::Text(question.to_owned()), is_private)
    })
}

/// Builds a command about single kept items, including those asked about privately here.
fn own(asked: &UserInteraction, command: Command) -> InteractionAction {
    let place = match asked.spot.kind {
        DiscordChannelKind::Direct => here(&asked.spot),
        _ => here(&asked.spot).private_to(asked.who.id),
    };
    InteractionAction::Turn(InteractionTurn {
        place,
        ..turn(asked, Body::Command(command), true)
    })
}

fn forget(asked: &UserInteraction, what: &str) -> InteractionAction {
    let confirm = |text, row| InteractionAction::Say { text, row };
    match what {
        "last" => privately(asked, Command::Forget(ForgetWhat::Last)),
        "me" | "me yes" => {
            let is_confirmed = what == "me yes";
            privately(asked, Command::Forget(ForgetWhat::Me { is_confirmed }))
        }
        "thread" => confirm(text!("confirm-session"), Row::ForgetSession),
        "private" => confirm(text!("confirm-private"), Row::ForgetSession),
        "channel" => confirm(text!("confirm-channel"), Row::ForgetAudience),
        "" => say(text!("forget-what")),
        _ => InteractionAction::Nothing,
    }
}

/// Handles a button below a single kept item.
fn pressed_at_item(
    asked: &UserInteraction,
    button: ItemButton,
    item: ShownItem,
) -> InteractionAction {
    match button {
        ItemButton::Forget => own(asked, Command::Shown(item, ItemDeed::Forget)),
        ItemButton::Correct => InteractionAction::Form(item),
        ItemButton::Approve => own(asked, Command::Shown(item, ItemDeed::Approve)),
        ItemButton::Decline => own(asked, Command::Shown(item, ItemDeed::Decline)),
    }
}

fn pressed(
    asked: &UserInteraction,
    pressed: Pressed,
    on: MessageId,
    is_private: bool,
) -> InteractionAction {
    let ButtonOwner { asker, place } = pressed.belongs;
    let may_steer = asker == asked.who.id || is_admin(asked.who.permissions);
    let of_place = |body, shows| InteractionTurn {
        place,
        shows,
        ..turn(asked, body, true)
    };
    let answer = ids::sent(asked.spot.channel, on);
    match pressed.button {
        Button::Why => InteractionAction::Turn(of_place(
            Body::Command(Command::WhyOf(answer)),
            FirstResponse::Thinking,
        )),
        Button::Good => InteractionAction::Opinion {
            answer: on,
            place,
            opinion: Opinion::Good,
        },
        Button::Bad => InteractionAction::Opinion {
            answer: on,
            place,
            opinion: Opinion::Bad,
        },
        // The graph knows the asker, so the bot decides who may regenerate it.
        Button::Stop if !may_steer => say(text!("not-yours-here")),
        Button::Stop => InteractionAction::Stop(place),
        Button::Again => InteractionAction::Turn(InteractionTurn {
            is_private,
            has_buttons: true,
            ..of_place(
                Body::Command(Command::Again(answer)),
                FirstResponse::Nothing,
            )
        }),
        Button::ForgetSession => {
            let body = Body::Command(Command::Forget(ForgetWhat::Session));
            InteractionAction::Turn(of_place(body, FirstResponse::Nothing))
        }
        Button::ForgetAudience => {
            let body = Body::Command(Command::Forget(ForgetWhat::Audience));
            InteractionAction::Turn(of_place(body, FirstResponse::Nothing))
        }
        Button::Keep => InteractionAction::Instead(text!("nothing-was-forgotten")),
    }
}

#[cfg(test)]
mod tests {
    use muninn_platform::{Attention, MessageId as Sent, Scope};
    use serenity::model::Permissions;
    use serenity::model::id::{ChannelId, GuildId, InteractionId, UserId};

    use super::*;
    use crate::message::Person;

    const FACTS: InteractionContext = InteractionContext {
        is_allowed: true,
        mode: AnswerMode::Threads,
        language: Language::English,
    };

    fn asked(what: InteractionKind) -> UserInteraction {
        UserInteraction {
            id: InteractionId::new(9),
            token: String::new().into(),
            who: Person {
                id: UserId::new(4),
                name: "ann".to_owned(),
                is_bot: false,
                roles: Vec::new(),
                permissions: Some(Permissions::empty()),
                language: None,
            },
            spot: DiscordLocation {
                guild: Some(GuildId::new(1)),
                channel: ChannelId::new(2),
                kind: DiscordChannelKind::Text,
                parent: None,
                name: "general".to_owned(),
            },
            what,
        }
    }

    fn question(private: bool, thread: bool) -> InteractionKind {
        InteractionKind::Ask {
            question: " why? ".to_owned(),
            private,
            thread,
        }
    }

    fn press(button: &str) -> InteractionKind {
        InteractionKind::Pressed {
            button: button.to_owned(),
            on: MessageId::new(7),
            is_private: false,
        }
    }

    fn a_turn(asked: &UserInteraction) -> InteractionTurn {
        match interaction_action(asked, FACTS) {
            InteractionAction::Turn(turn) => turn,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_question_is_asked_where_and_by_whom_it_may_be_seen() {
        use NewThread::{No, Private, Public};
        let (here, privately) = ("discord/1/2", "discord/1/2/private/4");
        for (private, thread, kind, place, is_private, opens) in [
            (false, false, DiscordChannelKind::Text, here, false, No),
            (true, false, DiscordChannelKind::Text, privately, true, No),
            (false, true, DiscordChannelKind::Text, here, false, Public),
            (
                true,
                true,
                DiscordChannelKind::Text,
                privately,
                true,
                Private,
            ),
            (
                false,
                true,
                DiscordChannelKind::PublicThread,
                here,
                false,
                No,
            ),
            (
                true,
                true,
                DiscordChannelKind::PublicThread,
                privately,
                true,
                No,
            ),
            (false, true, DiscordChannelKind::Flat, here, false, No),
        ] {
            let mut asked = asked(question(private, thread));
            asked.spot.kind = kind;
            let turn = a_turn(&asked);
            assert_eq!(turn.body, Body::Text("why?".to_owned()));
            assert_eq!(turn.place.conversation().as_str(), place);
            assert_eq!((turn.is_private, turn.thread), (is_private, opens));
        }
        let mut direct = asked(question(true, true));
        direct.spot = DiscordLocation::direct(ChannelId::new(2));
        let turn = a_turn(&direct);
        assert_eq!((turn.place.private_to, turn.is_private), (None, false));
    }

    #[test]
    fn who_is_not_let_in_is_told_so_and_nothing_else() {
        let facts = InteractionContext {
            is_allowed: false,
            ..FACTS
        };
        for what in [
            question(false, false),
            InteractionKind::Given(Command::Why),
            press("m1:s:4:1/2"),
        ] {
            assert_eq!(
                interaction_action(&asked(what), facts),
                say(text!("not-allowed"))
            );
        }
        let typing = asked(InteractionKind::TypingSession("secret".to_owned()));
        assert_eq!(
            interaction_action(&typing, facts),
            InteractionAction::Choices(String::new())
        );
    }

    #[test]
    fn a_channel_to_be_left_alone_takes_no_questions_but_commands() {
        let facts = InteractionContext {
            mode: AnswerMode::Never,
            ..FACTS
        };
        assert_eq!(
            interaction_action(&asked(question(false, false)), facts),
            say(text!("never-here"))
        );
        let why = interaction_action(&asked(InteractionKind::Given(Command::Why)), facts);
        assert!(matches!(why, InteractionAction::Turn(_)));
    }

    #[test]
    fn who_mutes_where_nobody_knows_whether_it_is_a_thread_is_asked_what_is_meant() {
        let muted = |scope| Command::Attend(Attention::Muted, scope);
        let unplaced = asked(InteractionKind::Unplaced {
            in_thread: muted(Scope::Conversation),
            in_channel: muted(Scope::Audience),
        });
        assert_eq!(
            interaction_action(&unplaced, FACTS),
            say(text!("say-where"))
        );
    }

    #[test]
    fn what_cannot_be_brought_back_is_confirmed() {
        let forget = |what: &str| {
            interaction_action(&asked(InteractionKind::Forget(what.to_owned())), FACTS)
        };
        assert!(matches!(forget("last"), InteractionAction::Turn(_)));
        for (what, expected) in [
            ("thread", Row::ForgetSession),
            ("private", Row::ForgetSession),
            ("channel", Row::ForgetAudience),
        ] {
            assert!(
                matches!(forget(what), InteractionAction::Say { row, .. } if row == expected),
                "{what}"
            );
        }
        assert_eq!(forget("everything"), InteractionAction::Nothing);
        let confirmed = a_turn(&asked(press("m1:f:4:1/2")));
        let expected = Body::Command(Command::Forget(ForgetWhat::Session));
        assert_eq!(
            (confirmed.body, confirmed.shows),
            (expected, FirstResponse::Nothing)
        );
        assert_eq!(
            interaction_action(&asked(press("m1:k:4:1/2")), FACTS),
            InteractionAction::Instead(text!("nothing-was-forgotten"))
        );
    }

    #[test]
    fn only_who_asked_or_moderates_steers_an_answer() {
        let place = DiscordPlace::new(Some(GuildId::new(1)), ChannelId::new(2));
        let stop = |asker: u64| asked(press(&format!("m1:s:{asker}:1/2")));
        assert_eq!(
            interaction_action(&stop(4), FACTS),
            InteractionAction::Stop(place)
        );
        assert_eq!(
            interaction_action(&stop(5), FACTS),
            say(text!("not-yours-here"))
        );
        let mut moderator = stop(5);
        moderator.who.permissions = Some(Permissions::MANAGE_MESSAGES);
        assert_eq!(
            interaction_action(&moderator, FACTS),
            InteractionAction::Stop(place)
        );
        let again = a_turn(&asked(press("m1:r:4:1/2")));
        assert_eq!(again.body, Body::Command(Command::Again(Sent::new("2/7"))));
        // Ratings and explanations are for everybody.
        assert!(matches!(
            interaction_action(&asked(press("m1:b:5:1/2")), FACTS),
            InteractionAction::Opinion {
                opinion: Opinion::Bad,
                ..
            }
        ));
        let why = a_turn(&asked(press("m1:w:5:1/2")));
        assert_eq!(why.body, Body::Command(Command::WhyOf(Sent::new("2/7"))));
        assert_eq!(
            interaction_action(&asked(press("old")), FACTS),
            say(text!("old-button"))
        );
    }

    #[test]
    fn a_message_is_asked_about_as_a_quotation() {
        let quoted = Quoted {
            id: MessageId::new(8),
            author: UserId::new(5),
            is_bot: false,
            name: "bob".to_owned(),
            text: "Ship it.\nNow.".to_owned(),
            files: Vec::new(),
            at: chrono::Utc::now(),
        };
        let turn = a_turn(&asked(InteractionKind::About(quoted.clone())));
        let text = "What do you think of this message from bob?\n> Ship it.\n> Now.";
        assert_eq!(turn.body, Body::Text(text.to_owned()));
        let empty = Quoted {
            text: String::new(),
            ..quoted
        };
        assert_eq!(
            interaction_action(&asked(InteractionKind::About(empty)), FACTS),
            say(text!("no-text"))
        );
    }
}

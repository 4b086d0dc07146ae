//! The buttons below an answer. A button's id holds all that it does, so it works after a restart,
//! and after years. Pure.

use muninn_platform::{Language, ShownItem};
use muninn_texts::text;
use serde_json::{Value, json};
use serenity::model::id::UserId;

use crate::ids::{DiscordPlace, number};

/// What the buttons below an answer hold: its asker, who may stop or regenerate it, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ButtonOwner {
    pub(crate) asker: UserId,
    pub(crate) place: DiscordPlace,
}

/// The buttons below a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    None,
    /// Below an answer that is still growing.
    Stop,
    /// Below an answer.
    Answer,
    /// Before forgetting a conversation.
    ForgetSession,
    /// Before forgetting a channel.
    ForgetAudience,
    /// Below a list: two for each item.
    Items,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Why,
    Good,
    Bad,
    Stop,
    Again,
    ForgetSession,
    ForgetAudience,
    /// Keeps everything.
    Keep,
}

/// A pressed button, as its id describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pressed {
    pub(crate) button: Button,
    pub(crate) belongs: ButtonOwner,
}

/// What a button below a list does with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemButton {
    Forget,
    /// Asks for the correction first.
    Correct,
    Approve,
    Decline,
}

/// The version of the ids of list buttons. They belong to nobody, and the bot knows the item's
/// place.
const ITEM_VERSION: &str = "m2";

/// Maximum number of list items with buttons: a message has five rows of five.
const MOST_ITEMS: usize = 10;
const ITEMS_A_ROW: usize = 2;

impl ItemButton {
    const ALL: [Self; 4] = [Self::Forget, Self::Correct, Self::Approve, Self::Decline];

    /// Returns the two buttons of an item.
    fn below(item: &ShownItem) -> [Self; 2] {
        if item.is_question() {
            [Self::Approve, Self::Decline]
        } else {
            [Self::Forget, Self::Correct]
        }
    }

    fn letter(self) -> &'static str {
        match self {
            Self::Forget => "f",
            Self::Correct => "c",
            Self::Approve => "y",
            Self::Decline => "n",
        }
    }

    fn component(self, item: &ShownItem, language: Language) -> Value {
        let number = item.number;
        let label = match self {
            Self::Forget => text!("button-forget-number", number),
            Self::Correct => text!("button-correct-number", number),
            Self::Approve => text!("button-approve"),
            Self::Decline => text!("button-decline"),
        };
        json!({
            "type": 2,
            "style": GREY,
            "label": label.in_language(language),
            "custom_id": self.custom_id(item),
        })
    }

    /// Returns the button's id, at most 69 characters.
    pub(crate) fn custom_id(self, item: &ShownItem) -> String {
        format!("{ITEM_VERSION}:{}:{}", self.letter(), item.token())
    }

    pub(crate) fn parse(custom_id: &str) -> Option<(Self, ShownItem)> {
        let held = custom_id.strip_prefix(ITEM_VERSION)?.strip_prefix(':')?;
        let (letter, token) = held.split_once(':')?;
        let button = Self::ALL.into_iter().find(|it| it.letter() == letter)?;
        Some((button, ShownItem::parse(token)?))
    }
}

/// Returns the button rows below a list. Further items are used by their number.
pub(crate) fn item_rows(items: &[ShownItem], language: Language) -> Vec<Value> {
    let shown = &items[..items.len().min(MOST_ITEMS)];
    let rows = shown.chunks(ITEMS_A_ROW).map(|items| {
        let buttons = items.iter().flat_map(|item| {
            ItemButton::below(item).map(|button| button.component(item, language))
        });
        json!({ "type": 1, "components": buttons.collect::<Vec<Value>>() })
    });
    rows.collect()
}

/// The first version of button ids.
const VERSION: &str = "m1";

const GREY: u8 = 2;
const RED: u8 = 4;

impl Button {
    const ALL: [Self; 8] = [
        Self::Why,
        Self::Good,
        Self::Bad,
        Self::Stop,
        Self::Again,
        Self::ForgetSession,
        Self::ForgetAudience,
        Self::Keep,
    ];

    fn letter(self) -> &'static str {
        match self {
            Self::Why => "w",
            Self::Good => "g",
            Self::Bad => "b",
            Self::Stop => "s",
            Self::Again => "r",
            Self::ForgetSession => "f",
            Self::ForgetAudience => "a",
            Self::Keep => "k",
        }
    }

    fn label(self, language: Language) -> String {
        let label = match self {
            Self::Good => return "👍".to_owned(),
            Self::Bad => return "👎".to_owned(),
            Self::Why => text!("button-why"),
            Self::Stop => text!("button-stop"),
            Self::Again => text!("button-again"),
            Self::ForgetSession | Self::ForgetAudience => text!("button-forget"),
            Self::Keep => text!("button-keep"),
        };
        label.in_language(language)
    }

    fn style(self) -> u8 {
        match self {
            Self::ForgetSession | Self::ForgetAudience => RED,
            Self::Why | Self::Good | Self::Bad | Self::Stop | Self::Again | Self::Keep => GREY,
        }
    }

    fn component(self, belongs: ButtonOwner, language: Language) -> Value {
        json!({
            "type": 2,
            "style": self.style(),
            "label": self.label(language),
            "custom_id": custom_id(self, belongs),
        })
    }
}

/// Builds a button's id, at most 96 characters; Discord allows 100.
fn custom_id(button: Button, belongs: ButtonOwner) -> String {
    let ButtonOwner { asker, place } = belongs;
    // For private answers the place already names the asker.
    let asker = match place.private_to {
        Some(person) if person == asker => String::new(),
        Some(_) | None => asker.to_string(),
    };
    format!("{VERSION}:{}:{asker}:{}", button.letter(), place.tail())
}

/// Parses a button's id. `None` for unknown versions.
pub(crate) fn parse(custom_id: &str) -> Option<Pressed> {
    let mut parts = custom_id.splitn(4, ':');
    if parts.next()? != VERSION {
        return None;
    }
    let letter = parts.next()?;
    let button = Button::ALL.into_iter().find(|it| it.letter() == letter)?;
    let asker = parts.next()?;
    let place = DiscordPlace::parse_tail(parts.next()?)?;
    let asker = match asker {
        "" => place.private_to?,
        id => UserId::new(number(id)?),
    };
    Some(Pressed {
        button,
        belongs: ButtonOwner { asker, place },
    })
}

/// Builds a message's components, with labels in this language.
pub(crate) fn components(row: Row, belongs: ButtonOwner, language: Language) -> Value {
    let buttons: &[Button] = match row {
        // A list builds its own rows.
        Row::None | Row::Items => return json!([]),
        Row::Stop => &[Button::Stop],
        Row::Answer => &[Button::Why, Button::Good, Button::Bad, Button::Again],
        Row::ForgetSession => &[Button::ForgetSession, Button::Keep],
        Row::ForgetAudience => &[Button::ForgetAudience, Button::Keep],
    };
    let buttons = buttons
        .iter()
        .map(|button| button.component(belongs, language));
    json!([{ "type": 1, "components": buttons.collect::<Vec<Value>>() }])
}

#[cfg(test)]
mod tests {
    use serenity::model::id::{ChannelId, GuildId};

    use super::*;

    #[test]
    fn a_button_holds_all_it_needs() {
        let most = u64::MAX;
        let place = DiscordPlace::new(Some(GuildId::new(most)), ChannelId::new(most));
        let asker = UserId::new(most);
        let places = [
            place,
            place.private_to(asker),
            DiscordPlace::new(None, ChannelId::new(1)),
        ];
        for place in places {
            let belongs = ButtonOwner { asker, place };
            for button in Button::ALL {
                let id = custom_id(button, belongs);
                assert!(id.len() <= 100, "{id}");
                assert_eq!(parse(&id), Some(Pressed { button, belongs }));
            }
        }
    }

    #[test]
    fn what_is_listed_has_two_buttons_each_as_far_as_there_is_room() {
        let item = |number| ShownItem {
            number,
            id: "0192f0c4-3b5e-7c11-8f00-000000000001".to_owned(),
            version: u64::MAX,
        };
        let items: Vec<ShownItem> = (1..=11).map(item).collect();
        let rows = item_rows(&items, Language::English);
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[4]["components"][2]["label"], "Forget 10");
        for button in ItemButton::ALL {
            let id = button.custom_id(&items[9]);
            assert!(id.len() <= 100 && parse(&id).is_none(), "{id}");
            assert_eq!(ItemButton::parse(&id), Some((button, items[9].clone())));
        }
        assert_eq!(ItemButton::parse("m2:x:1.ff.a"), None);
        assert!(item_rows(&[], Language::English).is_empty());
    }

    #[test]
    fn what_is_no_button_of_ours_is_none() {
        for id in [
            "",
            "m1",
            "m0:w:1:1/2",
            "m1:x:1:1/2",
            "m1:w::1/2",
            "m1:w:a:1/2",
            "m1:w:1:1",
        ] {
            assert_eq!(parse(id), None, "{id}");
        }
    }
}

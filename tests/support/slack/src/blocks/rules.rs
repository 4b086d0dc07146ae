//! The reference of Block Kit as tables, as far as the bot uses it:
//! docs.slack.dev/reference/block-kit/blocks, …/block-elements and …/composition-objects.

use BlockFieldType::{Any, Either, Element, Elements, Flag, Number, Object, Plain, String, Word};

/// Where blocks may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Surface {
    Message,
    HomeTab,
    Modal,
}

/// What a field must be. The numbers are limits: characters of texts, items of lists.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockFieldType {
    /// A string of this many characters, at least and at most.
    String(usize, usize),
    /// A `plain_text` object.
    Plain(usize),
    /// A text object of either kind.
    Either(usize),
    Flag,
    Number,
    Word(&'static [&'static str]),
    /// A composition object of this kind.
    Object(&'static str),
    /// One element of one of these types.
    Element(&'static [&'static str]),
    /// At most this many elements of these types.
    Elements(&'static [&'static str], usize),
    Any,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: BlockFieldType,
    pub(super) is_required: bool,
}

/// A block, an element or a composition object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) surfaces: &'static [Surface],
    pub(super) fields: &'static [Field],
}

const EVERYWHERE: &[Surface] = &[Surface::Message, Surface::HomeTab, Surface::Modal];
const MESSAGES: &[Surface] = &[Surface::Message];
const HOME_TABS: &[Surface] = &[Surface::HomeTab];
const MODALS: &[Surface] = &[Surface::Modal];

const fn must(name: &'static str, shape: BlockFieldType) -> Field {
    let is_required = true;
    Field {
        name,
        shape,
        is_required,
    }
}

const fn may(name: &'static str, shape: BlockFieldType) -> Field {
    let is_required = false;
    Field {
        name,
        shape,
        is_required,
    }
}

const fn rule(kind: &'static str, surfaces: &'static [Surface], fields: &'static [Field]) -> Rule {
    Rule {
        kind,
        surfaces,
        fields,
    }
}

const BLOCK_ID: Field = may("block_id", String(1, 255));
const ACTION_ID: Field = may("action_id", String(1, 255));
const LABEL: Field = may("accessibility_label", String(1, 75));

pub(super) const BLOCKS: &[Rule] = &[
    rule(
        "actions",
        EVERYWHERE,
        &[BLOCK_ID, must("elements", Elements(&["button"], 25))],
    ),
    rule(
        "context",
        EVERYWHERE,
        &[
            BLOCK_ID,
            must("elements", Elements(&["plain_text", "mrkdwn"], 10)),
        ],
    ),
    rule(
        "context_actions",
        MESSAGES,
        &[
            BLOCK_ID,
            must("elements", Elements(&["feedback_buttons"], 5)),
        ],
    ),
    rule("divider", EVERYWHERE, &[BLOCK_ID]),
    rule(
        "header",
        EVERYWHERE,
        &[BLOCK_ID, must("text", Plain(150)), may("level", Number)],
    ),
    rule(
        "input",
        MODALS,
        &[
            BLOCK_ID,
            must("label", Plain(2_000)),
            must("element", Element(&["plain_text_input"])),
            may("hint", Plain(2_000)),
            may("optional", Flag),
        ],
    ),
    rule(
        "markdown",
        MESSAGES,
        &[BLOCK_ID, must("text", String(1, 12_000))],
    ),
    rule(
        "section",
        EVERYWHERE,
        &[BLOCK_ID, must("text", Either(3_000)), may("expand", Flag)],
    ),
];

pub(super) const ELEMENTS: &[Rule] = &[
    rule(
        "button",
        EVERYWHERE,
        &[
            ACTION_ID,
            must("text", Plain(75)),
            may("value", String(0, 2_000)),
            may("style", Word(&["primary", "danger"])),
            may("confirm", Object("confirm")),
            LABEL,
        ],
    ),
    rule(
        "plain_text_input",
        MODALS,
        &[
            ACTION_ID,
            may("initial_value", String(0, 3_000)),
            may("multiline", Flag),
            may("min_length", Number),
            may("max_length", Number),
            may("placeholder", Plain(150)),
        ],
    ),
    rule(
        "feedback_buttons",
        MESSAGES,
        &[
            ACTION_ID,
            must("positive_button", Object("feedback")),
            must("negative_button", Object("feedback")),
        ],
    ),
];

pub(super) const OBJECTS: &[Rule] = &[
    rule(
        "plain_text",
        EVERYWHERE,
        &[must("text", String(1, 3_000)), may("emoji", Flag)],
    ),
    rule(
        "mrkdwn",
        EVERYWHERE,
        &[must("text", String(1, 3_000)), may("verbatim", Flag)],
    ),
    rule(
        "confirm",
        EVERYWHERE,
        &[
            must("title", Plain(100)),
            must("text", Either(300)),
            must("confirm", Plain(30)),
            must("deny", Plain(30)),
            may("style", Word(&["primary", "danger"])),
        ],
    ),
    rule(
        "feedback",
        MESSAGES,
        &[
            must("text", Plain(75)),
            must("value", String(1, 2_000)),
            LABEL,
        ],
    ),
    rule(
        "modal",
        MODALS,
        &[
            must("blocks", Any),
            must("title", Plain(24)),
            may("submit", Plain(24)),
            may("close", Plain(24)),
            may("private_metadata", String(0, 3_000)),
            may("callback_id", String(0, 255)),
        ],
    ),
    rule(
        "home",
        HOME_TABS,
        &[
            must("blocks", Any),
            may("private_metadata", String(0, 3_000)),
            may("callback_id", String(0, 255)),
            may("external_id", String(0, 255)),
        ],
    ),
];

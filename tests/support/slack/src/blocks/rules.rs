//! The reference of Block Kit as tables: docs.slack.dev/reference/block-kit/blocks, …/block-elements and
//! …/composition-objects.

mod elements;

pub(super) use elements::{ELEMENTS, OBJECTS};

/// Where blocks may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Surface {
    Message,
    /// Modals and home tabs.
    View,
}

/// What a field must be. Numbers are limits: characters of texts, members of lists.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A string of this many characters, at least and at most.
    String(usize, usize),
    /// A `plain_text` object.
    Plain(usize),
    /// A `mrkdwn` object.
    Mrkdwn(usize),
    /// A text object of either kind.
    Either(usize),
    /// An absolute address of at most 3,000 characters.
    Url,
    Flag,
    Number,
    Word(&'static [&'static str]),
    /// A composition object of this kind.
    Object(&'static str),
    /// At most this many of them.
    Objects(&'static str, usize),
    /// An element of one of these types.
    Element(&'static [&'static str]),
    /// At most this many of them.
    Elements(&'static [&'static str], usize),
    /// So many text objects, each so long.
    Texts(usize, usize),
    /// Rows of a table.
    Rows,
    Any,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) is_required: bool,
}

/// A block, an element or a composition object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) surfaces: &'static [Surface],
    pub(super) fields: &'static [Field],
    /// One of these at least.
    pub(super) one_of: &'static [&'static str],
    /// Further fields are not looked at.
    pub(super) is_open: bool,
}

use Shape::{
    Any, Either, Element, Elements, Flag, Mrkdwn, Number, Object, Plain, Rows, String, Texts, Url,
    Word,
};

const EVERYWHERE: &[Surface] = &[Surface::Message, Surface::View];
const MESSAGES: &[Surface] = &[Surface::Message];
const VIEWS: &[Surface] = &[Surface::View];

const fn must(name: &'static str, shape: Shape) -> Field {
    let is_required = true;
    Field {
        name,
        shape,
        is_required,
    }
}

const fn may(name: &'static str, shape: Shape) -> Field {
    let is_required = false;
    Field {
        name,
        shape,
        is_required,
    }
}

const fn rule(kind: &'static str, surfaces: &'static [Surface], fields: &'static [Field]) -> Rule {
    let (one_of, is_open): (&[&str], bool) = (&[], false);
    Rule {
        kind,
        surfaces,
        fields,
        one_of,
        is_open,
    }
}

/// A rule of which one of some fields must be there.
const fn choice(
    kind: &'static str,
    surfaces: &'static [Surface],
    fields: &'static [Field],
    one_of: &'static [&'static str],
) -> Rule {
    let is_open = false;
    Rule {
        kind,
        surfaces,
        fields,
        one_of,
        is_open,
    }
}

/// A rule of which only some fields are looked at.
const fn open(kind: &'static str, surfaces: &'static [Surface], fields: &'static [Field]) -> Rule {
    let (one_of, is_open): (&[&str], bool) = (&[], true);
    Rule {
        kind,
        surfaces,
        fields,
        one_of,
        is_open,
    }
}

const BLOCK_ID: Field = may("block_id", String(1, 255));
const ACTION_ID: Field = may("action_id", String(1, 255));
const CONFIRM: Field = may("confirm", Object("confirm"));
const FOCUS: Field = may("focus_on_load", Flag);
const PLACEHOLDER: Field = may("placeholder", Plain(150));
const LABEL: Field = may("accessibility_label", String(1, 75));

/// What an `actions` block may hold.
const ACTIONS: &[&str] = &[
    "button",
    "checkboxes",
    "datepicker",
    "datetimepicker",
    "overflow",
    "radio_buttons",
    "timepicker",
    "static_select",
    "external_select",
    "users_select",
    "conversations_select",
    "channels_select",
    "multi_static_select",
    "multi_external_select",
    "multi_users_select",
    "multi_conversations_select",
    "multi_channels_select",
    "workflow_button",
];

/// What may stand beside a section.
const ACCESSORIES: &[&str] = &[
    "button",
    "checkboxes",
    "datepicker",
    "image",
    "overflow",
    "radio_buttons",
    "timepicker",
    "static_select",
    "external_select",
    "users_select",
    "conversations_select",
    "channels_select",
    "multi_static_select",
    "multi_users_select",
    "multi_conversations_select",
    "multi_channels_select",
    "workflow_button",
];

/// What an `input` block may hold.
const INPUTS: &[&str] = &[
    "plain_text_input",
    "checkboxes",
    "radio_buttons",
    "datepicker",
    "datetimepicker",
    "timepicker",
    "email_text_input",
    "url_text_input",
    "number_input",
    "file_input",
    "rich_text_input",
    "static_select",
    "external_select",
    "users_select",
    "conversations_select",
    "channels_select",
    "multi_static_select",
    "multi_external_select",
    "multi_users_select",
    "multi_conversations_select",
    "multi_channels_select",
];

pub(super) const BLOCKS: &[Rule] = &[
    rule(
        "actions",
        EVERYWHERE,
        &[BLOCK_ID, must("elements", Elements(ACTIONS, 25))],
    ),
    rule(
        "alert",
        EVERYWHERE,
        &[
            BLOCK_ID,
            must("text", Either(3_000)),
            may(
                "level",
                Word(&["default", "info", "warning", "error", "success"]),
            ),
        ],
    ),
    choice(
        "card",
        MESSAGES,
        &[
            BLOCK_ID,
            may("hero_image", Element(&["image"])),
            may("icon", Element(&["image"])),
            may("title", Mrkdwn(150)),
            may("subtitle", Mrkdwn(150)),
            may("body", Mrkdwn(200)),
            may("actions", Elements(&["button"], 5)),
        ],
        &["hero_image", "title", "actions", "body"],
    ),
    rule(
        "carousel",
        MESSAGES,
        &[BLOCK_ID, must("elements", Elements(&["card"], 10))],
    ),
    rule(
        "context",
        EVERYWHERE,
        &[
            BLOCK_ID,
            must("elements", Elements(&["image", "plain_text", "mrkdwn"], 10)),
        ],
    ),
    rule(
        "context_actions",
        MESSAGES,
        &[
            BLOCK_ID,
            must(
                "elements",
                Elements(&["feedback_buttons", "icon_button"], 5),
            ),
        ],
    ),
    rule("divider", EVERYWHERE, &[BLOCK_ID]),
    rule(
        "header",
        EVERYWHERE,
        &[BLOCK_ID, must("text", Plain(150)), may("level", Number)],
    ),
    choice(
        "image",
        EVERYWHERE,
        &[
            BLOCK_ID,
            must("alt_text", String(1, 2_000)),
            may("title", Plain(2_000)),
            may("image_url", Url),
            may("slack_file", Any),
        ],
        &["image_url", "slack_file"],
    ),
    rule(
        "input",
        EVERYWHERE,
        &[
            BLOCK_ID,
            must("label", Plain(2_000)),
            must("element", Element(INPUTS)),
            may("dispatch_action", Flag),
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
        "plan",
        MESSAGES,
        &[BLOCK_ID, must("title", String(1, 256)), may("tasks", Any)],
    ),
    rule("rich_text", EVERYWHERE, &[BLOCK_ID, must("elements", Any)]),
    choice(
        "section",
        EVERYWHERE,
        &[
            BLOCK_ID,
            may("text", Either(3_000)),
            may("fields", Texts(10, 2_000)),
            may("accessory", Element(ACCESSORIES)),
            may("expand", Flag),
        ],
        &["text", "fields"],
    ),
    rule(
        "table",
        MESSAGES,
        &[BLOCK_ID, must("rows", Rows), may("column_settings", Any)],
    ),
    rule(
        "task_card",
        MESSAGES,
        &[
            BLOCK_ID,
            must("task_id", String(1, 255)),
            must("title", String(1, 256)),
            may("details", Any),
            may("output", Any),
            may("sources", Any),
            may(
                "status",
                Word(&["pending", "in_progress", "complete", "error"]),
            ),
        ],
    ),
    open(
        "video",
        EVERYWHERE,
        &[
            must("title", Plain(200)),
            must("alt_text", String(1, 2_000)),
        ],
    ),
];

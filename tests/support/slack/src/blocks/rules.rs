//! The reference of Block Kit as tables: docs.slack.dev/reference/block-kit/blocks, …/block-elements and
//! …/composition-objects.

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
    Any, Either, Element, Elements, Flag, Mrkdwn, Number, Object, Objects, Plain, Rows, String,
    Texts, Url, Word,
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

const OPTIONS: Shape = Objects("option", 100);

pub(super) const ELEMENTS: &[Rule] = &[
    rule(
        "button",
        EVERYWHERE,
        &[
            ACTION_ID,
            must("text", Plain(75)),
            may("url", Url),
            may("value", String(0, 2_000)),
            may("style", Word(&["primary", "danger"])),
            CONFIRM,
            LABEL,
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
    rule(
        "icon_button",
        MESSAGES,
        &[
            ACTION_ID,
            must("icon", Word(&["trash"])),
            must("text", Plain(75)),
            may("value", String(0, 2_000)),
            CONFIRM,
            LABEL,
            may("visible_to_user_ids", Any),
        ],
    ),
    choice(
        "image",
        EVERYWHERE,
        &[
            must("alt_text", String(1, 2_000)),
            may("image_url", Url),
            may("slack_file", Any),
        ],
        &["image_url", "slack_file"],
    ),
    rule(
        "overflow",
        EVERYWHERE,
        &[ACTION_ID, must("options", Objects("option", 5)), CONFIRM],
    ),
    rule(
        "checkboxes",
        EVERYWHERE,
        &[
            ACTION_ID,
            must("options", Objects("option", 10)),
            may("initial_options", Objects("option", 10)),
            CONFIRM,
            FOCUS,
        ],
    ),
    rule(
        "radio_buttons",
        EVERYWHERE,
        &[
            ACTION_ID,
            must("options", Objects("option", 10)),
            may("initial_option", Object("option")),
            CONFIRM,
            FOCUS,
        ],
    ),
    choice(
        "static_select",
        EVERYWHERE,
        &[
            ACTION_ID,
            may("options", OPTIONS),
            may("option_groups", Any),
            may("initial_option", Object("option")),
            PLACEHOLDER,
            CONFIRM,
            FOCUS,
        ],
        &["options", "option_groups"],
    ),
    choice(
        "multi_static_select",
        EVERYWHERE,
        &[
            ACTION_ID,
            may("options", OPTIONS),
            may("option_groups", Any),
            may("initial_options", OPTIONS),
            may("max_selected_items", Number),
            PLACEHOLDER,
            CONFIRM,
            FOCUS,
        ],
        &["options", "option_groups"],
    ),
    open(
        "external_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "users_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "conversations_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "channels_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "multi_external_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "multi_users_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "multi_conversations_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open(
        "multi_channels_select",
        EVERYWHERE,
        &[ACTION_ID, PLACEHOLDER, CONFIRM],
    ),
    open("datepicker", EVERYWHERE, &[ACTION_ID, PLACEHOLDER, CONFIRM]),
    open("datetimepicker", EVERYWHERE, &[ACTION_ID, CONFIRM]),
    open("timepicker", EVERYWHERE, &[ACTION_ID, PLACEHOLDER, CONFIRM]),
    open(
        "workflow_button",
        EVERYWHERE,
        &[ACTION_ID, must("text", Plain(75))],
    ),
    rule(
        "plain_text_input",
        VIEWS,
        &[
            ACTION_ID,
            may("initial_value", String(0, 3_000)),
            may("multiline", Flag),
            may("min_length", Number),
            may("max_length", Number),
            may("dispatch_action_config", Any),
            FOCUS,
            PLACEHOLDER,
        ],
    ),
    open("email_text_input", VIEWS, &[ACTION_ID, PLACEHOLDER]),
    open("url_text_input", VIEWS, &[ACTION_ID, PLACEHOLDER]),
    open(
        "number_input",
        VIEWS,
        &[ACTION_ID, PLACEHOLDER, must("is_decimal_allowed", Flag)],
    ),
    open("file_input", VIEWS, &[ACTION_ID]),
    open(
        "rich_text_input",
        VIEWS,
        &[must("action_id", String(1, 255)), PLACEHOLDER],
    ),
];

const VIEW_FIELDS: [Field; 4] = [
    must("blocks", Any),
    may("private_metadata", String(0, 3_000)),
    may("callback_id", String(0, 255)),
    may("external_id", String(0, 255)),
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
    rule("raw_text", EVERYWHERE, &[must("text", String(1, 3_000))]),
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
        "option",
        EVERYWHERE,
        &[
            must("text", Either(75)),
            must("value", String(1, 150)),
            may("description", Either(75)),
            may("url", Url),
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
        "home",
        VIEWS,
        &[
            VIEW_FIELDS[0],
            VIEW_FIELDS[1],
            VIEW_FIELDS[2],
            VIEW_FIELDS[3],
        ],
    ),
    rule(
        "modal",
        VIEWS,
        &[
            must("title", Plain(24)),
            may("close", Plain(24)),
            may("submit", Plain(24)),
            may("clear_on_close", Flag),
            may("notify_on_close", Flag),
            may("submit_disabled", Flag),
            VIEW_FIELDS[0],
            VIEW_FIELDS[1],
            VIEW_FIELDS[2],
            VIEW_FIELDS[3],
        ],
    ),
];

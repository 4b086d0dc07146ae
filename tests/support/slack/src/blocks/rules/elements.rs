//! Block elements, and the objects that blocks and elements are composed of.

use super::Shape::{Any, Either, Flag, Number, Object, Objects, Plain, String, Url, Word};
use super::{
    ACTION_ID, CONFIRM, EVERYWHERE, FOCUS, Field, LABEL, MESSAGES, PLACEHOLDER, Rule, Shape, VIEWS,
    choice, may, must, open, rule,
};

const OPTIONS: Shape = Objects("option", 100);

pub(in crate::blocks) const ELEMENTS: &[Rule] = &[
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

pub(in crate::blocks) const OBJECTS: &[Rule] = &[
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

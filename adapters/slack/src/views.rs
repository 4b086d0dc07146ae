//! Buttons, the app's home tab, and other content besides answers. Pure.

use muninn_platform::{Language, MessageId, SafeText, ShownItem};
use muninn_texts::{Text, text};
use serde_json::{Value, json};

use crate::mrkdwn::{escape, mrkdwn};

/// The message shortcut's id, as in the manifest.
pub(crate) const ASK_CALLBACK: &str = "ask_muninn";

/// The id of the form for corrections.
pub(crate) const CORRECT_CALLBACK: &str = "muninn_correct";

/// Its only field.
pub(crate) const CORRECT_FIELD: &str = "text";

/// Maximum characters of a correction; Slack's own limit.
const LONGEST_CORRECTION: usize = 3_000;

/// Maximum items of a list with buttons; later ones can only be named by number. A message has at
/// most 50 blocks.
const MOST_ITEMS: usize = 20;

/// Slack's maximum characters of a button's value.
pub(crate) const LONGEST_VALUE: usize = 2_000;

/// Slack's maximum characters of a section.
const LONGEST_SECTION: usize = 3_000;

/// Maximum sections of the home tab that come from the bot; a view has at most 100 blocks.
const MOST_SECTIONS: usize = 20;

/// The actions of the adapter's buttons. Their ids never change, because they remain in messages
/// for years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Opinion,
    Why,
    Share,
    Stop,
    ForgetDirect,
    ForgetItem,
    CorrectItem,
    ApproveItem,
    DeclineItem,
}

impl Button {
    fn id(self) -> &'static str {
        match self {
            Self::Opinion => "muninn_opinion",
            Self::Why => "muninn_why",
            Self::Share => "muninn_share",
            Self::Stop => "muninn_stop",
            Self::ForgetDirect => "muninn_forget_direct",
            Self::ForgetItem => "muninn_forget_item",
            Self::CorrectItem => "muninn_correct_item",
            Self::ApproveItem => "muninn_approve_item",
            Self::DeclineItem => "muninn_decline_item",
        }
    }

    pub(crate) fn of(action: &str) -> Option<Self> {
        let all = [
            Self::Opinion,
            Self::Why,
            Self::Share,
            Self::Stop,
            Self::ForgetDirect,
            Self::ForgetItem,
            Self::CorrectItem,
            Self::ApproveItem,
            Self::DeclineItem,
        ];
        all.into_iter().find(|button| button.id() == action)
    }
}

fn plain_text(text: &str) -> Value {
    json!({ "type": "plain_text", "text": text, "emoji": true })
}

fn button(button: Button, label: &str, value: &str) -> Value {
    json!({ "type": "button", "action_id": button.id(), "text": plain_text(label), "value": value })
}

/// Returns the buttons below an answer. `named`: the answer's id if Slack has none for it.
pub(crate) fn below_answer(named: Option<&MessageId>, language: Language) -> Vec<Value> {
    let said = |text: Text| text.in_language(language);
    let value = |word: &str| named.map_or(word.to_owned(), |id| format!("{word} {id}"));
    let opinion = |text: &str, label: &str, word: &str| json!({ "text": plain_text(text), "accessibility_label": label, "value": value(word) });
    vec![
        json!({ "type": "context_actions", "elements": [{
            "type": "feedback_buttons",
            "action_id": Button::Opinion.id(),
            "positive_button": opinion("👍", &said(text!("button-good")), "good"),
            "negative_button": opinion("👎", &said(text!("button-bad")), "bad"),
        }] }),
        json!({ "type": "actions", "elements": [button(Button::Why, &said(text!("button-why")), &value("why"))] }),
    ]
}

/// Returns the buttons below an ephemeral answer: the share button contains all of it, because
/// Slack does not keep it, so that it can be shared after a restart too.
pub(crate) fn below_ephemeral(
    answer: &MessageId,
    text: &SafeText,
    language: Language,
) -> Vec<Value> {
    let mut blocks = below_answer(Some(answer), language);
    if text.len_chars() <= LONGEST_VALUE
        && let Some(Value::Array(buttons)) = blocks.last_mut().map(|last| &mut last["elements"])
    {
        let share = text!("button-share").in_language(language);
        buttons.insert(0, button(Button::Share, &share, text.as_str()));
    }
    blocks
}

/// Returns the buttons below a list: two per item.
pub(crate) fn below_items(items: &[ShownItem], language: Language) -> Vec<Value> {
    let rows = items.iter().take(MOST_ITEMS).map(|item| {
        let (number, token) = (item.number, item.token());
        if item.is_question() {
            let approve = text!("button-approve").in_language(language);
            let decline = text!("button-decline").in_language(language);
            let approve = button(Button::ApproveItem, &approve, &token);
            let decline = button(Button::DeclineItem, &decline, &token);
            return json!({ "type": "actions", "elements": [approve, decline] });
        }
        let forget = text!("button-forget-number", number).in_language(language);
        let correct = text!("button-correct-number", number).in_language(language);
        let forget = button(Button::ForgetItem, &forget, &token);
        let correct = button(Button::CorrectItem, &correct, &token);
        json!({ "type": "actions", "elements": [forget, correct] })
    });
    rows.collect()
}

/// Returns the form for a correction. `about`: its private metadata.
pub(crate) fn correction_form(item: &ShownItem, about: &Value, language: Language) -> Value {
    let plain_text = |text: Text| plain_text(&text.in_language(language));
    json!({
        "type": "modal",
        "callback_id": CORRECT_CALLBACK,
        "title": plain_text(text!("form-correct-title", number = item.number)),
        "submit": plain_text(text!("form-correct")),
        "close": plain_text(text!("form-leave")),
        "private_metadata": about.to_string(),
        "blocks": [{
            "type": "input",
            "block_id": CORRECT_FIELD,
            "label": plain_text(text!("form-what-is-right")),
            "element": {
                "type": "plain_text_input",
                "action_id": CORRECT_FIELD,
                "multiline": true,
                "max_length": LONGEST_CORRECTION,
            },
        }],
    })
}

/// Returns the buttons below a growing answer.
pub(crate) fn below_growing(language: Language) -> Vec<Value> {
    let stop = text!("button-stop").in_language(language);
    vec![json!({ "type": "actions", "elements": [button(Button::Stop, &stop, "stop")] })]
}

/// Returns what somebody asks with the shortcut, about a message in Slack's markup.
pub(crate) fn about_message(text: &str, language: Language) -> String {
    let mut question = text!("ask-about-message").in_language(language);
    question.push('\n');
    for line in text.lines() {
        question.push_str("\n&gt; ");
        question.push_str(line);
    }
    question
}

/// Returns the home tab: the bot's description of itself, and how it forgets.
pub(crate) fn home(about: &[SafeText], command: &str, direct: &str, language: Language) -> Value {
    let words = |text: Text| text.in_language(language);
    let section = |text: String| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text, "verbatim": true } });
    let mut blocks = vec![json!({ "type": "header", "text": plain_text("Muninn") })];
    let said = about.iter().flat_map(sections);
    blocks.extend(said.take(MOST_SECTIONS).map(section));
    blocks.push(json!({ "type": "divider" }));
    blocks.push(section(words(text!("home-ask", command))));
    let label = words(text!("home-forget"));
    let mut forget = button(Button::ForgetDirect, &label, direct);
    forget["style"] = json!("danger");
    forget["confirm"] = json!({
        "title": plain_text(&words(text!("home-forget-title"))),
        "text": plain_text(&words(text!("home-forget-text"))),
        "confirm": plain_text(&words(text!("home-forget-yes"))),
        "deny": plain_text(&words(text!("home-forget-no"))),
        "style": "danger",
    });
    blocks.push(json!({ "type": "actions", "elements": [forget] }));
    json!({ "type": "home", "blocks": blocks })
}

/// Splits at Slack's limit of a section; escaped text is longer than the original.
fn sections(text: &SafeText) -> Vec<String> {
    let limit = muninn_platform::TextLimit::Chars(LONGEST_SECTION / 5);
    let parts = text.split(limit).into_iter().map(|part| {
        let markup = mrkdwn(part.as_str());
        if markup.chars().count() <= LONGEST_SECTION {
            markup
        } else {
            escape(part.as_str())
        }
    });
    parts.collect()
}

/// Returns suggestions for an empty thread.
pub(crate) fn suggestions(language: Language) -> Value {
    let words = |text: Text| text.in_language(language);
    let prompt =
        |title: Text, message: Text| json!({ "title": words(title), "message": words(message) });
    json!({
        "title": words(text!("slack-suggestions")),
        "prompts": [
            prompt(text!("slack-suggest-abilities"), text!("slack-ask-abilities")),
            prompt(text!("slack-suggest-last"), text!("slack-ask-last")),
            prompt(text!("slack-suggest-note"), text!("slack-ask-note")),
        ],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buttons_are_known_again() {
        for button in [
            Button::Opinion,
            Button::Why,
            Button::Share,
            Button::Stop,
            Button::ForgetDirect,
            Button::ForgetItem,
            Button::CorrectItem,
            Button::ApproveItem,
            Button::DeclineItem,
        ] {
            assert_eq!(Button::of(button.id()), Some(button));
        }
        assert_eq!(Button::of("someone_elses"), None);
    }

    #[test]
    fn they_look_as_slack_documents() {
        let answer = MessageId::new("C1/private/1.2/0");
        let text = SafeText::new("**Ten** <b>");
        insta::assert_snapshot!(format!(
            "{:#}\n{:#}\n{:#}\n{:#}\n{:#}",
            json!(below_answer(None, Language::English)),
            json!(below_ephemeral(&answer, &text, Language::English)),
            json!(below_growing(Language::English)),
            home(&[text], "/muninn", "D1", Language::English),
            suggestions(Language::Portuguese),
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn sections_fit(text in "\\PC{0,60}", times in 1..60usize) {
            for section in sections(&SafeText::new(&text.repeat(times))) {
                prop_assert!(section.chars().count() <= LONGEST_SECTION);
            }
        }
    }
}

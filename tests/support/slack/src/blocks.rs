//! Block Kit: checks blocks and views against docs.slack.dev/reference/block-kit, and extracts the
//! text that a person reads.

mod rules;
mod shown;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use rules::{BLOCKS, BlockFieldType, ELEMENTS, Field, OBJECTS, Rule, Surface};

pub(crate) use shown::{pings, shown};

/// "You can include up to 50 blocks in each message, and 100 blocks in modals or home tabs."
const MESSAGE_BLOCKS: usize = 50;
const VIEW_BLOCKS: usize = 100;

/// "The cumulative limit for all markdown blocks in a single payload is 12,000 characters."
const MARKDOWN: usize = 12_000;

/// Returns the blocks that Slack makes of `markdown_text`.
pub(crate) fn markdown_block(text: &str) -> Value {
    if text.is_empty() {
        return json!([]);
    }
    json!([{ "type": "markdown", "text": text }])
}

/// Returns what is wrong with the blocks of a message.
pub(crate) fn of_message(blocks: &Value) -> Vec<String> {
    if blocks.is_null() {
        return Vec::new();
    }
    of_surface(blocks, Surface::Message, MESSAGE_BLOCKS)
}

/// Returns what is wrong with a home tab.
pub(crate) fn of_home(view: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if view["type"] != "home" {
        wrong.push("view: type must be home".to_owned());
    }
    let mut at = Checker {
        wrong,
        surface: Surface::HomeTab,
    };
    at.object(view, "home", OBJECTS);
    let mut wrong = at.wrong;
    wrong.extend(of_surface(&view["blocks"], Surface::HomeTab, VIEW_BLOCKS));
    if view.to_string().len() > 250_000 {
        wrong.push("view: larger than 250 kB".to_owned());
    }
    wrong
}

/// Returns what is wrong with a modal.
pub(crate) fn of_modal(view: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if view["type"] != "modal" {
        wrong.push("view: type must be modal".to_owned());
    }
    let surface = Surface::Modal;
    let mut at = Checker { wrong, surface };
    at.object(view, "modal", OBJECTS);
    let mut wrong = at.wrong;
    wrong.extend(of_surface(&view["blocks"], surface, VIEW_BLOCKS));
    wrong
}

fn of_surface(blocks: &Value, surface: Surface, most: usize) -> Vec<String> {
    let Some(list) = blocks.as_array() else {
        return vec!["blocks: not a list".to_owned()];
    };
    let mut checker = Checker {
        wrong: Vec::new(),
        surface,
    };
    if list.len() > most {
        checker.say(format!("blocks: {} of them, at most {most}", list.len()));
    }
    for block in list {
        checker.typed(block, BLOCKS, "block");
    }
    checker.once(list, "block_id");
    checker.over_all(list);
    checker.wrong
}

struct Checker {
    wrong: Vec<String>,
    surface: Surface,
}

impl Checker {
    fn say(&mut self, what: String) {
        self.wrong.push(what);
    }

    /// Checks the limits over all blocks of a payload.
    fn over_all(&mut self, blocks: &[Value]) {
        let markdown = blocks.iter().filter(|block| block["type"] == "markdown");
        let markdown = markdown.filter_map(|block| block["text"].as_str());
        let markdown: usize = markdown.map(|text| text.chars().count()).sum();
        if markdown > MARKDOWN {
            self.say(format!(
                "markdown blocks: {markdown} characters, at most {MARKDOWN} together"
            ));
        }
    }

    /// Checks that given ids differ.
    fn once(&mut self, objects: &[Value], name: &str) {
        let mut ids: Vec<&str> = objects
            .iter()
            .filter_map(|object| object[name].as_str())
            .collect();
        let given = ids.len();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < given {
            self.say(format!("{name}: the same one twice"));
        }
    }

    /// Checks an object whose `type` determines its rule.
    fn typed(&mut self, value: &Value, rules: &'static [Rule], what: &str) {
        match value["type"].as_str() {
            Some(kind) => self.object(value, kind, rules),
            None => self.say(format!("{what}: no type: {}", crate::state::brief(value))),
        }
    }

    fn object(&mut self, value: &Value, kind: &str, rules: &'static [Rule]) {
        let Some(rule) = rules.iter().find(|rule| rule.kind == kind) else {
            return self.say(format!("{kind}: no such block or element"));
        };
        if !rule.surfaces.contains(&self.surface) {
            self.say(format!("{kind}: not on this surface"));
        }
        let Some(fields) = value.as_object() else {
            return self.say(format!("{kind}: no object"));
        };
        for (name, value) in fields.iter().filter(|(name, _)| *name != "type") {
            match rule.fields.iter().find(|field| field.name == name) {
                Some(field) => self.field(kind, field, value),
                None => self.say(format!("{kind}: no such field: {name}")),
            }
        }
        for field in rule.fields.iter().filter(|field| field.is_required) {
            if fields.get(field.name).is_none_or(Value::is_null) {
                self.say(format!("{kind}: {} is missing", field.name));
            }
        }
    }

    fn field(&mut self, kind: &str, field: &Field, value: &Value) {
        let name = format!("{kind}.{}", field.name);
        match field.shape {
            BlockFieldType::String(least, most) => self.string(&name, value, least, most),
            BlockFieldType::Plain(most) => self.text(&name, value, most, &["plain_text"]),
            BlockFieldType::Either(most) => {
                self.text(&name, value, most, &["plain_text", "mrkdwn"])
            }
            BlockFieldType::Flag if !value.is_boolean() => self.say(format!("{name}: no boolean")),
            BlockFieldType::Number if !value.is_number() => self.say(format!("{name}: no number")),
            BlockFieldType::Word(words) if !words.iter().any(|word| value == word) => {
                self.say(format!("{name}: must be one of {}", words.join(", ")));
            }
            BlockFieldType::Flag
            | BlockFieldType::Number
            | BlockFieldType::Word(_)
            | BlockFieldType::Any => {}
            BlockFieldType::Object(kind) => self.object(value, kind, OBJECTS),
            BlockFieldType::Element(kinds) => self.element(&name, value, kinds),
            BlockFieldType::Elements(kinds, most) => {
                for element in self.list(&name, value, most) {
                    self.element(&name, element, kinds);
                }
                self.once(value.as_array().map_or(&[], Vec::as_slice), "action_id");
            }
        }
    }

    fn list<'a>(&mut self, name: &str, value: &'a Value, most: usize) -> &'a [Value] {
        let Some(list) = value.as_array() else {
            self.say(format!("{name}: not a list"));
            return &[];
        };
        if list.is_empty() || list.len() > most {
            self.say(format!(
                "{name}: {} of them, must be 1 to {most}",
                list.len()
            ));
        }
        list
    }

    /// Checks an element, which is named by its type; texts are allowed too.
    fn element(&mut self, name: &str, value: &Value, kinds: &[&str]) {
        let kind = value["type"].as_str().unwrap_or_default();
        if !kinds.contains(&kind) {
            return self.say(format!("{name}: {kind:?} may not be here"));
        }
        match kind {
            "plain_text" | "mrkdwn" => self.text(name, value, 3_000, &["plain_text", "mrkdwn"]),
            _ => self.object(value, kind, ELEMENTS),
        }
    }

    fn string(&mut self, name: &str, value: &Value, least: usize, most: usize) {
        let Some(text) = value.as_str() else {
            return self.say(format!("{name}: no string"));
        };
        let length = text.chars().count();
        if length < least || length > most {
            self.say(format!(
                "{name}: {length} characters, must be {least} to {most}"
            ));
        }
    }

    /// Checks a "Text object": 1 to 3,000 characters unless its place allows less.
    fn text(&mut self, name: &str, value: &Value, most: usize, kinds: &[&str]) {
        let kind = value["type"].as_str().unwrap_or_default();
        if !kinds.contains(&kind) {
            return self.say(format!("{name}: must be {}", kinds.join(" or ")));
        }
        self.object(value, kind, OBJECTS);
        self.string(&format!("{name}.text"), &value["text"], 1, most);
    }
}

//! The text that a person reads in a message, and whom it would ping.

use serde_json::Value;

/// Returns the text that clients show: that of the blocks if there are any, else the message's own.
///
/// Escapes are resolved; markup is left as it is. Buttons and small print (`context`) are not
/// included.
pub(crate) fn shown(text: &str, blocks: &Value) -> String {
    let blocks = blocks.as_array().map_or(&[][..], Vec::as_slice);
    let parts: Vec<String> = blocks.iter().filter_map(block).collect();
    let raw = if parts.is_empty() {
        text.to_owned()
    } else {
        parts.join("\n")
    };
    raw.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

fn block(block: &Value) -> Option<String> {
    let text_of = |value: &Value| value["text"].as_str().map(str::to_owned);
    match block["type"].as_str()? {
        "markdown" => text_of(block),
        "header" | "section" => text_of(&block["text"]),
        "rich_text" => Some(leaves(&block["elements"])),
        _ => None,
    }
}

/// Returns all texts within rich text, joined.
fn leaves(value: &Value) -> String {
    match value {
        Value::Array(list) => list.iter().map(leaves).collect(),
        Value::Object(fields) => {
            let own = fields
                .get("text")
                .filter(|text| text.is_string())
                .or(fields.get("url"));
            let own = own.and_then(Value::as_str).unwrap_or_default();
            let inner = fields.get("elements").map(leaves).unwrap_or_default();
            format!("{own}{inner}")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => String::new(),
    }
}

/// Returns the control sequences that would notify somebody: `<@U…>`, `<!here>`, `<!channel>`,
/// `<!subteam^…>`.
pub(crate) fn pings(text: &str, blocks: &Value) -> Vec<String> {
    let mut texts = vec![text.to_owned()];
    collect(blocks, &mut texts);
    let mut found: Vec<String> = texts.iter().flat_map(|text| sequences(text)).collect();
    found.sort();
    found.dedup();
    found
}

/// Collects the texts that can ping. `plain_text` is shown verbatim and pings nobody.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| collect(value, texts)),
        Value::Object(fields) => {
            let kind = fields
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if let (Some(Value::String(text)), "mrkdwn" | "markdown") = (fields.get("text"), kind) {
                texts.push(text.clone());
            }
            match kind {
                "user" | "usergroup" | "broadcast" => texts.push(format!("<!{kind}>")),
                _ => fields.values().for_each(|value| collect(value, texts)),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn sequences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('<') {
        let rest = &text[at..];
        if let Some(end) = rest.find('>')
            && (rest.starts_with("<@") || rest.starts_with("<!"))
            && !rest.starts_with("<!date")
        {
            found.push(rest[..=end].to_owned());
        }
    }
    found
}

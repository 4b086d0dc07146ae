//! Converts a Jupyter notebook to Markdown: its texts, and its code in fences.

use serde_json::Value;

/// # Errors
/// Fails with the reason, in words.
pub(super) fn of_ipynb(text: &str) -> Result<String, String> {
    let notebook: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no notebook: {error}"))?;
    let cells = notebook.get("cells").and_then(Value::as_array);
    let cells = cells.ok_or("it is no notebook of version 4 or later: it has no cells")?;
    let language = notebook.pointer("/metadata/kernelspec/language");
    let language = language.and_then(Value::as_str).unwrap_or_default();
    let mut markdown = String::new();
    for cell in cells {
        let source = source(cell.get("source").unwrap_or(&Value::Null));
        if source.trim().is_empty() {
            continue;
        }
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("markdown") => markdown.push_str(&format!("{source}\n\n")),
            Some("code") => markdown.push_str(&format!("```{language}\n{source}\n```\n\n")),
            Some(_) | None => {}
        }
    }
    Ok(markdown)
}

/// Returns a text, or joins a list of lines.
fn source(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

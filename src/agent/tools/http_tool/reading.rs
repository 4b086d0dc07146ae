//! Extracts the useful part of a response.

use indexmap::IndexMap;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::agent::findings;
use crate::agent::tools::outside::OutsideResponse;
use crate::extract::html;
use crate::knowledge::mapping::Pointer;

/// Maximum characters of a response's media type.
const LONGEST_KIND: usize = 60;
/// Columns of a page rendered as text.
const WIDTH: usize = 120;

/// The selection as written: one JSON pointer, or several with names.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum PickWritten {
    One(String),
    Named(IndexMap<String, String>),
}

/// The selected part of a JSON response.
#[derive(Debug)]
pub(super) enum Pick {
    All,
    One(Pointer),
    Named(Vec<(String, Pointer)>),
}

/// Parses the selection; everything if none is written.
///
/// # Errors
/// Fails when it is not a JSON pointer.
pub(super) fn pick(written: Option<PickWritten>) -> Result<Pick, String> {
    let pointer =
        |text: &str| Pointer::parse(text).map_err(|detail| format!("pick: {text:?} {detail}"));
    Ok(match written {
        None => Pick::All,
        Some(PickWritten::One(text)) => Pick::One(pointer(&text)?),
        Some(PickWritten::Named(all)) => {
            let all = all
                .iter()
                .map(|(name, text)| Ok((name.clone(), pointer(text)?)));
            Pick::Named(all.collect::<Result<_, String>>()?)
        }
    })
}

/// The media type of a response, in lower case and without its parameters.
pub(super) fn kind(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    // It is shown, and was written by somebody else.
    let is_fine = |c: &char| c.is_ascii_alphanumeric() || "/+-.".contains(*c);
    let kind: String = kind.chars().filter(is_fine).take(LONGEST_KIND).collect();
    kind.to_ascii_lowercase()
}

/// Returns the content of a response as lines.
///
/// # Errors
/// Fails when it cannot be read, or contains nothing of the selection.
pub(super) fn told(kind: &str, bytes: &[u8], pick: &Pick) -> Result<Vec<String>, String> {
    let is_json = kind.ends_with("/json") || kind.ends_with("+json");
    let is_text = kind.is_empty() || kind.starts_with("text/");
    if !is_json && !is_text {
        return Err(format!("the answer is {kind}, which is not read"));
    }
    let parsed = serde_json::from_slice::<Value>(bytes);
    let value = match (parsed, pick) {
        (Ok(value), _) if kind != "text/html" => value,
        (Err(error), _) if is_json => return Err(format!("the answer is no JSON: {error}")),
        (_, Pick::One(_) | Pick::Named(_)) => {
            return Err(format!("the answer is {kind}, and no JSON to pick from"));
        }
        (_, Pick::All) => return Ok(lines_of_text(kind, bytes)),
    };
    match pick {
        Pick::All => Ok(findings::json_lines(&value)),
        Pick::One(pointer) => match pointer.all(&value).as_slice() {
            [] => Err(format!("the answer has nothing at {}", pointer.as_str())),
            [one] => Ok(findings::json_lines(one)),
            many => Ok(many.iter().map(|it| findings::in_words(it)).collect()),
        },
        Pick::Named(all) => {
            let lines = all.iter().filter_map(|(name, pointer)| {
                let found: Vec<String> = pointer
                    .all(&value)
                    .into_iter()
                    .map(findings::in_words)
                    .collect();
                (!found.is_empty()).then(|| format!("{name}: {}", found.join(", ")))
            });
            match lines.collect::<Vec<_>>() {
                none if none.is_empty() => {
                    Err("the answer has nothing of what is picked".to_owned())
                }
                lines => Ok(lines),
            }
        }
    }
}

fn lines_of_text(kind: &str, bytes: &[u8]) -> Vec<String> {
    let page = (kind == "text/html").then(|| text_of_html(bytes)).flatten();
    let text = page.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned());
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// The text of a page; `None` if it cannot be read as HTML.
fn text_of_html(page: &[u8]) -> Option<String> {
    let dom = html::parse(page).ok()?;
    let config = html2text::config::plain().link_footnotes(false);
    let tree = config.dom_to_render_tree(&dom).ok()?;
    config.render_to_string(tree, WIDTH).ok()
}

/// The content of an error response, which often says what was wrong.
pub(super) fn refused(status: StatusCode, kind: &str, bytes: &[u8]) -> OutsideResponse {
    OutsideResponse {
        lines: told(kind, bytes, &Pick::All).unwrap_or_default(),
        error: Some(format!("it answers {status}")),
    }
}

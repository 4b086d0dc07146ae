//! How services deviate from OpenAI's, with their own error messages.

use serde_json::json;

use super::{ModelServerRequest, Reply};

/// What a service refuses.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "not every test binary needs each")]
pub enum Quirk {
    /// It refuses tools, with this status and text.
    NoTools(u16, &'static str),
    /// It refuses tools without a reason.
    FailsWithTools,
    /// It has no role `system`.
    NoSystemRole(u16, &'static str),
    /// Roles must alternate.
    Alternates(u16, &'static str),
    /// It does not stream.
    NoStreams(&'static str),
    /// It reports no token counts at the end of a stream.
    NoStreamOptions(&'static str),
    /// It accepts any JSON object as a format, but no JSON schema.
    OnlyJsonObjects,
    /// Prompt and answer together have at most so many tokens, one per word; the error does or does
    /// not give numbers.
    Context { tokens: u32, tells: bool },
}

impl Quirk {
    /// Returns the refusal of a request that this service does not support.
    pub(super) fn refuses(&self, request: &ModelServerRequest) -> Option<Reply> {
        let body = &request.body;
        let openai = |status, words: &str| Reply::refusal(status, "invalid_request_error", words);
        match self {
            Self::NoTools(status, words) => {
                (!request.tools().is_empty()).then(|| openai(*status, words))
            }
            Self::FailsWithTools => {
                (!request.tools().is_empty()).then(|| Reply::body(400, "Bad Request"))
            }
            Self::NoSystemRole(status, words) => {
                (!request.texts("system").is_empty()).then(|| openai(*status, words))
            }
            Self::Alternates(status, words) => {
                (!alternates(request)).then(|| openai(*status, words))
            }
            Self::NoStreams(words) => (body["stream"] == true).then(|| openai(400, words)),
            Self::NoStreamOptions(words) => {
                (!body["stream_options"].is_null()).then(|| openai(422, words))
            }
            Self::OnlyJsonObjects => {
                (body["response_format"]["type"] == "json_schema").then(|| {
                    openai(
                        400,
                        "'response_format.type' must be 'text' or 'json_object'",
                    )
                })
            }
            Self::Context { tokens, tells } => {
                let sent = words(request);
                let answer = body["max_tokens"].as_u64().unwrap_or_default();
                let all = u64::from(sent) + answer;
                (all > u64::from(*tokens)).then(|| {
                    let words = if *tells {
                        format!(
                            "This model's maximum context length is {tokens} tokens. However, you requested {all} \
                             tokens ({sent} in the messages, {answer} in the completion)."
                        )
                    } else {
                        "input length exceeds maximum context length".to_owned()
                    };
                    Reply::body(400, &json!({"error": {"message": words}}).to_string())
                })
            }
        }
    }

    pub(super) fn is_about_streams(&self) -> bool {
        matches!(self, Self::NoStreams(_))
    }
}

fn words(request: &ModelServerRequest) -> u32 {
    let messages = request.messages().iter();
    let texts = messages.filter_map(|message| message["content"].as_str());
    texts
        .map(|text| text.split_whitespace().count() as u32)
        .sum()
}

fn alternates(request: &ModelServerRequest) -> bool {
    let roles = request.messages().iter();
    let roles: Vec<&str> = roles
        .filter_map(|message| message["role"].as_str())
        .collect();
    let roles = roles.strip_prefix(&["system"]).unwrap_or(&roles);
    let expected = ["user", "assistant"].into_iter().cycle();
    roles
        .iter()
        .zip(expected)
        .all(|(role, expected)| *role == expected)
}

//! Interprets an error response of a service: from status and body to [`ModelError`]. Pure.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::capabilities::is_about_a_capability;
use super::context::Numbers;
use super::{ModelError, TimedOutWait, TooLong};

/// Maximum characters of a service's own message that are passed on.
const QUOTED: usize = 300;

/// Messages of services for a prompt that is too long; lower case.
const TOO_LONG: [&str; 33] = [
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "context limit",
    "maximum model length",
    "max_model_len",
    "input length exceeds",
    "prompt is too long",
    "prompt too long",
    "exceeds the maximum number of tokens",
    // TGI, xAI, GitHub, Moonshot, Qwen, Bedrock, Cohere
    "`max_new_tokens` must be <=",
    "maximum prompt length",
    "tokens_limit_reached",
    "model. max size:",
    "exceeded model token limit",
    "range of input length should be",
    "input is too long",
    "too many tokens:",
    // LM Studio, Bedrock
    "cannot truncate prompt with n_keep",
    "too many input tokens",
    "input tokens exceeds maximum",
    // Vertex AI, SiliconFlow
    "input token count is",
    "max_seq_len",
    // For embeddings: llama.cpp, text-embeddings-inference, SiliconFlow, vLLM, OpenAI, NVIDIA, Jina, Cohere's at Bedrock.
    "physical batch size",
    "`inputs` must have less than",
    "input must have less than",
    "maximum embedding input length",
    "maximum input length",
    "maximum allowed token size",
    "single text cannot exceed",
    "expected maxlength",
];

/// Messages of services for a request that has more tokens than may be sent in a minute; lower case. It never passes,
/// although it comes with the status of a rate limit.
const TOO_MUCH_AT_ONCE: [&str; 1] = ["request too large for"];

/// What a refusal with status 403 says if it is about the key; lower case.
const ABOUT_THE_KEY: [&str; 4] = ["key", "token", "auth", "permission"];

/// Messages of services for a used-up quota; lower case.
const NO_QUOTA: [&str; 13] = [
    "insufficient_quota",
    "exceeded your current quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    // Moonshot, LiteLLM, Anthropic, xAI, OpenRouter, Cloudflare, Alibaba
    "exceeded_current_quota",
    "budget_exceeded",
    "budget has been exceeded",
    "credit balance is too low",
    "any credits or licenses",
    "used all available credits",
    "key limit exceeded",
    "daily free allocation",
    "arrearage",
];

/// Messages of services for a wrong key that come with status 400: Google's, and xAI's, also in the form of an address;
/// lower case.
const WRONG_KEY: [&str; 3] = [
    "api key not valid",
    "incorrect api key",
    "incorrect%20api%20key",
];

/// Messages of services for an unknown model that come with status 400; lower case.
const UNKNOWN_MODEL: [&str; 7] = [
    "does not exist",
    "invalid model",
    "model not found",
    // OpenRouter, DeepSeek, Bedrock, Cloudflare
    "not a valid model",
    "model not exist",
    "model identifier is invalid",
    "no such model",
];

/// Messages of services for a call that the model wrote wrongly, such as Groq's; lower case. Those of llama.cpp quote
/// what the model wrote.
const WRONG_CALL: [&str; 6] = [
    "tool call validation failed",
    "attempted to call tool",
    "failed to call a function",
    "tool_use_failed",
    "failed to parse input",
    "failed to parse tool call",
];

/// Whether a refusal is about what the model wrote, and not about what it was asked.
pub(super) fn is_about_a_wrong_call(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    WRONG_CALL.iter().any(|words| refusal.contains(words))
}

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceErrorResponse {
    pub(super) status: u16,
    /// `code` and `type`, whichever there are.
    tags: String,
    message: String,
    /// The message is the service's own, and not a page of whatever is at the address.
    is_told: bool,
    /// The pause that the body asks for.
    pub(super) pause: Option<Duration>,
}

impl ServiceErrorResponse {
    /// Parses OpenAI's error format, those of its imitators, and anything else as text.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(body) => Self::from_json(status, &body),
            Err(_) => Self {
                status,
                tags: String::new(),
                message: String::from_utf8_lossy(body).trim().to_owned(),
                is_told: false,
                pause: None,
            },
        }
    }

    /// Accepts `{"error": {message, type, code}}`, `{"error": "…"}`, `{"errors": [{message, code}]}`, `{message, type, code}`,
    /// `{"detail": …}` or the first of a list of those.
    pub(super) fn from_json(status: u16, body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let error = body
            .get("error")
            .filter(|error| !error.is_null())
            // Cloudflare
            .or_else(|| body["errors"].get(0))
            .unwrap_or(body);
        let word = |key: &str| match error.get(key) {
            Some(Value::String(word)) => word.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Null) | None => {
                String::new()
            }
        };
        let mut message = [error.as_str().unwrap_or_default(), &word("message")].concat();
        // llama.cpp has the numbers in separate fields.
        for key in ["n_ctx", "n_prompt_tokens"] {
            let number = word(key);
            if !number.is_empty() {
                message = format!("{message} {key}: {number}");
            }
        }
        // OpenRouter's own message only says that a provider failed.
        if let Some(raw) = error["metadata"]["raw"].as_str() {
            message = format!("{message}: {raw}");
        }
        Self {
            status,
            tags: [word("code"), word("type")].join(" "),
            is_told: !message.is_empty(),
            message: if message.is_empty() {
                error.to_string()
            } else {
                message
            },
            pause: told_pause(error),
        }
    }

    /// Whether the same attempt may succeed after a pause.
    pub(super) fn is_worth_a_retry(&self) -> bool {
        !self.is_too_long()
            && match self.status {
                500 if is_about_a_wrong_call(&self.message) => true,
                500 if is_about_a_capability(&self.message) => false,
                // Ollama, for a text that its model cannot embed.
                500 if self.says(&["unsupported value: nan"]) => false,
                429 => !self.is_out_of_quota(),
                501 | 505 => false,
                status => status >= 500,
            }
    }

    pub(super) fn into_error(self, model: &str) -> ModelError {
        if self.is_too_long() {
            return ModelError::ContextTooLong(TooLong {
                numbers: Numbers::from_refusal(&self.message),
                room: None,
            });
        }
        if self.is_out_of_quota() {
            return ModelError::QuotaExhausted;
        }
        if self.is_unknown_model() {
            return ModelError::UnknownModel {
                model: model.to_owned(),
            };
        }
        match self.status {
            401 => ModelError::Unauthorized,
            400 if self.says(&WRONG_KEY) => ModelError::Unauthorized,
            // A region that is not served, or a message that was flagged.
            403 if self.is_told && !self.says(&ABOUT_THE_KEY) => ModelError::Refused(self.quoted()),
            403 => ModelError::Unauthorized,
            404 if !self.is_told || self.says(&["not found", "invalid url"]) => {
                ModelError::Refused(
                    "nothing at that address (HTTP 404); check OPENAI_BASE_URL".to_owned(),
                )
            }
            408 | 504 => ModelError::TimedOut(TimedOutWait::GaveUp),
            429 => ModelError::RateLimited,
            // TGI, which failed while it generated
            424 => ModelError::Failed(self.quoted()),
            500.. => ModelError::Failed(self.quoted()),
            _ => ModelError::Refused(self.quoted()),
        }
    }

    fn says(&self, one_of: &[&str]) -> bool {
        let said = format!("{} {}", self.tags, self.message).to_lowercase();
        one_of.iter().any(|words| said.contains(words))
    }

    /// With status 429, most of the words are about tokens per minute.
    fn is_too_long(&self) -> bool {
        (self.status != 429 && self.says(&TOO_LONG))
            || (matches!(self.status, 413 | 429) && self.says(&TOO_MUCH_AT_ONCE))
    }

    fn is_out_of_quota(&self) -> bool {
        self.status == 402
            || (matches!(self.status, 400 | 403 | 429) && self.says(&NO_QUOTA) && !self.passes())
    }

    /// Whether a service that speaks of a quota means the one of a minute or a day: Google's words are the same for both, but
    /// it says when to ask again. Of a model that is not for free it says that, too, with a limit of 0.
    fn passes(&self) -> bool {
        (self.pause.is_some() || self.says(&["please retry in"])) && !self.says(&["limit: 0,"])
    }

    fn is_unknown_model(&self) -> bool {
        self.says(&["model_not_found"])
            // Azure names deployments.
            || (self.status == 404 && self.says(&["model", "deploymentnotfound"]))
            || (self.status == 400 && self.says(&["model"]) && self.says(&UNKNOWN_MODEL))
    }

    /// The status and the beginning of the message, on one line.
    fn quoted(&self) -> String {
        let words: String = self
            .message
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(QUOTED)
            .collect();
        format!("HTTP {}: {words}", self.status)
    }
}

/// The pause in the details of Google's errors, such as `"retryDelay": "35s"`.
fn told_pause(error: &Value) -> Option<Duration> {
    let details = error["details"].as_array()?.iter();
    let mut delays = details.filter_map(|detail| detail["retryDelay"].as_str());
    let seconds = delays.next()?.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The pause that a service asks for: seconds, possibly fractional, or a date. A date in the past means no pause.
pub(super) fn retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // Without the weekday, which is irrelevant and sometimes wrong.
    let date = value.split_once(',').map_or(value, |(_, date)| date);
    let date = DateTime::parse_from_rfc2822(date.trim()).ok()?;
    Some(date.signed_duration_since(now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = DateTime::parse_from_rfc3339("2026-11-21T10:00:00Z")
            .unwrap()
            .to_utc();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let table = [
            ("0", seconds(0)),
            (" 17 ", seconds(17)),
            ("1.5", Some(Duration::from_millis(1500))),
            ("Sat, 21 Nov 2026 10:00:30 GMT", seconds(30)),
            ("Mon, 21 Nov 2026 10:00:30 GMT", seconds(30)),
            ("Sat, 21 Nov 2026 09:00:00 GMT", seconds(0)),
            ("-1", None),
            ("NaN", None),
            ("soon", None),
            ("", None),
        ];
        for (value, expected) in table {
            assert_eq!(retry_after(value, now), expected, "{value:?}");
        }
    }

    #[test]
    fn a_pause_stands_in_the_details_of_an_error_too() {
        for (details, pause) in [
            (
                r#"[{"@type":"Help","links":[]},{"@type":"RetryInfo","retryDelay":"35s"}]"#,
                Some(Duration::from_secs(35)),
            ),
            (
                r#"[{"retryDelay":"1.5s"}]"#,
                Some(Duration::from_millis(1500)),
            ),
            (r#"[{"retryDelay":"soon"}]"#, None),
            (r#"[{"retryDelay":"-1s"}]"#, None),
            ("null", None),
        ] {
            let body = format!(r#"[{{"error":{{"code":429,"message":"m","details":{details}}}}}]"#);
            let refusal = ServiceErrorResponse::read(429, body.as_bytes());
            assert_eq!(refusal.pause, pause, "{details}");
        }
    }

    #[test]
    fn reads_the_forms_errors_come_in() {
        let table: [(u16, &str, &str); 60] = [
            (
                400,
                r#"{"error":{"message":"m","type":null,"code":"context_length_exceeded"}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"object":"error","message":"The decoder prompt (length 9) is longer than the maximum model length of 8","type":"BadRequestError","code":400}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"error":"prompt is too long: 9 tokens > 8 maximum"}"#,
                "ContextTooLong",
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"input is too large to process. increase the physical batch size","type":"server_error"}}"#,
                "ContextTooLong",
            ),
            (
                413,
                r#"{"message":"Input validation error: `inputs` must have less than 512 tokens. Given: 597","code":413}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum embedding input length is 512 tokens. However, you requested 700 tokens in the input for embedding generation.","code":400}"#,
                "ContextTooLong",
            ),
            // OpenAI
            (
                400,
                r#"{"error":{"message":"Invalid 'input[0]': maximum input length is 8192 tokens.","type":"invalid_request_error","param":null,"code":null}}"#,
                "ContextTooLong",
            ),
            // NVIDIA NIM
            (
                400,
                r#"{"object":"error","message":"Input length 9000 exceeds maximum allowed token size 512","detail":{},"type":"invalid_request_error"}"#,
                "ContextTooLong",
            ),
            // Jina
            (
                400,
                r#"{"detail":"Single text cannot exceed 8192 tokens. 9237 tokens given."}"#,
                "ContextTooLong",
            ),
            // SiliconFlow, for embeddings and in chat
            (
                413,
                r#"{"code":20042,"message":"input must have less than 512 tokens","data":null}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"code":20015,"message":"length of prompt_tokens (68957) must be less than max_seq_len (65536).","data":null}"#,
                "ContextTooLong",
            ),
            // Cohere's models at Bedrock, through a proxy
            (
                400,
                r#"{"error":{"message":"BedrockException - Malformed input request: #/texts/0: expected maxLength: 2048, actual: 2459, please reformat your input and try again."}}"#,
                "ContextTooLong",
            ),
            // Vertex AI
            (
                400,
                r#"[{"error":{"code":400,"message":"Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}]"#,
                "ContextTooLong",
            ),
            (413, "Request Entity Too Large", "Refused"),
            (
                422,
                r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1893 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
                "ContextTooLong",
            ),
            (
                413,
                r#"{"error":{"message":"Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
                "ContextTooLong",
            ),
            (
                429,
                r#"{"error":{"message":"Request too large for gpt-4o in organization o on tokens per min (TPM): Limit 30000, Requested 35000.","type":"tokens","code":"rate_limit_exceeded"}}"#,
                "ContextTooLong",
            ),
            (
                429,
                r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 3000.","type":"tokens","code":"rate_limit_exceeded"}}"#,
                "RateLimited",
            ),
            (
                413,
                r#"{"error":{"message":"Request body too large for gpt-4o-mini model. Max size: 8000 tokens.","code":"tokens_limit_reached"}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]","code":"invalid_parameter_error"}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"error":{"message":"BedrockException - Input is too long for requested model."}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."}"#,
                "ContextTooLong",
            ),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
                "Refused(\"HTTP 404: No endpoints found that support tool use.\")",
            ),
            (
                404,
                r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#,
                "Refused(\"nothing at that address",
            ),
            (
                404,
                r#"{"detail":"Not Found"}"#,
                "Refused(\"nothing at that address",
            ),
            (
                403,
                r#"{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged for \"harassment\"."}}"#,
                "Refused(\"HTTP 403: Your chosen model requires",
            ),
            (
                403,
                r#"{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory","type":"request_forbidden"}}"#,
                "Refused(\"HTTP 403: Country",
            ),
            (
                403,
                r#"{"error":{"message":"Your API key may not use this model","type":"permission_error"}}"#,
                "Unauthorized",
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"Failed to parse input at pos 9: the context","type":"server_error"}}"#,
                "Failed",
            ),
            (
                400,
                r#"{"error":{"message":"The model `x` does not exist","code":null}}"#,
                "UnknownModel",
            ),
            (
                403,
                r#"{"error":{"message":"no access","code":"model_not_found"}}"#,
                "UnknownModel",
            ),
            (402, "", "QuotaExhausted"),
            (
                403,
                r#"{"error":{"message":"x","type":"insufficient_quota"}}"#,
                "QuotaExhausted",
            ),
            (401, "", "Unauthorized"),
            (408, "", "TimedOut"),
            (
                429,
                r#"{"error":{"message":"tokens per min; reduce the context length"}}"#,
                "RateLimited",
            ),
            (422, r#"{"detail":[{"msg":"m"}]}"#, "Refused"),
            (
                400,
                r#"{"error":"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"message":"Too many input tokens. Max input tokens: 8192, request input token count: 14735"}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"message\":\"maximum context length is 8 tokens\"}","provider_name":"p"}}}"#,
                "ContextTooLong",
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
                "Unauthorized",
            ),
            (
                400,
                r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: ab***yz. You can obtain an API key from https://console.x.ai."}"#,
                "Unauthorized",
            ),
            (
                403,
                r#"{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits or licenses yet."}"#,
                "QuotaExhausted",
            ),
            (
                403,
                r#"{"error":{"message":"Key limit exceeded (total limit).","code":403}}"#,
                "QuotaExhausted",
            ),
            (
                400,
                r#"{"error":{"message":"Budget has been exceeded! Current cost: 1.5, Max budget: 1.0","type":"budget_exceeded","code":"400"}}"#,
                "QuotaExhausted",
            ),
            (
                429,
                r#"{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}"#,
                "QuotaExhausted",
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: requests, limit: 0, model: m\nPlease retry in 35.9s."}}]"#,
                "QuotaExhausted",
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: requests, limit: 10, model: m\nPlease retry in 35.9s."}}]"#,
                "RateLimited",
            ),
            (
                400,
                r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}"#,
                "UnknownModel",
            ),
            (
                400,
                r#"{"error":{"message":"x is not a valid model ID","code":400}}"#,
                "UnknownModel",
            ),
            (
                400,
                r#"{"message":"The provided model identifier is invalid."}"#,
                "UnknownModel",
            ),
            (
                404,
                r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#,
                "UnknownModel",
            ),
            (
                424,
                r#"{"error":"Request failed during generation: Server error","error_type":"generation"}"#,
                "Failed",
            ),
            (
                403,
                r#"{"success":false,"errors":[{"code":5018,"message":"not for this account"}],"result":null}"#,
                "Refused(\"HTTP 403: not for this account",
            ),
            (302, "", "Refused"),
            (599, "\u{0}", "Failed"),
        ];
        for (status, body, name) in table {
            let error = ServiceErrorResponse::read(status, body.as_bytes()).into_error("x");
            assert!(
                format!("{error:?}").starts_with(name),
                "{status} {body}: {error:?}"
            );
        }
    }

    #[test]
    fn a_failure_that_quotes_the_model_may_pass() {
        for (message, may_pass) in [
            (
                "Failed to parse input at pos 395: [search(query='current temperature in Mexico City')]",
                true,
            ),
            ("boom", true),
            ("Provider returned an error while streaming", false),
            ("tools param requires --jinja flag", false),
        ] {
            let refusal = ServiceErrorResponse::read(500, message.as_bytes());
            assert_eq!(refusal.is_worth_a_retry(), may_pass, "{message}");
        }
    }

    #[test]
    fn quotes_little_and_on_one_line() {
        let long = format!("a\nb {}", "é".repeat(1000));
        let error = ServiceErrorResponse::read(500, long.as_bytes())
            .into_error("x")
            .to_string();
        assert!(
            error.chars().count() < 400 && !error.contains('\n'),
            "{error}"
        );
    }
}

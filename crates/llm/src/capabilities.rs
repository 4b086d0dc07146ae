//! The capabilities of a service with a model, as far as they are known, and what a refusal reveals about them.
//!
//! Everything is assumed to work until the service refuses it. [`super::capability_store`] keeps the findings.

use serde::{Deserialize, Serialize};

/// A smaller context was misread.
const LEAST_PLAUSIBLE_CONTEXT: u32 = 256;

/// How structured data is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataForm {
    /// By a JSON schema.
    #[default]
    Schema,
    /// As any JSON object.
    Object,
    /// By words in the prompt only.
    Words,
}

/// How tools are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolForm {
    /// In the request, by the API.
    #[default]
    Native,
    /// Described in the prompt, and called in text.
    Text,
}

/// The capabilities of a service with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// Supports streaming.
    pub streams: bool,
    /// Supports streaming together with tools.
    pub streams_with_tools: bool,
    /// Reports token counts at the end of a stream.
    pub stream_options: bool,
    /// The parameter for the answer's limit is `max_tokens`, otherwise `max_completion_tokens`: OpenAI's reasoning
    /// models refuse the former, and many other services know only the former.
    pub max_tokens: bool,
    /// Accepts a temperature. Reasoning models accept only their own.
    pub temperature: bool,
    /// Accepts `top_p`. Some models accept it only without a temperature.
    pub top_p: bool,
    pub seed: bool,
    /// Accepts stop words. Reasoning models do not.
    pub stop: bool,
    pub data: DataForm,
    pub tools: ToolForm,
    /// It did not call a tool when it was asked to.
    pub too_weak_for_tools: bool,
    /// Supports the role `system`.
    pub system_role: bool,
    /// Requires that messages of user and assistant alternate.
    pub alternates: bool,
    /// The prompt opens the model's reasoning, so that only its end is marked.
    pub reasons_at_once: bool,
    /// Context size in tokens, prompt and answer together; `None` if unknown.
    pub context: Option<u32>,
    /// Maximum tokens of an answer; `None` if unknown.
    pub longest_answer: Option<u32>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            streams: true,
            streams_with_tools: true,
            stream_options: true,
            max_tokens: true,
            temperature: true,
            top_p: true,
            seed: true,
            stop: true,
            data: DataForm::Schema,
            tools: ToolForm::Native,
            too_weak_for_tools: false,
            system_role: true,
            alternates: false,
            reasons_at_once: false,
            context: None,
            longest_answer: None,
        }
    }
}

/// The features of a request that a service may refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Uses {
    pub(super) tools: bool,
    pub(super) data: bool,
    pub(super) temperature: bool,
    pub(super) top_p: bool,
    pub(super) seed: bool,
    pub(super) stop: bool,
}

impl Capabilities {
    /// The capabilities without the feature that a refusal is about; `None` if it is about nothing that can be requested
    /// differently.
    pub(super) fn without_refused_feature(&self, refusal: &str, uses: Uses) -> Option<Self> {
        // "upstream" occurs in errors that are not about streaming.
        let refusal = refusal.to_lowercase().replace("upstream", "");
        let says = |words: &[&str]| words.iter().any(|word| refusal.contains(word));
        let mut next = self.clone();
        if self.stream_options
            && self.streams
            && says(&["stream_options", "include_usage", "stream options"])
        {
            next.stream_options = false;
        } else if self.longest_answer.is_none()
            && (says(TOO_LONG_ANSWER) || says(LONGEST_ANSWER))
            && let Some(most) = longest_answer_in(&refusal)
        {
            next.longest_answer = Some(most);
        } else if self.max_tokens && says(&["max_completion_tokens"]) {
            next.max_tokens = false;
        } else if uses.data
            && self.data != DataForm::Words
            && says(&[
                "response_format",
                "json_schema",
                "json_object",
                "guided",
                "grammar",
            ])
        {
            next.data = match self.data {
                DataForm::Schema if says(&["json_object", "json_schema", "type"]) => {
                    DataForm::Object
                }
                DataForm::Schema | DataForm::Object | DataForm::Words => DataForm::Words,
            };
        } else if !self.alternates && says(&["alternate"]) {
            next.alternates = true;
        } else if self.system_role && says(SYSTEM_ROLE) {
            next.system_role = false;
        } else if uses.tools && self.streams_with_tools && says(&["tools with stream"]) {
            next.streams_with_tools = false;
        } else if uses.tools && self.tools == ToolForm::Native && says(TOOLS) {
            next.tools = ToolForm::Text;
        } else if uses.top_p && self.top_p && says(&["top_p", "topp"]) {
            // Before the temperature: if only one of the two is accepted, that one stays.
            next.top_p = false;
        } else if uses.temperature && self.temperature && says(&["temperature"]) {
            next.temperature = false;
        } else if uses.seed && self.seed && says(&["seed"]) {
            next.seed = false;
        } else if uses.stop && self.stop && says(STOPS) {
            next.stop = false;
        } else if self.streams && says(STREAMS) {
            next.streams = false;
        } else if self.alternates && self.system_role && says(&["alternate"]) {
            next.system_role = false;
        } else {
            return None;
        }
        Some(next)
    }

    /// Without any feature that an unspecific refusal may be about; `None` if none was used.
    pub(super) fn without_suspect_features(&self, uses: Uses) -> Option<Self> {
        if uses == Uses::default() {
            return None;
        }
        let plain = Self {
            stream_options: false,
            temperature: self.temperature && !uses.temperature,
            top_p: self.top_p && !uses.top_p,
            seed: self.seed && !uses.seed,
            stop: self.stop && !uses.stop,
            data: if uses.data {
                DataForm::Words
            } else {
                self.data
            },
            tools: if uses.tools {
                ToolForm::Text
            } else {
                self.tools
            },
            ..self.clone()
        };
        (plain != *self).then_some(plain)
    }

    /// With what `after` changed of `before`.
    pub(super) fn with_changes(&self, before: &Self, after: &Self) -> Self {
        fn pick<T: Copy + PartialEq>(own: T, before: T, after: T) -> T {
            if before == after { own } else { after }
        }
        macro_rules! picked {
            ($($field:ident),*) => {
                Self { $($field: pick(self.$field, before.$field, after.$field)),* }
            };
        }
        picked!(
            streams,
            streams_with_tools,
            stream_options,
            max_tokens,
            temperature,
            top_p,
            seed,
            stop,
            data,
            tools,
            too_weak_for_tools,
            system_role,
            alternates,
            reasons_at_once,
            context,
            longest_answer
        )
    }

    /// With a known context size.
    #[must_use]
    pub fn with_context(&self, tokens: u32) -> Self {
        Self {
            context: Some(tokens.max(LEAST_PLAUSIBLE_CONTEXT)),
            ..self.clone()
        }
    }
}

/// Words of services about the role `system`.
const SYSTEM_ROLE: &[&str] = &[
    "system role",
    "system message",
    "role: system",
    "role 'system'",
    "role \"system\"",
    "role `system`",
    "system prompt",
];

/// Words of services about tools: `does not support tools` (Ollama), `requires --enable-auto-tool-choice` (vLLM), `tools
/// param requires --jinja flag` (llama.cpp), `Tool error` (TGI), `function calling is not …`.
const TOOLS: &[&str] = &["tool", "function call", "functions"];

/// Words of services about an answer that may not be so long. The last ones are Anthropic's.
const TOO_LONG_ANSWER: &[&str] = &[
    "max_tokens is too large",
    "completion tokens, whereas",
    "maximum allowed number of output tokens",
];

/// The same, with the longest answer right behind: `DeepSeek`, Qwen, Bedrock, Groq.
const LONGEST_ANSWER: &[&str] = &[
    "range of max_tokens is [1, ",
    "range of max_tokens should be [1, ",
    "maximum tokens you requested exceeds the model limit of ",
    "`max_tokens` must be less than or equal to `",
];

/// Words of services about streaming.
const STREAMS: &[&str] = &[
    "streaming",
    "stream is",
    "stream=true",
    "\"stream\"",
    "'stream'",
    "`stream`",
    "stream must",
];

/// Words of services about stop words: "stop" alone is in too many other sentences.
const STOPS: &[&str] = &[
    "'stop'",
    "\"stop\"",
    "`stop`",
    ": stop",
    "stop sequence",
    "stop_sequence",
    "stop parameter",
    "stop is not",
];

/// Whether a refusal is about a feature of the request, so that the same request would be refused again.
pub(super) fn is_about_a_capability(refusal: &str) -> bool {
    let uses = Uses {
        tools: true,
        data: true,
        temperature: true,
        top_p: true,
        seed: true,
        stop: true,
    };
    Capabilities::default()
        .without_refused_feature(refusal, uses)
        .is_some()
}

/// The longest answer by a refusal of a longer one, which may name the refused length before it, behind it, or both.
/// Smaller numbers are in models' names.
fn longest_answer_in(refusal: &str) -> Option<u32> {
    let numbers = |text: &str| {
        let parts = text.split(|c: char| !c.is_ascii_digit());
        let numbers = parts.filter_map(|number| number.parse::<u32>().ok());
        numbers.collect::<Vec<_>>()
    };
    for words in LONGEST_ANSWER.iter().chain(&["at most "]) {
        if let Some((_, most)) = refusal.split_once(words)
            && most.starts_with(|c: char| c.is_ascii_digit())
        {
            return numbers(most).first().copied();
        }
    }
    let all = numbers(refusal);
    let refused = all.iter().max()?;
    all.iter().filter(|number| *number < refused).max().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Uses = Uses {
        tools: true,
        data: true,
        temperature: true,
        top_p: true,
        seed: true,
        stop: true,
    };

    /// The capabilities after these refusals, one after the other.
    fn after(refusals: &[&str]) -> Capabilities {
        let all = Capabilities::default();
        refusals.iter().fold(all, |capabilities, refusal| {
            let next = capabilities.without_refused_feature(refusal, ALL);
            next.unwrap_or_else(|| panic!("{refusal}"))
        })
    }

    #[test]
    fn each_services_words_are_understood() {
        let text = ToolForm::Text;
        for refusal in [
            "HTTP 400: registry.ollama.ai/library/gemma:2b does not support tools",
            "HTTP 400: \"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            "HTTP 500: tools param requires --jinja flag",
            "HTTP 422: Tool error: No grammar",
            "HTTP 400: Unrecognized request argument supplied: tools",
        ] {
            let uses = Uses { data: false, ..ALL };
            let next = Capabilities::default()
                .without_refused_feature(refusal, uses)
                .unwrap();
            assert_eq!(next.tools, text, "{refusal}");
        }
        assert!(!after(&["Cannot use tools with stream"]).streams_with_tools);
        assert!(!after(&["Streaming is not supported"]).streams);
        assert!(!after(&["Extra inputs are not permitted: stream_options"]).stream_options);
        assert!(!after(&["System role not supported"]).system_role);
        let roles =
            "After the optional system message, conversation roles must alternate user/assistant";
        assert!(after(&[roles]).alternates && after(&[roles]).system_role);
        assert!(!after(&[roles, roles]).system_role);
        assert!(!after(&["Use 'max_completion_tokens' instead."]).max_tokens);
        assert!(!after(&["temperature does not support 0.2 with this model"]).temperature);
        let data = "'response_format.type' must be 'json_object' or 'text'";
        assert_eq!(after(&[data]).data, DataForm::Object);
        assert_eq!(after(&[data, data]).data, DataForm::Words);
        let large =
            "max_tokens is too large: 100000. This model supports at most 4096 completion tokens";
        assert_eq!(after(&[large]).longest_answer, Some(4096));
        for (large, longest) in [
            (
                "max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.",
                Some(4096),
            ),
            (
                "max_tokens is too large: 8192. gpt-4 writes up to 4096 tokens.",
                Some(4096),
            ),
            ("max_tokens is too large: 8192", None),
            (
                "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
                Some(8192),
            ),
            (
                "InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
                Some(8192),
            ),
            (
                "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
                Some(4096),
            ),
            (
                "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
                Some(8192),
            ),
            (
                "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
                Some(64_000),
            ),
        ] {
            let next = Capabilities::default().without_refused_feature(large, Uses::default());
            assert_eq!(next.and_then(|it| it.longest_answer), longest, "{large}");
        }
    }

    #[test]
    fn only_what_was_changed_is_taken_over() {
        let before = Capabilities::default();
        let after = Capabilities {
            tools: ToolForm::Text,
            ..before
        };
        let meanwhile = before.with_context(4_096);
        let both = Capabilities {
            tools: ToolForm::Text,
            ..meanwhile
        };
        assert_eq!(meanwhile.with_changes(&before, &after), both);
    }

    #[test]
    fn other_words_change_nothing() {
        for refusal in ["upstream is down", "internal error", "", "overloaded"] {
            assert_eq!(
                Capabilities::default().without_refused_feature(refusal, ALL),
                None
            );
            assert!(!is_about_a_capability(refusal));
        }
        let nothing = Uses::default();
        let all = Capabilities::default();
        assert_eq!(
            all.without_refused_feature("no tools, please", nothing),
            None
        );
        let plain = all.without_suspect_features(ALL).unwrap();
        assert_eq!(
            plain.without_suspect_features(ALL),
            None,
            "there is an end to it"
        );
    }
}

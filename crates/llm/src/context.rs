//! The context size of a model: from the numbers in a refusal, and from what services report about a model. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Patterns in refusals for the context size.
static LIMITS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        // OpenAI, vLLM
        r"maximum context length (?:is|of) (\d+)",
        // vLLM
        r"maximum model length of (\d+)",
        // llama.cpp
        r#"n_ctx"?\s*[:=]?\s*(\d+)"#,
        r"context size[^0-9]{0,30}\((\d+) tokens\)",
        // Anthropic
        r"> (\d+) maximum",
        // Google
        r"maximum number of tokens allowed[^0-9]{0,20}(\d+)",
        // TGI
        r"must be <= (\d+)",
        r"must have less than (\d+)",
        // Embeddings: vLLM and OpenAI, llama.cpp, NVIDIA, Jina
        r"maximum (?:embedding )?input length is (\d+)",
        r"current batch size: (\d+)",
        r"maximum allowed token size (\d+)",
        r"text cannot exceed (\d+) tokens",
        // xAI, Qwen, Moonshot, Cohere, GitHub
        r"maximum prompt length is (\d+)",
        r"input length should be \[\d+, (\d+)\]",
        r"model token limit: (\d+)",
        r"prompt cannot exceed (\d+)",
        r"max size: (\d+) tokens",
        // Groq, OpenAI: tokens per minute
        r"limit (\d+), requested",
        // Mistral
        r"(\d+) maximum context length",
        // LM Studio, Bedrock
        r"n_ctx \((\d+)\)",
        r"max input tokens: (\d+)",
        // Vertex AI, SiliconFlow
        r"only supports up to (\d+)",
        r"max_seq_len \((\d+)\)",
        // Others
        r"context (?:length|window|size|limit)[^0-9]{0,30}(\d+)",
        r"max_model_len[^0-9]{0,10}(\d+)",
    ])
});

/// Patterns in refusals for the size of the prompt.
static SENT: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        r"\((\d+) in the messages",
        r"\((\d+) in your prompt",
        r"(\d+) input tokens",
        r"requested (\d+) tokens in the input",
        r"input \((\d+) tokens\)",
        r"resulted in (\d+) tokens",
        r"prompt is too long: (\d+)",
        r"input token count[^0-9]{0,10}(\d+)",
        r#"n_prompt_tokens"?\s*[:=]?\s*(\d+)"#,
        r"given: (\d+)",
        r"\(length (\d+)\)",
        r"request \((\d+) tokens\)",
        r"request contains (\d+) tokens",
        r"prompt contains (\d+) tokens",
        r"limit \d+, requested (\d+)",
        r"cannot exceed \d+ - received (\d+)",
        // LM Studio, OpenRouter, SGLang
        r"n_keep:? \(?(\d+)",
        r"\((\d+) of text input",
        r"(\d+) tokens from the input messages",
        // NVIDIA, Jina, SiliconFlow
        r"input length (\d+) exceeds",
        r"(\d+) tokens given",
        r"prompt_tokens \((\d+)\)",
    ])
});

fn patterns(all: &[&str]) -> Vec<Regex> {
    let all = all.iter().filter_map(|one| Regex::new(one).ok());
    all.collect()
}

/// The numbers in a refusal of a prompt that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Maximum tokens of prompt and answer together.
    pub limit: Option<u32>,
    /// Tokens of the prompt.
    pub sent: Option<u32>,
}

impl Numbers {
    pub(super) fn from_refusal(refusal: &str) -> Self {
        let refusal = refusal.to_lowercase();
        Self {
            limit: first(&LIMITS, &refusal),
            sent: first(&SENT, &refusal),
        }
    }
}

fn first(patterns: &[Regex], text: &str) -> Option<u32> {
    patterns.iter().find_map(|pattern| {
        let found = pattern.captures(text)?;
        found.get(1)?.as_str().parse().ok()
    })
}

/// The size for the next prompt, in estimated tokens, after a prompt of `estimate` tokens was refused: what fits by the
/// numbers in the refusal, and always less than was sent.
pub(super) fn next_prompt_size(numbers: Numbers, estimate: u32, answer: u32) -> u32 {
    let smaller = estimate / 3 * 2;
    let Some(limit) = numbers.limit else {
        return smaller;
    };
    let fits = limit.saturating_sub(answer.min(limit / 4));
    let fits = match numbers.sent {
        // Our estimate differs from the model's count.
        Some(sent) if sent > 0 => {
            let fits = u64::from(fits) * u64::from(estimate) / u64::from(sent);
            u32::try_from(fits).unwrap_or(u32::MAX)
        }
        Some(_) | None => fits,
    };
    // Ten percent less, in case the estimate is too low.
    (fits / 10 * 9).min(smaller)
}

/// The context size in a service's list of models: `max_model_len` (vLLM), `meta.n_ctx` (llama.cpp), `context_length`
/// (Together), `context_window` (Groq), `max_context_length` (Mistral).
pub(super) fn of_listed(model: &Value) -> Option<u32> {
    let keys = [
        "max_model_len",
        "loaded_context_length",
        "context_length",
        "context_window",
        "max_context_length",
        "max_input_tokens",
    ];
    let told = keys.iter().find_map(|key| model[*key].as_u64());
    let told = told.or_else(|| model["meta"]["n_ctx"].as_u64());
    u32::try_from(told?).ok()
}

/// The context size that llama.cpp reports at `/props`.
pub(super) fn of_props(props: &Value) -> Option<u32> {
    let told = props["default_generation_settings"]["n_ctx"].as_u64();
    u32::try_from(told?).ok()
}

/// The context size with which Ollama runs a model, from `/api/ps`, or else from the parameters at `/api/show`.
pub(super) fn of_ollama(running: &Value, shown: &Value, model: &str) -> Option<u32> {
    let models = running["models"].as_array().into_iter().flatten();
    let is_it = |one: &&Value| {
        let name = one["name"].as_str().unwrap_or_default();
        name == model || name.strip_suffix(":latest") == Some(model)
    };
    let runs = models
        .filter(is_it)
        .find_map(|one| one["context_length"].as_u64());
    let set = shown["parameters"].as_str().and_then(|parameters| {
        let mut lines = parameters.lines();
        lines.find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
    });
    u32::try_from(runs.or(set)?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_numbers_of_each_service_are_read() {
        let table: [(&str, Option<u32>, Option<u32>); 29] = [
            (
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
                Some(4096),
                Some(4000),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 2048 tokens and your request has 1500 input tokens",
                Some(2048),
                Some(1500),
            ),
            (
                "the request exceeds the available context size (4096 tokens), try increasing it",
                Some(4096),
                None,
            ),
            (
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1893 `inputs` tokens and 512 `max_new_tokens`",
                Some(2048),
                Some(1893),
            ),
            (
                "prompt is too long: 210000 tokens > 200000 maximum",
                Some(200_000),
                Some(210_000),
            ),
            (
                "The decoder prompt (length 9) is longer than the maximum model length of 8",
                Some(8),
                Some(9),
            ),
            (
                "request (5000 tokens) exceeds the available context size; n_prompt_tokens: 5000, n_ctx: 4096",
                Some(4096),
                Some(5000),
            ),
            (
                "This model's maximum context length is 512 tokens. However, you requested 1451 tokens in the input for embedding generation. Please reduce the length of the input.",
                Some(512),
                Some(1451),
            ),
            (
                "This model's maximum context length is 8192 tokens, however you requested 9000 tokens (9000 in your prompt; 0 for the completion).",
                Some(8192),
                Some(9000),
            ),
            (
                "input (3926 tokens) is too large to process. increase the physical batch size (current batch size: 2048)",
                Some(2048),
                Some(3926),
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                Some(131_072),
                Some(537_812),
            ),
            (
                "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size",
                Some(6_000),
                Some(9_000),
            ),
            (
                "Your request exceeded model token limit: 8192",
                Some(8_192),
                None,
            ),
            (
                "Range of input length should be [1, 30720]",
                Some(30_720),
                None,
            ),
            (
                "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
                Some(4_081),
                Some(5_000),
            ),
            (
                "Request body too large for gpt-4o-mini model. Max size: 8000 tokens.",
                Some(8_000),
                None,
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                Some(32_768),
                Some(40_000),
            ),
            (
                "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)",
                Some(7_424),
                Some(15_028),
            ),
            (
                "Too many input tokens. Max input tokens: 8192, request input token count: 14735",
                Some(8_192),
                Some(14_735),
            ),
            (
                "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (146000 of text input, 4000 in the output).",
                Some(131_072),
                Some(146_000),
            ),
            (
                "Requested token count exceeds the model's maximum context length of 196608 tokens. You requested a total of 204830 tokens: 172830 tokens from the input messages and 32000 tokens for the completion.",
                Some(196_608),
                Some(172_830),
            ),
            // OpenAI, NVIDIA, Jina, SiliconFlow, Vertex AI
            (
                "Invalid 'input[0]': maximum input length is 8192 tokens.",
                Some(8_192),
                None,
            ),
            (
                "Input length 9000 exceeds maximum allowed token size 512",
                Some(512),
                Some(9_000),
            ),
            (
                "Single text cannot exceed 8192 tokens. 9237 tokens given.",
                Some(8_192),
                Some(9_237),
            ),
            ("input must have less than 512 tokens", Some(512), None),
            (
                "length of prompt_tokens (68957) must be less than max_seq_len (65536).",
                Some(65_536),
                Some(68_957),
            ),
            (
                "the input token count is 1251952 but model only supports up to 1048576.",
                Some(1_048_576),
                Some(1_251_952),
            ),
            ("context_length_exceeded", None, None),
            ("input length exceeds maximum context length", None, None),
        ];
        for (refusal, limit, sent) in table {
            let numbers = Numbers { limit, sent };
            assert_eq!(Numbers::from_refusal(refusal), numbers, "{refusal}");
        }
    }

    #[test]
    fn the_next_prompt_is_smaller_than_the_last() {
        let of = |limit, sent| next_prompt_size(Numbers { limit, sent }, 3_000, 1_000);
        assert_eq!(of(None, None), 2_000);
        assert_eq!(of(Some(2_048), None), 1_377);
        // Half as many tokens as estimated: nearly twice as many fit.
        assert_eq!(of(Some(2_048), Some(1_500)), 2_000);
        assert_eq!(of(Some(1_024), Some(3_000)), 684);
    }

    #[test]
    fn services_tell_it_in_their_ways() {
        assert_eq!(
            of_listed(&json!({"id": "m", "max_model_len": 8192})),
            Some(8192)
        );
        assert_eq!(
            of_listed(&json!({"id": "m", "meta": {"n_ctx": 2048}})),
            Some(2048)
        );
        assert_eq!(of_listed(&json!({"id": "m"})), None);
        let props = json!({"default_generation_settings": {"n_ctx": 4096}});
        assert_eq!(of_props(&props), Some(4096));
        let running = json!({"models": [{"name": "llama3.2:latest", "context_length": 4096}]});
        assert_eq!(of_ollama(&running, &json!({}), "llama3.2"), Some(4096));
        let shown = json!({"parameters": "stop \"x\"\nnum_ctx                        8192"});
        assert_eq!(of_ollama(&json!({}), &shown, "llama3.2"), Some(8192));
    }
}

//! A program that uses the Model Context Protocol over HTTP, with few requests. It is written from
//! the protocol's text, without its libraries.

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

/// A program with somebody's token.
#[derive(Clone)]
pub struct McpClient {
    client: Client,
    pub url: String,
    pub token: String,
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct Called {
    pub text: String,
    pub structured: Value,
    pub is_error: bool,
}

impl McpClient {
    pub fn new(address: &str, token: &str) -> Self {
        // The provider that the program installs for itself.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            client: Client::builder().no_proxy().build().unwrap(),
            url: format!("http://{address}/mcp"),
            token: token.to_owned(),
        }
    }

    /// The same with another token.
    #[must_use]
    pub fn with_token(&self, token: String) -> Self {
        Self {
            token,
            ..self.clone()
        }
    }

    /// Returns a request with everything that a valid one has.
    pub fn posts(&self, method: &str, params: &Value) -> RequestBuilder {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.client
            .post(&self.url)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .header("MCP-Protocol-Version", "2025-11-25")
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .body(body.to_string())
    }

    pub async fn lists(&self) -> Response {
        self.posts("tools/list", &json!({})).send().await.unwrap()
    }

    pub async fn calls(&self, tool: &str, arguments: Value) -> Called {
        let params = json!({"name": tool, "arguments": arguments});
        let response = self.posts("tools/call", &params).send().await.unwrap();
        assert_eq!(response.status(), 200, "{tool}");
        let result = answer(&response.text().await.unwrap())["result"].clone();
        Called {
            text: result["content"][0]["text"].as_str().unwrap().to_owned(),
            structured: result["structuredContent"].clone(),
            is_error: result["isError"] == true,
        }
    }
}

/// Returns the response in a body: JSON, or events of which the last one contains it.
pub fn answer(body: &str) -> Value {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = data.map(str::trim).rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(body)).unwrap_or_else(|error| panic!("{error}: {body}"))
}

//! Tools without Rust code that send a request: a TOML file with an address.
//!
//! The response is text by others: evidence that is quoted, limited in length, and true only now.

mod body;
mod reading;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use guarded_http::{AllowedAddresses, BodyError, NotAsked};
use indexmap::IndexMap;
use muninn_platform::{AudienceId, in_one_line, join_task};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Url};
use serde::Deserialize;
use serde_json::{Map, Value};

use self::body::Json;
use self::reading::{Pick, PickWritten, kind, pick, refused, told};
use super::outside::{OutsideResponse, OutsideTool};
use super::parameters::Parameters;
use super::request::{MOST_BYTES, bytes, check_address, check_secrecy, headers, within, yes};
use super::template::{Secrets, Template, Variables};
use super::tool_file::{ToolFileError, check_name, no_parameters, wrong};
use crate::extract::settings::parsed;
use crate::llm::ToolSpec;

/// Time limit of a call in seconds: the default, and the maximum.
const SECONDS: u64 = 10;
const MOST_SECONDS: u64 = 60;

/// Characters that need no encoding anywhere in an address.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// One tool file, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpToolFile {
    name: String,
    description: String,
    #[serde(default = "get")]
    method: String,
    url: String,
    #[serde(default)]
    query: IndexMap<String, String>,
    #[serde(default)]
    headers: IndexMap<String, String>,
    body: Option<Map<String, Value>>,
    pick: Option<PickWritten>,
    #[serde(default = "yes")]
    volatile: bool,
    #[serde(default)]
    private: bool,
    confirm: Option<bool>,
    #[serde(default = "seconds")]
    timeout: u64,
    #[serde(default = "bytes")]
    max_bytes: usize,
    #[serde(default)]
    channels: Vec<String>,
    #[serde(default = "no_parameters")]
    parameters: Value,
}

fn get() -> String {
    "GET".to_owned()
}

fn seconds() -> u64 {
    SECONDS
}

/// A tool that sends a request to an address.
#[derive(Debug)]
pub struct HttpTool {
    pub spec: ToolSpec,
    is_volatile: bool,
    asks_first: bool,
    pub file: String,
    /// Variables of the environment that it uses and that are not set.
    pub missing: Vec<String>,
    channels: Vec<AudienceId>,
    parameters: Parameters,
    method: Method,
    url: Template,
    /// The origin of the address as written: scheme, host and port.
    origin: Url,
    query: Vec<(String, Template)>,
    headers: HeaderMap,
    body: Option<Json>,
    secrets: Secrets,
    pick: Arc<Pick>,
    reach: AllowedAddresses,
    timeout: Duration,
    max_bytes: usize,
    client: OnceLock<Client>,
}

/// The request that is sent.
#[derive(Debug, PartialEq, Eq)]
struct HttpToolRequest {
    url: Url,
    body: Option<Value>,
}

impl HttpTool {
    pub(super) fn read(
        file: &str,
        text: &str,
        variables: &mut Variables,
    ) -> Result<Self, ToolFileError> {
        let written: HttpToolFile = parsed(text).map_err(|detail| wrong(file, detail))?;
        check_name(&written.name).map_err(|detail| wrong(file, detail))?;
        Self::made(file, written, variables).map_err(|detail| wrong(file, detail))
    }

    fn made(file: &str, written: HttpToolFile, variables: &mut Variables) -> Result<Self, String> {
        let method = method(&written.method)?;
        if method == Method::GET && written.body.is_some() {
            return Err("a GET has no body; set method = \"POST\"".to_owned());
        }
        let parameters = Parameters::read(written.parameters)?;
        let url = Template::parse(&written.url, variables)?;
        if url.secrets().next().is_some() {
            return Err("url takes no variables; put them into [query] or [headers]".to_owned());
        }
        let reach = AllowedAddresses::private(written.private);
        let origin = origin(&written.url, reach)?;
        let query = written.query.iter().map(|(name, text)| {
            let template = Template::parse(text, variables);
            let template = template.map_err(|it| format!("query.{name}: {it}"))?;
            Ok((name.clone(), template))
        });
        let query = query.collect::<Result<Vec<_>, String>>()?;
        let mut secrets = Secrets::default();
        let mut headers = headers(&written.headers, variables, &mut secrets)?;
        let accepted = "application/json, text/*;q=0.8, */*;q=0.1";
        headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static(accepted));
        let body = match written.body {
            Some(body) => Some(Json::parse(Value::Object(body), variables)?),
            None => None,
        };
        let templates = query.iter().map(|(_, template)| template);
        let templates = templates.chain(body.iter().flat_map(Json::templates));
        templates.for_each(|template| secrets.add(template.secrets()));
        let tool = Self {
            spec: ToolSpec {
                name: written.name,
                description: written.description,
                parameters: parameters.schema.clone(),
            },
            is_volatile: written.volatile,
            asks_first: written.confirm.unwrap_or(method != Method::GET),
            file: file.to_owned(),
            missing: std::mem::take(&mut variables.missing),
            channels: written.channels.iter().map(AudienceId::new).collect(),
            secrets,
            parameters,
            method,
            url,
            origin,
            query,
            headers,
            body,
            pick: Arc::new(pick(written.pick)?),
            reach,
            timeout: within("timeout", written.timeout, MOST_SECONDS).map(Duration::from_secs)?,
            max_bytes: within("max_bytes", written.max_bytes, MOST_BYTES)?,
            client: OnceLock::new(),
        };
        tool.check_places()?;
        check_secrecy(&tool.secrets, &tool.origin, tool.reach)?;
        Ok(tool)
    }

    /// Checks that every placeholder has a declared parameter, and every parameter a placeholder.
    fn check_places(&self) -> Result<(), String> {
        let declared = &self.parameters.names;
        let query = self.query.iter().map(|(_, template)| template);
        let places = query.flat_map(Template::arguments);
        let places = places.chain(self.body.iter().flat_map(Json::arguments));
        let all: Vec<&str> = self.url.arguments().chain(places).collect();
        if let Some(unknown) = all.iter().find(|it| !declared.iter().any(|one| one == *it)) {
            return Err(format!(
                "{{{unknown}}} has a place, but parameters.properties does not declare it"
            ));
        }
        if let Some(idle) = declared.iter().find(|it| !all.contains(&it.as_str())) {
            return Err(format!(
                "parameters.properties declares {idle:?}, but nothing has a place {{{idle}}} for it"
            ));
        }
        let required = self.parameters.schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        match self.url.arguments().find(|name| !is_required(name)) {
            Some(optional) => Err(format!(
                "url has a place for {optional:?}, which parameters.required does not name; put it into [query], where it is left out"
            )),
            None => Ok(()),
        }
    }

    /// Whether it is offered in a channel.
    pub fn is_offered_in(&self, channel: &AudienceId) -> bool {
        self.missing.is_empty()
            && (self.channels.is_empty() || self.channels.iter().any(|it| channel.is_within(it)))
    }

    /// Why it is offered nowhere.
    pub fn problem(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| {
            format!(
                "the tool {} of {} is not offered, since {} is not set",
                self.spec.name,
                self.file,
                self.missing.join(", ")
            )
        })
    }

    /// Its request on one line, without secrets.
    pub fn in_a_line(&self) -> String {
        format!(
            "{}: {} {}",
            self.spec.name,
            self.method,
            self.origin.origin().ascii_serialization()
        )
    }

    /// Checks that its host can be resolved and may be called.
    ///
    /// # Errors
    /// Fails when it cannot or may not.
    pub async fn look(&self) -> Result<(), NotAsked> {
        let host = self.origin.host_str().unwrap_or_default();
        let port = self.origin.port_or_known_default().unwrap_or(443);
        guarded_http::resolve(host, port, self.reach)
            .await
            .map(drop)
    }

    fn asked(&self, arguments: &Map<String, Value>) -> Result<HttpToolRequest, String> {
        let encoded = |text: &str| utf8_percent_encode(text, KEPT).to_string();
        let filled = self.url.filled(arguments, encoded);
        let filled = filled.ok_or("an argument that the address needs is missing")?;
        let path = filled.split(['?', '#']).next().unwrap_or_default();
        let after_host = path.splitn(4, '/').nth(3).unwrap_or_default();
        if after_host.split('/').any(|step| matches!(step, "." | "..")) {
            return Err("an argument is a step of a path, and not a name".to_owned());
        }
        let is_empty = |name: &str| arguments.get(name).is_some_and(|it| *it == *"");
        if let Some(empty) = self.url.arguments().find(|name| is_empty(name)) {
            return Err(format!("{empty} is empty"));
        }
        let mut url = Url::parse(&filled).map_err(|error| format!("no address: {error}"))?;
        if url.origin() != self.origin.origin() {
            return Err("the address would be on another host".to_owned());
        }
        for (name, template) in &self.query {
            if let Some(value) = template.filled(arguments, str::to_owned) {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        let body = self.body.as_ref();
        Ok(HttpToolRequest {
            url,
            body: body.map(|body| body.filled(arguments).unwrap_or_default()),
        })
    }

    async fn ask(&self, arguments: &Map<String, Value>) -> Result<OutsideResponse, String> {
        let HttpToolRequest { url, body } = self.asked(arguments)?;
        let request = self.client()?.request(self.method.clone(), url);
        let request = request.headers(self.headers.clone());
        let request = match body {
            Some(body) => request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string()),
            None => request,
        };
        let response = request.send().await.map_err(in_words)?;
        let (status, kind) = (response.status(), kind(&response));
        if status.is_redirection() {
            return Err(
                "it leads to another host, which is not asked; name that address in url".to_owned(),
            );
        }
        let bytes = guarded_http::read_body(response, self.max_bytes).await;
        let bytes = bytes.map_err(|error| match error {
            BodyError::TooLong { most } => {
                format!("the answer has more than {} KB; ask for less", most >> 10)
            }
            BodyError::Broken(error) => in_words(error),
        })?;
        let pick = Arc::clone(&self.pick);
        // Apart from the tasks of others, and so that the time limit holds: parsing a page takes a while.
        let reading = tokio::task::spawn_blocking(move || match status.is_success() {
            true => told(&kind, &bytes, &pick).map(|lines| OutsideResponse { lines, error: None }),
            false => Ok(refused(status, &kind, &bytes)),
        });
        join_task(reading).await
    }

    fn client(&self) -> Result<Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let built = guarded_http::client_builder(self.reach)
            .user_agent(concat!("muninn/", env!("CARGO_PKG_VERSION")))
            .build();
        let built = built.map_err(|error| in_one_line(&error))?;
        Ok(self.client.get_or_init(|| built).clone())
    }
}

#[async_trait]
impl OutsideTool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    fn requires_approval(&self) -> bool {
        self.asks_first
    }

    fn checked(&self, arguments: &str) -> Result<Map<String, Value>, String> {
        let mut given = self.parameters.checked(arguments)?;
        given.retain(|_, value| !value.is_null());
        self.asked(&given)?;
        Ok(given)
    }

    async fn call(&self, arguments: &Map<String, Value>) -> OutsideResponse {
        let mut answered = match tokio::time::timeout(self.timeout, self.ask(arguments)).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(why)) => OutsideResponse::failed(why),
            Err(_) => {
                OutsideResponse::failed(format!("no answer within {} s", self.timeout.as_secs()))
            }
        };
        let texts = answered.lines.iter_mut().chain(&mut answered.error);
        texts.for_each(|text| self.secrets.remove_from(text));
        answered
    }
}

fn method(name: &str) -> Result<Method, String> {
    match name {
        "GET" => Ok(Method::GET),
        "POST" => Ok(Method::POST),
        "PUT" => Ok(Method::PUT),
        "PATCH" => Ok(Method::PATCH),
        "DELETE" => Ok(Method::DELETE),
        other => Err(format!(
            "method is {other:?}, but must be GET, POST, PUT, PATCH or DELETE"
        )),
    }
}

/// The origin of an address, whatever its placeholders contain.
fn origin(url: &str, reach: AllowedAddresses) -> Result<Url, String> {
    let (scheme, rest) = url
        .split_once("://")
        .ok_or("url must begin with https:// or http://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains(['{', '}']) {
        return Err("url has a place in its host; no argument may decide who is asked".to_owned());
    }
    if rest.contains('#') {
        return Err("url has a #, and what follows is never sent; leave it out".to_owned());
    }
    let origin = Url::parse(&format!("{scheme}://{host}/"));
    let origin = origin.map_err(|error| format!("url is no address: {error}"))?;
    check_address(&origin, reach)?;
    Ok(origin)
}

/// An error of a client without the address, which may contain a key.
fn in_words(error: reqwest::Error) -> String {
    match NotAsked::find_in_causes(&error) {
        Some(refused) => refused.to_string(),
        None => in_one_line(&error.without_url()),
    }
}

#[cfg(test)]
mod tests;

//! The settings file of MCP servers: which ones are started or called, and which of their tools may
//! be called where.

use std::path::{Path, PathBuf};
use std::time::Duration;

use guarded_http::AllowedAddresses;
use indexmap::IndexMap;
use muninn_platform::AudienceId;
use reqwest::Url;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde::Deserialize;

use crate::agent::tools::request::{
    MOST_BYTES, bytes, check_address, check_secrecy, headers, within, yes,
};
use crate::agent::tools::template::{Secrets, Template, Variables};
use crate::extract::settings::parsed;

/// Its name in `DATA_DIR`, unless another one is configured.
const NAME: &str = "mcp.toml";

/// Time limit of a call in seconds: the default, and the maximum.
const SECONDS: u64 = 30;
const MOST_SECONDS: u64 = 120;
/// Maximum letters of a server's name: it precedes each of its tools' names, which have at most 64.
const LONGEST_NAME: usize = 24;

/// Where the file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpFile {
    pub path: PathBuf,
    /// Whether it was configured, and therefore must exist.
    pub is_named: bool,
}

impl McpFile {
    /// The configured file, or that of the data folder.
    pub fn new(named: Option<PathBuf>, data_dir: &Path) -> Self {
        Self {
            is_named: named.is_some(),
            path: named.unwrap_or_else(|| data_dir.join(NAME)),
        }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Fails when the file is invalid; the error says why.
    pub fn read(&self) -> Result<Vec<McpSettings>, McpFileError> {
        let wrong = |problem: String| McpFileError {
            path: self.path.clone(),
            problem,
        };
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.is_named => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(wrong(error.to_string())),
        };
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        read(&text, &folder, Variables::of_environment).map_err(wrong)
    }
}

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be used: {problem}", path.display())]
pub struct McpFileError {
    path: PathBuf,
    problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct McpSettingsFile {
    #[serde(default)]
    mcp: IndexMap<String, McpServerEntry>,
}

/// A server, as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct McpServerEntry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: IndexMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: IndexMap<String, String>,
    #[serde(default)]
    private: bool,
    tools: Option<Vec<String>>,
    #[serde(default)]
    channels: Vec<String>,
    #[serde(default)]
    confirm: Vec<String>,
    #[serde(default)]
    no_confirm: Vec<String>,
    #[serde(default = "yes")]
    volatile: bool,
    #[serde(default = "seconds")]
    timeout: u64,
    #[serde(default = "bytes")]
    max_bytes: usize,
}

fn seconds() -> u64 {
    SECONDS
}

/// A server, and which of its tools may be called where.
#[derive(Clone, Debug)]
pub struct McpSettings {
    pub name: String,
    pub(super) link: McpTransport,
    /// `None` means all of its tools.
    pub(super) tools: Option<Vec<String>>,
    pub(super) channels: Vec<AudienceId>,
    pub(super) confirm: Vec<String>,
    pub(super) no_confirm: Vec<String>,
    pub(super) is_volatile: bool,
    pub(super) timeout: Duration,
    pub(super) max_bytes: usize,
    pub(super) secrets: Secrets,
    /// Variables of the environment that it uses and that are not set.
    pub(super) missing: Vec<String>,
    written: McpServerEntry,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub(super) enum McpTransport {
    /// A child process, over its standard input and output.
    Process {
        command: String,
        args: Vec<String>,
        env: Vec<(String, SecretString)>,
        folder: PathBuf,
    },
    /// A remote address, over HTTP.
    Address {
        url: Url,
        headers: HeaderMap,
        reach: AllowedAddresses,
    },
}

impl PartialEq for McpSettings {
    /// Compares the settings as they are written.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.written == other.written
    }
}

impl McpSettings {
    /// Whether its tools are offered in a channel.
    pub(super) fn is_for(&self, channel: &AudienceId) -> bool {
        self.channels.is_empty() || self.channels.iter().any(|it| channel.is_within(it))
    }

    /// What is started or called, without secrets.
    pub fn shown(&self) -> String {
        match &self.link {
            McpTransport::Process { command, args, .. } => {
                let words = std::iter::once(command).chain(args);
                words.cloned().collect::<Vec<_>>().join(" ")
            }
            McpTransport::Address { url, .. } => url.origin().ascii_serialization(),
        }
    }
}

fn read(
    text: &str,
    folder: &Path,
    variables: impl Fn() -> Variables,
) -> Result<Vec<McpSettings>, String> {
    let written: McpSettingsFile = parsed(text)?;
    let servers = written.mcp.into_iter().map(|(name, entry)| {
        let made = check_name(&name).and_then(|()| made(&name, entry, folder, variables()));
        made.map_err(|problem| format!("[mcp.{name}] {problem}"))
    });
    servers.collect()
}

/// Refuses underscores: two of them separate the name from that of a tool.
fn check_name(name: &str) -> Result<(), String> {
    let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_fine) {
        return Ok(());
    }
    Err(format!(
        "must have a name of 1 to {LONGEST_NAME} small letters, digits and hyphens"
    ))
}

fn made(
    name: &str,
    entry: McpServerEntry,
    folder: &Path,
    mut variables: Variables,
) -> Result<McpSettings, String> {
    let written = entry.clone();
    let mut secrets = Secrets::default();
    let link = match (&entry.command, &entry.url) {
        (Some(command), None) => process(command, &entry, folder, &mut variables, &mut secrets),
        (None, Some(url)) => elsewhere(url, &entry, &mut variables, &mut secrets),
        (Some(_), Some(_)) => Err("has command and url; leave one of them out".to_owned()),
        (None, None) => Err("has neither command nor url".to_owned()),
    }?;
    if let Some(both) = entry
        .confirm
        .iter()
        .find(|it| entry.no_confirm.contains(it))
    {
        return Err(format!("has {both:?} in confirm and in no_confirm"));
    }
    Ok(McpSettings {
        name: name.to_owned(),
        link,
        tools: entry.tools,
        channels: entry.channels.iter().map(AudienceId::new).collect(),
        confirm: entry.confirm,
        no_confirm: entry.no_confirm,
        is_volatile: entry.volatile,
        timeout: within("timeout", entry.timeout, MOST_SECONDS).map(Duration::from_secs)?,
        max_bytes: within("max_bytes", entry.max_bytes, MOST_BYTES)?,
        secrets,
        missing: variables.missing,
        written,
    })
}

/// Parses the settings of a child process.
fn process(
    command: &str,
    entry: &McpServerEntry,
    folder: &Path,
    variables: &mut Variables,
    secrets: &mut Secrets,
) -> Result<McpTransport, String> {
    if !entry.headers.is_empty() || entry.private {
        return Err("has headers or private, which are for url = … only".to_owned());
    }
    let mut env = Vec::new();
    for (variable, text) in &entry.env {
        let wrong = |detail: String| format!("env.{variable}: {detail}");
        let template = Template::parse(text, variables).map_err(wrong)?;
        if template.arguments().next().is_some() {
            return Err(wrong("a name in braces must follow a $".to_owned()));
        }
        secrets.add(template.secrets());
        env.push((variable.clone(), SecretString::from(template.plain())));
    }
    Ok(McpTransport::Process {
        command: command.to_owned(),
        args: entry.args.clone(),
        env,
        folder: folder.to_owned(),
    })
}

/// Parses the settings of an address.
fn elsewhere(
    url: &str,
    entry: &McpServerEntry,
    variables: &mut Variables,
    secrets: &mut Secrets,
) -> Result<McpTransport, String> {
    if !entry.args.is_empty() || !entry.env.is_empty() {
        return Err("has args or env, which are for command = … only".to_owned());
    }
    let reach = AllowedAddresses::private(entry.private);
    let url = Url::parse(url).map_err(|error| format!("url is no address: {error}"))?;
    check_address(&url, reach)?;
    let headers = headers(&entry.headers, variables, secrets)?;
    check_secrecy(secrets, &url, reach)?;
    Ok(McpTransport::Address {
        url,
        headers,
        reach,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<McpSettings>, String> {
        let value = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        read(text, Path::new("/data"), || Variables::new(value))
    }

    #[test]
    fn servers_are_read() {
        let read = read_text(
            "[mcp.files]\ncommand = 'npx'\nargs = ['-y', 'x']\nenv = { TOKEN = '${KEY}' }\nchannels = ['slack/T/C']\n\
             tools = ['read']\n[mcp.crm]\nurl = 'https://crm.example/mcp'\nheaders = { Authorization = 'Bearer ${KEY}' }\n\
             volatile = false\ntimeout = 5\nconfirm = ['add']\n",
        );
        let read = read.unwrap();
        let names: Vec<String> = read
            .iter()
            .map(|it| format!("{}: {}", it.name, it.shown()))
            .collect();
        assert_eq!(names, ["files: npx -y x", "crm: https://crm.example"]);
        let [files, crm] = read.as_slice() else {
            panic!("{read:?}");
        };
        assert!(
            files.is_for(&AudienceId::new("slack/T/C"))
                && !files.is_for(&AudienceId::new("matrix/!r"))
        );
        assert!(crm.is_for(&AudienceId::new("matrix/!r")));
        assert!(files.is_volatile && !crm.is_volatile);
        assert_eq!(crm.timeout, Duration::from_secs(5));
        let McpTransport::Process { folder, .. } = &files.link else {
            panic!("{files:?}");
        };
        assert_eq!(folder, Path::new("/data"));
        assert!(!format!("{read:?}").contains("s3cret"));
        assert_eq!(read_text("").unwrap(), []);
        let missing = read_text("[mcp.a]\ncommand = 'x'\nenv = { A = '${NOT_SET}' }\n").unwrap();
        assert_eq!(missing[0].missing, ["NOT_SET"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("[mcp.a]\n", "[mcp.a] has neither command nor url"),
            (
                "[mcp.a]\ncommand = 'x'\nurl = 'https://x.example'",
                "leave one",
            ),
            ("[mcp.A_b]\ncommand = 'x'", "small letters"),
            ("[a]\ncommand = 'x'", "unknown field `a`"),
            ("[mcp.a]\ncomand = 'x'", "unknown field `comand`"),
            ("[mcp.a]\ncommand = 'x'\nprivate = true", "for url = "),
            (
                "[mcp.a]\nurl = 'https://x.example'\nargs = ['x']",
                "for command = ",
            ),
            ("[mcp.a]\nurl = 'http://10.0.0.1/'", "private = true"),
            ("[mcp.a]\nurl = 'ftp://x.example'", "https://"),
            (
                "[mcp.a]\ncommand = 'x'\nenv = { A = '${SLACK_BOT_TOKEN}' }",
                "never sent on",
            ),
            (
                "[mcp.a]\nurl = 'http://x.example'\nheaders = { A = '${KEY}' }",
                "others can read it",
            ),
            (
                "[mcp.a]\ncommand = 'x'\nconfirm = ['t']\nno_confirm = ['t']",
                "\"t\" in confirm",
            ),
            (
                "[mcp.a]\ncommand = 'x'\ntimeout = 999",
                "timeout must be from 1 to 120",
            ),
        ] {
            let said = read_text(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
        for mistyped in [
            "[mcp.a]\nurll = 'https://x.example/?key=SECRET'",
            "[mcp.a]\nurl = 'https://x.example/'\nheaders = 'Bearer SECRET'",
        ] {
            let said = read_text(mistyped).unwrap_err();
            assert!(said.contains("line ") && !said.contains("SECRET"), "{said}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = McpFile::new(None, folder.path());
        assert_eq!(file.read().unwrap(), []);
        let named = McpFile::new(Some(folder.path().join("gone.toml")), folder.path());
        assert!(
            named
                .read()
                .unwrap_err()
                .to_string()
                .contains("gone.toml cannot be used")
        );
    }
}

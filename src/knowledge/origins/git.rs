//! Brings a git repository into a folder, with the `git` program.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use muninn_platform::{in_one_line, one_line};
use percent_encoding::percent_decode_str;
use private_files::create_private_folder;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::{Instant, sleep};

/// Maximum time of one git command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum bytes of a repository on disk.
const MAX_REPOSITORY_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// How often its size is checked.
const SIZE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Bytes kept of git's output.
const MAX_OUTPUT_BYTES: u64 = 16_000;

/// Settings that take precedence over the repository's own: nothing in it is executed, and its
/// server cannot redirect to another one.
const SAFE: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "http.followRedirects=false",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=60",
    "credential.interactive=false",
    "advice.detachedHead=false",
    // Or every commit that was fetched would be kept for months.
    "core.logAllRefUpdates=false",
];

/// A repository, and the part of it to read.
#[derive(Clone, Debug)]
pub struct Git {
    /// May contain a user name and a password.
    address: SecretString,
    branch: Option<String>,
    folder: Option<String>,
}

/// Why it cannot be read, without credentials.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("the program git cannot be run; install it, or leave `git = …` out")]
    NoProgram(#[source] std::io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("git {command} failed: {said}")]
    Failed { command: String, said: String },
    #[error("the repository's copy in DATA_DIR cannot be used")]
    Files(#[from] std::io::Error),
}

impl Git {
    pub(super) fn new(
        address: &str,
        branch: Option<String>,
        folder: Option<String>,
    ) -> Result<Self, String> {
        let is_address =
            !address.starts_with('-') && !address.contains("::") && !address.trim().is_empty();
        if !is_address {
            let shown = without_secrets(address);
            return Err(format!("git = {shown:?} is no address of a repository"));
        }
        let is_branch = |name: &String| !name.is_empty() && !name.starts_with('-');
        if branch.as_ref().is_some_and(|name| !is_branch(name)) {
            return Err("branch is no name of a branch".to_owned());
        }
        let is_below = |folder: &String| {
            let mut parts = Path::new(folder).components();
            parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        };
        if folder.as_ref().is_some_and(|folder| !is_below(folder)) {
            return Err("folder is a path within the repository, such as docs".to_owned());
        }
        Ok(Self {
            address: address.into(),
            branch,
            folder,
        })
    }

    /// Returns its address without credentials.
    pub(super) fn shown(&self) -> String {
        without_secrets(self.address.expose_secret())
    }

    fn branch(&self) -> &str {
        self.branch.as_deref().unwrap_or("HEAD")
    }

    /// Returns the repository's current state from its server; another commit gives another fingerprint.
    pub(super) async fn remote_fingerprint(&self, place: &Path) -> Result<String, GitError> {
        let Remote { address, settings } = Remote::of(self.address.expose_secret());
        let look = [
            "ls-remote",
            "--quiet",
            "--",
            address.as_str(),
            self.branch(),
        ];
        let said = run(place, &look, &settings).await?;
        if said.trim().is_empty() {
            return Err(GitError::Refused(match &self.branch {
                Some(branch) => format!("the repository has no branch or tag {branch}"),
                None => "the repository has no commit".to_owned(),
            }));
        }
        Ok(said)
    }

    /// Fetches the newest state into a folder below `place`, which must not be used otherwise
    /// meanwhile. Only changes are transferred, and no history is kept. `was_read`: whether it was read before with the
    /// same settings, so that a folder that is missing now was removed by a commit.
    pub(super) async fn fetch(&self, place: &Path, was_read: bool) -> Result<PathBuf, GitError> {
        let repository = place.join("repository");
        let is_there = repository.join(".git").exists();
        let mut fetched = self.fetch_into(&repository).await;
        // The server responded just now, so the cause may be leftovers of a killed process.
        if is_there && let Err(error) = &fetched {
            let error = in_one_line(error);
            tracing::info!(error, "a repository is copied anew");
            fetched = self.fetch_anew(&repository).await;
        }
        fetched?;
        match self.folder_in(&repository)? {
            Some(folder) => Ok(folder),
            None if was_read => {
                let empty = place.join("empty");
                create_private_folder(&empty)?;
                Ok(empty)
            }
            None => Err(self.no_folder()),
        }
    }

    /// Returns the folder of what was fetched last, as its commit has it; `None` if it is not there.
    pub(super) async fn copy(&self, place: &Path) -> Option<PathBuf> {
        let repository = place.join("repository");
        if !repository.join(".git").exists() {
            return None;
        }
        // A process that was killed may have left a part of it.
        let whole = ["checkout", "--quiet", "--force", "--detach", "HEAD"];
        run(&repository, &whole, &[]).await.ok()?;
        self.folder_in(&repository).ok().flatten()
    }

    /// Returns the folder that is read; `None` if the commit has none.
    fn folder_in(&self, repository: &Path) -> Result<Option<PathBuf>, GitError> {
        let Some(folder) = &self.folder else {
            return Ok(Some(repository.to_owned()));
        };
        let path = repository.join(folder);
        match path.canonicalize() {
            // A symbolic link could lead anywhere.
            Ok(real) if !real.starts_with(repository.canonicalize()?) => Err(self.no_folder()),
            Ok(real) => Ok(real.is_dir().then_some(path)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory if !path.is_symlink() => Ok(None),
                _ => Err(self.no_folder()),
            },
        }
    }

    fn no_folder(&self) -> GitError {
        let folder = self.folder.as_deref().unwrap_or_default();
        GitError::Refused(format!("the repository has no folder {folder}"))
    }

    /// Fetches into a new copy, which then replaces the present one. If it fails, that stays.
    async fn fetch_anew(&self, repository: &Path) -> Result<(), GitError> {
        let fresh = repository.with_extension("new");
        if fresh.exists() {
            std::fs::remove_dir_all(&fresh)?;
        }
        let fetched = self.fetch_into(&fresh).await;
        if fetched.is_ok() {
            std::fs::remove_dir_all(repository)?;
            std::fs::rename(&fresh, repository)?;
        } else {
            // It may be large.
            let _ = std::fs::remove_dir_all(&fresh);
        }
        fetched
    }

    async fn fetch_into(&self, repository: &Path) -> Result<(), GitError> {
        if !repository.join(".git").exists() {
            std::fs::create_dir_all(repository)?;
            run(repository, &["init", "--quiet"], &[]).await?;
        }
        let Remote { address, settings } = Remote::of(self.address.expose_secret());
        #[rustfmt::skip]
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--force", "--", address.as_str(), self.branch()];
        run(repository, &fetch, &settings).await?;
        let checkout = ["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"];
        run(repository, &checkout, &[]).await?;
        run(repository, &["clean", "--quiet", "-ffdx"], &[]).await?;
        Ok(())
    }
}

/// Whether an address is a relative path, and no URL or `host:path`, by the rules of git.
pub(super) fn is_relative_path(address: &str) -> bool {
    let colon = address.find(':');
    let slash = address.find('/').unwrap_or(address.len());
    let is_path = colon.is_none_or(|colon| slash < colon);
    let is_address = !address.starts_with('-') && !address.trim().is_empty();
    is_address && is_path && Path::new(address).is_relative()
}

/// A setting of git, and its value.
type Setting = (String, SecretString);

/// An address as git is given it. Everybody on this machine can read the arguments of a process, so
/// a user name and a password are settings, which are passed on in the environment.
struct Remote {
    address: String,
    settings: Vec<Setting>,
}

impl Remote {
    fn of(address: &str) -> Self {
        let whole = || Self {
            address: address.to_owned(),
            settings: Vec::new(),
        };
        // With `ssh` the name is no secret, and there is no password.
        let parts = address.split_once("://");
        let Some((scheme @ ("http" | "https"), rest)) = parts else {
            return whole();
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let Some(at) = rest[..end].rfind('@') else {
            return whole();
        };
        let address = format!("{scheme}://{}", &rest[at + 1..]);
        let account = &rest[..at];
        let settings: Vec<Setting> = match account.split_once(':') {
            Some((user, password)) => {
                let account: Vec<u8> = percent_decode_str(user)
                    .chain(std::iter::once(b':'))
                    .chain(percent_decode_str(password))
                    .collect();
                let header = format!("Authorization: Basic {}", STANDARD.encode(account));
                vec![
                    (format!("http.{address}.extraHeader"), header.into()),
                    // If it is refused, git would try what is kept for others, and forget that.
                    ("credential.helper".to_owned(), String::new().into()),
                ]
            }
            // The name may be a token, or one that a program of git's knows the password of.
            None => {
                let user = percent_decode_str(account).decode_utf8_lossy();
                let name = format!("credential.{address}.username");
                vec![(name, user.into_owned().into())]
            }
        };
        Self { address, settings }
    }
}

/// Adds settings to those that the environment has already.
fn pass_on(settings: &[Setting], command: &mut Command) {
    if settings.is_empty() {
        return;
    }
    let count = std::env::var("GIT_CONFIG_COUNT").ok();
    let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or(0);
    for (number, (name, value)) in (count..).zip(settings) {
        command
            .env(format!("GIT_CONFIG_KEY_{number}"), name)
            .env(format!("GIT_CONFIG_VALUE_{number}"), value.expose_secret());
    }
    command.env("GIT_CONFIG_COUNT", (count + settings.len()).to_string());
}

/// Removes credentials: the text between `://` and `@`.
fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, from) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = from.find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"'));
        let host = &from[..end.unwrap_or(from.len())];
        rest = match host.rfind('@') {
            Some(secret) => {
                shown.push('…');
                &from[secret..]
            }
            None => from,
        };
    }
    shown.push_str(rest);
    shown
}

/// Runs git and returns its output.
async fn run(folder: &Path, arguments: &[&str], settings: &[Setting]) -> Result<String, GitError> {
    let mut command = Command::new("git");
    for setting in SAFE {
        command.args(["-c", setting]);
    }
    command
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "true")
        .env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Environment variables may point at somebody's own repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    // So may a damaged copy, if the data folder is in one.
    if let Some(above) = std::path::absolute(folder)?.parent() {
        command.env("GIT_CEILING_DIRECTORIES", above);
    }
    pass_on(settings, &mut command);
    let mut child = command.spawn().map_err(GitError::NoProgram)?;
    let printed = tokio::spawn(beginning(child.stdout.take()));
    let complaints = tokio::spawn(beginning(child.stderr.take()));
    let began = Instant::now();
    // The only command that writes nothing: what is there already does not matter to it.
    let grows = arguments.first() != Some(&"ls-remote");
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            () = sleep(SIZE_CHECK_INTERVAL) => {}
        }
        if let Some(problem) = too_much(grows.then_some(folder), began).await {
            let _ = child.kill().await;
            return Err(GitError::Refused(problem));
        }
    };
    if status.success() {
        return Ok(printed.await.unwrap_or_default());
    }
    let said = complaints.await.unwrap_or_default();
    Err(GitError::Failed {
        command: arguments.first().unwrap_or(&"").to_string(),
        said: one_line(&without_secrets(&said)),
    })
}

/// Returns why a command is aborted, once it takes too long or too much space.
async fn too_much(folder: Option<&Path>, began: Instant) -> Option<String> {
    if began.elapsed() > COMMAND_TIMEOUT {
        return Some(format!(
            "git took longer than {} s",
            COMMAND_TIMEOUT.as_secs()
        ));
    }
    let folder = folder?.to_owned();
    let size = tokio::task::spawn_blocking(move || size(&folder)).await;
    let is_too_large = size.unwrap_or_default() > MAX_REPOSITORY_BYTES;
    is_too_large.then(|| {
        format!(
            "the repository takes up more than {} MB",
            MAX_REPOSITORY_BYTES >> 20
        )
    })
}

/// Returns the first bytes of a stream; the rest is read and dropped, so that the writer does not
/// block.
async fn beginning(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else {
        return String::new();
    };
    let mut said = Vec::new();
    let _ = (&mut stream)
        .take(MAX_OUTPUT_BYTES)
        .read_to_end(&mut said)
        .await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&said).into_owned()
}

/// Returns the total bytes below a folder.
fn size(folder: &Path) -> u64 {
    let (mut bytes, mut open) = (0, vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_gone) => {}
            }
        }
    }
    bytes
}

impl fmt::Display for Git {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_not_told() {
        for (text, shown) in [
            (
                "fatal: 'https://ada:pw@x.org/a/' not found",
                "fatal: 'https://…@x.org/a/' not found",
            ),
            (
                "https://x.org/a@b and ssh://git@h/x",
                "https://x.org/a@b and ssh://…@h/x",
            ),
            ("git@x.org:a/b", "git@x.org:a/b"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn names_and_passwords_are_no_arguments() {
        let header = "http.https://x.org/a.git.extraHeader";
        let name = "credential.https://x.org:8443/a.username";
        for (address, bare, settings) in [
            (
                "https://ada:pw@x.org/a.git",
                "https://x.org/a.git",
                &[
                    (header, "Authorization: Basic YWRhOnB3"),
                    ("credential.helper", ""),
                ][..],
            ),
            (
                "https://ada:p%40:w@x.org/a.git",
                "https://x.org/a.git",
                &[
                    (header, "Authorization: Basic YWRhOnBAOnc="),
                    ("credential.helper", ""),
                ],
            ),
            (
                "https://t%2Dk@x.org:8443/a",
                "https://x.org:8443/a",
                &[(name, "t-k")],
            ),
            ("https://x.org/a@b", "https://x.org/a@b", &[]),
            ("ssh://git@x.org/a", "ssh://git@x.org/a", &[]),
            ("git@x.org:a/b", "git@x.org:a/b", &[]),
            ("/srv/notes", "/srv/notes", &[]),
        ] {
            let remote = Remote::of(address);
            assert_eq!(remote.address, bare);
            let passed = remote.settings.iter();
            let passed: Vec<(&str, &str)> = passed
                .map(|(name, value)| (name.as_str(), value.expose_secret()))
                .collect();
            assert_eq!(passed, settings, "{address}");
        }
    }

    #[test]
    fn relative_paths_are_told_from_hosts() {
        for (address, expected) in [
            ("../work/notes", true),
            ("notes", true),
            ("a/b:c", true),
            ("/srv/notes", false),
            ("https://x.org/a", false),
            ("file:///srv/notes", false),
            ("git@x.org:a/b", false),
            ("host:notes", false),
            ("--upload-pack=x", false),
            (" ", false),
        ] {
            assert_eq!(is_relative_path(address), expected, "{address}");
        }
    }
}

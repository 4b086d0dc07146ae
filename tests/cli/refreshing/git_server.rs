//! Serves git repositories from a web server on this machine, with git's own `git http-backend`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::process::Command;

/// A repository and its working tree.
pub(super) struct Repository(PathBuf);

impl Repository {
    pub(super) fn new(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let repository = Self(folder.to_owned());
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    pub(super) fn put(&self, name: &str, text: &str) {
        super::write(&self.0.join(name), text);
    }

    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.join(name)).unwrap();
    }

    pub(super) fn commit(&self, what: &str) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "-m", what]);
    }

    /// Removes what the newest commit consists of, as a damaged disk would.
    pub(super) fn lose_newest_tree(&self) {
        let tree = self.git(&["rev-parse", "HEAD^{tree}"]);
        let (folder, file) = tree.trim().split_at(2);
        let objects = self.0.join(".git/objects").join(folder);
        std::fs::remove_file(objects.join(file)).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .arg("-C")
            .arg(&self.0)
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }
}

#[derive(Clone)]
struct Inside {
    root: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
    authorizations: Arc<Mutex<Vec<String>>>,
    arguments: Arc<Mutex<Vec<String>>>,
}

/// Serves the repositories below a folder.
pub(super) struct GitServer {
    pub(super) address: String,
    inside: Inside,
}

impl GitServer {
    pub(super) async fn start(root: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let inside = Inside {
            root: root.to_owned(),
            asked: Arc::default(),
            authorizations: Arc::default(),
            arguments: Arc::default(),
        };
        let router = Router::new().fallback(answer).with_state(inside.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, inside }
    }

    /// Returns the requests since the last call: `FETCH` or `GET`, and the path.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.inside.asked.lock().unwrap())
    }

    /// Returns the `Authorization` of each request.
    pub(super) fn authorizations(&self) -> Vec<String> {
        self.inside.authorizations.lock().unwrap().clone()
    }

    /// Returns the arguments of the processes that made the requests, as everybody can read them.
    pub(super) fn arguments(&self) -> Vec<String> {
        self.inside.arguments.lock().unwrap().clone()
    }
}

/// Returns the arguments of each running process that name a host.
fn arguments_with(host: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(host)).collect()
}

async fn answer(State(inside): State<Inside>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let is_fetch = body.windows(13).any(|part| part == b"command=fetch");
    let what = if is_fetch { "FETCH" } else { "GET" };
    inside
        .asked
        .lock()
        .unwrap()
        .push(format!("{what} {}", parts.uri.path()));
    let header = |name: &str| {
        let value = parts.headers.get(name).map(|it| it.to_str().unwrap());
        value.unwrap_or_default().to_owned()
    };
    let authorization = header("authorization");
    inside.authorizations.lock().unwrap().push(authorization);
    let arguments = arguments_with(&header("host"));
    inside.arguments.lock().unwrap().extend(arguments);
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", &inside.root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REQUEST_METHOD", parts.method.as_str())
        .env("PATH_INFO", parts.uri.path())
        .env("QUERY_STRING", parts.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&body).await.unwrap();
    drop(stdin);
    let done = child.wait_with_output().await.unwrap();
    let end = done.stdout.windows(4).position(|part| part == b"\r\n\r\n");
    let Some(end) = end else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = Response::builder();
    for line in String::from_utf8_lossy(&done.stdout[..end]).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = match name {
            "Status" => response.status(value[..3].parse::<u16>().unwrap()),
            _other => response.header(name, value),
        };
    }
    let body = done.stdout[end + 4..].to_vec();
    response.body(Body::from(body)).unwrap()
}

//! A proxy in front of a homeserver that holds room keys back, as a slow federation does.

use std::sync::{Arc, Mutex};

use matrix_sdk::reqwest::{Client, Method, Url};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A proxy that answers requests with keys as if they had been passed on.
#[derive(Clone, Debug)]
pub struct KeyHolder {
    address: String,
    homeserver: String,
    client: Client,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    holds: bool,
    requests: Vec<Request>,
}

#[derive(Clone, Debug)]
struct Request {
    method: String,
    path: String,
    authorization: String,
    content_type: String,
    body: Vec<u8>,
}

impl KeyHolder {
    /// Starts one, which holds nothing yet.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn before(homeserver: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let holder = Self {
            address: format!("http://{address}"),
            homeserver: homeserver.to_owned(),
            client: Client::new(),
            held: Arc::default(),
        };
        let serving = holder.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let holder = serving.clone();
                // A client that hangs up needs no answer.
                tokio::spawn(async move { holder.serve(stream).await });
            }
        });
        holder
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().expect("no panic")
    }

    /// Holds the keys that come from now on.
    pub fn hold(&self) {
        self.held().holds = true;
    }

    /// Passes on what was held, and everything from now on.
    ///
    /// # Panics
    /// When the homeserver takes nothing.
    pub async fn release(&self) {
        let requests = {
            let mut held = self.held();
            held.holds = false;
            std::mem::take(&mut held.requests)
        };
        for request in requests {
            self.pass_on(&request).await.expect("passed on");
        }
    }

    async fn serve(&self, stream: TcpStream) -> Option<()> {
        let (reader, mut writer) = stream.into_split();
        let request = Request::read(BufReader::new(reader)).await?;
        let (status, body) = if self.holds_back(&request) {
            (200, b"{}".to_vec())
        } else {
            self.pass_on(&request).await?
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        writer.write_all(head.as_bytes()).await.ok()?;
        writer.write_all(&body).await.ok()
    }

    fn holds_back(&self, request: &Request) -> bool {
        let mut held = self.held();
        let is_keys = request.path.contains("/sendToDevice/m.room.encrypted/");
        let holds = held.holds && is_keys;
        if holds {
            held.requests.push(request.clone());
        }
        holds
    }

    async fn pass_on(&self, request: &Request) -> Option<(u16, Vec<u8>)> {
        let url = Url::parse(&format!("{}{}", self.homeserver, request.path)).ok()?;
        let method = Method::from_bytes(request.method.as_bytes()).ok()?;
        let mut passed = self.client.request(method, url).body(request.body.clone());
        for (name, value) in [
            ("authorization", &request.authorization),
            ("content-type", &request.content_type),
        ] {
            if !value.is_empty() {
                passed = passed.header(name, value);
            }
        }
        let response = passed.send().await.ok()?;
        let status = response.status().as_u16();
        Some((status, response.bytes().await.ok()?.to_vec()))
    }
}

impl Request {
    async fn read(mut reader: BufReader<tokio::net::tcp::OwnedReadHalf>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).await.ok()?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let (mut authorization, mut content_type, mut length) = (String::new(), String::new(), 0);
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).await.ok()?;
            let Some((name, value)) = header.trim_end().split_once(':') else {
                break;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "authorization" => authorization = value.to_owned(),
                "content-type" => content_type = value.to_owned(),
                "content-length" => length = value.parse().ok()?,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await.ok()?;
        Some(Self {
            method,
            path,
            authorization,
            content_type,
            body,
        })
    }
}

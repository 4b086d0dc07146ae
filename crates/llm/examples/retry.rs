//! Asks a model service that is busy at first: the client waits as it is told, and asks again. The client's own limit then
//! ends the next call before it is sent.
//!
//! `cargo run -p muninn-llm --example retry`

#![allow(clippy::print_stdout, reason = "an example says what it found")]

use std::error::Error;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use muninn_llm::{
    ChatMessage, ChatModel, ChatRequest, Limiter, ModelConfig, ModelError, Piece, Purpose, Sampling,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const BUSY: &str = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const ANSWER: &str = concat!(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    r#"data: {"model":"small","choices":[{"index":0,"delta":{"content":"The ferry "}}]}"#,
    "\n\n",
    r#"data: {"model":"small","choices":[{"index":0,"delta":{"content":"leaves at six."},"finish_reason":"stop"}]}"#,
    "\n\ndata: [DONE]\n\n",
);

/// A model service that is busy when it is asked first. It counts how often it was asked.
async fn serve(listener: TcpListener, asked: Arc<AtomicUsize>) -> std::io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let mut heard = Vec::new();
        // The request ends with its body, which is a JSON object.
        while !heard.ends_with(b"}") && stream.read_buf(&mut heard).await? > 0 {}
        let is_first = asked.fetch_add(1, Ordering::SeqCst) == 0;
        let answer = if is_first { BUSY } else { ANSWER };
        stream.write_all(answer.as_bytes()).await?;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The program chooses how TLS is done, even for a service without it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut config = ModelConfig::new(format!("http://{}/v1", listener.local_addr()?), "small");
    let asked = Arc::new(AtomicUsize::new(0));
    tokio::spawn(serve(listener, Arc::clone(&asked)));

    // A retry counts, too.
    config.limits.person_requests_per_minute = NonZeroU32::new(2);
    config.limits.longest_wait = Duration::from_secs(1);
    let model = ChatModel::new(&config, Arc::new(Limiter::new(&config.limits)))?;

    let request = ChatRequest {
        messages: vec![ChatMessage::User("When does the ferry leave?".to_owned())],
        images: Vec::new(),
        tools: Vec::new(),
        known_tools: Vec::new(),
        shape: None,
        sampling: Sampling::default(),
        max_tokens: 100,
        purpose: Purpose::Answer,
        model: None,
        person: "Ada".to_owned(),
    };
    let mut shown = String::new();
    let show = &mut |piece: Piece| piece.add_to(&mut shown);
    let answer = model.complete(&request, show).await?;
    let attempts = asked.load(Ordering::SeqCst);
    println!("{} (The service was asked {attempts} times.)", answer.text);
    assert_eq!((&*shown, attempts), ("The ferry leaves at six.", 2));

    let next = model.complete(&request, &mut |_| {}).await;
    let refused = next.expect_err("it is one request too many");
    println!("The next call: {refused}");
    assert!(matches!(refused, ModelError::Busy));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    Ok(())
}

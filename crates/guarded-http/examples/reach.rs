//! Reads addresses that somebody else wrote: none of this machine's network, unless that is meant.
//!
//! `cargo run -p guarded-http --example reach`

#![allow(clippy::print_stdout, reason = "an example says what it found")]

use std::error::Error;

use guarded_http::{AllowedAddresses, NotAsked, check, client_builder, read_body};
use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Maximum bytes of a page.
const MOST: usize = 1_024;

async fn read(url: &str, reach: AllowedAddresses) -> Result<String, Box<dyn Error>> {
    let url = Url::parse(url)?;
    // For an address that is a number; the client checks what a name leads to.
    check(&url, reach)?;
    let response = client_builder(reach).build()?.get(url).send().await?;
    Ok(String::from_utf8(read_body(response, MOST).await?)?)
}

/// A page of this machine, which nobody outside should read.
async fn serve(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let mut asked = [0; 1_024];
        let _ = stream.read(&mut asked).await?;
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
        stream.write_all(answer).await?;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The program chooses how TLS is done, even where it reads no https.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(serve(listener));

    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://0x7f.1:{port}/"),
        "http://10.0.0.1/admin".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ] {
        let refused = read(&url, AllowedAddresses::Public)
            .await
            .expect_err("it is private");
        let why = NotAsked::find_in_causes(&*refused).ok_or("another error")?;
        assert!(matches!(why, NotAsked::Private { .. }), "{why}");
        println!("refused: {}", url.replace(&port.to_string(), "PORT"));
    }

    let page = read(
        &format!("http://localhost:{port}/"),
        AllowedAddresses::Anywhere,
    )
    .await?;
    println!("read, because it is meant: {page}");
    assert_eq!(page, "hello");
    Ok(())
}

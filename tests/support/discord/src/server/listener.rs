//! Accepts connections, and cuts them when a test wants it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::respond::CutHere;

/// A socket that serves until it is dropped.
#[derive(Debug)]
pub(crate) struct ServerHandle {
    pub(crate) address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Serves on a bound socket, with TLS or without.
pub(crate) fn listen(
    listener: TcpListener,
    router: Router,
    tls: Option<Arc<rustls::ServerConfig>>,
) -> ServerHandle {
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let serving = tokio::spawn(async move {
        // Its connections end with it.
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let Ok((stream, _)) = accepted else { continue };
            connections.spawn(serve(stream, router.clone(), tls.clone()));
        }
    });
    ServerHandle { address, serving }
}

async fn serve(stream: TcpStream, router: Router, tls: Option<Arc<rustls::ServerConfig>>) {
    // A client that waits for a response must not wait for the next one.
    let _ = stream.set_nodelay(true);
    match tls {
        None => speak(stream, router).await,
        Some(config) => {
            // A client that trusts another authority closes the connection, which is no failure.
            if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                speak(stream, router).await;
            }
        }
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let router = router.clone();
        async move {
            let Ok(response) = router.oneshot(request.map(Body::new)).await;
            // An error ends the connection without a response.
            if response.extensions().get::<CutHere>().is_some() {
                Err(CutHere)
            } else {
                Ok(response)
            }
        }
    });
    // Offers HTTP/2, as Discord does.
    let server = auto::Builder::new(TokioExecutor::new());
    let connection = server.serve_connection_with_upgrades(TokioIo::new(stream), service);
    // Clients may disconnect at any time.
    let _ = connection.await;
}

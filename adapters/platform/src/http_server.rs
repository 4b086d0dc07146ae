//! Serves HTTP to clients that nobody knows yet. Whoever sends slowly, or nothing, must not use up the process's files: its
//! connection ends in time, and the number of connections is limited.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Pause after the system refused a connection, as with too many open files.
const PAUSE: Duration = Duration::from_secs(1);

/// The limits of a listener. Answers have none: a stream takes as long as it takes.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Maximum time until the head of a request is there, also of the next one on a connection.
    pub head: Duration,
    /// Maximum time until the body is there.
    pub body: Duration,
    /// Maximum time of a request that is not whole when the listener ends.
    pub closing: Duration,
    /// Maximum connections; more wait until one ends.
    pub connections: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            closing: Duration::from_secs(1),
            connections: 512,
        }
    }
}

/// Serves until `shutdown`, and then until the requests that are whole are answered. Handlers may take the client's address as
/// `ConnectInfo<SocketAddr>`.
pub async fn serve_http(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    shutdown: &CancellationToken,
) {
    let free = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    let accepting = async {
        while let Ok(place) = Arc::clone(&free).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, from)) => {
                    let client = Client {
                        stream,
                        from,
                        _place: place,
                    };
                    let (router, shutdown) = (router.clone(), shutdown.clone());
                    connections.spawn(client.serve(router, limits, shutdown));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(PAUSE).await;
                }
            }
        }
    };
    let _ended = shutdown.run_until_cancelled(accepting).await;
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// A connected client.
struct Client {
    stream: TcpStream,
    from: SocketAddr,
    _place: OwnedSemaphorePermit,
}

impl Client {
    async fn serve(self, router: Router, limits: HttpLimits, shutdown: CancellationToken) {
        let (requests, bodies) = (Arc::new(()), Arc::new(()));
        let from = self.from;
        let held = (Arc::clone(&requests), Arc::clone(&bodies));
        let service = service_fn(move |request: Request<Incoming>| {
            let held = (Arc::clone(&held.0), Arc::clone(&held.1));
            answer(router.clone(), from, limits.body, held, request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .serve_connection(TokioIo::new(self.stream), service);
        let mut connection = pin!(connection);
        tokio::select! {
            ended = connection.as_mut() => return log_end(ended, from),
            () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        loop {
            tokio::select! {
                ended = connection.as_mut() => return log_end(ended, from),
                () = sleep(limits.closing) => {
                    let is_answering = Arc::strong_count(&requests) > HELD
                        && Arc::strong_count(&bodies) == HELD;
                    if !is_answering {
                        return;
                    }
                }
            }
        }
    }
}

/// How often a connection itself holds what it counts with.
const HELD: usize = 2;

fn log_end(ended: hyper::Result<()>, from: SocketAddr) {
    if let Err(error) = ended {
        tracing::debug!(%error, %from, "a connection ended");
    }
}

/// Answers a request. `held` is given to the response and to the body of the request, for as long as they exist.
async fn answer(
    router: Router,
    from: SocketAddr,
    limit: Duration,
    (request_held, body_held): (Arc<()>, Arc<()>),
    request: Request<Incoming>,
) -> Result<Response<HeldBody>, Infallible> {
    let is_late = Arc::new(AtomicBool::new(false));
    let mut request = request.map(|body| {
        AxumBody::new(TimedBody {
            held: (!body.is_end_stream()).then_some(body_held),
            body,
            limit: Box::pin(sleep(limit)),
            is_late: Arc::clone(&is_late),
        })
    });
    request.extensions_mut().insert(ConnectInfo(from));
    let response = TowerToHyperService::new(router).call(request).await?;
    let response = match is_late.load(Ordering::Relaxed) {
        true => StatusCode::REQUEST_TIMEOUT.into_response(),
        false => response,
    };
    Ok(response.map(|body| HeldBody {
        body,
        _held: request_held,
    }))
}

/// The body of a request, which has to be there in time.
struct TimedBody {
    body: Incoming,
    limit: Pin<Box<Sleep>>,
    is_late: Arc<AtomicBool>,
    /// Until all of it is there.
    held: Option<Arc<()>>,
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if frame.is_none() || self.body.is_end_stream() {
                self.held = None;
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(self.limit.as_mut().poll(context));
        self.is_late.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err("the body did not come in time".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response, with what shows that it is not sent yet.
struct HeldBody {
    body: AxumBody,
    _held: Arc<()>,
}

impl Body for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::Notify;
    use tokio::task::JoinHandle;

    use super::*;

    const LONG: Duration = Duration::from_mins(10);
    const SHORT: Duration = Duration::from_millis(50);
    const PATIENT: HttpLimits = HttpLimits {
        head: LONG,
        body: LONG,
        closing: SHORT,
        connections: 8,
    };
    const HALF_HEAD: &str = "POST /echo HTTP/1.1\r\nhost: x\r\n";
    const HALF_BODY: &str = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf";
    const WHOLE: &str = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nhalf";

    struct Server {
        address: SocketAddr,
        shutdown: CancellationToken,
        serving: JoinHandle<()>,
        /// Ends the request to `/wait`.
        done: Arc<Notify>,
        /// Tells that it began.
        began: Arc<Notify>,
    }

    impl Server {
        async fn with(limits: HttpLimits) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (done, began) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let wait = {
                let (done, began) = (Arc::clone(&done), Arc::clone(&began));
                async move || {
                    began.notify_one();
                    done.notified().await;
                    "waited"
                }
            };
            let router = Router::new()
                .route("/echo", post(async |body: Bytes| body))
                .route("/wait", get(wait))
                .route(
                    "/from",
                    get(async |ConnectInfo(from): ConnectInfo<SocketAddr>| from.to_string()),
                );
            let shutdown = CancellationToken::new();
            let ended = shutdown.clone();
            let serving =
                tokio::spawn(async move { serve_http(listener, router, limits, &ended).await });
            Self {
                address,
                shutdown,
                serving,
                done,
                began,
            }
        }

        async fn sends(&self, text: &str) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            stream
        }
    }

    /// What comes until the server closes the connection.
    async fn all(mut stream: TcpStream) -> String {
        let mut all = Vec::new();
        // A reset is an end, too.
        let _ = stream.read_to_end(&mut all).await;
        String::from_utf8(all).unwrap()
    }

    #[tokio::test]
    async fn half_a_head_and_half_a_body_end_in_time() {
        for (limits, sent, answer) in [
            (
                HttpLimits {
                    head: SHORT,
                    ..PATIENT
                },
                HALF_HEAD,
                "",
            ),
            (
                HttpLimits {
                    head: SHORT,
                    ..PATIENT
                },
                "",
                "",
            ),
            (
                HttpLimits {
                    body: SHORT,
                    ..PATIENT
                },
                HALF_BODY,
                "HTTP/1.1 408",
            ),
        ] {
            let server = Server::with(limits).await;
            let answered = all(server.sends(sent).await).await;
            assert!(answered.starts_with(answer), "{sent:?}: {answered}");
        }
    }

    #[tokio::test]
    async fn an_ending_server_answers_whole_requests_and_waits_for_no_half_one() {
        let server = Server::with(PATIENT).await;
        let halves = [
            server.sends("").await,
            server.sends(HALF_HEAD).await,
            server.sends(HALF_BODY).await,
        ];
        let whole = server.sends("GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await;
        server.began.notified().await;
        server.shutdown.cancel();
        for half in halves {
            assert_eq!(all(half).await, "");
        }
        server.done.notify_one();
        assert!(all(whole).await.ends_with("waited"));
        server.serving.await.unwrap();
        TcpStream::connect(server.address).await.unwrap_err();
    }

    #[tokio::test]
    async fn more_connections_wait_until_one_ends() {
        let server = Server::with(HttpLimits {
            connections: 1,
            ..PATIENT
        })
        .await;
        let mut first = server.sends(WHOLE).await;
        let mut second = server.sends(WHOLE).await;
        let mut buffer = [0; 12];
        first.read_exact(&mut buffer).await.unwrap();
        assert_eq!(
            second.try_read(&mut buffer).unwrap_err().kind(),
            std::io::ErrorKind::WouldBlock
        );
        drop(first);
        second.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"HTTP/1.1 200");
    }

    #[tokio::test]
    async fn a_handler_knows_who_asks() {
        let server = Server::with(PATIENT).await;
        let stream = server
            .sends("GET /from HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await;
        let ours = stream.local_addr().unwrap().to_string();
        assert!(all(stream).await.ends_with(&ours));
    }
}

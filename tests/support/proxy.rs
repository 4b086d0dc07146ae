//! A proxy between a client and a server that a test can interrupt.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Passes everything on to one server, until it is cut.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    cut: Arc<Notify>,
    /// Delay of each piece of a response, in milliseconds.
    late: Arc<AtomicU64>,
    /// Whether the response to the next commit is dropped.
    loses_commit: Arc<AtomicBool>,
}

impl Proxy {
    pub async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            is_cut: Arc::default(),
            cut: Arc::default(),
            late: Arc::default(),
            loses_commit: Arc::default(),
        };
        let (is_cut, cut) = (Arc::clone(&proxy.is_cut), Arc::clone(&proxy.cut));
        let late = Arc::clone(&proxy.late);
        let loses_commit = Arc::clone(&proxy.loses_commit);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, cut, late) = (target.clone(), Arc::clone(&cut), Arc::clone(&late));
                let (is_cut, loses_commit) = (Arc::clone(&is_cut), Arc::clone(&loses_commit));
                tokio::spawn(async move {
                    // Waited for from now on, so that no cut is missed while the connection is made.
                    let mut cut = pin!(cut.notified());
                    cut.as_mut().enable();
                    if is_cut.load(Ordering::SeqCst) {
                        return;
                    }
                    let mut server = TcpStream::connect(target).await.unwrap();
                    let (from_client, to_client) = client.split();
                    let (mut from_server, to_server) = server.split();
                    let is_committed = tokio::select! {
                        is_committed = pass_on(from_client, to_server, &loses_commit) => is_committed,
                        () = pass_late(&mut from_server, to_client, &late) => false,
                        () = cut => false,
                    };
                    if is_committed {
                        // The server's response is dropped.
                        let mut reply = vec![0; 64 * 1024];
                        let read = from_server.read(&mut reply);
                        let _ = tokio::time::timeout(Duration::from_secs(2), read).await;
                    }
                });
            }
        });
        proxy
    }

    pub fn bolt_url(&self) -> String {
        format!("bolt://{}", self.address)
    }

    /// Closes every connection, and every new one at once.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cut.notify_waiters();
    }

    /// Delays each piece of a response this much from now on.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn slow(&self, late: Duration) {
        let late = u64::try_from(late.as_millis()).unwrap();
        self.late.store(late, Ordering::SeqCst);
    }

    /// Sends the next write to the server, and cuts the connection before its response arrives: the
    /// writer does not know whether it took effect.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn lose_next_commit(&self) {
        self.loses_commit.store(true, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

/// Passes requests on until the end, or until the response to one is to be dropped; returns whether
/// it is.
async fn pass_on(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, loses: &AtomicBool) -> bool {
    // Bolt's BEGIN and COMMIT, and the PULL without which an auto-commit statement does not commit.
    const BEGIN: [u8; 2] = [0xb1, 0x11];
    const COMMIT: [u8; 2] = [0xb0, 0x12];
    const PULL: [u8; 2] = [0xb1, 0x3f];
    let has = |piece: &[u8], text: &[u8]| piece.windows(text.len()).any(|part| part == text);
    let (mut writes, mut is_in_transaction) = (false, false);
    let mut piece = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        let piece = &piece[..read];
        writes |= [&b"MERGE"[..], b"CREATE", b"DELETE", b" SET "]
            .iter()
            .any(|word| has(piece, word));
        is_in_transaction |= has(piece, &BEGIN);
        let is_commit = has(piece, &COMMIT) || (writes && !is_in_transaction && has(piece, &PULL));
        if to.write_all(piece).await.is_err() {
            return false;
        }
        if is_commit {
            (writes, is_in_transaction) = (false, false);
            if loses.swap(false, Ordering::SeqCst) {
                return true;
            }
        }
    }
    false
}

async fn pass_late(from: &mut ReadHalf<'_>, mut to: WriteHalf<'_>, late: &AtomicU64) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        tokio::time::sleep(Duration::from_millis(late.load(Ordering::SeqCst))).await;
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

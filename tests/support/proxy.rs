//! A wire between a client and a server that a test can cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Passes everything on to one server, until it is cut.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    cut: Arc<Notify>,
    /// Milliseconds that each piece of an answer is late.
    late: Arc<AtomicU64>,
}

impl Proxy {
    pub async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            is_cut: Arc::default(),
            cut: Arc::default(),
            late: Arc::default(),
        };
        let (is_cut, cut) = (Arc::clone(&proxy.is_cut), Arc::clone(&proxy.cut));
        let late = Arc::clone(&proxy.late);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let (target, cut, late) = (target.clone(), Arc::clone(&cut), Arc::clone(&late));
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(target).await.unwrap();
                    let (mut from_client, to_client) = client.split();
                    let (from_server, mut to_server) = server.split();
                    tokio::select! {
                        _ = copy(&mut from_client, &mut to_server) => {}
                        () = pass_late(from_server, to_client, &late) => {}
                        () = cut.notified() => {}
                    }
                });
            }
        });
        proxy
    }

    pub fn bolt_url(&self) -> String {
        format!("bolt://{}", self.address)
    }

    /// Ends every connection, and every new one at once.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cut.notify_waiters();
    }

    /// From now on each piece of an answer comes this much later.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn slow(&self, late: Duration) {
        let late = u64::try_from(late.as_millis()).unwrap();
        self.late.store(late, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

async fn pass_late(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, late: &AtomicU64) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        tokio::time::sleep(Duration::from_millis(late.load(Ordering::SeqCst))).await;
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

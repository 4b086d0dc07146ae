//! A wire between a client and a server that a test can cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Passes everything on to one server, until it is cut.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    cut: Arc<Notify>,
}

impl Proxy {
    pub async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            is_cut: Arc::default(),
            cut: Arc::default(),
        };
        let (is_cut, cut) = (Arc::clone(&proxy.is_cut), Arc::clone(&proxy.cut));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let (target, cut) = (target.clone(), Arc::clone(&cut));
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(target).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
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

    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

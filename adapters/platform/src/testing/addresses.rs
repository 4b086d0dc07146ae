//! Addresses for programs that a test starts.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// The first of the ports. They are below those that a system gives to outgoing connections and to listeners at port 0, which
/// begin at 32768 on Linux.
pub(super) const FIRST: u16 = 20_000;
/// Ports of one process. It listens at the first of them as long as it lives, so that no other process takes them.
pub(super) const OWN: u16 = 300;
/// Processes with ports of their own at the same time.
const PROCESSES: u16 = 40;

/// Returns a local address at which nobody listens, and which nobody else takes before the test uses it: each one is given again
/// only after all the others, and another process has other ports.
///
/// # Panics
/// Panics when all of them are in use.
pub fn free_address() -> SocketAddr {
    static OURS: LazyLock<(u16, TcpListener)> = LazyLock::new(own_ports);
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = OURS.0;
    for _ in 1..OWN {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % (OWN - 1);
        let address = local(first + 1 + number);
        if TcpListener::bind(address).is_ok() {
            return address.into();
        }
    }
    panic!("all {OWN} ports of this process are in use");
}

/// Takes the ports of this process. Returns the first of them, and what keeps them.
fn own_ports() -> (u16, TcpListener) {
    let begin = std::process::id() % u32::from(PROCESSES);
    let begin = u16::try_from(begin).unwrap_or_default();
    for process in (begin..PROCESSES).chain(0..begin) {
        let first = FIRST + process * OWN;
        if let Ok(listener) = TcpListener::bind(local(first)) {
            return (first, listener);
        }
    }
    panic!("{PROCESSES} processes have ports already");
}

fn local(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
}

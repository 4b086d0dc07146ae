//! Addresses for programs that a test starts.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// The first of the ports. They are below those that a system gives to outgoing connections and to listeners at port 0, which
/// begin at 32768 on Linux.
const FIRST: u16 = 20_000;
/// Ports of one process.
const OWN: u16 = 100;
/// Processes with ports of their own.
const PROCESSES: u16 = 90;

/// Returns a local address at which nobody listens, and which nobody else takes before the test uses it: each one is given once,
/// and another process has other ports.
///
/// # Panics
/// Panics when all of them are in use.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let process = std::process::id() % u32::from(PROCESSES);
    let process = u16::try_from(process).unwrap_or_default();
    for _ in 0..OWN {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % OWN;
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, FIRST + process * OWN + number);
        if TcpListener::bind(address).is_ok() {
            return address.into();
        }
    }
    panic!("all {OWN} ports of this process are in use");
}

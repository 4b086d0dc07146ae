//! A proxy between the loopback Slack and the bot, for measurements. It records when an envelope
//! reaches the bot and when its acknowledgement leaves it, so the bot's share of a wait can be told
//! from that of a server in the same process. Its ends are threads, which wait in no runtime's
//! queue.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// When something passed for the first time, by envelope.
type Passed = Arc<Mutex<HashMap<String, Instant>>>;

#[derive(Default)]
pub(crate) struct Wire {
    told: Passed,
    acknowledged: Passed,
}

impl Wire {
    /// Starts a proxy to the server at `far`; returns its own address too.
    pub(crate) fn to(far: SocketAddr) -> (Self, SocketAddr) {
        let wire = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = listener.local_addr().unwrap();
        let (told, acknowledged) = (Arc::clone(&wire.told), Arc::clone(&wire.acknowledged));
        thread::spawn(move || {
            for bot in listener.incoming().map_while(Result::ok) {
                let slack = TcpStream::connect(far).unwrap();
                let ends = (bot.try_clone().unwrap(), slack.try_clone().unwrap());
                carry(slack, ends.0, Arc::clone(&told));
                carry(bot, ends.1, Arc::clone(&acknowledged));
            }
        });
        (wire, near)
    }

    /// Returns the times from an envelope's arrival to its acknowledgement; each only once.
    pub(crate) fn take_waits(&self) -> Vec<Duration> {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().unwrap());
        let wait = |(envelope, at): (&String, &Instant)| Some(*at - *told.get(envelope)?);
        acknowledged.iter().filter_map(wait).collect()
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, passed: Passed) {
    to.set_nodelay(true).unwrap();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        // Bytes that were not parsed yet; they begin with the HTTP head.
        let (mut rest, mut is_past_head) = (Vec::new(), false);
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let at = Instant::now();
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
            rest.extend_from_slice(&buffer[..count]);
            if !is_past_head {
                let end = rest.windows(4).position(|four| four == b"\r\n\r\n");
                let Some(end) = end else { continue };
                rest.drain(..end + 4);
                is_past_head = true;
            }
            while let Some((text, length)) = frame(&rest) {
                rest.drain(..length);
                let said: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
                if let Some(envelope) = said["envelope_id"].as_str() {
                    let mut passed = passed.lock().unwrap();
                    passed.entry(envelope.to_owned()).or_insert(at);
                }
            }
        }
        // The other end may have closed first.
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// Returns the content of the first WebSocket frame, and the frame's length (RFC 6455, 5.2).
fn frame(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let second = *bytes.get(1)?;
    let (size, mut at) = match second & 0x7f {
        126 => (
            usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)),
            4,
        ),
        127 => {
            let size = u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?);
            (usize::try_from(size).ok()?, 10)
        }
        size => (usize::from(size), 2),
    };
    let mut mask = [0; 4];
    if second & 0x80 != 0 {
        mask = bytes.get(at..at + 4)?.try_into().ok()?;
        at += 4;
    }
    let content = bytes.get(at..at + size)?.iter().zip(mask.iter().cycle());
    let content = content.map(|(byte, mask)| byte ^ mask).collect();
    Some((content, at + size))
}

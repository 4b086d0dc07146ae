//! What all connections share.

use std::time::Duration;

use futures::stream::SplitStream;
use tokio::net::UnixStream;
use tokio_util::codec::{Framed, LinesCodec};

/// Maximum time of a command after the process is told to end.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_secs(3);

/// Frames buffered for a client.
pub(super) const FRAME_CAPACITY: usize = 32;

pub(super) type ConnectionLines = SplitStream<Framed<UnixStream, LinesCodec>>;

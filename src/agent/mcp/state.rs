//! The state of a server.

use std::fmt;
use std::time::Duration;

use muninn_platform::count_with_noun;

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It was not tried yet.
    Starting,
    Ready {
        tools: usize,
        /// How many of them may change something.
        asking: usize,
        /// Why other tools are not offered.
        left_out: Vec<String>,
    },
    Down {
        why: String,
        /// `None` if it is not tried again.
        again_in: Option<Duration>,
    },
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => write!(f, "is starting"),
            Self::Ready {
                tools,
                asking,
                left_out,
            } => {
                write!(f, "{}", count_with_noun(*tools, "tool"))?;
                if *asking > 0 {
                    write!(f, ", of which {asking} may change something and ask first")?;
                }
                match left_out.as_slice() {
                    [] => Ok(()),
                    left_out => write!(f, "; left out: {}", left_out.join("; ")),
                }
            }
            Self::Down { why, again_in } => {
                write!(f, "is not there: {why}")?;
                match again_in {
                    Some(wait) => write!(f, "; tried again after {} s", wait.as_secs()),
                    None => Ok(()),
                }
            }
        }
    }
}

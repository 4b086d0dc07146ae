//! The socket of the terminals.

use muninn::config::Config;
use muninn_platform::Platform;
use muninn_terminal::{Session, SocketOptions, TerminalSocket, os_user};

/// Returns the socket, if one is configured.
pub(super) fn socket(config: &Config) -> anyhow::Result<Option<Box<dyn Platform>>> {
    let Some(path) = &config.terminal_socket else {
        return Ok(None);
    };
    let session = Session::new("default", &os_user())?;
    let socket = TerminalSocket::bind(SocketOptions::new(path.clone(), session))?;
    Ok(Some(Box::new(socket)))
}

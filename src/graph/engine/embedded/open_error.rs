//! Why a graph cannot be opened.

use std::fmt;
use std::io;
use std::path::Path;

use kglite::api::session::{LogOpenFailure, OpenError};

use super::database::FILE;
use crate::graph::StoreError;

pub(super) fn open_error(folder: &Path, error: OpenError) -> StoreError {
    match error {
        OpenError::Lease(refusal) if refusal.holder.is_some() => StoreError::Locked {
            path: folder.display().to_string(),
            holder: match refusal.holder.and_then(|holder| holder.pid) {
                Some(pid) => format!("process {pid}"),
                None => "another process".to_owned(),
            },
        },
        OpenError::Lease(refusal) => StoreError::Misconfigured(format!(
            "the graph's folder {} (of DATA_DIR or GRAPH_URL) cannot be used: {}",
            folder.display(),
            refusal.error
        )),
        OpenError::Open(error) => {
            if tells_of_damage(&error) {
                damaged(folder, &error.to_string())
            } else {
                not_opened(folder, &error)
            }
        }
        OpenError::Session {
            failure, message, ..
        } => match failure {
            LogOpenFailure::Io => not_opened(folder, &message),
            LogOpenFailure::Replay | LogOpenFailure::Refused => damaged(folder, &message),
        },
    }
}

/// Whether the file was read and is not right. Other errors are the system's, such as too many open
/// files, and the graph is whole.
fn tells_of_damage(error: &io::Error) -> bool {
    // The engine's own errors have no number of the system.
    error.raw_os_error().is_none()
        && matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other
        )
}

fn not_opened(folder: &Path, error: &impl fmt::Display) -> StoreError {
    StoreError::Misconfigured(format!(
        "the graph in {} cannot be opened: {error}",
        folder.display()
    ))
}

pub(super) fn damaged(folder: &Path, detail: &str) -> StoreError {
    StoreError::Corrupt {
        path: folder.join(FILE).display().to_string(),
        detail: format!(
            "{detail}; nothing was changed: move the folder aside and import the last export, \
             or restore a copy of the folder"
        ),
    }
}

#[cfg(test)]
mod tests {
    use kglite::api::durable::DurabilityLevel;

    use super::*;

    #[test]
    fn only_a_graph_that_was_read_and_is_not_right_is_damaged() {
        let system = |number| OpenError::Open(io::Error::from_raw_os_error(number));
        let engine = |kind| OpenError::Open(io::Error::new(kind, "why"));
        let log = |failure| OpenError::Session {
            durability: DurabilityLevel::Normal,
            failure,
            message: "why".to_owned(),
        };
        let (too_many_open_files, input_output, no_space) = (24, 5, 28);
        for (error, is_damaged) in [
            (system(too_many_open_files), false),
            (system(input_output), false),
            (system(no_space), false),
            (engine(io::ErrorKind::PermissionDenied), false),
            (engine(io::ErrorKind::OutOfMemory), false),
            (engine(io::ErrorKind::InvalidData), true),
            (engine(io::ErrorKind::UnexpectedEof), true),
            (OpenError::Open(io::Error::other("why")), true),
            (log(LogOpenFailure::Io), false),
            (log(LogOpenFailure::Replay), true),
            (log(LogOpenFailure::Refused), true),
        ] {
            let told = open_error(Path::new("data"), error);
            let said = told.to_string();
            let is_so = matches!(told, StoreError::Corrupt { .. });
            assert_eq!(is_so, is_damaged, "{said}");
            assert_eq!(said.contains("move the folder aside"), is_damaged, "{said}");
        }
    }
}

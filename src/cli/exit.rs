//! The exit code of a command.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// The exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Exit(u8);

impl Exit {
    pub(super) const SUCCESS: Self = Self(0);
    pub(super) const FAILURE: Self = Self(1);

    pub(super) fn of(succeeded: bool) -> Self {
        if succeeded {
            Self::SUCCESS
        } else {
            Self::FAILURE
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

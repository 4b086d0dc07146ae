//! From the configuration to the Matrix adapter.

use muninn::config::{Config, MatrixLogin, MatrixThreads};
use muninn_matrix::{Login, Options, Threads};

/// The adapter's options, where Matrix is configured.
pub(super) fn options(config: &Config) -> anyhow::Result<Option<Options>> {
    let Some(matrix) = &config.matrix else {
        return Ok(None);
    };
    let login = match &matrix.login {
        MatrixLogin::Password { user, password } => Login::Password {
            user: user.clone(),
            password: password.clone(),
        },
        MatrixLogin::AccessToken(token) => Login::AccessToken(token.clone()),
    };
    Ok(Some(Options {
        homeserver: matrix.homeserver.clone(),
        login,
        device_name: matrix.device_name.clone(),
        recovery_key: matrix.recovery_key.clone(),
        allow: matrix.allow.parse()?,
        threads: match matrix.threads {
            MatrixThreads::Always => Threads::Always,
            MatrixThreads::Follow => Threads::Follow,
            MatrixThreads::Never => Threads::Never,
        },
        catch_up: matrix.catch_up,
        command_prefix: matrix.command_prefix.clone(),
        folder: config.data_dir.join("matrix"),
    }))
}

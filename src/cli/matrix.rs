//! From the configuration to the Matrix adapter.

use muninn::config::{Config, MatrixConfig, MatrixLogin, MatrixThreads};
use muninn_matrix::{Login, Matrix, Options, Threads};
use muninn_platform::{Finding, Platform};

use super::platforms::unusable;

/// The adapter, where Matrix is configured.
pub(super) fn platform(config: &Config) -> anyhow::Result<Option<Box<dyn Platform>>> {
    let Some(matrix) = &config.matrix else {
        return Ok(None);
    };
    Ok(Some(Box::new(Matrix::new(options(config, matrix)?))))
}

/// What it says of its account.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let Some(matrix) = &config.matrix else {
        return Vec::new();
    };
    match options(config, matrix) {
        Ok(options) => muninn_matrix::check(&options).await,
        Err(error) => unusable(&error),
    }
}

/// The adapter's options.
fn options(config: &Config, matrix: &MatrixConfig) -> anyhow::Result<Options> {
    let login = match &matrix.login {
        MatrixLogin::Password { user, password } => Login::Password {
            user: user.clone(),
            password: password.clone(),
        },
        MatrixLogin::AccessToken(token) => Login::AccessToken(token.clone()),
    };
    Ok(Options {
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
    })
}

//! Keeps root from writing into the data of another account, as that of a service.
//!
//! Files that root makes there belong to root, and the account cannot open its own graph any more. `muninn serve` is not
//! kept from it: a container may run as root in a folder of the host.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use muninn::config::Config;
use nix::unistd::geteuid;

/// The data of an account.
struct OwnedData {
    path: PathBuf,
    user: u32,
    group: u32,
}

/// Fails where this process runs as root, and the data belongs to another account.
pub(super) fn refuse_root(config: &Config) -> anyhow::Result<()> {
    if let Some(OwnedData { path, user, group }) = of_another_account(config) {
        bail!(
            "{} belongs to account {user}, which could not read what root writes there; start `muninn serve`, in which \
             commands then run, or run this as that account: `setpriv --reuid={user} --regid={group} --clear-groups \
             muninn …` (docs/installing.md says how where systemd made the account)",
            path.display()
        );
    }
    Ok(())
}

/// Whether root may write here without taking anything away from another account.
pub(super) fn may_write(config: &Config) -> bool {
    of_another_account(config).is_none()
}

fn of_another_account(config: &Config) -> Option<OwnedData> {
    if !geteuid().is_root() {
        return None;
    }
    let graph = config.graph.url.strip_prefix("embedded:").map(Path::new);
    // Where a file is there already, its owner counts: the folder may be one of the host.
    let data = first_of([config.data_dir.join("format"), config.data_dir.clone()]);
    let graph = graph.and_then(|graph| first_of([graph.join("graph.kgl"), graph.to_owned()]));
    [data, graph]
        .into_iter()
        .flatten()
        .find(|found| found.user != 0)
}

fn first_of(paths: [PathBuf; 2]) -> Option<OwnedData> {
    paths.into_iter().find_map(|path| {
        let found: Metadata = std::fs::metadata(&path).ok()?;
        Some(OwnedData {
            path,
            user: found.uid(),
            group: found.gid(),
        })
    })
}

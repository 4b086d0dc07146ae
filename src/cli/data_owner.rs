//! Keeps root from writing into the data of another account, as that of a service.
//!
//! Files that root makes there belong to root, and the account cannot open its own graph any more.

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
    refuse(of_another_account(config))
}

/// Fails where this process runs as root, and there are files already that belong to another account. The folder alone
/// may be anybody's: a container may run as root in a folder of the host.
pub(super) fn refuse_root_to_serve(config: &Config) -> anyhow::Result<()> {
    refuse(first_of_another_account(files(config)))
}

fn refuse(data: Option<OwnedData>) -> anyhow::Result<()> {
    let Some(OwnedData { path, user, group }) = data else {
        return Ok(());
    };
    bail!(
        "{} belongs to account {user}, which could not read what root writes there; start the service of that account \
         (such as `systemctl start muninn`), in which commands then run, or run this as that account: \
         `setpriv --reuid={user} --regid={group} --clear-groups muninn …`, or a container with `--user={user}:{group}` \
         (docs/installing.md says how where systemd made the account)",
        path.display()
    )
}

/// Whether root may write here without taking anything away from another account.
#[cfg(feature = "terminal")]
pub(super) fn may_write(config: &Config) -> bool {
    of_another_account(config).is_none()
}

fn of_another_account(config: &Config) -> Option<OwnedData> {
    // Where a file is there already, its owner counts: the folder may be one of the host.
    let [format, graph] = files(config);
    let graph_folder = config.graph.embedded_folder().and_then(owned);
    let data = format.or_else(|| owned(&config.data_dir));
    first_of_another_account([data, graph.or(graph_folder)])
}

fn first_of_another_account(data: [Option<OwnedData>; 2]) -> Option<OwnedData> {
    if !geteuid().is_root() {
        return None;
    }
    data.into_iter().flatten().find(|found| found.user != 0)
}

/// One file of the data and the one of the graph, as far as they are there.
fn files(config: &Config) -> [Option<OwnedData>; 2] {
    let graph = config.graph.embedded_folder();
    let graph = graph.map(|folder| folder.join("graph.kgl"));
    [
        owned(&config.data_dir.join("format")),
        graph.and_then(|graph| owned(&graph)),
    ]
}

fn owned(path: &Path) -> Option<OwnedData> {
    let found = std::fs::metadata(path).ok()?;
    Some(OwnedData {
        path: path.to_owned(),
        user: found.uid(),
        group: found.gid(),
    })
}

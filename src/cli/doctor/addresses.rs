//! Checks whether the pages and the address for programs can be reached, and the other addresses can be listened on.

use std::net::SocketAddr;
use std::time::Duration;

use muninn::config::PublicAddress;
use muninn_platform::{CheckStatus, in_one_line};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::finding::{DoctorFinding, well, wrong};
use crate::cli::args::platforms::PlatformArgs;
use crate::cli::context::Context;
use crate::cli::missing_feature::missing_feature;

/// Maximum time to connect to a process on this machine.
const CONNECT: Duration = Duration::from_secs(2);

/// Returns a finding for each configured address. `is_served`: a process of the bot runs.
pub(super) async fn findings(
    at: &Context,
    platform_args: Option<&PlatformArgs>,
    is_served: bool,
) -> Vec<DoctorFinding> {
    let config = &at.config;
    let pages = config.web.as_ref().map(|address| Opened {
        part: "pages",
        feature: "web",
        is_built: cfg!(feature = "web"),
        address,
    });
    let programs = config.mcp.as_ref().map(|address| Opened {
        part: "programs",
        feature: "mcp",
        is_built: cfg!(feature = "mcp"),
        address,
    });
    // All are held together: two settings may name the same address.
    let (mut findings, mut held) = (Vec::new(), Vec::new());
    for opened in pages.into_iter().chain(programs) {
        findings.push(opened.finding(is_served, &mut held).await);
    }
    if is_served {
        return findings;
    }
    let watching = config.http_addr.filter(|_| cfg!(feature = "http"));
    let watching = watching.map(|address| ("metrics", "HTTP_ADDR", address));
    let platforms = platform_args.map(|args| args.listeners(config));
    for (part, setting, address) in watching.into_iter().chain(platforms.into_iter().flatten()) {
        findings.push(listener_finding(part, setting, address, &mut held).await);
    }
    findings
}

async fn listener_finding(
    part: &'static str,
    setting: &'static str,
    address: SocketAddr,
    held: &mut Vec<TcpListener>,
) -> DoctorFinding {
    match TcpListener::bind(address).await {
        Ok(listener) => {
            held.push(listener);
            well(part, format!("`muninn serve` will listen on {address}"))
        }
        Err(error) => DoctorFinding {
            part,
            verdict: CheckStatus::Error,
            text: format!(
                "cannot listen on {address} ({setting}): {error}; end what listens there, or choose another {setting}"
            ),
        },
    }
}

/// What is served at an address.
struct Opened<'a> {
    part: &'static str,
    feature: &'static str,
    is_built: bool,
    address: &'a PublicAddress,
}

impl Opened<'_> {
    async fn finding(&self, is_served: bool, held: &mut Vec<TcpListener>) -> DoctorFinding {
        let (part, setting) = (self.part, self.address.settings.0);
        if !self.is_built {
            return self.problem(missing_feature(setting, self.feature));
        }
        if let Err(error) = self.address.check() {
            return wrong(part, &error);
        }
        let at = self.address.origin_of(self.address.address);
        if !is_served {
            return match self.address.listen().await {
                Ok((listener, _origin)) => {
                    held.push(listener);
                    well(part, format!("`muninn serve` will serve them at {at}"))
                }
                Err(error) => self.problem(format!(
                    "{}; end what listens there, or choose another {setting}",
                    in_one_line(&error)
                )),
            };
        }
        match timeout(CONNECT, TcpStream::connect(self.address.address)).await {
            Ok(Ok(_)) => well(part, format!("at {at}")),
            Ok(Err(_)) | Err(_) => self.problem(format!(
                "nobody listens on {}: the process that runs was started without {setting}; restart it",
                self.address.address
            )),
        }
    }

    fn problem(&self, text: String) -> DoctorFinding {
        DoctorFinding {
            part: self.part,
            verdict: CheckStatus::Error,
            text,
        }
    }
}

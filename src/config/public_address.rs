//! An address at which people or their programs open something: a local address, and its public URL.

use std::net::SocketAddr;

use http::HeaderMap;
use http::header::{HOST, HeaderName, ORIGIN};

/// Where something is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicAddress {
    pub address: SocketAddr,
    /// The public URL without a final slash, if it differs from that address, for example with a proxy that has a
    /// certificate.
    pub url: Option<String>,
    /// The settings' names of both.
    pub settings: (&'static str, &'static str),
}

/// Why it cannot be served there.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error(
        "{name} {address} can be reached from other machines, and what is served would go there unencrypted; put a proxy with \
         a certificate before a loopback address such as 127.0.0.1:{port}, and set {url} to the https:// address that people \
         open",
        port = address.port()
    )]
    Open {
        name: &'static str,
        url: &'static str,
        address: SocketAddr,
    },
    #[error(
        "{name} is {url:?}, but must begin with https:// (or http://localhost) and be the address of a host alone"
    )]
    Url { name: &'static str, url: String },
    #[error("cannot listen on {address} ({name}): {source}")]
    Listen {
        name: &'static str,
        address: SocketAddr,
        source: std::io::Error,
    },
}

impl PublicAddress {
    /// # Errors
    /// Fails when other machines could reach it unencrypted, or the URL is invalid.
    pub fn check(&self) -> Result<(), AddressError> {
        let (name, url_name) = self.settings;
        match &self.url {
            Some(url) => {
                let rest = url.strip_prefix("https://");
                let rest = rest.or_else(|| url.strip_prefix("http://").filter(|it| is_local(it)));
                let is_host = |it: &str| !it.is_empty() && !it.contains(['/', '?', '#', '@', ' ']);
                let is_right = rest.is_some_and(is_host);
                is_right.then_some(()).ok_or_else(|| AddressError::Url {
                    name: url_name,
                    url: url.clone(),
                })
            }
            None if self.address.ip().is_loopback() => Ok(()),
            None => Err(AddressError::Open {
                name,
                url: url_name,
                address: self.address,
            }),
        }
    }

    /// Listens there. Also returns the public origin.
    ///
    /// # Errors
    /// Fails when it cannot be served there.
    pub async fn listen(&self) -> Result<(tokio::net::TcpListener, PublicOrigin), AddressError> {
        self.check()?;
        let address = self.address;
        let listener = tokio::net::TcpListener::bind(address).await;
        let listener = listener.map_err(|source| AddressError::Listen {
            name: self.settings.0,
            address,
            source,
        })?;
        let port = listener.local_addr().map_or(address.port(), |it| it.port());
        let origin = self.origin_of(SocketAddr::new(address.ip(), port));
        Ok((listener, PublicOrigin(origin)))
    }

    /// The public origin, if it is served at a local address.
    pub fn origin_of(&self, served: SocketAddr) -> String {
        self.url
            .clone()
            .unwrap_or_else(|| format!("http://{served}"))
    }
}

/// Scheme, host and port of the public URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicOrigin(String);

impl PublicOrigin {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Whether the host of a request is the public one: another site whose name resolves to this address must not read what
    /// is served.
    pub fn is_host(&self, headers: &HeaderMap) -> bool {
        let ours = self.0.split_once("://").map_or(&*self.0, |(_, host)| host);
        let Some(host) = said(headers, HOST) else {
            return false;
        };
        let port = |host: &str| host.rsplit_once(':').map(|(_, port)| port.to_owned());
        host.eq_ignore_ascii_case(ours)
            // This machine has several names.
            || is_local(ours) && is_local(host) && port(host) == port(ours)
    }

    /// Whether one of our own pages sent a request. Browsers state the origin of every request that changes something.
    pub fn is_said(&self, headers: &HeaderMap) -> bool {
        match (said(headers, ORIGIN), said(headers, HOST)) {
            (Some(said), Some(host)) => {
                let scheme = self
                    .0
                    .split_once("://")
                    .map_or("http", |(scheme, _)| scheme);
                said.eq_ignore_ascii_case(&format!("{scheme}://{host}"))
            }
            _ => false,
        }
    }
}

fn said(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|it| it.to_str().ok())
}

/// Whether it is a name of this machine: `localhost:8088`, `127.0.0.1`.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn nothing_goes_to_other_machines_unencrypted() {
        let checked = |address: &str, url: Option<&str>| {
            let config = PublicAddress {
                address: address.parse().unwrap(),
                url: url.map(str::to_owned),
                settings: ("WEB_ADDR", "WEB_URL"),
            };
            config.check().map_err(|error| error.to_string())
        };
        for (address, url) in [
            ("127.0.0.1:8088", None),
            ("[::1]:8088", None),
            ("127.0.0.1:8088", Some("http://localhost:8088")),
            ("0.0.0.0:8088", Some("https://muninn.example")),
            ("127.0.0.1:8088", Some("https://muninn.example:8443")),
        ] {
            assert_eq!(checked(address, url), Ok(()), "{address} {url:?}");
        }
        assert!(
            checked("0.0.0.0:8088", None)
                .unwrap_err()
                .contains("WEB_URL")
        );
        for url in [
            "muninn.example",
            "http://muninn.example",
            "https://",
            "https://muninn.example/bot",
            "https://user@muninn.example",
            "http://localhost.example",
        ] {
            let said = checked("127.0.0.1:8088", Some(url)).unwrap_err();
            assert!(said.contains(url), "{said}");
        }
    }

    fn headers_with(all: &[(HeaderName, &'static str)]) -> HeaderMap {
        let all = all.iter().cloned();
        all.map(|(name, value)| (name, HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_the_host_that_people_open_is_answered() {
        let table = [
            ("http://127.0.0.1:8088", "127.0.0.1:8088", true),
            ("http://127.0.0.1:8088", "localhost:8088", true),
            ("http://127.0.0.1:8088", "localhost:8089", false),
            ("http://127.0.0.1:8088", "evil.example:8088", false),
            ("https://muninn.example", "muninn.example", true),
            ("https://muninn.example", "Muninn.Example", true),
            ("https://muninn.example", "localhost", false),
        ];
        for (origin, host, expected) in table {
            let ours = PublicOrigin(origin.to_owned());
            let headers = headers_with(&[(HOST, host)]);
            assert_eq!(ours.is_host(&headers), expected, "{origin} {host}");
        }
        let ours = PublicOrigin("http://127.0.0.1:8088".to_owned());
        assert!(!ours.is_host(&HeaderMap::new()));
    }

    #[test]
    fn a_page_of_ours_is_of_our_scheme_and_host() {
        let ours = PublicOrigin("https://muninn.example".to_owned());
        let is_said = |origin: &'static str| {
            ours.is_said(&headers_with(&[(HOST, "muninn.example"), (ORIGIN, origin)]))
        };
        assert!(is_said("https://muninn.example"));
        for other in ["http://muninn.example", "https://evil.example", "null"] {
            assert!(!is_said(other), "{other}");
        }
        assert!(!ours.is_said(&headers_with(&[(HOST, "muninn.example")])));
    }
}

//! HTTP requests to addresses that others wrote, without access to the machine's own network.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Response, Url};

/// Maximum number of consecutive redirects.
const REDIRECTS: usize = 5;

/// Which addresses may be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedAddresses {
    /// Public addresses only.
    Public,
    /// Also those of this machine and its network.
    Anywhere,
}

impl AllowedAddresses {
    /// From the setting `private`.
    pub fn private(is_allowed: bool) -> Self {
        if is_allowed {
            Self::Anywhere
        } else {
            Self::Public
        }
    }
}

/// Why a host may not be requested.
#[derive(Debug, thiserror::Error)]
pub enum NotAsked {
    #[error(
        "{host} leads to an address of this machine or network; add `private = true` if that is meant"
    )]
    Private { host: String },
    #[error("{host} is not known")]
    Unknown {
        host: String,
        #[source]
        source: std::io::Error,
    },
}

impl NotAsked {
    /// Finds this reason among the causes of a client's error.
    pub fn find_in_causes<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        let mut at = Some(error);
        while let Some(error) = at {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            at = error.source();
        }
        None
    }
}

/// Resolves a host.
///
/// # Errors
/// Fails when it is unknown, or may not be requested.
pub async fn resolve(
    host: &str,
    port: u16,
    reach: AllowedAddresses,
) -> Result<Vec<SocketAddr>, NotAsked> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((bare, port)).await;
    let found: Vec<SocketAddr> = found
        .map_err(|source| NotAsked::Unknown {
            host: host.to_owned(),
            source,
        })?
        .collect();
    let is_public = found.iter().all(|address| is_public(address.ip()));
    if reach == AllowedAddresses::Public && !is_public {
        return Err(NotAsked::Private {
            host: host.to_owned(),
        });
    }
    Ok(found)
}

/// Checks an address whose host is an IP address, to which a client connects without resolving it. To be called for each
/// requested address.
///
/// # Errors
/// Fails when it may not be requested.
pub fn check(url: &Url, reach: AllowedAddresses) -> Result<(), NotAsked> {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) if reach == AllowedAddresses::Public && !is_public(address) => {
            Err(NotAsked::Private {
                host: host.to_owned(),
            })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A builder for a client that connects only to checked addresses, and follows redirects within one origin.
pub fn client_builder(reach: AllowedAddresses) -> ClientBuilder {
    let builder = reqwest::Client::builder()
        .no_proxy()
        // An address may contain a key.
        .referer(false)
        .redirect(Policy::custom(|attempt| {
            let first = attempt.previous().first().map(Url::origin);
            let is_near = first.is_some_and(|first| first == attempt.url().origin());
            if is_near && attempt.previous().len() <= REDIRECTS {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }));
    match reach {
        AllowedAddresses::Public => builder.dns_resolver(Checking),
        AllowedAddresses::Anywhere => builder,
    }
}

/// A resolver that returns only permitted addresses, so that the client connects to nothing else.
#[derive(Debug)]
struct Checking;

impl Resolve for Checking {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // Port 0 means that of the address.
            let found = resolve(name.as_str(), 0, AllowedAddresses::Public).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Why a body was not read completely.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("it has more than {most} bytes")]
    TooLong { most: usize },
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
}

/// Reads a body of at most `most` bytes.
///
/// # Errors
/// Fails when it is longer, or when it is interrupted.
pub async fn read_body(mut response: Response, most: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await? {
        bytes.extend_from_slice(&part);
        if bytes.len() > most {
            return Err(BodyError::TooLong { most });
        }
    }
    Ok(bytes)
}

/// Whether an address is reachable from the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_of_nobody = a == 0
                || a >= 240
                || (a == 192 && b == 0 && c == 0)
                || (a == 198 && (b == 18 || b == 19));
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_multicast()
                || v4.is_documentation()
                || is_shared
                || is_of_nobody)
        }
        IpAddr::V6(v6) => {
            let [first, second, ..] = v6.segments();
            let is_near = first & 0xfe00 == 0xfc00
                || first & 0xffc0 == 0xfe80
                || first & 0xff00 == 0xff00
                || v6.is_loopback()
                || v6.is_unspecified();
            // Addresses that embed one of version 4 could embed a private one.
            let carries = first == 0x2002
                || (first == 0x64 && second == 0xff9b)
                || (first == 0x2001 && second == 0)
                || v6.segments()[..6] == [0; 6];
            !(is_near || carries)
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn near_addresses_are_not_public() {
        for (address, expected) in [
            ("127.0.0.1", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("169.254.169.254", false),
            ("192.168.0.1", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("255.255.255.255", false),
            ("::1", false),
            ("::", false),
            ("fd00::1", false),
            ("fe80::1", false),
            ("::ffff:127.0.0.1", false),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2001:0:1::1", false),
            ("8.8.8.8", true),
            ("2606:4700::1111", true),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn a_number_is_checked_as_it_stands() {
        for (url, expected) in [
            ("http://127.0.0.1/", false),
            ("http://2130706433/", false),
            ("http://0x7f.1/", false),
            ("http://[::1]:9/", false),
            ("http://169.254.169.254/latest/meta-data", false),
            ("https://8.8.8.8/", true),
            ("https://example.org/", true),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(
                check(&url, AllowedAddresses::Public).is_ok(),
                expected,
                "{url}"
            );
            assert!(check(&url, AllowedAddresses::Anywhere).is_ok());
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_here_is_connected_to_only_where_that_is_meant() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!(
            "http://localhost:{}/",
            listener.local_addr().unwrap().port()
        );
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = [0; 256];
            let _ = stream.read(&mut asked).await.unwrap();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
            stream.write_all(answer).await.unwrap();
        });
        let refused = client_builder(AllowedAddresses::Public)
            .build()
            .unwrap()
            .get(&url)
            .send();
        let refused = refused.await.unwrap_err();
        assert!(
            matches!(NotAsked::find_in_causes(&refused), Some(NotAsked::Private { host }) if host == "localhost"),
            "{refused:?}"
        );
        assert!(!served.is_finished());
        let asked = client_builder(AllowedAddresses::Anywhere)
            .build()
            .unwrap()
            .get(&url)
            .send();
        let answer = asked.await.unwrap();
        let too_long = read_body(answer, 4).await.unwrap_err();
        assert_eq!(too_long.to_string(), "it has more than 4 bytes");
        served.await.unwrap();
    }
}

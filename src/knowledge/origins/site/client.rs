//! Requests pages of a site: only from the named host, and only at permitted IP addresses.

use std::net::IpAddr;
use std::time::Duration;

use guarded_http::{AllowedAddresses, BodyError};
use muninn_platform::in_one_line;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, LOCATION,
};
use reqwest::{Client as Http, Response, StatusCode, Url};

use super::settings::{Site, SiteError};
use crate::extract::text::recoded;

/// Maximum time of a request.
const REQUEST: Duration = Duration::from_secs(30);

/// Maximum bytes of a page.
const PAGE: usize = 16 * 1024 * 1024;

/// Maximum number of redirects.
pub(super) const REDIRECTS: usize = 5;

/// The result of a request.
pub(super) enum FetchOutcome {
    New(Fresh),
    /// The page has not changed.
    Unchanged,
    /// It is at another address of this host.
    Moved(Redirect),
    /// There is no page, or none that can be read; with the reason.
    Gone(String),
    /// A failure that may be temporary.
    Failed(String),
}

/// A redirect on the host.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) to: Url,
    /// Whether the page has that address from now on.
    pub(super) is_permanent: bool,
}

/// A received page.
pub(super) struct Fresh {
    /// The file extension.
    pub(super) kind: &'static str,
    pub(super) bytes: Vec<u8>,
    /// The validator for the next request.
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
}

/// An HTTP client for one host.
pub(super) struct Client {
    http: Http,
    start: Url,
}

impl Client {
    /// Resolves the host once: later requests use these IP addresses.
    pub(super) async fn new(site: &Site) -> Result<Self, SiteError> {
        let start = site.start.clone();
        let host = start.host_str().unwrap_or_default().to_owned();
        let port = start.port_or_known_default().unwrap_or(443);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let reach = AllowedAddresses::private(site.is_private_allowed || is_meant(bare));
        let found = guarded_http::resolve(&host, port, reach).await?;
        let http = Http::builder()
            .user_agent(concat!("muninn/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .timeout(REQUEST)
            .no_proxy()
            .resolve_to_addrs(&host, &found)
            .build();
        let http = http.map_err(|error| SiteError::Unreachable(in_one_line(&error)))?;
        Ok(Self { http, start })
    }

    /// Requests a page, unless it still matches these validators.
    pub(super) async fn page(
        &self,
        address: &Url,
        etag: Option<&str>,
        modified: Option<&str>,
    ) -> FetchOutcome {
        let mut known = HeaderMap::new();
        for (name, value) in [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, modified)] {
            if let Some(Ok(value)) = value.map(str::parse) {
                known.insert(name, value);
            }
        }
        let response = match self.ask(address, known).await {
            Ok(response) => response,
            Err(error) => return FetchOutcome::Failed(error),
        };
        match (response.status(), self.led(address, &response)) {
            (StatusCode::NOT_MODIFIED, _) => FetchOutcome::Unchanged,
            (status, Some(RedirectOutcome::Here(to))) => FetchOutcome::Moved(Redirect {
                to,
                is_permanent: matches!(
                    status,
                    StatusCode::MOVED_PERMANENTLY | StatusCode::PERMANENT_REDIRECT
                ),
            }),
            (_, Some(RedirectOutcome::Elsewhere(to))) => FetchOutcome::Gone(format!(
                "{address} leads to {to}, which is not on the host that was named; name that address instead"
            )),
            (status, None) if status.is_success() => fresh(address, response).await,
            (
                status @ (StatusCode::NOT_FOUND
                | StatusCode::GONE
                | StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS),
                None,
            ) => FetchOutcome::Gone(format!("{address} answers {status}")),
            (status, None) => FetchOutcome::Failed(format!("{address} answers {status}")),
        }
    }

    /// Requests a file that is not a page, and follows redirects on this host.
    pub(super) async fn file(&self, address: &Url) -> Result<(StatusCode, String), SiteError> {
        let mut at = address.clone();
        for _ in 0..=REDIRECTS {
            let response = self.ask(&at, HeaderMap::new()).await;
            let response = response.map_err(SiteError::Unreachable)?;
            match self.led(&at, &response) {
                None => {
                    let status = response.status();
                    let bytes = bytes(&at, response).await.map_err(SiteError::Unreachable)?;
                    return Ok((status, String::from_utf8_lossy(&bytes).into_owned()));
                }
                Some(RedirectOutcome::Here(to)) => at = to,
                Some(RedirectOutcome::Elsewhere(to)) => {
                    return Err(SiteError::Elsewhere {
                        from: at.to_string(),
                        to,
                    });
                }
            }
        }
        Err(SiteError::Unreachable(format!("{address} leads on and on")))
    }

    async fn ask(&self, address: &Url, headers: HeaderMap) -> Result<Response, String> {
        let asked = self.http.get(address.clone()).headers(headers).header(
            ACCEPT,
            "text/html, text/markdown, text/plain, application/pdf, */*;q=0.1",
        );
        asked.send().await.map_err(|error| unread(address, error))
    }

    /// Returns the target of a redirect. Redirects to another host, port or scheme are never
    /// followed, because nobody named those.
    fn led(&self, from: &Url, response: &Response) -> Option<RedirectOutcome> {
        let is_leading =
            response.status().is_redirection() && response.status() != StatusCode::NOT_MODIFIED;
        if !is_leading {
            return None;
        }
        let to = text(response, LOCATION).unwrap_or_default();
        Some(match from.join(&to) {
            Ok(mut url) if url.origin() == self.start.origin() => {
                url.set_fragment(None);
                RedirectOutcome::Here(url)
            }
            Ok(_) | Err(_) => RedirectOutcome::Elsewhere(to),
        })
    }
}

enum RedirectOutcome {
    Here(Url),
    Elsewhere(String),
}

fn text(response: &Response, name: HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

fn unread(address: &Url, error: reqwest::Error) -> String {
    format!(
        "{address} cannot be read: {}",
        in_one_line(&error.without_url())
    )
}

async fn fresh(address: &Url, response: Response) -> FetchOutcome {
    let content_type = text(&response, CONTENT_TYPE).unwrap_or_default();
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let kind = match kind.to_ascii_lowercase().as_str() {
        "text/html" => "html",
        "application/xhtml+xml" => "xhtml",
        "text/markdown" => "md",
        "text/plain" => "txt",
        "application/pdf" => "pdf",
        other => return FetchOutcome::Gone(format!("{address} is {other}, which is not read")),
    };
    let (etag, modified) = (text(&response, ETAG), text(&response, LAST_MODIFIED));
    match bytes(address, response).await {
        Ok(bytes) => FetchOutcome::New(Fresh {
            kind,
            bytes: match charset(&content_type).filter(|_| kind != "pdf") {
                Some(charset) => recoded(bytes, charset),
                None => bytes,
            },
            etag,
            modified,
        }),
        Err(error) => FetchOutcome::Failed(error),
    }
}

/// Returns the encoding in `text/html; charset="gbk"`.
fn charset(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1);
    let found = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches('"'))
    });
    found.filter(|charset| !charset.is_empty())
}

async fn bytes(address: &Url, response: Response) -> Result<Vec<u8>, String> {
    guarded_http::read_body(response, PAGE)
        .await
        .map_err(|error| match error {
            BodyError::TooLong { most } => format!("{address} has more than {} MB", most >> 20),
            BodyError::Broken(error) => unread(address, error),
        })
}

/// Whether a private address is intended: an IP address or `localhost` is, while a host name
/// resolves to whatever its owner decides.
fn is_meant(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok() || host == "localhost"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_a_parameter_of_the_type() {
        for (content_type, expected) in [
            ("text/html", None),
            ("text/html; charset=", None),
            ("text/html;charset=gbk", Some("gbk")),
            ("text/html; a=b; Charset = \"EUC-KR\" ", Some("EUC-KR")),
        ] {
            assert_eq!(charset(content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn an_address_that_is_written_out_is_meant() {
        for (host, expected) in [
            ("docs.example.org", false),
            ("wiki", false),
            ("localhost", true),
            ("10.0.0.1", true),
            ("::1", true),
        ] {
            assert_eq!(is_meant(host), expected, "{host}");
        }
    }
}

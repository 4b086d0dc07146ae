//! The request settings of a file: addresses, headers and limits. Errors are for the author of the file.

use guarded_http::AllowedAddresses;
use indexmap::IndexMap;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::template::{Secrets, Template, Variables};

/// Maximum bytes of a response: the default, and the maximum.
const BYTES: usize = 256 << 10;
pub(crate) const MOST_BYTES: usize = 4 << 20;

/// The default of settings that are true.
pub(crate) fn yes() -> bool {
    true
}

/// A default, like [`yes`].
pub(crate) fn bytes() -> usize {
    BYTES
}

/// Refuses an address that may not be called, or that contains a password.
///
/// # Errors
/// Describes what is wrong with it.
pub(crate) fn check_address(url: &Url, reach: AllowedAddresses) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("url must begin with https:// or http://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("url has a name or password in it; put it into headers".to_owned());
    }
    guarded_http::check(url, reach).map_err(|error| error.to_string())
}

/// Refuses to send secrets to other machines without encryption.
///
/// # Errors
/// Fails when they would be sent so.
pub(crate) fn check_secrecy(
    secrets: &Secrets,
    url: &Url,
    reach: AllowedAddresses,
) -> Result<(), String> {
    if !secrets.is_empty() && url.scheme() == "http" && reach == AllowedAddresses::Public {
        return Err("a variable would be sent where others can read it; write https, or private = true if the host is near".to_owned());
    }
    Ok(())
}

/// Parses the headers of a file, which may contain variables but no arguments.
///
/// # Errors
/// Describes what is wrong with them.
pub(crate) fn headers(
    written: &IndexMap<String, String>,
    variables: &mut Variables,
    secrets: &mut Secrets,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, text) in written {
        let wrong = |detail: String| format!("headers.{name}: {detail}");
        let header: HeaderName = name
            .parse()
            .map_err(|_| wrong("is no name of a header".to_owned()))?;
        // The connection sets these itself.
        if matches!(
            header.as_str(),
            "host" | "connection" | "content-length" | "transfer-encoding" | "upgrade"
        ) {
            return Err(wrong("is not for files to set".to_owned()));
        }
        let template = Template::parse(text, variables).map_err(wrong)?;
        if let Some(argument) = template.arguments().next() {
            return Err(wrong(format!(
                "has a place {{{argument}}}; headers take variables only"
            )));
        }
        let value = HeaderValue::from_str(&template.plain());
        let mut value =
            value.map_err(|_| wrong("has a value that no header can have".to_owned()))?;
        if template.secrets().next().is_some() {
            value.set_sensitive(true);
        }
        headers.insert(header, value);
        secrets.add(template.secrets());
    }
    Ok(headers)
}

/// Checks that a number of a file is from 1 to `most`.
///
/// # Errors
/// Fails when it is not.
pub(crate) fn within<N: Copy + PartialOrd + From<u8> + std::fmt::Display>(
    name: &str,
    value: N,
    most: N,
) -> Result<N, String> {
    if value < N::from(1) || value > most {
        return Err(format!("{name} must be from 1 to {most}"));
    }
    Ok(value)
}

//! `MODELS` and `MODEL_KEYS`: models in the order in which they are called, each on a service with its own key. Pure.

use std::path::Path;

use muninn_platform::non_empty;
use secrecy::{ExposeSecret as _, SecretString};

use super::{ConfigError, Options};
use crate::llm::ModelConfig;

/// The models that answer, in order, and the embedding service if it is not the first one's.
pub(super) struct Chain {
    pub(super) first: Option<ModelConfig>,
    pub(super) fallbacks: Vec<ModelConfig>,
    pub(super) embedding_service: Option<ModelConfig>,
}

/// The models of the options; `service` is that of `OPENAI_BASE_URL`, with `CHAT_MODEL`.
pub(super) fn chain(
    options: &Options,
    service: Option<ModelConfig>,
    data_dir: &Path,
) -> Result<Chain, ConfigError> {
    let listed = listed(&options.models)?;
    let keys = Keys::read(&options.model_keys)?;
    let addresses = listed.iter().filter_map(|it| it.base_url.clone());
    keys.check(&addresses.collect::<Vec<_>>())?;
    // It may be in the list by its address, too, and embeds with the same key.
    let service = service.map(|service| ModelConfig {
        api_key: service.api_key.or_else(|| keys.of(&service.base_url)),
        ..service
    });
    if listed.is_empty() {
        return Ok(Chain {
            first: service,
            fallbacks: Vec::new(),
            embedding_service: None,
        });
    }
    let mut all = Vec::new();
    for (at, Listed { model, base_url }) in listed.iter().enumerate() {
        let own = service.as_ref().filter(|own| {
            let same =
                |url: &String| url.trim_end_matches('/') == own.base_url.trim_end_matches('/');
            base_url.as_ref().is_none_or(same)
        });
        let (base_url, api_key) = match (own, base_url) {
            (Some(own), _) => (own.base_url.clone(), own.api_key.clone()),
            (None, Some(base_url)) => (base_url.clone(), keys.of(base_url)),
            (None, None) => {
                return Err(ConfigError::Models(format!(
                    "has {model} without an address, and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set; set one of them, or write {model}@ADDRESS"
                )));
            }
        };
        let utility_model = non_empty(&options.utility_model).filter(|_| at == 0);
        all.push(options.model_at(data_dir, base_url, api_key, model, utility_model));
    }
    let fallbacks = all.split_off(1);
    Ok(Chain {
        first: all.pop(),
        fallbacks,
        embedding_service: service,
    })
}

/// A model of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) model: String,
    /// `None` means the service of `OPENAI_BASE_URL`.
    pub(super) base_url: Option<String>,
}

/// The models of a list such as `llama3.2, gpt-4o-mini@https://api.openai.com/v1`.
pub(super) fn listed(list: &str) -> Result<Vec<Listed>, ConfigError> {
    let entries = list.split(',').map(str::trim).filter(|it| !it.is_empty());
    entries.map(one).collect()
}

fn one(entry: &str) -> Result<Listed, ConfigError> {
    let at = ["@http://", "@https://"]
        .iter()
        .find_map(|it| entry.find(it));
    let (model, base_url) = match at {
        Some(at) => (entry[..at].trim(), Some(entry[at + 1..].trim().to_owned())),
        None => (entry, None),
    };
    if model.is_empty() || model.contains("://") {
        return Err(ConfigError::Models(format!(
            "has {entry:?}, which is no MODEL or MODEL@ADDRESS, such as gpt-4o-mini@https://api.openai.com/v1"
        )));
    }
    Ok(Listed {
        model: model.to_owned(),
        base_url,
    })
}

/// The keys of services, by host.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys(Vec<(String, SecretString)>);

impl Keys {
    /// Parses a list such as `api.openai.com=KEY, localhost:8000=KEY`. Errors do not contain its values.
    pub(super) fn read(list: &SecretString) -> Result<Self, ConfigError> {
        let list = list.expose_secret();
        let entries = list.split(',').map(str::trim).filter(|it| !it.is_empty());
        let key = |(at, entry): (usize, &str)| match entry.split_once('=') {
            Some((host, key)) if !host.trim().is_empty() && !key.trim().is_empty() => {
                Ok((host.trim().to_lowercase(), key.trim().into()))
            }
            Some(_) | None => Err(ConfigError::ModelKeys(format!(
                "is not HOST=KEY in its {}. entry",
                at + 1
            ))),
        };
        entries
            .enumerate()
            .map(key)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The key of the service at an address.
    pub(super) fn of(&self, base_url: &str) -> Option<SecretString> {
        let host = host(base_url);
        let found = self.0.iter().find(|(its, _)| *its == host);
        found.map(|(_, key)| key.clone())
    }

    /// Refuses a key that is for none of the services, as its host is probably misspelt.
    pub(super) fn check(&self, base_urls: &[String]) -> Result<(), ConfigError> {
        let is_used = |its: &String| base_urls.iter().any(|url| host(url) == *its);
        match self.0.iter().find(|(its, _)| !is_used(its)) {
            Some((its, _)) => Err(ConfigError::ModelKeys(format!(
                "has a key for {its}, where no model of MODELS is"
            ))),
            None => Ok(()),
        }
    }
}

/// Host and port of an address as they are written, without user and password.
fn host(base_url: &str) -> String {
    let rest = base_url
        .split_once("://")
        .map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_models_and_their_services() {
        let listed = listed(" llama3.2, @cf/x/y ,gpt-4o-mini@https://api.openai.com/v1,").unwrap();
        let pairs: Vec<(&str, Option<&str>)> = listed
            .iter()
            .map(|it| (it.model.as_str(), it.base_url.as_deref()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("llama3.2", None),
                ("@cf/x/y", None),
                ("gpt-4o-mini", Some("https://api.openai.com/v1")),
            ]
        );
        for wrong in ["https://api.openai.com/v1", "@https://api.openai.com/v1"] {
            assert!(super::listed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_goes_to_its_host_alone() {
        let list = "api.openai.com = sk-1=, LOCALHOST:8000=two".into();
        let keys = Keys::read(&list).unwrap();
        let of = |url| keys.of(url).map(|it| it.expose_secret().to_owned());
        assert_eq!(of("https://api.openai.com/v1").as_deref(), Some("sk-1="));
        assert_eq!(of("http://u:p@localhost:8000/v1").as_deref(), Some("two"));
        assert_eq!(of("http://localhost:8001/v1"), None);
        assert_eq!(of("https://api.openai.com.example.org/v1"), None);
        let urls = ["https://api.openai.com/v1".to_owned()];
        let error = keys.check(&urls).unwrap_err().to_string();
        assert!(
            error.contains("localhost:8000") && !error.contains("two"),
            "{error}"
        );
        let error = Keys::read(&"sk-secret".into()).unwrap_err().to_string();
        assert!(
            error.contains("1. entry") && !error.contains("secret"),
            "{error}"
        );
    }
}

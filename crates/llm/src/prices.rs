//! The cost of tokens. Pure, except for reading a custom price file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Usage;

/// The prices known without a file.
const BUILT_IN: &str = include_str!("prices.toml");

/// An amount in millionths of a US dollar: the price of one token at a dollar per million.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Money(pub u64);

impl Money {
    /// From dollars; `None` if it is not a valid amount.
    pub fn of_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1e6).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is within the bounds"
        )]
        (0.0..1e15).contains(&micros).then_some(Self(micros as u64))
    }
}

impl std::ops::AddAssign for Money {
    fn add_assign(&mut self, more: Self) {
        self.0 = self.0.saturating_add(more.0);
    }
}

impl std::fmt::Display for Money {
    /// `$12.30`, and small amounts with enough digits: `$0.0012`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(micros) = self;
        match micros {
            0 => f.write_str("$0"),
            1..10_000 => write!(f, "$0.{micros:06}"),
            10_000..1_000_000 => write!(f, "$0.{:04}", micros / 100),
            _ => write!(
                f,
                "${}.{:02}",
                micros / 1_000_000,
                micros % 1_000_000 / 10_000
            ),
        }
    }
}

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

impl Price {
    fn is_valid(&self) -> bool {
        [self.input, self.output]
            .into_iter()
            .chain(self.cached)
            .all(|it| (0.0..1e6).contains(&it))
    }
}

/// The price of each model.
#[derive(Clone, Debug)]
pub struct Prices(BTreeMap<String, Price>);

/// The price file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    #[error("the prices {} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the prices {} are wrong", path.display())]
    Wrong {
        path: PathBuf,
        #[source]
        source: Box<toml::de::Error>,
    },
    #[error("the price of {model} in {} is not a price; prices are dollars per million tokens", path.display())]
    NoPrice { model: String, path: PathBuf },
}

impl Prices {
    /// Loads the built-in prices, and those of a file, which take precedence.
    ///
    /// # Errors
    /// Fails when the file is invalid; the error says where.
    pub fn load(path: Option<&Path>) -> Result<Self, PricesError> {
        let mut all = read(BUILT_IN, Path::new("prices.toml"))?;
        if let Some(path) = path {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|source| PricesError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
            all.extend(read(&text, path)?);
        }
        Ok(Self(all))
    }

    /// Whether a model has a price.
    pub fn knows(&self, model: &str) -> bool {
        self.of(model).is_some()
    }

    /// The cost of a model call; zero if the model has no price, like a self-hosted one.
    pub fn cost(&self, model: &str, usage: Usage) -> Money {
        let Some(price) = self.of(model) else {
            return Money::default();
        };
        let cached = usage.cached.min(usage.prompt);
        let micros = f64::from(usage.prompt - cached) * price.input
            + f64::from(cached) * price.cached.unwrap_or(price.input)
            + f64::from(usage.completion) * price.output;
        Money::of_dollars(micros.ceil() / 1e6).unwrap_or_default()
    }

    /// Finds the price by name, without the folder that routers prepend and the date that services append.
    fn of(&self, model: &str) -> Option<&Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let names = [model, bare, without_date(bare)];
        names.iter().find_map(|name| self.0.get(*name))
    }
}

/// `gpt-4o-mini-2024-07-18` is `gpt-4o-mini`, and `claude-haiku-4-5-20251001` is `claude-haiku-4-5`.
fn without_date(name: &str) -> &str {
    let cut = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let tail = &name[cut.len()..];
    let digits = |text: &str| text.len() == 8 && text.bytes().all(|it| it.is_ascii_digit());
    let dated = |at: &usize| {
        let date = &tail[at + 1..];
        digits(&date.replace('-', "")) && matches!(date.len(), 8 | 10)
    };
    let mut dashes = tail.match_indices('-').map(|(at, _)| at);
    dashes
        .rfind(dated)
        .map_or(name, |at| &name[..cut.len() + at])
}

fn read(text: &str, path: &Path) -> Result<BTreeMap<String, Price>, PricesError> {
    let read: BTreeMap<String, Price> =
        toml::from_str(text).map_err(|source| PricesError::Wrong {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
    match read.iter().find(|(_, price)| !price.is_valid()) {
        Some((model, _)) => Err(PricesError::NoPrice {
            model: model.clone(),
            path: path.to_owned(),
        }),
        None => Ok(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt: u32, cached: u32, completion: u32) -> Usage {
        Usage {
            prompt,
            completion,
            cached,
        }
    }

    #[test]
    fn tokens_cost_what_the_list_says() {
        let prices = Prices::load(None).unwrap();
        for (model, usage, micros) in [
            ("gpt-4o-mini", usage(1_000, 0, 100), 210),
            ("gpt-4o-mini", usage(1_000, 800, 100), 150),
            ("gpt-4o-mini-2024-07-18", usage(1_000_000, 0, 0), 150_000),
            ("openai/gpt-4o-mini", usage(1, 0, 0), 1),
            ("claude-haiku-4-5-20251001", usage(10, 0, 0), 10),
            // Cached tokens without a price of their own; more of them than were read.
            ("gemini-2.5-pro", usage(100, 50, 0), 125),
            ("gpt-4.1", usage(100, 900, 0), 50),
            ("llama3.2", usage(1_000, 0, 1_000), 0),
            ("gpt-4o-mini-tts", usage(1_000, 0, 1_000), 0),
        ] {
            assert_eq!(
                prices.cost(model, usage),
                Money(micros),
                "{model} {usage:?}"
            );
        }
    }

    #[test]
    fn a_file_takes_the_place_of_what_is_built_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        let load = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Prices::load(Some(&path))
        };
        let own = load("['gpt-4o']\ninput = 1\noutput = 2\n[mine]\ninput = 3\noutput = 4").unwrap();
        assert_eq!(own.cost("gpt-4o", usage(1, 0, 1)), Money(3));
        assert_eq!(own.cost("mine", usage(1, 0, 1)), Money(7));
        assert!(own.knows("gpt-4o-mini"));
        for (text, named) in [
            ("[x]\ninput = 1", "output"),
            ("[x]\ninput = 1\noutput = 1\nper = 2", "per"),
            ("[x]\ninput = -1\noutput = 1", "the price of x"),
        ] {
            let error = load(text).unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let said = format!("{error} {}", source.unwrap_or_default());
            assert!(said.contains(named), "{said}");
        }
        let missing = Prices::load(Some(Path::new("nowhere.toml"))).unwrap_err();
        assert!(missing.to_string().contains("nowhere.toml"));
    }

    #[test]
    fn amounts_are_shown_as_far_as_they_say_something() {
        for (micros, shown) in [
            (0, "$0"),
            (42, "$0.000042"),
            (12_345, "$0.0123"),
            (1_234_567, "$1.23"),
            (20_000_000, "$20.00"),
        ] {
            assert_eq!(Money(micros).to_string(), shown);
        }
        assert_eq!(Money::of_dollars(2.5), Some(Money(2_500_000)));
        assert_eq!(Money::of_dollars(-1.0), None);
        assert_eq!(Money::of_dollars(f64::NAN), None);
    }
}

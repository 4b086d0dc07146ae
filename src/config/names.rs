//! Finds variables that are not settings, but look as if somebody meant them to be.

use std::collections::BTreeSet;
use std::fmt;

use super::traces;
use muninn_platform::suggest::{perhaps_meant, surely_meant};

/// Where a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableSource {
    Environment,
    /// `.env`, which is written for this program.
    File,
}

/// A variable that is not a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownName {
    pub name: String,
    pub place: VariableSource,
    pub meant: Option<String>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, place, meant } = self;
        let place = match place {
            VariableSource::Environment => "the environment",
            VariableSource::File => ".env",
        };
        write!(f, "{name} in {place} is no setting")?;
        match meant {
            Some(meant) => write!(f, "; did you mean {meant}?"),
            None => f.write_str("; .env.example lists them all"),
        }
    }
}

/// Set on nearly every system for all programs; the terminal reads it itself.
const SYSTEMS: &str = "LANG";

/// What other programs call some of our settings, and what it is called here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("LOG_LEVEL", "LOG"),
    ("NEO4J_PASSWORD", "GRAPH_PASSWORD"),
    ("NEO4J_URI", "GRAPH_URL"),
    ("NEO4J_USER", "GRAPH_USER"),
    ("NEO4J_USERNAME", "GRAPH_USER"),
    ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
    ("OPENAI_MODEL", "CHAT_MODEL"),
    ("RUST_LOG", "LOG"),
];

/// Returns the variables that are unknown but look like settings. In the environment, which many programs share, these are
/// near misses; in the file also those with a prefix of ours, and other programs' names for a setting.
pub fn unknown<'a>(
    set: impl Iterator<Item = (VariableSource, &'a str)>,
    known: &BTreeSet<String>,
) -> Vec<UnknownName> {
    let all = || known.iter().map(String::as_str);
    let begins_as_ours = |name: &str| {
        let first = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
        name.contains('_') && all().any(|known| first(known) == first(name))
    };
    let elsewhere = |name: &str| {
        let mut all = ELSEWHERE.iter();
        let (_, meant) = all.find(|(theirs, ours)| *theirs == name && known.contains(*ours))?;
        Some(*meant)
    };
    let found: BTreeSet<UnknownName> = set
        .filter(|(_, name)| {
            !known.contains(*name) && *name != SYSTEMS && !traces::is_standard(name)
        })
        .filter_map(|(place, name)| {
            let meant = match place {
                // Others use the environment, too, so it has to look like one of ours.
                VariableSource::Environment => {
                    surely_meant(name, all()).map(|near| elsewhere(name).unwrap_or(near))
                }
                VariableSource::File => elsewhere(name).or_else(|| perhaps_meant(name, all())),
            };
            let is_ours = match place {
                VariableSource::Environment => meant.is_some(),
                VariableSource::File => {
                    elsewhere(name).is_some()
                        || surely_meant(name, all()).is_some()
                        || begins_as_ours(name)
                }
            };
            is_ours.then(|| UnknownName {
                name: name.to_owned(),
                place,
                meant: meant.map(str::to_owned),
            })
        })
        .collect();
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_ours_is_named_and_what_is_others_is_not() {
        let known = [
            "SLACK_BOT_TOKEN",
            "MODELS",
            "MODEL_KEYS",
            "DATA_DIR",
            "CHAT_MODEL",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "LOG",
        ];
        let known = known.map(str::to_owned).into_iter().collect();
        let set = [
            (VariableSource::Environment, "SLACK_BOT_TOKNE"),
            (VariableSource::Environment, "SLACK_WEBHOOK_URL"),
            (VariableSource::Environment, "DATA_DIR"),
            (VariableSource::Environment, "PATH"),
            (VariableSource::File, "MODEL_NAMES"),
            (VariableSource::File, "SLACK_XYZZY"),
            (VariableSource::File, "NEO4J_AUTH"),
            (VariableSource::File, "OPENAI_MODEL"),
            (VariableSource::File, "LOG_LEVEL"),
            (VariableSource::Environment, "LOG_LEVEL"),
            (VariableSource::Environment, "OPENAI_API_BASE"),
        ];
        let told: Vec<String> = unknown(set.into_iter(), &known)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "LOG_LEVEL in .env is no setting; did you mean LOG?",
                "MODEL_NAMES in .env is no setting; did you mean MODEL_KEYS?",
                "OPENAI_API_BASE in the environment is no setting; did you mean OPENAI_BASE_URL?",
                "OPENAI_MODEL in .env is no setting; did you mean CHAT_MODEL?",
                "SLACK_BOT_TOKNE in the environment is no setting; did you mean SLACK_BOT_TOKEN?",
                "SLACK_XYZZY in .env is no setting; .env.example lists them all",
            ]
        );
    }
}

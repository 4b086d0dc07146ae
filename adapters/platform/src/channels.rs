//! The settings of single channels and of all channels.
//!
//! They are read from a TOML file of tables, each named by the id of an audience, or `*` for the
//! defaults of all channels:
//!
//! ```toml
//! ["slack/T0001/C0002"]
//! answer = "mentions"
//! persona = "You speak like a lighthouse keeper."
//! model = "gpt-4o"
//! recall_threshold = 0.5
//! time_zone = "Europe/Lisbon"
//! language = "pt"
//! memory = "channel"
//! off_record = ["[off]", "psst:"]
//! digest = "Mon 09:00"
//! retain_days = 90
//! legal_hold = true
//! tools = ["search_knowledge"]
//! sources = ["handbook"]
//! prompts = "archive-prompts"
//! instructions = ["archive.md"]
//! grounding = "strict"
//! style = "brief"
//!
//! ["*".sampling]
//! answer = { temperature = 0.2 }
//! ```

mod kind;
mod sampling;

pub use self::kind::{AnswerStyle, Grounding};
pub use self::sampling::{Sampling, SamplingSettings};

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use muninn_texts::{Language, Languages};
use serde::Deserialize;

use crate::{AudienceId, ChannelMemory, DigestSchedule, IncomingMessage, TimeZone};

/// Which messages of a channel are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerMode {
    /// Messages that name the bot.
    Mentions,
    /// The first message of a thread has to name the bot, later ones need not.
    #[default]
    Threads,
    /// All of them.
    Always,
    /// None.
    Never,
}

impl AnswerMode {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mentions => "mentions",
            Self::Threads => "threads",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// The text is not an answer mode.
#[derive(Debug, thiserror::Error)]
#[error("must be mentions, threads, always or never")]
pub struct NoAnswerMode;

impl FromStr for AnswerMode {
    type Err = NoAnswerMode;

    fn from_str(text: &str) -> Result<Self, NoAnswerMode> {
        match text {
            "mentions" => Ok(Self::Mentions),
            "threads" => Ok(Self::Threads),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err(NoAnswerMode),
        }
    }
}

/// The settings of one channel; an unset field takes the general value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    pub answer: Option<AnswerMode>,
    /// The bot's persona there, added to its general one.
    #[serde(default)]
    pub persona: String,
    /// The model that answers there.
    pub model: Option<String>,
    /// The lowest probability or cosine, from 0 to 1, at which an exchange is recalled.
    pub recall_threshold: Option<f64>,
    /// The time zone there, for people who have none of their own.
    pub time_zone: Option<TimeZone>,
    /// The language of the bot's own sentences there.
    pub language: Option<Language>,
    /// What is remembered there.
    pub memory: Option<ChannelMemory>,
    /// A message that begins with one of these words is off the record there.
    pub off_record: Option<Vec<String>>,
    /// When its digest is posted there.
    pub digest: Option<DigestSchedule>,
    /// Messages are deleted after so many days; unset: never.
    pub retain_days: Option<NonZeroU32>,
    /// Whether the channel is under a legal hold: what people have forgotten there is kept as a
    /// copy for the operator, which nobody is shown.
    #[serde(default)]
    pub legal_hold: bool,
    /// The sampling parameters of models there.
    pub sampling: Option<SamplingSettings>,
    /// The tools that the model may call there, by name; an empty list allows none.
    pub tools: Option<Vec<String>>,
    /// The sources of knowledge that are searched there, by name.
    pub sources: Option<Vec<String>>,
    /// A folder with prompts that replace the general ones.
    pub prompts: Option<PathBuf>,
    /// Files with instructions that are added to the prompt.
    #[serde(default)]
    pub instructions: Vec<PathBuf>,
    /// What an answer may rest on there.
    pub grounding: Option<Grounding>,
    /// How long answers are there.
    pub style: Option<AnswerStyle>,
}

/// The name of the table for all channels.
const EVERYWHERE: &str = "*";

impl ChannelSettings {
    /// Whether the model may call a tool there: what nobody is answered from there, nobody is shown.
    pub fn offers(&self, tool: &str) -> bool {
        let tools = self.tools.as_ref();
        tools.is_none_or(|tools| tools.iter().any(|it| it == tool))
    }

    /// Whether a source of knowledge is searched there, as far as it may be seen.
    pub fn reads(&self, source: &str) -> bool {
        let sources = self.sources.as_ref();
        sources.is_none_or(|sources| sources.iter().any(|it| it == source))
    }

    /// Merges two settings: a field that is unset here is taken from `general`.
    #[must_use]
    fn or(self, general: &Self) -> Self {
        let general = general.clone();
        Self {
            answer: self.answer,
            persona: if self.persona.is_empty() {
                general.persona
            } else {
                self.persona
            },
            model: self.model.or(general.model),
            recall_threshold: self.recall_threshold.or(general.recall_threshold),
            time_zone: self.time_zone.or(general.time_zone),
            language: self.language.or(general.language),
            memory: self.memory,
            off_record: self.off_record,
            digest: self.digest,
            retain_days: self.retain_days.or(general.retain_days),
            legal_hold: self.legal_hold,
            sampling: match (self.sampling, general.sampling) {
                (Some(here), Some(there)) => Some(here.or(&there)),
                (here, there) => here.or(there),
            },
            tools: self.tools.or(general.tools),
            sources: self.sources.or(general.sources),
            prompts: self.prompts.or(general.prompts),
            instructions: [general.instructions, self.instructions].concat(),
            grounding: self.grounding.or(general.grounding),
            style: self.style.or(general.style),
        }
    }

    /// Resolves the paths of the files it names against the folder of the settings.
    fn beside(&mut self, folder: &Path) {
        let files = self.prompts.iter_mut().chain(&mut self.instructions);
        files.for_each(|file| *file = folder.join(&file));
    }

    /// Names a setting that makes sense for a single channel only, if one is set.
    fn only_of_one(&self) -> Option<&'static str> {
        [
            ("answer", self.answer.is_some()),
            ("memory", self.memory.is_some()),
            ("off_record", self.off_record.is_some()),
            ("digest", self.digest.is_some()),
            ("legal_hold", self.legal_hold),
        ]
        .into_iter()
        .find_map(|(name, is_set)| is_set.then_some(name))
    }
}

/// The settings of all channels. They can be [replaced](Channels::replace) while a bot runs.
#[derive(Debug, Default)]
pub struct Channels {
    by_audience: RwLock<ByAudience>,
    /// The default language, where neither channel nor platform says another.
    language: Language,
}

type ByAudience = BTreeMap<AudienceId, ChannelSettings>;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    #[error("the channel settings {} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the channel settings {} are wrong", path.display())]
    Wrong {
        path: PathBuf,
        #[source]
        source: Box<toml::de::Error>,
    },
    #[error("{channel} has a recall_threshold of {threshold}, which is not between 0 and 1")]
    Threshold { channel: AudienceId, threshold: f64 },
    #[error("{channel}: {problem}")]
    Setting {
        channel: AudienceId,
        problem: String,
    },
    #[error(
        "[\"*\"] has {setting}, which is set for single channels only; write it into the table of each channel that it is meant for"
    )]
    OnlyOfOne { setting: &'static str },
}

impl Channels {
    /// Reads the file.
    ///
    /// # Errors
    /// Fails when the file is not valid; the error says what is wrong, and where.
    pub fn load(path: &Path) -> Result<Self, ChannelsError> {
        let text = std::fs::read_to_string(path).map_err(|source| ChannelsError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let mut read: ByAudience =
            toml::from_str(&text).map_err(|source| ChannelsError::Wrong {
                path: path.to_owned(),
                source: Box::new(source),
            })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for (channel, settings) in &mut read {
            settings.beside(folder);
            let threshold = settings.recall_threshold.unwrap_or_default();
            if !(0.0..=1.0).contains(&threshold) {
                return Err(ChannelsError::Threshold {
                    channel: channel.clone(),
                    threshold,
                });
            }
            let problem = settings
                .sampling
                .as_ref()
                .and_then(SamplingSettings::problem);
            if let Some(problem) = problem {
                return Err(ChannelsError::Setting {
                    channel: channel.clone(),
                    problem,
                });
            }
        }
        let everywhere = read.get(&AudienceId::new(EVERYWHERE));
        if let Some(setting) = everywhere.and_then(ChannelSettings::only_of_one) {
            return Err(ChannelsError::OnlyOfOne { setting });
        }
        Ok(Self {
            by_audience: RwLock::new(read),
            language: Language::default(),
        })
    }

    /// Sets the default language of the bot.
    #[must_use]
    pub fn with_default_language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Replaces these settings. Returns whether they changed.
    pub fn replace(&self, by: Self) -> bool {
        let by = by.by_audience.into_inner();
        let by = by.unwrap_or_else(PoisonError::into_inner);
        let mut all = self
            .by_audience
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let is_other = *all != by;
        *all = by;
        is_other
    }

    /// Returns the settings of an audience, with the general ones as defaults, if there are any.
    pub fn of(&self, audience: &AudienceId) -> Option<ChannelSettings> {
        let all = self.all();
        let here = all.get(audience).cloned();
        match all.get(&AudienceId::new(EVERYWHERE)) {
            Some(everywhere) => Some(here.unwrap_or_default().or(everywhere)),
            None => here,
        }
    }

    fn all(&self) -> RwLockReadGuard<'_, ByAudience> {
        let all = self.by_audience.read();
        all.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the settings by their names in the file. General settings are not merged into those
    /// of a channel.
    pub fn tables(&self) -> Vec<(AudienceId, ChannelSettings)> {
        let all = self.all();
        all.iter()
            .map(|(id, set)| (id.clone(), set.clone()))
            .collect()
    }

    /// Returns the names that are not an audience of any platform: those do not begin with a
    /// platform's name.
    pub fn unknown_places(&self) -> Vec<String> {
        const PLATFORMS: [&str; 5] = ["slack", "discord", "matrix", "webhook", "terminal"];
        let all = self.all();
        let places = all.keys().map(AudienceId::as_str);
        let unknown = places.filter(|place| {
            let platform = place.split('/').next().unwrap_or_default();
            !PLATFORMS.contains(&platform) && *place != EVERYWHERE
        });
        unknown.map(str::to_owned).collect()
    }

    /// The audiences that get a digest, and when.
    pub fn digests(&self) -> Vec<(AudienceId, DigestSchedule)> {
        let all = self.all();
        let digests = all.iter().filter_map(|(audience, settings)| {
            let digest = settings.digest.clone()?;
            Some((audience.clone(), digest))
        });
        digests.collect()
    }

    /// The places under a legal hold, which also covers the places below them.
    pub fn legal_holds(&self) -> Vec<AudienceId> {
        let all = self.all();
        let held = all.iter().filter(|(_, settings)| settings.legal_hold);
        held.map(|(place, _)| place.clone()).collect()
    }

    /// Whether a place, or one above it, is under a legal hold.
    pub fn is_held(&self, place: &AudienceId) -> bool {
        self.legal_holds().iter().any(|held| place.is_within(held))
    }

    /// After how many days messages of an audience are deleted: the setting of the audience, of the
    /// place above it, or the general one. `None`: they are kept.
    pub fn retain_days(&self, audience: &AudienceId) -> Option<NonZeroU32> {
        let all = self.all();
        let set = |place: &str| all.get(&AudienceId::new(place))?.retain_days;
        let mut place = audience.as_str();
        loop {
            if let Some(days) = set(place) {
                return Some(days);
            }
            match place.rsplit_once('/') {
                Some((above, _)) => place = above,
                None => return set(EVERYWHERE),
            }
        }
    }

    /// Returns the language in which the bot speaks to everybody in an audience. `workspace`: the
    /// language of its workspace, where the platform says.
    pub fn language(&self, audience: &AudienceId, workspace: Option<Language>) -> Language {
        let set = self.of(audience).and_then(|set| set.language);
        set.or(workspace).unwrap_or(self.language)
    }

    /// Returns the languages in which a message is answered: the channel's for everybody, and its
    /// author's own language on the platform for its author alone.
    pub fn languages(&self, message: &IncomingMessage) -> Languages {
        let place = self.language(message.channel(), message.workspace_language);
        Languages {
            place,
            person: message.author.language.unwrap_or(place),
        }
    }

    /// Returns the answer mode of an audience. `None`: the platform's default.
    pub fn answer_mode(&self, audience: &AudienceId) -> Option<AnswerMode> {
        self.all().get(audience)?.answer
    }

    /// Returns the words that put a message of an audience off the record, if set.
    pub fn off_record(&self, audience: &AudienceId) -> Option<Vec<String>> {
        self.all().get(audience)?.off_record.clone()
    }

    /// What is remembered of an audience, if that is set.
    pub fn memory(&self, audience: &AudienceId) -> Option<ChannelMemory> {
        self.all().get(audience)?.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Channels, ChannelsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("channels.toml");
        std::fs::write(&path, text).unwrap();
        Channels::load(&path)
    }

    #[test]
    fn what_is_unset_is_as_everywhere() {
        let channels = load("['slack/T/C']\nanswer = 'always'\n['slack/T/D']\n").unwrap();
        let mode = |id| channels.answer_mode(&AudienceId::new(id));
        assert_eq!(mode("slack/T/C"), Some(AnswerMode::Always));
        assert_eq!(mode("slack/T/D"), None);
        assert_eq!(mode("slack/T/E"), None);
        let set = channels.of(&AudienceId::new("slack/T/D")).unwrap();
        assert_eq!(set, ChannelSettings::default());
        assert!(channels.replace(load("['slack/T/D']\nanswer = 'never'\n").unwrap()));
        assert_eq!(channels.answer_mode(&AudienceId::new("slack/T/C")), None);
        assert!(!channels.replace(load("['slack/T/D']\nanswer = 'never'\n").unwrap()));
    }

    #[test]
    fn a_channels_language_goes_before_its_workspaces_and_that_before_the_setting() {
        let channels = load("['slack/T/C']\nlanguage = 'de'\n").unwrap();
        let channels = channels.with_default_language(Language::French);
        let language = |id, workspace| channels.language(&AudienceId::new(id), workspace);
        let japanese = Some(Language::Japanese);
        assert_eq!(language("slack/T/C", japanese), Language::German);
        assert_eq!(language("slack/T/D", japanese), Language::Japanese);
        assert_eq!(language("slack/T/D", None), Language::French);
        assert!(load("['slack/T/C']\nlanguage = 'it'\n").is_err());
    }

    #[test]
    fn what_holds_for_all_holds_where_a_channel_says_nothing() {
        let channels = load(
            "['*']\npersona = 'Kind.'\n\
             ['*'.sampling]\nanswer = { temperature = 0.7, seed = 1 }\n\
             ['slack/T/C']\nanswer = 'always'\n\
             ['slack/T/C'.sampling]\nanswer = { temperature = 0 }\n",
        )
        .unwrap();
        assert_eq!(channels.unknown_places(), [""; 0]);
        let of = |id| channels.of(&AudienceId::new(id)).unwrap();
        let here = of("slack/T/C");
        assert_eq!(
            (here.answer, here.persona.as_str()),
            (Some(AnswerMode::Always), "Kind.")
        );
        let answers = here.sampling.unwrap().answer;
        assert_eq!((answers.temperature, answers.seed), (Some(0.0), Some(1)));
        let elsewhere = of("matrix/!r").sampling.unwrap().answer;
        assert_eq!(
            (elsewhere.temperature, elsewhere.seed),
            (Some(0.7), Some(1))
        );
    }

    #[test]
    fn what_is_below_a_place_is_kept_as_long_as_that() {
        let channels = load(
            "['*']\nretain_days = 365\n['slack/T/C']\nretain_days = 30\nlegal_hold = true\n\
             ['slack/T/D']\npersona = 'Kind.'\n",
        )
        .unwrap();
        for (place, days) in [
            ("slack/T/C", 30),
            ("slack/T/C/private/U", 30),
            ("slack/T/D", 365),
            ("matrix/!r", 365),
        ] {
            let set = channels.retain_days(&AudienceId::new(place));
            assert_eq!(set.map(NonZeroU32::get), Some(days), "{place}");
        }
        assert_eq!(channels.legal_holds(), [AudienceId::new("slack/T/C")]);
        for (place, is_held) in [
            ("slack/T/C", true),
            ("slack/T/C/private/U", true),
            ("slack/T/C12", false),
            ("slack/T", false),
        ] {
            assert_eq!(
                channels.is_held(&AudienceId::new(place)),
                is_held,
                "{place}"
            );
        }
        let unset = load("['slack/T/C']\n").unwrap();
        assert_eq!(unset.retain_days(&AudienceId::new("slack/T/C")), None);
    }

    #[test]
    fn files_are_looked_for_beside_the_settings_and_instructions_add_up() {
        let channels = load(
            "['*']\ninstructions = ['all.md']\ngrounding = 'strict'\ntools = []\n\
             ['slack/T/C']\ninstructions = ['/etc/c.md']\nprompts = 'own'\ngrounding = 'open'\n",
        )
        .unwrap();
        let set = channels.of(&AudienceId::new("slack/T/C")).unwrap();
        let names: Vec<_> = set
            .instructions
            .iter()
            .filter_map(|it| it.file_name())
            .collect();
        assert_eq!(names, ["all.md", "c.md"]);
        assert!(set.instructions.iter().all(|it| it.is_absolute()));
        assert!(set.prompts.unwrap().is_absolute());
        assert_eq!(set.grounding, Some(Grounding::Open));
        assert_eq!(set.tools, Some(Vec::new()));
        assert_eq!(channels.tables().len(), 2);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("['a']\nanswers = 'always'", "unknown field `answers`"),
            ("['a']\nanswer = 'sometimes'", "sometimes"),
            (
                "['a']\ndigest = 'Mondays'",
                "\"Mondays\" is no schedule; write days, a time",
            ),
            (
                "['a']\nrecall_threshold = 2",
                "a has a recall_threshold of 2",
            ),
            (
                "['a'.sampling]\nanswer = { temperature = 3 }",
                "a: sampling.answer.temperature is 3, but must be from 0 to 2",
            ),
            (
                "['a'.sampling]\ncypher = { stop = ['1', '2', '3', '4', '5'] }",
                "a: sampling.cypher.stop has 5 texts",
            ),
            (
                "['a'.sampling]\nanswer = { temperatur = 0 }",
                "unknown field `temperatur`",
            ),
            ("['a']\ngrounding = 'strikt'", "strikt"),
            ("['a']\nretain_days = 0", "expected a nonzero u32"),
            (
                "['*']\nlegal_hold = true",
                "[\"*\"] has legal_hold, which is set for single channels only",
            ),
            (
                "['*']\ndigest = 'daily 08:00'",
                "[\"*\"] has digest, which is set for single channels only",
            ),
        ] {
            let error = load(text).unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let said = format!("{error} {}", source.unwrap_or_default());
            assert!(said.contains(named), "{said}");
        }
        let missing = Channels::load(Path::new("nowhere.toml")).unwrap_err();
        assert!(missing.to_string().contains("nowhere.toml"));
    }
}

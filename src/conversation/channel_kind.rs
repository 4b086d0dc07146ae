//! What the bot is in a channel: its instructions, tools, searched sources and way of answering.
//!
//! The files that the settings name are small and are read for each turn, so that changes take effect at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use muninn_platform::suggest::perhaps_meant;
use muninn_platform::{AnswerStyle, AudienceId, ChannelSettings, Channels, Grounding, in_one_line};

use crate::agent::mcp::McpFile;
use crate::agent::prompts::{PromptError, Prompts};
use crate::agent::tools::{ToolFiles, names_tool, tool_names};

/// Maximum size of an instructions file, in bytes. A larger file would fill every prompt.
const MOST_INSTRUCTIONS: u64 = 32 << 10;

/// The settings that apply to a turn in a channel.
#[derive(Clone, Debug)]
pub struct ChannelKind {
    pub set: ChannelSettings,
    pub prompts: Arc<Prompts>,
    /// Text appended to the system prompt; may be empty.
    pub instructions: String,
}

/// Why a file named by a channel's settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ChannelKindError {
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the instructions {} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the instructions {} are longer than {} KB", path.display(), MOST_INSTRUCTIONS >> 10)]
    TooLong { path: PathBuf },
}

impl ChannelKind {
    /// The general prompts, with the given settings.
    pub fn plain(set: ChannelSettings, prompts: Arc<Prompts>) -> Self {
        Self {
            set,
            prompts,
            instructions: String::new(),
        }
    }

    /// Reads the files that the settings of a channel name. Its prompts replace those in `folder`, which replace the
    /// built-in ones.
    ///
    /// # Errors
    /// Names the file that cannot be used.
    pub fn read(
        set: ChannelSettings,
        everywhere: &Arc<Prompts>,
        folder: Option<&Path>,
    ) -> Result<Self, ChannelKindError> {
        let prompts = match &set.prompts {
            Some(own) => Arc::new(Prompts::load_first(&[Some(own), folder])?),
            None => Arc::clone(everywhere),
        };
        let texts = set.instructions.iter().map(|path| instructions(path));
        let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
        Ok(Self {
            instructions: texts.join("\n\n").trim().to_owned(),
            prompts,
            set,
        })
    }

    /// Whether the settings name files that must be read.
    pub fn names_files(set: &ChannelSettings) -> bool {
        set.prompts.is_some() || !set.instructions.is_empty()
    }

    /// The tools that may be called; `None` means all.
    pub fn tools(&self) -> Option<&[String]> {
        self.set.tools.as_deref()
    }

    pub fn allows(&self, tool: &str) -> bool {
        self.tools().is_none_or(|tools| names_tool(tools, tool))
    }

    /// The sources that are searched; `None` means all visible ones.
    pub fn sources(&self) -> Option<&[String]> {
        self.set.sources.as_deref()
    }

    pub fn is_strict(&self) -> bool {
        self.set.grounding.unwrap_or_default() == Grounding::Strict
    }

    pub fn is_brief(&self) -> bool {
        self.set.style.unwrap_or_default() == AnswerStyle::Brief
    }
}

fn instructions(path: &Path) -> Result<String, ChannelKindError> {
    let unreadable = |source| ChannelKindError::Unreadable {
        path: path.to_owned(),
        source,
    };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MOST_INSTRUCTIONS {
        return Err(ChannelKindError::TooLong {
            path: path.to_owned(),
        });
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

/// Problems in the settings of channels, one sentence each: unusable files, and unknown tools.
pub fn problems(channels: &Channels, folder: Option<&Path>, mcp: &McpFile) -> Vec<String> {
    let tables = channels.tables();
    if tables.is_empty() {
        return Vec::new();
    }
    // Problems of the general tools and prompts are reported where those are loaded.
    let Ok(everywhere) = Prompts::load(folder).map(Arc::new) else {
        return Vec::new();
    };
    let made = ToolFiles::load(folder).unwrap_or_default();
    let known = tool_names(&made);
    // The tools of a server are known only while it runs.
    let servers = mcp.read().unwrap_or_default();
    let is_of_server = |tool: &str| {
        let server = tool.split_once("__").map(|(server, _)| server);
        servers.iter().any(|it| Some(it.name.as_str()) == server)
    };
    let mut problems = Vec::new();
    for (channel, set) in tables {
        for tool in set.tools.iter().flatten() {
            if !known.contains(&tool.as_str()) && !is_of_server(tool) {
                problems.push(unknown(&channel, "tool", tool, &known));
            }
        }
        if let Err(error) = ChannelKind::read(set, &everywhere, folder) {
            problems.push(format!(
                "channel settings of {channel}: {}",
                in_one_line(&error)
            ));
        }
    }
    problems
}

/// The sources that channel settings name and that were never ingested, one sentence each.
pub fn unknown_sources(channels: &Channels, known: &[&str]) -> Vec<String> {
    let tables = channels.tables().into_iter();
    let named = tables.flat_map(|(channel, set)| {
        let sources = set.sources.unwrap_or_default().into_iter();
        sources.map(move |source| (channel.clone(), source))
    });
    named
        .filter(|(_, source)| !known.contains(&source.as_str()))
        .map(|(channel, source)| unknown(&channel, "source", &source, known))
        .collect()
}

fn unknown(channel: &AudienceId, what: &str, name: &str, known: &[&str]) -> String {
    let meant = match perhaps_meant(name, known.iter().copied()) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None if known.is_empty() => format!("there is no {what} at all yet"),
        None => format!("there are {}", known.join(", ")),
    };
    format!("channel settings of {channel}: there is no {what} {name:?}; {meant}")
}

/// The settings of a channel on one line, but for how long messages are kept.
pub fn describe_settings(set: &ChannelSettings) -> String {
    let mut told = answering(set);
    told.extend(remembering(set));
    told.join("; ")
}

/// What is different about answers.
fn answering(set: &ChannelSettings) -> Vec<String> {
    let mut told = Vec::new();
    told.extend(set.answer.map(|mode| format!("answer {}", mode.name())));
    told.extend(set.model.as_ref().map(|model| format!("model {model}")));
    told.extend(set.tools.as_deref().map(|tools| list("tools", tools)));
    told.extend(
        set.sources
            .as_deref()
            .map(|sources| list("sources", sources)),
    );
    let prompts = set.prompts.as_ref();
    told.extend(prompts.map(|folder| format!("prompts of {}", folder.display())));
    let files = set.instructions.iter();
    told.extend(files.map(|file| format!("instructions {}", file.display())));
    told.extend(set.grounding.map(|grounding| match grounding {
        Grounding::Open => "open grounding".to_owned(),
        Grounding::Strict => "strict grounding".to_owned(),
    }));
    told.extend(set.style.map(|style| match style {
        AnswerStyle::Full => "full answers".to_owned(),
        AnswerStyle::Brief => "brief answers".to_owned(),
    }));
    told.extend((!set.persona.is_empty()).then(|| "a persona".to_owned()));
    told.extend(set.sampling.as_ref().map(|_| "own sampling".to_owned()));
    told.extend(set.language.map(|language| format!("language {language}")));
    told.extend(set.time_zone.map(|zone| format!("time zone {zone}")));
    told
}

/// What is different about memory and what is made from it.
fn remembering(set: &ChannelSettings) -> Vec<String> {
    let threshold = set.recall_threshold;
    let digest = set.digest.as_ref();
    let told = [
        threshold.map(|threshold| format!("recall threshold {threshold}")),
        set.memory.map(|memory| format!("memory {}", memory.name())),
        set.off_record
            .as_deref()
            .map(|words| list("words for off the record", words)),
        digest.map(|digest| format!("digest {digest}")),
    ];
    told.into_iter().flatten().collect()
}

fn list(what: &str, names: &[String]) -> String {
    match names {
        [] => format!("no {what}"),
        names => format!("{what} {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(folder: &Path, text: &str) -> Channels {
        let path = folder.join("channels.toml");
        std::fs::write(&path, text).unwrap();
        Channels::load(&path).unwrap()
    }

    #[test]
    fn what_there_is_not_is_named_with_what_was_meant() {
        let folder = tempfile::tempdir().unwrap();
        let set = channels(
            folder.path(),
            "['slack/T/C']\ntools = ['search_knowlege', 'text2cypher', 'crm__add', 'crm__*']\nsources = ['handbok']\n\
             instructions = ['gone.md']\n",
        );
        let mcp = folder.path().join("mcp.toml");
        std::fs::write(&mcp, "[mcp.crm]\ncommand = 'crm'\n").unwrap();
        let mcp = McpFile::new(None, folder.path());
        let found = problems(&set, None, &mcp);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            found[0],
            "channel settings of slack/T/C: there is no tool \"search_knowlege\"; did you mean \"search_knowledge\"?"
        );
        assert!(found[1].contains("gone.md cannot be read"), "{found:?}");
        assert_eq!(
            unknown_sources(&set, &["handbook"]),
            [
                "channel settings of slack/T/C: there is no source \"handbok\"; did you mean \"handbook\"?"
            ]
        );
        assert!(unknown_sources(&set, &[])[0].ends_with("there is no source at all yet"));
    }

    #[test]
    fn settings_are_described() {
        let folder = tempfile::tempdir().unwrap();
        for (set, described) in [
            ("", ""),
            ("answer = 'never'", "answer never"),
            ("memory = 'channel'", "memory channel"),
            ("digest = 'Mon,Thu 09:00'", "digest Mon,Thu 09:00"),
            ("language = 'pt'", "language pt"),
            ("time_zone = 'Europe/Lisbon'", "time zone Europe/Lisbon"),
            (
                "off_record = ['[off]', 'psst:']",
                "words for off the record [off], psst:",
            ),
            ("off_record = []", "no words for off the record"),
            ("recall_threshold = 0.5", "recall threshold 0.5"),
            ("tools = []", "no tools"),
            (
                "style = 'brief'\nmemory = 'asked'",
                "brief answers; memory asked",
            ),
            // It is told apart, as it is about deleting.
            ("retain_days = 90\nlegal_hold = true", ""),
        ] {
            let channels = channels(folder.path(), &format!("['a']\n{set}\n"));
            let set = channels.of(&AudienceId::new("a")).unwrap();
            assert_eq!(describe_settings(&set), described);
        }
    }

    #[test]
    fn a_channels_prompts_go_before_those_of_everywhere() {
        let folder = tempfile::tempdir().unwrap();
        let (own, shared) = (folder.path().join("own"), folder.path().join("shared"));
        for (at, file, text) in [
            (&own, "refusal.md", "Not in the archive."),
            (&shared, "refusal.md", "Not here."),
            (&shared, "route.md", "Shared."),
        ] {
            std::fs::create_dir_all(at).unwrap();
            std::fs::write(at.join(file), text).unwrap();
        }
        std::fs::write(folder.path().join("more.md"), "Say thou.\n").unwrap();
        let set = channels(
            folder.path(),
            "['a']\nprompts = 'own'\ninstructions = ['more.md']\n",
        );
        let set = set.of(&AudienceId::new("a")).unwrap();
        let everywhere = Arc::new(Prompts::load(Some(&shared)).unwrap());
        let kind = ChannelKind::read(set, &everywhere, Some(&shared)).unwrap();
        let refusal = crate::agent::prompts::Refusal::default();
        assert_eq!(
            kind.prompts.render(&refusal).unwrap(),
            "Not in the archive."
        );
        let route = crate::agent::prompts::Route::default();
        assert_eq!(kind.prompts.render(&route).unwrap(), "Shared.");
        assert_eq!(kind.instructions, "Say thou.");
    }
}

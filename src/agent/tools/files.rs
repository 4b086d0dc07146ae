//! Tools without Rust code: TOML files, each with a statement or an address.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::cypher_tool::CypherTool;
use super::http_tool::HttpTool;
use super::template::Variables;
use super::tool_file::{ToolFileError, wrong};
use crate::extract::settings::parsed;

/// Names of built-in tools, which files cannot use.
const BUILT_IN_NAMES: &[&str] = &[
    "search_memory",
    "save_note",
    "list_notes",
    "search_knowledge",
    "search_nodes",
    "text2cypher",
    "stay_silent",
    "respond",
];

const SHIPPED: &[(&str, &str)] = &[
    (
        "find_movie_by_title.toml",
        include_str!("../../../prompts/tools/find_movie_by_title.toml"),
    ),
    (
        "find_movies_by_actor.toml",
        include_str!("../../../prompts/tools/find_movies_by_actor.toml"),
    ),
];

/// The tools from files.
#[derive(Debug, Default)]
pub struct ToolFiles {
    /// Those with a statement.
    pub cypher: Vec<CypherTool>,
    /// Those with an address.
    pub http: Vec<Arc<HttpTool>>,
}

/// The fields that distinguish the kinds.
#[derive(Deserialize)]
struct ToolFileKind {
    url: Option<IgnoredAny>,
}

impl ToolFiles {
    /// Loads the built-in tools and those in `tools` of `folder`, whose files replace built-in ones
    /// of the same name.
    ///
    /// # Errors
    /// Fails when a file is invalid; the error names it and the problem.
    pub fn load(folder: Option<&Path>) -> Result<Self, ToolFileError> {
        let own = folder.map(read_folder).transpose()?.unwrap_or_default();
        let is_replaced = |file: &str| own.iter().any(|(name, _)| name == file);
        let mut tools = Self::default();
        for (file, text) in SHIPPED.iter().filter(|(file, _)| !is_replaced(file)) {
            tools.cypher.push(CypherTool::read(file, text, true)?);
        }
        for (file, text) in &own {
            tools.read(file, text)?;
        }
        let mut names: BTreeSet<&str> = BUILT_IN_NAMES.iter().copied().collect();
        for (file, name) in tools.names() {
            if !names.insert(name) {
                let detail = format!("there is another tool of the name {name:?}");
                return Err(wrong(file, detail));
            }
        }
        Ok(tools)
    }

    fn read(&mut self, file: &str, text: &str) -> Result<(), ToolFileError> {
        let kind: ToolFileKind = parsed(text).map_err(|detail| wrong(file, detail))?;
        match kind {
            ToolFileKind { url: Some(_) } => {
                let mut variables = Variables::of_environment();
                let tool = HttpTool::read(file, text, &mut variables)?;
                self.http.push(Arc::new(tool));
            }
            ToolFileKind { url: None } => match CypherTool::read(file, text, false) {
                Ok(tool) => self.cypher.push(tool),
                Err(ToolFileError::Wrong { detail, .. })
                    if detail.contains("missing field `cypher`") =>
                {
                    let neither = "it has neither a statement (cypher) nor an address (url)";
                    return Err(wrong(file, neither));
                }
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    /// The file and the name of each tool.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let cypher = self.cypher.iter();
        let cypher = cypher.map(|tool| (tool.file.as_str(), tool.spec.name.as_str()));
        let http = self.http.iter();
        cypher.chain(http.map(|tool| (tool.file.as_str(), tool.spec.name.as_str())))
    }
}

/// Every `.toml` file in the folder's `tools`, sorted by name.
fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, ToolFileError> {
    let folder = folder.join("tools");
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| ToolFileError::Unreadable { path, source }
    };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(unreadable(&folder))? {
        let path = entry.map_err(unreadable(&folder))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files.push((name.into_owned(), text));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_ones_are_right() {
        let tools = ToolFiles::load(None).unwrap();
        let names: Vec<&str> = tools.names().map(|(_, name)| name).collect();
        assert_eq!(names, ["find_movie_by_title", "find_movies_by_actor"]);
    }

    #[test]
    fn two_tools_of_one_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        std::fs::create_dir(&tools).unwrap();
        let text = "name = \"text2cypher\"\ndescription = \"Counts.\"\nrow_limit = 5\ncypher = \"RETURN 1\"\n";
        std::fs::write(tools.join("mine.toml"), text).unwrap();
        let said = ToolFiles::load(Some(folder.path())).unwrap_err();
        assert!(said.to_string().contains("text2cypher"), "{said}");
    }

    #[test]
    fn what_is_wrong_is_told_without_the_line() {
        for text in [
            "name = \"a\"\nurl = \"https://x.example/?key=SECRET\n",
            "name = \"a\"\nurl = \"https://x.example\"\nheader = \"Bearer SECRET\"\n",
            "name = \"a\"\nulr = \"https://x.example/?key=SECRET\"\n",
        ] {
            let said = ToolFiles::default().read("a.toml", text).unwrap_err();
            let said = said.to_string();
            assert!(said.contains("line ") && !said.contains("SECRET"), "{said}");
        }
    }
}

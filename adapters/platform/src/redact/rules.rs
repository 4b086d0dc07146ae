//! Finds secrets by their form, with gitleaks' rules, applied as gitleaks applies them.
//!
//! A rule is tried only if the text contains one of its keywords, and compiled only then. A match
//! counts if its entropy is high enough and no allow list excludes it.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

/// As gitleaks publishes it (`config/gitleaks.toml`, MIT, see `gitleaks.LICENSE`).
const GITLEAKS: &str = include_str!("gitleaks.toml");
const OWN: &str = include_str!("own.toml");

/// Maximum size of a compiled rule; gitleaks' largest needs a tenth of it.
const SIZE_LIMIT: usize = 64 << 20;

static RULES: LazyLock<SecretRules> = LazyLock::new(SecretRules::load);

/// A file of rules, limited to what applies to a message: it has no path and no commit.
#[derive(Debug, Default, Deserialize)]
struct RuleFile {
    #[serde(default)]
    allowlist: AllowList,
    rules: Vec<RuleSource>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleSource {
    id: String,
    /// `None`: the rule only looks at file names.
    regex: Option<String>,
    #[serde(default)]
    entropy: f64,
    secret_group: Option<usize>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<AllowList>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AllowList {
    condition: Condition,
    paths: Vec<String>,
    regex_target: RegexTarget,
    regexes: Vec<String>,
    stopwords: Vec<String>,
    #[serde(skip)]
    compiled: OnceLock<Vec<Regex>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Condition {
    #[default]
    #[serde(rename = "OR")]
    Any,
    #[serde(rename = "AND")]
    All,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RegexTarget {
    #[default]
    Secret,
    Match,
    Line,
}

#[derive(Debug)]
struct Rule {
    id: String,
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
    entropy: f64,
    secret_group: Option<usize>,
    allowlists: Vec<AllowList>,
    /// Whether the allow lists of gitleaks' file apply to it.
    is_gitleaks: bool,
}

#[derive(Debug)]
struct SecretRules {
    rules: Vec<Rule>,
    /// The allow list of all gitleaks rules.
    allowed: AllowList,
    keywords: Option<AhoCorasick>,
    /// The indices of the rules of each keyword.
    of_keyword: Vec<Vec<usize>>,
}

/// Returns the ranges of secrets in a text, in any order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for rule in RULES.suspected(text) {
        RULES.search(rule, text, &mut found);
    }
    found
}

impl SecretRules {
    /// An unreadable file would be a fault of the build; a test reads both.
    fn load() -> Self {
        let gitleaks: RuleFile = toml::from_str(GITLEAKS).unwrap_or_default();
        let own: RuleFile = toml::from_str(OWN).unwrap_or_default();
        let mut words: Vec<String> = Vec::new();
        let mut of_keyword: Vec<Vec<usize>> = Vec::new();
        let mut rules = Vec::new();
        let sources = gitleaks.rules.into_iter().map(|rule| (rule, true));
        for (source, is_gitleaks) in sources.chain(own.rules.into_iter().map(|rule| (rule, false)))
        {
            let Some(pattern) = source.regex else {
                continue;
            };
            for keyword in source.keywords {
                let keyword = keyword.to_ascii_lowercase();
                let at = words.iter().position(|word| *word == keyword);
                let at = at.unwrap_or_else(|| {
                    words.push(keyword);
                    of_keyword.push(Vec::new());
                    words.len() - 1
                });
                of_keyword[at].push(rules.len());
            }
            rules.push(Rule {
                id: source.id,
                pattern,
                compiled: OnceLock::new(),
                entropy: source.entropy,
                secret_group: source.secret_group,
                allowlists: source.allowlists,
                is_gitleaks,
            });
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&words);
        Self {
            rules,
            allowed: gitleaks.allowlist,
            keywords: keywords.ok(),
            of_keyword,
        }
    }

    /// Returns the rules with a keyword in the text.
    fn suspected(&self, text: &str) -> impl Iterator<Item = &Rule> {
        let mut suspected = vec![false; self.rules.len()];
        let mut seen = vec![false; self.of_keyword.len()];
        if let Some(keywords) = &self.keywords {
            for keyword in keywords.find_overlapping_iter(text) {
                let keyword = keyword.pattern().as_usize();
                if !std::mem::replace(&mut seen[keyword], true) {
                    for rule in &self.of_keyword[keyword] {
                        suspected[*rule] = true;
                    }
                }
            }
        }
        let rules = self.rules.iter().zip(suspected);
        rules.filter_map(|(rule, suspected)| suspected.then_some(rule))
    }

    fn search(&self, rule: &Rule, text: &str, found: &mut Vec<Range<usize>>) {
        let Some(regex) = rule.regex() else {
            return;
        };
        for captures in regex.captures_iter(text.as_bytes()) {
            let Some(whole) = captures.get(0) else {
                continue;
            };
            // As in gitleaks: the named group, or the first one that matched.
            let group = match rule.secret_group {
                Some(group) => captures.get(group),
                None => captures
                    .iter()
                    .skip(1)
                    .flatten()
                    .find(|group| !group.is_empty()),
            };
            let secret = on_characters(text, group.unwrap_or(whole).range());
            let whole = on_characters(text, whole.range());
            if !secret.is_empty() && self.counts(rule, text, &secret, &whole) {
                found.push(secret);
            }
        }
    }

    fn counts(&self, rule: &Rule, text: &str, secret: &Range<usize>, whole: &Range<usize>) -> bool {
        let said = &text[secret.clone()];
        if rule.entropy > 0.0 && entropy(said) <= rule.entropy {
            return false;
        }
        if !rule.is_gitleaks {
            return true;
        }
        // An exception from gitleaks: without a digit it is a name.
        if rule.id.starts_with("generic") && !said.bytes().any(|b| b.is_ascii_digit()) {
            return false;
        }
        let lists = rule.allowlists.iter().chain([&self.allowed]);
        !{ lists }.any(|list| list.allows(text, secret, whole))
    }
}

impl Rule {
    fn regex(&self) -> Option<&Regex> {
        let compile = || compiled(&self.pattern);
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl AllowList {
    fn allows(&self, text: &str, secret: &Range<usize>, whole: &Range<usize>) -> bool {
        // A condition that also requires a path never holds: a message has none.
        if self.condition == Condition::All && !self.paths.is_empty() {
            return false;
        }
        let target = match self.regex_target {
            RegexTarget::Secret => secret.clone(),
            RegexTarget::Match => whole.clone(),
            RegexTarget::Line => line_around(text, whole),
        };
        let target = text[target].as_bytes();
        let regexes = self.compiled.get_or_init(|| {
            let regexes = self.regexes.iter().map(String::as_str);
            regexes.filter_map(compiled).collect()
        });
        let by_regex = || regexes.iter().any(|regex| regex.is_match(target));
        let by_word = || {
            let said = text[secret.clone()].to_ascii_lowercase();
            self.stopwords.iter().any(|word| said.contains(word))
        };
        match self.condition {
            Condition::Any => by_regex() || by_word(),
            Condition::All => {
                (self.regexes.is_empty() || by_regex()) && (self.stopwords.is_empty() || by_word())
            }
        }
    }
}

/// Compiles a pattern. Classes are ASCII, as in Go, for which the rules were written; a brace that
/// begins no repetition is literal.
fn compiled(pattern: &str) -> Option<Regex> {
    let build = |pattern: &str| {
        let mut builder = RegexBuilder::new(pattern);
        builder.unicode(false).size_limit(SIZE_LIMIT).build().ok()
    };
    build(pattern).or_else(|| build(&with_plain_braces(pattern)))
}

fn with_plain_braces(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut is_escaped = false;
    for (at, c) in pattern.char_indices() {
        if c == '{' && !is_escaped {
            let inside = pattern[at + 1..].split('}').next().unwrap_or_default();
            let is_repetition = inside.starts_with(|c: char| c.is_ascii_digit())
                && inside.chars().all(|c| c.is_ascii_digit() || c == ',');
            if !is_repetition {
                plain.push('\\');
            }
        }
        plain.push(c);
        is_escaped = c == '\\' && !is_escaped;
    }
    plain
}

/// Extends the range to whole characters.
fn on_characters(text: &str, range: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

fn line_around(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n');
    start..end.map_or(text.len(), |at| range.end + at)
}

/// Shannon entropy in bits per character.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::HashMap::<char, u32>::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1;
    }
    let all: u32 = counts.values().sum();
    let share = |count: &u32| f64::from(*count) / f64::from(all);
    counts.values().map(share).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_both_files_compiles() {
        let own: RuleFile = toml::from_str(OWN).unwrap();
        let gitleaks: RuleFile = toml::from_str(GITLEAKS).unwrap();
        assert!(own.rules.len() > 15 && gitleaks.rules.len() > 200);
        assert!(RULES.keywords.is_some());
        for rule in &RULES.rules {
            assert!(rule.regex().is_some(), "{}", rule.id);
            for list in rule.allowlists.iter().chain([&RULES.allowed]) {
                for regex in &list.regexes {
                    assert!(compiled(regex).is_some(), "{} {regex}", rule.id);
                }
            }
        }
        let has_keyword = |rule: usize| RULES.of_keyword.iter().any(|of| of.contains(&rule));
        for (at, rule) in RULES.rules.iter().enumerate() {
            assert!(has_keyword(at), "{} is never tried", rule.id);
        }
    }

    #[test]
    fn entropy_is_shannons() {
        assert_eq!(entropy(""), 0.0);
        assert_eq!(entropy("aaaa"), 0.0);
        assert_eq!(entropy("abcd"), 2.0);
    }
}

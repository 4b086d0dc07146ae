//! Parses `robots.txt` (RFC 9309): what a site does not want to be read.

use std::time::Duration;

/// The rules of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Robots {
    /// Patterns, and whether matching paths are allowed.
    rules: Vec<(String, bool)>,
    /// Minimum delay between two requests; not in the RFC, but widely used.
    pub(super) delay: Option<Duration>,
}

/// Maximum bytes that are parsed; the RFC requires at least as many.
const MAX_PARSED_BYTES: usize = 500 * 1024;

/// The rules for one robot.
#[derive(Default)]
struct RobotsGroup {
    is_there: bool,
    robots: Robots,
}

impl Robots {
    /// Returns the rules for a robot of this name, in lower case; the rules for all robots if it is
    /// not named.
    pub(super) fn parse(text: &str, robot: &str) -> Self {
        let end = text.floor_char_boundary(MAX_PARSED_BYTES);
        let (mut own, mut all) = (RobotsGroup::default(), RobotsGroup::default());
        let (mut is_own, mut is_all, mut has_rules) = (false, false, false);
        for line in text[..end].trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                // Several names may precede the same rules.
                if has_rules {
                    (is_own, is_all, has_rules) = (false, false, false);
                }
                is_own |= product(value).eq_ignore_ascii_case(robot);
                is_all |= value == "*";
                own.is_there |= is_own;
                continue;
            }
            let groups = [(is_own, &mut own), (is_all, &mut all)];
            let groups = groups.into_iter().filter(|(is_meant, _)| *is_meant);
            match key.as_str() {
                "allow" | "disallow" => {
                    has_rules = true;
                    let rule = (decoded(value), key == "allow");
                    // An empty `Disallow` forbids nothing.
                    groups
                        .filter(|_| !value.is_empty())
                        .for_each(|(_, group)| group.robots.rules.push(rule.clone()));
                }
                "crawl-delay" => {
                    has_rules = true;
                    let delay = value.parse().ok();
                    let delay = delay.and_then(|delay| Duration::try_from_secs_f64(delay).ok());
                    groups.for_each(|(_, group)| group.robots.delay = delay);
                }
                _other => {}
            }
        }
        if own.is_there { own.robots } else { all.robots }
    }

    /// The longest matching pattern decides; `Allow` wins a tie.
    pub(super) fn allow(&self, path: &str) -> bool {
        let path = decoded(path);
        let fitting = self
            .rules
            .iter()
            .filter(|(pattern, _)| fits(pattern, &path));
        let best = fitting.max_by_key(|(pattern, is_allowed)| (pattern.len(), *is_allowed));
        best.is_none_or(|(_, is_allowed)| *is_allowed)
    }
}

/// Returns the product name of a user agent: `Muninn/1.0` is `Muninn`.
fn product(agent: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
    let end = agent.find(|c| !is_part(c)).unwrap_or(agent.len());
    &agent[..end]
}

/// `%7E` and `~` are the same; `%2F` and `/` are not.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match code {
            Some(code) if !matches!(code, b'/' | b'%' | b'*' | b'$') => {
                bytes.push(code);
                rest = &after[2..];
            }
            Some(_) | None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Matches a pattern: `*` is any text, `$` at the end is the end.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        if is_whole && at + 1 == parts.len() {
            return rest.ends_with(part);
        }
        let Some(found) = rest.find(part) else {
            return false;
        };
        rest = &rest[found + part.len()..];
    }
    !is_whole || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules, path, whether it is allowed: includes the examples of RFC 9309.
    #[test]
    fn the_longest_rule_decides() {
        let all = |rules: &str| format!("User-agent: *\n{rules}");
        for (rules, path, expected) in [
            ("Disallow: /private # not this", "/private/x", false),
            (
                "Disallow: /private\nAllow: /private/open",
                "/private/open/x",
                true,
            ),
            ("Disallow: /*.cgi$", "/a/b.cgi", false),
            ("Disallow: /*.cgi$", "/a/b.cgi?x", true),
            ("Disallow:", "/", true),
            ("Allow: /x\nDisallow: /x", "/x", true),
            (
                "Disallow: /foo/bar?baz=http://foo.bar",
                "/foo/bar?baz=http://foo.bar",
                false,
            ),
            ("Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", false),
            (
                "Disallow: /foo/bar/U+E38384\nDisallow: /foo/bar/%E3%83%84",
                "/foo/bar/ツ",
                false,
            ),
            ("Disallow: *.gif$", "/a.gif", false),
            (
                "Allow: *.gif$\nDisallow: /publications/",
                "/publications/x.gif",
                false,
            ),
            ("", "/", true),
        ] {
            assert_eq!(
                Robots::parse(&all(rules), "muninn").allow(path),
                expected,
                "{rules} {path}"
            );
        }
    }

    #[test]
    fn the_rules_for_its_own_name_come_before_those_for_all() {
        let text = "User-agent: *\nDisallow: /\n\nuser-agent: x\nUser-Agent: Muninn/2.0\nDisallow: /no\nCrawl-delay: 0.5\n\n\
                    User-agent: muninn\nDisallow: /nor\n\nUser-agent: muninns\nDisallow: /yes\n";
        let robots = Robots::parse(text, "muninn");
        assert_eq!(
            ["/yes", "/no", "/nor"].map(|path| robots.allow(path)),
            [true, false, false]
        );
        assert_eq!(robots.delay, Some(Duration::from_millis(500)));
        assert!(!Robots::parse(text, "other").allow("/yes"));
        // A group without rules allows everything.
        let empty = "User-agent: muninn\n\nUser-agent: *\nDisallow: /\n";
        assert!(!Robots::parse(empty, "muninn").allow("/x"));
        let empty = "User-agent: *\nDisallow: /\nUser-agent: muninn\nDisallow:\n";
        assert!(Robots::parse(empty, "muninn").allow("/x"));
    }
}

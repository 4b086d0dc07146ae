//! Neutralises mentions of everybody and of single people.

use super::code::{MarkdownSpan, Scan};
use super::undecided::{Decision, TextCompleteness, begins_with};
use super::zero_width::ZERO_WIDTH_SPACE;

/// Words that ping anywhere in a text, in Discord even within a word.
const ANYWHERE: [&str; 2] = ["everyone", "here"];

/// Words that ping as a word of their own (Slack, Matrix).
const AS_A_WORD: [&str; 3] = ["channel", "room", "group"];

/// Slack's own form, `<!here>`. HTML comments and doctypes are not among these.
const AFTER_BANG: [&str; 5] = ["channel", "here", "everyone", "group", "subteam"];

/// Puts a zero-width space into everything that would ping: after the `@` of a mass mention, and
/// after the `<` of a Slack or Discord mention.
///
/// Leaves code unchanged: there each adapter protects in any case (Slack's escapes, Discord's
/// `allowed_mentions`, Matrix' `m.mentions`).
pub(super) fn defuse(text: &str, end: TextCompleteness) -> String {
    let scan = Scan::of(text, end);
    let mut safe = String::with_capacity(text.len());
    for part in scan.parts() {
        match part {
            MarkdownSpan::Code(range) => {
                let is_last = range.end == text.len() && end == TextCompleteness::Open;
                let code = &text[range];
                // Adapters that escape a mention in code need to see all of it.
                let undecided = code.rfind('<').filter(|at| {
                    is_last && matches!(bracketed_mention(&code[at + 1..]), Decision::Undecided)
                });
                safe.push_str(&code[..undecided.unwrap_or(code.len())]);
            }
            MarkdownSpan::Prose(range) => {
                let end = if range.end == text.len() {
                    end
                } else {
                    TextCompleteness::Final
                };
                if !defuse_prose(&text[range], end, &mut safe) {
                    return safe;
                }
            }
        }
    }
    safe
}

/// Processes prose. Returns whether all of it was decided.
fn defuse_prose(text: &str, end: TextCompleteness, safe: &mut String) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['@', '<']) {
        safe.push_str(&rest[..at]);
        let (sign, after) = rest[at..].split_at(1);
        let look = if sign == "@" {
            mass_mention(safe.chars().next_back(), after, end)
        } else {
            bracketed_mention(after)
        };
        match look {
            Decision::Undecided if end == TextCompleteness::Open => return false,
            Decision::No | Decision::Undecided => safe.push_str(sign),
            Decision::Yes => {
                safe.push_str(sign);
                safe.push(ZERO_WIDTH_SPACE);
            }
        }
        rest = after;
    }
    safe.push_str(rest);
    true
}

fn mass_mention(before: Option<char>, after: &str, end: TextCompleteness) -> Decision {
    let mut undecided = false;
    for word in ANYWHERE {
        match begins_with(after, word) {
            Decision::No => {}
            Decision::Undecided => undecided = true,
            Decision::Yes => return Decision::Yes,
        }
    }
    for word in AS_A_WORD {
        match begins_with(after, word) {
            Decision::No => {}
            _ if before.is_some_and(is_word) => {}
            Decision::Undecided => undecided = true,
            Decision::Yes => match after[word.len()..].chars().next() {
                None if end == TextCompleteness::Open => undecided = true,
                None => return Decision::Yes,
                Some(next) if !is_word(next) => return Decision::Yes,
                Some(_) => {}
            },
        }
    }
    if undecided {
        Decision::Undecided
    } else {
        Decision::No
    }
}

/// `<@U123>`, `<@!123>`, `<@&123>`, `<!here>`, `<!subteam^S123>`.
fn bracketed_mention(after: &str) -> Decision {
    let mut characters = after.chars();
    match (characters.next(), characters.next()) {
        (None, _) | (Some('@' | '#'), None) => Decision::Undecided,
        (Some('@'), Some(next)) if next.is_ascii_alphanumeric() || matches!(next, '!' | '&') => {
            Decision::Yes
        }
        (Some('!'), _) => {
            let looks = AFTER_BANG.map(|word| begins_with(&after[1..], word));
            if looks.iter().any(|look| matches!(look, Decision::Yes)) {
                Decision::Yes
            } else if looks.iter().any(|look| matches!(look, Decision::Undecided)) {
                Decision::Undecided
            } else {
                Decision::No
            }
        }
        (Some(_), _) => Decision::No,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_broken() {
        for (text, safe) in [
            ("@everyone", "@~everyone"),
            ("hi @here!", "hi @~here!"),
            ("@EVERYONE @Here", "@~EVERYONE @~Here"),
            ("x@everyone", "x@~everyone"),
            ("@channel", "@~channel"),
            ("(@room)", "(@~room)"),
            ("@roommate", "@roommate"),
            ("me@channel.io", "me@channel.io"),
            (
                "@alice @user:server.org a@b.c",
                "@alice @user:server.org a@b.c",
            ),
            ("<!channel> <!here|here>", "<~!channel> <~!here|here>"),
            ("<!subteam^S1|@x>", "<~!subteam^S1|@x>"),
            (
                "<!-- note --> <!DOCTYPE html>",
                "<!-- note --> <!DOCTYPE html>",
            ),
            ("<@U123> <@!1> <@&2>", "<~@U123> <~@!1> <~@&2>"),
            ("<@everyone>", "<~@~everyone>"),
            ("a < b, a <", "a < b, a <"),
            ("@", "@"),
            ("@ever", "@ever"),
            (
                "```java\n@Override\n@Channel(\"x\")\n```",
                "```java\n@Override\n@Channel(\"x\")\n```",
            ),
            (
                "```\n@everyone <@U1>\n```\n@Room",
                "```\n@everyone <@U1>\n```\n@~Room",
            ),
            (
                "`@here` and @here, `<!channel>` and <!channel>",
                "`@here` and @~here, `<!channel>` and <~!channel>",
            ),
        ] {
            let safe = safe.replace('~', "\u{200B}");
            assert_eq!(defuse(text, TextCompleteness::Final), safe, "{text:?}");
        }
    }
}

//! Converts Slack's markup to plain text for the bot. Pure.

/// Maximum length of a token in angle brackets: longer than any name or address of Slack; a longer
/// one is text.
const LONGEST_TOKEN: usize = 3_000;

/// Resolves the markup: entities, links, people and channels by their names, without the mention of
/// `me`. `name_of` returns a user's name, if known.
pub(crate) fn plain(text: &str, me: &str, name_of: &dyn Fn(&str) -> Option<String>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(end) = after.find('>').filter(|end| *end <= LONGEST_TOKEN) else {
            plain.push('<');
            rest = after;
            continue;
        };
        push_token(&after[..end], me, name_of, &mut plain);
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    let plain = plain.replace("&lt;", "<").replace("&gt;", ">");
    plain.replace("&amp;", "&").trim().to_owned()
}

fn push_token(token: &str, me: &str, name_of: &dyn Fn(&str) -> Option<String>, plain: &mut String) {
    let (target, label) = match token.split_once('|') {
        Some((target, label)) => (target, Some(label)),
        None => (token, None),
    };
    if let Some(user) = target.strip_prefix('@') {
        if user == me {
            // A name at the beginning addresses the bot and is not part of the text.
            return trim_end(plain);
        }
        let name = name_of(user).or_else(|| label.map(str::to_owned));
        plain.push('@');
        plain.push_str(name.as_deref().unwrap_or(user));
    } else if let Some(channel) = target.strip_prefix('#') {
        plain.push('#');
        plain.push_str(label.filter(|label| !label.is_empty()).unwrap_or(channel));
    } else if let Some(special) = target.strip_prefix('!') {
        // `<!here>`, `<!subteam^S1|@team>`, `<!date^…|today>`.
        match label {
            Some(label) => plain.push_str(label),
            None => {
                plain.push('@');
                plain.push_str(special.split('^').next().unwrap_or(special));
            }
        }
    } else {
        match label {
            Some(label) if label != target && !target.ends_with(label) => {
                plain.push_str(label);
                plain.push_str(" (");
                plain.push_str(target);
                plain.push(')');
            }
            Some(_) | None => plain.push_str(target.strip_prefix("mailto:").unwrap_or(target)),
        }
    }
}

fn trim_end(plain: &mut String) {
    let kept = plain.trim_end().len();
    let had_blank = kept < plain.len();
    plain.truncate(kept);
    if had_blank && !plain.is_empty() {
        plain.push(' ');
    }
}

/// Whether a user is mentioned.
pub(crate) fn mentions(text: &str, user: &str) -> bool {
    let of = |rest: &str| {
        let rest = rest.strip_prefix(user)?;
        rest.starts_with(['>', '|']).then_some(())
    };
    text.split("<@").skip(1).any(|rest| of(rest).is_some())
}

/// Whether people other than `me` are mentioned: one of them, a group, or all.
pub(crate) fn names_people(text: &str, me: &str) -> bool {
    let is_group = |form: &str| {
        ["here", "channel", "everyone", "subteam^"]
            .iter()
            .any(|it| form.starts_with(it))
    };
    mentioned(text, usize::MAX)
        .into_iter()
        .any(|user| user != me)
        || text.split("<!").skip(1).any(is_group)
}

/// Returns the mentioned users, at most `most`.
pub(crate) fn mentioned(text: &str, most: usize) -> Vec<&str> {
    let ids = text.split("<@").skip(1).filter_map(|rest| {
        let end = rest.find(['>', '|'])?;
        let id = &rest[..end];
        (!id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric())).then_some(id)
    });
    ids.take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> String {
        plain(text, "UBOT", &|user| {
            (user == "U1").then(|| "Ann".to_owned())
        })
    }

    #[test]
    fn it_is_known_whether_others_are_mentioned() {
        for (text, expected) in [
            ("<@UBOT> when?", false),
            ("when?", false),
            ("<!date^1^{date}|today>", false),
            ("<@U1> when?", true),
            ("<@UBOT> and <@U1|ann>", true),
            ("<!here> when?", true),
            ("<!subteam^S1|@team>", true),
        ] {
            assert_eq!(names_people(text, "UBOT"), expected, "{text}");
        }
    }

    #[test]
    fn markup_becomes_text() {
        for (text, expected) in [
            ("<@UBOT> when?", "when?"),
            ("<@UBOT|muninn>: when?", ": when?"),
            ("hey <@UBOT> when?", "hey  when?"),
            (
                "ask <@U1> or <@U2> or <@U3|carl>",
                "ask @Ann or @U2 or @carl",
            ),
            ("in <#C1|general>, <#C2>", "in #general, #C2"),
            (
                "<!here> <!subteam^S1|@team> <!date^1^{date}|today>",
                "@here @team today",
            ),
            ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
            ("<https://a.b/c>", "https://a.b/c"),
            ("<https://a.b/c|the page>", "the page (https://a.b/c)"),
            ("<http://a.b|a.b>", "http://a.b"),
            ("<mailto:a@b.c|a@b.c>", "a@b.c"),
            ("1 < 2", "1 < 2"),
            ("", ""),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn mentions_are_whole_ids() {
        for (text, is_mentioned) in [
            ("<@UBOT>", true),
            ("<@UBOT|muninn> hi", true),
            ("<@UBOTTOM>", false),
            ("@UBOT", false),
            ("&lt;@UBOT&gt;", false),
        ] {
            assert_eq!(mentions(text, "UBOT"), is_mentioned, "{text}");
        }
        assert_eq!(mentioned("<@U1> <@U2|b> <@> <@U3>", 2), ["U1", "U2"]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC{0,80}") {
            let _ = read(&text);
            let _ = (mentions(&text, "U"), mentioned(&text, 5));
        }

        #[test]
        fn what_slack_escaped_comes_back(text in "[a-z<>& ]{0,40}") {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            prop_assert_eq!(read(&escaped), text.trim());
        }
    }
}

//! Nothing that people read in a chat is written into the code of adapters and of conversations.
//!
//! Found is every string of at least three words, and every one of a word or more that is handed to what says something. A
//! shorter one that goes another way is not found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Calls and macros whose texts are for whoever runs the bot, and stay English: logs, metrics, doctor, settings, and errors
/// that end a platform.
const FOR_OPERATORS: [&str; 29] = [
    "error",
    "warn",
    "info",
    "debug",
    "expect",
    "unreachable",
    "misconfigured",
    "Misconfigured",
    "Disconnected",
    "disconnected",
    "damaged_store",
    "half_set",
    "none_if_all_unset",
    "BadInput",
    "SelfCheckFinding::ok",
    "SelfCheckFinding::warning",
    "SelfCheckFinding::error",
    "SettingsError::Unreadable",
    "Announced::Refused",
    "rights::describe_inability",
    "StoreError::Refused",
    // What a request was answered, where the answer is an error of it.
    "Failure::refused",
    "ApiError::Away",
    "Self::Away",
    // Why a file was not read: it goes into the prompt, and into no answer.
    "DownloadError::Refused",
    "refused",
    // Names of methods and fields, and words that are looked for.
    "WordList::of",
    "LazyLock::new",
    "Regex::new",
];

/// Calls and macros that say something to people, whatever its length.
const SAY: [&str; 11] = [
    "SafeText::new",
    "NotHandedOver::new",
    "Withdrawn::stays",
    "HistoryError::Refused",
    "BackfillState::Stopped",
    "plain_text",
    "content::say",
    "content::replacement_response",
    "set_status",
    "set_title",
    "say",
];

/// What is let be, with the reason: all of a file, or these strings alone.
const ALLOWED: &[(&str, &[&str], &str)] = &[
    // For whoever runs the bot.
    ("adapters/discord/src/allow.rs", &[], "settings"),
    ("adapters/discord/src/check.rs", &[], "doctor"),
    ("adapters/discord/src/check/overwrites.rs", &[], "doctor"),
    ("adapters/discord/src/errors.rs", &[], "what a log says"),
    ("adapters/discord/src/options.rs", &[], "settings"),
    ("adapters/discord/src/probe.rs", &[], "errors of a start"),
    ("adapters/discord/src/shards.rs", &[], "settings and doctor"),
    (
        "adapters/discord/src/rights.rs",
        &[],
        "logs; permissions as Discord's English settings call them",
    ),
    (
        "adapters/discord/src/background.rs",
        &["read what was said before"],
        "a log",
    ),
    (
        "adapters/discord/src/transport.rs",
        &["each of the messages that Discord has for it was taken away"],
        "what a log says",
    ),
    ("adapters/matrix/src/allow.rs", &[], "settings"),
    ("adapters/matrix/src/login.rs", &[], "errors of a start"),
    ("adapters/matrix/src/login/unreached.rs", &[], "tests"),
    (
        "adapters/matrix/src/membership.rs",
        &["the homeserver does not answer"],
        "what a log says",
    ),
    (
        "adapters/platform/src/channels/sampling.rs",
        &[],
        "settings",
    ),
    ("adapters/platform/src/errors.rs", &[], "settings"),
    (
        "adapters/platform/src/http_server.rs",
        &["the body did not come in time"],
        "what a log says; who sent it gets a status",
    ),
    (
        "adapters/terminal/src/name.rs",
        &["link my accounts"],
        "commands as they are written",
    ),
    (
        "adapters/webhook/src/name.rs",
        &["link my accounts"],
        "commands as they are written",
    ),
    ("adapters/slack/src/allow.rs", &[], "settings"),
    (
        "adapters/slack/src/errors.rs",
        &["that it needs"],
        "for a scope that Slack did not name",
    ),
    (
        "adapters/slack/src/manifest.rs",
        &[],
        "the app's entry at Slack, which has one language",
    ),
    ("adapters/webhook/src/options.rs", &[], "settings"),
    ("src/conversation/audit.rs", &[], "the operator's record"),
    ("src/conversation/channel_kind.rs", &[], "settings"),
    (
        "src/conversation/hearing.rs",
        &["the platform is away", "off the record:"],
        "a log, and words that people write, which settings change",
    ),
    (
        "src/conversation/turn/delivering.rs",
        &["a private answer"],
        "a log",
    ),
    (
        "src/conversation/turn/draft.rs",
        &["not asked about, as the model gave no answer"],
        "an error of a tool, as all of them are in `why`",
    ),
    // For programs.
    ("adapters/terminal/src/lines.rs", &[], "errors of a script"),
    ("adapters/terminal/src/script.rs", &[], "errors of a script"),
    ("adapters/terminal/src/socket.rs", &[], "errors of a script"),
    ("adapters/webhook/src/event.rs", &[], "errors of a request"),
    (
        "adapters/webhook/src/inbound.rs",
        &[],
        "errors of a request",
    ),
    ("adapters/webhook/src/outbox.rs", &[], "what a log says"),
    // For the model.
    ("src/conversation/attachments.rs", &[], "the prompt"),
    ("src/conversation/prior.rs", &[], "the prompt"),
    // Commands, which are the same English words in every language.
    ("adapters/platform/src/command/reading.rs", &[], "commands"),
    ("adapters/platform/src/vocabulary.rs", &[], "commands"),
    ("adapters/discord/src/vocabulary.rs", &[], "commands"),
    (
        "adapters/discord/src/interaction.rs",
        &["mcp token everywhere"],
        "commands",
    ),
    (
        "adapters/discord/src/commands.rs",
        &[
            "Ask Muninn about this message",
            "don't remember me here",
            "remember me here",
            "remember only what is asked",
        ],
        "commands",
    ),
    (
        "adapters/slack/src/withdraw.rs",
        &["forget me yes"],
        "a command",
    ),
    // Names.
    ("adapters/slack/src/views.rs", &["Muninn"], "the bot's name"),
    (
        "adapters/slack/src/inbound/message.rs",
        &["direct messages with {}"],
        "a place's name as the graph keeps it, whoever reads it later",
    ),
];

/// Where a string stands: itself, and the calls around it.
struct LocatedString {
    text: String,
    within: Vec<String>,
}

/// The strings of code, without those of attributes and tests.
fn strings(code: TokenStream, within: &[String], found: &mut Vec<LocatedString>) {
    let mut path = String::new();
    let mut is_attribute = false;
    let mut skips_item = false;
    for token in code {
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                '#' => is_attribute = true,
                '!' => {}
                ':' => path.push(':'),
                other => {
                    skips_item &= other != ';';
                    path.clear();
                }
            },
            TokenTree::Ident(ident) => {
                if !path.ends_with("::") {
                    path.clear();
                }
                path.push_str(&ident.to_string());
            }
            TokenTree::Group(group) if is_attribute => {
                is_attribute = false;
                skips_item |= group.stream().to_string().replace(' ', "") == "cfg(test)";
            }
            TokenTree::Group(group) => {
                let mut within = within.to_vec();
                within.push(std::mem::take(&mut path));
                if !skips_item {
                    strings(group.stream(), &within, found);
                }
                skips_item &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Literal(literal) => {
                path.clear();
                let text = literal.to_string();
                if let Some((_, text)) = text.split_once('"')
                    && !skips_item
                {
                    found.push(LocatedString {
                        text: text.trim_end_matches(['"', '#']).to_owned(),
                        within: within.to_vec(),
                    });
                }
            }
        }
    }
}

/// How many words a text has beside what is put into it.
fn words(text: &str) -> usize {
    let mut plain = String::new();
    let mut depth = 0_usize;
    for sign in text.replace("\\n", " ").chars() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            other if depth == 0 => plain.push(other),
            _ => {}
        }
    }
    let words = plain.split_whitespace().filter(|word| {
        let word = word.trim_matches(|sign: char| "\"'`*#()[],.;:!?…—".contains(sign));
        let is_sign = |sign: char| sign.is_alphabetic() || "'’-".contains(sign);
        !word.is_empty() && word.chars().all(is_sign)
    });
    words.count()
}

fn is_one_of(calls: &[&str], within: &[String]) -> bool {
    let is_it = |call: &&str, name: &str| {
        name == *call
            || name
                .strip_suffix(*call)
                .is_some_and(|before| before.ends_with("::"))
    };
    within
        .iter()
        .any(|name| calls.iter().any(|call| is_it(call, name)))
}

/// The texts of a file that people may read.
fn said(code: &str) -> BTreeSet<String> {
    let mut found = Vec::new();
    strings(code.parse().unwrap(), &[], &mut found);
    let said = found.into_iter().filter(|it| {
        let words = words(&it.text);
        let is_said = words >= 3 || (words > 0 && is_one_of(&SAY, &it.within));
        is_said && !is_one_of(&["text"], &it.within) && !is_one_of(&FOR_OPERATORS, &it.within)
    });
    said.map(|it| it.text).collect()
}

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap_or_default();
        if name == "tests" || name == "testing" {
            continue;
        }
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|it| it == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn what_people_read_is_in_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    files(&root.join("src/conversation"), &mut all);
    for adapter in std::fs::read_dir(root.join("adapters")).unwrap() {
        files(&adapter.unwrap().path().join("src"), &mut all);
    }
    let mut unused: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (file, texts, _) in ALLOWED.iter().copied() {
        match texts {
            [] => unused.extend([(file, "")]),
            texts => unused.extend(texts.iter().map(|text| (file, *text))),
        }
    }
    let mut hard_coded = Vec::new();
    for path in all {
        let file = path.strip_prefix(&root).unwrap().display().to_string();
        for text in said(&std::fs::read_to_string(&path).unwrap()) {
            let allowed = ALLOWED.iter().find(|(name, texts, _)| {
                *name == file && (texts.is_empty() || texts.contains(&text.as_str()))
            });
            match allowed {
                Some((name, [], _)) => drop(unused.remove(&(*name, ""))),
                Some((name, ..)) => unused.retain(|it| *it != (*name, text.as_str())),
                None => hard_coded.push(format!("{file}: {text:?}")),
            }
        }
    }
    assert!(
        hard_coded.is_empty(),
        "write these into texts/ and say them by text!, or allow them here with a reason:\n{}",
        hard_coded.join("\n")
    );
    assert!(unused.is_empty(), "allowed, and not there: {unused:?}");
}

#[test]
fn a_text_in_code_is_found() {
    let found = said(
        r##"
        /// A comment says what it wants.
        #[error("an error of an operator")]
        const REFUSAL: &str = "I may not come";
        fn tell(name: &str) {
            tracing::warn!("a log says anything");
            let how = text!("said-by", name);
            reply(&SafeText::new(&format!("{how}\n— by {name}")));
            misconfigured(match name { _ => format!("the token of {name} is wrong") });
            Err(Box::new(String::from(r#"no "files" here"#)))
        }
        #[cfg(test)]
        mod tests {
            fn ask() { says("What is the point?"); }
        }
        fn after() { post("is said once more", "two words", "https://a.b c/d e"); }
        "##,
    );
    let all = [
        "I may not come",
        "is said once more",
        "no \"files\" here",
        "{how}\\n— by {name}",
    ];
    assert_eq!(found, all.map(str::to_owned).into());
}

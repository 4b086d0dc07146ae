//! Checks citations: finds the passages that an answer cites, and removes numbers without a
//! passage. Pure.

use super::Hit;
use super::facts::is_path;
use muninn_platform::{Language, escaped, linked};
use muninn_texts::text;

/// A passage that the model was given, with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Cited {
    /// From 1, in the order of finding within a turn.
    pub number: usize,
    pub hit: Hit,
}

/// An answer whose citations were checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedAnswer {
    /// Without invalid citations.
    pub text: String,
    /// The valid numbers, each once, in order.
    pub used: Vec<usize>,
}

/// Removes citations of unknown numbers from an answer. Leaves code unchanged, and brackets with
/// several numbers, or with 0: these are values rather than citations if any of them is unknown.
pub fn check(answer: &str, known: &[usize]) -> CheckedAnswer {
    let mut checked = check_once(answer, known);
    // A removal within brackets may create a citation: "[1[9]]" is "[1]" now.
    loop {
        let again = check_once(&checked.text, known);
        if again == checked {
            return checked;
        }
        checked = again;
    }
}

/// Checks an answer that still grows, for people who watch it. What comes next may change its end,
/// which is held back: as far as can be told, what is shown is the beginning of the checked answer.
pub fn check_growing(answer: &str, known: &[usize]) -> String {
    let mut shown = check(&answer[..settled_end(answer)], known).text;
    // Marks around a citation go with it.
    let end = shown.trim_end_matches([' ', '*', '_', '(', '（']).len();
    shown.truncate(end);
    let line = shown.rfind('\n').map_or(0, |at| at + 1);
    if begins_label(&shown[line..]) {
        shown.truncate(line);
    }
    shown
}

/// Returns where the end begins of which it is unknown whether it is a citation.
fn settled_end(answer: &str) -> usize {
    /// Maximum bytes of a citation.
    const HELD: usize = 40;
    let start = answer.rfind('\n').map_or(0, |at| at + 1);
    let line = &answer[start..];
    let mut at = 0;
    while let Some(next) = line[at..].find(['[', '【', '`']) {
        let from = &line[at + next..];
        let end = match from.chars().next() {
            Some('`') => {
                let end = code_end(from);
                let is_open = from[..end].chars().all(|c| c == '`');
                // Brackets in code are none, but where it ends is not known yet.
                if is_open && let Some(bracket) = from.find(['[', '【']) {
                    return start + at + next + bracket;
                }
                end
            }
            Some(bracket) => match from.find([']', '】']) {
                // What follows may make it a link.
                Some(close) if close + bracket.len_utf8() >= from.len() => {
                    return start + at + next;
                }
                None if from.len() <= HELD => return start + at + next,
                Some(_) | None => bracket.len_utf8(),
            },
            None => break,
        };
        at += next + end;
    }
    answer.len()
}

fn check_once(answer: &str, known: &[usize]) -> CheckedAnswer {
    let mut checked = CheckedAnswer::default();
    // With whether it is in a quote.
    let mut fence: Option<(&str, bool)> = None;
    for line in answer.split_inclusive('\n') {
        let is_quoted = line.trim_start().starts_with('>');
        // Code in a quote ends with the quote.
        fence = fence.filter(|(_, is_in_quote)| is_quoted || !is_in_quote);
        let mark = match fence {
            Some((_, false)) => fence_of(line),
            Some((_, true)) | None => fence_of(line.trim_start_matches([' ', '>'])),
        };
        match (fence, mark) {
            (None, Some(opening)) => fence = Some((opening, is_quoted)),
            (Some((open, _)), Some(mark)) if mark.starts_with(open) => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                check_line(line, known, &mut checked);
                continue;
            }
        }
        checked.text.push_str(line);
    }
    checked.used.sort_unstable();
    checked.used.dedup();
    checked
}

/// Returns the marks with which a line opens or closes a code block.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line
        .find(|character| character != mark)
        .unwrap_or(line.len());
    (length >= 3).then(|| &line[..length])
}

fn check_line(line: &str, known: &[usize], checked: &mut CheckedAnswer) {
    let start = checked.text.len();
    let mut has_removed = false;
    let mut rest = line;
    while let Some(at) = rest.find(['[', '【', '`']) {
        let (before, from) = rest.split_at(at);
        checked.text.push_str(before);
        if from.starts_with('`') {
            let end = code_end(from);
            checked.text.push_str(&from[..end]);
            rest = &from[end..];
            continue;
        }
        match Citation::at(from, begins_line(&checked.text), known) {
            Some(citation) => {
                rest = &from[citation.written.len()..];
                if !citation.add_to(checked, known) {
                    has_removed = true;
                    rest = without_emptied(&mut checked.text, start, rest);
                }
            }
            None => {
                let bracket = from.chars().next().map_or(0, char::len_utf8);
                checked.text.push_str(&from[..bracket]);
                rest = &from[bracket..];
            }
        }
    }
    checked.text.push_str(rest);
    if has_removed && is_only_label(&checked.text[start..]) {
        // One end of a line stays for those before it.
        checked.text.truncate(start);
        let before = checked.text.trim_end_matches('\n').len();
        checked.text.truncate(before + usize::from(before > 0));
    }
}

/// Removes marks around a removed citation that have nothing between them now, `**` and `**` or `(`
/// and `)`: from the text since `start`, and from the rest, which is returned.
fn without_emptied<'a>(text: &mut String, start: usize, mut rest: &'a str) -> &'a str {
    while let Some((opening, closing)) = emptied(&text[start..], rest) {
        let before = text[..text.len() - opening].trim_end_matches(' ').len();
        text.truncate(before);
        rest = &rest[closing..];
    }
    rest
}

/// Returns the lengths of marks that end the one text and begin the other as a pair.
fn emptied(before: &str, after: &str) -> Option<(usize, usize)> {
    let parentheses = [("(", ")"), ("（", "）")].into_iter();
    let mut parentheses =
        parentheses.filter(|(open, close)| before.ends_with(*open) && after.starts_with(*close));
    if let Some((open, close)) = parentheses.next() {
        return Some((open.len(), close.len()));
    }
    ['*', '_'].into_iter().find_map(|mark| {
        let (inner, rest) = (
            before.trim_end_matches(mark),
            after.trim_start_matches(mark),
        );
        let (opens, closes) = (before.len() - inner.len(), after.len() - rest.len());
        // Beside a word they close what is before, or open what comes.
        let is_at_word =
            inner.ends_with(char::is_alphanumeric) || rest.starts_with(char::is_alphanumeric);
        (opens > 0 && opens == closes && !is_at_word).then_some((opens, closes))
    })
}

/// Words that announce sources.
const LABELS: [&str; 11] = [
    "source",
    "sources",
    "quelle",
    "quellen",
    "fuente",
    "fuentes",
    "fonte",
    "fontes",
    "reference",
    "references",
    "出典",
];

/// Whether a line only announces sources.
fn is_only_label(line: &str) -> bool {
    LABELS.contains(&only_words(line).as_str())
}

/// Whether a line may still become one that only announces sources.
fn begins_label(line: &str) -> bool {
    let words = only_words(line);
    !words.is_empty() && LABELS.iter().any(|label| label.starts_with(&words))
}

/// Returns a line without marks around its words, in lower case.
fn only_words(line: &str) -> String {
    let words = line.trim_matches(|c: char| !c.is_alphanumeric());
    words.to_lowercase()
}

/// Whether a line begins after this text, or what is quoted in it.
fn begins_line(text: &str) -> bool {
    let text = text.trim_end_matches([' ', '>']);
    text.is_empty() || text.ends_with('\n')
}

/// Whether brackets after this text are an index, a value or an argument: `w[7]`, `v = [7]`,
/// `f([7])`.
fn ends_as_code(text: &str) -> bool {
    let is_word = |text: &str| text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    is_word(text)
        || text.trim_end_matches(' ').ends_with('=')
        || text.strip_suffix('(').is_some_and(is_word)
}

/// Returns the end of inline code, which closes with as many marks as it opens.
fn code_end(from: &str) -> usize {
    let marks = from
        .find(|character| character != '`')
        .unwrap_or(from.len());
    let inner = &from[marks..];
    let mut at = 0;
    while let Some(next) = inner[at..].find('`') {
        let begin = at + next;
        let run = inner[begin..].find(|character| character != '`');
        let end = run.map_or(inner.len(), |run| begin + run);
        if end - begin == marks {
            return marks + end;
        }
        at = end;
    }
    marks
}

/// Numbers in brackets.
#[derive(Debug)]
struct Citation<'a> {
    /// As the model wrote it.
    written: &'a str,
    /// What is in its brackets, without lines of the source.
    inside: &'a str,
    numbers: Vec<usize>,
}

impl<'a> Citation<'a> {
    /// Parses `[1]`, `[1, 2]`, `[1-3]` and `[^1]`, or what OpenAI's models write: `【1】`, `【1†L3-L5】`. `None` if it is the
    /// text of a link, a heading, or something else.
    fn at(from: &'a str, begins_line: bool, known: &[usize]) -> Option<Self> {
        let (inside, after) = match from.strip_prefix('【') {
            Some(inside) => inside.split_once('】')?,
            None => from.strip_prefix('[')?.split_once(']')?,
        };
        let (numbers, lines) = match inside.split_once('†') {
            Some((numbers, lines)) => (numbers, Some(lines)),
            None => (inside, None),
        };
        let is_other = if from.starts_with('【') {
            // "【1】概要" is a heading in Japanese and Chinese.
            begins_line && lines.is_none()
        } else {
            // "[1]: https://…" defines a link, while "according to [1]: …" cites.
            after.starts_with(['(', '{']) || (begins_line && after.starts_with(':'))
        };
        if is_other {
            return None;
        }
        let parts = numbers.split([',', ';']);
        let parsed: Option<Vec<Vec<usize>>> =
            parts.map(|part| numbers_of(part.trim(), known)).collect();
        Some(Self {
            written: &from[..from.len() - after.len()],
            inside: numbers,
            numbers: parsed?.concat(),
        })
    }

    /// Adds it to an answer as `[1]`, unless its number is unknown; returns whether it did.
    fn add_to(&self, checked: &mut CheckedAnswer, known: &[usize]) -> bool {
        let numbers = self.numbers.iter().copied();
        let used: Vec<usize> = numbers.filter(|it| known.contains(it)).collect();
        let is_unknown = match self.numbers[..] {
            [only] => only > 0 && used.is_empty() && !ends_as_code(&checked.text),
            [..] => false,
        };
        if is_unknown {
            // The blank before it is removed too.
            let trimmed = checked.text.trim_end_matches(' ').len();
            checked.text.truncate(trimmed);
        } else if used.is_empty() {
            checked.text.push_str(self.written);
        } else {
            let inside = self.inside.replace('^', "");
            checked.text.push_str(&format!("[{inside}]"));
        }
        checked.used.extend(used);
        !is_unknown
    }
}

/// Parses `1`, `^1` or `1-3`; `None` if it is something else, such as a range of which not all numbers are known.
fn numbers_of(part: &str, known: &[usize]) -> Option<Vec<usize>> {
    let Some((first, last)) = part.split_once(['-', '–']) else {
        let number = part.strip_prefix('^').unwrap_or(part);
        return Some(vec![number.parse().ok()?]);
    };
    let first: usize = first.trim().parse().ok()?;
    let last: usize = last.trim().parse().ok()?;
    let is_cited = first < last && (first..=last).all(|number| known.contains(&number));
    is_cited.then(|| (first..=last).collect())
}

/// Quotes passages for a person, each below its number, its name and where it is from.
pub fn quoted(cited: &[Cited]) -> String {
    let quotes = cited.iter().map(|Cited { number, hit }| {
        let file = hit.link.as_deref();
        let file = file.filter(|link| !link.contains("://") && !is_path(link));
        let place = escaped(file.unwrap_or(&hit.source));
        let heading = format!("**[{number}] {}** ({place})", escaped(&hit.name()));
        let lines = hit.text.trim().lines().map(|line| format!("> {line}"));
        let quote: Vec<String> = std::iter::once(heading).chain(lines).collect();
        quote.join("\n")
    });
    quotes.collect::<Vec<String>>().join("\n\n")
}

/// Lists the sources of an answer, one link per line; `None` if it cites nothing.
pub fn listed(cited: &[Cited], used: &[usize], language: Language) -> Option<String> {
    let mut lines = vec![text!("cited-sources").in_language(language)];
    for number in used {
        if let Some(one) = cited.iter().find(|one| one.number == *number) {
            lines.push(format!("- [{number}] {}", named(&one.hit, language)));
        }
    }
    (lines.len() > 1).then(|| lines.join("\n"))
}

/// Returns its name, linked if it has an address, with author and date if known.
fn named(hit: &Hit, language: Language) -> String {
    let name = match (page(hit, language), hit.link.as_deref()) {
        (Some(place), Some(_)) => escaped(&place),
        (_, Some(link)) => linked(&hit.name(), link),
        // Many rows of several files may have one name.
        (_, None) => format!("{} ({})", escaped(&hit.name()), escaped(&hit.source)),
    };
    let text = |sought: &str| {
        let found = hit.properties.iter().find(|(name, _)| name == sought);
        let text = found.and_then(|(_, value)| value.as_str());
        text.map(|text| escaped(text.get(..ABOUT).unwrap_or(text)))
    };
    let is_document = text("format").is_some();
    let about = ["author", "date"].into_iter().filter_map(text);
    let about: Vec<String> = about.filter(|_| is_document).collect();
    if about.is_empty() {
        return name;
    }
    format!("{name}, {}", about.join(", "))
}

/// Maximum bytes of an author's name.
const ABOUT: usize = 80;

/// Returns `lease.pdf, p. 3`, preceded by the document's own title, if it has one.
fn page(hit: &Hit, language: Language) -> Option<String> {
    let link = hit.link.as_deref()?;
    let page = hit.heading.as_deref()?.strip_prefix("Page ")?;
    let is_pdf = link.to_lowercase().ends_with(".pdf");
    let file = link.rsplit('/').next().unwrap_or(link);
    let place = || text!("file-page", file = link, page).in_language(language);
    let is_named = file.len() > 4 && file[..file.len() - 4] == hit.title;
    let is_page = is_pdf && page.bytes().all(|byte| byte.is_ascii_digit());
    is_page.then(|| {
        if is_named {
            place()
        } else {
            format!("{} ({})", hit.title, place())
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::knowledge::search::rank::Scores;

    #[test]
    fn a_number_without_a_source_is_taken_out_but_not_of_code() {
        for (answer, expected, used) in [
            ("Two ravens [1].", "Two ravens [1].", vec![1]),
            ("Two ravens [7].", "Two ravens.", vec![]),
            ("Both [1][9][2] and [1]", "Both [1][2] and [1]", vec![1, 2]),
            ("Both [1, 2].", "Both [1, 2].", vec![1, 2]),
            ("Both [1, 9; 2].", "Both [1, 9; 2].", vec![1, 2]),
            (
                "v = [0, 90], its first weight is w[0], w = [7]",
                "v = [0, 90], its first weight is w[0], w = [7]",
                vec![],
            ),
            ("bar([3, 4]), f([7]) ([7])", "bar([3, 4]), f([7])", vec![]),
            (
                "Based on **[9]** (32 lines), *see* **[8][9]**, [1]",
                "Based on (32 lines), *see*, [1]",
                vec![1],
            ),
            ("At ten ([9]), 二羽（[9]）。", "At ten, 二羽。", vec![]),
            (
                "*ten*[9]*four* **a [9]** ([1][9])",
                "*ten**four* **a** ([1])",
                vec![1],
            ),
            ("At ten.\n\n**Source:** [9]\n", "At ten.\n", vec![]),
            ("**Quellen:** [9], [8]", "", vec![]),
            ("**Source:** [9], [1]", "**Source:**, [1]", vec![1]),
            ("**Source:**\nthe crew", "**Source:**\nthe crew", vec![]),
            ("ravens[1], 二羽[7]。", "ravens[1], 二羽。", vec![1]),
            (
                "> ```\n> x [7]\n> ```\n> so [7]",
                "> ```\n> x [7]\n> ```\n> so",
                vec![],
            ),
            ("> ```\n> x [7]\nso [7]", "> ```\n> x [7]\nso", vec![]),
            (
                "```\n> ```\nx [7]\n```\nso [7]",
                "```\n> ```\nx [7]\n```\nso",
                vec![],
            ),
            (
                "`a[7]` and ``b`[8]`` [2]",
                "`a[7]` and ``b`[8]`` [2]",
                vec![2],
            ),
            ("```\nx[7]\n```\n[7] [1]", "```\nx[7]\n```\n [1]", vec![1]),
            (
                "~~~\n```\nx[7]\n~~~\nsee [7]",
                "~~~\n```\nx[7]\n~~~\nsee",
                vec![],
            ),
            (
                "[7](https://a.b) [note] [",
                "[7](https://a.b) [note] [",
                vec![],
            ),
            ("an unclosed ` mark [7]", "an unclosed ` mark", vec![]),
            ("[1[7]] and [[7]9]", "[1[7]] and", vec![]),
            (
                "At ten【1】, 二羽【2†L3-L5】。",
                "At ten[1], 二羽[2]。",
                vec![1, 2],
            ),
            (
                "At ten 【9†source】 or 【1, 2】",
                "At ten or [1, 2]",
                vec![1, 2],
            ),
            (
                "【1】概要\n> 【2】 【ravens】",
                "【1】概要\n> 【2】 【ravens】",
                vec![],
            ),
            (
                "See [1]: at six, [7]: at ten.\n[2]: https://a.b",
                "See [1]: at six,: at ten.\n[2]: https://a.b",
                vec![1],
            ),
            (
                "Both [1-2] and [1 – 2]",
                "Both [1-2] and [1 – 2]",
                vec![1, 2],
            ),
            (
                "digits [0-9], [^0-9], years [1-3], [2-1]",
                "digits [0-9], [^0-9], years [1-3], [2-1]",
                vec![],
            ),
            ("Both [1][^2][^9].", "Both [1][2].", vec![1, 2]),
            ("", "", vec![]),
        ] {
            let checked = check(answer, &[1, 2]);
            assert_eq!(checked.text, expected, "{answer}");
            assert_eq!(checked.used, used, "{answer}");
        }
    }

    #[test]
    fn what_is_shown_of_a_growing_answer_begins_the_whole() {
        for answer in [
            "Based on **[1]** (32 lines): till [1][9], see `wiki[9]`.\n\n**Source:** [2], (it)",
            "Two ravens ([9]), **[9]** two *ravens* [1, 2].\n**Source:** [9]\n",
            "See [9](https://a.b), 二羽【2†L3-L5】【9】。 [note] [9",
        ] {
            let whole = check(answer, &[1, 2]).text;
            for (end, _) in answer.char_indices() {
                let shown = check_growing(&answer[..end], &[1, 2]);
                assert!(whole.starts_with(shown.trim_end()), "{shown:?} {whole:?}");
            }
        }
        assert_eq!(check_growing("Two ravens [1", &[1]), "Two ravens");
        assert_eq!(check_growing("Two ravens [1].", &[1]), "Two ravens [1].");
        assert_eq!(check_growing("Two ravens [9].", &[1]), "Two ravens.");
    }

    #[test]
    fn a_passage_is_quoted_without_what_is_around_it() {
        let hit = |link: &str| Hit {
            chunk: "laden/Onboarding.html#1".to_owned(),
            source: "laden".to_owned(),
            label: "Section".to_owned(),
            title: "Onboarding".to_owned(),
            heading: Some("Accounts".to_owned()),
            link: Some(link.to_owned()),
            text: "Till: a PIN\n\nMail: a password".to_owned(),
            before: Some("Welcome!".to_owned()),
            after: Some("28 days".to_owned()),
            path: Vec::new(),
            related: Vec::new(),
            more_related: 0,
            properties: Vec::new(),
            scores: Scores::default(),
            why: Vec::new(),
            nodes: Vec::new(),
        };
        let links = ["Onboarding.html", "https://example.org/1"];
        let cited = links.map(hit).into_iter().zip(1..);
        let cited: Vec<Cited> = cited.map(|(hit, number)| Cited { number, hit }).collect();
        assert_eq!(
            quoted(&cited),
            "**[1] Onboarding › Accounts** (Onboarding.html)\n> Till: a PIN\n> \n> Mail: a password\n\n\
             **[2] Onboarding › Accounts** (laden)\n> Till: a PIN\n> \n> Mail: a password"
        );
        let row = Hit {
            link: None,
            ..hit("")
        };
        let cited = [Cited {
            number: 1,
            hit: row,
        }];
        assert_eq!(
            listed(&cited, &[1], Language::English).as_deref(),
            Some("Sources:\n- [1] Onboarding › Accounts (laden)")
        );
    }

    proptest! {
        #[test]
        fn only_known_numbers_are_left(answer in "[a-c0-9\\[\\], `\n~]{0,60}") {
            let checked = check(&answer, &[1, 3]);
            prop_assert!(checked.used.iter().all(|it| [1, 3].contains(it)));
            let again = check(&checked.text, &[1, 3]);
            prop_assert_eq!(again.used, checked.used);
        }

        #[test]
        fn text_without_brackets_stays_as_it_is(answer in "[^\\[\\]【】]{0,80}") {
            prop_assert_eq!(check(&answer, &[]).text, answer);
        }
    }
}

//! Features of a message that need no understanding of it.

use super::words;

/// Maximum words of an aside.
const ASIDE: usize = 3;

/// Minimum words of a question that is followed by more text: "fourteen? I have nine" is not a
/// question.
const ASKED_FIRST: usize = 3;

/// A message as words with the punctuation between them.
#[derive(Clone, Debug)]
pub(super) struct Text {
    words: Vec<Word>,
    is_question: bool,
    has_mark: bool,
    ends_as_question: bool,
}

#[derive(Clone, Debug)]
struct Word {
    /// In lower case.
    text: String,
    /// The gap before it.
    before: Gap,
    /// The gap after it.
    after: Gap,
    /// It begins with a capital, but not a sentence.
    is_capital: bool,
}

/// What separates two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Blank,
    /// A comma or a colon: the sentence continues.
    Comma,
    /// The end of a sentence, or the beginning or end of the text.
    Sentence,
}

impl Text {
    pub(super) fn read(text: &str) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut gap = Gap::Sentence;
        let mut word = String::new();
        let mut is_capital = false;
        for c in text.chars().chain(['\n']) {
            if is_of_word(c, &word) {
                if word.is_empty() {
                    is_capital = c.is_uppercase() && gap != Gap::Sentence;
                }
                word.extend(c.to_lowercase().map(plain_apostrophe));
                if !is_sign_of_its_own(c) {
                    continue;
                }
            }
            if !word.is_empty() {
                words.push(Word {
                    text: std::mem::take(&mut word),
                    before: gap,
                    after: Gap::Blank,
                    is_capital,
                });
                gap = Gap::Blank;
            }
            gap = gap.max_of(c);
            if let Some(last) = words.last_mut() {
                last.after = gap;
            }
        }
        if let Some(last) = words.last_mut() {
            last.after = Gap::Sentence;
        }
        Self {
            is_question: ends_as_question(text) || asks_first(text),
            ends_as_question: ends_as_question(text),
            has_mark: has_question_mark(text),
            words,
        }
    }

    fn at(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |word| &word.text)
    }

    fn has(&self, list: &[&str]) -> bool {
        self.words.iter().any(|word| is_in(list, &word.text))
    }

    fn has_pair(&self, pairs: &[(&str, &str)]) -> bool {
        let mut next = self.words.windows(2);
        next.any(|two| pairs.contains(&(two[0].text.as_str(), two[1].text.as_str())))
    }

    /// Returns where the sentence proper begins, after "ok, and".
    fn beginning(&self) -> usize {
        let is_opener =
            |word: &&Word| is_in(words::OPENERS, &word.text) || is_in(words::LAUGHTER, &word.text);
        let openers = self.words.iter().take_while(is_opener).count();
        openers.min(self.words.len().saturating_sub(1))
    }

    /// Returns the first word of each sentence, after its openers.
    fn sentences(&self) -> impl Iterator<Item = usize> {
        let starts = (0..self.words.len()).filter(|at| self.words[*at].before == Gap::Sentence);
        starts.map(|start| {
            let openers = self.words[start..].iter().take_while(|word| {
                is_in(words::OPENERS, &word.text) && word.after != Gap::Sentence
            });
            start + openers.count()
        })
    }

    pub(super) fn is_question(&self) -> bool {
        self.is_question
    }

    pub(super) fn ends_as_question(&self) -> bool {
        self.ends_as_question
    }

    /// Whether its first words make it a question, with or without a question mark.
    pub(super) fn opens_as_question(&self) -> bool {
        let start = self.beginning();
        let (first, second) = (self.at(start), self.at(start + 1));
        let is_inverted = is_in(words::AUXILIARIES, first) || is_in(words::BEFORE_ASKED, first);
        if self.has_mark && !self.is_question {
            return false;
        }
        is_in(words::QUESTION_WORDS, first)
            || is_inverted && is_in(words::PRONOUNS, second)
            || is_in(words::YOU_VERBS, first)
    }

    /// Whether it asks what only people can settle: who does something, what to do, what anybody
    /// thinks.
    pub(super) fn asks_people(&self) -> bool {
        let volunteers = self.sentences().any(|start| {
            let next = self.at(start + 1);
            is_in(words::WHO, self.at(start))
                && !next.is_empty()
                && !is_in(words::FACT_AFTER_WHO, next)
                && !next.ends_with("ed")
        });
        volunteers || self.has(words::ANYBODY) || self.has_pair(words::DELIBERATION)
    }

    fn first(&self) -> &str {
        self.at(0)
    }

    pub(super) fn has_we(&self) -> bool {
        self.has(words::WE)
    }

    pub(super) fn has_you(&self) -> bool {
        self.has(words::YOU) || self.has(words::YOU_VERBS)
    }

    /// Whether it asks to note something, in the imperative.
    pub(super) fn is_task(&self) -> bool {
        self.sentences().any(|start| self.is_note_at(start))
    }

    fn is_note_at(&self, start: usize) -> bool {
        let (first, second) = (self.at(start), self.at(start + 1));
        let is_more = start + 1 < self.words.len();
        let is_memory = is_in(words::REMEMBER, first) && is_in(words::MEMORIES, second);
        let is_noun = is_in(words::NOTE_NOUNS, first)
            && !is_in(words::AFTER_NOTE, second)
            && !second.starts_with(|c: char| c.is_numeric() || c == '\'')
            && !second.contains('\'')
            && self.words[start].after == Gap::Blank;
        if is_in(words::NOTE, first) && is_more && !is_memory && !is_noun {
            return true;
        }
        let rest = self.words.get(start + 1..).unwrap_or_default();
        let begins = words::NOTE_PAIRS.iter().filter(|(verb, _)| *verb == first);
        begins
            .into_iter()
            .any(|(_, particle)| rest.iter().any(|word| word.text == *particle))
    }

    /// "Remember to …" is a reminder between people.
    pub(super) fn is_reminder(&self) -> bool {
        is_in(words::REMEMBER, self.at(self.beginning()))
    }

    /// Whether it asks who, or who does something.
    pub(super) fn asks_who(&self) -> bool {
        self.has(words::WHO)
    }

    /// Returns words that are capitalised within a sentence: names, among others.
    pub(super) fn capitalised(&self) -> impl Iterator<Item = &str> {
        let named = self.words.iter().filter(|word| word.is_capital);
        named.map(|word| word.text.as_str())
    }

    /// Whether it asks somebody of this name for something; the name may be an ordinary word.
    pub(super) fn asks_by_name(&self, name: &str) -> bool {
        self.sentences()
            .any(|at| self.at(at) == name && self.is_spoken_to_after(at))
    }

    fn is_spoken_to_after(&self, at: usize) -> bool {
        let (next, second) = (self.at(at + 1), self.at(at + 2));
        is_in(words::YOU, next)
            || is_in(words::YOU_VERBS, next)
            || next.ends_with("-tu")
            || is_in(words::AUXILIARIES, next) && is_in(words::YOU, second)
    }

    /// Another request in the imperative.
    pub(super) fn is_request(&self) -> bool {
        is_in(words::REQUEST, self.at(self.beginning())) && self.words.len() > 1
    }

    /// Whether it asks about notes.
    pub(super) fn is_about_records(&self) -> bool {
        let pairs = words::RECORDED_PAIRS.iter();
        let mut found = pairs.filter(|(first, second)| {
            let at = self.words.iter().position(|word| word.text == *first);
            let rest = at.map_or(&[][..], |at| &self.words[at + 1..]);
            rest.iter().take(3).any(|word| word.text == *second)
        });
        self.has(words::RECORDED) || found.next().is_some()
    }

    pub(super) fn is_correction(&self) -> bool {
        is_in(words::CORRECTION, self.first()) && self.words.len() > 1
            || self.has_pair(words::MEANT)
    }

    /// "And the price": the rest of a question that was asked before.
    pub(super) fn is_fragment(&self) -> bool {
        is_in(words::AND, self.first()) && (2..=4).contains(&self.words.len())
    }

    /// Whether it is so short, and without a question, that it does not change who talks with whom:
    /// "oh no".
    pub(super) fn is_aside(&self) -> bool {
        self.words.len() <= ASIDE && !self.is_question && !self.opens_as_question()
    }

    pub(super) fn is_laughter(&self) -> bool {
        self.words.iter().all(|word| is_laugh(&word.text))
    }

    /// Whether it addresses somebody by this name.
    pub(super) fn calls_person(&self, name: &str) -> bool {
        let name = name.trim_start_matches('@').to_lowercase();
        let first = name
            .split([' ', ':', '.', '_', '('])
            .next()
            .unwrap_or_default();
        if first.chars().count() < 2 {
            return false;
        }
        let called = (0..self.words.len()).filter(|at| self.words[*at].text == first);
        called.into_iter().any(|at| self.is_called_at(at))
    }

    fn is_called_at(&self, at: usize) -> bool {
        let word = &self.words[at];
        let previous = at.checked_sub(1).map_or("", |at| self.at(at));
        if is_in(words::THANKS, previous)
            || at > 1 && is_in(words::THANKS, self.at(at - 2)) && is_in(words::YOU, previous)
        {
            return true;
        }
        let begins = word.before == Gap::Sentence || self.sentences().any(|start| start == at);
        let is_apart = word.after != Gap::Blank;
        let is_spoken_to = self.is_spoken_to_after(at) || is_in(words::OPENERS, self.at(at + 1));
        let is_last = at + 1 == self.words.len();
        begins && (is_apart || is_spoken_to)
            || word.before == Gap::Comma && is_apart
            || is_last && word.before == Gap::Blank && self.has_you()
    }

    /// Whether it addresses the bot by this name, and does not just talk about it.
    pub(super) fn calls_bot(&self, name: &str) -> bool {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        let parts: Vec<&str> = name.split_whitespace().collect();
        let Some(last) = parts.len().checked_sub(1) else {
            return false;
        };
        let mut starts = 0..self.words.len().saturating_sub(last);
        starts.any(|at| {
            let is_it = parts
                .iter()
                .enumerate()
                .all(|(n, part)| self.at(at + n) == *part);
            is_it && self.is_bot_called(at, at + last)
        })
    }

    /// Whether the bot's name from `at` to `end` addresses it.
    fn is_bot_called(&self, at: usize, end: usize) -> bool {
        let (word, last) = (&self.words[at], &self.words[end]);
        if word.before == Gap::Blank && at > 0 {
            let previous = self.at(at - 1);
            if is_in(words::BEFORE_ASKED, previous) {
                return self.is_question;
            }
            if is_in(words::BEFORE_THIRD_PERSON, previous) {
                return false;
            }
        }
        if last.after == Gap::Blank {
            let (next, second) = (self.at(end + 1), self.at(end + 2));
            if is_in(words::AFTER_UNCLEAR, next) {
                return self.is_question || is_in(words::PRONOUNS, second);
            }
            return !is_in(words::AFTER_THIRD_PERSON, next);
        }
        true
    }

    /// Whether it addresses a bot as "bot", or asks for one.
    pub(super) fn calls_some_bot(&self) -> bool {
        let bots = (0..self.words.len()).filter(|at| is_in(words::SOME_BOT, self.at(*at)));
        bots.into_iter().any(|at| {
            let word = &self.words[at];
            let begins = self.sentences().any(|start| start == at);
            if (begins || word.before == Gap::Comma) && word.after != Gap::Blank {
                return true;
            }
            let has_article = at > 0 && is_in(words::ARTICLES, self.at(at - 1));
            let first = if has_article { at - 1 } else { at };
            let previous = first.checked_sub(1).map_or("", |at| self.at(at));
            let is_asked =
                is_in(words::BEFORE_ASKED, previous) || is_in(words::KNOWS, self.at(at + 1));
            self.is_question && is_asked
        })
    }
}

impl Gap {
    /// Returns the gap with one more character in it.
    fn max_of(self, sign: char) -> Self {
        match (self, sign) {
            (Self::Sentence, _)
            | (
                _,
                '.' | '!' | '?' | '…' | ';' | '\n' | '。' | '！' | '？' | '—' | '–' | '(' | ')',
            ) => Self::Sentence,
            (Self::Comma, _) | (_, ',' | ':' | '、' | '，' | '：') => Self::Comma,
            (Self::Blank, _) => Self::Blank,
        }
    }
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

fn is_of_word(c: char, word: &str) -> bool {
    c.is_alphanumeric() || (!word.is_empty() && matches!(c, '\'' | '’' | '-'))
}

/// A Chinese or Japanese character: words have no blanks between them.
fn is_sign_of_its_own(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

fn plain_apostrophe(c: char) -> char {
    if c == '’' { '\'' } else { c }
}

/// Whether the text begins with a question of a few words, before the rest.
fn asks_first(text: &str) -> bool {
    let mut asked = text.split_inclusive(['?', '？', '.', '!', ';', '\n']);
    asked.any(|sentence| {
        let mut words = sentence.split_whitespace();
        let first = words.next().unwrap_or_default().to_lowercase();
        let least = ASKED_FIRST - usize::from(is_in(words::QUESTION_WORDS, &first));
        has_question_mark(sentence) && words.count() + 1 >= least
    }) && has_question_mark(text)
}

/// Whether there is a question mark outside of addresses.
fn has_question_mark(text: &str) -> bool {
    let marks = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '?' | '？' | '؟'));
    let mut ends = marks.map(|(at, c)| text[at + c.len_utf8()..].chars().next());
    ends.any(|next| next.is_none_or(|next| !next.is_alphanumeric()))
        || text.trim_end().ends_with(['か', '吗', '呢'])
}

fn ends_as_question(text: &str) -> bool {
    let end = text
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ')' | '"' | '*' | '_' | '”'));
    end.ends_with(['?', '？', '؟', 'か', '吗', '呢'])
}

/// Whether it is "haha", "lol" or a repetition of them.
fn is_laugh(word: &str) -> bool {
    let is_repeated = word.len() > 3
        && word
            .chars()
            .all(|c| matches!(c, 'h' | 'a' | 'e' | 'x' | 'd' | 'j' | 'l' | 'o' | 'i' | 'k'))
        && (word.starts_with("ha") || word.starts_with("he") || word.starts_with("ja"));
    is_in(words::LAUGHTER, word) || is_repeated
}

//! Finds that one statement denies another in the same words: "the office is moving to Leeds", and "no, the office is not moving
//! to Leeds".

use super::changes::{CLAUSES, DENYING, SENTENCES, parts};
use super::words::word_role;
use crate::memory::hints::when::tells_what_happened;
use crate::retrieval::language::{Guess, WordList};
use crate::retrieval::text::{WordStemmer, lowercase_words};

/// Words before a denial that deny something else, and other words before it.
const BEFORE: WordList = WordList::of(
    "no nope nah nein nee non nie não нет oh ah ok okay sorry actually correction wait halt korrektur pardon désolé perdón \
    corrección desculpa correção scusa correzione correctie przepraszam извини",
);
/// Words that deny further, besides those of a change.
const DENYING_FURTHER: WordList = WordList::of("geen niets");
/// Words that a denial may have besides those of what it denies: "does not", "no longer", "doch nicht".
const BESIDE_DENIAL: WordList = WordList::of(
    "do does did ne longer anymore sorry doch finalement ya já più toch meer mehr jednak już уже больше",
);
/// Words for somebody or something that was named before, which may be someone else in another statement.
const NAMED_BEFORE: WordList = WordList::of(
    "he she it they him them er sie ihn ihm elle ils elles él ella ellos ellas ele ela eles elas hij zij он она они",
);
/// Minimum number of words with content: fewer say too little to be about the same thing.
const LEAST_CONTENT: usize = 2;
/// Maximum length of a text in bytes, and numbers of words of a sentence, and of sentences.
const MOST_BYTES: usize = 400;
const MOST_WORDS: usize = 24;
const MOST_SENTENCES: usize = 4;

/// A sentence that states something.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    /// Function words as they are written, and stems of the others.
    words: Vec<String>,
    /// Those of them that have content and are no value.
    content: Vec<String>,
    is_denied: bool,
    is_of_past: bool,
}

impl Sentence {
    /// The sentences of a text; none if the text is long.
    pub(super) fn all_of(stemmer: &WordStemmer, text: &str) -> Vec<Self> {
        if text.len() > MOST_BYTES {
            return Vec::new();
        }
        let sentences: Vec<Vec<String>> = parts(text, &SENTENCES)
            .into_iter()
            .map(without_beginning)
            .filter(|words| !words.is_empty())
            .take(MOST_SENTENCES + 1)
            .collect();
        if sentences.len() > MOST_SENTENCES || sentences.iter().any(|it| it.len() > MOST_WORDS) {
            return Vec::new();
        }
        let read = |words: Vec<String>| Self::read(stemmer, &words);
        sentences.into_iter().map(read).collect()
    }

    fn read(stemmer: &WordStemmer, written: &[String]) -> Self {
        let guess = Guess::of(written.iter().map(String::as_str));
        let (mut words, mut content) = (Vec::new(), Vec::new());
        for word in written {
            if guess.is_stop_word(word) {
                // "Has a key", and "does not have a key".
                let written: &str = if word == "has" { "have" } else { word };
                words.push(written.to_owned());
                continue;
            }
            let stem = stemmer.stem(guess.language(), word).into_owned();
            let is_number = word.bytes().any(|byte| byte.is_ascii_digit());
            let says_nothing = denies(word) || BESIDE_DENIAL.has(word);
            if !says_nothing && !is_number && !word_role(word).is_of_value {
                content.push(stem.clone());
            }
            words.push(if says_nothing { word.clone() } else { stem });
        }
        Self {
            words,
            content,
            is_denied: written.iter().filter(|word| denies(word)).count() == 1,
            is_of_past: tells_what_happened(written),
        }
    }

    /// Whether it denies all of another one. With further words, it denies only a part: "not before May".
    pub(super) fn denies(&self, other: &Self) -> bool {
        let is_of_other =
            |word: &String| other.words.contains(word) || denies(word) || BESIDE_DENIAL.has(word);
        self.is_denied
            && !other.words.iter().any(|word| denies(word))
            && self.is_of_past == other.is_of_past
            && self.content.len() >= LEAST_CONTENT
            && !self.words.iter().any(|word| NAMED_BEFORE.has(word))
            && self.words.iter().all(is_of_other)
            && other.content.iter().all(|word| self.content.contains(word))
    }
}

/// The lower-case words of a sentence without "no, sorry" at its beginning. None of what begins with "no" and denies nothing else,
/// as that may be either: "no party on Friday", "no the party was moved".
fn without_beginning(sentence: &str) -> Vec<String> {
    let clauses = parts(sentence, &CLAUSES).into_iter().map(lowercase_words);
    let is_before = |clause: &Vec<String>| clause.iter().all(|word| BEFORE.has(word));
    let mut words: Vec<String> = clauses.skip_while(is_before).flatten().collect();
    if let [.., before, last] = words.as_slice()
        && matches!((&**before, &**last), ("any", "more") | ("after", "all"))
    {
        words.truncate(words.len() - 2);
    }
    let is_before = words.first().is_some_and(|first| BEFORE.has(first));
    let may_deny = words.first().is_some_and(|first| denies(first));
    if is_before && words.iter().skip(1).any(|word| denies(word)) {
        words.remove(0);
    } else if is_before && may_deny {
        words.clear();
    }
    words
}

fn denies(word: &str) -> bool {
    DENYING.has(word) || DENYING_FURTHER.has(word)
}

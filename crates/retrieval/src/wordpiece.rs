//! A `WordPiece` tokenizer for an uncased BERT vocabulary (Devlin et al. 2018): text is cleaned, split at blanks and
//! punctuation, and each word is cut into the longest pieces in the vocabulary.
//!
//! It returns the same IDs as the `tokenizers` crate, which tests verify. That crate also records the origin of each
//! character, which takes most of its time, and depends on a dozen crates that embedding does not need.

use std::collections::HashMap;

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use serde::{Deserialize, de};

/// A longer word is unknown (`max_input_chars_per_word`).
const MAX_WORD_CHARS: usize = 100;
/// Prefix of a piece that does not begin its word.
const CONTINUING: &str = "##";

/// Punctuation beyond ASCII that models often use. The normaliser changes none of these.
const TYPESET: &[char] = &['’', '‘', '“', '”', '–', '—', '…', '•', '«', '»'];

/// A vocabulary for greedy longest match.
pub(crate) struct WordPieces {
    /// Pieces that begin a word.
    heads: HashMap<Box<[u8]>, u32>,
    /// Pieces that continue a word, without their prefix.
    tails: HashMap<Box<[u8]>, u32>,
    /// Length of the longest piece in bytes.
    longest: usize,
    unknown: u32,
    /// Tokens that are recognised in the raw text, whatever surrounds them.
    added: Vec<AddedToken>,
}

/// The used parts of a `tokenizer.json`.
#[derive(Deserialize)]
struct TokenizerFile {
    added_tokens: Vec<AddedToken>,
    model: WordPieceModel,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct WordPieceModel {
    unk_token: String,
    vocab: HashMap<String, u32>,
}

impl WordPieces {
    /// Reads the pieces of a `tokenizer.json`.
    ///
    /// # Errors
    /// Fails when it is not such a file, or has no token for unknown words.
    pub(crate) fn read(tokenizer: &str) -> Result<Self, serde_json::Error> {
        let TokenizerFile {
            added_tokens,
            model: WordPieceModel { unk_token, vocab },
        } = serde_json::from_str(tokenizer)?;
        let unknown = vocab.get(&unk_token).copied();
        let mut pieces = Self {
            heads: HashMap::with_capacity(vocab.len()),
            tails: HashMap::new(),
            longest: 0,
            unknown: unknown.ok_or_else(|| de::Error::missing_field("unk_token in vocab"))?,
            added: added_tokens,
        };
        for (piece, id) in vocab {
            let (pieces_of_kind, piece) = match piece.strip_prefix(CONTINUING) {
                Some(tail) if !tail.is_empty() => (&mut pieces.tails, tail),
                Some(_) | None => (&mut pieces.heads, piece.as_str()),
            };
            pieces_of_kind.insert(piece.as_bytes().into(), id);
            pieces.longest = pieces.longest.max(piece.len());
        }
        Ok(pieces)
    }

    /// Number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.heads.len() + self.tails.len()
    }

    /// The ID of the token for unknown words.
    pub(crate) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Calls `piece` with the ID of every piece, in order.
    pub(crate) fn each(&self, text: &str, mut piece: impl FnMut(u32)) {
        let mut rest = text;
        while let Some((at, token)) = self.first_added(rest) {
            self.each_of_words(&rest[..at], &mut piece);
            piece(token.id);
            rest = &rest[at + token.content.len()..];
        }
        self.each_of_words(rest, &mut piece);
    }

    fn first_added(&self, text: &str) -> Option<(usize, &AddedToken)> {
        self.added
            .iter()
            .filter_map(|token| Some((text.find(&token.content)?, token)))
            .min_by_key(|(at, _)| *at)
    }

    /// Normalisation never crosses a blank, so in a text with an emoji or an accent only the words that contain them are
    /// normalised.
    fn each_of_words(&self, text: &str, piece: &mut impl FnMut(u32)) {
        for run in text.split_inclusive([' ', '\t', '\n', '\r']) {
            if is_simple(run) {
                self.each_of_clean(run, piece);
            } else {
                self.each_of_clean(&normalised(run), piece);
            }
        }
    }

    fn each_of_clean(&self, text: &str, piece: &mut impl FnMut(u32)) {
        let mut word = String::with_capacity(MAX_WORD_CHARS);
        for character in text.chars() {
            if is_dropped(character) {
                // The parts on both sides of a dropped character become one word.
            } else if character.is_whitespace() {
                self.flush(&mut word, piece);
            } else if is_punctuation(character) {
                self.flush(&mut word, piece);
                self.word(character.encode_utf8(&mut [0; 4]), piece);
            } else {
                word.push(character.to_ascii_lowercase());
            }
        }
        self.flush(&mut word, piece);
    }

    fn flush(&self, word: &mut String, piece: &mut impl FnMut(u32)) {
        if !word.is_empty() {
            self.word(word, piece);
            word.clear();
        }
    }

    fn word(&self, word: &str, piece: &mut impl FnMut(u32)) {
        if let Some(&id) = self.heads.get(word.as_bytes()) {
            return piece(id);
        }
        let mut found = Vec::with_capacity(8);
        let mut rest = word.as_bytes();
        if word.chars().count() > MAX_WORD_CHARS {
            return piece(self.unknown);
        }
        while !rest.is_empty() {
            let pieces = if found.is_empty() {
                &self.heads
            } else {
                &self.tails
            };
            let longest = (1..=rest.len().min(self.longest))
                .rev()
                .find_map(|length| Some((length, *pieces.get(&rest[..length])?)));
            let Some((length, id)) = longest else {
                return piece(self.unknown);
            };
            found.push(id);
            rest = &rest[length..];
        }
        found.into_iter().for_each(piece);
    }
}

/// Whether a text has no accents or capitals beyond ASCII, and no dropped characters.
fn is_simple(text: &str) -> bool {
    text.is_ascii() || text.chars().all(|c| c.is_ascii() || TYPESET.contains(&c))
}

/// BERT's own normalisation: separates ideographs, removes accents, and lower-cases.
fn normalised(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    for character in text.chars().filter(|c| !is_dropped(*c)) {
        if is_ideograph(character) {
            apart.extend([' ', character, ' ']);
        } else {
            apart.push(character);
        }
    }
    DecomposingNormalizerBorrowed::new_nfd()
        .normalize_iter(apart.chars())
        .filter(|c| category(*c) != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a character is dropped, whatever else it is: a vertical tab counts as a blank, but is dropped.
fn is_dropped(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control() && !matches!(character, '\t' | '\n' | '\r');
    }
    character == char::REPLACEMENT_CHARACTER
        || matches!(
            category(character),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        )
}

fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    GeneralCategoryGroup::Punctuation.contains(category(character))
}

fn category(character: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(character)
}

/// The blocks of Chinese characters, each of which is a word (`_is_chinese_char` of the BERT tokenizer).
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use tokenizers::Tokenizer;

    use super::*;

    const FILE: &str = include_str!("../embedder/tokenizer.json");

    static OURS: LazyLock<WordPieces> = LazyLock::new(|| WordPieces::read(FILE).unwrap());
    static THEIRS: LazyLock<Tokenizer> = LazyLock::new(|| FILE.parse().unwrap());

    /// The ids by our reader, and by the crate.
    fn both(text: &str) -> (Vec<u32>, Vec<u32>) {
        let mut ours = Vec::new();
        OURS.each(text, |token| ours.push(token));
        let theirs = THEIRS.encode_fast(text, false).unwrap();
        (ours, theirs.get_ids().to_vec())
    }

    #[test]
    fn tokens_are_those_of_the_tokenizers_crate() {
        assert_eq!(OURS.len(), THEIRS.get_vocab_size(true));
        let long_word = "ab".repeat(60);
        let long_accents = "éa".repeat(50);
        let book = [
            include_str!("../embedder/README.md"),
            include_str!("../embedder/translations.txt"),
            include_str!("wordpiece.rs"),
        ]
        .concat();
        let texts = [
            "",
            " ",
            "\t\r\n",
            "a\0b\u{1}c\u{b}d\u{c}e\u{7f}f",
            "[UNK]",
            "x[PAD]y [unk] [",
            "[[UNK]]",
            "é[PAD]é",
            "Don't re-embed v1.2_beta: $5 <= `x` ^ ~|",
            "unaffable electroencephalographically",
            "##ing # ##é",
            "naïve café — “quoted” … it’s 3 Über-façades 🎉",
            "日本語 and ASCII 漢字かな交じり文 豈更",
            "a\u{301}\u{300} e\u{a0}f\u{200b}g \u{301}x",
            "ΣΑΣ ΟΔΟΣ ŁÓDŹ İstanbul",
            "a\u{2028}b\u{85}c\u{feff}d\u{fffd}",
            "한국어 각 русский ёлка العربية हिन्दी ไทย",
            &long_word,
            &long_word[..100],
            &long_accents,
            &book,
        ];
        for text in texts {
            let (ours, theirs) = both(text);
            assert_eq!(ours, theirs, "{text:?}");
        }
    }

    proptest! {
        /// In scripts that have long been in Unicode: the crate's tables are of an older edition than ours.
        #[test]
        fn any_text_has_the_tokens_of_the_tokenizers_crate(
            ascii in "[\\x00-\\x7f]{0,80}",
            words in "([a-zA-Z]{1,14}[ .,'\\-\\[\\]]){0,12}",
            typeset in "[a-z é’‘“”–—…•«»,\u{301}]{0,30}",
            accents in "[a-zà-ž\u{300}-\u{345} ]{0,30}",
            scripts in "[\u{0}-\u{24f}\u{300}-\u{36f}\u{391}-\u{3a1}\u{400}-\u{4ff}\u{5d0}-\u{5ea}\u{621}-\u{652}\u{904}-\u{94d}\u{2000}-\u{2027}\u{3041}-\u{30ff}\u{4e00}-\u{4e80}\u{ac00}-\u{ac80}\u{f900}-\u{f920}\u{1f600}-\u{1f640}]{0,40}",
        ) {
            let all = [ascii.as_str(), &words, &typeset, &accents, &scripts].join(" ");
            for text in [ascii, words, typeset, accents, scripts, all] {
                let (ours, theirs) = both(&text);
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}

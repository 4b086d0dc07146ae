//! Word pieces of ASCII text and the quotes and dashes of typesetters.
//!
//! The same ids as the `tokenizers` crate gives for an uncased BERT vocabulary, without its record
//! of where each character came from, which is most of its time. Whatever else a text holds is left
//! to the crate; tests hold the two equal.

use std::collections::HashMap;

use tokenizers::Tokenizer;

/// A word of more characters is unknown (`max_input_chars_per_word`).
const MAX_WORD_CHARS: usize = 100;
/// What a piece that does not begin its word begins with.
const CONTINUING: &str = "##";

/// Punctuation beyond ASCII that models like. No normaliser changes these.
const TYPESET: &[char] = &['’', '‘', '“', '”', '–', '—', '…', '•', '«', '»'];

/// A vocabulary for greedy longest match, as in the BERT paper (Devlin et al. 2018).
pub(crate) struct WordPieces {
    /// Pieces that begin a word.
    heads: HashMap<Box<[u8]>, u32>,
    /// Pieces that go on with one, without their mark.
    tails: HashMap<Box<[u8]>, u32>,
    /// Bytes of the longest piece.
    longest: usize,
    unknown: u32,
    /// Tokens that are found in the raw text, whatever stands around them.
    added: Vec<String>,
}

impl WordPieces {
    /// The pieces of a tokenizer; `None` where it has no token for unknown words.
    pub(crate) fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let added: Vec<String> = tokenizer
            .get_added_tokens_decoder()
            .into_values()
            .map(|token| token.content)
            .collect();
        let mut pieces = Self {
            heads: HashMap::new(),
            tails: HashMap::new(),
            longest: 0,
            unknown: tokenizer.token_to_id("[UNK]")?,
            added,
        };
        let vocabulary = tokenizer.get_vocab(false);
        for (piece, id) in vocabulary.iter().filter(|(piece, _)| is_simple(piece)) {
            let (pieces_of_kind, piece) = match piece.strip_prefix(CONTINUING) {
                Some(tail) if !tail.is_empty() => (&mut pieces.tails, tail),
                Some(_) | None => (&mut pieces.heads, piece.as_str()),
            };
            pieces_of_kind.insert(piece.as_bytes().into(), *id);
            pieces.longest = pieces.longest.max(piece.len());
        }
        Some(pieces)
    }

    /// The id of what is not in the vocabulary.
    pub(crate) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Whether [`Self::each`] may read a text.
    pub(crate) fn reads(&self, text: &str) -> bool {
        let names_token = || self.added.iter().any(|token| text.contains(token.as_str()));
        is_simple(text) && !(text.contains('[') && names_token())
    }

    /// Calls `piece` with the id of every piece, in order.
    pub(crate) fn each(&self, text: &str, mut piece: impl FnMut(u32)) {
        let mut word = Vec::with_capacity(MAX_WORD_CHARS);
        for character in text.chars() {
            match u8::try_from(character) {
                Ok(b' ' | b'\t' | b'\n' | b'\r') => self.flush(&mut word, &mut piece),
                // The normaliser drops it, and what stood on both sides becomes one word.
                Ok(byte) if byte.is_ascii_control() => {}
                Ok(byte) if byte.is_ascii_alphanumeric() => word.push(byte.to_ascii_lowercase()),
                Ok(_) | Err(_) => {
                    self.flush(&mut word, &mut piece);
                    self.word(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut piece);
                }
            }
        }
        self.flush(&mut word, &mut piece);
    }

    fn flush(&self, word: &mut Vec<u8>, piece: &mut impl FnMut(u32)) {
        if !word.is_empty() {
            self.word(word, piece);
            word.clear();
        }
    }

    fn word(&self, word: &[u8], piece: &mut impl FnMut(u32)) {
        if let Some(&id) = self.heads.get(word) {
            return piece(id);
        }
        let mut found = Vec::with_capacity(8);
        let mut rest = word;
        while word.len() <= MAX_WORD_CHARS && !rest.is_empty() {
            let pieces = if found.is_empty() {
                &self.heads
            } else {
                &self.tails
            };
            let longest = (1..=rest.len().min(self.longest))
                .rev()
                .find_map(|length| Some((length, *pieces.get(&rest[..length])?)));
            let Some((length, id)) = longest else {
                break;
            };
            found.push(id);
            rest = &rest[length..];
        }
        if rest.is_empty() {
            found.into_iter().for_each(piece);
        } else {
            piece(self.unknown);
        }
    }
}

fn is_simple(text: &str) -> bool {
    text.is_ascii() || text.chars().all(|c| c.is_ascii() || TYPESET.contains(&c))
}

//! The built-in embedder: a table with one vector per word piece, which are summed.
//!
//! It needs no network, no key and no file beside the program. `embedder/README.md` describes how the table was made.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::stems::Stems;
use crate::translation::translate_known_words;
use crate::wordpiece::WordPieces;

const MODEL: &[u8] = include_bytes!("../embedder/model.safetensors");
const TOKENIZER: &str = include_str!("../embedder/tokenizer.json");

/// Maximum characters of a text that are embedded; the rest adds nothing to its vector. This is about 2,000 tokens, far more than
/// one vector can represent.
pub const MAX_EMBEDDED_CHARS: usize = 8_192;

/// A static embedding model: `unit(sum of scale[token] * row[token])`, independent of the order.
///
/// The rows stay 8-bit integers in the program's image: expanded to floats they would take 30 MB of memory.
pub struct LocalEmbedder {
    pieces: WordPieces,
    /// Row-major, `tokens × dimension`, each byte an `i8`.
    rows: &'static [u8],
    /// One little-endian `f32` per row.
    scales: &'static [u8],
    dimension: usize,
    /// Used for other languages: the table is English, so foreign words are translated first.
    stems: Stems,
}

impl std::fmt::Debug for LocalEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalEmbedder")
            .field("dimension", &self.dimension)
            .finish_non_exhaustive()
    }
}

/// Why the built-in model cannot be used: the program was built from damaged files.
#[derive(Debug, thiserror::Error)]
pub enum LocalEmbedderError {
    #[error("the local embedder's tokenizer cannot be read")]
    Tokenizer(#[source] serde_json::Error),
    #[error("the local embedder's model cannot be read")]
    Model(#[from] safetensors::SafeTensorError),
    #[error("the local embedder's model does not have the expected shape: {0}")]
    Shape(String),
}

impl LocalEmbedder {
    /// The name under which its vectors are kept; vectors of different embedders are never compared.
    pub const NAME: &str = "local/static-minilm-wn-256-int8";

    /// Returns the built-in model.
    ///
    /// # Errors
    /// Fails when the files from which it was built are damaged or do not belong together.
    pub fn shipped() -> Result<Self, LocalEmbedderError> {
        Self::from_parts(MODEL, TOKENIZER)
    }

    fn from_parts(model: &'static [u8], tokenizer: &str) -> Result<Self, LocalEmbedderError> {
        let pieces = WordPieces::read(tokenizer).map_err(LocalEmbedderError::Tokenizer)?;
        let model = SafeTensors::deserialize(model)?;
        let rows = model.tensor("embeddings")?;
        let scales = model.tensor("weights")?;
        let dimension = checked_dimension(&rows, &scales, pieces.len())?;
        Ok(Self {
            pieces,
            rows: rows.data(),
            scales: scales.data(),
            dimension,
            stems: Stems::default(),
        })
    }

    pub fn name(&self) -> &str {
        Self::NAME
    }

    /// Dimension of every vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The unit vector of a text; `None` if the model knows nothing in it: blanks, emoji, unknown scripts. Of Cyrillic, kana and
    /// some others it knows single letters, which mean nothing and make all texts of a script similar. A foreign word counts
    /// with its English translations. Only the first [`MAX_EMBEDDED_CHARS`] characters are used.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let text = match text.char_indices().nth(MAX_EMBEDDED_CHARS) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let mut sum = vec![0.0_f32; self.dimension];
        for text in [text, &translate_known_words(&self.stems, text)] {
            self.pieces.each(text, |token| {
                if token != self.pieces.unknown() {
                    self.add(token as usize, &mut sum);
                }
            });
        }
        normalised(sum)
    }

    fn add(&self, token: usize, sum: &mut [f32]) {
        let row = &self.rows[token * self.dimension..][..self.dimension];
        let Some(scale) = self.scales[token * 4..].first_chunk() else {
            return;
        };
        let scale = f32::from_le_bytes(*scale);
        for (sum, &byte) in sum.iter_mut().zip(row) {
            *sum += scale * f32::from(byte.cast_signed());
        }
    }
}

/// The dimension of the vectors, after checking that every token has a row and a scale.
fn checked_dimension(
    rows: &TensorView<'_>,
    scales: &TensorView<'_>,
    vocabulary: usize,
) -> Result<usize, LocalEmbedderError> {
    match (rows.dtype(), rows.shape(), scales.dtype(), scales.shape()) {
        (Dtype::I8, &[tokens, dimension], Dtype::F32, &[scales])
            if tokens == scales && tokens == vocabulary && dimension > 0 =>
        {
            Ok(dimension)
        }
        (rows_type, rows, scales_type, scales) => Err(LocalEmbedderError::Shape(format!(
            "rows {rows_type:?} {rows:?}, scales {scales_type:?} {scales:?}, \
             {vocabulary} tokens"
        ))),
    }
}

/// The vector scaled to unit length; `None` for one without a direction.
fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return None;
    }
    vector.iter_mut().for_each(|x| *x /= length);
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with numpy, safetensors and the tokenizers library for Python from the same files.
    const GOLDEN: &[(&str, [f32; 4], [f32; 4])] = &[
        (
            "The ferry to Bergen leaves at six.",
            [0.09112, -0.12475, 0.02353, 0.08132],
            [0.10173, 0.08266, -0.03583, 0.01111],
        ),
        (
            "naïve café — 3 Über-façades!",
            [0.04376, 0.12864, -0.10156, 0.00728],
            [0.01702, 0.06394, -0.03067, 0.00684],
        ),
        (
            "日本語 and emoji 🎉",
            [0.02753, -0.0443, -0.05847, -0.13027],
            [-0.07817, -0.07098, 0.02945, 0.03038],
        ),
    ];

    fn embedder() -> LocalEmbedder {
        LocalEmbedder::shipped().unwrap()
    }

    #[test]
    fn vectors_are_those_of_an_independent_implementation() {
        let embedder = embedder();
        assert_eq!(embedder.dimension(), 256);
        for (text, first, last) in GOLDEN {
            let vector = embedder.embed(text).unwrap();
            let ends = vector[..4].iter().chain(&vector[252..]);
            for (got, expected) in ends.zip(first.iter().chain(last)) {
                assert!((got - expected).abs() < 2e-5, "{text}: {got} {expected}");
            }
        }
    }

    #[test]
    fn what_is_meant_alike_is_near() {
        let embedder = embedder();
        let cosine = |a: &str, b: &str| -> f32 {
            let (a, b) = (embedder.embed(a).unwrap(), embedder.embed(b).unwrap());
            a.iter().zip(&b).map(|(a, b)| a * b).sum()
        };
        let ferry = GOLDEN[0].0;
        // 0.47035 and 0.03786 by the independent implementation.
        assert!((cosine(ferry, "When does the boat to Norway depart?") - 0.470_35).abs() < 1e-4);
        assert!((cosine(ferry, GOLDEN[1].0) - 0.037_86).abs() < 1e-4);
    }

    #[test]
    fn what_is_not_known_has_no_vector() {
        let embedder = embedder();
        for text in ["", "  \n\t", "🎉🎉", "อักษรไทย", "\0", "[UNK]"] {
            assert_eq!(embedder.embed(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_read() {
        let embedder = embedder();
        let long = "é ".repeat(500_000);
        let vector = embedder.embed(&long).unwrap();
        let read: String = long.chars().take(MAX_EMBEDDED_CHARS).collect();
        assert_eq!(Some(vector), embedder.embed(&read));
    }

    #[test]
    fn damaged_files_are_an_error() {
        assert!(matches!(
            LocalEmbedder::from_parts(&MODEL[..1000], TOKENIZER),
            Err(LocalEmbedderError::Model(_))
        ));
        assert!(matches!(
            LocalEmbedder::from_parts(MODEL, "{}"),
            Err(LocalEmbedderError::Tokenizer(_))
        ));
    }
}

//! Embeds texts: with a service, or with the built-in embedder (feature `local-embedder`).

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::json;
use tokio::time::timeout;

use super::context::{self, Numbers};
use super::service::Service;
use super::tokens::{self, KeptPart};
use super::{Limiter, ModelConfig, ModelError, TimedOutWait};
#[cfg(feature = "local-embedder")]
use muninn_retrieval::LocalEmbedder;

/// Maximum number of texts per request. Services that take fewer are found out.
const BATCH_TEXTS: usize = 64;
/// Maximum estimated tokens per request; services accept 300,000, and small ones far fewer.
const BATCH_TOKENS: u32 = 32_000;
/// Maximum estimated tokens per text: longer ones are cut, as models read 8,192. Those that read fewer are found out.
const TEXT_TOKENS: u32 = 8_000;
/// No model reads less. One text may have far more tokens than were estimated, and says nothing about the others.
const LEAST_TEXT_TOKENS: u32 = 256;
/// A text that is refused although so little of it is left cannot be embedded.
const LEAST_USEFUL_TOKENS: u32 = 16;
/// Messages of services for too many texts in a request: text-embeddings-inference, `SiliconFlow` and Alibaba, then Azure,
/// then Mistral and Voyage, which count the tokens of all texts; lower case.
const TOO_MANY_TEXTS: [&str; 5] = [
    "batch size",
    "number of inputs",
    "split into more batches",
    "tokens in batch",
    "tokens per submitted batch",
];
/// What Mistral says of the tokens of all texts, also if it is only one; lower case.
const TOO_MANY_TOKENS: &str = "too many tokens";

/// An embedder: a service, or the built-in one (feature `local-embedder`).
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum Embedder {
    #[cfg(feature = "local-embedder")]
    Local(LocalEmbedder),
    Remote(RemoteEmbedder),
}

/// Number of texts that the built-in embedder processes before it yields to other tasks: about a
/// millisecond.
#[cfg(feature = "local-embedder")]
const BETWEEN_YIELDS: usize = 50;

impl Embedder {
    /// Returns a unit vector for each text, in order; `None` if a text has nothing to embed.
    ///
    /// Only a service can fail; if one batch fails, the whole call fails.
    pub async fn embed(&self, texts: &[String]) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        match self {
            #[cfg(feature = "local-embedder")]
            Self::Local(local) => {
                let mut vectors = Vec::with_capacity(texts.len());
                for some in texts.chunks(BETWEEN_YIELDS) {
                    vectors.extend(some.iter().map(|text| local.embed(text)));
                    // Thousands of texts must not block a turn.
                    tokio::task::yield_now().await;
                }
                Ok(vectors)
            }
            Self::Remote(remote) => remote.embed(texts).await,
        }
    }

    /// The dimension of the vectors. A service's is known after its first response.
    pub fn dimension(&self) -> Option<usize> {
        match self {
            #[cfg(feature = "local-embedder")]
            Self::Local(local) => Some(local.dimension()),
            Self::Remote(remote) => remote.known.get().map(|known| known.dimension),
        }
    }

    /// The name that identifies comparable vectors. A service's is known after its first response.
    pub fn name(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "local-embedder")]
            Self::Local(local) => Some(local.name()),
            Self::Remote(remote) => remote.name(),
        }
    }

    /// Whether vectors of this name are from this embedder. Before a service's first response, any dimension
    /// counts.
    pub fn matches_name(&self, name: &str) -> bool {
        match (self.name(), self) {
            (Some(own), _) => own == name,
            (None, Self::Remote(remote)) => name
                .strip_prefix("openai/")
                .and_then(|rest| rest.strip_prefix(remote.model()))
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|dimension| dimension.parse::<usize>().is_ok()),
            #[cfg(feature = "local-embedder")]
            (None, Self::Local(_)) => false,
        }
    }

    /// Returns its name. A service without a response yet is asked to embed a word.
    ///
    /// # Errors
    /// Fails when the service fails, or can embed no word.
    pub async fn resolve_name(&self) -> Result<&str, ModelError> {
        if self.name().is_none() {
            self.embed(&["memory".to_owned()]).await?;
        }
        self.name().ok_or_else(|| nonsense("no vector for a word"))
    }
}

/// An embedder on an OpenAI-compatible service.
#[derive(Debug)]
pub struct RemoteEmbedder {
    service: Service,
    model: String,
    total_timeout: Duration,
    known: OnceLock<EmbedderIdentity>,
    /// Maximum estimated tokens per text: fewer than [`TEXT_TOKENS`] after the service refused a longer one.
    text_tokens: AtomicU32,
    /// Maximum number of texts per request: fewer than [`BATCH_TEXTS`] after the service refused as many.
    batch_texts: AtomicUsize,
    /// The request says that vectors are wanted as numbers. Some services need that, others refuse it.
    names_format: AtomicBool,
    /// The request says what the texts are for. Asymmetric models, such as NVIDIA's, need that, others refuse it.
    names_input_type: AtomicBool,
}

/// The optional fields of a request.
#[derive(Clone, Copy)]
struct OptionalFields {
    format: bool,
    input_type: bool,
}

/// The properties seen in the first response.
#[derive(Debug)]
struct EmbedderIdentity {
    dimension: usize,
    name: String,
}

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    /// Some services omit it; then the position is the index.
    index: Option<usize>,
    #[serde(deserialize_with = "vector")]
    embedding: Vec<f32>,
}

/// A vector as numbers, or as those in base64, each in four bytes, the lowest first.
fn vector<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    deserializer.deserialize_any(VectorVisitor)
}

struct VectorVisitor;

impl<'de> Visitor<'de> for VectorVisitor {
    type Value = Vec<f32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vector")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, numbers: A) -> Result<Vec<f32>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(numbers))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<f32>, E> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|_| E::custom("a vector that is not base64"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(E::custom("a vector that is cut off"));
        }
        Ok(numbers.iter().copied().map(f32::from_le_bytes).collect())
    }
}

impl RemoteEmbedder {
    /// Creates the embedder without connecting. The chat and utility models of `config` are not used.
    pub fn new(
        config: &ModelConfig,
        model: impl Into<String>,
        limiter: Arc<Limiter>,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            service: Service::new(config, limiter)?,
            model: model.into(),
            total_timeout: config.timeouts.total,
            known: OnceLock::new(),
            text_tokens: AtomicU32::new(TEXT_TOKENS),
            batch_texts: AtomicUsize::new(BATCH_TEXTS),
            names_format: AtomicBool::new(true),
            names_input_type: AtomicBool::new(false),
        })
    }

    /// The configured model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// `openai/<model>/<dimension>`; known after the first answer.
    pub fn name(&self) -> Option<&str> {
        self.known.get().map(|known| known.name.as_str())
    }

    /// See [`Embedder::embed`]. Of texts longer than the model reads, only the beginning is embedded. A text of which the
    /// service refuses even that has no vector, nor has one at which the service fails alone.
    pub async fn embed(&self, texts: &[String]) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        let mut vectors = vec![None; texts.len()];
        let mut left = batches(texts, self.text_tokens());
        left.reverse();
        let mut has_failed = false;
        while let Some(mut batch) = left.pop() {
            left.extend(batch.beyond(self.batch_texts.load(Ordering::Relaxed)));
            match self.embed_in_time(&batch).await {
                Ok(answer) => {
                    if batch.is_guess {
                        self.learn(batch.tokens());
                    }
                    for ((at, _), vector) in batch.texts.iter().zip(answer) {
                        vectors[*at] = vector;
                    }
                }
                Err(ModelError::ContextTooLong(too_long)) => {
                    left.extend(self.smaller(batch, too_long.numbers));
                }
                Err(ModelError::Refused(why))
                    if batch.texts.len() > 1 && is_about_the_batch(&why) =>
                {
                    self.learn_batch(batch.texts.len() / 2);
                    left.push(batch);
                }
                Err(ModelError::Refused(why)) if why.to_lowercase().contains(TOO_MANY_TOKENS) => {
                    left.extend(self.smaller(batch, Numbers::default()));
                }
                Err(error) if may_be_about_a_text(&error) => {
                    // A service that fails at other texts, too, is asked no more; that is known before a text is left out.
                    let is_alone = batch.texts.len() == 1;
                    if (is_alone || !has_failed) && !self.works().await {
                        return Err(error);
                    }
                    has_failed = true;
                    if is_alone {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "the embedding service fails at a text; it has no vector"
                        );
                    } else {
                        left.extend(batch.halves());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(vectors)
    }

    async fn embed_in_time(&self, batch: &TextBatch) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        timeout(self.total_timeout, self.embed_by_fields(batch))
            .await
            .unwrap_or(Err(ModelError::TimedOut(TimedOutWait::Unfinished(
                self.total_timeout,
            ))))
    }

    /// Asks once more if the service refuses a field that it does not need, or misses one.
    async fn embed_by_fields(
        &self,
        batch: &TextBatch,
    ) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        let words: Vec<&str> = batch.texts.iter().map(|(_, text)| text.as_str()).collect();
        // Each field changes at most once, so this ends.
        loop {
            let fields = OptionalFields {
                format: self.names_format.load(Ordering::Relaxed),
                input_type: self.names_input_type.load(Ordering::Relaxed),
            };
            match self.embed_batch(&words, batch.tokens(), fields).await {
                Err(ModelError::Refused(why)) if self.learn_fields(fields, &why) => {}
                answer => return answer,
            }
        }
    }

    /// Remembers which fields the service wants. Returns whether the refusal is about one that was sent, or was not.
    fn learn_fields(&self, sent: OptionalFields, why: &str) -> bool {
        let model = &self.model;
        if sent.format && why.contains("encoding_format") {
            tracing::info!(model, %why, "the format of vectors is not named any more");
            self.names_format.store(false, Ordering::Relaxed);
            return true;
        }
        if !sent.input_type && is_about_a_missing_input_type(why) {
            tracing::info!(model, %why, "texts are embedded as passages");
            self.names_input_type.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }

    /// Whether the service embeds a word.
    async fn works(&self) -> bool {
        let word = TextBatch::of(vec![(0, "memory".to_owned())]);
        let answer = self.embed_in_time(&word).await;
        answer.is_ok_and(|vectors| vectors.iter().all(Option::is_some))
    }

    /// What to send instead of a batch with a text that is too long. Services do not say which one it is, so texts longer
    /// than is known to fit are cut, or else the batch is divided. A single text is cut until it fits, or left out.
    fn smaller(&self, mut batch: TextBatch, numbers: Numbers) -> Vec<TextBatch> {
        if let Some(limit) = numbers.limit {
            // Ten percent less, in case the estimate is too low.
            self.learn(limit / 10 * 9);
        }
        if batch.cut(self.text_tokens()) {
            return vec![batch];
        }
        if batch.texts.len() > 1 {
            return batch.halves().into();
        }
        let fits = context::next_prompt_size(numbers, batch.tokens(), 0);
        if fits < LEAST_USEFUL_TOKENS {
            tracing::warn!("the embedding service finds a short text too long; it has no vector");
            return Vec::new();
        }
        batch.is_guess = numbers.limit.is_none();
        batch.cut(fits);
        vec![batch]
    }

    fn text_tokens(&self) -> u32 {
        self.text_tokens.load(Ordering::Relaxed)
    }

    /// Remembers how much of a text the model reads, in tokens.
    fn learn(&self, tokens: u32) {
        let tokens = tokens.max(LEAST_TEXT_TOKENS);
        let before = self.text_tokens.fetch_min(tokens, Ordering::Relaxed);
        if tokens < before {
            let model = &self.model;
            tracing::info!(
                model,
                tokens,
                "of longer texts, only the beginning is embedded"
            );
        }
    }

    /// Remembers how many texts the service takes in a request.
    fn learn_batch(&self, texts: usize) {
        let before = self.batch_texts.fetch_min(texts, Ordering::Relaxed);
        if texts < before {
            let model = &self.model;
            tracing::info!(model, texts, "fewer texts are embedded in a request");
        }
    }

    async fn embed_batch(
        &self,
        texts: &[&str],
        tokens: u32,
        fields: OptionalFields,
    ) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        let call = self.service.call(&self.model, "", tokens);
        let mut body = json!({ "model": self.model, "input": texts });
        if fields.format {
            body["encoding_format"] = "float".into();
        }
        if fields.input_type {
            // Questions, too: callers do not say which texts are questions.
            body["input_type"] = "passage".into();
        }
        let answer: EmbeddingResponse = call
            .client()
            .embeddings()
            .create_byot(body)
            .await
            .map_err(|error| call.error(error))?;
        let vectors = in_order(answer, texts.len())?;
        vectors
            .into_iter()
            .map(|vector| self.checked(vector))
            .collect()
    }

    /// Checks the dimension, and normalises to unit length.
    fn checked(&self, mut vector: Vec<f32>) -> Result<Option<Vec<f32>>, ModelError> {
        if vector.is_empty() {
            return Err(nonsense("an empty vector"));
        }
        let known = self.known.get_or_init(|| EmbedderIdentity {
            dimension: vector.len(),
            name: format!("openai/{}/{}", self.model, vector.len()),
        });
        if vector.len() != known.dimension {
            return Err(ModelError::BadAnswer(format!(
                "a vector of {} dimensions after one of {}",
                vector.len(),
                known.dimension
            )));
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return Err(nonsense("a vector that is not finite"));
        }
        // In double precision: the squares of finite values may overflow.
        let length = vector
            .iter()
            .map(|x| f64::from(*x).powi(2))
            .sum::<f64>()
            .sqrt();
        if length == 0.0 {
            return Ok(None);
        }
        for x in &mut vector {
            *x = (f64::from(*x) / length) as f32;
        }
        Ok(Some(vector))
    }
}

/// Whether a refusal is about the number of texts in the request.
fn is_about_the_batch(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    TOO_MANY_TEXTS.iter().any(|words| refusal.contains(words))
}

/// Whether a service refuses because it was not told what the texts are for: NVIDIA's, and those that list missing fields.
fn is_about_a_missing_input_type(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    // A refusal may also quote a text, or refuse the field.
    refusal.contains("input_type")
        && ["required", "missing"]
            .iter()
            .any(|word| refusal.contains(word))
}

/// Whether a service may have failed at one of several texts: some models make a vector that is not finite of it, which
/// Ollama reports with status 500, and others send as null. A content filter refuses a text with status 400.
fn may_be_about_a_text(error: &ModelError) -> bool {
    match error {
        ModelError::BadAnswer(_) => true,
        ModelError::Failed(why) => why.starts_with("HTTP 500"),
        ModelError::Refused(why) => why.starts_with("HTTP 400"),
        ModelError::Unreachable { .. }
        | ModelError::TimedOut(_)
        | ModelError::Unauthorized
        | ModelError::UnknownModel { .. }
        | ModelError::QuotaExhausted
        | ModelError::RateLimited
        | ModelError::ContextTooLong(_)
        | ModelError::OnlyReasoned(_)
        | ModelError::Busy
        | ModelError::OverBudget { .. }
        | ModelError::CutOff => false,
    }
}

/// The texts of one request, with their positions.
struct TextBatch {
    texts: Vec<(usize, String)>,
    /// It is one text, which was cut without knowing how much the model reads.
    is_guess: bool,
}

impl TextBatch {
    fn of(texts: Vec<(usize, String)>) -> Self {
        Self {
            texts,
            is_guess: false,
        }
    }

    fn tokens(&self) -> u32 {
        let tokens = self.texts.iter().map(|(_, text)| tokens::estimate(text));
        tokens.fold(0, u32::saturating_add)
    }

    /// Cuts texts with more tokens. Returns whether there were any.
    fn cut(&mut self, most: u32) -> bool {
        let mut is_cut = false;
        for (_, text) in &mut self.texts {
            let length = tokens::cut(text, most, KeptPart::Head).len();
            is_cut |= length < text.len();
            text.truncate(length);
        }
        is_cut
    }

    /// Takes out the texts beyond so many, if there are any.
    fn beyond(&mut self, most: usize) -> Option<Self> {
        let is_more = self.texts.len() > most;
        is_more.then(|| Self::of(self.texts.split_off(most)))
    }

    fn halves(mut self) -> [Self; 2] {
        let second = self.texts.split_off(self.texts.len() / 2);
        [Self::of(second), self]
    }
}

/// Batches of non-empty texts, limited in number and size; longer texts than `most` tokens are cut.
fn batches(texts: &[String], most: u32) -> Vec<TextBatch> {
    let mut batches: Vec<TextBatch> = Vec::new();
    let mut spent = 0;
    for (at, text) in texts.iter().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let text = tokens::cut(text, most, KeptPart::Head).into_owned();
        let tokens = tokens::estimate(&text);
        match batches.last_mut() {
            Some(batch) if batch.texts.len() < BATCH_TEXTS && spent + tokens <= BATCH_TOKENS => {
                batch.texts.push((at, text));
                spent += tokens;
            }
            Some(_) | None => {
                batches.push(TextBatch::of(vec![(at, text)]));
                spent = tokens;
            }
        }
    }
    batches
}

/// One vector per text, ordered by index.
fn in_order(answer: EmbeddingResponse, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    if answer.data.len() != count {
        return Err(ModelError::BadAnswer(format!(
            "{} vectors for {count} texts",
            answer.data.len()
        )));
    }
    let mut vectors = vec![None; count];
    for (place, item) in answer.data.into_iter().enumerate() {
        let slot = vectors.get_mut(item.index.unwrap_or(place));
        match slot {
            Some(slot @ None) => *slot = Some(item.embedding),
            Some(Some(_)) | None => return Err(nonsense("vectors whose indexes do not fit")),
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}

fn nonsense(what: &str) -> ModelError {
    ModelError::BadAnswer(what.to_owned())
}

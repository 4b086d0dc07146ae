//! Embeds texts: with a service, or with the built-in embedder (feature `local-embedder`).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::service::Service;
use super::tokens::{self, KeptPart};
use super::{Limiter, ModelConfig, ModelError, TimedOutWait};
#[cfg(feature = "local-embedder")]
use muninn_retrieval::LocalEmbedder;

/// Maximum number of texts per request.
const BATCH_TEXTS: usize = 64;
/// Maximum estimated tokens per request; services accept 300,000, and small ones far fewer.
const BATCH_TOKENS: u32 = 32_000;
/// Maximum estimated tokens per text: longer ones are cut, as models read 8,192.
const TEXT_TOKENS: u32 = 8_000;

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
    embedding: Vec<f32>,
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

    /// See [`Embedder::embed`]. Of texts longer than the model reads, only the beginning is embedded.
    pub async fn embed(&self, texts: &[String]) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        let mut vectors = vec![None; texts.len()];
        for batch in batches(texts) {
            let words: Vec<&str> = batch.texts.iter().map(|(_, text)| text.as_str()).collect();
            let answer = timeout(self.total_timeout, self.embed_batch(&words, batch.tokens))
                .await
                .unwrap_or(Err(ModelError::TimedOut(TimedOutWait::Unfinished(
                    self.total_timeout,
                ))))?;
            for ((at, _), vector) in batch.texts.iter().zip(answer) {
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }

    async fn embed_batch(
        &self,
        texts: &[&str],
        tokens: u32,
    ) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        let call = self.service.call(&self.model, "", tokens);
        let body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
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

/// The texts of one request, with their positions.
struct TextBatch {
    texts: Vec<(usize, String)>,
    tokens: u32,
}

/// Batches of non-empty texts, limited in number and size.
fn batches(texts: &[String]) -> Vec<TextBatch> {
    let mut batches: Vec<TextBatch> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let text = tokens::cut(text, TEXT_TOKENS, KeptPart::Head).into_owned();
        let tokens = tokens::estimate(&text);
        match batches.last_mut() {
            Some(batch)
                if batch.texts.len() < BATCH_TEXTS && batch.tokens + tokens <= BATCH_TOKENS =>
            {
                batch.texts.push((at, text));
                batch.tokens += tokens;
            }
            Some(_) | None => batches.push(TextBatch {
                texts: vec![(at, text)],
                tokens,
            }),
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

//! A chain of models in the order in which they are called: if one fails, the next one answers.
//!
//! A service that failed is skipped for a while, and then probed by one call; see [`Breaker`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{
    Admission, BilledCall, Breaker, CallProgress, Capabilities, ChatModel, ChatRequest, Completion,
    Limiter, ModelConfig, ModelError, Piece, Purpose, Retries, Speed, TimedOutWait, Usage, tokens,
};

/// How long a probe of a failed service waits for the first bytes, while another service could answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// While another service could answer, a service is retried at most once, after a pause no longer than this.
const SHORT_RETRIES: Retries = Retries {
    max: 1,
    longest_wait: Duration::from_secs(2),
};

/// The models, in order.
#[derive(Debug)]
pub struct ModelChain {
    /// At least one.
    links: Vec<ChainedModel>,
}

#[derive(Debug)]
struct ChainedModel {
    model: ChatModel,
    breaker: Breaker,
}

impl ModelChain {
    /// Creates a chain without connecting. The first model is the configured one; `others` are its fallbacks.
    ///
    /// # Errors
    /// Fails when an address is invalid or a key cannot be sent.
    pub fn new(
        first: &ModelConfig,
        others: &[ModelConfig],
        limiter: &Arc<Limiter>,
    ) -> Result<Self, ModelError> {
        let configs: Vec<&ModelConfig> = std::iter::once(first).chain(others).collect();
        let last = configs.len() - 1;
        let link = |(at, config): (usize, &ModelConfig)| {
            let mut config = config.clone();
            if at < last {
                config.retries.max = config.retries.max.min(SHORT_RETRIES.max);
                let wait = config.retries.longest_wait;
                config.retries.longest_wait = wait.min(SHORT_RETRIES.longest_wait);
            }
            Ok(ChainedModel {
                model: ChatModel::new(&config, Arc::clone(limiter))?,
                breaker: Breaker::default(),
            })
        };
        let links: Result<Vec<ChainedModel>, ModelError> =
            configs.into_iter().enumerate().map(link).collect();
        Ok(Self { links: links? })
    }

    /// All models, in order.
    pub fn models(&self) -> impl Iterator<Item = &ChatModel> {
        self.links.iter().map(|link| &link.model)
    }

    /// The configured name of the model that is called first.
    pub fn name<'a>(&'a self, purpose: Purpose, chosen: Option<&'a str>) -> &'a str {
        self.links[0].model.named(purpose, chosen)
    }

    /// The capabilities of the model that would answer now; `chosen` replaces the first one's.
    pub fn capabilities(&self, chosen: Option<&str>) -> Capabilities {
        let (model, name) = self.next(Purpose::Answer, chosen);
        model.capabilities(name)
    }

    /// The measured speed of the model that would be called now.
    pub fn speed(&self, purpose: Purpose, chosen: Option<&str>) -> Option<Speed> {
        let (model, name) = self.next(purpose, chosen);
        model.speed(name)
    }

    /// The model that would be called now, and its name.
    fn next<'a>(&'a self, purpose: Purpose, chosen: Option<&'a str>) -> (&'a ChatModel, &'a str) {
        let up = self.links.iter().position(|it| !it.breaker.is_open());
        let at = up.unwrap_or_default();
        let model = &self.links[at].model;
        (model, model.named(purpose, chosen.filter(|_| at == 0)))
    }

    /// Like [`ChatModel::complete`], by the first model that succeeds. Text that a model wrote before it failed
    /// is withdrawn, and billed: see [`Completion::failed`].
    ///
    /// # Errors
    /// Returns the error of the first model called when all fail, or at once when the others could not do better.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Completion, ModelError> {
        self.complete_observed(request, on_piece, &mut CallProgress::default())
            .await
    }

    /// Like [`Self::complete`]. `progress` holds what was billed while no answer is returned, also when the future is dropped.
    ///
    /// # Errors
    /// As [`Self::complete`].
    pub async fn complete_observed(
        &self,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
        progress: &mut CallProgress,
    ) -> Result<Completion, ModelError> {
        // If all are skipped, all are called after all.
        for is_forced in [false, true] {
            let mut failed = None;
            for (at, link) in self.links.iter().enumerate() {
                let is_last = at + 1 == self.links.len();
                let admission = match self.links.len() {
                    1 => Admission::Ask,
                    _ if is_forced => Admission::Ask,
                    _ => link.breaker.admission(),
                };
                if admission == Admission::Skip {
                    continue;
                }
                let chosen = request.model.as_deref().filter(|_| at == 0);
                let model = link.model.named(request.purpose, chosen);
                model.clone_into(&mut progress.model);
                let probes = admission == Admission::Probe && !is_last;
                let mut seen = String::new();
                let mut see = |piece: Piece| {
                    piece.add_to(&mut seen);
                    on_piece(piece);
                };
                let mut earlier = Usage::default();
                let asked = link.complete(at == 0, probes, request, &mut see, &mut earlier);
                let outcome = Box::pin(asked).await;
                let error = match outcome {
                    Ok(mut completion) => {
                        completion.failed = std::mem::take(&mut progress.failed);
                        return Ok(completion);
                    }
                    Err(error) => error,
                };
                let billed = spent(&error, earlier, request, &seen).map(|usage| BilledCall {
                    model: model.to_owned(),
                    usage,
                });
                progress.failed.extend(billed);
                if !is_worth_another(&error) {
                    return Err(error);
                }
                if !is_last {
                    let cause = &error as &dyn std::error::Error;
                    tracing::warn!(
                        model,
                        error = cause,
                        "a model failed: the next one is asked"
                    );
                    on_piece(Piece::Instead(String::new()));
                }
                failed.get_or_insert(error);
            }
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Err(ModelError::Busy)
    }
}

impl ChainedModel {
    /// Calls this model. A model chosen for a channel belongs to the first service. If it fails, `spent` has what its earlier
    /// attempts are billed for.
    async fn complete(
        &self,
        is_first: bool,
        probes: bool,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
        spent: &mut Usage,
    ) -> Result<Completion, ModelError> {
        let own;
        let request = if is_first || request.model.is_none() {
            request
        } else {
            own = ChatRequest {
                model: None,
                ..request.clone()
            };
            &own
        };
        let spoke = AtomicBool::new(false);
        let mut see = |piece: Piece| {
            spoke.store(true, Ordering::Relaxed);
            on_piece(piece);
        };
        let asked = self.model.complete_billed(request, &mut see, spent);
        let outcome = if probes {
            let speed = self.model.speed(self.model.model(request.purpose));
            let wait = speed.map_or(PROBE_TIMEOUT, |speed| PROBE_TIMEOUT.max(speed.first * 2));
            let given_up = async {
                tokio::time::sleep(wait).await;
                if spoke.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                biased;
                outcome = asked => outcome,
                () = given_up => Err(ModelError::TimedOut(TimedOutWait::Fixed(wait))),
            }
        } else {
            asked.await
        };
        self.breaker.record(&outcome);
        outcome
    }
}

/// What a call that failed is billed for, after its earlier attempts, as far as it is known; estimated if it broke off.
fn spent(error: &ModelError, earlier: Usage, request: &ChatRequest, seen: &str) -> Option<Usage> {
    let mut usage = earlier;
    if let ModelError::OnlyReasoned(reasoned) = error {
        usage += *reasoned;
        return Some(usage);
    }
    if !seen.is_empty() {
        usage += Usage {
            prompt: tokens::estimate_request(request),
            completion: tokens::estimate(seen),
            cached: 0,
        };
    }
    (usage != Usage::default()).then_some(usage)
}

/// Whether another model may succeed.
fn is_worth_another(error: &ModelError) -> bool {
    match error {
        ModelError::Unreachable { .. }
        | ModelError::TimedOut(_)
        | ModelError::Unauthorized
        | ModelError::UnknownModel { .. }
        | ModelError::QuotaExhausted
        | ModelError::RateLimited
        | ModelError::OnlyReasoned(_)
        | ModelError::Refused(_)
        | ModelError::Failed(_)
        | ModelError::CutOff
        | ModelError::BadAnswer(_) => true,
        // The prompt is shortened for this model, and our own limits apply to all.
        ModelError::ContextTooLong(_) | ModelError::OverBudget { .. } | ModelError::Busy => false,
    }
}

//! Replaces vectors of other embedders with those of the configured one.
//!
//! The work is found by query and written in batches, so that a second run continues where the
//! first one ended, and finds nothing after a complete run.

use muninn_platform::{AudienceId, count_with_noun};

use crate::graph::{EmbedderFilter, GraphStore, StoreError, Turn};
use crate::llm::{Embedder, ModelError};
use crate::memory::embedded_text_of;

/// Number of positions of an audience processed together. It bounds memory, and the work lost by an
/// interruption.
const BATCH: usize = 256;

/// The progress so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reembedded {
    /// Turns that were given a vector, or have nothing to embed.
    pub turns: usize,
    /// Those of them in which the embedder found nothing to embed.
    pub empty: usize,
    /// Number of turns to process at the beginning.
    pub total: usize,
}

/// Why it ended early. Completed work stays.
#[derive(Debug, thiserror::Error)]
pub enum ReembedError {
    #[error(
        "the embeddings failed after {}; what was done stays, and `muninn reembed` goes on from there",
        count_with_noun(*done, "turn")
    )]
    Embedder {
        done: usize,
        #[source]
        source: ModelError,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Vectors that recall cannot compare with the embedder's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    /// Turns with a vector of another embedder.
    pub foreign: usize,
    /// Turns that should have a vector and have none.
    pub missing: usize,
}

/// Counts the turns to process, without calling an embedding service.
///
/// # Errors
/// Fails when the graph cannot be read.
pub async fn stale(store: &GraphStore, embedder: &Embedder) -> Result<Stale, StoreError> {
    let mut stale = Stale::default();
    for by in store.embedders(EmbedderFilter::All).await? {
        match by.embedder {
            None => stale.missing += by.turns,
            Some(name) if !embedder.matches_name(&name) => stale.foreign += by.turns,
            Some(_) => {}
        }
    }
    Ok(stale)
}

/// Counts the turns with a vector of another embedder. Unlike [`stale`], it does not look at all others.
///
/// # Errors
/// Fails when the graph cannot be read.
pub async fn foreign(store: &GraphStore, embedder: &Embedder) -> Result<usize, StoreError> {
    let mut turns = 0;
    for name in store.embedder_names().await? {
        if !embedder.matches_name(&name) {
            let of_others = store.embedders(EmbedderFilter::Named(&name)).await?;
            turns += of_others.iter().map(|by| by.turns).sum::<usize>();
        }
    }
    Ok(turns)
}

/// Embeds every exchange whose vector is missing or from another embedder, and reports its progress
/// after each batch.
///
/// # Errors
/// Fails when the embedder or the graph fails; completed work stays.
pub async fn reembed(
    store: &GraphStore,
    embedder: &Embedder,
    tell: &mut (dyn FnMut(Reembedded) + Send),
) -> Result<Reembedded, ReembedError> {
    let identified = embedder.resolve_name().await;
    let name = identified.map_err(|source| ReembedError::Embedder { done: 0, source })?;
    let mut stale = store.embedders(EmbedderFilter::All).await?;
    stale.retain(|by| by.embedder.as_deref() != Some(name));
    let mut far = Reembedded {
        total: stale.iter().map(|by| by.turns).sum(),
        ..Reembedded::default()
    };
    tell(far);
    let mut audiences: Vec<_> = stale.into_iter().map(|by| by.audience).collect();
    audiences.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
    audiences.dedup();
    for audience in &audiences {
        let mut seen = 0;
        loop {
            let page = store
                .stale_embeddings(Some(name), audience, seen, BATCH)
                .await?;
            if !page.turns.is_empty() {
                let vectors = embed(embedder, &page.turns).await;
                let vectors = vectors.map_err(|source| ReembedError::Embedder {
                    done: far.turns,
                    source,
                })?;
                store.set_embeddings(name, audience, &vectors).await?;
                far.turns += vectors.len();
                far.empty += vectors.iter().filter(|(_, one)| one.is_none()).count();
                tell(far);
            }
            if !page.more {
                break;
            }
            seen = page.through;
        }
    }
    Ok(far)
}

/// Embeds the exchanges that have no vector at all, and returns their audiences. Vectors of other
/// embedders are left to [`reembed`].
///
/// # Errors
/// Fails when the embedder or the graph fails; completed work stays.
pub async fn embed_missing(
    store: &GraphStore,
    embedder: &Embedder,
) -> Result<Vec<AudienceId>, ReembedError> {
    let missing = store.embedders(EmbedderFilter::Missing).await?;
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |source| ReembedError::Embedder { done: 0, source };
    let name = embedder.resolve_name().await.map_err(failed)?;
    let audiences: Vec<AudienceId> = missing.into_iter().map(|by| by.audience).collect();
    for audience in &audiences {
        let mut seen = 0;
        loop {
            let page = store.stale_embeddings(None, audience, seen, BATCH).await?;
            if !page.turns.is_empty() {
                let vectors = embed(embedder, &page.turns).await.map_err(failed)?;
                store.set_embeddings(name, audience, &vectors).await?;
            }
            if !page.more {
                break;
            }
            seen = page.through;
        }
    }
    Ok(audiences)
}

async fn embed<'a>(
    embedder: &Embedder,
    turns: &'a [Turn],
) -> Result<Vec<(&'a Turn, Option<Vec<f32>>)>, ModelError> {
    let texts: Vec<String> = turns
        .iter()
        .map(|turn| embedded_text_of(turn.source, turn.understood(), &turn.output))
        .collect();
    let vectors = embedder.embed(&texts).await?;
    Ok(turns.iter().zip(vectors).collect())
}

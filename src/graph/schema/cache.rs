//! The last look at the graph, and when to look again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Survey;
use super::survey::{Counts, counts, survey};
use crate::graph::StoreError;
use crate::graph::engine::Engine;

/// How long a look is believed. Then the engine's counts, which cost it next to nothing, tell
/// whether anything was added or removed, by whomever.
const BELIEVED: Duration = Duration::from_secs(30);

/// How long it lasts while the counts stay as they are: a property may have come meanwhile.
const LASTS: Duration = Duration::from_secs(600);

/// Looks at most once at a time; who comes meanwhile waits for that look.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    last: Mutex<Option<Look>>,
    is_outdated: AtomicBool,
}

#[derive(Debug)]
struct Look {
    survey: Arc<Survey>,
    counts: Counts,
    compared: Instant,
    taken: Instant,
}

impl Cache {
    /// Knowledge was changed through this store.
    pub(crate) fn outdate(&self) {
        self.is_outdated.store(true, Ordering::Release);
    }

    pub(crate) async fn get(&self, engine: &dyn Engine) -> Result<Arc<Survey>, StoreError> {
        let mut last = self.last.lock().await;
        if self.is_outdated.swap(false, Ordering::AcqRel) {
            *last = None;
        }
        if let Some(look) = &*last
            && look.compared.elapsed() < BELIEVED
        {
            return Ok(Arc::clone(&look.survey));
        }
        let counts = counts(engine).await?;
        if let Some(look) = &mut *last
            && look.counts == counts
            && look.taken.elapsed() < LASTS
        {
            look.compared = Instant::now();
            return Ok(Arc::clone(&look.survey));
        }
        let survey = Arc::new(survey(engine, &counts).await?);
        let now = Instant::now();
        *last = Some(Look {
            survey: Arc::clone(&survey),
            counts,
            compared: now,
            taken: now,
        });
        Ok(survey)
    }
}

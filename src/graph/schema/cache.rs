//! Caches the schema, and decides when to read it again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::overview::Survey;
use super::survey::{Counts, counts, survey};
use crate::graph::StoreError;
use crate::graph::engine::Engine;

/// How long the schema is trusted without a check. After that, the engine's counts, which are
/// nearly free, tell whether anything was added or removed, by anybody.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// How long it lasts while the counts are unchanged: a property may have been added meanwhile.
const MAX_SCHEMA_AGE: Duration = Duration::from_secs(600);

/// Pause of background reads after a failure; doubled after each further one.
const FIRST_REST: Duration = Duration::from_secs(5);
const LONGEST_REST: Duration = Duration::from_secs(600);

/// Reads the schema at most once at a time; other callers wait for that read, or take the previous
/// schema.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    last: Mutex<Option<SchemaRead>>,
    /// Held during a read.
    looking: tokio::sync::Mutex<()>,
    is_outdated: AtomicBool,
    background: Mutex<Background>,
}

#[derive(Clone, Debug)]
struct SchemaRead {
    survey: Arc<Survey>,
    counts: Counts,
    compared: Instant,
    taken: Instant,
    /// Knowledge was changed through this store since the last read.
    is_outdated: bool,
}

/// The schema read last.
#[derive(Clone, Debug)]
pub(crate) struct CachedSurvey {
    pub(crate) survey: Arc<Survey>,
    /// It is time to read again.
    pub(crate) is_due: bool,
}

/// The state of background reads, for callers that do not wait.
#[derive(Debug, Default)]
struct Background {
    is_looking: bool,
    failures: u32,
    /// No read before this time.
    next: Option<Instant>,
}

/// Returns the pause after so many consecutive failures.
fn rest(failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
    FIRST_REST.saturating_mul(doubled).min(LONGEST_REST)
}

impl Cache {
    /// Records that knowledge was changed through this store.
    pub(crate) fn outdate(&self) {
        self.is_outdated.store(true, Ordering::Release);
    }

    /// Returns the current schema. Waits for a read if one is due.
    pub(crate) async fn get(&self, engine: &dyn Engine) -> Result<Arc<Survey>, StoreError> {
        let _looking = self.looking.lock().await;
        let kept = {
            let mut last = self.last.lock();
            // Stored with the schema, because the current reader may be cancelled.
            if self.is_outdated.swap(false, Ordering::AcqRel)
                && let Some(look) = &mut *last
            {
                look.is_outdated = true;
            }
            last.clone().filter(|look| !look.is_outdated)
        };
        if let Some(look) = &kept
            && look.compared.elapsed() < CHECK_INTERVAL
        {
            return Ok(Arc::clone(&look.survey));
        }
        let counts = counts(engine).await?;
        let now = Instant::now();
        if let Some(look) = kept
            && look.counts == counts
            && look.taken.elapsed() < MAX_SCHEMA_AGE
        {
            let survey = Arc::clone(&look.survey);
            *self.last.lock() = Some(SchemaRead {
                compared: now,
                ..look
            });
            return Ok(survey);
        }
        let survey = Arc::new(survey(engine, &counts).await?);
        let now = Instant::now();
        *self.last.lock() = Some(SchemaRead {
            survey: Arc::clone(&survey),
            counts,
            compared: now,
            taken: now,
            is_outdated: false,
        });
        Ok(survey)
    }

    /// Returns the schema read last, without waiting.
    pub(crate) fn last_survey(&self) -> Option<CachedSurvey> {
        let look = self.last.lock().clone()?;
        let is_outdated = look.is_outdated || self.is_outdated.load(Ordering::Acquire);
        Some(CachedSurvey {
            is_due: is_outdated || look.compared.elapsed() >= CHECK_INTERVAL,
            survey: look.survey,
        })
    }

    /// Whether the caller may read in the background: nobody else does, and the pause after a
    /// failure is over. The caller then has to report the result to [`Cache::end_background_read`].
    pub(crate) fn begin_background_read(&self) -> bool {
        let mut background = self.background.lock();
        let rests = background.next.is_some_and(|next| Instant::now() < next);
        let may = !background.is_looking && !rests;
        background.is_looking |= may;
        may
    }

    /// Ends a background read. Returns the pause if it failed.
    pub(crate) fn end_background_read(&self, succeeded: bool) -> Option<Duration> {
        let mut background = self.background.lock();
        background.is_looking = false;
        if succeeded {
            *background = Background::default();
            return None;
        }
        background.failures = background.failures.saturating_add(1);
        let rest = rest(background.failures);
        background.next = Some(Instant::now() + rest);
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use async_trait::async_trait;
    use serde_json::json;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::graph::engine::{Params, Row};
    use crate::graph::store::GraphStore;
    use crate::graph::testing::{FakeGraph, fake_store};

    #[test]
    fn each_failure_doubles_the_rest_up_to_a_bound() {
        assert_eq!([1, 2, 3].map(|it| rest(it).as_secs()), [5, 10, 20]);
        assert_eq!(rest(u32::MAX), LONGEST_REST);
    }

    /// A graph in which every read begins with a query for labels, which is answered when the test
    /// allows it.
    #[derive(Debug)]
    struct Slow {
        may_answer: Arc<Semaphore>,
        fails: Arc<AtomicBool>,
        looks: Arc<AtomicUsize>,
    }

    #[async_trait]
    impl FakeGraph for Slow {
        async fn read(&self, statement: &str, _: Params) -> Result<Vec<Row>, StoreError> {
            if statement.contains("db.labels") {
                let looks = self.looks.fetch_add(1, Ordering::SeqCst);
                self.may_answer.acquire().await.unwrap().forget();
                if self.fails.load(Ordering::SeqCst) {
                    return Err(StoreError::Unexpected("no".to_owned()));
                }
                let name = format!("Look{looks}");
                return Ok(vec![Row::from_iter([("name".to_owned(), json!(name))])]);
            }
            Ok(Vec::new())
        }
    }

    struct SchemaCacheFixture {
        store: Arc<GraphStore>,
        may_answer: Arc<Semaphore>,
        fails: Arc<AtomicBool>,
        looks: Arc<AtomicUsize>,
    }

    impl SchemaCacheFixture {
        fn new() -> Self {
            let (may_answer, fails) = (Arc::new(Semaphore::new(0)), Arc::default());
            let looks = Arc::default();
            let engine = Slow {
                may_answer: Arc::clone(&may_answer),
                fails: Arc::clone(&fails),
                looks: Arc::clone(&looks),
            };
            Self {
                store: Arc::new(fake_store(engine)),
                may_answer,
                fails,
                looks,
            }
        }

        fn looks(&self) -> usize {
            self.looks.load(Ordering::SeqCst)
        }

        /// Returns what a turn gets that waits for this long at most.
        async fn within(&self, wait: Duration) -> Arc<Survey> {
            let kept = self.store.kept_schema();
            let kept = tokio::time::timeout(wait, kept).await;
            kept.expect("a shorter wait").unwrap()
        }

        /// Returns what a turn gets without waiting for the graph.
        async fn at_once(&self) -> Arc<Survey> {
            self.within(Duration::from_millis(1)).await
        }

        /// Lets started tasks continue.
        async fn others_go_on(&self) {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_takes_what_is_kept_while_one_task_looks_again() {
        let desk = SchemaCacheFixture::new();
        // A caller that gives up does not cancel the first read.
        let given_up = tokio::time::timeout(CHECK_INTERVAL, desk.store.kept_schema()).await;
        assert!(given_up.is_err());
        desk.may_answer.add_permits(1);
        desk.others_go_on().await;
        let first = desk.at_once().await;
        assert_eq!(desk.looks(), 1);

        tokio::time::advance(CHECK_INTERVAL).await;
        let waited = desk.within(Duration::from_secs(2)).await;
        assert!(Arc::ptr_eq(&waited, &first));
        for _ in 0..2 {
            assert!(Arc::ptr_eq(&desk.at_once().await, &first));
        }
        assert_eq!(desk.looks(), 2, "one looks, however many ask");
        desk.may_answer.add_permits(1);
        desk.others_go_on().await;
        let second = desk.at_once().await;
        assert!(!Arc::ptr_eq(&second, &first));
        assert_eq!(desk.looks(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_fails_is_not_made_again_at_every_turn() {
        let desk = SchemaCacheFixture::new();
        desk.may_answer.add_permits(100);
        let first = desk.store.kept_schema().await.unwrap();
        desk.fails.store(true, Ordering::SeqCst);
        tokio::time::advance(CHECK_INTERVAL).await;
        for expected in [2, 2, 2] {
            assert!(Arc::ptr_eq(&desk.at_once().await, &first));
            desk.others_go_on().await;
            assert_eq!(desk.looks(), expected);
        }
        tokio::time::advance(rest(1)).await;
        desk.at_once().await;
        desk.others_go_on().await;
        assert_eq!(desk.looks(), 3);
        tokio::time::advance(rest(1)).await;
        desk.at_once().await;
        desk.others_go_on().await;
        assert_eq!(desk.looks(), 3, "it rests longer");

        // A read that somebody waits for runs, and is kept.
        desk.fails.store(false, Ordering::SeqCst);
        let second = desk.store.schema().await.unwrap();
        assert!(Arc::ptr_eq(&desk.at_once().await, &second));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_changed_is_waited_for_a_moment() {
        let desk = SchemaCacheFixture::new();
        desk.may_answer.add_permits(3);
        let first = desk.store.kept_schema().await.unwrap();
        // Another process may have changed something.
        tokio::time::advance(CHECK_INTERVAL).await;
        let again = desk.at_once().await;
        assert!(!Arc::ptr_eq(&again, &first));
        desk.store.survey.outdate();
        let second = desk.at_once().await;
        assert!(!Arc::ptr_eq(&second, &again));
        // While the graph is slow, the previous schema is used.
        desk.store.survey.outdate();
        let kept = desk.store.kept_schema().await.unwrap();
        assert!(Arc::ptr_eq(&kept, &second));
        desk.may_answer.add_permits(1);
        desk.others_go_on().await;
        let third = desk.at_once().await;
        assert!(!Arc::ptr_eq(&third, &second));
    }
}

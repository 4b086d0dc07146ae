use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use muninn_platform::{ChannelMemory, Channels, History, TimeZone};
use tempfile::TempDir;

use super::*;

const CHANNEL: &str = "fake/T/C";

/// Ten pages of a hundred messages, which fail on demand.
#[derive(Default)]
struct FailingHistory {
    failures: Mutex<Vec<HistoryError>>,
    read: Mutex<Vec<usize>>,
    /// After so many pages it waits forever, as if the process was about to be killed; 0 means
    /// never.
    stops_behind: AtomicUsize,
}

#[async_trait]
impl History for FailingHistory {
    async fn read_page(
        &self,
        _: &AudienceId,
        _: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError> {
        let number: usize = at.map_or(0, |at| at.parse().unwrap());
        let stops_behind = self.stops_behind.load(Ordering::SeqCst);
        if stops_behind > 0 && number >= stops_behind {
            std::future::pending::<()>().await;
        }
        if let Some(failure) = self.failures.lock().pop() {
            return Err(failure);
        }
        self.read.lock().push(number);
        Ok(HistoryPage {
            messages: 100,
            reached: DateTime::from_timestamp(1_700_000_000, 0),
            next: (number < 9).then(|| (number + 1).to_string()),
        })
    }
}

struct BackfillFixture {
    folder: TempDir,
    heard: HeardAudiences,
    pages: Arc<dyn History>,
    as_pages: Arc<FailingHistory>,
}

impl BackfillFixture {
    fn new(pages: FailingHistory) -> Self {
        let heard = HeardAudiences::new(Arc::new(Channels::default()));
        heard.set(&AudienceId::new(CHANNEL), ChannelMemory::Channel);
        let as_pages = Arc::new(pages);
        Self {
            folder: tempfile::tempdir().unwrap(),
            heard,
            pages: Arc::clone(&as_pages) as Arc<dyn History>,
            as_pages,
        }
    }

    fn process(&self) -> Arc<Backfills> {
        let histories = Histories::default();
        histories.add("fake", &self.pages);
        let folder = self.folder.path().join("backfills");
        Backfills::new(&folder, self.heard.clone(), histories)
    }

    fn kept(&self) -> usize {
        let kept = std::fs::read_dir(self.folder.path().join("backfills"));
        kept.map_or(0, Iterator::count)
    }
}

fn day() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 1).unwrap()
}

async fn over(mut watched: Watched) -> BackfillProgress {
    let over = watched.wait_for(BackfillProgress::is_over).await;
    over.unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn every_page_is_read_once_and_a_rest_is_taken() {
    use HistoryError::{Away, Limited};
    let scene = BackfillFixture::new(FailingHistory {
        failures: Mutex::new(vec![
            Limited(Some(Duration::from_secs(30))),
            Limited(None),
            Away,
        ]),
        ..FailingHistory::default()
    });
    let backfills = scene.process();
    let channel = AudienceId::new(CHANNEL);
    let done = over(backfills.begin(&channel, day(), TimeZone::UTC).unwrap()).await;
    assert_eq!((done.messages, &done.state), (1_000, &BackfillState::Done));
    assert_eq!(*scene.as_pages.read.lock(), (0..10).collect::<Vec<_>>());
    assert_eq!(scene.kept(), 0);
    assert_eq!(done.to_string(), "Done: I read 1000 messages.");
    backfills.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_limit_without_a_pause_is_no_loop() {
    let limited = HistoryError::Limited(Some(Duration::ZERO));
    let scene = BackfillFixture::new(FailingHistory {
        failures: Mutex::new(vec![limited; 10]),
        ..FailingHistory::default()
    });
    let (backfills, begun) = (scene.process(), tokio::time::Instant::now());
    let channel = AudienceId::new(CHANNEL);
    let done = over(backfills.begin(&channel, day(), TimeZone::UTC).unwrap()).await;
    assert_eq!((done.messages, &done.state), (1_000, &BackfillState::Done));
    assert_eq!(begun.elapsed().as_secs(), 10);
    backfills.end().await;
}

#[tokio::test(start_paused = true)]
async fn killed_in_the_middle_it_goes_on_at_the_next_start() {
    let scene = BackfillFixture::new(FailingHistory::default());
    scene.as_pages.stops_behind.store(4, Ordering::SeqCst);
    let first = scene.process();
    let channel = AudienceId::new(CHANNEL);
    let mut watched = first.begin(&channel, day(), TimeZone::UTC).unwrap();
    let four = watched.wait_for(|it| it.messages == 400).await;
    assert!(
        four.unwrap()
            .to_string()
            .starts_with("Reading: 400 messages so far, at 2023-11-14")
    );
    // The first process does not end cleanly; it just disappears.
    scene.as_pages.stops_behind.store(0, Ordering::SeqCst);
    let second = scene.process();
    second.resume_all();
    let done = over(second.under_way(&channel).unwrap()).await;
    assert_eq!((done.messages, &done.state), (1_000, &BackfillState::Done));
    assert_eq!(*scene.as_pages.read.lock(), (0..10).collect::<Vec<_>>());
    first.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_interrupted_for_long_does_not_go_on_by_itself() {
    let scene = BackfillFixture::new(FailingHistory::default());
    scene.as_pages.stops_behind.store(4, Ordering::SeqCst);
    let first = scene.process();
    let channel = AudienceId::new(CHANNEL);
    let mut watched = first.begin(&channel, day(), TimeZone::UTC).unwrap();
    let is_far = |it: &BackfillProgress| it.messages == 400;
    watched.wait_for(is_far).await.unwrap();
    first.end().await;
    // Meanwhile nobody is heard there, and a start keeps what may go on.
    scene.heard.set(&channel, ChannelMemory::Asked);
    let second = scene.process();
    second.resume_all();
    let watched = second.under_way.lock()[&channel].clone();
    over(watched).await;
    assert_eq!(scene.kept(), 1);
    let path = second.path(&channel);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let long_ago = MAX_INTERRUPTION + Duration::from_secs(60);
    file.set_modified(std::time::SystemTime::now() - long_ago)
        .unwrap();
    scene.heard.set(&channel, ChannelMemory::Channel);
    let third = scene.process();
    third.resume_all();
    assert!(third.under_way(&channel).is_none());
    assert_eq!(scene.kept(), 0);
}

#[tokio::test(start_paused = true)]
async fn where_people_are_heard_no_longer_it_ends_for_good() {
    let rest = HistoryError::Limited(Some(Duration::from_secs(30)));
    let scene = BackfillFixture::new(FailingHistory {
        failures: Mutex::new(vec![rest]),
        ..FailingHistory::default()
    });
    let backfills = scene.process();
    let channel = AudienceId::new(CHANNEL);
    let watched = backfills.begin(&channel, day(), TimeZone::UTC).unwrap();
    let resting = |it: &BackfillProgress| matches!(it.state, BackfillState::Resting(_));
    watched.clone().wait_for(resting).await.unwrap();
    scene.heard.set(&channel, ChannelMemory::Asked);
    let stopped = over(watched).await;
    assert!(matches!(stopped.state, BackfillState::Stopped(_)));
    assert_eq!((stopped.messages, scene.kept()), (0, 0));
    backfills.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_says_what_to_do() {
    let scene = BackfillFixture::new(FailingHistory {
        failures: Mutex::new(vec![HistoryError::Refused(text!(
            "history-invite",
            channel = "C"
        ))]),
        ..FailingHistory::default()
    });
    let backfills = scene.process();
    let said = |channel: &str, day| {
        let begun = backfills.begin(&AudienceId::new(channel), day, TimeZone::UTC);
        begun.unwrap_err().to_string()
    };
    assert!(said("fake/T/D", day()).contains("set memory = \"channel\" for fake/T/D"));
    scene
        .heard
        .set(&AudienceId::new("other/T/C"), ChannelMemory::Channel);
    assert!(said("other/T/C", day()).contains("no platform of this process can read other/T/C"));
    let tomorrow = Utc::now().date_naive() + chrono::Days::new(2);
    assert!(said(CHANNEL, tomorrow).contains("in the future"));
    let channel = AudienceId::new(CHANNEL);
    let refused = over(backfills.begin(&channel, day(), TimeZone::UTC).unwrap()).await;
    assert_eq!(
        refused.to_string(),
        "I read 0 messages, then stopped: I am not in the channel C; /invite me there."
    );
    // It can be begun again; when it is turned off meanwhile, it stops.
    let watched = backfills.begin(&channel, day(), TimeZone::UTC).unwrap();
    scene.heard.set(&channel, ChannelMemory::Asked);
    assert!(
        over(watched)
            .await
            .to_string()
            .contains("not remembered any more")
    );
}

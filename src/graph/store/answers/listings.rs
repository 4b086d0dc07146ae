//! Messages that show what some answers say without being one of them, such as a digest, so that forgetting can withdraw
//! them too.

use serde_json::json;

use crate::graph::StoreError;
use crate::graph::engine::{Engine, Row};
use crate::graph::store::GraphStore;
use crate::graph::store::record::{params, text};
use crate::graph::store::statements::answers;
use crate::graph::types::delivered_answer::DeliveredAnswer;
use crate::graph::types::response_id::ResponseId;

/// Maximum number of turns per statement about their delivered messages.
pub(super) const SPOKEN_AT_ONCE: usize = 200;
/// Maximum bytes of references to listings that show an answer: about 50 to 150 listings.
const MOST_LISTED: usize = 16_384;
/// Bytes of them that stay when there are more, so that not every listing makes another one go.
const LISTED_AFTERWARDS: usize = MOST_LISTED / 4 * 3;

/// An answer that too many listings show.
#[derive(Clone, Debug)]
pub struct Overlisted {
    answer: String,
    /// A listing a line, the oldest first.
    recorded: String,
    /// The byte at which the newest ones begin, which stay recorded.
    kept_from: usize,
}

impl Overlisted {
    fn of(row: &Row) -> Option<Self> {
        let recorded = text(row, "quotedIn")?;
        let newest = recorded.split_inclusive('\n').rev();
        let mut kept = 0;
        for (number, line) in newest.enumerate() {
            // The newest is on its way to people.
            if number > 0 && kept + line.len() > LISTED_AFTERWARDS {
                break;
            }
            kept += line.len();
        }
        Some(Self {
            answer: text(row, "id")?,
            kept_from: recorded.len() - kept,
            recorded,
        })
    }

    fn kept(&self) -> &str {
        &self.recorded[self.kept_from..]
    }

    /// The oldest listings, which are to be withdrawn before their record is deleted.
    pub fn oldest(&self) -> impl Iterator<Item = DeliveredAnswer> + '_ {
        let oldest = self.recorded[..self.kept_from].lines();
        let oldest = oldest.filter(|line| !self.kept().lines().any(|kept| kept == *line));
        oldest.filter_map(|line| serde_json::from_str(line).ok())
    }
}

impl GraphStore {
    /// Records which messages quote these answers without being one of them, such as a listing, so that forgetting can
    /// withdraw them too.
    pub async fn record_quotes(
        &self,
        answers: &[ResponseId],
        listing: &DeliveredAnswer,
    ) -> Result<(), StoreError> {
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({
            "ids": ids, "line": format!("{}\n", json!(listing)),
        }));
        self.engine.write(answers::QUOTED_IN, bound).await.map(drop)
    }

    /// The answers among these that too many listings show: more than 16 KB of them.
    pub async fn overlisted(&self, answers: &[ResponseId]) -> Result<Vec<Overlisted>, StoreError> {
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let mut all = Vec::new();
        for ids in ids.chunks(SPOKEN_AT_ONCE) {
            let bound = params(json!({"ids": ids, "most": MOST_LISTED}));
            let rows = self.engine.read(answers::QUOTED_TOO_OFTEN, bound).await?;
            all.extend(rows.iter().filter_map(Overlisted::of));
        }
        Ok(all)
    }

    /// Deletes the record of the oldest listings of these answers.
    pub async fn drop_oldest_listings(&self, of: &[Overlisted]) -> Result<(), StoreError> {
        for of in of.chunks(SPOKEN_AT_ONCE) {
            let rows = of
                .iter()
                .map(|it| json!({"id": it.answer, "before": it.recorded, "kept": it.kept()}));
            let bound = params(json!({"rows": rows.collect::<Vec<_>>()}));
            self.engine.write(answers::SHORTEN_QUOTED_IN, bound).await?;
        }
        Ok(())
    }
}

/// The listings that show an answer.
pub(super) fn listings(row: &Row) -> Vec<DeliveredAnswer> {
    let kept = text(row, "quotedIn").unwrap_or_default();
    let listings = kept.lines().map(serde_json::from_str);
    listings.filter_map(Result::ok).collect()
}

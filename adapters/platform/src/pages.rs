//! Reads earlier messages page by page, within bounds.
//!
//! A platform returns messages in pages, limits the rate of requests, and may fail at any page.
//! What was read until then is kept, and the caller learns what is missing.

use std::collections::VecDeque;
use std::time::Duration;

use muninn_texts::{Text, text};
use tokio::time::{Instant, timeout_at};

use crate::{RequestFailure, RetryBudget};

/// Limits for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub items: usize,
    pub bytes: usize,
    /// Time for all pages, including retries and pauses.
    pub time: Duration,
}

impl Bounds {
    /// For a thread whose question waits: about the time of an answer.
    pub const THREAD: Self = Self {
        items: 4_000,
        bytes: 1024 * 1024,
        time: Duration::from_secs(12),
    };

    /// For what was said in one place while a bot was offline.
    pub const MISSED: Self = Self {
        items: 5_000,
        bytes: 8 * 1024 * 1024,
        time: Duration::from_secs(600),
    };
}

/// One page of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    /// The cursor of the next page; `None` after the last one.
    pub next: Option<C>,
}

/// Why the result is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    TooMuch,
    Limited,
    Away,
    Refused,
}

impl Cut {
    /// Whether another attempt may read the rest. None reads what the platform refuses, or what is
    /// too much.
    pub fn is_temporary(self) -> bool {
        match self {
            Self::Limited | Self::Away => true,
            Self::TooMuch | Self::Refused => false,
        }
    }

    /// A text for use within a sentence.
    pub fn text(self) -> Text {
        match self {
            Self::TooMuch => text!("cut-too-much"),
            Self::Limited => text!("cut-limited"),
            Self::Away => text!("cut-late"),
            Self::Refused => text!("cut-incomplete"),
        }
    }
}

/// In English, for models.
impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.text())
    }
}

/// The items that were read, in the platform's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPages<T> {
    pub items: Vec<T>,
    /// `None`: the result is complete.
    pub cut: Option<Cut>,
}

/// The order of a platform's pages, which decides what is left out when there is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOrder {
    /// Reading goes on to the newest, and the middle is left out.
    OldestFirst,
    /// Newer items are not read, so that nothing is left out between the items that were.
    OldestWithoutGap,
    /// Older items are not read.
    NewestFirst,
}

impl PageOrder {
    /// Whether reading stops when there is too much.
    fn stops_when_full(self) -> bool {
        match self {
            Self::OldestFirst => false,
            Self::OldestWithoutGap | Self::NewestFirst => true,
        }
    }
}

/// Reads pages until there are no more, or a limit is reached. `weigh`: the size of an item in
/// bytes.
pub async fn read_pages<T, C, F>(
    bounds: Bounds,
    order: PageOrder,
    weigh: impl Fn(&T) -> usize,
    mut fetch: impl FnMut(Option<C>) -> F,
) -> ReadPages<T>
where
    C: Clone + PartialEq,
    F: Future<Output = Result<Page<T, C>, RequestFailure>>,
{
    let until = Instant::now() + bounds.time;
    let mut ends = if order.stops_when_full() {
        Ends::beginning(bounds.items, bounds.bytes)
    } else {
        Ends::new(bounds.items, bounds.bytes)
    };
    let mut at: Option<C> = None;
    let cut = loop {
        let page = match page_in_time(until, || fetch(at.clone())).await {
            Ok(page) => page,
            Err(cut) => break Some(cut),
        };
        for item in page.items {
            let weight = weigh(&item);
            ends.push(item, weight);
        }
        let is_full = order.stops_when_full() && ends.left_out > 0;
        // A cursor that repeats would loop forever.
        match page.next {
            Some(_) if is_full => break None,
            Some(next) if at.as_ref() != Some(&next) => at = Some(next),
            Some(_) | None => break None,
        }
    };
    let cut = cut.or((ends.left_out > 0).then_some(Cut::TooMuch));
    let items = ends.first.into_iter().chain(ends.last);
    ReadPages {
        items: items.map(|(item, _)| item).collect(),
        cut,
    }
}

/// Reads one page, with retries until the deadline.
async fn page_in_time<P, F>(until: Instant, mut fetch: impl FnMut() -> F) -> Result<P, Cut>
where
    F: Future<Output = Result<P, RequestFailure>>,
{
    let mut budget = RetryBudget::from_now(until.saturating_duration_since(Instant::now()));
    loop {
        let fetched = timeout_at(until, fetch()).await;
        let (pause, cut) = match fetched.unwrap_or(Err(RequestFailure::Away)) {
            Ok(page) => return Ok(page),
            // The time is short, so a limit of unknown length is tried early.
            Err(RequestFailure::Limited(None)) => (budget.pause(), Cut::Limited),
            Err(failure @ RequestFailure::Limited(Some(_))) => {
                (budget.pause_after(failure), Cut::Limited)
            }
            Err(RequestFailure::Away) => (budget.pause(), Cut::Away),
            Err(RequestFailure::LoggedOut | RequestFailure::Refused) => (None, Cut::Refused),
        };
        tokio::time::sleep(pause.ok_or(cut)?).await;
    }
}

/// Keeps the first and the last of many items, within limits: the beginning of a conversation tells
/// its subject, and the end its current state.
#[derive(Clone, Debug)]
pub struct Ends<T> {
    first: Vec<(T, usize)>,
    last: VecDeque<(T, usize)>,
    first_left: Room,
    last_left: Room,
    is_first_full: bool,
    /// A heavier item does not fit among the last.
    most_weight: usize,
    /// Number of items left out between the first and the last.
    left_out: usize,
}

#[derive(Clone, Copy, Debug)]
struct Room {
    items: usize,
    weight: usize,
}

impl Room {
    fn fits(self, weight: usize) -> bool {
        self.items > 0 && self.weight >= weight
    }

    fn take(&mut self, weight: usize) {
        self.items -= 1;
        self.weight -= weight;
    }

    fn give(&mut self, weight: usize) {
        self.items += 1;
        self.weight += weight;
    }
}

impl<T> Ends<T> {
    /// A quarter of the capacity is for the first items.
    pub fn new(items: usize, weight: usize) -> Self {
        let first = Room {
            items: items / 4,
            weight: weight / 4,
        };
        let last = Room {
            items: items - first.items,
            weight: weight - first.weight,
        };
        Self::with(first, last)
    }

    /// All of the capacity is for the first items.
    fn beginning(items: usize, weight: usize) -> Self {
        let none = Room {
            items: 0,
            weight: 0,
        };
        Self::with(Room { items, weight }, none)
    }

    fn with(first_left: Room, last_left: Room) -> Self {
        Self {
            first: Vec::new(),
            last: VecDeque::new(),
            first_left,
            last_left,
            is_first_full: false,
            most_weight: last_left.weight,
            left_out: 0,
        }
    }

    pub fn push(&mut self, item: T, weight: usize) {
        if !self.is_first_full && self.first_left.fits(weight) {
            self.first_left.take(weight);
            return self.first.push((item, weight));
        }
        self.is_first_full = true;
        if weight > self.most_weight {
            self.left_out += 1;
            return;
        }
        while !self.last_left.fits(weight) {
            let Some((_, weight)) = self.last.pop_front() else {
                self.left_out += 1;
                return;
            };
            self.last_left.give(weight);
            self.left_out += 1;
        }
        self.last_left.take(weight);
        self.last.push_back((item, weight));
    }

    /// Returns the first items, the number left out after them, and the last items.
    pub fn into_parts(self) -> (Vec<T>, usize, Vec<T>) {
        let first = self.first.into_iter().map(|(item, _)| item);
        let last = self.last.into_iter().map(|(item, _)| item);
        (first.collect(), self.left_out, last.collect())
    }
}

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use super::*;

const SMALL: Bounds = Bounds {
    items: 8,
    bytes: 1_000,
    time: Duration::from_secs(10),
};

/// Numbers in pages of three, which fail as they are told to.
struct Numbers {
    most: usize,
    failures: RefCell<Vec<RequestFailure>>,
    asked: RefCell<usize>,
}

impl Numbers {
    fn new(most: usize, failures: &[RequestFailure]) -> Self {
        Self {
            most,
            failures: RefCell::new(failures.to_vec()),
            asked: RefCell::new(0),
        }
    }

    async fn read(&self, order: PageOrder) -> ReadPages<usize> {
        let page = |at| std::future::ready(self.page(at));
        read_pages(SMALL, order, |_| 1, page).await
    }

    fn page(&self, at: Option<usize>) -> Result<Page<usize, usize>, RequestFailure> {
        *self.asked.borrow_mut() += 1;
        let from = at.unwrap_or_default();
        // The first page is always given.
        if from > 0
            && let Some(failure) = self.failures.borrow_mut().pop()
        {
            return Err(failure);
        }
        let to = (from + 3).min(self.most);
        Ok(Page {
            items: (from..to).collect(),
            next: (to < self.most).then_some(to),
        })
    }
}

#[tokio::test(start_paused = true)]
async fn all_pages_are_read_and_what_is_too_much_is_left_out_of_the_middle() {
    let read = Numbers::new(7, &[]).read(PageOrder::OldestFirst).await;
    assert_eq!((read.items, read.cut), ((0..7).collect(), None));
    let read = Numbers::new(20, &[]).read(PageOrder::OldestFirst).await;
    let ends = vec![0, 1, 14, 15, 16, 17, 18, 19];
    assert_eq!((read.items, read.cut), (ends, Some(Cut::TooMuch)));
    // What comes newest first, or must have no gap, is not read on.
    for order in [PageOrder::NewestFirst, PageOrder::OldestWithoutGap] {
        let numbers = Numbers::new(20, &[]);
        let read = numbers.read(order).await;
        assert_eq!(
            (read.items, read.cut),
            ((0..8).collect(), Some(Cut::TooMuch))
        );
        assert_eq!(*numbers.asked.borrow(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_fails_is_tried_again_and_what_was_read_before_is_kept() {
    use RequestFailure::{Away, Limited, Refused};
    let rest = |seconds| Limited(Some(Duration::from_secs(seconds)));
    for (failures, expected, cut) in [
        (vec![Away, Away, rest(2)], 6, None),
        (vec![rest(60)], 3, Some(Cut::Limited)),
        (vec![rest(4), rest(4), rest(4)], 3, Some(Cut::Limited)),
        (vec![Away; 50], 3, Some(Cut::Away)),
        (vec![Refused], 3, Some(Cut::Refused)),
        (vec![Limited(None)], 6, None),
        // No pause at all would be a loop.
        (vec![rest(0); 10_000], 3, Some(Cut::Limited)),
    ] {
        let began = Instant::now();
        let numbers = Numbers::new(6, &failures);
        let read = numbers.read(PageOrder::OldestFirst).await;
        assert_eq!(
            (read.items.len(), read.cut),
            (expected, cut),
            "{failures:?}"
        );
        assert!(began.elapsed() <= SMALL.time);
        assert!(*numbers.asked.borrow() <= 12, "{failures:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_never_comes_is_not_waited_for_and_no_cursor_is_followed_twice() {
    let silent = |at: Option<usize>| async move {
        if at.is_some() {
            std::future::pending::<()>().await;
        }
        Ok(Page {
            items: vec![1],
            next: Some(1),
        })
    };
    let read = read_pages(SMALL, PageOrder::OldestFirst, |_| 1, silent).await;
    assert_eq!((read.items, read.cut), (vec![1], Some(Cut::Away)));
    let round = |_: Option<usize>| async {
        Ok(Page {
            items: vec![1],
            next: Some(1),
        })
    };
    let read = read_pages(SMALL, PageOrder::OldestFirst, |_| 1, round).await;
    assert_eq!((read.items, read.cut), (vec![1, 1], None));
}

#[test]
fn what_is_large_has_its_place_at_the_ends_too() {
    let mut ends = Ends::new(100, 40);
    for (number, weight) in [(0, 8), (1, 8), (2, 10), (3, 30), (4, 5), (5, 90), (6, 5)] {
        ends.push(number, weight);
    }
    // A message that is larger than all of the room is left out, and those before it stay.
    let (first, left_out, last) = ends.into_parts();
    assert_eq!((first, last), (vec![0], vec![4, 6]));
    assert_eq!(left_out, 4);
}

#[test]
fn what_is_refused_or_too_much_is_not_read_by_another_attempt() {
    for (cut, expected) in [
        (Cut::TooMuch, false),
        (Cut::Refused, false),
        (Cut::Limited, true),
        (Cut::Away, true),
    ] {
        assert_eq!(cut.is_temporary(), expected, "{cut:?}");
    }
}

//! Converts a PDF to sections.

use super::outline::{Outline, Section};

/// Makes one section per page.
pub(super) fn outline(pages: Vec<String>) -> Outline {
    let section = |(at, body): (usize, String)| Section {
        level: 1,
        heading: format!("Page {}", at + 1),
        body,
        is_page: true,
        page: at + 1,
    };
    Outline {
        sections: pages.into_iter().enumerate().map(section).collect(),
        ..Outline::default()
    }
}

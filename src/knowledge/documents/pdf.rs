//! A PDF as sections.

use super::markdown::Section;
use crate::extract;

/// A section a page.
pub(super) fn pages(bytes: Vec<u8>) -> Result<Vec<Section>, String> {
    let section = |(at, body): (usize, String)| Section {
        level: 1,
        heading: format!("Page {}", at + 1),
        body,
        is_page: true,
        page: at + 1,
    };
    let pages = extract::pdf::pages(bytes)?;
    Ok(pages.into_iter().enumerate().map(section).collect())
}

//! Entry points for fuzzers: any input is parsed without a panic.

use muninn_platform::SafeText;
use serde_json::Value;

use crate::event::{Push, time_of};
use crate::{mrkdwn, text};

/// Parses a payload as each kind of request.
pub fn decode(payload: &Value) {
    let pushes = [
        Push::event(payload),
        Push::slash(payload),
        Push::interaction(payload),
    ];
    for push in pushes.into_iter().flatten() {
        // Errors are formatted, so formatting must not panic either.
        drop(format!("{push:?}"));
    }
}

/// Converts Markdown for Slack, in each of its dialects.
pub fn shown(markdown: &str) -> [String; 3] {
    let safe = SafeText::new(markdown);
    [
        mrkdwn::markdown(markdown),
        mrkdwn::mrkdwn(markdown),
        mrkdwn::fallback(&safe),
    ]
}

/// Parses Slack markup as the bot does.
pub fn read(written: &str) -> String {
    std::hint::black_box(time_of(written));
    std::hint::black_box(text::mentioned(written, 5));
    text::plain(written, "U1", &|id| {
        (id != "U404").then(|| format!("Ann {id}"))
    })
}

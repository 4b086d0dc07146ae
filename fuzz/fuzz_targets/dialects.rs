//! Converts Markdown to each platform's dialect: no panic, no ping that the text did not intend,
//! and only allowed tags for Matrix.

#![no_main]

use libfuzzer_sys::fuzz_target;
use muninn_platform::SafeText;

/// The tags that the Matrix specification allows clients to show.
const TAGS: [&str; 24] = [
    "a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong", "table",
    "tbody", "td", "th", "thead",
];

fuzz_target!(|text: &str| {
    let safe = SafeText::new(text);
    // Code is not changed: there the adapters prevent pings.
    let has_code = text.contains(['`', '~', '\t']) || text.contains("    ");
    for rings in ["@everyone", "@here", "<!channel>", "<!here>"] {
        assert!(has_code || !safe.as_str().contains(rings), "{rings} in {safe}");
    }
    let [_, mrkdwn, fallback] = muninn_slack::fuzzing::shown(safe.as_str());
    for shown in [mrkdwn, fallback] {
        assert!(!shown.contains("<!"), "{shown:?} rings");
    }
    let shown = muninn_discord::fuzzing::shown(safe.as_str());
    assert!(has_code || !shown.contains("@everyone"), "{shown:?} rings");
    let html = muninn_matrix::fuzzing::shown(safe.as_str());
    for tag in html.split('<').skip(1) {
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '>', '/']).next().unwrap_or_default();
        assert!(TAGS.contains(&name) || ["tr", "ul"].contains(&name), "<{name}> in {html:?}");
    }
});

//! Redaction removes secrets from any text, and is idempotent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use muninn_platform::redact::{is_redacted, without_secrets};

fuzz_target!(|text: &str| {
    let once = without_secrets(text);
    assert_eq!(without_secrets(&once), once, "out of {text:?}");
    assert!(once == text || is_redacted(&once), "{text:?} became {once:?}");
});

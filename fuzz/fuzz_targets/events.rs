//! Anything a platform sends is read or ignored, without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    muninn_webhook::fuzzing::decode(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    muninn_slack::fuzzing::read(text);
    muninn_matrix::fuzzing::decode(text);
    if let Ok(payload) = serde_json::from_str::<serde_json::Value>(text) {
        muninn_slack::fuzzing::decode(&payload);
        muninn_discord::fuzzing::decode(payload);
    }
});

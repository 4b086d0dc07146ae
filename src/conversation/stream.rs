//! Shows an answer as it grows, no faster than the platform allows.

use muninn_platform::{Reply, SafeText};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Runs `writing` to its end, and meanwhile shows `text` through `reply`: a typing indicator until there is text and
/// whenever no more arrives, and the text so far at the reply's pace. An update in progress is finished before this
/// returns, so that it cannot overtake what the caller sends next.
pub async fn show_while_writing<T>(
    reply: &mut dyn Reply,
    text: watch::Receiver<String>,
    writing: impl Future<Output = T>,
) -> T {
    let written = CancellationToken::new();
    let writing = async {
        let result = writing.await;
        written.cancel();
        result
    };
    tokio::join!(writing, pump(reply, text, &written)).0
}

async fn pump(
    reply: &mut dyn Reply,
    mut text: watch::Receiver<String>,
    written: &CancellationToken,
) {
    let pace = reply.pace();
    let mut shown = String::new();
    let mut due = Instant::now() + pace.working_every;
    // When a person last saw a sign of progress.
    let mut seen = Instant::now();
    loop {
        tokio::select! {
            biased;
            () = written.cancelled() => return,
            // The first text is shown at once, later text at the platform's pace.
            Ok(()) = text.changed(), if shown.is_empty() => {}
            () = sleep_until(due) => {}
        }
        let safe = SafeText::streaming(&text.borrow_and_update());
        if safe.as_str().trim().is_empty() {
            if Instant::now() >= due {
                reply.show_typing().await;
                seen = Instant::now();
                due = seen + pace.working_every;
            }
            continue;
        }
        if safe.as_str() != shown {
            reply.update(&safe).await;
            safe.as_str().clone_into(&mut shown);
            seen = Instant::now();
        } else if seen.elapsed() >= pace.working_every {
            // The model may be slow or be calling tools in the middle of its answer. Nobody should take this for the end.
            reply.show_typing().await;
            seen = Instant::now();
        }
        due = Instant::now() + pace.update_every;
    }
}

//! Errors in one line, for a log or a terminal.

use std::error::Error;

/// An error with its causes. A cause whose words its effect had already is not repeated.
pub fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let words = source.to_string();
        if !line.contains(&words) {
            line = format!("{line}: {words}");
        }
        cause = source.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Because(&'static str, #[source] Option<Box<Self>>);

    #[test]
    fn causes_follow_and_are_not_repeated() {
        let refused = || Box::new(Because("refused", None));
        let error = Because("cannot connect", Some(refused()));
        assert_eq!(in_one_line(&error), "cannot connect: refused");
        let error = Because("cannot connect: refused", Some(refused()));
        assert_eq!(in_one_line(&error), "cannot connect: refused");
    }
}

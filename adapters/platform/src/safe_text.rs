//! Text that pings nobody.

/// The only text that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeText(String);

impl SafeText {
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

//! The embedder shipped with the bot.

/// Embeds without any service.
#[derive(Debug)]
pub struct LocalEmbedder {
    name: String,
}

impl LocalEmbedder {
    /// The model in the binary.
    pub fn shipped() -> Result<Self, std::convert::Infallible> {
        Ok(Self {
            name: "local".to_owned(),
        })
    }

    /// Which model and version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A vector of length 1, or nothing where no word is known.
    pub fn embed(&self, _text: &str) -> Option<Vec<f32>> {
        None
    }
}

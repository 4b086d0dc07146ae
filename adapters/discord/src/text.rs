//! Markdown as a model writes it, turned into what Discord renders. Pure.
pub(crate) fn convert(text: &str) -> String {
    text.to_owned()
}

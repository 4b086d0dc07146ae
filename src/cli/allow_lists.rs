//! The allow lists of the running platforms.

use muninn_platform::{AllowEntry, AllowList};

type Replace = Box<dyn Fn(&str) -> Result<bool, String> + Send + Sync>;

/// The allow lists of the running platforms, by variable name.
#[derive(Default)]
pub(super) struct AllowLists(pub(super) Vec<(&'static str, Replace)>);

impl AllowLists {
    /// Adds an allow list.
    #[cfg_attr(
        not(any(feature = "discord", feature = "matrix", feature = "slack")),
        expect(dead_code, reason = "only these have one")
    )]
    pub(super) fn add<E>(&mut self, list: &AllowList<E>)
    where
        E: AllowEntry + PartialEq + Send + Sync + 'static,
    {
        let list = list.clone();
        let replace = move |text: &str| {
            let replaced = list.replace(text).map_err(|error| error.to_string());
            if replaced != Ok(false) {
                list.warn();
            }
            replaced
        };
        self.0.push((E::VARIABLE, Box::new(replace)));
    }
}

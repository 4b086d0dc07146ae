//! Limits where the links of an answer may lead, depending on its sources.
//!
//! Somebody who plants a text in a document, a file, a row or a heard channel may make a model write a link and put
//! what it knows into the address. So if a prompt contains anything of that kind, only hosts named by the people who
//! talk with the bot, or by its operator, become links. Any other address is shown as text.

use muninn_platform::LinkHosts;

use super::Evidence;
use crate::memory::Recalled;

/// Where links may lead, as far as it is known before anything is looked up.
#[derive(Clone, Debug, Default)]
pub struct LinkPolicy {
    /// Hosts named by the people who talk with the bot, or by its operator.
    pub hosts: LinkHosts,
    /// Whether the prompt already contains text that others wrote.
    pub is_limited: bool,
}

impl LinkPolicy {
    /// Adds recalled exchanges: the hosts in people's questions, and whether some were not said to the bot.
    pub fn add_recalled(&mut self, recalled: &[Recalled]) {
        for memory in recalled {
            if memory.is_message {
                self.is_limited = true;
            } else {
                self.hosts.add(&memory.input);
            }
            self.is_limited |= memory.trust.is_low();
        }
    }

    /// The hosts to which links may lead after these look-ups; `None` means any.
    pub fn after(&self, evidence: &Evidence) -> Option<LinkHosts> {
        let mut links = self.clone();
        links.add_recalled(&evidence.recalled);
        if !links.is_limited && !evidence.trust().is_low() {
            return None;
        }
        // Links of records were set by whoever ingested them, and appear in the list of sources too.
        let cited = evidence.cited.iter();
        cited
            .filter_map(|one| one.hit.link.as_deref())
            .for_each(|link| links.hosts.add(link));
        Some(links.hosts)
    }
}

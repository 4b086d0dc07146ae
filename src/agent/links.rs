//! Where the links of an answer may lead, by what it is made from.
//!
//! Whoever plants a text in a document, a file, a row or a channel that is heard may talk a model into a link, and into
//! putting what it knows into its address. So where a prompt holds anything of that kind, only hosts that were named by
//! those who talk with the bot, or who run it, make links; any other address is shown as text.

use muninn_platform::LinkHosts;

use super::Gathered;
use crate::memory::Recalled;

/// What is known of it before anything is looked up.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Named by those who talk with the bot, or who run it.
    pub hosts: LinkHosts,
    /// Something that others wrote is in the prompt already.
    pub is_limited: bool,
}

impl Links {
    /// Takes in what was recalled: what was asked, and what was not said to the bot.
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

    /// The hosts that links may lead to after so much was looked up; none where they may lead anywhere.
    pub fn after(&self, gathered: &Gathered) -> Option<LinkHosts> {
        let mut links = self.clone();
        links.add_recalled(&gathered.recalled);
        if !links.is_limited && !gathered.trust().is_low() {
            return None;
        }
        // Of a record, as whoever ingested it set it; they stand in the list of sources, too.
        let cited = gathered.cited.iter();
        cited
            .filter_map(|one| one.hit.link.as_deref())
            .for_each(|link| links.hosts.add(link));
        Some(links.hosts)
    }
}

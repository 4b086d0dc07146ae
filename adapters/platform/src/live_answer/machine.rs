//! Decides the next step for the messages of an answer. Pure: no clock, no text, no platform.

/// The messages of one answer, from its first words until it is complete or given up.
#[derive(Clone, Debug)]
pub struct LiveAnswer<M> {
    /// By part. `None`: this part is not posted, or was not found.
    standing: Vec<Option<M>>,
    /// They belong to an earlier answer, which stays if this one is given up.
    is_replacing: bool,
    /// Messages may exist that were not reported; they are searched before anything is posted.
    may_stand: bool,
    /// Some of those may have been posted by this reply.
    may_be_unheard: bool,
    /// The platform rejects the form of a growing answer.
    is_hidden: bool,
    finishing: Finishing<M>,
}

/// How far an answer is delivered.
#[derive(Clone, Debug)]
enum Finishing<M> {
    NotYet,
    Under {
        parts: usize,
        part: usize,
        /// The message of this part was posted just now.
        is_new: bool,
        /// It replaces a message that cannot be changed.
        stuck: Option<M>,
    },
}

/// What happened.
#[derive(Clone, Debug)]
pub enum LiveAnswerEvent<M> {
    /// There is more text.
    Grew,
    Shown(DisplayOutcome<M>),
    /// The text is complete, in so many parts; also sent again after a failure.
    Finish {
        parts: usize,
    },
    /// The result of a search, by part.
    Found(Vec<Option<M>>),
    Posted(M),
    Edited(Edited<M>),
    Deleted,
}

/// The result of showing a growing answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisplayOutcome<M> {
    As(M),
    /// Not now; try later.
    NotNow,
    /// Unknown: the platform did not confirm it. It is searched before anything else is posted.
    Unknown,
    /// Not confirmed either, but the platform recognises a repetition: it may be shown again.
    Repeatable,
    /// It cannot be shown, now or later.
    Refused,
}

/// The result of changing a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited<M> {
    As(M),
    /// The message is gone.
    Gone,
    /// The message exists as this, and cannot be changed.
    Stuck(M),
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveAnswerAction<M> {
    Nothing,
    /// Show the first part, in this message or a new one.
    Show(Option<M>),
    Find,
    Post {
        part: usize,
    },
    /// Change a message to this part, if it differs.
    Edit {
        message: M,
        part: usize,
    },
    Delete {
        message: M,
        /// Another message has the same content already, so it may stay.
        is_spare: bool,
    },
    /// Every part is posted, and nothing else is.
    Done,
}

/// What to remove of an answer that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedAnswer<M> {
    pub messages: Vec<M>,
    /// Messages may exist that were not reported.
    pub unheard: bool,
}

impl<M: Clone> Default for LiveAnswer<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Clone> LiveAnswer<M> {
    pub fn new() -> Self {
        Self {
            standing: Vec::new(),
            is_replacing: false,
            may_stand: false,
            may_be_unheard: false,
            is_hidden: false,
            finishing: Finishing::NotYet,
        }
    }

    /// Makes the answer replace an earlier one. Call it before anything else, or not at all.
    pub fn replace(&mut self, earlier: Vec<M>) {
        self.standing = earlier.into_iter().map(Some).collect();
        self.is_replacing = true;
    }

    /// Tells that an earlier process may have posted the answer, wholly or in part.
    pub fn expect_earlier(&mut self) {
        self.may_stand = true;
    }

    /// Returns its first message, if it is posted.
    pub fn first(&self) -> Option<&M> {
        self.standing.first()?.as_ref()
    }

    /// Returns the posted messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &M> {
        self.standing.iter().flatten()
    }

    /// Returns the next step after an event.
    pub fn step(&mut self, event: LiveAnswerEvent<M>) -> LiveAnswerAction<M> {
        match event {
            LiveAnswerEvent::Grew => self.grew(),
            LiveAnswerEvent::Shown(shown) => self.shown(shown),
            LiveAnswerEvent::Finish { parts } => self.finish(parts),
            LiveAnswerEvent::Found(found) => {
                self.may_stand = false;
                self.standing = found;
                self.next_part()
            }
            LiveAnswerEvent::Posted(message) => self.posted(message),
            LiveAnswerEvent::Edited(edited) => self.edited(edited),
            LiveAnswerEvent::Deleted => self.next_part(),
        }
    }

    fn grew(&self) -> LiveAnswerAction<M> {
        // An earlier answer is not changed for one that may be given up. Messages that may exist
        // already are searched when the text is complete.
        let is_earlier = self.is_replacing && !self.standing.is_empty();
        let waits = self.may_stand && self.standing.is_empty();
        match self.finishing {
            Finishing::NotYet if !is_earlier && !waits && !self.is_hidden => {
                LiveAnswerAction::Show(self.first().cloned())
            }
            Finishing::NotYet | Finishing::Under { .. } => LiveAnswerAction::Nothing,
        }
    }

    fn shown(&mut self, shown: DisplayOutcome<M>) -> LiveAnswerAction<M> {
        match shown {
            DisplayOutcome::As(message) => {
                self.standing = vec![Some(message)];
                self.is_replacing = false;
            }
            DisplayOutcome::NotNow => {}
            DisplayOutcome::Unknown => {
                self.may_stand = true;
                self.may_be_unheard = true;
            }
            DisplayOutcome::Repeatable => self.may_be_unheard = true,
            DisplayOutcome::Refused => self.is_hidden = true,
        }
        LiveAnswerAction::Nothing
    }

    fn finish(&mut self, parts: usize) -> LiveAnswerAction<M> {
        self.finishing = Finishing::Under {
            parts,
            part: 0,
            is_new: false,
            stuck: None,
        };
        if self.may_stand && self.standing.is_empty() {
            LiveAnswerAction::Find
        } else {
            self.next_part()
        }
    }

    fn posted(&mut self, message: M) -> LiveAnswerAction<M> {
        let Finishing::Under { part, is_new, .. } = &mut self.finishing else {
            return LiveAnswerAction::Nothing;
        };
        *is_new = true;
        let part = *part;
        // From here on this message belongs to the answer, whatever fails.
        if self.standing.len() <= part {
            self.standing.resize(part + 1, None);
        }
        self.standing[part] = Some(message.clone());
        // It may have existed before, with other content.
        LiveAnswerAction::Edit { message, part }
    }

    fn edited(&mut self, edited: Edited<M>) -> LiveAnswerAction<M> {
        let Finishing::Under {
            part,
            is_new,
            stuck,
            ..
        } = &mut self.finishing
        else {
            return LiveAnswerAction::Nothing;
        };
        match edited {
            Edited::As(message) => self.standing[*part] = Some(message),
            // Trying again would not help.
            Edited::Gone | Edited::Stuck(_) if *is_new => {}
            Edited::Gone => {
                self.standing[*part] = None;
                return LiveAnswerAction::Post { part: *part };
            }
            Edited::Stuck(message) => {
                *stuck = Some(message);
                return LiveAnswerAction::Post { part: *part };
            }
        }
        (*part, *is_new) = (*part + 1, false);
        match stuck.take() {
            Some(message) => LiveAnswerAction::Delete {
                message,
                is_spare: true,
            },
            None => self.next_part(),
        }
    }

    fn next_part(&mut self) -> LiveAnswerAction<M> {
        let Finishing::Under { parts, part, .. } = self.finishing else {
            return LiveAnswerAction::Nothing;
        };
        if part < parts {
            return match self.standing.get(part).cloned().flatten() {
                Some(message) => LiveAnswerAction::Edit { message, part },
                None => LiveAnswerAction::Post { part },
            };
        }
        while self.standing.len() > parts {
            if let Some(message) = self.standing.pop().flatten() {
                return LiveAnswerAction::Delete {
                    message,
                    is_spare: false,
                };
            }
        }
        LiveAnswerAction::Done
    }

    /// Leaves the posted messages to somebody else.
    pub fn leave_messages_posted(&mut self) {
        self.finishing = Finishing::Under {
            parts: 0,
            part: 0,
            is_new: false,
            stuck: None,
        };
    }

    /// The reply is dropped: returns what to remove. Nothing if it was being delivered, because the
    /// next delivery completes it.
    pub fn give_up(&mut self) -> AbandonedAnswer<M> {
        let is_finished = matches!(self.finishing, Finishing::Under { .. });
        let standing = std::mem::take(&mut self.standing).into_iter().flatten();
        AbandonedAnswer {
            messages: standing
                .filter(|_| !is_finished && !self.is_replacing)
                .collect(),
            unheard: self.may_be_unheard && !is_finished,
        }
    }
}

#[cfg(test)]
mod tests;

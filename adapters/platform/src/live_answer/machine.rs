//! What is done next about the messages of an answer. Pure: no clock, no text, no platform.

/// The messages of one answer, from its first words to its last, or until it is given up.
#[derive(Clone, Debug)]
pub struct LiveAnswer<M> {
    /// By their part. None: this part does not stand, or was not found.
    standing: Vec<Option<M>>,
    /// They are those of an earlier answer, which stays if this one is given up.
    is_replacing: bool,
    /// Messages may stand that nobody told us of; they are looked for before anything is posted.
    may_stand: bool,
    /// Of those, some were posted by this reply.
    may_be_unheard: bool,
    /// The platform refuses what an answer that grows looks like.
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
        /// It takes the place of one that cannot be changed.
        stuck: Option<M>,
    },
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Event<M> {
    /// There is more text.
    Grew,
    Shown(Shown<M>),
    /// The text is whole, in so many parts; also again, after something failed.
    Finish {
        parts: usize,
    },
    /// What was looked for, by its part.
    Found(Vec<Option<M>>),
    Posted(M),
    Edited(Edited<M>),
    Deleted,
}

/// What came of showing an answer that grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown<M> {
    As(M),
    /// Another time.
    NotNow,
    /// It may stand: the platform did not say.
    Unknown,
    /// It cannot be shown, now or later.
    Refused,
}

/// What came of giving a message another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited<M> {
    As(M),
    /// It is there no more.
    Gone,
    /// It stands as this, and cannot be changed.
    Stuck(M),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<M> {
    Nothing,
    /// Show the first part, in this message or a new one.
    Show(Option<M>),
    Find,
    Post {
        part: usize,
    },
    /// Let a message say this part, if it does not yet.
    Edit {
        message: M,
        part: usize,
    },
    Delete {
        message: M,
        /// Another message says the same already, so it may stay.
        is_spare: bool,
    },
    /// Every part stands, and nothing else does.
    Done,
}

/// What is to be taken away of an answer that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp<M> {
    pub messages: Vec<M>,
    /// There may be messages that nobody told us of.
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

    /// The answer takes the place of an earlier one. Before anything else, or not at all.
    pub fn replace(&mut self, earlier: Vec<M>) {
        self.standing = earlier.into_iter().map(Some).collect();
        self.is_replacing = true;
    }

    /// An earlier process may have posted the answer, wholly or in part.
    pub fn expect_earlier(&mut self) {
        self.may_stand = true;
    }

    /// The message it begins with, where one stands.
    pub fn first(&self) -> Option<&M> {
        self.standing.first()?.as_ref()
    }

    /// The messages that stand, in their order.
    pub fn messages(&self) -> impl Iterator<Item = &M> {
        self.standing.iter().flatten()
    }

    /// Says what to do next.
    pub fn step(&mut self, event: Event<M>) -> Action<M> {
        match event {
            Event::Grew => self.grew(),
            Event::Shown(shown) => self.shown(shown),
            Event::Finish { parts } => self.finish(parts),
            Event::Found(found) => {
                self.may_stand = false;
                self.standing = found;
                self.next_part()
            }
            Event::Posted(message) => self.posted(message),
            Event::Edited(edited) => self.edited(edited),
            Event::Deleted => self.next_part(),
        }
    }

    fn grew(&self) -> Action<M> {
        // An earlier answer is not undone for one that may be given up, and what may stand already is
        // looked at when the text is whole.
        let is_earlier = self.is_replacing && !self.standing.is_empty();
        let waits = self.may_stand && self.standing.is_empty();
        match self.finishing {
            Finishing::NotYet if !is_earlier && !waits && !self.is_hidden => {
                Action::Show(self.first().cloned())
            }
            Finishing::NotYet | Finishing::Under { .. } => Action::Nothing,
        }
    }

    fn shown(&mut self, shown: Shown<M>) -> Action<M> {
        match shown {
            Shown::As(message) => {
                self.standing = vec![Some(message)];
                self.is_replacing = false;
            }
            Shown::NotNow => {}
            Shown::Unknown => {
                self.may_stand = true;
                self.may_be_unheard = true;
            }
            Shown::Refused => self.is_hidden = true,
        }
        Action::Nothing
    }

    fn finish(&mut self, parts: usize) -> Action<M> {
        self.finishing = Finishing::Under {
            parts,
            part: 0,
            is_new: false,
            stuck: None,
        };
        if self.may_stand && self.standing.is_empty() {
            Action::Find
        } else {
            self.next_part()
        }
    }

    fn posted(&mut self, message: M) -> Action<M> {
        let Finishing::Under { part, is_new, .. } = &mut self.finishing else {
            return Action::Nothing;
        };
        *is_new = true;
        let part = *part;
        // Whatever fails from here on, this message is the answer's.
        if self.standing.len() <= part {
            self.standing.resize(part + 1, None);
        }
        self.standing[part] = Some(message.clone());
        // It may have been there already, and say something else.
        Action::Edit { message, part }
    }

    fn edited(&mut self, edited: Edited<M>) -> Action<M> {
        let Finishing::Under {
            part,
            is_new,
            stuck,
            ..
        } = &mut self.finishing
        else {
            return Action::Nothing;
        };
        match edited {
            Edited::As(message) => self.standing[*part] = Some(message),
            // Once more would be no better.
            Edited::Gone | Edited::Stuck(_) if *is_new => {}
            Edited::Gone => {
                self.standing[*part] = None;
                return Action::Post { part: *part };
            }
            Edited::Stuck(message) => {
                *stuck = Some(message);
                return Action::Post { part: *part };
            }
        }
        (*part, *is_new) = (*part + 1, false);
        match stuck.take() {
            Some(message) => Action::Delete {
                message,
                is_spare: true,
            },
            None => self.next_part(),
        }
    }

    fn next_part(&mut self) -> Action<M> {
        let Finishing::Under { parts, part, .. } = self.finishing else {
            return Action::Nothing;
        };
        if part < parts {
            return match self.standing.get(part).cloned().flatten() {
                Some(message) => Action::Edit { message, part },
                None => Action::Post { part },
            };
        }
        while self.standing.len() > parts {
            if let Some(message) = self.standing.pop().flatten() {
                return Action::Delete {
                    message,
                    is_spare: false,
                };
            }
        }
        Action::Done
    }

    /// Whatever stands is seen to by somebody else.
    pub fn keep(&mut self) {
        self.finishing = Finishing::Under {
            parts: 0,
            part: 0,
            is_new: false,
            stuck: None,
        };
    }

    /// The reply is dropped: what is to be taken away. Nothing where it was being delivered, for then
    /// it is completed when it is delivered again.
    pub fn give_up(&mut self) -> GivenUp<M> {
        let is_finished = matches!(self.finishing, Finishing::Under { .. });
        let standing = std::mem::take(&mut self.standing).into_iter().flatten();
        GivenUp {
            messages: standing
                .filter(|_| !is_finished && !self.is_replacing)
                .collect(),
            unheard: self.may_be_unheard && !is_finished,
        }
    }
}

#[cfg(test)]
mod tests;

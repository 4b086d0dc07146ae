//! From the indexes of the audiences and a question to the exchanges that help to answer it.

pub mod cache;
pub(in crate::memory) mod calibration;
pub mod calibration_file;
pub(in crate::memory) mod candidates;
pub(in crate::memory) mod feature_values;
pub(in crate::memory) mod features;
pub(in crate::memory) mod history;
pub(in crate::memory) mod index;
pub(in crate::memory) mod limits;
pub(in crate::memory) mod quote;
pub(in crate::memory) mod rank;
pub(in crate::memory) mod recaller;
pub(in crate::memory) mod recent;
pub(in crate::memory) mod shortlist;
pub(in crate::memory) mod talk;
pub(in crate::memory) mod talk_relation;

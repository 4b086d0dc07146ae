//! The sources that were found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::graph::ingest::PropertyOrder;
use crate::knowledge::anonymise::Anonymiser;
use crate::knowledge::mapping::Mapping;

/// Number of records in which a mapping's fields are checked before anything is written.
pub(super) const LOOKED_AT: usize = 2_000;

/// What a source consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    Documents,
    Conversations,
    Records(Box<Mapping>),
}

impl SourceKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Conversations => "conversations",
            Self::Records(_) => "records",
        }
    }

    pub fn mapping_name(&self) -> &str {
        match self {
            Self::Documents | Self::Conversations => "",
            Self::Records(mapping) => &mapping.name,
        }
    }

    /// Returns the order in which people see the properties of each label; empty for no particular
    /// order.
    pub fn property_order(&self) -> PropertyOrder {
        match self {
            Self::Documents | Self::Conversations => PropertyOrder::new(),
            Self::Records(mapping) => mapping.property_order(),
        }
    }
}

/// The files of a source.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub kind: SourceKind,
    pub(super) files: Vec<SourceFile>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Anonymises what is read.
    pub(super) anonymiser: Option<Arc<Anonymiser>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    /// Its name within the source.
    pub(super) key: String,
    /// Its address for people, if that is not its name.
    pub(super) link: Option<String>,
    pub(super) bytes: u64,
}

pub(super) fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

//! What the tools of one turn work with.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use muninn_platform::IncomingMessage;

use super::outside::OutsideTool;
use super::search_knowledge::Knowledge;
use super::toolbox::{OfferedTools, Toolbox};
use crate::agent::model_session::ModelSession;
use crate::agent::prompts::Prompts;
use crate::graph::{GraphStore, ResponseId};
use crate::memory::Recaller;

/// The tools of one turn.
#[derive(Debug)]
pub struct Tools<'a> {
    pub models: &'a ModelSession<'a>,
    pub prompts: &'a Prompts,
    pub recaller: &'a Recaller,
    /// `None` while it is away.
    pub store: Option<&'a GraphStore>,
    /// The message being answered. It determines whose memory and which knowledge may be searched.
    pub message: &'a IncomingMessage,
    /// Turns that the model already sees.
    pub shown: Vec<ResponseId>,
    pub toolbox: &'a Toolbox,
    /// `None` if there is no knowledge to query.
    pub offer: Option<Arc<OfferedTools>>,
    /// `None` if nothing was ingested that this audience may see.
    pub knowledge: Option<Knowledge<'a>>,
    /// The outside tools.
    pub outside: Vec<Arc<dyn OutsideTool>>,
    /// Names of the tools that may be called here; `None` means all.
    pub allowed: Option<&'a [String]>,
    /// Strict grounding: a direct answer is a call too.
    pub is_strict: bool,
    /// Whether a call was proposed in this turn.
    pub has_proposed: AtomicBool,
}

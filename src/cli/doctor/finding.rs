//! What a check found.

use muninn_platform::{CheckStatus, in_one_line, one_line};
use serde::{Deserialize, Serialize};

/// A finding as printed, and as `--json` gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct PrintedFinding {
    pub(super) part: String,
    pub(super) verdict: VerdictLabel,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum VerdictLabel {
    Ok,
    Note,
    Problem,
}

impl From<DoctorFinding> for PrintedFinding {
    fn from(finding: DoctorFinding) -> Self {
        Self {
            part: finding.part.to_owned(),
            verdict: match finding.verdict {
                CheckStatus::Ok => VerdictLabel::Ok,
                CheckStatus::Warning => VerdictLabel::Note,
                CheckStatus::Error => VerdictLabel::Problem,
            },
            // A finding is one line, also for multi-line errors of drivers.
            text: one_line(&finding.text),
        }
    }
}

impl PrintedFinding {
    pub(super) fn line(&self) -> String {
        let mark = match self.verdict {
            VerdictLabel::Ok => "ok     ",
            VerdictLabel::Note => "note   ",
            VerdictLabel::Problem => "PROBLEM",
        };
        format!("{mark}  {}: {}", self.part, self.text)
    }
}

/// One finding.
pub(super) struct DoctorFinding {
    pub(super) part: &'static str,
    pub(super) verdict: CheckStatus,
    pub(super) text: String,
}

pub(super) fn note(part: &'static str, text: String) -> DoctorFinding {
    DoctorFinding {
        part,
        verdict: CheckStatus::Warning,
        text,
    }
}

pub(super) fn as_ours(
    part: &'static str,
    finding: muninn_platform::SelfCheckFinding,
) -> DoctorFinding {
    let muninn_platform::SelfCheckFinding { verdict, text } = finding;
    DoctorFinding {
        part,
        verdict,
        text,
    }
}

pub(super) fn well(part: &'static str, text: impl Into<String>) -> DoctorFinding {
    DoctorFinding {
        part,
        verdict: CheckStatus::Ok,
        text: text.into(),
    }
}

/// An error with its causes, in one line.
pub(super) fn wrong(part: &'static str, error: &dyn std::error::Error) -> DoctorFinding {
    DoctorFinding {
        part,
        verdict: CheckStatus::Error,
        text: in_one_line(error),
    }
}

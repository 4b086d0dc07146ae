//! What a report says.

use muninn::memory::evaluation::compare;
use muninn::memory::evaluation::compare::{ComparisonResult, Difference};
use muninn::memory::evaluation::report::Report;

/// The results of a report.
pub(super) struct ReportFindings {
    /// Sentences about what is broken.
    pub(super) broken: Vec<String>,
    /// Sentences about improvements, or about the report.
    pub(super) advice: Vec<String>,
    /// The first run compared with the second.
    pub(super) with: Vec<Difference>,
    /// The report compared with an earlier one.
    pub(super) against: Option<Vec<Difference>>,
}

impl ReportFindings {
    pub(super) fn of(report: &Report, before: Option<&Report>) -> Self {
        let problems = report.runs.iter().flat_map(|run| {
            let name = &run.embedder.name;
            let problems = run.embedder.problems().into_iter();
            problems.map(move |problem| format!("the embedder {name} is broken: {problem}"))
        });
        let with = match &report.runs[..] {
            [deployed, other, ..] => compare::runs(deployed, other),
            [] | [_] => Vec::new(),
        };
        Self {
            broken: problems.collect(),
            advice: advice(report, before),
            with,
            against: before.map(|before| compare::reports(before, report)),
        }
    }

    /// Returns what is worse than before.
    pub(super) fn regressions(&self) -> impl Iterator<Item = &Difference> {
        let all = self.against.iter().flatten();
        all.filter(|it| it.verdict == ComparisonResult::Worse)
    }

    pub(super) fn is_well(&self) -> bool {
        self.broken.is_empty() && self.regressions().next().is_none()
    }
}

pub(super) fn advice(report: &Report, before: Option<&Report>) -> Vec<String> {
    let mut advice = Vec::new();
    let Some(run) = report.runs.first() else {
        return advice;
    };
    let has = run.embedder.has_vector;
    if has.value().is_some_and(|part| part < 0.9) {
        advice.push(format!(
            "{} of {} exchanges have no vector of the embedder in use, so only their words are found; run `muninn reembed`",
            has.whole - has.part,
            has.whole
        ));
    }
    if run.is_by_words {
        advice.push(
            "the embedding service was not asked, so questions were asked again by their words alone; pass --embed to ask it"
                .to_owned(),
        );
    }
    if run.replayed.is_empty() {
        advice.push(
            "no question tells what should be found for it; labelled ones do (--labels)".to_owned(),
        );
    } else if run.replayed.len() < compare::MIN_SAMPLE_SIZE {
        advice.push(format!(
            "only {} of the questions tell what should be found for them; labelled ones say more (--labels)",
            run.replayed.len()
        ));
    }
    let by_words = |report: &Report| report.runs.first().map(|run| run.is_by_words);
    if before.is_some_and(|before| by_words(before) != by_words(report)) {
        advice.push(
            "the earlier report was made with --embed and this one without, or the other way round, so questions are not compared"
                .to_owned(),
        );
    }
    advice
}

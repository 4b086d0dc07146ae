//! Shrinks plans. Pure, except for running one to see whether it still fails.

use crate::plan::SimulationPlan;

impl SimulationPlan {
    /// Returns the size of a plan.
    pub(crate) fn weight(&self) -> usize {
        let steps: usize = self.channels.iter().map(Vec::len).sum();
        self.faults.len() * 2 + steps + self.processes
    }

    /// Returns smaller plans, the smallest first.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let of_channels = without(&self.channels).map(|channels| Self {
            channels,
            ..self.clone()
        });
        let of_faults = without(&self.faults).map(|faults| Self {
            faults,
            ..self.clone()
        });
        let of_steps = self.channels.iter().enumerate().flat_map(|(at, steps)| {
            without(steps).map(move |steps| {
                let mut channels = self.channels.clone();
                channels[at] = steps;
                Self {
                    channels,
                    ..self.clone()
                }
            })
        });
        let of_processes = (self.processes > 1).then(|| Self {
            processes: self.processes - 1,
            ..self.clone()
        });
        let all = of_channels.chain(of_faults).chain(of_steps);
        let mut all: Vec<Self> = all.chain(of_processes).collect();
        all.retain(|plan| plan.channels.iter().any(|steps| !steps.is_empty()));
        all.sort_by_key(Self::weight);
        all.dedup();
        all
    }
}

/// Returns the list without one half, without one quarter, … without one item.
fn without<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    let lengths = std::iter::successors(Some(all.len().div_ceil(2)), |length| {
        (*length > 1).then(|| length.div_ceil(2))
    });
    lengths
        .filter(|length| *length > 0)
        .flat_map(move |length| {
            (0..all.len()).step_by(length).map(move |from| {
                let to = (from + length).min(all.len());
                [&all[..from], &all[to..]].concat()
            })
        })
}

/// Returns the smallest plan that still fails, within so many attempts. A plan depends on timing
/// and may fail only sometimes, so each is tried several times.
pub(crate) async fn shrunk(
    plan: SimulationPlan,
    mut attempts: usize,
    fails: impl AsyncFn(&SimulationPlan) -> bool,
) -> SimulationPlan {
    let mut smallest = plan;
    'shrinking: loop {
        for smaller in smallest.smaller() {
            for _ in 0..2 {
                if attempts == 0 {
                    return smallest;
                }
                attempts -= 1;
                if fails(&smaller).await {
                    smallest = smaller;
                    continue 'shrinking;
                }
            }
        }
        return smallest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Fault, GraphKind, Host, Platform, Step};

    #[tokio::test]
    async fn what_has_nothing_to_do_with_the_failure_is_left_out() {
        let has = |plan: &SimulationPlan| {
            let mut steps = plan.channels.iter().flatten();
            let kills = plan.faults.iter();
            let kills = kills.filter(|it| matches!(it.fault, Fault::Kill { .. }));
            steps.any(|step| matches!(step, Step::Edit { .. })) && kills.count() > 0
        };
        let mut plans = (0..500).map(|seed| {
            SimulationPlan::of_seed(seed, Host::Program, Platform::Webhook, GraphKind::Neo4j)
        });
        let plan = plans.find(|plan| has(plan)).unwrap();
        let smallest = shrunk(plan, 10_000, async |plan| has(plan)).await;
        assert_eq!(smallest.processes, 1);
        assert_eq!(smallest.faults.len(), 1);
        assert_eq!(
            smallest.channels.iter().flatten().count(),
            1,
            "{smallest:?}"
        );
    }
}

//! The page with the bot's health and usage, for the operator.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::extract::Query;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{Days, Utc};
use minijinja::{Value, context};
use muninn_platform::CheckStatus;
use serde::Deserialize;

use super::visitor::{Operator, PageProblem, Visitor};
use crate::graph::spending::DayOfAnswers;
use crate::llm::Money;

use super::operating::PartFinding;

/// Number of days shown.
const DAYS: u64 = 30;
/// Number of people and places shown: those with the highest usage.
const MAX_SHOWN: usize = 10;
/// Width of a bar, and height of the highest one, in units of the plot.
const BAR: usize = 20;
const HEIGHT: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HealthForm {
    /// `yes`: also checks models and platforms, which may take seconds.
    check: String,
}

pub(super) async fn health(
    Operator(visitor): Operator,
    Query(form): Query<HealthForm>,
) -> Response {
    let shown = state(&visitor, form.check == "yes").await;
    visitor.render_page("health.html", shown)
}

pub(super) async fn read_again(Operator(visitor): Operator) -> Response {
    visitor.web.data.operating.read_again();
    Redirect::to("/health").into_response()
}

async fn state(visitor: &Visitor, is_checked: bool) -> Result<Value, PageProblem> {
    let data = &visitor.web.data;
    let health = data.store.health().await?;
    let today = Utc::now().date_naive();
    let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
    let since = first.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc();
    let answers = data.store.days_of_answers(since).await?;
    let recalled = data.store.days_of_recall(since).await?;
    let days: Vec<String> = first
        .iter_days()
        .take_while(|day| *day <= today)
        .map(|day| day.to_string())
        .collect();
    let findings = match is_checked {
        true => data.operating.findings().await,
        false => Vec::new(),
    };
    let findings: Vec<Value> = findings.iter().map(finding).collect();
    let changes = data.operating.changes();
    let errors: Vec<Value> = data
        .errors
        .of_last_day(Utc::now())
        .into_iter()
        .map(|error| context! { at => error.at.to_rfc3339(), part => error.part, text => error.text })
        .collect();
    Ok(context! {
        engine => health.engine, schema => health.schema_version,
        sessions => health.sessions, turns => health.turns,
        warnings => [health.missing, health.warnings].concat(),
        waiting => data.archive.waiting(), is_away => data.archive.is_away(),
        under_way => visitor.web.bot_connection.running_tasks(),
        plots => plots(&days, &answers, &recalled),
        people => shares(&answers, |it| it.person.clone()),
        places => shares(&answers, |it| format!("{} ({})", it.place, it.platform)),
        findings, is_checked, errors,
        used => changes.used, next => changes.waiting, problems => changes.problems,
    })
}

fn finding(found: &PartFinding) -> Value {
    let verdict = match found.verdict {
        CheckStatus::Ok => "verdict_ok",
        CheckStatus::Warning => "verdict_note",
        CheckStatus::Error => "verdict_problem",
    };
    context! { part => found.part, verdict, text => found.text }
}

/// Bars by day, and a table with the same data.
fn plots(
    days: &[String],
    answers: &[DayOfAnswers],
    recalled: &BTreeMap<String, u64>,
) -> Vec<Value> {
    let by_day = |of: &dyn Fn(&DayOfAnswers) -> u64| -> Vec<u64> {
        let of_day = |day: &String| answers.iter().filter(|it| it.day == *day).map(of).sum();
        days.iter().map(of_day).collect()
    };
    let counts = by_day(&|it| it.answers);
    let durations = by_day(&|it| it.duration_ms);
    let mean = durations.iter().zip(&counts);
    let mean: Vec<u64> = mean.map(|(ms, count)| ms / (*count).max(1)).collect();
    let recalled: Vec<u64> = days
        .iter()
        .map(|day| recalled.get(day).copied().unwrap_or_default())
        .collect();
    let plain = |value: u64| value.to_string();
    let money = |value: u64| Money(value).to_string();
    let seconds = |ms: u64| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
    [
        plot("plot_answers", days, &counts, plain),
        plot("plot_recalled", days, &recalled, plain),
        plot("plot_cost", days, &by_day(&|it| it.cost_micros), money),
        plot("plot_tokens", days, &by_day(&|it| it.tokens), plain),
        plot("plot_seconds", days, &mean, seconds),
    ]
    .into()
}

/// One plot. A day without data has no bar.
fn plot(
    name: &'static str,
    days: &[String],
    values: &[u64],
    said: impl Fn(u64) -> String,
) -> Value {
    let highest = values.iter().copied().max().unwrap_or_default().max(1);
    let mut path = String::new();
    for (at, value) in values.iter().enumerate().filter(|(_, value)| **value > 0) {
        // Rounded up, so that small values are visible too.
        let height = (value * HEIGHT as u64).div_ceil(highest);
        let left = at * BAR + 2;
        let _ = write!(path, "M{left} {HEIGHT}v-{height}h{}v{height}z", BAR - 4);
    }
    let rows: Vec<Value> = days
        .iter()
        .zip(values)
        .filter(|(_, value)| **value > 0)
        .map(|(day, value)| context! { day, value => said(*value) })
        .collect();
    context! {
        name, path, rows, width => days.len() * BAR, height => HEIGHT, highest => said(highest),
        first => days.first(), last => days.last(),
    }
}

/// Those with the highest usage.
fn shares(answers: &[DayOfAnswers], of: impl Fn(&DayOfAnswers) -> String) -> Vec<Value> {
    let mut all: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for day in answers {
        let (answers, tokens, cost) = all.entry(of(day)).or_default();
        *answers += day.answers;
        *tokens += day.tokens;
        *cost += day.cost_micros;
    }
    let mut all: Vec<(String, (u64, u64, u64))> = all.into_iter().collect();
    all.sort_by_key(|(_, (answers, tokens, cost))| std::cmp::Reverse((*cost, *tokens, *answers)));
    all.truncate(MAX_SHOWN);
    all.into_iter()
        .map(|(name, (answers, tokens, cost))| {
            context! { name, answers, tokens, cost => Money(cost).to_string() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_fills_the_plot_and_a_day_without_has_none() {
        let days = ["2026-11-22", "2026-11-23", "2026-11-24"].map(str::to_owned);
        let plot = plot("plot_answers", &days, &[1, 0, 200], |it| it.to_string());
        let path = plot.get_attr("path").unwrap();
        assert_eq!(path.as_str(), Some("M2 100v-1h16v1zM42 100v-100h16v100z"));
        assert_eq!(plot.get_attr("rows").unwrap().len(), Some(2));
    }

    #[test]
    fn those_who_took_the_most_come_first() {
        let day = |person: &str, cost_micros| DayOfAnswers {
            person: person.to_owned(),
            cost_micros,
            answers: 1,
            ..DayOfAnswers::default()
        };
        let all = [day("ann", 1), day("bob", 5), day("ann", 2)];
        let shares = shares(&all, |it| it.person.clone());
        let said: Vec<String> = shares
            .iter()
            .map(|it| {
                let name = it.get_attr("name").unwrap();
                format!("{name} {}", it.get_attr("answers").unwrap())
            })
            .collect();
        assert_eq!(said, ["bob 1", "ann 2"]);
    }
}

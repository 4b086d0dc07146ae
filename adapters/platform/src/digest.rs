//! When a channel gets its digest. Pure.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, TimeZone as _, Utc, Weekday};
use serde::Deserialize;

use crate::TimeZone;

/// A weekly schedule: `Mon 09:00 Europe/Berlin`, `Mon,Thu 09:00`, `weekdays 17:30`, `daily 08:00
/// Asia/Tokyo`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct DigestSchedule {
    days: Vec<Weekday>,
    time: NaiveTime,
    /// `None`: the time zone of the channel.
    zone: Option<TimeZone>,
}

/// It is no schedule.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0:?} is no schedule; write days, a time and, if you like, a time zone, such as \"Mon 09:00 Europe/Berlin\", \"Mon,Thu 17:30\", \"weekdays 09:00\" or \"daily 08:00\""
)]
pub struct NoSchedule(String);

const WEEK: [Weekday; 7] = [
    Weekday::Mon,
    Weekday::Tue,
    Weekday::Wed,
    Weekday::Thu,
    Weekday::Fri,
    Weekday::Sat,
    Weekday::Sun,
];

impl FromStr for DigestSchedule {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Self, NoSchedule> {
        Self::parse(text).ok_or_else(|| NoSchedule(text.to_owned()))
    }
}

impl TryFrom<String> for DigestSchedule {
    type Error = NoSchedule;

    fn try_from(text: String) -> Result<Self, NoSchedule> {
        text.parse()
    }
}

impl fmt::Display for DigestSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = match self.days.as_slice() {
            days if days == WEEK => "daily".to_owned(),
            days if days == &WEEK[..5] => "weekdays".to_owned(),
            days => {
                let days = days.iter().map(Weekday::to_string);
                days.collect::<Vec<_>>().join(",")
            }
        };
        write!(f, "{days} {}", self.time.format("%H:%M"))?;
        match self.zone {
            Some(zone) => write!(f, " {zone}"),
            None => Ok(()),
        }
    }
}

impl DigestSchedule {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let days = match words.next()?.to_lowercase().as_str() {
            "daily" => WEEK.to_vec(),
            "weekdays" => WEEK[..5].to_vec(),
            days => {
                let days = days.split(',').map(|day| day.trim().parse().ok());
                days.collect::<Option<Vec<Weekday>>>()?
            }
        };
        let time = NaiveTime::parse_from_str(words.next()?, "%H:%M").ok()?;
        let zone = match words.next() {
            Some(zone) => Some(zone.parse().ok()?),
            None => None,
        };
        words.next().is_none().then_some(Self { days, time, zone })
    }

    /// Returns the latest scheduled time that has passed; `zone` applies where the schedule names
    /// none.
    pub fn last(&self, now: DateTime<Utc>, zone: TimeZone) -> DateTime<Utc> {
        let zone = self.zone.unwrap_or(zone);
        let today = now.with_timezone(&zone).date_naive();
        let days = (0..=7).filter_map(|ago| today.checked_sub_days(Days::new(ago)));
        let due = days.filter(|day| self.days.contains(&chrono::Datelike::weekday(day)));
        let mut times = due.map(|day| local_time(day, self.time, zone));
        // There is at least one day, and a week has all of them.
        times
            .find(|time| *time <= now)
            .unwrap_or(DateTime::UNIX_EPOCH)
    }

    /// Returns the scheduled time before the given one.
    pub fn before(&self, time: DateTime<Utc>, zone: TimeZone) -> DateTime<Utc> {
        self.last(time - TimeDelta::seconds(1), zone)
    }
}

/// When a day begins in a time zone.
pub fn midnight(day: NaiveDate, zone: TimeZone) -> DateTime<Utc> {
    local_time(day, NaiveTime::MIN, zone)
}

/// A local time of a day in a time zone; an hour later where clocks skip it.
pub fn local_time(day: NaiveDate, time: NaiveTime, zone: TimeZone) -> DateTime<Utc> {
    let local = day.and_time(time);
    let earliest = |local| zone.from_local_datetime(&local).earliest();
    earliest(local)
        .or_else(|| earliest(local + TimeDelta::hours(1)))
        .map_or_else(|| local.and_utc(), |at| at.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_schedule_is_shown_as_it_is_written() {
        for (written, shown) in [
            ("mon 09:00 Europe/Berlin", "Mon 09:00 Europe/Berlin"),
            ("Thu,Mon 17:30", "Thu,Mon 17:30"),
            ("weekdays 9:00", "weekdays 09:00"),
            ("daily 08:00 Asia/Tokyo", "daily 08:00 Asia/Tokyo"),
        ] {
            let schedule: DigestSchedule = written.parse().unwrap();
            assert_eq!(schedule.to_string(), shown);
            assert_eq!(shown.parse::<DigestSchedule>().unwrap(), schedule);
        }
    }

    #[test]
    fn the_last_time_is_found_by_the_clocks_of_its_zone() {
        for (schedule, now, last, before) in [
            // A Monday; Berlin is two hours ahead in summer, one in winter.
            (
                "Mon 09:00 Europe/Berlin",
                "2026-04-20T07:00:00Z",
                "2026-04-20T07:00:00Z",
                "2026-04-13T07:00:00Z",
            ),
            (
                "Mon 09:00 Europe/Berlin",
                "2026-04-20T06:59:59Z",
                "2026-04-13T07:00:00Z",
                "2026-04-06T07:00:00Z",
            ),
            (
                "mon 09:00 Europe/Berlin",
                "2026-03-31T00:00:00Z",
                "2026-03-30T07:00:00Z",
                "2026-03-23T08:00:00Z",
            ),
            (
                "Mon,Thu 17:30",
                "2026-04-17T00:00:00Z",
                "2026-04-16T17:30:00Z",
                "2026-04-13T17:30:00Z",
            ),
            (
                "weekdays 09:00",
                "2026-04-20T08:00:00Z",
                "2026-04-17T09:00:00Z",
                "2026-04-16T09:00:00Z",
            ),
            (
                "daily 08:00 Asia/Tokyo",
                "2026-04-20T00:00:00Z",
                "2026-04-19T23:00:00Z",
                "2026-04-18T23:00:00Z",
            ),
            // Clocks skip that hour.
            (
                "Sun 02:30 Europe/Berlin",
                "2026-03-29T12:00:00Z",
                "2026-03-29T01:30:00Z",
                "2026-03-22T01:30:00Z",
            ),
        ] {
            let parsed: DigestSchedule = schedule.parse().unwrap();
            let found = parsed.last(at(now), TimeZone::UTC);
            assert_eq!(found, at(last), "{schedule} at {now}");
            assert_eq!(
                parsed.before(found, TimeZone::UTC),
                at(before),
                "{schedule} at {now}"
            );
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_examples() {
        for wrong in [
            "",
            "Mon",
            "09:00",
            "Mon 25:00",
            "Mon,Funday 09:00",
            "Mon 09:00 Berlin",
            "Mon 09:00 UTC now",
        ] {
            let refused = wrong.parse::<DigestSchedule>().unwrap_err().to_string();
            assert!(refused.contains("Mon 09:00 Europe/Berlin"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn the_last_time_is_within_a_week_and_the_one_before_it_earlier(
            seconds in 0_i64..4_000_000_000, hour in 0_u32..24, day in 0_usize..7
        ) {
            let now = DateTime::from_timestamp(seconds, 0).unwrap();
            let text = format!("{} {hour:02}:30 America/Santiago", WEEK[day]);
            let schedule: DigestSchedule = text.parse().unwrap();
            let last = schedule.last(now, TimeZone::UTC);
            prop_assert!(last <= now && now - last <= TimeDelta::days(8));
            let before = schedule.before(last, TimeZone::UTC);
            prop_assert!(before < last && last - before >= TimeDelta::days(6));
        }
    }
}

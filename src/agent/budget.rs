//! Monthly budgets for models: per person, per channel and in total, with what was spent.
//!
//! Each answer in the graph has its cost. This process adds its own spending at once, so that a used-up budget is
//! noticed before the next call, and periodically reads what other processes have spent.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, Utc};
use muninn_platform::IncomingMessage;
use muninn_texts::{Text, text};

use crate::graph::GraphStore;
use crate::llm::{Completion, ModelError, Money, Prices, Usage};

/// Maximum age of the data on other processes' spending.
const MAX_SPENDING_AGE: Duration = Duration::from_mins(5);
/// Percentage of a budget at which the person who asks is told.
const WARN_AT: u64 = 80;

/// The monthly limits; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetConfig {
    pub person: Option<Money>,
    pub channel: Option<Money>,
    pub everyone: Option<Money>,
}

/// The owner of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BudgetOwner {
    Person,
    Channel,
    Everyone,
}

impl BudgetOwner {
    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "your budget",
            Self::Channel => "this channel's budget",
            Self::Everyone => "my budget",
        }
    }

    /// The same, for any language.
    pub fn text(self) -> Text {
        match self {
            Self::Person => text!("budget-of-person"),
            Self::Channel => text!("budget-of-channel"),
            Self::Everyone => text!("budget-of-all"),
        }
    }

    /// Parses the name in an error.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Person, Self::Channel, Self::Everyone];
        all.into_iter().find(|it| it.name() == name)
    }

    /// The setting of its limit.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Person => "BUDGET_PERSON",
            Self::Channel => "BUDGET_CHANNEL",
            Self::Everyone => "BUDGET_TOTAL",
        }
    }
}

/// The account of a budget: its owner, in one month.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Account {
    whose: BudgetOwner,
    /// ID of the person or channel.
    id: String,
    /// The first day of the month.
    month: NaiveDate,
}

#[derive(Clone, Copy, Debug, Default)]
struct SpendingTally {
    spent: Money,
    /// When the graph was read.
    read: Option<Instant>,
}

/// How much of a budget is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub whose: BudgetOwner,
    pub spent: Money,
    pub limit: Money,
}

impl Used {
    fn is_up(&self) -> bool {
        self.spent >= self.limit
    }

    /// Whether people are told from here on.
    fn is_nearly_up(&self) -> bool {
        u128::from(self.spent.0) * 100 >= u128::from(self.limit.0) * u128::from(WARN_AT)
    }
}

/// The prices, the limits, and what was spent.
#[derive(Debug)]
pub struct Budgets {
    prices: Prices,
    config: BudgetConfig,
    tallies: Mutex<HashMap<Account, SpendingTally>>,
}

impl Budgets {
    pub fn new(prices: Prices, config: BudgetConfig) -> Self {
        Self {
            prices,
            config,
            tallies: Mutex::default(),
        }
    }

    fn tallies(&self) -> MutexGuard<'_, HashMap<Account, SpendingTally>> {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limit(&self, whose: BudgetOwner) -> Option<Money> {
        match whose {
            BudgetOwner::Person => self.config.person,
            BudgetOwner::Channel => self.config.channel,
            BudgetOwner::Everyone => self.config.everyone,
        }
    }

    /// The purse for answering a message. While the graph is away, only the spending known here counts.
    pub async fn purse(&self, store: Option<&GraphStore>, message: &IncomingMessage) -> Purse<'_> {
        let owners = [
            BudgetOwner::Person,
            BudgetOwner::Channel,
            BudgetOwner::Everyone,
        ];
        self.purse_of(&owners, store, message).await
    }

    /// The purse for what nobody asked for, such as a digest: no person pays for it.
    pub async fn purse_of_channel(
        &self,
        store: Option<&GraphStore>,
        message: &IncomingMessage,
    ) -> Purse<'_> {
        let owners = [BudgetOwner::Channel, BudgetOwner::Everyone];
        self.purse_of(&owners, store, message).await
    }

    async fn purse_of(
        &self,
        owners: &[BudgetOwner],
        store: Option<&GraphStore>,
        message: &IncomingMessage,
    ) -> Purse<'_> {
        let month = month_of(Utc::now());
        // Whoever asks privately in a channel spends the channel's money.
        let channel = message.audience.id.channel();
        let account = |whose| Account {
            whose,
            id: match whose {
                BudgetOwner::Person => message.person(),
                BudgetOwner::Channel => channel.to_string(),
                BudgetOwner::Everyone => String::new(),
            },
            month,
        };
        let limited = owners.iter().copied();
        let limited = limited.filter_map(|whose| Some((account(whose), self.limit(whose)?)));
        let purse = Purse {
            budgets: self,
            accounts: limited.collect(),
            warnings: Mutex::default(),
        };
        if let Some(store) = store
            && purse.is_stale()
        {
            let accounts = message.accounts();
            match store.usage(&accounts, &channel, first_moment(month)).await {
                Ok(usage) => purse.read(|whose| {
                    Money(match whose {
                        BudgetOwner::Person => usage.person.cost_micros,
                        BudgetOwner::Channel => usage.audience.cost_micros,
                        BudgetOwner::Everyone => usage.everyone.cost_micros,
                    })
                }),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "what was spent this month cannot be read");
                }
            }
        }
        purse
    }
}

/// Pays for answering one message.
#[derive(Debug)]
pub struct Purse<'a> {
    budgets: &'a Budgets,
    /// The accounts that have a limit.
    accounts: Vec<(Account, Money)>,
    warnings: Mutex<Vec<Used>>,
}

impl Purse<'_> {
    /// How much of each budget is used.
    pub fn used(&self) -> Vec<Used> {
        let tallies = self.budgets.tallies();
        let used = |(account, limit): &(Account, Money)| Used {
            whose: account.whose,
            spent: tallies.get(account).copied().unwrap_or_default().spent,
            limit: *limit,
        };
        self.accounts.iter().map(used).collect()
    }

    /// Whether another call may be made.
    ///
    /// # Errors
    /// Fails when a budget is used up; the error names it.
    pub fn admit(&self) -> Result<(), ModelError> {
        match self.used().iter().find(|used| used.is_up()) {
            Some(Used { whose, .. }) => Err(ModelError::OverBudget {
                whose: whose.name(),
                setting: whose.setting(),
            }),
            None => Ok(()),
        }
    }

    /// Pays for a completion, and for the calls that failed before it.
    pub fn pay_completion(&self, completion: &Completion) {
        for failed in &completion.failed {
            self.pay(&failed.model, &failed.model, failed.usage);
        }
        self.pay(&completion.configured, &completion.model, completion.usage);
    }

    /// Pays for a call and returns its cost. `asked` is the model's configured name, `answered_by` the one that the
    /// service reports.
    pub fn pay(&self, asked: &str, answered_by: &str, usage: Usage) -> Money {
        let prices = &self.budgets.prices;
        let is_known = prices.knows(answered_by);
        self.spend(prices.cost(if is_known { answered_by } else { asked }, usage))
    }

    fn spend(&self, cost: Money) -> Money {
        let mut tallies = self.budgets.tallies();
        for (account, limit) in &self.accounts {
            let tally = tallies.entry(account.clone()).or_default();
            let used = |spent| Used {
                whose: account.whose,
                spent,
                limit: *limit,
            };
            let before = used(tally.spent);
            tally.spent += cost;
            let after = used(tally.spent);
            if after.is_nearly_up() && !before.is_nearly_up() {
                let Used {
                    whose,
                    spent,
                    limit,
                } = after;
                let setting = whose.setting();
                tracing::warn!(setting, %spent, %limit, "a month's budget is nearly used up");
                self.warnings().push(after);
            }
        }
        cost
    }

    /// The budgets for which this turn reached the warning level.
    pub fn take_warnings(&self) -> Vec<Used> {
        std::mem::take(&mut *self.warnings())
    }

    fn warnings(&self) -> MutexGuard<'_, Vec<Used>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stale(&self) -> bool {
        let tallies = self.budgets.tallies();
        let read = |account: &Account| tallies.get(account).and_then(|tally| tally.read);
        let is_stale = |account| read(account).is_none_or(|at| at.elapsed() > MAX_SPENDING_AGE);
        self.accounts.iter().any(|(account, _)| is_stale(account))
    }

    /// Applies the spending that the graph reports. Spending of this process that is not kept there yet counts as
    /// well, so the amount never decreases.
    fn read(&self, spent: impl Fn(BudgetOwner) -> Money) {
        let mut tallies = self.budgets.tallies();
        let months: Vec<NaiveDate> = self.accounts.iter().map(|(it, _)| it.month).collect();
        tallies.retain(|account, _| months.contains(&account.month));
        for (account, _) in &self.accounts {
            let tally = tallies.entry(account.clone()).or_default();
            tally.spent = tally.spent.max(spent(account.whose));
            tally.read = Some(Instant::now());
        }
    }
}

fn month_of(at: DateTime<Utc>) -> NaiveDate {
    let day = at.date_naive();
    day.with_day(1).unwrap_or(day)
}

fn first_moment(month: NaiveDate) -> DateTime<Utc> {
    month.and_time(NaiveTime::MIN).and_utc()
}

#[cfg(test)]
mod tests {
    use muninn_platform::AudienceId;

    use super::*;
    use crate::llm::Usage;

    fn purse(budgets: &Budgets) -> Purse<'_> {
        let month = month_of(Utc::now());
        let limited = [
            BudgetOwner::Person,
            BudgetOwner::Channel,
            BudgetOwner::Everyone,
        ]
        .into_iter();
        let account = |whose| Account {
            whose,
            id: String::new(),
            month,
        };
        Purse {
            budgets,
            accounts: limited
                .filter_map(|whose| Some((account(whose), budgets.limit(whose)?)))
                .collect(),
            warnings: Mutex::default(),
        }
    }

    fn budgets(person: Option<u64>, everyone: Option<u64>) -> Budgets {
        let config = BudgetConfig {
            person: person.map(Money),
            channel: None,
            everyone: everyone.map(Money),
        };
        Budgets::new(Prices::load(None).unwrap(), config)
    }

    fn warned(purse: &Purse<'_>) -> Vec<BudgetOwner> {
        purse.take_warnings().iter().map(|it| it.whose).collect()
    }

    #[test]
    fn a_budget_warns_once_and_then_stops() {
        let budgets = budgets(Some(100), Some(1_000));
        // Amount spent, whether people are told, and whether another call is allowed.
        for (cost, told, admits) in [
            (79, false, true),
            (1, true, true),
            (19, false, true),
            (30, false, false),
            (0, false, false),
        ] {
            let purse = purse(&budgets);
            purse.spend(Money(cost));
            let expected: &[BudgetOwner] = if told { &[BudgetOwner::Person] } else { &[] };
            assert_eq!(warned(&purse), expected, "{cost}");
            assert_eq!(purse.admit().is_ok(), admits, "{cost}");
        }
        let Err(error) = purse(&budgets).admit() else {
            panic!("it is used up");
        };
        assert!(error.to_string().contains("BUDGET_PERSON"), "{error}");
    }

    #[tokio::test]
    async fn what_nobody_asked_for_is_paid_by_the_channel_alone() {
        let config = BudgetConfig {
            person: Some(Money(100)),
            channel: Some(Money(300)),
            everyone: None,
        };
        let budgets = Budgets::new(Prices::load(None).unwrap(), config);
        let message = crate::testing::message("digest");
        for admits in [true, true, false] {
            let digest = budgets.purse_of_channel(None, &message).await;
            assert_eq!(digest.admit().is_ok(), admits);
            digest.spend(Money(150));
        }
        let used = budgets.purse(None, &message).await.used();
        let of_person = used.iter().find(|it| it.whose == BudgetOwner::Person);
        assert_eq!(of_person.unwrap().spent, Money(0));
    }

    #[tokio::test]
    async fn private_questions_in_a_channel_are_paid_by_the_channel() {
        let config = BudgetConfig {
            channel: Some(Money(300)),
            ..BudgetConfig::default()
        };
        let budgets = Budgets::new(Prices::load(None).unwrap(), config);
        let in_place = |place: &str| {
            let mut message = crate::testing::message("e");
            message.audience.id = AudienceId::new(place);
            message
        };
        for (place, spent) in [
            ("slack/T/C", 100),
            ("slack/T/C/private/U1", 200),
            ("slack/T/C/private/U2", 300),
            ("slack/T/C2", 100),
            ("slack/T/D1", 100),
        ] {
            let message = in_place(place);
            let purse = budgets.purse(None, &message).await;
            purse.spend(Money(100));
            assert_eq!(purse.used()[0].spent, Money(spent), "{place}");
        }
        let message = in_place("slack/T/C/private/U3");
        assert!(budgets.purse(None, &message).await.admit().is_err());
    }

    #[test]
    fn without_a_budget_everything_is_admitted() {
        let budgets = budgets(None, None);
        let purse = purse(&budgets);
        purse.spend(Money(u64::MAX));
        assert!(purse.admit().is_ok() && purse.used().is_empty() && !purse.is_stale());
    }

    #[test]
    fn what_the_graph_says_counts_and_what_it_does_not_know_yet_too() {
        let budgets = budgets(Some(100), None);
        let purse = purse(&budgets);
        assert!(purse.is_stale());
        purse.read(|_| Money(50));
        assert!(!purse.is_stale());
        purse.spend(Money(20));
        purse.read(|_| Money(60));
        assert_eq!(purse.used()[0].spent, Money(70));
        purse.read(|_| Money(90));
        assert_eq!(purse.used()[0].spent, Money(90));
        assert_eq!(warned(&purse), [], "it was others who spent it");
    }

    #[test]
    fn a_model_is_priced_as_it_answers_or_else_as_it_was_asked_for() {
        let budgets = budgets(None, None);
        let purse = purse(&budgets);
        let usage = Usage {
            prompt: 1_000,
            completion: 100,
            cached: 0,
        };
        assert_eq!(purse.pay("mine", "gpt-4o-mini", usage), Money(210));
        assert_eq!(purse.pay("gpt-4o-mini", "deployment-1", usage), Money(210));
        assert_eq!(purse.pay("mine", "mine", usage), Money(0));
    }

    #[test]
    fn a_month_begins_on_its_first_day() {
        let at = DateTime::parse_from_rfc3339("2026-11-21T10:00:00Z").unwrap();
        let month = month_of(at.to_utc());
        assert_eq!(
            first_moment(month).to_rfc3339(),
            "2026-11-01T00:00:00+00:00"
        );
    }
}

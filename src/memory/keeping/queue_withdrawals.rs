//! How memory has messages withdrawn.

use async_trait::async_trait;

use crate::graph::answers::DeliveredAnswer;

/// Withdraws the messages that show forgotten turns.
#[async_trait]
pub trait QueueWithdrawals: std::fmt::Debug + Send + Sync {
    /// Writes down what to withdraw. When this returns, it survives the process.
    async fn queue_withdrawals(&self, shown: Vec<DeliveredAnswer>);
}

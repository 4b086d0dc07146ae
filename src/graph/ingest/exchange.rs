//! Exchanges the versions of a source. What readers cannot see is done first, in transactions of bounded size; then one
//! transaction removes the old chunks and serves the new ones.

use chrono::Utc;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::statements as cypher;
use super::store::{EXCHANGE, STEPS, exchange_lease, keys, pattern};
use super::{CHUNK, Completed, Exchange, Lease, NewLink, PRIVATE, STAGED, chunk_id};
use crate::graph::StoreError;
use crate::graph::engine::batches::{repeat, times};
use crate::graph::engine::{Engine, Params, TransactionStep, abandoned, quote_identifier};
use crate::graph::store::GraphStore;
use crate::graph::store::record::{params, text, unexpected};
use crate::graph::transfer::grouped;
use crate::graph::types::labels::MEMORY_RELATIONSHIPS;

/// Maximum number of relationships removed in one transaction.
const UNLINKED: usize = 10_000;

/// Maximum number of chunks removed in one transaction.
const REMOVED: usize = 1_000;

/// What was done before the transaction of an exchange.
#[derive(Debug, Default)]
struct Prepared {
    /// The mark of the chunks to remove, if there are any.
    leaving: Option<String>,
    /// Number of relationships created.
    links: i64,
}

impl GraphStore {
    /// Replaces the served version with the staged one, in one transaction. Readers see no change until [`Exchange::Finish`].
    /// Returns how many relationships were created.
    pub async fn exchange(
        &self,
        lease: &Lease,
        mut parts: mpsc::Receiver<Exchange>,
    ) -> Result<u64, StoreError> {
        self.renew_for(lease, exchange_lease()).await?;
        let (prepared, first) = self.prepare(lease, &mut parts).await?;
        self.renew_for(lease, exchange_lease()).await?;
        let mut before = Vec::new();
        if let Some(exchange) = &prepared.leaving {
            let marked = params(json!({"source": lease.source, "exchange": exchange}));
            for label in [CHUNK, PRIVATE] {
                before.push((cypher::carry_context(label), marked.clone()));
                before.extend(
                    self.statements_to_stop_serving(label, cypher::MARKED, &marked)
                        .await?,
                );
            }
        }
        before.extend(self.serve_steps(lease).await?);
        let (sender, steps) = mpsc::channel(STEPS);
        let send = async move {
            // For each statement, whether it creates relationships.
            let mut makes_links = Vec::new();
            let mut next = Some(first);
            let mut steps = before;
            while let Some(part) = next {
                let is_end = matches!(part, Exchange::Finish(_));
                steps.extend(part_steps(lease, part)?);
                for (statement, bound) in steps.drain(..) {
                    makes_links.push(statement.contains("CREATE (a)-"));
                    if sender
                        .send(TransactionStep::Run(statement, bound))
                        .await
                        .is_err()
                    {
                        return Ok(makes_links);
                    }
                }
                if is_end {
                    let _ = sender.send(TransactionStep::Commit).await;
                    break;
                }
                next = parts.recv().await;
            }
            Ok::<_, StoreError>(makes_links)
        };
        let (times, makes_links) = tokio::join!(self.engine.transact(steps, EXCHANGE), send);
        self.survey.outdate();
        let (makes_links, times) = (makes_links?, times?);
        self.remove_retired().await;
        let made = times.iter().zip(&makes_links).filter(|(_, is)| **is);
        let made = prepared.links + made.map(|(times, _)| times).sum::<i64>();
        Ok(u64::try_from(made).unwrap_or_default())
    }

    /// Does the work that readers cannot see, before the transaction: marks the nodes that will be removed, and links the new
    /// ones to each other. Returns the first part for the transaction.
    async fn prepare(
        &self,
        lease: &Lease,
        parts: &mut mpsc::Receiver<Exchange>,
    ) -> Result<(Prepared, Exchange), StoreError> {
        let mut prepared = Prepared::default();
        self.remove_retired().await;
        // A copied node has no relationships.
        let keeps_links = self.engine.dialect().relabels;
        if keeps_links {
            self.unlink_staged(lease).await?;
        }
        loop {
            match parts.recv().await.ok_or_else(abandoned)? {
                Exchange::Remove(records) => {
                    let new = || Uuid::new_v4().to_string();
                    let exchange = prepared.leaving.get_or_insert_with(new);
                    let mut bound = keys(lease, &records);
                    bound.insert("exchange".to_owned(), json!(exchange));
                    for label in [CHUNK, PRIVATE] {
                        let statement = cypher::mark_leaving(label);
                        self.engine.write(&statement, bound.clone()).await?;
                    }
                }
                Exchange::Link(links) if keeps_links && links.iter().all(|it| it.is_among_new) => {
                    for (statement, bound) in link_steps(lease, STAGED, &links)? {
                        let rows = self.engine.write(&statement, bound).await?;
                        prepared.links += times(&rows);
                    }
                }
                part @ (Exchange::Link(_) | Exchange::Finish(_)) => return Ok((prepared, part)),
            }
        }
    }

    /// Removes the relationships among staged chunks that an earlier try made.
    async fn unlink_staged(&self, lease: &Lease) -> Result<(), StoreError> {
        let bound = params(json!({"source": lease.source, "most": UNLINKED}));
        repeat(&self.engine, cypher::UNLINK_STAGED, bound).await
    }

    /// The statements that stop serving some chunks.
    pub(super) async fn statements_to_stop_serving(
        &self,
        label: &str,
        which: &str,
        bound: &Params,
    ) -> Result<Vec<(String, Params)>, StoreError> {
        let statements = if self.engine.dialect().relabels {
            let statement = cypher::labels(label, which);
            let rows = self.engine.read(&statement, bound.clone()).await?;
            let names = rows.iter().filter_map(|row| text(row, "label"));
            let mut labels = String::new();
            for name in names {
                labels.push(':');
                labels.push_str(&quote_identifier(&name)?);
            }
            if labels.is_empty() {
                return Ok(Vec::new());
            }
            vec![
                cypher::untie(label, which),
                cypher::retire(label, &labels, which),
            ]
        } else {
            vec![cypher::remove_served(label, which)]
        };
        let steps = statements.into_iter();
        Ok(steps.map(|statement| (statement, bound.clone())).collect())
    }

    /// Removes the chunks that are not served any more, in batches. Any that remain are removed at the next exchange.
    pub(super) async fn remove_retired(&self) {
        let bound = params(json!({"most": REMOVED}));
        if let Err(error) = repeat(&self.engine, cypher::REMOVE_RETIRED, bound).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "chunks that are not served any more stay for now");
        }
    }

    /// The statements that serve the staged chunks.
    async fn serve_steps(&self, lease: &Lease) -> Result<Vec<(String, Params)>, StoreError> {
        let of = json!({"source": lease.source});
        let kinds = self.engine.read(cypher::STAGED_KINDS, params(of.clone()));
        let mut steps = Vec::new();
        for row in kinds.await? {
            let kind = text(&row, "kind").unwrap_or_default();
            let labels = pattern(lease.private, &kind)?;
            let bound = params(json!({"source": lease.source, "kind": kind}));
            if self.engine.dialect().relabels {
                steps.push((cypher::serve_relabelled(&labels), bound));
            } else {
                steps.push((cypher::serve_copied(&labels), bound.clone()));
                steps.push((cypher::carry_context_to_copies(&labels), bound));
            }
        }
        if !self.engine.dialect().relabels {
            steps.push((cypher::REMOVE_STAGED.to_owned(), params(of)));
        }
        Ok(steps)
    }
}

/// The statements of one part of an exchange within its transaction.
fn part_steps(lease: &Lease, part: Exchange) -> Result<Vec<(String, Params)>, StoreError> {
    match part {
        Exchange::Remove(_) => Err(unexpected("records that go were named too late")),
        Exchange::Link(links) => link_steps(lease, label_of(lease.private), &links),
        Exchange::Finish(of) => Ok(complete_steps(lease, &of)),
    }
}

fn label_of(private: bool) -> &'static str {
    if private { PRIVATE } else { CHUNK }
}

/// The statements that create relationships between chunks under a label.
fn link_steps(
    lease: &Lease,
    label: &str,
    links: &[NewLink],
) -> Result<Vec<(String, Params)>, StoreError> {
    let mut steps = Vec::new();
    for (kind, members) in grouped(links, |link| link.kind.clone()) {
        if MEMORY_RELATIONSHIPS.contains(&kind.as_str()) {
            return Err(unexpected(format!("{kind} is a type of the bot's own")));
        }
        let kind = quote_identifier(&kind)?;
        let row = |link: &NewLink| {
            let id = |(record, at): &(String, usize)| chunk_id(&lease.source, record, *at);
            json!({"from": id(&link.from), "to": id(&link.to)})
        };
        let replacing = members.iter().filter(|(_, link)| link.replaces);
        let replacing: Vec<Value> = replacing.map(|(_, link)| row(link)).collect();
        if !replacing.is_empty() {
            let bound = params(json!({"rows": replacing}));
            steps.push((cypher::unlink(label, &kind), bound));
        }
        let rows: Vec<Value> = members.iter().map(|(_, link)| row(link)).collect();
        steps.push((cypher::link(label, &kind), params(json!({"rows": rows}))));
    }
    Ok(steps)
}

fn complete_steps(lease: &Lease, of: &Completed) -> Vec<(String, Params)> {
    let bound = json!({
        "source": lease.source, "version": lease.version, "since": Utc::now().to_rfc3339(),
        "kind": of.kind, "embedder": of.embedder, "mapping": of.mapping,
        "propertyOrder": json!(of.property_order).to_string(), "paths": of.paths,
        "channels": of.channels, "records": of.records, "rejected": of.rejected, "circles": of.circles,
    });
    let of_source = params(json!({"source": lease.source}));
    let counts = [CHUNK, PRIVATE].map(|label| (cypher::complete_count(label), of_source.clone()));
    std::iter::once((cypher::COMPLETE.to_owned(), params(bound)))
        .chain(counts)
        .collect()
}

//! How the bot is, for the one who runs it.

use axum::response::Response;
use minijinja::context;

use super::visitor::{Operator, Problem};

pub(super) async fn health(Operator(visitor): Operator) -> Response {
    let health = visitor.web.data.store.health().await.map_err(Problem::from);
    let shown = health.map(|health| {
        context! {
            engine => health.engine, schema => health.schema_version,
            sessions => health.sessions, turns => health.turns,
            warnings => [health.missing, health.warnings].concat(),
        }
    });
    visitor.shows("health.html", shown)
}

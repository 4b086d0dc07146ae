//! `muninn web`: the pages, for the one who runs the bot.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::bail;
use muninn::config::Config;
use muninn::conversation::audit::Audit;
use muninn::web::{self, PageData, Web, WebConfig};
use tokio::signal::unix::SignalKind;
use tokio_util::sync::CancellationToken;

use super::context::Context;
use super::output::Exit;
use super::serve::on_signal;

/// Prints the link that opens the pages of the bot that runs. Where none runs, serves them until it is ended.
pub(super) async fn run(at: &Context) -> anyhow::Result<Exit> {
    if let Some(running) = &at.running {
        let Some(web) = &running.web else {
            bail!(
                "the bot that runs has no pages; set WEB_ADDR=127.0.0.1:8088 and start `muninn serve` again"
            );
        };
        return at.out.say(&invitation(web)).await;
    }
    let shutdown = on_signal(&[SignalKind::terminate(), SignalKind::interrupt()])?;
    let store = at.graph().await?;
    let address = at.config.web_addr;
    let address = address.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let data = PageData {
        store: Arc::clone(&store),
        recaller: at.recaller()?,
        searcher: at.searcher(&store)?,
        audit: Audit::new(&at.config.data_dir),
    };
    let web = served(&at.config, address, data, &shutdown).await?;
    let until = "Stop with Ctrl-C.";
    at.out
        .say(&format!("{}\n{until}", invitation(&web)))
        .await?;
    shutdown.cancelled().await;
    store.close().await?;
    Ok(Exit::SUCCESS)
}

fn invitation(web: &Web) -> String {
    let link = web.link();
    format!("Open this link within five minutes; it works once:\n{link}")
}

/// The pages, served there.
pub(super) async fn served(
    config: &Config,
    address: SocketAddr,
    data: PageData,
    shutdown: &CancellationToken,
) -> anyhow::Result<Arc<Web>> {
    let at = WebConfig {
        address,
        url: config.web_url.clone(),
    };
    Ok(web::serve(&at, data, shutdown.clone()).await?)
}

//! `muninn mcp`: serves programs that ask for a person, and manages their tokens.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use chrono::Utc;
use muninn::config::Config;
use muninn::conversation::audit::{Audit, OPERATOR};
use muninn::conversation::readable::ProgramAccess;
use muninn::conversation::tokens::{Tokens, WantedToken, ends_after};
use muninn::graph::accounts::Account;
use muninn::graph::tokens::KeptToken;
use muninn::mcp::{
    self, Caller, Mcp, McpData, ProgramServer, Refused, ToolCall, ToolCaller, ToolOutcome, refused,
};
use muninn::wiring::App;
use muninn_platform::{AudienceId, Inbox, count_with_noun, in_one_line};
use serde_json::json;
use tokio::signal::unix::SignalKind;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::access_points::SharedAccess;
use super::admin;
use super::args::mcp::{McpArgs, McpCommand, TokenCommand};
use super::context::Context;
use super::exit::Exit;
use super::live_settings::Environment;
use super::own_bot::{OwnBot, with_own_bot};
use super::remote_call::RemoteCall;
use super::serve::signals::on_signal;

/// The variable with the token of the caller; without it, the caller is the user of the terminal.
const TOKEN: &str = "MUNINN_MCP_TOKEN";
/// Calls that wait for a bot of this process.
const CALL_CAPACITY: usize = 16;

impl RemoteCall {
    /// Executes it in this process.
    pub(super) async fn here(self, mcp: &Mcp) -> ToolOutcome {
        let caller = match &self.token {
            Some(token) => mcp.caller(token).await,
            None => at_terminal(&self.person),
        };
        match caller {
            Ok(caller) if self.token.is_some() && mcp.is_too_much(&caller) => {
                refused(&Refused::TooMany)
            }
            Ok(caller) => mcp.call(&caller, self.call).await,
            Err(why) => refused(&why),
        }
    }
}

#[cfg(feature = "terminal")]
fn at_terminal(person: &str) -> Result<Caller, Refused> {
    let author = muninn_terminal::author(person);
    Ok(Caller::at_terminal(Account {
        id: author.id,
        platform: "terminal".to_owned(),
        name: author.name,
    }))
}

#[cfg(not(feature = "terminal"))]
fn at_terminal(_: &str) -> Result<Caller, Refused> {
    Err(Refused::Because(format!(
        "this muninn was built without terminals; set {TOKEN} to a token"
    )))
}

#[cfg(feature = "terminal")]
fn person() -> String {
    muninn_terminal::os_user()
}

#[cfg(not(feature = "terminal"))]
fn person() -> String {
    String::new()
}

/// Returns what serves programs in this process, and its HTTP address, if there is one.
pub(super) async fn beside(
    config: &Config,
    app: &App,
    shared: &SharedAccess,
    shutdown: &CancellationToken,
) -> anyhow::Result<Arc<Mcp>> {
    let mcp = Arc::new(Mcp::new(McpData {
        store: Arc::clone(&app.store),
        recaller: Arc::clone(&app.recaller),
        searcher: Arc::clone(&app.searcher),
        archive: Arc::clone(&app.archive),
        channels: Arc::clone(&config.channels),
        audit: Audit::new(&config.data_dir),
        readable: shared.readable.clone(),
        bot_connection: Arc::clone(&shared.bot_connection),
    }));
    let (ending, ended) = (Arc::clone(&mcp), shutdown.clone());
    tokio::spawn(async move {
        ended.cancelled().await;
        ending.close();
    });
    if let Some(at) = &config.mcp {
        let address = mcp::serve(at, Arc::clone(&mcp), shutdown.clone()).await?;
        tracing::info!(address, "programs may ask by the Model Context Protocol");
        app.bot.set_programs(ProgramAccess {
            address,
            readable: shared.readable.clone(),
        });
    }
    Ok(mcp)
}

/// Answers, to nobody, what programs asked of an earlier process.
pub(super) fn unheard(
    names: &mut Vec<String>,
    inbox: &Inbox,
    shutdown: &CancellationToken,
) -> impl Future<Output = ()> + Send + 'static {
    names.push(mcp::NAME.to_owned());
    let (inbox, shutdown) = (inbox.clone(), shutdown.clone());
    async move {
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = Mcp::answer_unheard(&inbox) => {}
        }
    }
}

/// Serves the program that started this one, until it disconnects.
pub(super) async fn stdio(at: &Context, environment: Environment) -> anyhow::Result<Exit> {
    let shutdown = on_signal(&[SignalKind::terminate(), SignalKind::interrupt()])?;
    let (asking, asked) = mpsc::channel(CALL_CAPACITY);
    let calls = StdioCalls {
        config: at.config.clone(),
        token: std::env::var(TOKEN).ok().filter(|it| !it.trim().is_empty()),
        asking,
    };
    let server = ProgramServer::new(Arc::new(calls));
    let serving = tokio::spawn(server.serve(tokio::io::stdin(), tokio::io::stdout()));
    let config = at.config.clone();
    let own = tokio::spawn(async move { own_bot(&config, environment, asked).await });
    tokio::select! {
        served = serving => served??,
        () = shutdown.cancelled() => {}
    }
    // Nobody asks any more: it ends.
    let _ended = own.await?;
    Ok(Exit::SUCCESS)
}

/// A call for this process's own bot, and the channel for its result.
type OwnCall = (RemoteCall, oneshot::Sender<ToolOutcome>);

/// Executes tool calls where the graph is open: each call in the process that has it at that time,
/// or else in this one.
struct StdioCalls {
    config: Config,
    token: Option<String>,
    asking: mpsc::Sender<OwnCall>,
}

#[async_trait]
impl ToolCaller for StdioCalls {
    async fn call(&self, _: Option<&Caller>, call: ToolCall) -> ToolOutcome {
        let call = RemoteCall {
            token: self.token.as_deref().map(|it| it.trim().to_owned()),
            person: person(),
            call,
        };
        let called = async {
            match admin::connect(&self.config).await? {
                Some(connection) => connection.call(call).await,
                None => {
                    let (done, outcome) = oneshot::channel();
                    let asked = self.asking.send((call, done)).await;
                    asked.ok().context("this process is ending")?;
                    outcome.await.context("this process is ending")
                }
            }
        };
        let called: anyhow::Result<ToolOutcome> = called.await;
        called.unwrap_or_else(|error| refused(&Refused::Because(in_one_line(error.as_ref()))))
    }
}

/// Serves calls with a bot of this process, from the first call until nobody asks any more. If the
/// bot cannot start, every call gets the reason.
async fn own_bot(
    config: &Config,
    environment: Environment,
    mut asked: mpsc::Receiver<OwnCall>,
) -> anyhow::Result<()> {
    let Some(first) = asked.recv().await else {
        return Ok(());
    };
    let mut waiting = Some(first);
    let used = with_own_bot(config, environment, async |own: OwnBot| {
        // The bot ends when nothing holds its inbox.
        let OwnBot { mcp, .. } = own;
        while let Some((call, done)) = match waiting.take() {
            Some(first) => Some(first),
            None => asked.recv().await,
        } {
            let mcp = Arc::clone(&mcp);
            tokio::spawn(async move {
                let mut done = done;
                tokio::select! {
                    // The caller may have gone.
                    outcome = call.here(&mcp) => drop(done.send(outcome)),
                    () = done.closed() => {}
                }
            });
        }
    });
    if let Err(error) = Box::pin(used).await {
        let why = in_one_line(error.as_ref());
        let tell = |(_, done): OwnCall| {
            let outcome = refused(&Refused::Because(why.clone()));
            drop(done.send(outcome));
        };
        waiting.take().into_iter().for_each(tell);
        while let Some(call) = asked.recv().await {
            tell(call);
        }
    }
    Ok(())
}

/// Creates, lists or revokes tokens.
pub(super) async fn run(at: &Context, args: McpArgs) -> anyhow::Result<Exit> {
    let Some(McpCommand::Token { command }) = args.command else {
        bail!("a program's calls come one by one");
    };
    let graph = at.graph().await?;
    let tokens = Tokens::new(Arc::clone(&graph), Audit::new(&at.config.data_dir));
    let done = match command {
        TokenCommand::Create {
            account,
            place,
            expires,
        } => create(&tokens, &account, &place, expires.as_deref()).await,
        TokenCommand::List { json } => list(&tokens, json).await,
        TokenCommand::Revoke { id } => revoke(&tokens, &id).await,
    };
    graph.close().await?;
    at.out.say(&done?).await
}

async fn create(
    tokens: &Tokens,
    account: &str,
    places: &[String],
    expires: Option<&str>,
) -> anyhow::Result<String> {
    let Some((platform, name)) = account.split_once('/').filter(|(_, name)| !name.is_empty())
    else {
        bail!(
            "{account:?} is no account; it is one like slack/T0123/U0456 or matrix/@ann:example.org"
        );
    };
    let until = match expires {
        None => None,
        Some(life) => {
            let until = ends_after(life, Utc::now());
            Some(until.with_context(|| {
                format!("{life:?} is no time that a token can hold; say 30d or 12h")
            })?)
        }
    };
    let wanted = WantedToken {
        account: Account {
            id: account.to_owned(),
            platform: platform.to_owned(),
            name: name.rsplit('/').next().unwrap_or(name).to_owned(),
        },
        places: (!places.is_empty()).then(|| {
            let places = places.iter();
            places.map(|it| AudienceId::new(it).channel()).collect()
        }),
        until,
    };
    let token = tokens.make(wanted, OPERATOR).await?;
    Ok(token.as_str().to_owned())
}

async fn list(tokens: &Tokens, json: bool) -> anyhow::Result<String> {
    let all = tokens.list(None).await?;
    if json {
        let all: Vec<_> = all
            .iter()
            .map(|it| {
                json!({
                    "id": it.id, "account": it.account.id, "places": it.places, "created_at": it.created_at,
                    "until": it.until, "used_at": it.used_at,
                })
            })
            .collect();
        return Ok(serde_json::to_string_pretty(&all)?);
    }
    if all.is_empty() {
        return Ok("There are no tokens.".to_owned());
    }
    let lines: Vec<String> = all.iter().map(line).collect();
    Ok(lines.join("\n"))
}

fn line(token: &KeptToken) -> String {
    let reads = match &token.places {
        None => "everything of theirs".to_owned(),
        Some(places) => {
            let places: Vec<&str> = places.iter().map(AudienceId::as_str).collect();
            places.join(", ")
        }
    };
    let until = token
        .until
        .map(|it| it.format(", until %Y-%m-%d %H:%M UTC").to_string());
    let used = match token.used_at {
        Some(at) => at.format("last used %Y-%m-%d").to_string(),
        None => "never used".to_owned(),
    };
    let (id, account) = (&token.id, &token.account.id);
    let made = token.created_at.format("%Y-%m-%d");
    let until = until.unwrap_or_default();
    format!("{id}  {account}  made {made}, {used}{until}; reads {reads}")
}

async fn revoke(tokens: &Tokens, id: &str) -> anyhow::Result<String> {
    let mut all = tokens.list(None).await?;
    all.retain(|it| it.id == id || it.account.id == id);
    if all.is_empty() {
        bail!(
            "there is no token {id:?}, and no account with that name has one; `muninn mcp token list` lists them"
        );
    }
    tokens.revoke(&all, OPERATOR).await?;
    Ok(format!("{} revoked.", count_with_noun(all.len(), "token")))
}

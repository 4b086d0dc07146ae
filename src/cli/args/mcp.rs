//! What `muninn mcp` takes.

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct McpArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<McpCommand>,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum McpCommand {
    /// Make, list or revoke tokens by which programs ask for somebody
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum TokenCommand {
    /// Make a token and print it, this once
    Create {
        /// The owner, such as slack/T0123/U0456, discord/1234 or matrix/@ann:example.org, as `muninn audit` names people
        account: String,
        /// A channel, room or direct message that it reads, by its id; may be given several times. Without one it reads all
        /// that the person may read
        #[arg(long)]
        place: Vec<String>,
        /// How long it holds, such as 30d; until it is revoked, if you leave it out
        #[arg(long)]
        expires: Option<String>,
    },
    /// List the tokens, without what only their owners have
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token by its id, or all of an account
    Revoke {
        /// As `muninn mcp token list` prints it
        id: String,
    },
}

//! `muninn recall-eval` without the rest of Muninn.

use clap::Parser;
use muninn::memory::recall_eval::{EvalArgs, run};

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    args: EvalArgs,
}

fn main() -> anyhow::Result<()> {
    run(&Options::parse().args)
}

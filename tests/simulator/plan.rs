//! Generates what people do, and which faults happen, from a number. Pure.

use serde::{Deserialize, Serialize};

/// Number of conversations per channel.
const CONVERSATIONS: u64 = 2;

/// People in several channels, and faults while they talk. As JSON it is a line of
/// `regressions.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulationPlan {
    pub(crate) host: Host,
    #[serde(default, skip_serializing_if = "Platform::is_webhook")]
    pub(crate) platform: Platform,
    pub(crate) graph: GraphKind,
    /// Number of processes, on one graph.
    pub(crate) processes: usize,
    pub(crate) options: PlanOptions,
    /// The steps of each channel's person, in sequence; channels run concurrently.
    pub(crate) channels: Vec<Vec<Step>>,
    /// In order of time.
    pub(crate) faults: Vec<ScheduledFault>,
}

/// How the bot runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Host {
    /// `muninn serve`, a process that is killed by signals.
    Program,
    /// The same parts in a runtime of this process; a kill drops every task at its current await.
    InProcess,
}

/// The platform on which people write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Platform {
    #[default]
    Webhook,
    Slack,
    Discord,
}

impl Platform {
    fn is_webhook(&self) -> bool {
        *self == Self::Webhook
    }

    /// Whether this fault is possible there. Only on the webhook is it known when a process
    /// received a message, and so whether it had space to keep it.
    fn can_have(self, fault: Fault) -> bool {
        self == Self::Webhook || !matches!(fault, Fault::FullDisk { .. })
    }

    /// Whether this step is possible there, with a known outcome.
    fn has(self, step: Step) -> bool {
        match step {
            Step::Ask { .. }
            | Step::AskTwice { .. }
            | Step::AskBoth { .. }
            | Step::Edit { .. }
            | Step::Delete { .. }
            | Step::Redeliver { .. }
            | Step::Stop { .. }
            | Step::Settle
            | Step::Wait { .. } => true,
            // A command in Discord is lost unless a process is running.
            Step::ForgetMe | Step::Why { .. } | Step::History { .. } => self != Self::Discord,
            // Their answers may be lost in Slack, so the last question is unknown; and replies
            // below a deleted message form their own conversation.
            Step::ForgetLast { .. } | Step::ForgetConversation { .. } => self == Self::Webhook,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GraphKind {
    Embedded,
    Neo4j,
}

/// The options of the bot and its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanOptions {
    /// Turns of the conversation in each prompt; earlier ones are summarised.
    pub(crate) window_turns: usize,
    pub(crate) inbox_size: usize,
    /// The model repeats what it was told earlier.
    pub(crate) model_quotes: bool,
    /// The model service embeds; otherwise the built-in embedder does.
    pub(crate) remote_embedder: bool,
}

/// One step of a person. Messages are numbered per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    Ask {
        number: u64,
        conversation: u64,
    },
    Edit {
        number: u64,
    },
    Delete {
        number: u64,
    },
    /// Sends the same message again, like a program that got no response.
    Redeliver {
        number: u64,
    },
    /// Sends the same message twice at once, to two processes if there are two.
    AskTwice {
        number: u64,
        conversation: u64,
    },
    /// Sends messages in two conversations, in any order.
    AskBoth {
        first: u64,
        second: u64,
    },
    Stop {
        conversation: u64,
    },
    ForgetLast {
        conversation: u64,
    },
    ForgetConversation {
        conversation: u64,
    },
    ForgetMe,
    Why {
        conversation: u64,
    },
    History {
        conversation: u64,
    },
    /// Waits until everything asked in the channel is answered.
    Settle,
    Wait {
        ms: u64,
    },
}

impl Step {
    /// Returns the messages that it edits or removes.
    pub(crate) fn changes(self) -> Vec<u64> {
        match self {
            Self::Ask { number, .. }
            | Self::AskTwice { number, .. }
            | Self::Edit { number }
            | Self::Delete { number } => vec![number],
            Self::AskBoth { first, second } => vec![first, second],
            Self::Redeliver { .. }
            | Self::Stop { .. }
            | Self::ForgetLast { .. }
            | Self::ForgetConversation { .. }
            | Self::ForgetMe
            | Self::Why { .. }
            | Self::History { .. }
            | Self::Settle
            | Self::Wait { .. } => Vec::new(),
        }
    }
}

/// A fault, and its time: after so many steps of all channels, and this much later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScheduledFault {
    pub(crate) after_steps: usize,
    pub(crate) delay_ms: u64,
    pub(crate) fault: Fault,
}

/// A kind of fault. Lasting ones end after `ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fault {
    /// `kill -9`, and an immediate restart.
    Kill {
        process: usize,
    },
    /// The same, with half a record at the end of a file that was being written.
    TornWrite {
        process: usize,
    },
    /// `SIGTERM`, and a restart when it has ended.
    Terminate {
        process: usize,
    },
    /// Restarts a process so that no file can grow.
    FullDisk {
        process: usize,
        ms: u64,
    },
    /// The clock of a process jumps.
    ClockJump {
        process: usize,
        seconds: i64,
    },
    Model {
        failure: ModelFailure,
        ms: u64,
    },
    Embedder {
        failure: EmbedderFailure,
        ms: u64,
    },
    /// Failures of the program that answers are posted to.
    Answers {
        failure: AnswersFailure,
        ms: u64,
    },
    /// Failures of the connection to a graph server.
    Graph {
        failure: GraphFailure,
        ms: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ModelFailure {
    Refuses,
    RateLimited,
    Hangs,
    BreaksOff,
    Slow,
    Malformed,
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EmbedderFailure {
    Refuses,
    RateLimited,
    Malformed,
    OtherDimension,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AnswersFailure {
    Refused,
    /// Accepted, but the bot gets an error.
    AcknowledgementLost,
    AcknowledgementLate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GraphFailure {
    Cut,
    Slow,
    /// The connection is cut after the server has committed and before it responds.
    CommitReplyLost,
}

/// `SplitMix64` (Steele, Lea and Flood, 2014): the same numbers for the same seed.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).expect("below a usize")
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }
}

impl SimulationPlan {
    pub(crate) fn of_seed(seed: u64, host: Host, platform: Platform, graph: GraphKind) -> Self {
        let mut dice = Dice::new(seed);
        let processes = match (graph, platform) {
            (GraphKind::Neo4j, Platform::Webhook | Platform::Slack) => 1 + dice.index(4),
            // All shards of a bot in Discord are in one process.
            (GraphKind::Neo4j, Platform::Discord) | (GraphKind::Embedded, _) => 1,
        };
        let options = PlanOptions {
            window_turns: dice.one_of(&[50, 50, 3]),
            inbox_size: dice.one_of(&[64, 64, 3]),
            model_quotes: dice.below(2) == 0,
            remote_embedder: dice.below(3) == 0,
        };
        let mut channels: Vec<Vec<Step>> =
            (0..2 + dice.index(2)).map(|_| steps(&mut dice)).collect();
        for steps in &mut channels {
            steps.retain(|step| platform.has(*step));
        }
        let all: usize = channels.iter().map(Vec::len).sum();
        let most = match host {
            Host::Program => 7,
            Host::InProcess => 5,
        };
        let mut faults: Vec<ScheduledFault> = (0..dice.index(most))
            .map(|_| ScheduledFault {
                after_steps: dice.index(all),
                delay_ms: dice.below(80),
                fault: fault(&mut dice, host, graph, processes),
            })
            .collect();
        faults.retain(|scheduled| platform.can_have(scheduled.fault));
        faults.sort_by_key(|scheduled| scheduled.after_steps);
        Self {
            host,
            platform,
            graph,
            processes,
            options,
            channels,
            faults,
        }
    }

    /// Returns how often a process is killed without notice.
    pub(crate) fn kills(&self) -> usize {
        let faults = self.faults.iter();
        let kills = faults.filter(|scheduled| match scheduled.fault {
            Fault::Kill { .. } | Fault::TornWrite { .. } => true,
            Fault::Terminate { .. }
            | Fault::FullDisk { .. }
            | Fault::ClockJump { .. }
            | Fault::Model { .. }
            | Fault::Embedder { .. }
            | Fault::Answers { .. }
            | Fault::Graph { .. } => false,
        });
        kills.count()
    }
}

fn steps(dice: &mut Dice) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut asked = 0;
    for _ in 0..4 + dice.below(9) {
        let conversation = dice.below(CONVERSATIONS);
        let number = if asked == 0 { 0 } else { dice.below(asked) };
        let ask = Step::Ask {
            number: asked,
            conversation,
        };
        let step = match dice.below(24) {
            _ if asked == 0 => ask,
            0..=8 => ask,
            9 => Step::AskTwice {
                number: asked,
                conversation,
            },
            10 => Step::AskBoth {
                first: asked,
                second: asked + 1,
            },
            11 | 12 => Step::Edit { number },
            13 | 14 => Step::Delete { number },
            15 | 16 => Step::Redeliver { number },
            17 => Step::Stop { conversation },
            18 => Step::ForgetLast { conversation },
            19 => match dice.below(3) {
                0 => Step::ForgetMe,
                _ => Step::ForgetConversation { conversation },
            },
            20 => Step::Why { conversation },
            21 => Step::History { conversation },
            22 => Step::Settle,
            _ => Step::Wait {
                ms: dice.below(120),
            },
        };
        match step {
            Step::Ask { .. } | Step::AskTwice { .. } => asked += 1,
            Step::AskBoth { .. } => asked += 2,
            Step::Edit { .. }
            | Step::Delete { .. }
            | Step::Redeliver { .. }
            | Step::Stop { .. }
            | Step::ForgetLast { .. }
            | Step::ForgetConversation { .. }
            | Step::ForgetMe
            | Step::Why { .. }
            | Step::History { .. }
            | Step::Settle
            | Step::Wait { .. } => {}
        }
        steps.push(step);
    }
    steps
}

fn fault(dice: &mut Dice, host: Host, graph: GraphKind, processes: usize) -> Fault {
    let process = dice.index(processes);
    let ms = 50 + dice.below(1500);
    match dice.below(20) {
        0..=5 => Fault::Kill { process },
        6 | 7 => Fault::TornWrite { process },
        8 => Fault::Terminate { process },
        9..=11 => Fault::Model {
            failure: dice.one_of(&[
                ModelFailure::Refuses,
                ModelFailure::RateLimited,
                ModelFailure::Hangs,
                ModelFailure::BreaksOff,
                ModelFailure::Slow,
                ModelFailure::Malformed,
                ModelFailure::Empty,
            ]),
            ms,
        },
        12 => Fault::Embedder {
            failure: dice.one_of(&[
                EmbedderFailure::Refuses,
                EmbedderFailure::RateLimited,
                EmbedderFailure::Malformed,
                EmbedderFailure::OtherDimension,
            ]),
            ms,
        },
        13 | 14 => Fault::Answers {
            failure: dice.one_of(&[
                AnswersFailure::Refused,
                AnswersFailure::AcknowledgementLost,
                AnswersFailure::AcknowledgementLate,
            ]),
            ms,
        },
        15..=17 if graph == GraphKind::Neo4j => Fault::Graph {
            failure: dice.one_of(&[
                GraphFailure::Cut,
                GraphFailure::Slow,
                GraphFailure::CommitReplyLost,
                GraphFailure::CommitReplyLost,
            ]),
            ms,
        },
        18 if host == Host::Program => Fault::FullDisk { process, ms },
        19 if host == Host::Program => Fault::ClockJump {
            process,
            seconds: dice.one_of(&[3600, 60, -60, -3600]),
        },
        _ => Fault::Kill { process },
    }
}

#[test]
fn a_seed_always_makes_the_same_plan_and_a_line_reads_back() {
    for seed in 0..200 {
        for (host, platform, graph) in [
            (Host::Program, Platform::Slack, GraphKind::Neo4j),
            (Host::Program, Platform::Discord, GraphKind::Embedded),
            (Host::InProcess, Platform::Webhook, GraphKind::Embedded),
        ] {
            let plan = SimulationPlan::of_seed(seed, host, platform, graph);
            assert_eq!(plan, SimulationPlan::of_seed(seed, host, platform, graph));
            let line = serde_json::to_string(&plan).unwrap();
            assert_eq!(plan, serde_json::from_str(&line).unwrap());
        }
    }
}

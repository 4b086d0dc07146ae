//! Reads each PDF in a process of its own.
//!
//! A small file may unpack to gigabytes or nest without end, and neither can be caught: a failed allocation and a full
//! stack end the process. So the program starts itself for each file with a limit of memory, and only that process ends.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Once, OnceLock};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use super::thread::{EXTRACTION_TIMEOUT, Pdf, PdfError, read_here};

/// The only argument of such a process.
const ARGUMENT: &str = "read-pdf-from-stdin";

/// Memory of such a process, without the program itself. Linux alone counts what is mapped.
const MOST_MEMORY: u64 = 768 * 1024 * 1024;

/// Maximum bytes of the text of a file.
const MOST_TEXT: u64 = 64 * 1024 * 1024;

/// Files read at once; others wait.
const MOST_AT_ONCE: usize = 2;

/// The program to start; `None` if `muninn` does not find itself. Other programs set nothing, and read a PDF in a thread.
static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();

/// What such a process writes as JSON.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Read(Pdf),
    NotStarted(String),
    TimedOut,
    Refused(String),
}

/// Makes this program read each PDF in a process of its own. `main` calls it before anything else: if this is such a
/// process, it reads the PDF on stdin and returns the exit code.
pub fn run() -> Option<ExitCode> {
    if std::env::args_os().nth(1).as_deref() == Some(OsStr::new(ARGUMENT)) {
        return Some(match answer() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_nobody_reads_it) => ExitCode::FAILURE,
        });
    }
    // Linux finds the program under this path also after an update has replaced the file.
    let itself = PathBuf::from("/proc/self/exe");
    let program = match itself.exists() {
        true => Some(itself),
        false => std::env::current_exe().ok(),
    };
    PROGRAM.get_or_init(|| program);
    None
}

/// Reads the PDF on stdin and writes the outcome.
fn answer() -> io::Result<()> {
    // If the machine runs out of memory, Linux should end this process and not the bot.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let outcome = match leave_no_core().and_then(|()| limit_memory()) {
        Ok(()) => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            Outcome::from(read_here(bytes))
        }
        Err(error) => Outcome::NotStarted(error.to_string()),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &outcome)?;
    out.flush()
}

/// Running out of memory ends this process with an abort, whose core file would contain the PDF.
fn leave_no_core() -> io::Result<()> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    // A program that collects cores, such as systemd-coredump, gets one whatever the limit is.
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    Ok(())
}

fn limit_memory() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_DATA)?;
    let most = most.min(MOST_MEMORY);
    setrlimit(Resource::RLIMIT_DATA, most, most)?;
    Ok(())
}

impl From<Result<Pdf, PdfError>> for Outcome {
    fn from(read: Result<Pdf, PdfError>) -> Self {
        match read {
            Ok(pdf) => Self::Read(pdf),
            Err(PdfError::TimedOut) => Self::TimedOut,
            Err(PdfError::Refused(why)) => Self::Refused(why),
            Err(error @ (PdfError::Busy | PdfError::NotStarted(_) | PdfError::Ended(_))) => {
                Self::NotStarted(error.to_string())
            }
        }
    }
}

impl From<Outcome> for Result<Pdf, PdfError> {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Read(pdf) => Ok(pdf),
            Outcome::NotStarted(why) => Err(PdfError::NotStarted(io::Error::other(why))),
            Outcome::TimedOut => Err(PdfError::TimedOut),
            Outcome::Refused(why) => Err(PdfError::Refused(why)),
        }
    }
}

/// Returns the program to start, if there is one.
pub(super) fn program() -> Option<&'static Path> {
    let program = PROGRAM.get()?;
    if program.is_none() {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            tracing::warn!(
                "PDFs are read without a limit of memory, as muninn does not find its own program"
            );
        });
    }
    program.as_deref()
}

/// Reads a PDF in a process. That process has the time limit.
pub(super) fn read(program: &Path, bytes: &[u8]) -> Result<Pdf, PdfError> {
    let _slot = Slot::wait_for_one()?;
    let mut child = Command::new(program)
        .arg(ARGUMENT)
        // A file that takes over the reader finds no keys.
        .env_clear()
        // The allocator would reserve more than the limit at once.
        .env("MIMALLOC_ARENA_RESERVE", "0")
        // Ctrl-C in the bot's terminal would end it, too.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(PdfError::NotStarted)?;
    let said = ask(&mut child, bytes);
    // It has ended already, unless it said too much.
    let _ = child.kill();
    let ended = child.wait();
    let said = said.map_err(PdfError::NotStarted)?;
    outcome(&said, ended.map_err(PdfError::NotStarted)?)
}

/// What a process said before it ended.
fn outcome(said: &[u8], ended: ExitStatus) -> Result<Pdf, PdfError> {
    if said.len() as u64 > MOST_TEXT {
        let most = MOST_TEXT >> 20;
        return Err(PdfError::Refused(format!(
            "it has more than {most} MB of text"
        )));
    }
    if let Ok(outcome) = serde_json::from_slice::<Outcome>(said) {
        return outcome.into();
    }
    if let Some(signal) = ended.signal()
        && !is_own_fault(signal)
    {
        return Err(PdfError::Ended(signal));
    }
    let most = MOST_MEMORY >> 20;
    Err(PdfError::Refused(format!(
        "the reader broke off; perhaps it needs more than {most} MB of memory for it"
    )))
}

/// Whether a process got this signal for what it did itself, as it would again with the same file. Others come from outside:
/// the machine has no memory left, or the bot's service is stopped.
fn is_own_fault(signal: i32) -> bool {
    let own = [
        Signal::SIGABRT,
        Signal::SIGBUS,
        Signal::SIGILL,
        Signal::SIGSEGV,
        Signal::SIGTRAP,
    ];
    own.iter().any(|it| *it as i32 == signal)
}

fn ask(child: &mut Child, bytes: &[u8]) -> io::Result<Vec<u8>> {
    if let Some(mut stdin) = child.stdin.take() {
        // It may have ended before it read everything; then it says nothing.
        let _ = stdin.write_all(bytes);
    }
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MOST_TEXT + 1).read_to_end(&mut said)?;
    }
    Ok(said)
}

static READING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// One of the few processes that run at once.
struct Slot;

impl Slot {
    /// Waits until one is free, for as long as a file may take.
    fn wait_for_one() -> Result<Self, PdfError> {
        let mut reading = READING.lock();
        let all_taken = |reading: &mut usize| *reading >= MOST_AT_ONCE;
        let waited = ENDED.wait_while_for(&mut reading, all_taken, EXTRACTION_TIMEOUT);
        if waited.timed_out() && *reading >= MOST_AT_ONCE {
            return Err(PdfError::Busy);
        }
        *reading += 1;
        Ok(Self)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *READING.lock() -= 1;
        ENDED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_itself_makes_it_refused() {
        let signal = |signal: Signal| ExitStatus::from_raw(signal as i32);
        for (said, ended, expected) in [
            ("", signal(Signal::SIGKILL), "was ended by signal 9"),
            ("", signal(Signal::SIGTERM), "was ended by signal 15"),
            ("", signal(Signal::SIGINT), "was ended by signal 2"),
            ("", signal(Signal::SIGABRT), "broke off"),
            ("", signal(Signal::SIGSEGV), "broke off"),
            // Its exit code is 1.
            ("", ExitStatus::from_raw(1 << 8), "broke off"),
            (r#"{"Read":"#, signal(Signal::SIGKILL), "signal 9"),
            // What it said whole is so, however it ended.
            (r#"{"Refused":"a scan"}"#, signal(Signal::SIGKILL), "a scan"),
        ] {
            let error = outcome(said.as_bytes(), ended).unwrap_err();
            let is_refused = matches!(error, PdfError::Refused(_));
            assert_eq!(is_refused, !expected.contains("signal"), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

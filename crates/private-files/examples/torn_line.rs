//! Keeps notes in a log that survives a crash in the middle of a line: what was acknowledged is read again, the rest is not.
//!
//! `cargo run -p private-files --example torn_line`

#![allow(clippy::print_stdout, reason = "an example says what it found")]

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use private_files::line_log::{LineLog, Slots, json_line, read_lines};

fn notes(path: &Path) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    read_lines(path, |_, line| {
        notes.push(serde_json::from_slice(line)?);
        Ok::<_, io::Error>(())
    })?;
    Ok(notes)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let own = Slots::take(folder.path(), "notes")?.own;
    let path = own.path.clone();
    let log = LineLog::start("notes", own)?;
    for note in ["Ada: tea at four.", "Bo: bring scones."] {
        // When the waiting ends, the note survives a crash of the machine.
        log.append(json_line(&note)?, true).wait().await?;
    }
    drop(log);

    // A crash: the last line never got its end, so nobody was told that it is kept.
    let mut torn = OpenOptions::new().append(true).open(&path)?;
    torn.write_all(br#""Cy: I co"#)?;

    // The next process takes the same file, since nobody uses it any more.
    let own = Slots::take(folder.path(), "notes")?.own;
    assert_eq!(own.path, path);
    let kept = notes(&path)?;
    println!("After the crash: {} notes", kept.len());
    assert_eq!(kept, ["Ada: tea at four.", "Bo: bring scones."]);

    // The file is rewritten first: what is appended would otherwise continue the torn line.
    let log = LineLog::start("notes", own)?;
    let lines: io::Result<Vec<_>> = kept.iter().map(json_line).collect();
    let lines = lines?.concat();
    log.rewrite(move |out| out.write_all(&lines)).wait().await?;
    let late = json_line(&"Cy: I come at five.")?;
    log.append(late, true).wait().await?;
    let kept = notes(&path)?;
    println!("{}", kept.join("\n"));
    assert_eq!(kept.len(), 3);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path)?.permissions().mode() & 0o777;
        println!("Mode of the file: {mode:o}");
        assert_eq!(mode, 0o600);
    }
    Ok(())
}

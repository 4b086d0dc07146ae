//! Stores the calibrations that `muninn calibrate` made: one file per embedder, in a folder of
//! `DATA_DIR`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::calibration::{Calibration, CalibrationError};
use crate::llm::Embedder;
use private_files::{create_private_folder, private_file};

/// The folder in `DATA_DIR`.
const FOLDER: &str = "calibration";

/// Why a calibration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationFileError {
    #[error("{} cannot be read or written", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} is broken; run `muninn calibrate` again, or remove it", path.display())]
    Broken {
        path: PathBuf,
        source: CalibrationError,
    },
}

/// The path of a file about an embedder's calibration, with the extension `ending`.
pub fn place(data_dir: &Path, embedder: &str, ending: &str) -> PathBuf {
    data_dir.join(FOLDER).join(file_name(embedder, ending))
}

/// Turns the embedder's name into a file name: special characters become `%` and their bytes in
/// hexadecimal.
pub fn file_name(embedder: &str, ending: &str) -> String {
    let mut name = String::new();
    for byte in embedder.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("{name}.{ending}")
}

/// The embedder's name from such a file name.
fn embedder_of(file_name: &str) -> Option<String> {
    let mut parts = file_name.strip_suffix(".json")?.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Saves a calibration for the embedder that it names, and replaces an earlier one.
///
/// # Errors
/// Fails when it cannot be written.
pub fn save(data_dir: &Path, calibration: &Calibration) -> Result<PathBuf, CalibrationFileError> {
    let path = place(data_dir, &calibration.embedder, "json");
    let write = || -> io::Result<()> {
        create_private_folder(&data_dir.join(FOLDER))?;
        let beside = path.with_extension("partial");
        let mut file = private_file().write(true).truncate(true).open(&beside)?;
        serde_json::to_writer_pretty(&mut file, calibration)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    };
    match write() {
        Ok(()) => Ok(path),
        Err(source) => Err(CalibrationFileError::File { path, source }),
    }
}

/// Returns the calibration of this embedder, if one was made. Until the dimension of a service's
/// vectors is known, the newest calibration for its model is used.
///
/// # Errors
/// Fails when it cannot be read or is broken.
pub fn load(
    data_dir: &Path,
    embedder: &Embedder,
) -> Result<Option<Calibration>, CalibrationFileError> {
    let Some((path, name)) = newest(&data_dir.join(FOLDER), embedder)? else {
        return Ok(None);
    };
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(source) => return Err(CalibrationFileError::File { path, source }),
    };
    let read = Calibration::from_json(&String::from_utf8_lossy(&bytes));
    let checked = read.and_then(|calibration| {
        if calibration.embedder == name {
            Ok(calibration)
        } else {
            Err(CalibrationError::Nonsense("embedder"))
        }
    });
    match checked {
        Ok(calibration) => Ok(Some(calibration)),
        Err(source) => Err(CalibrationFileError::Broken { path, source }),
    }
}

/// This embedder's newest file, and the embedder's name.
fn newest(
    folder: &Path,
    embedder: &Embedder,
) -> Result<Option<(PathBuf, String)>, CalibrationFileError> {
    let look = || -> io::Result<Option<(PathBuf, String)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().and_then(embedder_of);
            if let Some(name) = name.filter(|name| embedder.matches_name(name)) {
                found.push((entry.metadata()?.modified()?, entry.path(), name));
            }
        }
        found.sort_unstable();
        Ok(found.pop().map(|(_, path, name)| (path, name)))
    };
    match look() {
        Ok(found) => Ok(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CalibrationFileError::File {
            path: folder.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::LocalEmbedder;

    #[test]
    fn any_name_makes_a_file_name_and_comes_back() {
        for name in ["local/static", "openai/bge-m3:567m/1024", "../ä %41", ""] {
            let file = file_name(name, "json");
            assert!(!file.contains('/'), "{file}");
            assert_eq!(embedder_of(&file).as_deref(), Some(name));
        }
        for foreign in ["a%4.json", "a%zz.json", "a.svg", "%FF.json", "a%ä.json"] {
            assert_eq!(embedder_of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn what_was_saved_is_loaded_and_what_is_broken_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
        assert_eq!(load(folder.path(), &embedder).unwrap(), None);
        let mut calibration = Calibration::shipped().unwrap();
        calibration.prior.cosine.mean = 0.123;
        let path = save(folder.path(), &calibration).unwrap();
        assert_eq!(
            load(folder.path(), &embedder).unwrap(),
            Some(calibration.clone())
        );

        calibration.embedder = "another".to_owned();
        save(folder.path(), &calibration).unwrap();
        assert!(load(folder.path(), &embedder).unwrap().is_some());
        for broken in [
            String::new(),
            "{".to_owned(),
            serde_json::to_string(&calibration).unwrap(),
        ] {
            fs::write(&path, broken).unwrap();
            let error = load(folder.path(), &embedder).unwrap_err().to_string();
            let named = error.contains("local%2Fstatic") && error.contains("muninn calibrate");
            assert!(named, "{error}");
        }
    }
}

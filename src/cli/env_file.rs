//! The file `.env`.

/// Why `.env` cannot be read. The line may hold a secret, so it is named and not shown.
pub(crate) fn unread_env_file(error: &dotenvy::Error) -> String {
    match error {
        dotenvy::Error::LineParse(line, _) => format!(
            "cannot read .env: {} is no NAME=value; put quotes around a value with blanks",
            place_of(line)
        ),
        error => format!("cannot read .env: {error}"),
    }
}

/// Where a line stands in `.env`.
fn place_of(line: &str) -> String {
    let file = std::fs::read_to_string(".env").unwrap_or_default();
    let number = file.lines().position(|read| read.contains(line.trim()));
    number.map_or("a line".to_owned(), |number| format!("line {}", number + 1))
}

//! The user of generated statements on a server, and what that user can really see.
//!
//! This is plain data with its conclusions; the engine does the tests.

use muninn_platform::SelfCheckFinding;

/// The results of the tests on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadAccessReport {
    /// In the server's words: `community`, `enterprise`.
    pub edition: String,
    /// What the user of `GRAPH_READER_USER` can do. `None` if statements run as `GRAPH_USER`.
    pub reader: Option<Access>,
}

/// What a user was able to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Memory's labels and relationship types of which it finds something.
    pub finds: Vec<String>,
    /// Memory's labels of which it reads properties.
    pub reads: Vec<String>,
    pub knowledge: Knowledge,
    pub writing: Writing,
}

/// Whether a user finds what generated statements ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// There is no knowledge yet, so nothing could be tested.
    Missing,
    Found,
    Hidden,
}

/// Whether a user could create a node; the attempt was rolled back in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writing {
    Refused,
    Allowed,
    /// It failed for another reason.
    Unknown(String),
}

impl ReadAccessReport {
    /// What to tell the operator.
    pub fn findings(&self) -> Vec<SelfCheckFinding> {
        let has_roles = !self.edition.eq_ignore_ascii_case("community");
        match &self.reader {
            None if has_roles => vec![SelfCheckFinding::warning(
                "generated statements run as GRAPH_USER, who can read memory, and Muninn alone keeps them from it; this \
                 edition has roles: make a user who cannot, as docs/confinement.md shows, and set GRAPH_READER_USER and \
                 GRAPH_READER_PASSWORD",
            )],
            None => vec![SelfCheckFinding::ok(
                "this edition has no roles: generated statements run as GRAPH_USER, and Muninn alone keeps them from \
                 memory, which is enough (docs/confinement.md)",
            )],
            Some(_) if !has_roles => vec![SelfCheckFinding::warning(
                "GRAPH_READER_USER logs in, but this edition has no roles, so that every user can read and write \
                 everything; Muninn alone keeps generated statements from memory, which is enough. Leave \
                 GRAPH_READER_USER and GRAPH_READER_PASSWORD out",
            )],
            Some(access) => access.findings(),
        }
    }
}

impl Access {
    fn findings(&self) -> Vec<SelfCheckFinding> {
        let Self {
            finds,
            reads,
            knowledge,
            writing,
        } = self;
        let mut findings = Vec::new();
        if !finds.is_empty() {
            findings.push(SelfCheckFinding::error(format!(
                "GRAPH_READER_USER finds {} of memory; deny its role TRAVERSE on them, as docs/confinement.md shows",
                finds.join(", ")
            )));
        }
        if !reads.is_empty() {
            findings.push(SelfCheckFinding::error(format!(
                "GRAPH_READER_USER reads properties of {}, which are memory; deny its role READ {{*}} on them, as \
                 docs/confinement.md shows",
                reads.join(", ")
            )));
        }
        match knowledge {
            Knowledge::Hidden => findings.push(SelfCheckFinding::error(
                "GRAPH_READER_USER does not find the knowledge, so that no question about it has an answer; grant its \
                 role MATCH {*} on the graph, as docs/confinement.md shows",
            )),
            Knowledge::Missing => findings.push(SelfCheckFinding::warning(
                "there is no knowledge yet, so that nothing tells whether GRAPH_READER_USER finds it; try again after \
                 `muninn ingest`",
            )),
            Knowledge::Found => {}
        }
        match writing {
            Writing::Allowed => findings.push(SelfCheckFinding::error(
                "GRAPH_READER_USER may write, which no generated statement needs; take the roles that write away from \
                 it: REVOKE ROLE … FROM …",
            )),
            Writing::Unknown(why) => findings.push(SelfCheckFinding::warning(format!(
                "whether GRAPH_READER_USER may write could not be tried: {why}"
            ))),
            Writing::Refused => {}
        }
        if findings.is_empty() {
            findings.push(SelfCheckFinding::ok(
                "generated statements run as GRAPH_READER_USER, who was tried: finds the knowledge, nothing of memory, \
                 and may not write",
            ));
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use muninn_platform::CheckStatus;

    use super::*;

    fn told(edition: &str, reader: Option<Access>) -> Vec<(CheckStatus, String)> {
        let reading = ReadAccessReport {
            edition: edition.to_owned(),
            reader,
        };
        let findings = reading.findings().into_iter();
        findings
            .map(|finding| (finding.verdict, finding.text))
            .collect()
    }

    fn shut_out() -> Access {
        Access {
            finds: Vec::new(),
            reads: Vec::new(),
            knowledge: Knowledge::Found,
            writing: Writing::Refused,
        }
    }

    #[test]
    fn without_roles_muninn_alone_confines_and_nothing_is_wrong() {
        let [(verdict, text)] = told("community", None).try_into().unwrap();
        assert_eq!(verdict, CheckStatus::Ok);
        assert!(text.contains("no roles"), "{text}");
        let all = Access {
            finds: vec!["Response".to_owned()],
            reads: vec!["Response".to_owned()],
            knowledge: Knowledge::Found,
            writing: Writing::Allowed,
        };
        let [(verdict, text)] = told("community", Some(all)).try_into().unwrap();
        assert_eq!(verdict, CheckStatus::Warning);
        assert!(text.contains("Leave GRAPH_READER_USER"), "{text}");
    }

    #[test]
    fn with_roles_a_user_of_its_own_is_worth_having() {
        let [(verdict, text)] = told("enterprise", None).try_into().unwrap();
        assert_eq!(verdict, CheckStatus::Warning);
        assert!(text.contains("set GRAPH_READER_USER"), "{text}");
        let [(verdict, text)] = told("enterprise", Some(shut_out())).try_into().unwrap();
        assert_eq!(verdict, CheckStatus::Ok);
        assert!(text.contains("may not write"), "{text}");
    }

    #[test]
    fn each_thing_that_a_reader_can_do_too_much_is_named_with_what_to_do() {
        let cases = [
            (
                Access {
                    finds: vec!["Session".to_owned(), "NEXT".to_owned()],
                    ..shut_out()
                },
                CheckStatus::Error,
                "finds Session, NEXT of memory; deny its role TRAVERSE",
            ),
            (
                Access {
                    reads: vec!["Response".to_owned()],
                    ..shut_out()
                },
                CheckStatus::Error,
                "reads properties of Response",
            ),
            (
                Access {
                    knowledge: Knowledge::Hidden,
                    ..shut_out()
                },
                CheckStatus::Error,
                "grant its role MATCH {*}",
            ),
            (
                Access {
                    knowledge: Knowledge::Missing,
                    ..shut_out()
                },
                CheckStatus::Warning,
                "no knowledge yet",
            ),
            (
                Access {
                    writing: Writing::Allowed,
                    ..shut_out()
                },
                CheckStatus::Error,
                "may write",
            ),
            (
                Access {
                    writing: Writing::Unknown("it was late".to_owned()),
                    ..shut_out()
                },
                CheckStatus::Warning,
                "could not be tried: it was late",
            ),
        ];
        for (access, expected, words) in cases {
            let [(verdict, text)] = told("enterprise", Some(access)).try_into().unwrap();
            assert_eq!(verdict, expected, "{text}");
            assert!(text.contains(words), "{text}");
        }
        let all = Access {
            finds: vec!["Session".to_owned()],
            reads: vec!["Session".to_owned()],
            knowledge: Knowledge::Hidden,
            writing: Writing::Allowed,
        };
        assert_eq!(told("enterprise", Some(all)).len(), 4);
    }
}

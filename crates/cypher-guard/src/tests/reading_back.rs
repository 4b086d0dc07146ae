//! A printed statement must be parsed to the same tree.

use proptest::prelude::*;

use super::super::round_trip;
use super::super::testing::statement;
use super::{GUARD, schema};
use crate::limits::StatementLimits;

/// Whether it was accepted. Checks that an accepted statement parses back to the same tree, both unconfined and
/// confined.
fn reads_back(query: &str) -> Result<bool, TestCaseError> {
    let confined = |query: &str| {
        GUARD.confine(
            query,
            &schema(),
            &StatementLimits::of_rows(50),
            &["name", "many"],
        )
    };
    let Ok(once) = confined(query) else {
        return Ok(false);
    };
    for text in [query, once.as_str()] {
        let again = round_trip(text)
            .map_err(|refusal| TestCaseError::fail(format!("{text:?} is not read: {refusal}")))?;
        prop_assert!(
            again.is_same,
            "{:?} became {:?}, which is read as something else",
            text,
            again.printed
        );
    }
    let twice = confined(once.as_str());
    let twice = twice.map_err(|refusal| {
        TestCaseError::fail(format!(
            "{query:?} became {once:?}, which is refused: {refusal}"
        ))
    })?;
    prop_assert_eq!(twice.as_str(), once.as_str(), "out of {:?}", query);
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn statements_from_a_grammar_read_back(choices in proptest::collection::vec(any::<u8>(), 0..300)) {
        reads_back(&statement(&choices))?;
    }
}

/// Statements that once did not, one of each kind.
#[test]
fn what_did_not_read_back_does() {
    for query in [
        "RETURN [(true IN [1, 2])] AS x",
        "RETURN [(null IN [1, 2]) OR false, 1] AS x",
        "WITH 1 AS x RETURN [(x IN [1, 2]) AND true] AS y",
        "WITH 1 AS x RETURN [(x IN [1, 2])] AS y",
        // The rows of one branch do not hold what the other one collects.
        "MATCH (a), (a)-->()-->(a) UNWIND [1, 2] AS v RETURN {a: 1} AS c0, null AS c1 \
         UNION MATCH (b) MATCH (b)-->(b)-->(:Person) RETURN collect($name) AS c0, b AS c1",
    ] {
        assert!(
            reads_back(query).is_ok_and(|is_accepted| is_accepted),
            "{query}"
        );
    }
}

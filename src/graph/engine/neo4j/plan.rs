//! Verifies that the server's plan for a statement begins at knowledge, before the statement runs.
//!
//! A node that is found by its ID is checked against all conditions at once, including its label.
//! The cost or failure of a condition would then reveal something about a node that no pattern may
//! reach. So every branch of a plan must begin at a label, a type or an index of the knowledge, and
//! continue along types of it. Unknown operators are refused.

use neo4rs::summary::ResultSummary;
use serde_json::Value;

use super::debugged;
use super::details::{
    Names, PlanToken, bracketed, counted, has_bare_id, index, labels, labels_first, tokens, types,
};

/// Maximum nesting depth of operators.
const MAX_DEPTH: usize = 500;

/// Why a plan is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unproved {
    /// The reason, in words for a model.
    pub(super) message: String,
    /// A variable whose node is searched for among all nodes; a hint may change that.
    pub(super) scanned: Option<String>,
}

impl<T: Into<String>> From<T> for Unproved {
    fn from(message: T) -> Self {
        Self {
            message: message.into(),
            scanned: None,
        }
    }
}

/// Verifies the plan of an explained statement.
///
/// # Errors
/// Describes what is wrong with it.
pub(super) fn prove(summary: &ResultSummary, names: &Names<'_>) -> Result<(), Unproved> {
    // The driver exposes the plan only through `{:?}`.
    let plan = debugged::field(&format!("{summary:?}"), "plan");
    let plan = plan.ok_or("the server sent no plan that can be read")?;
    prove_operator(&plan, names, 0)
}

/// What an operator's details must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperatorRule {
    /// Nothing: it works on the results of its children.
    Nothing,
    /// `n:Movie|Person`
    Labels,
    /// `RANGE INDEX n:Movie(title) WHERE …`
    Index,
    /// `(a)-[r:ACTED_IN]->(b)`
    Types,
    /// `count( (:Movie) ) AS n`, `count( (:Movie)-[:ACTED_IN]->() ) AS n`
    Counted,
}

/// The requirement for an operator; `None` for unknown ones, which begin elsewhere or do more than
/// read.
fn duty(operator: &str) -> Option<OperatorRule> {
    Some(match operator {
        "NodeByLabelScan"
        | "PartitionedNodeByLabelScan"
        | "UnionNodeByLabelsScan"
        | "PartitionedUnionNodeByLabelsScan"
        | "IntersectionNodeByLabelsScan"
        | "PartitionedIntersectionNodeByLabelsScan"
        | "SubtractionNodeByLabelsScan"
        | "PartitionedSubtractionNodeByLabelsScan" => OperatorRule::Labels,
        "NodeIndexSeek"
        | "NodeIndexSeekByRange"
        | "NodeUniqueIndexSeek"
        | "NodeUniqueIndexSeekByRange"
        | "NodeIndexScan"
        | "NodeIndexContainsScan"
        | "NodeIndexEndsWithScan"
        | "MultiNodeIndexSeek"
        | "PartitionedNodeIndexSeek"
        | "PartitionedNodeIndexSeekByRange"
        | "PartitionedNodeIndexScan"
        | "DirectedRelationshipIndexSeek"
        | "DirectedRelationshipIndexSeekByRange"
        | "DirectedRelationshipUniqueIndexSeek"
        | "DirectedRelationshipUniqueIndexSeekByRange"
        | "DirectedRelationshipIndexScan"
        | "DirectedRelationshipIndexContainsScan"
        | "DirectedRelationshipIndexEndsWithScan"
        | "UndirectedRelationshipIndexSeek"
        | "UndirectedRelationshipIndexSeekByRange"
        | "UndirectedRelationshipUniqueIndexSeek"
        | "UndirectedRelationshipUniqueIndexSeekByRange"
        | "UndirectedRelationshipIndexScan"
        | "UndirectedRelationshipIndexContainsScan"
        | "UndirectedRelationshipIndexEndsWithScan" => OperatorRule::Index,
        "DirectedRelationshipTypeScan"
        | "UndirectedRelationshipTypeScan"
        | "DirectedUnionRelationshipTypesScan"
        | "UndirectedUnionRelationshipTypesScan"
        | "PartitionedDirectedRelationshipTypeScan"
        | "PartitionedUndirectedRelationshipTypeScan"
        | "PartitionedDirectedUnionRelationshipTypesScan"
        | "PartitionedUndirectedUnionRelationshipTypesScan"
        | "Expand(All)"
        | "Expand(Into)"
        | "OptionalExpand(All)"
        | "OptionalExpand(Into)"
        | "VarLengthExpand(All)"
        | "VarLengthExpand(Into)"
        | "VarLengthExpand(Pruning)"
        | "VarLengthExpand(Pruning,All)"
        | "VarLengthExpand(Pruning,BFS)"
        | "VarLengthExpand(Pruning,BFS,All)"
        | "VarLengthExpand(Pruning,BFS,Into)"
        | "ShortestPath" => OperatorRule::Types,
        "NodeCountFromCountStore" | "RelationshipCountFromCountStore" => OperatorRule::Counted,
        "ProduceResults"
        | "Argument"
        | "EmptyRow"
        | "EmptyResult"
        | "Filter"
        | "Projection"
        | "CacheProperties"
        | "Optional"
        | "Apply"
        | "SemiApply"
        | "AntiSemiApply"
        | "SelectOrSemiApply"
        | "SelectOrAntiSemiApply"
        | "LetSemiApply"
        | "LetAntiSemiApply"
        | "LetSelectOrSemiApply"
        | "LetSelectOrAntiSemiApply"
        | "RollUpApply"
        | "ConditionalApply"
        | "AntiConditionalApply"
        | "CartesianProduct"
        | "NodeHashJoin"
        | "NodeLeftOuterHashJoin"
        | "NodeRightOuterHashJoin"
        | "ValueHashJoin"
        | "TriadicSelection"
        | "TriadicBuild"
        | "TriadicFilter"
        | "AssertSameNode"
        | "AssertSameRelationship"
        | "ProjectEndpoints"
        | "Repeat(Trail)"
        | "BidirectionalRepeat(Trail)"
        | "RepeatOptions"
        | "Union"
        | "OrderedUnion"
        | "Distinct"
        | "OrderedDistinct"
        | "EagerAggregation"
        | "OrderedAggregation"
        | "Sort"
        | "PartialSort"
        | "Top"
        | "Top1WithTies"
        | "PartialTop"
        | "Limit"
        | "ExhaustiveLimit"
        | "Skip"
        | "Unwind"
        | "PartitionedUnwind"
        | "Eager"
        | "PreserveOrder"
        | "NonFuseable"
        | "NonPipelined" => OperatorRule::Nothing,
        _ => return None,
    })
}

fn prove_operator(plan: &Value, names: &Names<'_>, depth: usize) -> Result<(), Unproved> {
    if depth > MAX_DEPTH {
        return Err(format!("the plan is more than {MAX_DEPTH} operators deep").into());
    }
    let operator = plan["operatorType"].as_str();
    let operator = operator.ok_or("the server's plan names no operator")?;
    // `NodeByLabelScan@neo4j`
    let operator = operator.split('@').next().unwrap_or(operator);
    let details = match &plan["args"]["Details"] {
        Value::String(details) => details.as_str(),
        Value::Null => "",
        _ => return Err(format!("the details of {operator} are no text").into()),
    };
    let tokens = tokens(details);
    let Some(duty) = duty(operator) else {
        return Err(format!(
            "the server would run it with {operator}, which is not known to stay within the knowledge; \
             begin each pattern at a label, and do not look nodes up by id"
        )
        .into());
    };
    let is_kept = match duty {
        OperatorRule::Nothing => true,
        OperatorRule::Labels => labels(&tokens, names),
        OperatorRule::Index => index(&tokens, names),
        OperatorRule::Types => bracketed(&tokens).is_some_and(|inside| types(inside, names)),
        OperatorRule::Counted => counted(&tokens, names),
    };
    if !is_kept {
        return Err(format!(
            "the server would run it with {operator} on more than the knowledge; \
             name a label or type of the schema in each pattern"
        )
        .into());
    }
    // A graph lookup within an expression has its own plan, which no server shows. Without a bare ID
    // it can only begin at a label or type.
    if has_bare_id(&tokens) {
        return Err("an id is compared where the server may look it up; compare a property".into());
    }
    let children = match &plan["children"] {
        Value::Array(children) => children.as_slice(),
        Value::Null => &[],
        _ => return Err(format!("the children of {operator} are no list").into()),
    };
    for child in children {
        let scanned = scanned(child);
        // A node that is not of the knowledge is dropped by the check of its labels.
        let is_filtered = operator == "Filter"
            && scanned
                .as_deref()
                .is_some_and(|variable| labels_first(&tokens, variable, names));
        if is_filtered {
            continue;
        }
        prove_operator(child, names, depth + 1).map_err(|unproved| Unproved {
            scanned: unproved.scanned.or(scanned),
            ..unproved
        })?;
    }
    Ok(())
}

/// The variable of a scan of all nodes.
fn scanned(plan: &Value) -> Option<String> {
    let operator = plan["operatorType"].as_str()?;
    if operator.split('@').next() != Some("AllNodesScan") {
        return None;
    }
    match tokens(plan["args"]["Details"].as_str()?).as_slice() {
        [PlanToken::Name { text, .. }] => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn proved(plan: &Value) -> Result<(), Unproved> {
        let set = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let labels = set(&["Movie", "Person", "Odd Thing"]);
        let types = set(&["ACTED_IN", "Rel X"]);
        let names = Names {
            labels: &labels,
            types: &types,
        };
        prove_operator(plan, &names, 0)
    }

    fn leaf(operator: &str, details: &str) -> Value {
        json!({"operatorType": format!("{operator}@neo4j"), "args": {"Details": details}, "children": []})
    }

    #[test]
    fn branches_begin_at_the_knowledge() {
        for (operator, details) in [
            ("NodeByLabelScan", "n:Movie"),
            ("NodeByLabelScan", "`b c`:`Odd Thing`"),
            ("UnionNodeByLabelsScan", "n:Movie|Person"),
            ("SubtractionNodeByLabelsScan", "n:Movie&!Person"),
            (
                "NodeIndexSeek",
                "RANGE INDEX n:Movie(title) WHERE title = $autostring_0",
            ),
            (
                "MultiNodeIndexSeek",
                "UNIQUE n:Movie(id) WHERE id = 1, UNIQUE m:Person(id) WHERE id = 2",
            ),
            (
                "DirectedRelationshipIndexScan",
                "RANGE INDEX (a)-[r:ACTED_IN(roles)]->(b) WHERE roles IS NOT NULL",
            ),
            (
                "UndirectedUnionRelationshipTypesScan",
                "(a)-[r:ACTED_IN|`Rel X`]-(b)",
            ),
            ("Expand(All)", "(m)<-[anon_0:ACTED_IN]-(p)"),
            ("VarLengthExpand(All)", "(a)-[:`Rel X`|ACTED_IN*..3]->(b)"),
            ("ShortestPath", "p = (a)-[anon_0:ACTED_IN*..1000]-(b)"),
            ("NodeCountFromCountStore", "count( (:Movie) ) AS `count(m)`"),
            (
                "NodeCountFromCountStore",
                "count( (:Movie), (:`Odd Thing`) ) AS n",
            ),
            (
                "RelationshipCountFromCountStore",
                "count( (:Movie)-[:ACTED_IN]->() ) AS n",
            ),
            (
                "Filter",
                "head([id(n)]) = $autoint_0 AND n.id = \"id(n)\" AND `id(n)` = 1",
            ),
        ] {
            assert_eq!(
                proved(&leaf(operator, details)),
                Ok(()),
                "{operator} {details}"
            );
        }
    }

    #[test]
    fn whatever_begins_elsewhere_is_refused() {
        for (operator, details) in [
            ("NodeByIdSeek", "n WHERE id(n) = 204"),
            (
                "NodeByElementIdSeek",
                "n WHERE elementId(n) = $autostring_0",
            ),
            ("AllNodesScan", "n"),
            ("SomethingNew", "n:Movie"),
            ("NodeByLabelScan", "n:Response"),
            ("NodeByLabelScan", "n"),
            ("UnionNodeByLabelsScan", "n:Movie|Response"),
            ("NodeIndexSeek", "RANGE INDEX n:Response(id) WHERE id = 1"),
            ("NodeIndexSeek", "id = 1"),
            (
                "MultiNodeIndexSeek",
                "UNIQUE n:Movie(id) WHERE id = 1, UNIQUE m:Response(id) WHERE id = 2",
            ),
            ("DirectedRelationshipTypeScan", "(a)-[r:CONTEXT]->(b)"),
            ("DirectedRelationshipTypeScan", "(a)-[r]->(b)"),
            ("Expand(All)", "(m)-[anon_0]-(anon_1)"),
            ("Expand(All)", ""),
            ("VarLengthExpand(All)", "(a)-[*..3]->(b)"),
            (
                "ShortestPath",
                "p = (a)-[r*..9]-(b) WHERE x[0] = [:ACTED_IN]",
            ),
            ("NodeCountFromCountStore", "count( () ) AS n"),
            ("NodeCountFromCountStore", "count( (:Movie), () ) AS n"),
            ("RelationshipCountFromCountStore", "count( ()-[]->() ) AS n"),
            ("Filter", "NOT id(n) <> 204"),
            (
                "Projection",
                "COLLECT { MATCH (n)   WHERE n:Movie AND elementId(n) IN [x] RETURN n } AS y",
            ),
            (
                "StatefulShortestPath(All)",
                "ANY 1 (a) ((b)-[c]-(d)){1, } (e)",
            ),
        ] {
            let inside = json!({"operatorType": "ProduceResults@neo4j", "args": {}, "children": [
                leaf("NodeByLabelScan", "n:Movie"), leaf(operator, details),
            ]});
            assert!(proved(&inside).is_err(), "{operator} {details}");
        }
    }

    #[test]
    fn all_nodes_are_looked_at_by_their_labels_first() {
        let filtered = |details: &str| {
            proved(
                &json!({"operatorType": "Filter@neo4j", "args": {"Details": details}, "children": [
                    leaf("AllNodesScan", "n"),
                ]}),
            )
        };
        for details in [
            "n:Movie|Person",
            "n:Movie|`Odd Thing` AND n.x = 1",
            "n:Movie AND (n.x = 1 OR n.y = 2)",
        ] {
            assert_eq!(filtered(details), Ok(()), "{details}");
        }
        for details in [
            "n.x = 1 AND n:Movie|Person",
            "n:Movie|Response AND n.x = 1",
            "m:Movie AND n.x = 1",
            "n:!Movie AND n.x = 1",
            "n:Movie OR n.x = 1",
            "n:Movie AND n.x = 1 XOR true",
            "",
        ] {
            let unproved = filtered(details).unwrap_err();
            assert_eq!(unproved.scanned.as_deref(), Some("n"), "{details}");
        }
    }

    #[test]
    fn a_plan_that_cannot_be_read_is_refused() {
        for plan in [
            json!(null),
            json!({}),
            json!({"operatorType": 1}),
            json!({"operatorType": "Argument", "children": 1}),
            json!({"operatorType": "Argument", "args": {"Details": []}}),
        ] {
            assert!(proved(&plan).is_err(), "{plan}");
        }
    }
}

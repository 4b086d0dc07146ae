//! The syntax tree. A statement that it cannot represent cannot be run.
//!
//! The parser creates trees, the shield changes them, and the printer prints them.

/// Additional data that is not part of the tree: trees that differ only in it are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aside<T>(pub(super) T);

impl<T> PartialEq for Aside<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Aside<T> {}

/// A position in the statement: an offset in bytes.
pub(super) type ByteOffset = Aside<usize>;

impl From<ByteOffset> for usize {
    fn from(place: ByteOffset) -> Self {
        place.0
    }
}

/// A name and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) at: ByteOffset,
}

/// The branches of a `UNION`; nearly always one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    pub(super) branches: Vec<Branch>,
    /// Whether they are joined by `UNION ALL`.
    pub(super) keeps_duplicates: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Branch {
    /// Everything before the `RETURN`.
    pub(super) clauses: Vec<Clause>,
    /// Missing only if a pattern is all that `EXISTS` or `COUNT` needs.
    pub(super) returned: Option<Projection>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    Match {
        optional: bool,
        pattern: Pattern,
    },
    Unwind {
        list: Expr,
        variable: Name,
    },
    With {
        projection: Projection,
        condition: Option<Expr>,
    },
    /// A read-only subquery.
    Call {
        imports: Imports,
        query: Query,
    },
}

/// The variables that `CALL` passes to its subquery.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Imports {
    /// `CALL { … }`: those in a leading `WITH`.
    ByWith,
    /// `CALL (a, b) { … }`
    Named(Vec<Name>),
    /// `CALL (*) { … }`
    All,
}

/// What follows `WITH` and `RETURN`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Projection {
    pub(super) distinct: bool,
    pub(super) star: bool,
    pub(super) items: Vec<ProjectionItem>,
    pub(super) order: Vec<(Expr, Direction)>,
    pub(super) skip: Option<Expr>,
    pub(super) limit: Option<Expr>,
    /// Position of the keyword.
    pub(super) at: ByteOffset,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProjectionItem {
    pub(super) value: Expr,
    pub(super) alias: Option<Name>,
    /// As it was written: without an alias, this names the column.
    pub(super) written: Aside<String>,
    pub(super) at: ByteOffset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Ascending,
    Descending,
}

/// Paths and their condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    pub(super) paths: Vec<NamedPath>,
    pub(super) condition: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedPath {
    pub(super) variable: Option<Name>,
    pub(super) selector: Selector,
    pub(super) path: Path,
}

/// Which of the matching paths to return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selector {
    Every,
    /// `shortestPath(…)`
    ShortestPath,
    /// `allShortestPaths(…)`
    AllShortestPaths,
    /// `ANY`, `ANY SHORTEST`, `ALL SHORTEST`, `SHORTEST 3`, without a function's parentheses.
    Words(String),
}

/// Begins and ends with a node or a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) steps: Vec<PathElement>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathElement {
    Node(Box<NodePattern>),
    Relationship(Box<RelationshipPattern>),
    /// `((a)-[:R]->(b) WHERE …){1,3}`
    Group {
        path: Path,
        condition: Option<Expr>,
        times: Option<Times>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodePattern {
    pub(super) variable: Option<Name>,
    pub(super) labels: Option<Labels>,
    pub(super) properties: Vec<(Name, Expr)>,
    pub(super) condition: Option<Expr>,
    pub(super) at: ByteOffset,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct RelationshipPattern {
    pub(super) arrow: Arrow,
    pub(super) variable: Option<Name>,
    pub(super) types: Option<Labels>,
    /// `*`, `*2`, `*..3`
    pub(super) hops: Option<Times>,
    pub(super) properties: Vec<(Name, Expr)>,
    pub(super) condition: Option<Expr>,
    /// `{1,3}`, `+`, after the arrow.
    pub(super) times: Option<Times>,
    pub(super) at: ByteOffset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrow {
    Left,
    Right,
    /// In either direction.
    None,
}

/// How often a step is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) least: Option<u32>,
    pub(super) most: Option<u32>,
}

/// Labels of a node or types of a relationship.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Labels {
    Name(Name),
    /// `%`
    Any(ByteOffset),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Variable(Name),
    Parameter(Name),
    List(Vec<Self>),
    Map(Vec<(Name, Self)>),
    Property(Box<Self>, Name),
    Index(Box<Self>, Box<Self>),
    Slice(Box<Self>, Option<Box<Self>>, Option<Box<Self>>),
    /// `n:Label`
    HasLabels(Name, Labels),
    Unary(Unary, Box<Self>),
    /// Operators of one strength, from left to right.
    Chain(Strength, Box<Self>, Vec<(Operator, Self)>),
    IsNull {
        value: Box<Self>,
        negated: bool,
    },
    Call(Box<FunctionCall>),
    CountStar,
    Case(Box<Case>),
    /// `[x IN list WHERE … | …]`
    Comprehension(Box<Comprehension>),
    /// `[(a)-->(b) WHERE … | …]`
    PatternComprehension(Box<PatternComprehension>),
    /// `all(x IN list WHERE …)` and similar.
    Quantified(Quantifier, Box<Comprehension>),
    Reduce(Box<Reduce>),
    /// A path predicate.
    Exists(Box<NamedPath>),
    Subquery(SubqueryKind, Box<Subquery>),
    MapProjection(Name, Vec<Projected>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Minus,
}

/// Weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    Or,
    Xor,
    And,
    Not,
    Comparison,
    Test,
    Sum,
    Product,
    Power,
    Sign,
    Atom,
}

/// Binary operators, as they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    Xor,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    StartsWith,
    EndsWith,
    Contains,
    In,
    Plus,
    Minus,
    Concatenate,
    Times,
    Divide,
    Modulo,
    Power,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct FunctionCall {
    /// As written; the name consists of ASCII letters, digits, `_` and dots.
    pub(super) function: Name,
    pub(super) distinct: bool,
    pub(super) arguments: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) subject: Option<Expr>,
    /// Conditions or values of a `WHEN`, and its `THEN`.
    pub(super) branches: Vec<(Vec<Expr>, Expr)>,
    pub(super) otherwise: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comprehension {
    pub(super) variable: Name,
    pub(super) list: Expr,
    pub(super) condition: Option<Expr>,
    pub(super) result: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PatternComprehension {
    pub(super) path: NamedPath,
    pub(super) condition: Option<Expr>,
    pub(super) result: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Any,
    None,
    Single,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reduce {
    pub(super) accumulator: Name,
    pub(super) start: Expr,
    pub(super) variable: Name,
    pub(super) list: Expr,
    pub(super) step: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubqueryKind {
    Exists,
    Count,
    Collect,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subquery {
    Pattern(Pattern),
    Query(Query),
}

/// An entry of `n {.name, .*, other: 1}`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Projected {
    All,
    Property(Name),
    Value(Name, Expr),
    Variable(Name),
}

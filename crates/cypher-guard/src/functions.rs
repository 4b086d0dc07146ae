//! The allowlist of functions: those that compute only from their arguments.

/// Those that do not aggregate, in lower case. From Neo4j 5's list of functions, without those that
/// read files, other graphs or the server, those that need a newer server, and those that are
/// expensive.
const FUNCTIONS: &[&str] = &[
    // Scalar.
    "char_length",
    "character_length",
    "coalesce",
    "elementid",
    "endnode",
    "head",
    "id",
    "last",
    "length",
    "nullif",
    "properties",
    "randomuuid",
    "size",
    "startnode",
    "timestamp",
    "toboolean",
    "tobooleanornull",
    "tofloat",
    "tofloatornull",
    "tointeger",
    "tointegerornull",
    "type",
    "valuetype",
    // Lists.
    "keys",
    "labels",
    "nodes",
    "range",
    "relationships",
    "reverse",
    "tail",
    "tobooleanlist",
    "tofloatlist",
    "tointegerlist",
    "tostringlist",
    // Text.
    "btrim",
    "left",
    "lower",
    "ltrim",
    "normalize",
    "replace",
    "right",
    "rtrim",
    "split",
    "substring",
    "tolower",
    "tostring",
    "tostringornull",
    "toupper",
    "trim",
    "upper",
    // Predicates.
    "exists",
    "isempty",
    "isnan",
    // Numbers.
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "cos",
    "cot",
    "degrees",
    "e",
    "exp",
    "floor",
    "haversin",
    "log",
    "log10",
    "pi",
    "radians",
    "rand",
    "round",
    "sign",
    "sin",
    "sqrt",
    "tan",
    // Time.
    "date",
    "date.realtime",
    "date.statement",
    "date.transaction",
    "date.truncate",
    "datetime",
    "datetime.fromepoch",
    "datetime.fromepochmillis",
    "datetime.realtime",
    "datetime.statement",
    "datetime.transaction",
    "datetime.truncate",
    "duration",
    "duration.between",
    "duration.indays",
    "duration.inmonths",
    "duration.inseconds",
    "localdatetime",
    "localdatetime.realtime",
    "localdatetime.statement",
    "localdatetime.transaction",
    "localdatetime.truncate",
    "localtime",
    "localtime.realtime",
    "localtime.statement",
    "localtime.transaction",
    "localtime.truncate",
    "time",
    "time.realtime",
    "time.statement",
    "time.transaction",
    "time.truncate",
    // Space and vectors.
    "distance",
    "point",
    "point.distance",
    "point.withinbbox",
    "vector.similarity.cosine",
    "vector.similarity.euclidean",
];

/// Those that aggregate all rows of a group, in lower case.
const AGGREGATES: &[&str] = &[
    "avg",
    "collect",
    "count",
    "max",
    "min",
    "percentilecont",
    "percentiledisc",
    "stdev",
    "stdevp",
    "sum",
];

/// The kinds of points in time that a call without a value gives now.
const CLOCKS: &[&str] = &[
    "date",
    "datetime",
    "localdatetime",
    "localtime",
    "time",
    "timestamp",
];

/// Its name in lower case, if the function aggregates.
pub(super) fn aggregate(function: &str) -> Option<&'static str> {
    let mut all = AGGREGATES.iter().copied();
    all.find(|name| function.eq_ignore_ascii_case(name))
}

pub(super) fn is_clock(function: &str) -> bool {
    let mut all = CLOCKS.iter();
    all.any(|name| function.eq_ignore_ascii_case(name))
}

pub(super) fn is_allowed(function: &str) -> bool {
    all().any(|name| function.eq_ignore_ascii_case(name))
}

pub(super) fn all() -> impl Iterator<Item = &'static str> {
    AGGREGATES.iter().chain(FUNCTIONS).copied()
}

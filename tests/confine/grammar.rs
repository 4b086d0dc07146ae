//! Generated Cypher: statements from a grammar, friendly and hostile, and mutations of them.

use proptest::prelude::*;
use proptest::sample::select;

/// Pieces of statements; some name memory, some are tricks against the lexer.
const PIECES: &[&str] = &[
    "MATCH ",
    "OPTIONAL MATCH ",
    "RETURN ",
    "WITH ",
    "WHERE ",
    "UNWIND ",
    "CALL { ",
    "EXISTS { ",
    "COUNT { ",
    "COLLECT { ",
    " } ",
    "UNION ",
    "UNION ALL ",
    "AS x ",
    "ORDER BY ",
    "LIMIT 5 ",
    "SKIP 1 ",
    "DISTINCT ",
    "(n)",
    "(n:Movie)",
    "(:Session)",
    "(n:!Response)",
    "(n:%)",
    "--",
    "-->",
    "<--",
    "-[r]-",
    "-[r:CONTEXT]->",
    "-[:!NEXT*1..3]-",
    "-[*]-",
    "shortestPath(",
    "((a)--(b)){1,3}",
    "[(a)--(b) | a]",
    "[x IN [1] | x]",
    "n.name",
    "n:Response",
    "labels(n)",
    "elementId(n)",
    "id(n)",
    "n['input']",
    "{name: 'x'}",
    "'it''s'",
    r"'\u0027'",
    r"\u0053ession",
    "`Session`",
    "`a``b`",
    "/* ",
    "*/ ",
    "// ",
    "\n",
    "\r",
    "\u{A0}",
    "\u{200B}",
    "\u{2014}",
    "\u{27E9}",
    "CREATE (n)",
    "DETACH DELETE n ",
    "SET n.x = 1 ",
    "FOREACH (",
    "LOAD CSV FROM 'x' AS l ",
    "USE x ",
    "; ",
    "EXPLAIN ",
    "CYPHER 5 ",
    "$p",
    "$(x)",
    "1",
    "-",
    "- ",
    "+",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "|",
    "&",
    "!",
    "=",
    "<",
    ">",
    "..",
    ".",
    "*",
    "NOT ",
    "AND ",
    "OR ",
    "IN ",
    "IS NULL ",
    "CASE WHEN ",
    "THEN ",
    "ELSE ",
    "END ",
    "reduce(s = 0, x IN [1] | s + x)",
    "apoc.x()",
    "count(*)",
];

fn label() -> impl Strategy<Value = String> {
    let names = select(vec![
        "Person",
        "Movie",
        "`Odd Thing`",
        "Session",
        "Response",
        "`Channel`",
        "Persn",
        "%",
    ]);
    let leaf = names.prop_map(str::to_owned);
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}|{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})&{b}")),
            inner.prop_map(|a| format!("!({a})")),
        ]
    })
}

fn kind() -> impl Strategy<Value = String> {
    let names = select(vec![
        "ACTED_IN",
        "DIRECTED",
        "FOLLOWS",
        "ACTED_IN",
        "DIRECTED",
        "`FOLLOWS`",
        "ACTED_IN",
        "%",
        "CONTEXT",
        "`IN`",
    ]);
    prop_oneof![
        3 => names.clone().prop_map(str::to_owned),
        1 => names.clone().prop_map(|a| format!("!{a}")),
        1 => (names.clone(), names).prop_map(|(a, b)| format!("{a}|{b}")),
    ]
}

fn variable() -> impl Strategy<Value = &'static str> {
    select(vec!["n", "m", "r", "x", "`a b`", "count", "Session", ""])
}

fn node() -> impl Strategy<Value = String> {
    let labels = prop_oneof![3 => Just(String::new()), 2 => label().prop_map(|l| format!(":{l}"))];
    let rest = select(vec![
        "",
        "",
        "",
        " {name: 'x'}",
        " {title: n.name}",
        " WHERE n.born > 1",
    ]);
    (variable(), labels, rest).prop_map(|(v, l, rest)| format!("({v}{l}{rest})"))
}

fn relationship() -> impl Strategy<Value = String> {
    let kinds = prop_oneof![2 => Just(String::new()), 2 => kind().prop_map(|k| format!(":{k}"))];
    let hops = select(vec!["", "", "", "*", "*1..3", "*..2", "*0.."]);
    let ends = select(vec![("-", "->"), ("<-", "-"), ("-", "-"), ("<-", "->")]);
    let times = select(vec!["", "", "", "", "{1,2}", "+"]);
    (variable(), kinds, hops, ends, times)
        .prop_map(|(v, k, h, (a, b), t)| format!("{a}[{v}{k}{h}]{b}{t}"))
}

fn path() -> impl Strategy<Value = String> {
    let steps = proptest::collection::vec((relationship(), node()), 0..3);
    let around = select(vec![
        "{}",
        "{}",
        "{}",
        "p = {}",
        "shortestPath({})",
        "({}){1,2}",
    ]);
    (node(), steps, around).prop_map(|(start, steps, around)| {
        let mut path = start;
        for (relationship, node) in steps {
            path.push_str(&relationship);
            path.push_str(&node);
        }
        around.replace("{}", &path)
    })
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec![
            "1",
            "2.5",
            "'it\\'s'",
            "null",
            "true",
            "n",
            "n.name",
            "m.title",
            "x",
            "labels(n)",
            "elementId(n)",
            "count(*)",
            "n {.name, .*}",
            "r.roles",
            "-1",
            "keys(n)",
            "n['input']",
            "id(n)",
            "'\\u0053'",
        ])
        .prop_map(str::to_owned),
        path(),
        label().prop_map(|label| format!("n:{label}")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = select(vec![
            "+",
            "-",
            "*",
            "/",
            "%",
            "^",
            "=",
            "<>",
            "<",
            ">",
            "<=",
            "AND",
            "OR",
            "XOR",
            "IN",
            "CONTAINS",
            "STARTS WITH",
            "=~",
            "||",
        ]);
        let function = select(vec![
            "size",
            "head",
            "collect",
            "toLower",
            "coalesce",
            "exists",
            "apoc.text.join",
            "sum",
            "properties",
            "startNode",
            "range",
            "type",
        ]);
        let subquery = select(vec!["EXISTS", "COUNT", "size"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("NOT {a}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("{a} IS NOT NULL")),
            (function, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[x IN {a} WHERE {b} | x]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("any(x IN {a} WHERE {b})")),
            (path(), inner.clone()).prop_map(|(p, a)| format!("[{p} | {a}]")),
            (subquery, path(), inner.clone())
                .prop_map(|(s, p, a)| format!("{s} {{ {p} WHERE {a} }}")),
            (path(), inner.clone())
                .prop_map(|(p, a)| format!("COLLECT {{ MATCH {p} RETURN {a} }}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("CASE WHEN {a} THEN {b} END")),
        ]
    })
}

fn clause() -> impl Strategy<Value = String> {
    let items = (expression(), expression());
    prop_oneof![
        4 => (path(), expression()).prop_map(|(p, e)| format!("MATCH {p} WHERE {e}")),
        4 => (path(), path()).prop_map(|(p, q)| format!("MATCH {p}, {q}")),
        2 => path().prop_map(|p| format!("OPTIONAL MATCH {p}")),
        1 => expression().prop_map(|e| format!("UNWIND {e} AS x")),
        2 => items.prop_map(|(a, b)| format!("WITH n, {a} AS m ORDER BY {b} LIMIT 3")),
        1 => (path(), expression())
            .prop_map(|(p, e)| format!("CALL {{ MATCH {p} RETURN {e} AS x }}")),
        1 => expression().prop_map(|e| format!("WITH *, {e} AS z")),
        1 => select(vec!["WITH *", "CREATE (n)", "WITH n, m", "UNWIND [1] AS y", "SET n.x = 1", "CALL db.labels()", "DETACH DELETE n"])
            .prop_map(str::to_owned),
    ]
}

fn branch() -> impl Strategy<Value = String> {
    let ends = select(vec![
        "",
        "",
        " LIMIT 7",
        " ORDER BY n.name DESC",
        " SKIP 1 LIMIT 1000",
    ]);
    let clauses = proptest::collection::vec(clause(), 0..4);
    (clauses, expression(), ends).prop_map(|(clauses, returned, end)| {
        let mut words = clauses;
        words.push(format!("RETURN {returned} AS y{end}"));
        words.join(" ")
    })
}

/// Generates a statement; about one in twenty is accepted.
pub(crate) fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => branch(),
        1 => (branch(), branch()).prop_map(|(a, b)| format!("{a} UNION {b}")),
        1 => (branch(), branch()).prop_map(|(a, b)| format!("{a} UNION ALL {b}")),
    ]
}

/// Generates a statement with pieces inserted, removed or doubled.
pub(crate) fn mutation() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0_usize..12, select(PIECES));
    (statement(), proptest::collection::vec(edit, 1..4)).prop_map(|(mut text, edits)| {
        for (place, length, piece) in edits {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let from = place.get(&places);
            let to = places.iter().find(|at| **at >= from + length);
            let to = *to.unwrap_or(&text.len());
            text.replace_range(*from..to, piece);
        }
        text
    })
}

/// Generates a sequence of pieces.
pub(crate) fn heap() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(PIECES), 0..30).prop_map(|pieces| pieces.concat())
}

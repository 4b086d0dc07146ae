//! What models write is accepted, and corrected where an engine differs.

use super::*;

#[test]
fn what_models_loop_over_may_be_looped_over() {
    for query in [
        "MATCH (p), (q) WHERE any(t IN p.tags WHERE t IN q.tags) RETURN p.name",
        "MATCH (p)--(q) WHERE any(t IN p.tags WHERE any(u IN q.tags WHERE toLower(u) = toLower(t))) RETURN p.name",
        "MATCH (p)--(q) RETURN [t IN p.tags WHERE t IN q.tags] AS both, size(p.tags) AS many",
        "MATCH (p)-[r:ACTED_IN]->(m) UNWIND r.roles AS role RETURN role, collect(m.title) AS titles",
        "MATCH (m) WITH collect(m.tags) AS all UNWIND all AS tags UNWIND tags AS tag RETURN collect(DISTINCT tag) AS tags",
        "MATCH path = (p:Person)-[*1..3]-(m:Movie) \
         RETURN [n IN nodes(path) | coalesce(n.title, n.name)] AS names, [r IN relationships(path) | type(r)] AS types",
        "MATCH path = (p:Person)-[*1..3]-(m:Movie) RETURN [n IN nodes(path) | [l IN labels(n) WHERE l <> 'X']] AS labels",
        "MATCH path = (p:Person)-[*]-(m:Movie) RETURN reduce(d = 0, r IN relationships(path) | d + r.km) AS km ORDER BY km",
        "MATCH path = (p:Person)-[*]-(m:Movie) WHERE all(n IN nodes(path) WHERE single(o IN nodes(path) WHERE o = n)) RETURN path",
        "MATCH (p) WHERE any(k IN keys(p) WHERE toLower(toString(p[k])) CONTAINS 'neo') RETURN p",
        "MATCH (p) WHERE any(k IN keys(p) WHERE toString(p[k]) =~ '(?i).*neo.*') RETURN p",
        "MATCH (p:Person) RETURN size(split(p.name, ' ')) AS words, split(p.name, ' ')[0] AS first",
        "MATCH (p:Person) RETURN [w IN split(p.name, ' ') | toUpper(left(w, 1)) + substring(w, 1)] AS words",
        "MATCH (p:Person), (q:Person) WHERE any(w IN split(p.name, ' ') WHERE w IN split(q.name, ' ')) RETURN p.name",
        "MATCH (p:Person) UNWIND split(p.name, ', ') AS part RETURN part, count(*) AS many",
        "MATCH (p:Person) RETURN p.name, [(p)--(m) | [(m)--(q) | q.name]] AS others",
        "MATCH (p) RETURN head([x IN collect(p.tags) WHERE size(x) > 1]) AS tags",
        "MATCH (p:Person) WHERE p.name =~ '(?i).*foo.*bar.*' OR p.name =~ '(?i).*[0-9]+.*' RETURN p.name",
        "UNWIND [{id: 1, tags: ['a', 'b']}, {id: 2, tags: ['c']}] AS row RETURN row.id, [t IN row.tags | toUpper(t)] AS tags",
    ] {
        checked(query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"));
    }
}

#[test]
fn a_time_is_compared_with_its_own_kind() {
    let text = r#"{"nodes": {"Event": [["day", "DATE"], ["at", "DATE_TIME"], ["name", "STRING"]], "Other": [["day", "STRING"]]},
        "relationships": {}, "patterns": []}"#;
    let schema: Schema = serde_json::from_str(text).unwrap();
    let confined = |condition: &str| {
        let query = format!("MATCH (p:Event) WHERE {condition} RETURN p.name AS n");
        let confined = confine(&query, &schema, &StatementLimits::of_rows(5));
        confined.map(|it| it.as_str().to_owned())
    };
    for (written, expected) in [
        ("p.day >= '2025-01-01'", "p.day >= date('2025-01-01')"),
        ("p.day = '2026-01-31'", "p.day = date('2026-01-31')"),
        (
            "'2025-01-01' <= p.day < '2026-01-01'",
            "date('2025-01-01') <= p.day AND p.day < date('2026-01-01')",
        ),
        ("p.day IN ['2025-01-01']", "p.day IN [date('2025-01-01')]"),
        ("p.at >= '2025-01-01'", "p.at >= datetime('2025-01-01')"),
        (
            "p.at > '2025-01-01T09:00:00.5+01:00'",
            "p.at > datetime('2025-01-01T09:00:00.5+01:00')",
        ),
        (
            "date('2025-01-01') <= p.at < date('2026-01-01')",
            "datetime('2025-01-01') <= p.at AND p.at < datetime('2026-01-01')",
        ),
        ("p.day > date()", "p.day > date()"),
        ("p.name > '2025-01-01'", "p.name > '2025-01-01'"),
        (
            "toString(p.day) STARTS WITH '2025'",
            "toString(p.day) STARTS WITH '2025'",
        ),
        ("p.day.year = 2025", "p.day.year = 2025"),
    ] {
        let confined = confined(written).unwrap_or_else(|refusal| panic!("{written}: {refusal}"));
        let expected = format!("MATCH (p:Event) WHERE {expected} RETURN p.name AS n LIMIT 5");
        assert_eq!(confined, expected);
    }
    for (written, expected) in [
        (
            "p.at <= '2025-01-01'",
            "at is a DATE_TIME; write datetime('2025-01-01')",
        ),
        (
            "date('2025-01-01') >= p.at",
            "at is a DATE_TIME; write datetime('2025-01-01')",
        ),
        (
            "p.at > 'T08:00:00Z'",
            "at is a DATE_TIME; write datetime(…)",
        ),
        (
            "p.at > date('2025-01-01')",
            "at is a DATE_TIME; write datetime('2025-01-01')",
        ),
        (
            "p.day > datetime('2025-01-01T00:00:00Z')",
            "day is a DATE; write date('2025-01-01')",
        ),
        (
            "p.day > datetime() - duration('P1Y')",
            "day is a DATE; write date(…)",
        ),
        ("p.day = 'January'", "day is a DATE; write date(…)"),
    ] {
        let refusal = confined(written).unwrap_err().to_string();
        assert!(refusal.ends_with(expected), "{written}: {refusal}");
    }
    let either = "MATCH (p:Event|Other) WHERE p.day = '2026-01-31' RETURN p";
    let either = confine(either, &schema, &StatementLimits::of_rows(5)).unwrap();
    assert!(
        either.as_str().contains("p.day = '2026-01-31'"),
        "{either:?}"
    );
}

#[test]
fn months_between_are_counted_as_months() {
    assert_eq!(
        printed(
            "RETURN duration.between(date('2000-01-01'), date()).years AS y, duration.between(date('2000-01-01'), date()).days AS d"
        ),
        "RETURN duration.inMonths(date('2000-01-01'), date()).years AS y, duration.between(date('2000-01-01'), date()).days AS d LIMIT 50"
    );
}

#[test]
fn groups_are_sorted_by_the_names_of_their_columns() {
    for (query, expected) in [
        (
            "MATCH (p:Person)-->(m) RETURN p.name AS actor, count(m) AS films ORDER BY count(m) DESC, p.name",
            "MATCH (p:Person)-[:ACTED_IN|FOLLOWS]->(m:Movie|Person) RETURN p.name AS actor, count(m) AS films \
             ORDER BY films DESC, actor LIMIT 50",
        ),
        (
            "MATCH (p:Person) RETURN p.name AS actor ORDER BY p.name",
            "MATCH (p:Person) RETURN p.name AS actor ORDER BY p.name LIMIT 50",
        ),
    ] {
        assert_eq!(printed(query), expected);
        assert_eq!(printed(expected), expected);
    }
}

#[test]
fn what_was_only_sampled_may_have_more_properties() {
    let mut schema = schema();
    schema.nodes.insert("Rare".to_owned(), Vec::new());
    schema.sampled = ["Rare", "Person", "FOLLOWS"].map(str::to_owned).into();
    let confined = |query| confine(query, &schema, &StatementLimits::of_rows(5));
    for query in [
        "MATCH (r:Rare) RETURN r.name",
        "MATCH (p:Person) RETURN p.height",
        "MATCH (:Person)-[f:FOLLOWS]->() RETURN f.since",
    ] {
        confined(query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"));
    }
    for query in [
        "MATCH (p:Person) RETURN p.nam",
        "MATCH (m:Movie) RETURN m.height",
        "MATCH ()-[r:ACTED_IN]->() RETURN r.since",
    ] {
        assert!(confined(query).is_err(), "{query}");
    }
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
}

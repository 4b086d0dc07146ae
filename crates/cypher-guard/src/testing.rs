//! Generates Cypher statements over a graph of films, each from a list of choices.
//!
//! Covers every operator, every literal syntax, patterns, subqueries and comments. Variables are
//! bound and operands have the types that Neo4j requires, so that most statements could be a
//! model's. Choice 0 is the simplest one, so that shorter lists of smaller numbers make simpler
//! statements: property tests can shrink them, and a fuzzer's bytes are choices too.

/// Returns a statement.
pub fn statement(choices: &[u8]) -> String {
    let mut writer = Writer::new(choices);
    writer.query(0);
    writer.text
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableType {
    Person,
    Movie,
    Relationship,
    Path,
    Number,
    Text,
    Truth,
    List,
    Map,
}

/// Maximum nesting depth of expressions and subqueries.
const DEPTH: usize = 4;

#[derive(Clone, Debug)]
struct Writer<'a> {
    choices: &'a [u8],
    text: String,
    scope: Vec<(String, VariableType)>,
    names: usize,
}

impl<'a> Writer<'a> {
    fn new(choices: &'a [u8]) -> Self {
        Self {
            choices,
            text: String::new(),
            scope: Vec::new(),
            names: 0,
        }
    }

    fn choose(&mut self, of: usize) -> usize {
        let Some((first, rest)) = self.choices.split_first() else {
            return 0;
        };
        self.choices = rest;
        usize::from(*first) % of
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.choose(many) == many - 1
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn any(&mut self, of: &[&str]) {
        let chosen = of[self.choose(of.len())];
        self.push(chosen);
    }

    /// Writes a blank, or what is equivalent to one.
    fn gap(&mut self) {
        let gaps = [
            " ",
            " ",
            " ",
            " ",
            "\n",
            "\t",
            " /* a * b */ ",
            " // to the end\n",
            "\r\n",
        ];
        self.any(&gaps);
    }

    fn word(&mut self, word: &str) {
        if self.one_in(8) {
            self.push(&word.to_lowercase());
        } else {
            self.push(word);
        }
    }

    /// Writes a clause's first word, separated from the text before.
    fn begin(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.gap();
        }
        self.word(word);
        self.gap();
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        let number = self.names;
        match self.choose(12) {
            0..=7 => format!("v{number}"),
            8 => format!("`a b{number}`"),
            9 => format!("`x-{number}`"),
            10 => {
                let words = [
                    "count", "`match`", "filter", "`in`", "exists", "`all`", "let", "next", "id",
                    "node",
                ];
                let word = words[self.choose(words.len())];
                if self.scope.iter().any(|(name, _)| name == word) {
                    format!("v{number}")
                } else {
                    word.to_owned()
                }
            }
            _ => format!("`{number}th`"),
        }
    }

    fn bind(&mut self, kind: VariableType) -> String {
        let name = self.fresh();
        self.scope.push((name.clone(), kind));
        name
    }

    /// Returns a bound variable of one of these types.
    fn bound(&mut self, kinds: &[VariableType]) -> Option<String> {
        let all: Vec<String> = self
            .scope
            .iter()
            .filter(|(_, kind)| kinds.contains(kind))
            .map(|(name, _)| name.clone())
            .collect();
        if all.is_empty() {
            return None;
        }
        let at = self.choose(all.len());
        Some(all[at].clone())
    }

    fn list_of(&mut self, most: usize, separator: &str, mut one: impl FnMut(&mut Self)) {
        let many = 1 + self.choose(most);
        for at in 0..many {
            if at > 0 {
                self.push(separator);
            }
            one(self);
        }
    }

    fn within(&mut self, open: &str, close: &str, one: impl FnOnce(&mut Self)) {
        self.push(open);
        one(self);
        self.push(close);
    }

    // Clauses.

    fn query(&mut self, depth: usize) {
        let branches = if self.one_in(8) {
            2 + self.choose(2)
        } else {
            1
        };
        let all = self.choose(2) == 1;
        let columns: Vec<String> = (0..=self.choose(2)).map(|at| format!("c{at}")).collect();
        let around = self.scope.clone();
        for branch in 0..branches {
            if branch > 0 {
                self.gap();
                self.word("UNION");
                self.push(if all { " ALL" } else { "" });
            }
            self.scope.clone_from(&around);
            for _ in 0..self.choose(4) {
                self.clause(depth);
            }
            let names = if branches > 1 {
                columns.as_slice()
            } else {
                &[]
            };
            self.returned(names, depth);
        }
        self.scope = around;
    }

    fn clause(&mut self, depth: usize) {
        match self.choose(8) {
            0..=3 => self.matched(depth),
            4 => {
                self.begin("UNWIND");
                self.list(depth);
                self.push(" AS ");
                let name = self.bind(VariableType::Number);
                self.push(&name);
                // The list's elements may have any type: treated as numbers from here.
                self.scope.pop();
                self.scope.push((name, VariableType::Map));
            }
            5 if depth < DEPTH && !self.scope.is_empty() => self.with(depth),
            6 if depth < DEPTH => self.call(depth),
            _ => self.matched(depth),
        }
    }

    fn matched(&mut self, depth: usize) {
        let optional = self.one_in(5);
        self.begin(if optional { "OPTIONAL MATCH" } else { "MATCH" });
        self.list_of(2, ", ", |writer| writer.path(true, depth));
        self.condition(depth);
    }

    fn condition(&mut self, depth: usize) {
        if self.choose(2) == 1 {
            self.begin("WHERE");
            self.truth(depth);
        }
    }

    fn with(&mut self, depth: usize) {
        self.begin("WITH");
        self.any(&["", "", "", "DISTINCT "]);
        let star = self.one_in(4);
        let before = self.scope.clone();
        let mut after = if star { before.clone() } else { Vec::new() };
        if star {
            self.push("*");
        } else {
            let at = self.choose(before.len());
            self.push(&before[at].0);
            after.push(before[at].clone());
        }
        for _ in 0..self.choose(3) {
            self.push(", ");
            let kind = self.kinded(depth);
            self.push(" AS ");
            let name = self.fresh();
            self.push(&name);
            after.push((name, kind));
        }
        self.scope = after;
        self.order(depth);
        self.condition(depth);
    }

    fn order(&mut self, depth: usize) {
        if self.one_in(4) {
            self.push(" ");
            self.word("ORDER BY");
            self.push(" ");
            self.list_of(2, ", ", |writer| {
                writer.value(depth + 1);
                writer.any(&["", " DESC", " ASC", " descending"]);
            });
        }
        if self.one_in(5) {
            self.any(&[" SKIP 1", " OFFSET 2", " SKIP $many"]);
        }
        if self.one_in(5) {
            self.any(&[" LIMIT 5", " limit 1000", " LIMIT $many"]);
        }
    }

    fn call(&mut self, depth: usize) {
        self.begin("CALL");
        let around = self.scope.clone();
        let known = self.bound(&[
            VariableType::Person,
            VariableType::Movie,
            VariableType::Number,
            VariableType::Text,
        ]);
        match (self.choose(4), known) {
            (1, Some(name)) => {
                self.push(&format!("({name}) {{ "));
                self.scope.retain(|(other, _)| *other == name);
            }
            (2, _) => self.push("(*) { "),
            (3, Some(name)) => {
                self.push(&format!("{{ WITH {name} "));
                self.scope.retain(|(other, _)| *other == name);
            }
            (_, _) => {
                self.push("{ ");
                self.scope.clear();
            }
        }
        for _ in 0..self.choose(3) {
            self.clause(depth + 2);
        }
        self.begin("RETURN");
        let kind = self.kinded(depth + 1);
        self.push(" AS ");
        let name = self.fresh();
        self.push(&name);
        self.push(" }");
        self.scope = around;
        self.scope.push((name, kind));
    }

    /// Uses these column names, or generates some.
    fn returned(&mut self, columns: &[String], depth: usize) {
        self.begin("RETURN");
        self.any(&["", "", "", "DISTINCT "]);
        if columns.is_empty() && self.one_in(8) && !self.scope.is_empty() {
            self.push("*");
        } else if columns.is_empty() {
            let mut at = 0;
            self.list_of(3, ", ", |writer| {
                at += 1;
                writer.item(depth);
                if writer.choose(3) > 0 || at > 1 {
                    writer.push(&format!(" AS r{at}"));
                }
            });
        } else {
            for (at, name) in columns.iter().enumerate() {
                self.push(if at > 0 { ", " } else { "" });
                self.item(depth);
                self.push(&format!(" AS {name}"));
            }
        }
        if columns.is_empty() && self.one_in(4) {
            self.any(&[
                " LIMIT 7",
                " SKIP 1 LIMIT 1000",
                " OFFSET 1",
                " LIMIT $many",
                " ORDER BY 1 DESC",
            ]);
        }
    }

    fn item(&mut self, depth: usize) {
        if !self.one_in(6) {
            return self.value(depth);
        }
        self.any(&[
            "count(*)",
            "COUNT( * )",
            "count(DISTINCT ",
            "collect(",
            "max(",
            "min(",
        ]);
        if self.text.ends_with(['*', ')']) {
            return;
        }
        self.value(depth + 1);
        self.push(")");
    }

    // Patterns.

    /// Writes a path; `binds`: its variables may be bound.
    fn path(&mut self, binds: bool, depth: usize) {
        let around = self.scope.len();
        let is_short = binds && self.one_in(8);
        let named = binds && self.one_in(4);
        let name = named.then(|| self.fresh());
        if let Some(name) = &name {
            self.push(&format!("{name} = "));
        }
        if is_short {
            let call = ["shortestPath(", "allShortestPaths("][self.choose(2)];
            self.push(call);
            self.push("(:Person)");
            self.arrow(true, depth);
            self.push("(:Movie {title: 'Speed'}))");
        } else if binds && self.one_in(8) {
            self.group(depth);
        } else {
            self.node(binds, depth);
            for _ in 0..self.choose(3) {
                self.arrow(false, depth);
                self.node(binds, depth);
            }
        }
        if !binds {
            self.scope.truncate(around);
        }
        if let Some(name) = name {
            self.scope.push((name, VariableType::Path));
        }
    }

    /// `(:A) ((x)-[]->(y) WHERE …){1,2} (:B)`
    fn group(&mut self, depth: usize) {
        self.push("(:Person) ");
        let around = self.scope.len();
        self.push("((");
        let name = self.bind(VariableType::Person);
        self.push(&name);
        self.push(":Person)-[:FOLLOWS]->()");
        self.condition(depth + 2);
        self.push(")");
        self.any(&["{1,2}", "+", "*", "{2}", "{,3}", "{1,}"]);
        self.scope.truncate(around);
        self.scope.push((name, VariableType::List));
        self.push(" (:Person)");
    }

    fn node(&mut self, binds: bool, depth: usize) {
        self.push("(");
        let known = if self.choose(2) == 1 {
            self.bound(&[VariableType::Person, VariableType::Movie])
        } else {
            None
        };
        if let Some(name) = known {
            self.push(&name);
            return self.push(")");
        }
        let is_movie = self.choose(2) == 1;
        if binds && self.choose(3) > 0 {
            let name = self.bind(if is_movie {
                VariableType::Movie
            } else {
                VariableType::Person
            });
            self.push(&name);
        }
        match (self.choose(3), is_movie) {
            (0, _) => {}
            (1, true) => self.push(":Movie"),
            (1, false) => self.push(":Person"),
            (_, _) => self.any(&[
                ":Person|Movie",
                ":%",
                ":!Movie",
                ":(Person|Movie)&!`Odd Thing`",
                " IS Person",
                ":Person:Movie",
                ":`Odd Thing`",
                ":!!Person|Movie&!Person",
            ]),
        }
        if self.one_in(5) {
            self.push(if is_movie { " {title: " } else { " {name: " });
            self.string(depth + 2);
            self.push("}");
        }
        if binds && self.one_in(8) {
            self.push(" WHERE ");
            self.truth(depth + 2);
        }
        self.push(")");
    }

    fn arrow(&mut self, is_long: bool, depth: usize) {
        let arrows = [("-", "->"), ("<-", "-"), ("-", "-"), ("<-", "->")];
        let (from, to) = arrows[self.choose(4)];
        self.push(from);
        if is_long || self.choose(3) > 0 {
            self.push("[");
            if !is_long && self.one_in(3) && depth == 0 {
                let name = self.bind(VariableType::Relationship);
                self.push(&name);
            }
            self.any(&[
                "",
                ":ACTED_IN",
                ":ACTED_IN|DIRECTED",
                ":!FOLLOWS",
                ":%",
                ":ACTED_IN|:FOLLOWS",
                ":(ACTED_IN|DIRECTED)&!DIRECTED",
                " IS FOLLOWS",
            ]);
            if is_long {
                self.any(&["*", "*..3", "*1..4"]);
            } else if self.text.ends_with(|c: char| c != '[')
                && !self.scope.last().is_some_and(|(name, kind)| {
                    *kind == VariableType::Relationship && self.text.contains(&format!("[{name}"))
                })
            {
                self.any(&["", "", "", "*", "*2", "*1..3", "*..2", "*0..1"]);
            }
            self.push("]");
        }
        self.push(to);
    }

    // Expressions.

    /// Writes an expression of any type, and returns the type.
    fn kinded(&mut self, depth: usize) -> VariableType {
        match self.choose(5) {
            0 => self.number(depth),
            1 => {
                self.string(depth);
                return VariableType::Text;
            }
            2 => {
                self.truth(depth);
                return VariableType::Truth;
            }
            3 => {
                self.list(depth);
                return VariableType::List;
            }
            _ => {
                self.map(depth);
                return VariableType::Map;
            }
        }
        VariableType::Number
    }

    fn value(&mut self, depth: usize) {
        match self.choose(8) {
            0 => {
                let known = self.scope.len();
                if known == 0 {
                    return self.number(depth);
                }
                let at = self.choose(known);
                let name = self.scope[at].0.clone();
                self.push(&name);
            }
            1 => self.push("null"),
            2 if depth < DEPTH => self.within("(", ")", |writer| writer.value(depth + 1)),
            3 => self.any(&[
                "$name",
                "$many",
                "point({x: 1, y: 2.5})",
                "date('2020-01-31')",
                "duration({days: 2})",
                "date().year",
            ]),
            _ => {
                self.kinded(depth);
            }
        }
    }

    fn is_leaf(&mut self, depth: usize) -> bool {
        depth >= DEPTH || self.choose(3) == 0
    }

    fn operators(&mut self, all: &[&str], depth: usize, one: fn(&mut Self, usize)) {
        one(self, depth + 1);
        for _ in 0..=self.choose(2) {
            self.gap();
            self.any(all);
            self.gap();
            one(self, depth + 1);
        }
    }

    fn number(&mut self, depth: usize) {
        if self.is_leaf(depth) {
            if self.choose(3) == 2
                && let Some(name) = self.bound(&[VariableType::Number])
            {
                return self.push(&name);
            }
            return self.any(&[
                "1",
                "0",
                "2.5",
                "0x1F",
                "1_000",
                ".5",
                "1e3",
                "2.5E-3",
                "9223372036854775807",
                "-1",
                "- 7",
                "+3",
                "0o17",
                "1.0",
                "1e308",
                "123456789.125",
            ]);
        }
        match self.choose(16) {
            0 => self.operators(&["+", "-"], depth, Self::number),
            1 => self.operators(&["*", "/", "%"], depth, Self::number),
            2 => self.operators(&["^"], depth, Self::number),
            3 => self.operators(&["+", "-", "*", "/", "%", "^"], depth, Self::number),
            4 => self.within("(", ")", |writer| writer.number(depth + 1)),
            5 => {
                self.any(&["-", "- ", "+", "+ ", "- -", "-(", "+-"]);
                let open = self.text.ends_with('(');
                self.number(depth + 1);
                self.push(if open { ")" } else { "" });
            }
            6 => self.property(VariableType::Person, "born"),
            7 => self.within("size(", ")", |writer| writer.list(depth + 1)),
            8 => self.within("size(", ")", |writer| writer.string(depth + 1)),
            9 => {
                self.any(&[
                    "abs(",
                    "toInteger(",
                    "toFloat(",
                    "round(",
                    "sign(",
                    "ToInteger(",
                ]);
                self.number(depth + 1);
                self.push(")");
            }
            10 => self.subquery(&["COUNT", "size", "count"], depth),
            11 => self.cased(depth, Self::number),
            12 => {
                let (total, item) = (self.fresh(), self.fresh());
                self.push(&format!("reduce({total} = "));
                self.number(depth + 1);
                self.push(&format!(", {item} IN "));
                self.list(depth + 1);
                self.push(" | ");
                self.push(&format!("{total} + "));
                self.number(DEPTH);
                self.push(")");
            }
            13 => {
                self.push("[1, 2.5][");
                self.number(DEPTH);
                self.push("]");
            }
            14 if self.bound(&[VariableType::Path]).is_some() => {
                let path = self.bound(&[VariableType::Path]).unwrap_or_default();
                self.push(&format!("length({path})"));
            }
            _ => {
                self.push("{a: ");
                self.number(depth + 1);
                self.push("}.a");
            }
        }
    }

    fn property(&mut self, kind: VariableType, property: &str) {
        match self.bound(&[kind]) {
            Some(name) if self.one_in(5) => self.push(&format!("{name}.`{property}`")),
            Some(name) if self.one_in(5) => self.push(&format!("{name}['{property}']")),
            Some(name) => self.push(&format!("{name}.{property}")),
            None => self.push("null"),
        }
    }

    fn string(&mut self, depth: usize) {
        if self.is_leaf(depth) {
            if self.choose(3) == 2
                && let Some(name) = self.bound(&[VariableType::Text])
            {
                return self.push(&name);
            }
            return self.any(&[
                "'x'",
                "''",
                r"'it\'s'",
                "\"double\"",
                r#""a \"b\" c""#,
                r"'\\'",
                r"'\u00e9\t\n'",
                "'ü☃'",
                "'`'",
                "'// no comment'",
                "'a /* b */'",
                r"'\\u0027'",
                "'two\nlines'",
                r#"'a"b'"#,
                r"'$name {x}'",
            ]);
        }
        match self.choose(10) {
            0 => self.operators(&["+", "||"], depth, Self::string),
            1 => self.within("(", ")", |writer| writer.string(depth + 1)),
            2 => self.property(VariableType::Person, "name"),
            3 => self.property(VariableType::Movie, "title"),
            4 => {
                self.any(&["toLower(", "toUpper(", "trim(", "reverse(", "TOLOWER("]);
                self.string(depth + 1);
                self.push(")");
            }
            5 => {
                self.push("coalesce(");
                self.string(depth + 1);
                self.push(", 'none')");
            }
            6 => {
                self.push("replace(");
                self.string(depth + 1);
                self.push(", 'a', 'b')");
            }
            7 => self.cased(depth, Self::string),
            8 => self.within("toString(", ")", |writer| writer.number(depth + 1)),
            _ => {
                self.push("left(");
                self.string(depth + 1);
                self.push(", 2)");
            }
        }
    }

    fn truth(&mut self, depth: usize) {
        if self.is_leaf(depth) {
            if self.choose(3) == 2
                && let Some(name) = self.bound(&[VariableType::Truth])
            {
                return self.push(&name);
            }
            return self.any(&["true", "false", "TRUE", "1 < 2"]);
        }
        match self.choose(18) {
            0 => self.operators(&["AND", "OR", "XOR", "and"], depth, Self::truth),
            1 => self.operators(&["AND"], depth, Self::truth),
            2 => self.operators(&["OR"], depth, Self::truth),
            3 => {
                self.any(&["NOT ", "not ", "NOT NOT ", "NOT ("]);
                let open = self.text.ends_with('(');
                self.truth(depth + 1);
                self.push(if open { ")" } else { "" });
            }
            4 => self.within("(", ")", |writer| writer.truth(depth + 1)),
            5 => self.operators(&["=", "<>", "<", "<=", ">", ">="], depth, Self::number),
            6 => {
                self.string(depth + 1);
                self.any(&[" STARTS WITH ", " ENDS WITH ", " CONTAINS ", " contains "]);
                self.string(depth + 1);
            }
            7 => {
                self.string(depth + 1);
                self.any(&[
                    " =~ '.*a.*'",
                    " =~ \"(?i)x[a-z]+\"",
                    r" =~ '\\d{2}|ab?'",
                    " =~ $name",
                ]);
            }
            8 => {
                self.value(DEPTH);
                self.any(&[" IN ", " NOT IN ", " in "]);
                self.list(depth + 1);
            }
            9 => {
                self.value(depth + 1);
                self.any(&[" IS NULL", " IS NOT NULL", " is null"]);
            }
            10 => {
                self.any(&["all(", "any(", "none(", "single(", "ANY("]);
                self.filtered(depth, true);
                self.push(")");
            }
            11 => self.subquery(&["EXISTS"], depth),
            12 => self.predicate(depth),
            13 => self.label_test(),
            14 => self.cased(depth, Self::truth),
            15 => {
                self.push("exists(");
                self.property(VariableType::Person, "name");
                self.push(")");
                if self.text.ends_with("(null)") {
                    let length = self.text.len() - "exists(null)".len();
                    self.text.truncate(length);
                    self.push("isEmpty('')");
                }
            }
            16 => self.within("isEmpty(", ")", |writer| writer.list(depth + 1)),
            _ => {
                self.truth(depth + 1);
                self.any(&[" = ", " <> "]);
                self.truth(DEPTH);
            }
        }
    }

    /// `(p)-[:ACTED_IN]->(:Movie)`
    fn predicate(&mut self, depth: usize) {
        let Some(name) = self.bound(&[VariableType::Person, VariableType::Movie]) else {
            return self.push("true");
        };
        self.any(&["", "", "NOT ", "exists("]);
        let open = self.text.ends_with("exists(");
        self.push(&format!("({name})"));
        self.arrow(false, depth + 1);
        self.node(false, depth);
        self.push(if open { ")" } else { "" });
    }

    fn label_test(&mut self) {
        let Some(name) = self.bound(&[VariableType::Person, VariableType::Movie]) else {
            return self.push("false");
        };
        self.any(&["", "(", "NOT "]);
        let open = self.text.ends_with('(');
        self.push(&name);
        self.any(&[
            ":Person",
            ":Person|Movie",
            ":Person&!Movie",
            ":`Odd Thing`",
            ":Person:Movie",
            ":!(Person|Movie)",
        ]);
        self.push(if open { ")" } else { "" });
    }

    /// `x IN list WHERE …`
    fn filtered(&mut self, depth: usize, always: bool) {
        let name = self.fresh();
        self.push(&format!("{name} IN "));
        self.list(depth + 1);
        self.scope.push((name, VariableType::Map));
        if always || self.choose(2) == 1 {
            self.push(" WHERE ");
            self.truth(depth + 1);
        }
        if !always && self.choose(2) == 1 {
            self.push(" | ");
            self.value(depth + 1);
        }
        self.scope.pop();
    }

    fn list(&mut self, depth: usize) {
        if self.is_leaf(depth) {
            if self.choose(3) == 2
                && let Some(name) = self.bound(&[VariableType::List])
            {
                return self.push(&name);
            }
            return self.any(&[
                "[1, 2]",
                "[]",
                "['a', null]",
                "range(1, 3)",
                "[[1], [2, 3]]",
            ]);
        }
        match self.choose(14) {
            0 => self.within("[", "]", |writer| {
                writer.list_of(3, ", ", |writer| writer.value(depth + 1))
            }),
            1 => self.within("[", "]", |writer| writer.filtered(depth, false)),
            2 => self.operators(&["+", "||"], depth, Self::list),
            3 => {
                self.list(depth + 1);
                self.any(&[
                    "[1..2]",
                    "[..1]",
                    "[1..]",
                    "[-2..]",
                    "[1 .. 2]",
                    "[toInteger('1')..2]",
                ]);
            }
            4 => {
                self.any(&["tail(", "reverse("]);
                self.list(depth + 1);
                self.push(")");
            }
            5 => self.pattern_comprehension(depth),
            6 => self.subquery(&["COLLECT"], depth),
            7 => self.cased(depth, Self::list),
            8 => self.within("(", ")", |writer| writer.list(depth + 1)),
            9 => {
                let name = self.bound(&[VariableType::Person, VariableType::Movie]);
                let name = name.unwrap_or_else(|| "{a: 1}".to_owned());
                self.any(&["keys(", "Keys("]);
                self.push(&format!("{name})"));
            }
            10 => {
                let list = self
                    .bound(&[VariableType::Path])
                    .map_or_else(|| "[3]".to_owned(), |path| format!("nodes({path})"));
                self.push(&list);
            }
            11 => self.within("[", "]", |writer| {
                // Looks like a comprehension and is none.
                writer.within("(", ")", |writer| {
                    writer.value(DEPTH);
                    writer.push(" IN [1, 2]");
                });
                writer.any(&["", " AND true", " OR false", ", 1"]);
            }),
            12 => self.within("split(", ", ',')", |writer| writer.string(depth + 1)),
            _ => self.push("range(0, size('abc') - 1)"),
        }
    }

    /// `[(p)--(m) WHERE … | …]`
    fn pattern_comprehension(&mut self, depth: usize) {
        let Some(name) = self.bound(&[VariableType::Person, VariableType::Movie]) else {
            return self.push("[2]");
        };
        let around = self.scope.len();
        self.push("[");
        if self.one_in(4) {
            let path = self.bind(VariableType::Path);
            self.push(&format!("{path} = "));
        }
        self.push(&format!("({name})"));
        self.arrow(false, depth.max(1));
        self.node(true, DEPTH);
        if self.choose(2) == 1 {
            self.push(" WHERE ");
            self.truth(depth + 1);
        }
        self.push(" | ");
        self.value(depth + 1);
        self.push("]");
        self.scope.truncate(around);
    }

    fn map(&mut self, depth: usize) {
        if self.is_leaf(depth) {
            return self.any(&["{a: 1}", "{}", "{`a b`: 'x', c: null}", "{`match`: true}"]);
        }
        match (self.choose(3), self.bound(&[VariableType::Person])) {
            (0, _) => {
                self.push("{a: ");
                self.value(depth + 1);
                self.push(", `b-c`: ");
                self.value(depth + 1);
                self.push("}");
            }
            (1, Some(name)) => {
                self.push(&format!("{name} {{"));
                let around = self.scope.clone();
                self.list_of(3, ", ", |writer| match writer.choose(5) {
                    0 => writer.push(".name"),
                    1 => writer.push(".*"),
                    2 => writer.push(".`born`"),
                    3 => {
                        writer.any(&["k: ", "`odd key`: "]);
                        writer.value(depth + 1);
                    }
                    _ => {
                        let at = writer.choose(around.len());
                        writer.push(&around[at].0);
                    }
                });
                self.push("}");
            }
            (_, Some(name)) => self.push(&format!("properties({name})")),
            (_, None) => self.push("{b: [1, {c: 2}]}"),
        }
    }

    fn cased(&mut self, depth: usize, one: fn(&mut Self, usize)) {
        self.word("CASE");
        let simple = self.choose(2) == 1;
        if simple {
            self.push(" ");
            self.number(depth + 1);
        }
        for _ in 0..=self.choose(2) {
            self.push(" WHEN ");
            if simple {
                self.number(depth + 1);
                self.any(&["", "", ", 7"]);
            } else {
                self.truth(depth + 1);
            }
            self.push(" THEN ");
            one(self, depth + 1);
        }
        if self.choose(2) == 1 {
            self.push(" ELSE ");
            one(self, depth + 1);
        }
        self.push(" END");
    }

    /// `EXISTS { … }`, `COUNT { … }`, `COLLECT { … }`
    fn subquery(&mut self, words: &[&str], depth: usize) {
        self.any(words);
        self.any(&[" { ", "{", " {"]);
        let around = self.scope.clone();
        let needs_query = words == ["COLLECT"];
        if !needs_query && self.choose(2) == 0 {
            self.path(true, depth + 2);
            self.condition(depth + 2);
        } else {
            self.push("MATCH ");
            self.path(true, depth + 2);
            self.condition(depth + 2);
            self.push(" RETURN ");
            self.value(depth + 2);
            self.push(" AS it");
        }
        self.scope = around;
        self.push(" }");
    }
}

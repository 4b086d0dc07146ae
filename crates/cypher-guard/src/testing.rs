//! Generates Cypher statements over a graph of films, each from a list of choices.
//!
//! Covers every operator, every literal syntax, patterns, subqueries and comments. Variables are
//! bound and operands have the types that Neo4j requires, so that most statements could be a
//! model's. Choice 0 is the simplest one, so that shorter lists of smaller numbers make simpler
//! statements: property tests can shrink them, and a fuzzer's bytes are choices too.

mod expressions;

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
}

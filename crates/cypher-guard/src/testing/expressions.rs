//! Writes the expressions of a statement.

use super::{DEPTH, VariableType, Writer};

impl Writer<'_> {
    /// Writes an expression of any type, and returns the type.
    pub(super) fn kinded(&mut self, depth: usize) -> VariableType {
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

    pub(super) fn value(&mut self, depth: usize) {
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

    pub(super) fn string(&mut self, depth: usize) {
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

    pub(super) fn truth(&mut self, depth: usize) {
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

    pub(super) fn list(&mut self, depth: usize) {
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

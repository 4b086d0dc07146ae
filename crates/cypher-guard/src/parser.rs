//! Parses tokens into a tree. It accepts the part of Cypher that reads, and nothing else.
//!
//! It is a recursive-descent parser based on the grammar of Neo4j 5. All other clauses are refused
//! by name. Other parsers were measured first (`docs/confinement.md` explains why this one was
//! written).

mod expressions;
mod patterns;

use super::lexer::{CypherTokenKind, Token, tokens};
use super::problem::{CheckResult, Problem};
use super::tree::{
    Aside, Branch, ByteOffset, Clause, Direction, Expr, Imports, Name, Projection, ProjectionItem,
    Query, Subquery,
};

/// Maximum characters of a statement. The longest of 8,702 statements by models has 790.
const MAX_LENGTH: usize = 16_000;

/// Maximum tokens of a statement: words, numbers, strings, signs. The longest by a model has 170.
const MAX_TOKENS: usize = 3_000;

/// Maximum nesting depth of brackets, subqueries, `NOT`s and signs.
const MAX_DEPTH: usize = 32;

/// Maximum number of tokens read per token of the statement. Where a bracket can begin a pattern or
/// an expression, both are tried.
const MAX_EFFORT: usize = 20;

/// Parses one statement.
pub(super) fn parse(text: &str) -> CheckResult<Query> {
    let length = text.chars().count();
    if length > MAX_LENGTH {
        return Err(Problem::of_all(format!(
            "the statement has {length} characters, and at most {MAX_LENGTH} are read"
        ))
        .advice("ask for less at once"));
    }
    let tokens = tokens(text)?;
    if tokens.len() > MAX_TOKENS {
        return Err(Problem::of_all(format!(
            "the statement has {} words and signs, and at most {MAX_TOKENS} are read",
            tokens.len()
        ))
        .advice("ask for less at once"));
    }
    let mut parser = Parser {
        text,
        effort: tokens.len() * MAX_EFFORT,
        tokens,
        next: 0,
        depth: 0,
    };
    let query = parser.query()?;
    parser.consume_sign(";");
    parser.end_of_statement()?;
    Ok(query)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    /// Number of tokens that may still be read.
    effort: usize,
}

/// Words that begin what follows an expression, so that a variable needs backticks to have this
/// name.
const RESERVED: &[&str] = &[
    "WHERE",
    "WITH",
    "RETURN",
    "MATCH",
    "OPTIONAL",
    "ORDER",
    "SKIP",
    "OFFSET",
    "LIMIT",
    "UNION",
    "UNWIND",
    "CALL",
    "AND",
    "OR",
    "XOR",
    "NOT",
    "IN",
    "IS",
    "AS",
    "WHEN",
    "THEN",
    "ELSE",
    "ASC",
    "DESC",
    "ASCENDING",
    "DESCENDING",
    "DISTINCT",
    "STARTS",
    "ENDS",
    "CONTAINS",
    "SET",
    "CREATE",
    "MERGE",
    "DELETE",
    "DETACH",
    "REMOVE",
    "FOREACH",
    "YIELD",
    "FINISH",
    "USE",
];

impl Parser<'_> {
    fn token(&self) -> &Token {
        // `End` is the last token and is never consumed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn token_ahead(&self, by: usize) -> &Token {
        &self.tokens[(self.next + by).min(self.tokens.len() - 1)]
    }

    fn current_offset(&self) -> ByteOffset {
        Aside(self.token().start)
    }

    fn advance(&mut self) -> CheckResult<()> {
        if self.effort == 0 {
            return Err(Problem::of_all("the statement is too entangled to be read")
                .advice("ask for less at once"));
        }
        self.skip(1);
        Ok(())
    }

    fn skip(&mut self, tokens: usize) {
        self.next += tokens;
        self.effort = self.effort.saturating_sub(tokens);
    }

    fn is_sign_ahead(&self, by: usize, sign: &str) -> bool {
        matches!(self.token_ahead(by).kind, CypherTokenKind::Symbol(symbol) if symbol == sign)
    }

    fn is_word_ahead(&self, by: usize, word: &str) -> bool {
        let token = self.token_ahead(by);
        token.kind == CypherTokenKind::Word
            && self.text[token.start..token.end].eq_ignore_ascii_case(word)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.is_sign_ahead(0, sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_ahead(0, word)
    }

    /// Consumes the sign if it is next.
    fn consume_sign(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        self.skip(usize::from(is_next));
        is_next
    }

    /// Consumes the word if it is next.
    fn consume_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.skip(usize::from(is_next));
        is_next
    }

    /// Consumes the words if all of them are next.
    fn words(&mut self, words: &[&str]) -> bool {
        let are_next = (0..)
            .zip(words)
            .all(|(by, word)| self.is_word_ahead(by, word));
        if are_next {
            self.skip(words.len());
        }
        are_next
    }

    fn expect(&mut self, sign: &str) -> CheckResult<()> {
        if self.consume_sign(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{sign}`")))
    }

    fn expect_word(&mut self, word: &str) -> CheckResult<()> {
        if self.consume_word(word) {
            return Ok(());
        }
        Err(self.unexpected(word))
    }

    fn unexpected(&self, expected: &str) -> Problem {
        let token = self.token();
        let found = match &token.kind {
            CypherTokenKind::End => "the statement ends".to_owned(),
            CypherTokenKind::Word
            | CypherTokenKind::Quoted(_)
            | CypherTokenKind::Text(_)
            | CypherTokenKind::Integer(_)
            | CypherTokenKind::Float(_)
            | CypherTokenKind::Symbol(_) => {
                let written: String = self.text[token.start..token.end].chars().take(40).collect();
                format!("`{written}` stands")
            }
        };
        Problem::at(token.start, format!("{found} where {expected} is expected"))
    }

    /// A name: of a variable, label, type, property or column.
    fn name(&mut self, what: &str) -> CheckResult<Name> {
        let token = self.token();
        let at = Aside(token.start);
        let text = match &token.kind {
            CypherTokenKind::Word => self.text[token.start..token.end].to_owned(),
            CypherTokenKind::Quoted(name) => name.clone(),
            CypherTokenKind::Text(_)
            | CypherTokenKind::Integer(_)
            | CypherTokenKind::Float(_)
            | CypherTokenKind::Symbol(_)
            | CypherTokenKind::End => {
                return Err(self.unexpected(what));
            }
        };
        self.advance()?;
        Ok(Name { text, at })
    }

    /// Whether the next word is one that ends the part before it.
    fn is_reserved(&self) -> bool {
        let token = self.token();
        let word = &self.text[token.start..token.end];
        token.kind == CypherTokenKind::Word && RESERVED.iter().any(|r| r.eq_ignore_ascii_case(word))
    }

    /// Parses a part of the grammar one level deeper.
    fn parse_nested<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> CheckResult<T>,
    ) -> CheckResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Problem::at(
                self.current_offset(),
                format!("brackets or operators are nested more than {MAX_DEPTH} deep"),
            )
            .advice("write it flatter"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn comma_separated<T>(
        &mut self,
        mut part: impl FnMut(&mut Self) -> CheckResult<T>,
    ) -> CheckResult<Vec<T>> {
        let mut all = vec![part(self)?];
        while self.consume_sign(",") {
            all.push(part(self)?);
        }
        Ok(all)
    }

    fn end_of_statement(&self) -> CheckResult<()> {
        if self.token().kind == CypherTokenKind::End {
            return Ok(());
        }
        if self.tokens[self.next - 1].kind == CypherTokenKind::Symbol(";") {
            return Err(
                Problem::at(self.current_offset(), "a second statement begins here")
                    .advice("write one statement"),
            );
        }
        Err(self.unsupported_clause())
    }

    fn query(&mut self) -> CheckResult<Query> {
        self.branches(true)
    }

    fn branches(&mut self, must_return: bool) -> CheckResult<Query> {
        let mut branches = vec![self.branch(must_return)?];
        let mut keeps_duplicates = false;
        while self.is_word("UNION") {
            let at = self.current_offset();
            self.advance()?;
            let keeps = self.consume_word("ALL");
            self.consume_word("DISTINCT");
            if branches.len() > 1 && keeps != keeps_duplicates {
                return Err(Problem::at(at, "UNION and UNION ALL are mixed")
                    .advice("use one of them in a statement"));
            }
            keeps_duplicates = keeps;
            branches.push(self.branch(must_return)?);
        }
        Ok(Query {
            branches,
            keeps_duplicates,
        })
    }

    fn branch(&mut self, must_return: bool) -> CheckResult<Branch> {
        let mut clauses = Vec::new();
        loop {
            if self.is_word("RETURN") {
                let returned = Some(self.projection()?);
                return Ok(Branch { clauses, returned });
            }
            let may_end = !must_return && !clauses.is_empty();
            if may_end && (self.is_sign("}") || self.is_word("UNION")) {
                return Ok(Branch {
                    clauses,
                    returned: None,
                });
            }
            clauses.push(self.clause(!clauses.is_empty())?);
        }
    }

    fn clause(&mut self, is_later: bool) -> CheckResult<Clause> {
        if self.is_word("MATCH") || self.is_word("OPTIONAL") {
            let optional = self.consume_word("OPTIONAL");
            self.expect_word("MATCH")?;
            let pattern = self.pattern()?;
            return Ok(Clause::Match { optional, pattern });
        }
        if self.consume_word("UNWIND") {
            let list = self.expression()?;
            self.expect_word("AS")?;
            let variable = self.name("a variable")?;
            return Ok(Clause::Unwind { list, variable });
        }
        if self.is_word("WITH") {
            let projection = self.projection()?;
            let condition = self.condition()?;
            return Ok(Clause::With {
                projection,
                condition,
            });
        }
        if self.is_word("CALL") && (self.is_sign_ahead(1, "{") || self.is_sign_ahead(1, "(")) {
            self.advance()?;
            return self.call();
        }
        if self.token().kind == CypherTokenKind::End && is_later {
            return Err(
                Problem::at(self.current_offset(), "the statement returns nothing")
                    .advice("end it with RETURN"),
            );
        }
        Err(self.unsupported_clause())
    }

    fn condition(&mut self) -> CheckResult<Option<Expr>> {
        if self.consume_word("WHERE") {
            self.expression().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Parses what follows `CALL`.
    fn call(&mut self) -> CheckResult<Clause> {
        let imports = if !self.consume_sign("(") {
            Imports::ByWith
        } else if self.consume_sign("*") {
            self.expect(")")?;
            Imports::All
        } else {
            let names = if self.is_sign(")") {
                Vec::new()
            } else {
                self.comma_separated(|parser| parser.name("a variable"))?
            };
            self.expect(")")?;
            Imports::Named(names)
        };
        self.expect("{")?;
        let query = self.parse_nested(Self::query)?;
        self.expect("}")?;
        if self.is_word("IN") {
            return Err(self.unsupported_clause());
        }
        Ok(Clause::Call { imports, query })
    }

    /// Parses `WITH` or `RETURN` with everything except `WHERE`.
    fn projection(&mut self) -> CheckResult<Projection> {
        let at = self.current_offset();
        self.advance()?;
        let distinct = self.consume_word("DISTINCT");
        let star = self.consume_sign("*");
        let items = if star && !self.consume_sign(",") {
            Vec::new()
        } else {
            self.comma_separated(Self::item)?
        };
        let order = if self.words(&["ORDER", "BY"]) {
            self.comma_separated(Self::sort_key)?
        } else {
            Vec::new()
        };
        let skip = if self.consume_word("SKIP") || self.consume_word("OFFSET") {
            Some(self.expression()?)
        } else {
            None
        };
        let limit = if self.consume_word("LIMIT") {
            Some(self.expression()?)
        } else {
            None
        };
        Ok(Projection {
            distinct,
            star,
            items,
            order,
            skip,
            limit,
            at,
        })
    }

    fn item(&mut self) -> CheckResult<ProjectionItem> {
        let at = self.current_offset();
        let value = self.expression()?;
        let end = self.tokens[self.next - 1].end;
        let written = Aside(self.text[at.0..end].to_owned());
        let alias = if self.consume_word("AS") {
            Some(self.name("a name")?)
        } else {
            None
        };
        Ok(ProjectionItem {
            value,
            alias,
            written,
            at,
        })
    }

    fn sort_key(&mut self) -> CheckResult<(Expr, Direction)> {
        let key = self.expression()?;
        let descends = self.consume_word("DESC") || self.consume_word("DESCENDING");
        if descends {
            return Ok((key, Direction::Descending));
        }
        let _default = self.consume_word("ASC") || self.consume_word("ASCENDING");
        Ok((key, Direction::Ascending))
    }

    /// Parses the content of the braces of `EXISTS` and `COUNT`, where `RETURN` is optional.
    fn pattern_or_query(&mut self) -> CheckResult<Subquery> {
        let is_name = matches!(
            self.token().kind,
            CypherTokenKind::Word | CypherTokenKind::Quoted(_)
        );
        let is_pattern = self.is_sign("(")
            || (is_name && self.is_sign_ahead(1, "="))
            || self.is_word("shortestPath")
            || self.is_word("allShortestPaths");
        if is_pattern {
            let mut pattern = self.pattern()?;
            // `EXISTS { (a)-->(b) AND … }`: WHERE is meant.
            if pattern.condition.is_none() && self.consume_word("AND") {
                pattern.condition = Some(self.expression()?);
            }
            return Ok(Subquery::Pattern(pattern));
        }
        self.branches(false).map(Subquery::Query)
    }

    /// Reports the unsupported clause where a clause is expected.
    fn unsupported_clause(&self) -> Problem {
        let token = self.token();
        let word = self.text[token.start..token.end].to_ascii_uppercase();
        let (what, advice) = match word.as_str() {
            "CREATE" | "MERGE" | "SET" | "DELETE" | "DETACH" | "REMOVE" | "FOREACH" | "DROP"
            | "INSERT" | "ALTER" | "RENAME" | "GRANT" | "DENY" | "REVOKE" | "START" | "STOP" => (
                format!("{word} changes the graph, and only reading is allowed"),
                "write a statement of MATCH, WHERE, WITH and RETURN",
            ),
            "LOAD" => (
                "LOAD CSV is not allowed".to_owned(),
                "ask for what is in the graph",
            ),
            "USE" => (
                "USE is not allowed: there is one graph".to_owned(),
                "leave it out",
            ),
            "SHOW" | "TERMINATE" | "ENABLE" | "DEALLOCATE" | "REALLOCATE" | "DRYRUN" => (
                format!("{word} is about the server, and only the graph may be read"),
                "write a statement of MATCH, WHERE, WITH and RETURN",
            ),
            "EXPLAIN" | "PROFILE" | "CYPHER" => {
                (format!("{word} is not allowed"), "write the statement only")
            }
            "CALL" => (
                "procedures are not allowed".to_owned(),
                "use MATCH, or a subquery: CALL { … }",
            ),
            "IN" => (
                "CALL { … } IN TRANSACTIONS is not allowed".to_owned(),
                "leave out IN TRANSACTIONS",
            ),
            "USING" => (
                "hints for the planner are not allowed".to_owned(),
                "leave USING out",
            ),
            "GROUP" | "HAVING" => (
                format!("Cypher has no {word}"),
                "whatever is not aggregated in RETURN or WITH is grouped by; filter with WITH … WHERE",
            ),
            "FINISH" => ("FINISH returns nothing".to_owned(), "end with RETURN"),
            "WHERE" => (
                "WHERE stands where it filters nothing".to_owned(),
                "put it after MATCH or WITH, once",
            ),
            _ => {
                return self
                    .unexpected("MATCH, OPTIONAL MATCH, UNWIND, WITH, CALL { … } or RETURN");
            }
        };
        Problem::at(token.start, what).advice(advice)
    }
}

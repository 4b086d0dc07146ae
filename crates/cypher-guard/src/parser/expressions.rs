//! Parses expressions, the operator with the weakest binding first.

use super::super::lexer::CypherTokenKind;
use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Case, Comprehension, Expr, FunctionCall, Name, NamedPath, Operator, PathElement,
    PatternComprehension, Projected, Quantifier, Reduce, Selector, Strength, Subquery,
    SubqueryKind, Unary,
};
use super::Parser;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> CheckResult<Expr> {
        self.parse_nested(|parser| parser.chain(Strength::Or))
    }

    /// Operators of this strength, with stronger ones between them.
    fn chain(&mut self, strength: Strength) -> CheckResult<Expr> {
        let first = self.stronger(strength)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(strength)? {
            let right = self.stronger(strength)?;
            rest.push((operator, right));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expr::Chain(strength, Box::new(first), rest))
    }

    fn stronger(&mut self, strength: Strength) -> CheckResult<Expr> {
        match strength {
            Strength::Or => self.chain(Strength::Xor),
            Strength::Xor => self.chain(Strength::And),
            Strength::And => self.negation(),
            Strength::Not | Strength::Comparison => self.test(),
            Strength::Test => self.chain(Strength::Sum),
            Strength::Sum => self.chain(Strength::Product),
            Strength::Product => self.chain(Strength::Power),
            Strength::Power | Strength::Sign | Strength::Atom => self.signed(),
        }
    }

    /// Consumes the next operator if it has this strength.
    fn operator(&mut self, strength: Strength) -> CheckResult<Option<Operator>> {
        let found = match strength {
            Strength::Or if self.is_word("OR") => Operator::Or,
            Strength::Xor if self.is_word("XOR") => Operator::Xor,
            Strength::And if self.is_word("AND") => Operator::And,
            Strength::Comparison => match self.token().kind {
                CypherTokenKind::Symbol("=") => Operator::Equal,
                CypherTokenKind::Symbol("<>") => Operator::Unequal,
                CypherTokenKind::Symbol("<") => Operator::Less,
                CypherTokenKind::Symbol("<=") => Operator::LessOrEqual,
                CypherTokenKind::Symbol(">") => Operator::Greater,
                CypherTokenKind::Symbol(">=") => Operator::GreaterOrEqual,
                _ => return Ok(None),
            },
            Strength::Sum => match self.token().kind {
                CypherTokenKind::Symbol("+") => Operator::Plus,
                CypherTokenKind::Symbol("-") => Operator::Minus,
                CypherTokenKind::Symbol("||") => Operator::Concatenate,
                _ => return Ok(None),
            },
            Strength::Product => match self.token().kind {
                CypherTokenKind::Symbol("*") => Operator::Times,
                CypherTokenKind::Symbol("/") => Operator::Divide,
                CypherTokenKind::Symbol("%") => Operator::Modulo,
                _ => return Ok(None),
            },
            Strength::Power if self.is_sign("^") => Operator::Power,
            Strength::Or
            | Strength::Xor
            | Strength::And
            | Strength::Not
            | Strength::Test
            | Strength::Power
            | Strength::Sign
            | Strength::Atom => return Ok(None),
        };
        self.advance()?;
        Ok(Some(found))
    }

    fn negation(&mut self) -> CheckResult<Expr> {
        if self.consume_word("NOT") {
            let inner = self.parse_nested(Self::negation)?;
            return Ok(Expr::Unary(Unary::Not, Box::new(inner)));
        }
        self.chain(Strength::Comparison)
    }

    /// `IN`, `STARTS WITH`, `IS NULL` and similar operators; one at a time.
    fn test(&mut self) -> CheckResult<Expr> {
        let value = self.chain(Strength::Sum)?;
        if self.is_word("IS") {
            return self.null_test(value);
        }
        let operator = match () {
            () if self.words(&["STARTS", "WITH"]) => Operator::StartsWith,
            () if self.words(&["ENDS", "WITH"]) => Operator::EndsWith,
            () if self.consume_word("CONTAINS") => Operator::Contains,
            () if self.consume_word("IN") => Operator::In,
            () if self.consume_sign("=~") => Operator::Matches,
            // SQL syntax for `NOT x IN list`.
            () if self.words(&["NOT", "IN"]) => return self.not_in(value),
            () => return Ok(value),
        };
        let right = self.chain(Strength::Sum)?;
        let tested = Expr::Chain(Strength::Test, Box::new(value), vec![(operator, right)]);
        if self.is_word("IS") {
            return self.null_test(tested);
        }
        Ok(tested)
    }

    fn not_in(&mut self, value: Expr) -> CheckResult<Expr> {
        let list = self.chain(Strength::Sum)?;
        let test = Expr::Chain(Strength::Test, Box::new(value), vec![(Operator::In, list)]);
        Ok(Expr::Unary(Unary::Not, Box::new(test)))
    }

    fn null_test(&mut self, value: Expr) -> CheckResult<Expr> {
        let at = self.current_offset();
        self.advance()?;
        let negated = self.consume_word("NOT");
        if !self.consume_word("NULL") {
            return Err(Problem::at(
                at,
                "IS can only be followed by NULL or NOT NULL here",
            ));
        }
        let value = Box::new(value);
        Ok(Expr::IsNull { value, negated })
    }

    fn signed(&mut self) -> CheckResult<Expr> {
        if self.consume_sign("-") {
            let inner = self.parse_nested(Self::signed)?;
            return Ok(Expr::Unary(Unary::Minus, Box::new(inner)));
        }
        // A unary plus changes nothing, and the embedded engine does not support it.
        if self.consume_sign("+") {
            return self.parse_nested(Self::signed);
        }
        self.postfixed()
    }

    /// An atom, followed by any of `.property`, `[index]`, `:Label`.
    fn postfixed(&mut self) -> CheckResult<Expr> {
        let mut value = self.atom()?;
        let mut length = 0;
        loop {
            if self.consume_sign(".") {
                let property = self.name("a property")?;
                value = Expr::Property(Box::new(value), property);
            } else if self.consume_sign("[") {
                value = self.index_or_slice(value)?;
                self.expect("]")?;
            } else if self.is_sign(":") {
                return self.label_test(value);
            } else {
                return Ok(value);
            }
            length += 1;
            if length > 16 {
                return Err(Problem::at(
                    self.current_offset(),
                    "a chain of more than 16 look-ups",
                ));
            }
        }
    }

    fn index_or_slice(&mut self, value: Expr) -> CheckResult<Expr> {
        let value = Box::new(value);
        let first = if self.is_sign("..") {
            None
        } else {
            Some(Box::new(self.expression()?))
        };
        if !self.consume_sign("..") {
            return match first {
                Some(index) => Ok(Expr::Index(value, index)),
                None => Err(self.unexpected("an index")),
            };
        }
        let last = if self.is_sign("]") {
            None
        } else {
            Some(Box::new(self.expression()?))
        };
        Ok(Expr::Slice(value, first, last))
    }

    fn label_test(&mut self, value: Expr) -> CheckResult<Expr> {
        let at = self.current_offset();
        let Expr::Variable(variable) = value else {
            return Err(Problem::at(at, "only a variable can be tested for a label")
                .advice("bind it with WITH first"));
        };
        self.expect(":")?;
        let labels = self.labels()?;
        Ok(Expr::HasLabels(variable, labels))
    }

    fn atom(&mut self) -> CheckResult<Expr> {
        match self.token().kind.clone() {
            CypherTokenKind::Text(text) => self.literal(Expr::Text(text)),
            CypherTokenKind::Integer(number) => self.literal(Expr::Integer(number)),
            CypherTokenKind::Float(number) => self.literal(Expr::Float(number)),
            CypherTokenKind::Symbol("$") => {
                self.advance()?;
                self.name("a parameter's name").map(Expr::Parameter)
            }
            CypherTokenKind::Symbol("[") => self.in_brackets(),
            CypherTokenKind::Symbol("{") => self.map_entries().map(Expr::Map),
            CypherTokenKind::Symbol("(") => self.in_parentheses(),
            CypherTokenKind::Word => self.word_atom(),
            CypherTokenKind::Quoted(_) => {
                let name = self.name("a variable")?;
                self.after_variable(name)
            }
            CypherTokenKind::Symbol(_) | CypherTokenKind::End => Err(self.unexpected("a value")),
        }
    }

    fn literal(&mut self, value: Expr) -> CheckResult<Expr> {
        self.advance()?;
        Ok(value)
    }

    fn word_atom(&mut self) -> CheckResult<Expr> {
        let is_call = self.is_sign_ahead(1, "(");
        if self.is_word("true") || self.is_word("false") {
            let value = self.is_word("true");
            return self.literal(Expr::Bool(value));
        }
        if self.is_word("null") {
            return self.literal(Expr::Null);
        }
        if self.is_word("CASE") {
            return self.case();
        }
        if self.is_sign_ahead(1, "{")
            && let Some(kind) = self.subquery_kind()
            && !self.is_map_projection()
        {
            return self.subquery(kind);
        }
        if is_call && let Some(special) = self.special_call()? {
            return Ok(special);
        }
        if is_call || self.is_qualified_call() {
            return self.function_call();
        }
        if self.is_reserved() {
            return Err(self.unexpected("a value"));
        }
        let name = self.name("a variable")?;
        self.after_variable(name)
    }

    /// Calls that are not functions: predicates over lists, `reduce`, paths, `count(*)`.
    fn special_call(&mut self) -> CheckResult<Option<Expr>> {
        if self.is_word("shortestPath") || self.is_word("allShortestPaths") {
            let path = self.selected_path(None)?;
            return Ok(Some(Expr::Exists(Box::new(path))));
        }
        if self.is_word("reduce") {
            return self.reduce().map(Some);
        }
        if self.is_word("count") && self.is_sign_ahead(2, "*") && self.is_sign_ahead(3, ")") {
            self.skip(4);
            return Ok(Some(Expr::CountStar));
        }
        let quantifier = match () {
            () if self.is_word("all") => Quantifier::All,
            () if self.is_word("any") => Quantifier::Any,
            () if self.is_word("none") => Quantifier::None,
            () if self.is_word("single") => Quantifier::Single,
            () => return Ok(None),
        };
        self.skip(2);
        let comprehension = self.comprehension()?;
        self.expect(")")?;
        Ok(Some(Expr::Quantified(quantifier, Box::new(comprehension))))
    }

    fn subquery_kind(&self) -> Option<SubqueryKind> {
        match () {
            () if self.is_word("EXISTS") => Some(SubqueryKind::Exists),
            () if self.is_word("COUNT") => Some(SubqueryKind::Count),
            () if self.is_word("COLLECT") => Some(SubqueryKind::Collect),
            // Written for COUNT by mistake.
            () if self.is_word("size") => Some(SubqueryKind::Count),
            () => None,
        }
    }

    /// A variable named `count` can be projected too.
    fn is_map_projection(&self) -> bool {
        let is_named = matches!(
            self.token_ahead(2).kind,
            CypherTokenKind::Word | CypherTokenKind::Quoted(_)
        );
        self.is_sign_ahead(2, ".")
            || self.is_sign_ahead(2, "}")
            || (is_named && self.is_sign_ahead(3, ":"))
    }

    fn subquery(&mut self, kind: SubqueryKind) -> CheckResult<Expr> {
        self.skip(1);
        self.expect("{")?;
        let subquery = self.parse_nested(|parser| match kind {
            SubqueryKind::Exists | SubqueryKind::Count => parser.pattern_or_query(),
            SubqueryKind::Collect => parser.query().map(Subquery::Query),
        })?;
        self.expect("}")?;
        Ok(Expr::Subquery(kind, Box::new(subquery)))
    }

    /// `name.space.function(`
    fn is_qualified_call(&self) -> bool {
        let mut by = 0;
        while self.is_sign_ahead(by + 1, ".")
            && self.token_ahead(by + 2).kind == CypherTokenKind::Word
        {
            by += 2;
        }
        by > 0 && self.is_sign_ahead(by + 1, "(")
    }

    fn function_call(&mut self) -> CheckResult<Expr> {
        let mut function = self.name("a function")?;
        while self.consume_sign(".") {
            let part = self.name("a function")?;
            function.text = format!("{}.{}", function.text, part.text);
        }
        self.expect("(")?;
        let distinct = self.consume_word("DISTINCT");
        let arguments = if self.is_sign(")") {
            Vec::new()
        } else {
            self.comma_separated(Self::expression)?
        };
        self.expect(")")?;
        Ok(Expr::Call(Box::new(FunctionCall {
            function,
            distinct,
            arguments,
        })))
    }

    fn after_variable(&mut self, name: Name) -> CheckResult<Expr> {
        if self.is_sign("{") {
            return self.map_projection(name);
        }
        Ok(Expr::Variable(name))
    }

    fn map_projection(&mut self, name: Name) -> CheckResult<Expr> {
        self.expect("{")?;
        let entries = if self.is_sign("}") {
            Vec::new()
        } else {
            self.comma_separated(Self::projected)?
        };
        self.expect("}")?;
        Ok(Expr::MapProjection(name, entries))
    }

    fn projected(&mut self) -> CheckResult<Projected> {
        if self.consume_sign(".") {
            if self.consume_sign("*") {
                return Ok(Projected::All);
            }
            return self.name("a property").map(Projected::Property);
        }
        let key = self.name("a property")?;
        if self.consume_sign(":") {
            let value = self.expression()?;
            return Ok(Projected::Value(key, value));
        }
        Ok(Projected::Variable(key))
    }

    /// `{key: value, …}`
    pub(super) fn map_entries(&mut self) -> CheckResult<Vec<(Name, Expr)>> {
        self.expect("{")?;
        let entries = if self.is_sign("}") {
            Vec::new()
        } else {
            self.comma_separated(|parser| {
                let key = parser.name("a property")?;
                parser.expect(":")?;
                Ok((key, parser.expression()?))
            })?
        };
        self.expect("}")?;
        Ok(entries)
    }

    fn in_brackets(&mut self) -> CheckResult<Expr> {
        let is_comprehension = self.is_word_ahead(2, "IN")
            && matches!(
                self.token_ahead(1).kind,
                CypherTokenKind::Word | CypherTokenKind::Quoted(_)
            );
        if is_comprehension {
            self.expect("[")?;
            let comprehension = self.parse_nested(Self::comprehension)?;
            self.expect("]")?;
            return Ok(Expr::Comprehension(Box::new(comprehension)));
        }
        let is_pattern = self.is_sign_ahead(1, "(")
            || (self.is_sign_ahead(2, "=") && self.is_sign_ahead(3, "("));
        if is_pattern {
            return self.either(Self::pattern_comprehension, Self::list);
        }
        self.list()
    }

    fn list(&mut self) -> CheckResult<Expr> {
        self.expect("[")?;
        let items = if self.is_sign("]") {
            Vec::new()
        } else {
            self.comma_separated(Self::expression)?
        };
        self.expect("]")?;
        Ok(Expr::List(items))
    }

    fn pattern_comprehension(&mut self) -> CheckResult<Expr> {
        self.expect("[")?;
        let variable = if self.is_sign_ahead(1, "=") {
            let name = self.name("a variable")?;
            self.expect("=")?;
            Some(name)
        } else {
            None
        };
        let path = self.path()?;
        if path.steps.len() < 2 {
            return Err(self.unexpected("a relationship"));
        }
        let path = NamedPath {
            variable,
            selector: Selector::Every,
            path,
        };
        let condition = self.condition()?;
        self.expect("|")?;
        let result = self.expression()?;
        self.expect("]")?;
        Ok(Expr::PatternComprehension(Box::new(PatternComprehension {
            path,
            condition,
            result,
        })))
    }

    /// A path predicate, or an expression in parentheses.
    fn in_parentheses(&mut self) -> CheckResult<Expr> {
        if self.may_be_path() {
            return self.either(Self::path_predicate, Self::parenthesised);
        }
        self.parenthesised()
    }

    fn path_predicate(&mut self) -> CheckResult<Expr> {
        let path = self.selected_path(None)?;
        if let [PathElement::Node(_)] = path.path.steps.as_slice() {
            return Err(self.unexpected("a relationship"));
        }
        Ok(Expr::Exists(Box::new(path)))
    }

    fn parenthesised(&mut self) -> CheckResult<Expr> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    /// Whether the beginning of a relationship follows the next parenthesized part.
    fn may_be_path(&self) -> bool {
        let mut depth = 0_usize;
        for by in 0.. {
            match self.token_ahead(by).kind {
                CypherTokenKind::Symbol("(" | "[" | "{") => depth += 1,
                CypherTokenKind::Symbol(")" | "]" | "}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return self.is_sign_ahead(by + 1, "-") || self.is_sign_ahead(by + 1, "<");
                    }
                }
                CypherTokenKind::End => return false,
                CypherTokenKind::Word
                | CypherTokenKind::Quoted(_)
                | CypherTokenKind::Text(_)
                | CypherTokenKind::Integer(_)
                | CypherTokenKind::Float(_)
                | CypherTokenKind::Symbol(_) => {}
            }
        }
        false
    }

    /// Parses one alternative or, if that fails, another one from the same position. If both fail,
    /// the error of the one that got further is returned.
    fn either(
        &mut self,
        one: impl FnOnce(&mut Self) -> CheckResult<Expr>,
        other: impl FnOnce(&mut Self) -> CheckResult<Expr>,
    ) -> CheckResult<Expr> {
        let (next, depth) = (self.next, self.depth);
        let first = match one(self) {
            Ok(read) => return Ok(read),
            Err(problem) if self.effort == 0 => return Err(problem),
            Err(problem) => problem,
        };
        (self.next, self.depth) = (next, depth);
        other(self).map_err(|second| {
            if first.offset() > second.offset() {
                first
            } else {
                second
            }
        })
    }

    /// `x IN list WHERE … | …`
    fn comprehension(&mut self) -> CheckResult<Comprehension> {
        let variable = self.name("a variable")?;
        self.expect_word("IN")?;
        let list = self.expression()?;
        let condition = self.condition()?;
        let result = if self.consume_sign("|") {
            Some(self.expression()?)
        } else {
            None
        };
        Ok(Comprehension {
            variable,
            list,
            condition,
            result,
        })
    }

    fn reduce(&mut self) -> CheckResult<Expr> {
        self.skip(2);
        let accumulator = self.name("a variable")?;
        self.expect("=")?;
        let start = self.expression()?;
        self.expect(",")?;
        let variable = self.name("a variable")?;
        self.expect_word("IN")?;
        let list = self.expression()?;
        self.expect("|")?;
        let step = self.expression()?;
        self.expect(")")?;
        Ok(Expr::Reduce(Box::new(Reduce {
            accumulator,
            start,
            variable,
            list,
            step,
        })))
    }

    fn case(&mut self) -> CheckResult<Expr> {
        let at = self.current_offset();
        self.advance()?;
        let subject = if self.is_word("WHEN") {
            None
        } else {
            Some(self.expression()?)
        };
        let mut branches = Vec::new();
        while self.consume_word("WHEN") {
            let conditions = self.comma_separated(Self::expression)?;
            self.expect_word("THEN")?;
            branches.push((conditions, self.expression()?));
        }
        if branches.is_empty() {
            return Err(Problem::at(at, "a CASE without WHEN"));
        }
        let otherwise = if self.consume_word("ELSE") {
            Some(self.expression()?)
        } else {
            None
        };
        self.expect_word("END")?;
        Ok(Expr::Case(Box::new(Case {
            subject,
            branches,
            otherwise,
        })))
    }
}

//! Parses patterns: nodes, relationships, and paths of them.

use super::super::lexer::CypherTokenKind;
use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Arrow, Expr, Labels, Name, NamedPath, NodePattern, Path, PathElement, Pattern,
    RelationshipPattern, Selector, Times,
};
use super::Parser;

impl Parser<'_> {
    /// What follows `MATCH`: paths, and optionally `WHERE`.
    pub(super) fn pattern(&mut self) -> CheckResult<Pattern> {
        let paths = self.comma_separated(Self::named_path)?;
        let condition = self.condition()?;
        Ok(Pattern { paths, condition })
    }

    fn named_path(&mut self) -> CheckResult<NamedPath> {
        let is_named = self.is_sign_ahead(1, "=");
        let variable = if is_named {
            let name = self.name("a variable")?;
            self.expect("=")?;
            Some(name)
        } else {
            None
        };
        self.selected_path(variable)
    }

    /// A path, optionally in `shortestPath(…)` or after `ANY SHORTEST`.
    pub(super) fn selected_path(&mut self, variable: Option<Name>) -> CheckResult<NamedPath> {
        let function = match () {
            () if self.is_word("shortestPath") => Some(Selector::ShortestPath),
            () if self.is_word("allShortestPaths") => Some(Selector::AllShortestPaths),
            () => None,
        };
        let (selector, path) = if let Some(selector) = function {
            self.advance()?;
            self.expect("(")?;
            let path = self.path()?;
            self.expect(")")?;
            (selector, path)
        } else {
            (self.selector()?, self.path()?)
        };
        Ok(NamedPath {
            variable,
            selector,
            path,
        })
    }

    fn selector(&mut self) -> CheckResult<Selector> {
        let words = match () {
            () if self.words(&["ANY", "SHORTEST"]) => "ANY SHORTEST",
            () if self.words(&["ALL", "SHORTEST"]) => "ALL SHORTEST",
            () if self.consume_word("ANY") => "ANY",
            () if self.consume_word("SHORTEST") => "SHORTEST",
            () => return Ok(Selector::Every),
        };
        let count = self.small_number()?;
        let _noise = self.consume_word("PATHS") || self.consume_word("PATH");
        let words = match count {
            Some(count) => format!("{words} {count}"),
            None if words == "SHORTEST" => return Err(self.unexpected("a number")),
            None => words.to_owned(),
        };
        Ok(Selector::Words(words))
    }

    /// A path: nodes with relationships between them.
    pub(super) fn path(&mut self) -> CheckResult<Path> {
        let mut steps = vec![self.node_or_group()?];
        loop {
            if self.is_sign("-") || self.is_sign("<") {
                steps.push(PathElement::Relationship(Box::new(self.relationship()?)));
                steps.push(self.node_or_group()?);
            } else if self.is_sign("(") {
                steps.push(self.node_or_group()?);
            } else {
                return Ok(Path { steps });
            }
        }
    }

    fn node_or_group(&mut self) -> CheckResult<PathElement> {
        if !self.is_sign("(") {
            return Err(self.unexpected("a node in parentheses"));
        }
        if self.is_group() {
            return self.parse_nested(Self::group);
        }
        let node = self.parse_nested(Self::node)?;
        Ok(PathElement::Node(Box::new(node)))
    }

    /// `((` or `(p = (`
    fn is_group(&self) -> bool {
        self.is_sign_ahead(1, "(") || (self.is_sign_ahead(2, "=") && self.is_sign_ahead(3, "("))
    }

    fn group(&mut self) -> CheckResult<PathElement> {
        self.expect("(")?;
        if self.is_sign_ahead(1, "=") {
            return Err(Problem::at(
                self.current_offset(),
                "a path inside of a group cannot be named here",
            )
            .advice("name the whole path"));
        }
        let path = self.path()?;
        let condition = self.condition()?;
        self.expect(")")?;
        let times = self.times()?;
        Ok(PathElement::Group {
            path,
            condition,
            times,
        })
    }

    fn node(&mut self) -> CheckResult<NodePattern> {
        let at = self.current_offset();
        self.expect("(")?;
        let variable = self.pattern_variable()?;
        let labels = self.pattern_labels()?;
        let properties = self.pattern_properties()?;
        let condition = self.condition()?;
        self.expect(")")?;
        Ok(NodePattern {
            variable,
            labels,
            properties,
            condition,
            at,
        })
    }

    fn relationship(&mut self) -> CheckResult<RelationshipPattern> {
        let at = self.current_offset();
        let to_left = self.consume_sign("<");
        self.expect("-")?;
        let mut relationship = RelationshipPattern {
            arrow: Arrow::None,
            variable: None,
            types: None,
            hops: None,
            properties: Vec::new(),
            condition: None,
            times: None,
            at,
        };
        if self.consume_sign("[") {
            relationship.variable = self.pattern_variable()?;
            relationship.types = self.pattern_labels()?;
            if self.consume_sign("*") {
                relationship.hops = Some(self.hops()?);
            }
            relationship.properties = self.pattern_properties()?;
            relationship.condition = self.condition()?;
            self.expect("]")?;
        }
        self.expect("-")?;
        let to_right = self.consume_sign(">");
        relationship.times = self.times()?;
        relationship.arrow = match (to_left, to_right) {
            (true, false) => Arrow::Left,
            (false, true) => Arrow::Right,
            (true, true) | (false, false) => Arrow::None,
        };
        Ok(relationship)
    }

    fn pattern_variable(&mut self) -> CheckResult<Option<Name>> {
        let is_name = match self.token().kind {
            CypherTokenKind::Word => !self.is_word("WHERE") && !self.is_label_keyword(),
            CypherTokenKind::Quoted(_) => true,
            CypherTokenKind::Text(_)
            | CypherTokenKind::Integer(_)
            | CypherTokenKind::Float(_)
            | CypherTokenKind::Symbol(_)
            | CypherTokenKind::End => false,
        };
        if is_name {
            self.name("a variable").map(Some)
        } else {
            Ok(None)
        }
    }

    /// `IS` before a label, unless it is a variable.
    fn is_label_keyword(&self) -> bool {
        self.is_word("IS")
            && matches!(
                self.token_ahead(1).kind,
                CypherTokenKind::Word | CypherTokenKind::Quoted(_)
            )
            && !self.is_word_ahead(1, "WHERE")
    }

    fn pattern_labels(&mut self) -> CheckResult<Option<Labels>> {
        if self.is_label_keyword() || self.is_sign(":") {
            self.advance()?;
            return self.labels().map(Some);
        }
        Ok(None)
    }

    /// What follows the first colon.
    pub(super) fn labels(&mut self) -> CheckResult<Labels> {
        self.parse_nested(Self::any_label)
    }

    fn any_label(&mut self) -> CheckResult<Labels> {
        let mut all = vec![self.all_labels()?];
        while self.consume_sign("|") {
            // `:A|:B` is the old syntax.
            self.consume_sign(":");
            all.push(self.all_labels()?);
        }
        Ok(one_or(all, Labels::Or))
    }

    fn all_labels(&mut self) -> CheckResult<Labels> {
        let mut all = vec![self.label()?];
        while self.consume_sign("&") || self.consume_sign(":") {
            all.push(self.label()?);
        }
        Ok(one_or(all, Labels::And))
    }

    fn label(&mut self) -> CheckResult<Labels> {
        let at = self.current_offset();
        if self.consume_sign("!") {
            let inner = self.parse_nested(Self::label)?;
            return Ok(Labels::Not(Box::new(inner)));
        }
        if self.consume_sign("%") {
            return Ok(Labels::Any(at));
        }
        if self.consume_sign("(") {
            let inner = self.labels()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.is_sign("$") {
            return Err(
                Problem::at(at, "a label or type that is computed is not allowed")
                    .advice("write its name"),
            );
        }
        self.name("a label or type").map(Labels::Name)
    }

    fn pattern_properties(&mut self) -> CheckResult<Vec<(Name, Expr)>> {
        if self.is_sign("$") {
            return Err(Problem::at(
                self.current_offset(),
                "a parameter cannot stand for all properties here",
            )
            .advice("name each: {name: $name}"));
        }
        if !self.is_sign("{") {
            return Ok(Vec::new());
        }
        self.map_entries()
    }

    /// What follows `*` in a relationship.
    fn hops(&mut self) -> CheckResult<Times> {
        let least = self.small_number()?;
        if !self.consume_sign("..") {
            return Ok(Times { least, most: least });
        }
        let most = self.small_number()?;
        Ok(Times { least, most })
    }

    /// `{1,3}`, `{2}`, `+`, `*`
    fn times(&mut self) -> CheckResult<Option<Times>> {
        let (least, most) = if self.consume_sign("+") {
            (Some(1), None)
        } else if self.consume_sign("*") {
            (Some(0), None)
        } else if self.consume_sign("{") {
            let least = self.small_number()?;
            let most = if self.consume_sign(",") {
                self.small_number()?
            } else {
                least
            };
            self.expect("}")?;
            (least.or(Some(0)), most)
        } else {
            return Ok(None);
        };
        Ok(Some(Times { least, most }))
    }

    fn small_number(&mut self) -> CheckResult<Option<u32>> {
        let CypherTokenKind::Integer(number) = self.token().kind else {
            return Ok(None);
        };
        let small = u32::try_from(number).ok().filter(|n| *n <= MAX_REPEATS);
        let small = small.ok_or_else(|| {
            Problem::at(
                self.current_offset(),
                format!("at most {MAX_REPEATS} steps can be asked for"),
            )
        })?;
        self.advance()?;
        Ok(Some(small))
    }
}

/// Maximum number of steps that a path may have as a bound.
const MAX_REPEATS: u32 = 1_000;

fn one_or(mut all: Vec<Labels>, several: fn(Vec<Labels>) -> Labels) -> Labels {
    if all.len() > 1 {
        return several(all);
    }
    // There is always at least one.
    all.pop().unwrap_or(Labels::Or(Vec::new()))
}

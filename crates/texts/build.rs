//! Generates the list of the texts in all languages with their arguments, so that the compiler can
//! check them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fluent_syntax::ast::{
    CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement,
};
use fluent_syntax::parser;

/// What a text refers to: arguments, and other texts.
#[derive(Default)]
struct Refers {
    file: String,
    arguments: BTreeSet<String>,
    texts: BTreeSet<String>,
}

impl Refers {
    fn pattern(&mut self, pattern: &Pattern<String>) {
        for element in &pattern.elements {
            if let PatternElement::Placeable { expression } = element {
                self.expression(expression);
            }
        }
    }

    fn expression(&mut self, expression: &Expression<String>) {
        match expression {
            Expression::Select { selector, variants } => {
                self.inline(selector);
                variants.iter().for_each(|it| self.pattern(&it.value));
            }
            Expression::Inline(inline) => self.inline(inline),
        }
    }

    fn inline(&mut self, inline: &InlineExpression<String>) {
        match inline {
            InlineExpression::VariableReference { id } => {
                self.arguments.insert(id.name.clone());
            }
            InlineExpression::MessageReference { id, .. } => {
                self.texts.insert(id.name.clone());
            }
            InlineExpression::Placeable { expression } => self.expression(expression),
            InlineExpression::FunctionReference { arguments, .. } => self.call(arguments),
            InlineExpression::TermReference { arguments, .. } => {
                arguments.iter().for_each(|it| self.call(it));
            }
            InlineExpression::StringLiteral { .. } | InlineExpression::NumberLiteral { .. } => {}
        }
    }

    fn call(&mut self, arguments: &CallArguments<String>) {
        arguments.positional.iter().for_each(|it| self.inline(it));
        arguments.named.iter().for_each(|it| self.inline(&it.value));
    }
}

fn all_arguments(
    texts: &BTreeMap<String, Refers>,
    key: &str,
    found: &mut BTreeSet<String>,
    depth: u32,
) {
    let Some(refers) = texts.get(key).filter(|_| depth < 8) else {
        return;
    };
    found.extend(refers.arguments.iter().cloned());
    for other in &refers.texts {
        all_arguments(texts, other, found, depth + 1);
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "ftl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn main() -> Result<(), Box<dyn Error>> {
    let all = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../texts");
    println!("cargo::rerun-if-changed={}", all.display());
    let mut code = String::from("pub(crate) const FILES: &[(&str, &str, &str)] = &[\n");
    for language in ["en", "de", "fr", "es", "pt", "ja"] {
        println!("cargo::rerun-if-changed={}", all.join(language).display());
        for file in files(&all.join(language))? {
            println!("cargo::rerun-if-changed={}", file.display());
            let name = file.file_stem().unwrap_or_default().display().to_string();
            let path = file.canonicalize()?;
            let path = path.display();
            writeln!(
                code,
                "    ({language:?}, {name:?}, include_str!(\"{path}\")),"
            )?;
        }
    }
    code.push_str("];\n");
    let mut texts = BTreeMap::new();
    for file in files(&all.join("en"))? {
        let name = file.file_stem().unwrap_or_default().display().to_string();
        let read = parser::parse(fs::read_to_string(&file)?);
        let read = read.map_err(|(_, errors)| format!("{}: {errors:?}", file.display()))?;
        for entry in read.body {
            if let Entry::Message(message) = entry {
                let mut refers = Refers {
                    file: name.clone(),
                    ..Refers::default()
                };
                message.value.iter().for_each(|it| refers.pattern(it));
                texts.insert(message.id.name, refers);
            }
        }
    }
    code.push_str("pub(crate) const TEXTS: &[CatalogueEntry] = &[\n");
    for (key, refers) in &texts {
        let mut arguments = BTreeSet::new();
        all_arguments(&texts, key, &mut arguments, 0);
        let (arguments, file) = (Vec::from_iter(arguments), &refers.file);
        writeln!(
            code,
            "    CatalogueEntry {{ key: {key:?}, file: {file:?}, takes: &{arguments:?} }},"
        )?;
    }
    code.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("texts.rs"), code)?;
    Ok(())
}

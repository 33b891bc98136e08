//! Guarantees as text and back: calls of known names with numbers, and nothing that could run code.
//!
//! A number is written with as many digits as tell it from every other double, so that reading gives the same bits.

use std::fmt::Write as _;
use std::sync::Arc;

use super::recipe::{Function, Leaf, Node, Real, Recipe};
use super::{Adjacency, Guarantee, Unit};
use crate::{Error, Result};

/// Longest text that is read.
const MOST_BYTES: usize = 1 << 26;
/// Deepest nesting that is read.
const MOST_DEPTH: u32 = 32;

/// A field of a leaf.
pub(super) trait Field {
    fn write(&self, out: &mut String);
    fn read(reader: &mut Reader<'_>) -> Result<Self>
    where
        Self: Sized;
}

impl Field for Real {
    fn write(&self, out: &mut String) {
        // Into a string it cannot fail.
        let _ = write!(out, "{:?}", self.0);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let word = reader.word();
        word.parse().map(Self).map_err(|_| wrong("a number"))
    }
}

impl Field for u64 {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.word().parse().map_err(|_| wrong("a count"))
    }
}

impl Field for bool {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.word().parse().map_err(|_| wrong("true or false"))
    }
}

impl Field for Arc<[Real]> {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (i, value) in self.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            value.write(out);
        }
        out.push(']');
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.expect('[')?;
        let mut values = Vec::new();
        while !reader.accept(']') {
            if !values.is_empty() {
                reader.expect(',')?;
            }
            values.push(Real::read(reader)?);
        }
        Ok(values.into())
    }
}

/// What is left of a text.
pub(super) struct Reader<'a> {
    rest: &'a str,
    depth: u32,
    functions: &'a [Function],
    used: usize,
}

fn wrong(expected: &str) -> Error {
    Error::parameter("text", "be a guarantee as it was written", format!("one without {expected} where it is due"))
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, functions: &'a [Function]) -> Result<Self> {
        if text.len() > MOST_BYTES {
            return Err(Error::parameter("text", "be at most 64 MiB long", text.len()));
        }
        Ok(Self { rest: text, depth: 0, functions, used: 0 })
    }

    /// The letters, digits and signs that come next.
    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let end =
            self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_+-.".contains(c))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn accept(&mut self, sign: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, sign: char) -> Result<()> {
        if self.accept(sign) { Ok(()) } else { Err(wrong(&format!("{sign:?}"))) }
    }

    /// A name between quotes, as [`write_quoted`] writes it.
    fn quoted(&mut self) -> Result<String> {
        self.expect('"')?;
        let mut name = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[place + 1..];
                    return Ok(name);
                }
                '\\' => name.push(letters.next().ok_or_else(|| wrong("the end of a name"))?.1),
                _ => name.push(letter),
            }
        }
        Err(wrong("the end of a name"))
    }

    fn node(&mut self) -> Result<Arc<Node>> {
        let name = self.word();
        self.named(name)
    }

    fn named(&mut self, name: &str) -> Result<Arc<Node>> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Error::parameter("text", "be nested at most 32 deep", "one that is deeper"));
        }
        self.expect('(')?;
        let recipe = match name {
            "maximum" => Recipe::Maximum(self.list(Self::node)?),
            "compose" => Recipe::Composition(self.list(Self::counted)?),
            "renyi_sum" => {
                let optimal = bool::read(self)?;
                self.expect(',')?;
                Recipe::RenyiSum(self.list(Self::counted)?, optimal)
            }
            "minimum" => {
                let first = self.node()?;
                self.expect(',')?;
                Recipe::Minimum(first, self.node()?)
            }
            "function" => {
                let optimal = bool::read(self)?;
                let function = self.functions.get(self.used).ok_or_else(|| wrong("a function that was handed over"))?;
                self.used += 1;
                Recipe::Function(function.clone(), optimal)
            }
            _ => Recipe::Leaf(Leaf::read(name, self).unwrap_or_else(|| Err(wrong("the name of a known profile")))?),
        };
        self.expect(')')?;
        self.depth -= 1;
        Node::new(recipe)
    }

    /// Items with commas between them, at least one, up to the closing sign.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `count * node`, or a node that counts once.
    fn counted(&mut self) -> Result<(Arc<Node>, u64)> {
        let word = self.word();
        match word.parse() {
            Ok(times) => {
                self.expect('*')?;
                Ok((self.node()?, times))
            }
            Err(_) => Ok((self.named(word)?, 1)),
        }
    }

    fn end(&mut self) -> Result<()> {
        if self.rest.trim().is_empty() { Ok(()) } else { Err(wrong("an end")) }
    }
}

/// Writes a name between quotes, with a backslash before each quote and backslash in it.
fn write_quoted(name: &str, out: &mut String) {
    out.push('"');
    for letter in name.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
}

impl Node {
    fn write(&self, out: &mut String) {
        let counted = |out: &mut String, parts: &[(Arc<Self>, u64)]| {
            for (i, (node, times)) in parts.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                if *times != 1 {
                    let _ = write!(out, "{times} * ");
                }
                node.write(out);
            }
        };
        match self.recipe() {
            Recipe::Leaf(leaf) => return leaf.write(out),
            Recipe::Function(_, optimal) => {
                let _ = write!(out, "function({optimal}");
            }
            Recipe::Maximum(nodes) => {
                out.push_str("maximum(");
                for (i, node) in nodes.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    node.write(out);
                }
            }
            Recipe::Composition(parts) => {
                out.push_str("compose(");
                counted(out, parts);
            }
            Recipe::RenyiSum(parts, optimal) => {
                let _ = write!(out, "renyi_sum({optimal}, ");
                counted(out, parts);
            }
            Recipe::Minimum(first, second) => {
                out.push_str("minimum(");
                first.write(out);
                out.push_str(", ");
                second.write(out);
            }
        }
        out.push(')');
    }

    /// The call that makes this profile. Functions are left out; [`Node::functions`] has them in the order of the text.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// The profile that [`Node::to_text`] wrote, with its functions in order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for any other text.
    pub fn from_text(text: &str, functions: &[Function]) -> Result<Arc<Self>> {
        let mut reader = Reader::new(text, functions)?;
        let node = reader.node()?;
        reader.end()?;
        Ok(node)
    }
}

impl Guarantee {
    /// A text that tells guarantees apart to the last bit of every parameter; none where a function is part of it.
    pub fn to_text(&self) -> Option<String> {
        if self.directions().iter().any(|node| !node.functions().is_empty()) {
            return None;
        }
        let mut out = String::new();
        if let Some(name) = self.unit().name() {
            out.push_str("for(");
            write_quoted(name, &mut out);
            out.push_str(", ");
        }
        let _ = write!(out, "{}(", self.adjacency().name());
        Real(self.sampling_error()).write(&mut out);
        for node in self.directions() {
            out.push_str(", ");
            node.write(&mut out);
        }
        out.push(')');
        if self.unit().name().is_some() {
            out.push(')');
        }
        Some(out)
    }

    /// The guarantee that [`Guarantee::to_text`] wrote. Whether it was exact is not kept.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for any other text.
    pub fn from_text(text: &str) -> Result<Self> {
        let mut reader = Reader::new(text, &[])?;
        let mut word = reader.word();
        let mut unit = Unit::default();
        if word == "for" {
            reader.expect('(')?;
            unit = Unit::named(&reader.quoted()?)?;
            reader.expect(',')?;
            word = reader.word();
        }
        let adjacency = Adjacency::named(word).ok_or_else(|| wrong("an adjacency"))?;
        reader.expect('(')?;
        let error = Real::read(&mut reader)?.0;
        reader.expect(',')?;
        let directions = reader.list(Reader::node)?;
        reader.expect(')')?;
        if unit.name().is_some() {
            reader.expect(')')?;
        }
        reader.end()?;
        Ok(Self::new(adjacency, directions, error)?.of_unit(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beta(a: f64) -> Arc<Node> {
        Node::leaf(Leaf::Beta { a: Real(a), b: Real(a), r: Real(0.1) }).unwrap()
    }

    #[test]
    fn what_was_written_is_read_again() {
        let table = Leaf::LossTable {
            losses: [-0.1, 0.1 + f64::EPSILON].map(Real).into(),
            masses: [0.25, 0.5].map(Real).into(),
            infinite: Real(1e-300),
        };
        let table = Node::leaf(table).unwrap();
        let rdp = Node::leaf(Leaf::Renyi { order: Real(5.0), epsilon: Real(0.1), optimal: true }).unwrap();
        let pairs = Node::new(Recipe::Composition(vec![(beta(1.5), 3), (table, 1)])).unwrap();
        let sum = Node::new(Recipe::RenyiSum(vec![(rdp, 2), (beta(2.0), 1)], true)).unwrap();
        let all = Node::new(Recipe::Maximum(vec![pairs, sum])).unwrap();
        let again = Node::from_text(&all.to_text(), &[]).unwrap();
        assert_eq!(again, all);
        assert_eq!(again.to_text(), all.to_text());
        let guarantee = Guarantee::new(Adjacency::Replace, vec![all], 2.0_f64.powi(-256)).unwrap();
        assert_eq!(Guarantee::from_text(&guarantee.to_text().unwrap()).unwrap(), guarantee);
    }

    #[test]
    fn a_unit_is_written_with_whatever_its_name_holds() {
        let single = Guarantee::new(Adjacency::Replace, vec![beta(1.5)], 0.0).unwrap();
        assert!(single.to_text().unwrap().starts_with("replace("));
        for name in ["patient", "a \"b\" \\", "\\", "\"", "replace(0.0, beta(1, 1, 1))", "日本 語", ")"] {
            let guarantee = single.clone().of_unit(Unit::named(name).unwrap());
            let again = Guarantee::from_text(&guarantee.to_text().unwrap()).unwrap();
            assert_eq!(again, guarantee);
            assert_eq!(again.unit().name(), Some(name));
        }
        for text in [
            "for(patient, replace(0.0, beta(1, 1, 1)))",
            "for(\"\", replace(0.0, beta(1, 1, 1)))",
            "for(\"a\", replace(0.0, beta(1, 1, 1))",
            "for(\"a\", for(\"a\", replace(0.0, beta(1, 1, 1))))",
            "for(\"a\\\", replace(0.0, beta(1, 1, 1)))",
            "for(\"a\nb\", replace(0.0, beta(1, 1, 1)))",
            "for(\"a\")",
            "replace(0.0, beta(1, 1, 1)))",
        ] {
            assert!(Guarantee::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_bit_tells_profiles_apart() {
        assert_ne!(beta(1.5), beta(1.5_f64.next_up()));
        assert_ne!(beta(1.5).to_text(), beta(1.5_f64.next_up()).to_text());
    }

    #[test]
    fn foreign_text_is_refused() {
        let deep = format!("{}beta(1, 1, 1){}", "maximum(".repeat(40), ")".repeat(40));
        for text in [
            "",
            "beta",
            "beta(",
            "beta(1.0, 1.0)",
            "beta(1.0, 1.0, 1.0",
            "beta(1.0, 1.0, 1.0) x",
            "beta(x, 1.0, 1.0)",
            "beta(-1.0, 1.0, 1.0)",
            "beta(NaN, 1.0, 1.0)",
            "system(1.0)",
            "compose()",
            "compose(0 * beta(1, 1, 1))",
            "compose(-1 * beta(1, 1, 1))",
            "loss_table([], [], 0.0)",
            "function(true)",
            "maximum(1)",
            &deep,
        ] {
            assert!(Node::from_text(text, &[]).is_err(), "{text}");
        }
        for text in [
            "replace(0.0)",
            "both(0.0, beta(1, 1, 1))",
            "replace(2.0, beta(1, 1, 1))",
            "replace(0, beta(1, 1, 1), beta(1, 1, 1))",
        ] {
            assert!(Guarantee::from_text(text).is_err(), "{text}");
        }
    }
}

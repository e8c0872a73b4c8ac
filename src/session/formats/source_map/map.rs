//! A decoded source map, and its tokens by their places.

use oxc_sourcemap::Token;

/// A decoded source map. Lines and columns count from 0, columns in UTF-16 units.
#[derive(Debug, Default)]
pub struct SourceMap {
    /// Tokens in the order of the generated code.
    tokens: Vec<Token>,
    /// Names of the sources with their roots, as the map has them.
    pub sources: Vec<String>,
    names: Vec<String>,
}

/// A piece of generated code that comes from a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapToken<'a> {
    /// Line and column in the generated code.
    pub generated: (u32, u32),
    /// Place in the source; none for code that comes from no source.
    pub original: Option<SourceSpot>,
    /// Name of the token in the source, where generated code has another name.
    pub name: Option<&'a str>,
}

/// A place in a source: line and column count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceSpot {
    /// Index into [`SourceMap::sources`].
    pub source: usize,
    pub line: u32,
    pub column: u32,
}

impl SourceMap {
    /// Returns a map of these tokens, in any order, whose ids are indices of the names.
    pub(super) fn new(mut tokens: Vec<Token>, sources: Vec<String>, names: Vec<String>) -> Self {
        if !tokens.is_sorted_by_key(place) {
            tokens.sort_by_key(place);
        }
        Self { tokens, sources, names }
    }

    /// Returns the tokens of a line up to a column, the last first.
    pub fn tokens_until(&self, line: u32, column: u32) -> impl Iterator<Item = MapToken<'_>> {
        let end = self.tokens.partition_point(|token| place(token) <= (line, column));
        let of_line = move |token: &&Token| token.get_dst_line() == line;
        self.tokens[..end].iter().rev().take_while(of_line).map(|token| self.token(token))
    }

    /// Returns the tokens of a line after a column, the first first.
    pub fn tokens_after(&self, line: u32, column: u32) -> impl Iterator<Item = MapToken<'_>> {
        let start = self.tokens.partition_point(|token| place(token) <= (line, column));
        let of_line = move |token: &&Token| token.get_dst_line() == line;
        self.tokens[start..].iter().take_while(of_line).map(|token| self.token(token))
    }

    fn token(&self, token: &Token) -> MapToken<'_> {
        let original = token.get_source_id().map(|source| SourceSpot {
            source: source as usize,
            line: token.get_src_line(),
            column: token.get_src_col(),
        });
        let name = token.get_name_id().and_then(|name| self.names.get(name as usize));
        MapToken {
            generated: place(token),
            original,
            name: name.map(String::as_str).filter(|name| !name.is_empty()),
        }
    }
}

fn place(token: &Token) -> (u32, u32) {
    (token.get_dst_line(), token.get_dst_col())
}

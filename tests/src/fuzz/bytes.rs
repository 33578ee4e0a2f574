//! Choices made by the fuzzer's bytes.

/// The bytes that are left. Once none is left, every choice is the first.
#[derive(Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn below(&mut self, bound: u8) -> u8 {
        self.next().unwrap_or(0) % bound
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.next().unwrap_or(0)) % of.len()]
    }
}

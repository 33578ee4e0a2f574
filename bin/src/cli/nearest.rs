//! Suggestions for misspelt names.

/// Name among `known` that differs from `name` in the fewest letters.
pub(super) fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    known.iter().min_by_key(|known| strsim::levenshtein(name, known)).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_letters_decide() {
        let known = ["store", "store-tick", "shards"].map(str::to_owned);
        assert_eq!(nearest("stor", &known), Some("store"));
        assert_eq!(nearest("shade", &known), Some("shards"));
        assert_eq!(nearest("shade", &[]), None);
    }
}

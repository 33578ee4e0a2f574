use proptest::prelude::*;

use super::{BadQuery, Leaf, MAX_DEPTH, MAX_QUERY_BYTES, MAX_WORDS, Node, Query, parse};
use crate::search::analysis::analyzer;
use crate::search::settings::Ranking;

fn parsed(text: &str) -> Result<Query, BadQuery> {
    parse(text, &mut analyzer(Ranking::Tfidf))
}

/// Renders the structure of a parsed query as text.
fn shape(text: &str) -> String {
    fn show(node: &Node, leaves: &[Leaf]) -> String {
        let list =
            |nodes: &[Node], joint: &str| nodes.iter().map(|node| show(node, leaves)).collect::<Vec<_>>().join(joint);
        match node {
            Node::Leaf(leaf) => leaves[*leaf].words.iter().map(|word| &*word.exact).collect::<Vec<_>>().join("_"),
            Node::Any(nodes) => format!("({})", list(nodes, " | ")),
            Node::All(nodes) => format!("({})", list(nodes, " & ")),
            Node::Except(node, except) => format!("({} - {})", show(node, leaves), show(except, leaves)),
        }
    }
    match parsed(text) {
        Ok(query) => show(&query.root, &query.leaves),
        Err(error) => error.to_string(),
    }
}

#[test]
fn words_are_joined_by_or_and_bind_less_than_and() {
    assert_eq!(shape("heat"), "heat");
    assert_eq!(shape("Heat Layer"), "(heat | layer)");
    assert_eq!(shape("a OR b"), shape("a b"));
    assert_eq!(shape("a b AND c d"), "(a | (b & c) | d)");
    assert_eq!(shape("(a b) AND c"), "((a | b) & c)");
    assert_eq!(shape("and or not"), "(and | or | not)");
}

#[test]
fn not_takes_away_from_what_stands_before_it() {
    assert_eq!(shape("a b NOT c"), "((a | b) - c)");
    assert_eq!(shape("a AND b NOT c NOT d"), "((a & b) - (c | d))");
    assert_eq!(shape("a AND NOT b"), "(a - b)");
    assert_eq!(shape("a NOT (b AND c)"), "(a - (b & c))");
    assert_eq!(shape("a NOT b AND c"), "((a & c) - b)");
}

#[test]
fn phrases_are_quoted_or_divided_words() {
    assert_eq!(shape("\"boundary layer\" heat"), "(boundary_layer | heat)");
    assert_eq!(shape("std::vec::Vec"), "std_vec_vec");
    assert_eq!(shape("\"one\""), "one");
    assert_eq!(shape("a & b"), "(a | b)");
}

#[test]
fn a_malformed_query_is_told_where_it_is_wrong() {
    let column = |text| match parsed(text).expect_err("it is malformed") {
        BadQuery::OpenQuote { column }
        | BadQuery::OpenParenthesis { column }
        | BadQuery::StrayParenthesis { column }
        | BadQuery::NothingInside { column }
        | BadQuery::TooDeep { column }
        | BadQuery::AlternativeNot { column }
        | BadQuery::Dangling { column, .. } => column,
        BadQuery::Empty | BadQuery::TooLong { .. } | BadQuery::TooManyWords => 0,
    };
    assert_eq!(column("é \"open"), 3);
    assert_eq!(column("a (b"), 3);
    assert_eq!(column("a b)"), 4);
    assert_eq!(column("a ()"), 3);
    assert_eq!(column("a \"?\""), 3);
    assert_eq!(column("AND a"), 1);
    assert_eq!(column("a AND"), 3);
    assert_eq!(column("a OR OR b"), 3);
    assert_eq!(column("NOT a"), 1);
    assert_eq!(column("a NOT"), 3);
    assert_eq!(column("a OR NOT b"), 6);
    assert_eq!(column("(a AND ) b"), 4);
    assert_eq!(column(") a"), 1);
    for empty in ["", "  ", "?!", "…"] {
        assert_eq!(parsed(empty), Err(BadQuery::Empty));
    }
}

#[test]
fn a_query_is_bounded_in_length_words_and_depth() {
    assert!(matches!(parsed(&"a".repeat(MAX_QUERY_BYTES + 1)), Err(BadQuery::TooLong { .. })));
    let words = |count| (0..count).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    assert!(parsed(&words(MAX_WORDS)).is_ok());
    assert_eq!(parsed(&words(MAX_WORDS + 1)), Err(BadQuery::TooManyWords));
    let nested = |depth| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(shape(&nested(MAX_DEPTH)), "a");
    assert!(matches!(parsed(&nested(MAX_DEPTH + 1)), Err(BadQuery::TooDeep { .. })));
}

#[test]
fn leaves_are_sorted_once_each_and_unwanted_ones_do_not_score() {
    let query = parsed("b a b NOT (c a)").expect("it is well formed");
    assert_eq!(query.terms(), ["a", "b", "c"]);
    assert_eq!(query.scoring(), [true, true, false]);
}

#[test]
fn queries_from_the_network_are_checked() {
    let query = parsed("a AND b").expect("it is well formed");
    assert!(query.is_sound());
    assert!(!Query { root: Node::Leaf(2), ..query.clone() }.is_sound());
    assert!(!Query { leaves: query.leaves.iter().rev().cloned().collect(), ..query.clone() }.is_sound());
    assert!(!Query { root: Node::Any(vec![]), ..query.clone() }.is_sound());
    let deep = (0..1000).fold(Node::Leaf(0), |node, _| Node::Any(vec![node]));
    assert!(!Query { root: deep, ..query }.is_sound());
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "[ab()\" é?]{0,12}|(a|AND|OR|NOT|\\(|\\)|\"| |b c){0,24}") {
        if let Ok(query) = parsed(&text) {
            prop_assert!(query.is_sound(), "{query:?}");
        }
    }
}

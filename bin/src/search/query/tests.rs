use proptest::prelude::*;

use super::{BadQuery, Leaf, MAX_DEPTH, MAX_QUERY_BYTES, MAX_WORDS, Node, Query, parse, parse_with_notes};
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
        BadQuery::Empty
        | BadQuery::TooLong { .. }
        | BadQuery::TooManyWords
        | BadQuery::NothingLeft { .. }
        | BadQuery::OnlyExcludes => 0,
    };
    assert_eq!(column("é \"open"), 3);
    assert_eq!(column("a (b"), 3);
    assert_eq!(column("a b)"), 4);
    assert_eq!(column("a ()"), 3);
    assert_eq!(column("a \" \""), 3);
    assert_eq!(column("AND a"), 1);
    assert_eq!(column("a AND"), 3);
    assert_eq!(column("a OR OR b"), 3);
    assert_eq!(column("NOT a"), 1);
    assert_eq!(column("a NOT"), 3);
    assert_eq!(column("a OR NOT b"), 6);
    assert_eq!(column("(a AND ) b"), 4);
    assert_eq!(column(") a"), 1);
    for empty in ["", "  "] {
        assert_eq!(parsed(empty), Err(BadQuery::Empty));
    }
}

/// Renders the notes on a query.
fn notes(text: &str) -> Vec<String> {
    let (_, notes) = parse_with_notes(text, &mut analyzer(Ranking::Tfidf)).expect("the query can be searched");
    notes.iter().map(ToString::to_string).collect()
}

#[test]
fn what_cannot_be_looked_for_is_left_out_with_its_operator_and_said() {
    for query in [
        "a AND ++",
        "++ AND a",
        "a ++",
        "a OR ++",
        "++ OR a",
        "a NOT ++",
        "a AND NOT ++",
        "a (++ --)",
        "a \"?\"",
        "a +(++)",
    ] {
        assert_eq!(shape(query), "a", "{query}");
        assert!(notes(query)[0].contains("has no letters or digits and is left out"), "{query}");
    }
    assert_eq!(shape("a AND ++ AND b"), "(a & b)");
    assert_eq!(shape("a (++ NOT b)"), "a");
    for query in ["?!", "…", "++ AND --", "\"?\"", "++ NOT ?"] {
        let refusal = parsed(query).expect_err("it has no word").to_string();
        assert!(refusal.contains("has no letters or digits") && refusal.contains("at least one word"), "{refusal}");
    }
    assert_eq!(parsed("-a"), Err(BadQuery::OnlyExcludes));
    assert_eq!(parsed("++ NOT a"), Err(BadQuery::OnlyExcludes));
}

#[test]
fn notes_say_what_is_looked_for_in_place_of_what_was_typed() {
    assert_eq!(notes("C++"), ["`C++` is looked for as `C`: signs are not searched"]);
    assert_eq!(notes(".NET"), ["`.NET` is looked for as `NET`: signs are not searched"]);
    assert_eq!(notes("a-b"), ["`a-b` is looked for as the phrase \"a b\""]);
    let long = "x".repeat(300);
    assert_eq!(notes(&long).len(), 1);
    assert!(notes(&long)[0].contains("is longer than 255 letters"), "{:?}", notes(&long));
    for plain in
        ["the of and", "What is this?", "‘quoted’ words, and more.", "東京。", "re\u{301}sume\u{301}", "\"a-b\""]
    {
        assert_eq!(notes(plain), Vec::<String>::new(), "{plain}");
    }
}

#[test]
fn signs_before_an_operand_require_or_exclude_it() {
    assert_eq!(shape("+a b"), "(a & (b | a))");
    assert_eq!(shape("+a +b"), "(a & b)");
    assert_eq!(shape("b -a"), "(b - a)");
    assert_eq!(shape("-a b"), "(b - a)");
    assert_eq!(shape("+a b -c"), "((a & (b | a)) - c)");
    assert_eq!(shape("+\"a b\" -(c d)"), "(a_b - (c | d))");
    assert_eq!(shape("a AND -b"), "(a - b)");
    assert_eq!(shape("(+a b) c"), "((a & (b | a)) | c)");
    assert_eq!(shape("+a AND b"), "(a & b)");
    assert_eq!(shape("a OR +b"), "(a | b)");
    assert_eq!(shape("a-b"), "a_b");
    assert_eq!(shape("a - b"), "(a | b)");
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
    fn any_text_is_parsed_or_refused(text in "[ab()\" é?+-]{0,12}|(a|\\+|-|AND|OR|NOT|\\(|\\)|\"| |b c){0,24}") {
        if let Ok(query) = parsed(&text) {
            prop_assert!(query.is_sound(), "{query:?}");
        }
    }
}

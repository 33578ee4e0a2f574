use super::{LONGEST_WORD, Word, analyzer, count, parts, words};
use crate::search::settings::Ranking;

fn plain(text: &str) -> Vec<Word> {
    words(&mut analyzer(Ranking::Tfidf), text)
}

/// The words of `text`, each with the parts of its loose form if that differs.
fn shape(text: &str) -> String {
    let show = |word: Word| match word.loose.as_slice() {
        [] => word.exact,
        loose => format!("{}({})", word.exact, loose.join(" ")),
    };
    plain(text).into_iter().map(show).collect::<Vec<_>>().join(", ")
}

#[test]
fn words_are_runs_of_letters_and_digits_in_lower_case() {
    assert_eq!(shape("Fish & Chips, 2nd-hand"), "fish, chips, 2nd, hand");
    assert_eq!(shape("?!"), "");
    let stems = words(&mut analyzer(Ranking::Bm25), "Borrowed agreed shops");
    assert_eq!(stems.iter().map(|word| &*word.exact).collect::<Vec<_>>(), ["borrow", "agre", "shop"]);
}

#[test]
fn composed_and_decomposed_accents_make_one_word_that_is_loosely_the_word_without_them() {
    for [composed, decomposed, shown] in [
        ["Résumé", "Re\u{301}sume\u{301}", "résumé(resume)"],
        ["Übergrößenträger", "U\u{308}bergro\u{308}ßentra\u{308}ger", "übergrössenträger(ubergrossentrager)"],
        ["Tiếng Việt", "Tie\u{302}\u{301}ng Vie\u{323}\u{302}t", "tiếng(tieng), việt(viet)"],
        ["ещё Край", "еще\u{308} Краи\u{306}", "ещё(еще), край(краи)"],
        ["한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}", "한국어"],
        ["Ελλάδα", "Ελλα\u{301}δα", "ελλάδα(ελλαδα)"],
        ["が", "か\u{3099}", "が"],
    ] {
        assert_eq!(shape(composed), shown);
        assert_eq!(shape(decomposed), shown, "decomposed");
    }
    assert_eq!(shape("Straße STRASSE Đà Łódź"), "strasse, strasse, đà(da), łódź(lodz)");
    assert_eq!(shape("ﬁne Ｆｕｌｌ ½ soft\u{ad}en"), "fine, full, 1, 2, soften");
    assert_eq!(shape("हिन्दी में"), "हिन्दी, में", "marks of other scripts are no accents");
    assert_eq!(shape("مُحَمَّد"), "مُحَمَّد(محمد)");
    let stems = words(&mut analyzer(Ranking::Bm25), "résumés");
    assert_eq!(stems, [Word { exact: "résumé".to_owned(), loose: vec!["resum".to_owned()] }]);
}

#[test]
fn text_without_spaces_is_cut_into_words_and_loosely_into_letters() {
    assert_eq!(shape("我住在北京。"), "我, 住在(住 在), 北京(北 京)");
    assert_eq!(shape("東京に住む"), "東京(東 京), に, 住む(住 む)");
    assert_eq!(shape("iPhone手机2024年款"), "iphone, 手机(手 机), 2024, 年, 款");
    assert_eq!(shape("ภาษาไทย"), "ภาษา(ภ า ษ า), ไทย(ไ ท ย)");
    assert_eq!(shape("ｶﾞﾗｽ"), "ガラス(ガ ラ ス)");
    for text in ["សួស្តីពិភពលោក", "ສະບາຍດີຊາວໂລກ", "မင်္ဂလာပါကမ္ဘာ"]
    {
        assert!(plain(text).len() > 1, "{text}: {}", shape(text));
    }
}

#[test]
fn a_word_is_whole_up_to_its_greatest_length_and_then_stands_for_its_beginning() {
    let long = "a1".repeat(LONGEST_WORD);
    for ranking in [Ranking::Bm25, Ranking::Tfidf] {
        let found = words(&mut analyzer(ranking), &long);
        assert_eq!(found, [Word::plain(long[..LONGEST_WORD].to_owned())]);
    }
    let sum = "0123456789abcdef".repeat(8);
    assert_eq!(shape(&sum), sum);
    let accents = "é".repeat(2 * LONGEST_WORD);
    assert_eq!(shape(&accents), format!("{}({})", "é".repeat(LONGEST_WORD), "e".repeat(LONGEST_WORD)));
    assert_eq!(shape(&"e\u{301}".repeat(2 * LONGEST_WORD)), shape(&accents));
}

#[test]
fn parts_have_their_places_in_the_text() {
    let text = "Über 東京都, ﬁn e\u{301}";
    let mut found = Vec::new();
    parts(&mut analyzer(Ranking::Tfidf), text, &mut |part| {
        found.push((part.text.clone(), &text[part.from..part.to]));
    });
    let found: Vec<_> = found.iter().map(|(part, place)| (part.as_str(), *place)).collect();
    let expected = [("uber", "Über"), ("東", "東"), ("京", "京"), ("都", "都"), ("fin", "ﬁn"), ("e", "e\u{301}")];
    assert_eq!(found, expected);
    assert_eq!(count(&mut analyzer(Ranking::Tfidf), text), plain(text).len() as u64);
}

#[test]
fn any_characters_are_read_without_harm() {
    let all: String = ('\u{0}'..=char::MAX).collect();
    let mut last = 0;
    parts(&mut analyzer(Ranking::Bm25), &all, &mut |part| {
        assert!(part.from >= last && part.to > part.from, "{part:?}");
        last = part.from;
        assert!(!part.text.is_empty());
    });
    assert_eq!(
        last,
        all.char_indices().filter(|(_, c)| c.is_alphanumeric()).map(|(at, _)| at).next_back().unwrap_or(0)
    );
}

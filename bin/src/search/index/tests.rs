use core::error::Error;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tantivy::collector::TopDocs;
use tantivy::query::{PhraseQuery, QueryParser, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, Searcher, Term, doc};

use super::{BuildInput, Held, Highlighter, IndexStorage, Scorer, Top, build};
use crate::search::analysis::analyzer;
use crate::search::documents::{DocumentFile, scan};
use crate::search::query::{self, Query};
use crate::search::testing::{queries, write_documents};
use crate::search::{Ranking, Settings, ShardId, Statistics, Weights};

type TestResult = Result<(), Box<dyn Error>>;

/// Settings and all shards of a folder of documents.
struct Shards {
    settings: Settings,
    held: BTreeMap<ShardId, Held>,
}

fn settings(shards: u16, ranking: Ranking) -> Settings {
    Settings { shards: shards.try_into().expect("the number of shards is in range"), ranking }
}

fn files(folder: &Path, settings: Settings) -> BTreeMap<ShardId, Vec<DocumentFile>> {
    // Late enough for every stamp to be trusted.
    let later = SystemTime::now() + Duration::from_secs(60);
    let mut files: BTreeMap<_, Vec<_>> = ShardId::all(settings.shards.count()).map(|shard| (shard, vec![])).collect();
    for file in scan(folder, later).expect("the folder can be read").documents {
        files.entry(ShardId::of(&file.path, settings.shards.count())).or_default().push(file);
    }
    files
}

impl Shards {
    fn build(folder: &Path, settings: Settings, storage: &IndexStorage) -> Self {
        let documents = folder.to_owned();
        let held = files(folder, settings).into_iter().map(|(shard, files)| {
            let input = BuildInput { documents: &documents, settings, shard, files: &files };
            (shard, build(input, None, storage).expect("the index is built"))
        });
        Self { settings, held: held.collect() }
    }

    fn query(&self, text: &str) -> Query {
        query::parse(text, &mut analyzer(self.settings.ranking)).expect("the query is well formed")
    }

    fn weights(&self, query: &Query) -> Weights {
        let mut statistics = Statistics::default();
        for held in self.held.values() {
            statistics.add(&held.snapshot.statistics(&query.terms()).expect("the index can be read"));
        }
        Weights::new(self.settings.ranking, query, &statistics)
    }

    /// The best `limit` documents with the bits of their scores, and the number of matches.
    fn search(&self, text: &str, limit: usize) -> (Vec<(String, u32)>, u64) {
        let query = self.query(text);
        let weights = self.weights(&query);
        let scorer = Scorer::new(&query, &weights);
        let mut top = Top::new(limit);
        let mut matching = 0;
        for held in self.held.values() {
            matching += held.snapshot.search(&scorer, &mut top).expect("the index can be read");
        }
        let hits = top.into_sorted().into_iter().map(|hit| (hit.document.path.clone(), hit.score.to_bits()));
        (hits.collect(), matching)
    }
}

#[test]
fn any_number_of_shards_ranks_as_one_to_the_last_bit() -> TestResult {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 600, 1)?;
    for ranking in [Ranking::Bm25, Ranking::Tfidf] {
        let one = Shards::build(folder.path(), settings(1, ranking), &IndexStorage::Memory);
        let many = [7, 64].map(|shards| Shards::build(folder.path(), settings(shards, ranking), &IndexStorage::Memory));
        let mut found = 0;
        for text in queries(200, 3) {
            let expected = one.search(&text, 25);
            found += expected.0.len();
            for shards in &many {
                assert_eq!(shards.search(&text, 25), expected, "{text} by {ranking}");
            }
        }
        assert!(found > 1_000, "only {found} hits: the queries show nothing");
    }
    Ok(())
}

/// tantivy's own index of the same texts, in a single segment, to compare against.
fn reference(shards: &Shards) -> Result<(Searcher, QueryParser), Box<dyn Error>> {
    let (schema, fields) = super::snapshot::schema();
    let index = Index::create_in_ram(schema);
    super::snapshot::register_analyzer(&index, shards.settings.ranking);
    let mut writer = index.writer_with_num_threads(1, 50_000_000)?;
    for held in shards.held.values() {
        let segment = held.snapshot.segment.as_ref().expect("the shard has documents");
        for (number, document) in (0..).zip(&held.snapshot.documents) {
            let body = segment.body(number)?;
            let apart = document.path.ends_with(".html");
            let text = if apart { format!("{} {body}", document.title) } else { body.clone() };
            writer.add_document(doc!(fields.text => text, fields.body => document.path.as_str()))?;
        }
    }
    writer.commit()?;
    let parser = QueryParser::for_index(&index, vec![fields.text]);
    Ok((index.reader()?.searcher(), parser))
}

#[test]
fn scores_are_those_of_tantivy() -> TestResult {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 300, 2)?;
    let shards = Shards::build(folder.path(), settings(1, Ranking::Bm25), &IndexStorage::Memory);
    let (searcher, _) = reference(&shards)?;
    let (_, fields) = super::snapshot::schema();
    let mut compared = 0;
    for text in queries(160, 5) {
        let query = shards.query(&text);
        let [leaf] = query.leaves.as_slice() else { continue };
        let terms: Vec<_> = leaf.parts().map(|term| Term::from_field_text(fields.text, term)).collect();
        let expected = match terms.as_slice() {
            [term] => {
                let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
                searcher.search(&query, &TopDocs::with_limit(1000).order_by_score())?
            }
            _ => searcher.search(&PhraseQuery::new(terms), &TopDocs::with_limit(1000).order_by_score())?,
        };
        let mut expected: Vec<_> = expected.into_iter().map(|(score, _)| score.to_bits()).collect();
        let (hits, matching) = shards.search(&text, 1000);
        let mut scores: Vec<_> = hits.into_iter().map(|(_, score)| score).collect();
        expected.sort_unstable();
        scores.sort_unstable();
        assert_eq!(matching, expected.len() as u64);
        assert_eq!(scores, expected, "{text}");
        compared += expected.len();
    }
    assert!(compared > 100, "only {compared} scores: the queries show nothing");
    Ok(())
}

#[test]
fn several_words_match_and_score_as_in_tantivy_but_for_the_last_bits() -> TestResult {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 300, 4)?;
    let shards = Shards::build(folder.path(), settings(1, Ranking::Bm25), &IndexStorage::Memory);
    let (searcher, parser) = reference(&shards)?;
    for text in ["bafo difo", "\"ba ba\" ce", "bafo AND difo", "bafo difo gufo hafo", "bafo AND cefo AND difo"] {
        let expected = searcher.search(&*parser.parse_query(text)?, &TopDocs::with_limit(1000).order_by_score())?;
        let (hits, matching) = shards.search(text, 1000);
        assert_eq!(matching, expected.len() as u64, "{text}");
        for ((_, score), (expected, _)) in hits.iter().zip(&expected) {
            let score = f32::from_bits(*score);
            assert!((score - expected).abs() <= expected * 1e-5, "{text}: {score} for {expected}");
        }
    }
    Ok(())
}

#[test]
fn the_textbook_ranking_has_the_textbooks_scores() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (name, text) in [("a.txt", "cat dog cat"), ("b.txt", "dog fish"), ("c.txt", ""), ("d.txt", "cats")] {
        fs::write(folder.path().join(name), text)?;
    }
    let shards = Shards::build(folder.path(), settings(2, Ranking::Tfidf), &IndexStorage::Memory);
    let (hits, matching) = shards.search("cat dog", 10);
    assert_eq!(matching, 2);
    let expected =
        [("a.txt", 2.0 / 3.0 * 4.0_f64.log10() + 1.0 / 3.0 * 2.0_f64.log10()), ("b.txt", 1.0 / 2.0 * 2.0_f64.log10())];
    for ((path, score), (document, exact)) in hits.into_iter().zip(expected) {
        assert_eq!(path, document);
        assert!((f64::from(f32::from_bits(score)) - exact).abs() < 1e-6);
    }
    Ok(())
}

#[test]
fn phrases_are_exact_and_not_excludes() -> TestResult {
    let folder = tempfile::tempdir()?;
    let texts = [("a", "to be or not to be"), ("b", "to or be"), ("c", "be to be"), ("d", "ownership moves")];
    for (name, text) in texts {
        fs::write(folder.path().join(name), text)?;
    }
    fs::write(folder.path().join("e.html"), "<title>first second</title><p>third fourth</p>")?;
    let shards = Shards::build(folder.path(), settings(3, Ranking::Tfidf), &IndexStorage::Memory);
    let found = |text: &str| {
        let mut paths: Vec<_> = shards.search(text, 10).0.into_iter().map(|(path, _)| path).collect();
        paths.sort();
        paths.concat()
    };
    assert_eq!(found("\"to be\""), "ac");
    assert_eq!(found("\"to be or not to be\""), "a");
    assert_eq!(found("\"be to be\""), "c");
    assert_eq!(found("to NOT \"or be\""), "ac");
    assert_eq!(found("to AND or"), "ab");
    assert_eq!(found("(to AND or) NOT not"), "b");
    assert_eq!(found("\"third fourth\" moves"), "de.html");
    assert_eq!(found("second"), "e.html");
    assert_eq!(found("\"second third\""), "", "a phrase does not run from the title into the text");
    assert_eq!(found("nowhere"), "");
    Ok(())
}

#[test]
fn equal_scores_are_ordered_by_path() -> TestResult {
    let folder = tempfile::tempdir()?;
    for number in 0..100 {
        fs::write(folder.path().join(format!("{number}.txt")), "same words")?;
    }
    let shards = Shards::build(folder.path(), settings(16, Ranking::Bm25), &IndexStorage::Memory);
    let paths: Vec<_> = shards.search("words", 40).0.into_iter().map(|(path, _)| path).collect();
    let mut expected: Vec<_> = (0..100).map(|number| format!("{number}.txt")).collect();
    expected.sort();
    assert_eq!(paths, expected[..40]);
    assert_eq!(shards.search("words", 0), (vec![], 100));
    Ok(())
}

#[test]
fn snippets_are_escaped_and_marked() -> TestResult {
    let folder = tempfile::tempdir()?;
    let text = "x ".repeat(900) + "the <b>borrowed</b> & owned \"things\" end";
    fs::write(folder.path().join("a.txt"), &text)?;
    fs::write(folder.path().join("t.html"), "<title>Borrow</title><p>a &lt;body&gt; without it</p>")?;
    let shards = Shards::build(folder.path(), settings(1, Ranking::Bm25), &IndexStorage::Memory);
    let query = shards.query("borrow");
    let highlighter = Highlighter::new(Ranking::Bm25, &query, &shards.weights(&query));
    let snapshot = &shards.held[&ShardId(0)].snapshot;
    let (_, snippet) = highlighter.show(snapshot, "a.txt")?.expect("the document is there");
    assert!(snippet.contains("the &lt;b&gt;<mark>borrowed</mark>&lt;/b&gt; &amp; owned"), "{snippet}");
    let beginning = ("Borrow".to_owned(), "a &lt;body&gt; without it".to_owned());
    assert_eq!(highlighter.show(snapshot, "t.html")?, Some(beginning));
    assert_eq!(highlighter.show(snapshot, "gone.txt")?, None);
    Ok(())
}

/// Paths of the documents with `text`, best first.
fn found_in(shards: &Shards, text: &str) -> Vec<String> {
    shards.search(text, 100).0.into_iter().map(|(path, _)| path).collect()
}

#[test]
fn a_word_is_found_in_every_normal_form_and_without_its_accents_after_those_that_have_them() -> TestResult {
    let folder = tempfile::tempdir()?;
    let texts = [
        ("composed", "my r\u{e9}sum\u{e9} here"),
        ("decomposed", "my re\u{301}sume\u{301} here"),
        ("plain", "my resume here"),
        ("other", "something else"),
    ];
    for (name, text) in texts {
        fs::write(folder.path().join(name), text)?;
    }
    for ranking in [Ranking::Bm25, Ranking::Tfidf] {
        let shards = Shards::build(folder.path(), settings(3, ranking), &IndexStorage::Memory);
        for accented in ["r\u{e9}sum\u{e9}", "RE\u{301}SUME\u{301}"] {
            let found = found_in(&shards, accented);
            assert_eq!(found, ["composed", "decomposed", "plain"], "{accented} by {ranking}");
        }
        assert_eq!(found_in(&shards, "resume"), ["plain", "composed", "decomposed"], "by {ranking}");
        assert_eq!(found_in(&shards, "\"my resume here\""), ["plain", "composed", "decomposed"]);
        assert_eq!(found_in(&shards, "\"my r\u{e9}sum\u{e9} here\""), ["composed", "decomposed", "plain"]);
        assert_eq!(found_in(&shards, "here NOT r\u{e9}sum\u{e9}"), Vec::<String>::new());
    }
    Ok(())
}

#[test]
fn no_number_of_loose_occurrences_is_worth_an_exact_one() -> TestResult {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("many"), "resume ".repeat(50))?;
    fs::write(folder.path().join("one"), "other ".repeat(49) + "r\u{e9}sum\u{e9}")?;
    let shards = Shards::build(folder.path(), settings(2, Ranking::Bm25), &IndexStorage::Memory);
    assert_eq!(found_in(&shards, "r\u{e9}sum\u{e9}"), ["one", "many"]);
    Ok(())
}

#[test]
fn words_without_spaces_are_found_inside_a_sentence_wherever_the_dictionary_cuts_it() -> TestResult {
    let folder = tempfile::tempdir()?;
    let texts = [
        ("chinese", "我们昨天在北京大学买了iPhone15手机。"),
        ("japanese", "私は東京都知事の記者会見を2024年に見ました。"),
        ("thai", "ฉันชอบเรียนภาษาไทยที่กรุงเทพ"),
        ("khmer", "ខ្ញុំរៀនភាសាខ្មែរនៅភ្នំពេញ"),
        ("lao", "ຂ້ອຍຮຽນພາສາລາວຢູ່ວຽງຈັນ"),
        ("burmese", "ကျွန်တော်မြန်မာစာသင်တယ်"),
    ];
    for (name, text) in texts {
        fs::write(folder.path().join(name), text)?;
    }
    let shards = Shards::build(folder.path(), settings(3, Ranking::Bm25), &IndexStorage::Memory);
    for (word, name) in [
        ("北京", "chinese"),
        ("大学", "chinese"),
        ("北京大学", "chinese"),
        ("iphone15", "chinese"),
        ("手机", "chinese"),
        ("昨天在北京大学买了iphone15手机", "chinese"),
        ("東京", "japanese"),
        ("東京都", "japanese"),
        ("知事", "japanese"),
        ("記者会見", "japanese"),
        ("2024", "japanese"),
        ("ภาษา", "thai"),
        ("ภาษาไทย", "thai"),
        ("กรุงเทพ", "thai"),
        ("ភាសា", "khmer"),
        ("ភ្នំពេញ", "khmer"),
        ("ພາສາ", "lao"),
        ("ວຽງຈັນ", "lao"),
        ("မြန်မာ", "burmese"),
    ] {
        assert_eq!(found_in(&shards, word), [name], "{word}");
    }
    assert_eq!(found_in(&shards, "京北"), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_word_ranks_higher_where_it_stands_by_itself_than_inside_another() -> TestResult {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("inside"), "東京都。")?;
    fs::write(folder.path().join("itself"), "京都。")?;
    let shards = Shards::build(folder.path(), settings(2, Ranking::Bm25), &IndexStorage::Memory);
    assert_eq!(found_in(&shards, "京都"), ["itself", "inside"]);
    Ok(())
}

#[test]
fn long_words_are_found_whole_or_by_their_beginning() -> TestResult {
    let folder = tempfile::tempdir()?;
    let sum = "0123456789abcdef".repeat(8);
    let endless = "xyz".repeat(1000);
    fs::write(folder.path().join("sum"), format!("the sum is {sum} of it"))?;
    fs::write(folder.path().join("endless"), format!("{endless} and more"))?;
    let shards = Shards::build(folder.path(), settings(2, Ranking::Bm25), &IndexStorage::Memory);
    assert_eq!(found_in(&shards, &sum), ["sum"]);
    assert_eq!(found_in(&shards, &sum.to_uppercase()), ["sum"]);
    assert_eq!(found_in(&shards, &sum[..127]), Vec::<String>::new());
    assert_eq!(found_in(&shards, &endless), ["endless"]);
    Ok(())
}

#[test]
fn snippets_mark_what_was_found_in_every_script() -> TestResult {
    let folder = tempfile::tempdir()?;
    let filler = "词。".repeat(300);
    fs::write(folder.path().join("a"), format!("{filler}我住在東京都里。{filler}"))?;
    fs::write(folder.path().join("b"), "the re\u{301}sume\u{301} of Straße, a boundary, a layer, a boundary layer")?;
    let shards = Shards::build(folder.path(), settings(1, Ranking::Bm25), &IndexStorage::Memory);
    let show = |text: &str, path: &str| {
        let query = shards.query(text);
        let highlighter = Highlighter::new(Ranking::Bm25, &query, &shards.weights(&query));
        highlighter.show(&shards.held[&ShardId(0)].snapshot, path).map(|shown| shown.unwrap_or_default().1)
    };
    let snippet = show("東京", "a")?;
    assert!(snippet.contains("我住在<mark>東京</mark>都里。"), "{snippet}");
    assert_eq!(
        show("resume strasse \"boundary layer\"", "b")?,
        "the <mark>re\u{301}sume\u{301}</mark> of <mark>Straße</mark>, a boundary, a layer, a <mark>boundary layer</mark>"
    );
    Ok(())
}

#[test]
fn an_index_of_an_older_version_is_removed_and_built_again() -> TestResult {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.txt"), "words")?;
    let (data, storage) = disk()?;
    let settings = settings(1, Ranking::Bm25);
    Shards::build(folder.path(), settings, &storage);
    let root = data.path().join("index");
    let present = fs::read_dir(&root)?.next().ok_or("nothing is stored")??.file_name();
    let (older, others) = (root.join("v1-1-bm25"), ["v1-mine", "v99-1-bm25", "notes"].map(|name| root.join(name)));
    fs::rename(root.join(&present), &older)?;
    others.iter().try_for_each(fs::create_dir)?;
    assert!(storage.load(settings, ShardId(0)).is_none());
    storage.remove_older();
    assert!(!older.exists() && others.iter().all(|other| other.is_dir()));
    assert_eq!(Shards::build(folder.path(), settings, &storage).search("words", 10).1, 1);
    Ok(())
}

fn disk() -> Result<(tempfile::TempDir, IndexStorage), std::io::Error> {
    let folder = tempfile::tempdir()?;
    let storage = IndexStorage::Disk(folder.path().join("index"));
    Ok((folder, storage))
}

fn everything_in(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be read").flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_index_on_disk_is_found_again_and_ranks_the_same() -> TestResult {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 60, 1)?;
    let (_data, storage) = disk()?;
    let settings = settings(4, Ranking::Bm25);
    let built = Shards::build(folder.path(), settings, &storage);
    let files = files(folder.path(), settings);
    let held: BTreeMap<_, _> =
        ShardId::all(4).map(|shard| (shard, storage.load(settings, shard).expect("the index is whole"))).collect();
    for (shard, held) in &held {
        assert!(super::manifest::unchanged(&held.files, &files[shard]), "shard {shard} would be built again");
    }
    let loaded = Shards { settings, held };
    for text in queries(16, 1) {
        assert_eq!(loaded.search(&text, 10), built.search(&text, 10));
    }
    assert!(storage.load(Settings { ranking: Ranking::Tfidf, ..settings }, ShardId(0)).is_none());
    Ok(())
}

#[test]
fn a_damaged_index_is_not_used_whichever_byte_is_hit() -> TestResult {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.txt"), "some words to be found")?;
    let settings = settings(1, Ranking::Bm25);
    let (data, storage) = disk()?;
    let built = Shards::build(folder.path(), settings, &storage);
    let expected = built.search("words", 10);
    let kept = everything_in(data.path());
    assert!(kept.len() >= 7, "{kept:?}");
    for path in kept {
        let whole = fs::read(&path)?;
        let damages = [whole[..whole.len() / 2].to_vec(), vec![], {
            let mut flipped = whole.clone();
            flipped[whole.len() / 2] ^= 0x10;
            flipped
        }];
        for damaged in damages {
            let (copy, storage) = disk()?;
            Shards::build(folder.path(), settings, &storage);
            let same_kind = everything_in(copy.path()).into_iter().find(|other| other.extension() == path.extension());
            fs::write(same_kind.expect("the copy has the same files"), damaged)?;
            // tantivy keeps no checksum of its list of files; whatever is loaded must still answer right.
            if let Some(held) = storage.load(settings, ShardId(0)) {
                let loaded = Shards { settings, held: [(ShardId(0), held)].into() };
                assert_eq!(loaded.search("words", 10), expected, "{path:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_snapshot_is_named_for_its_contents() -> TestResult {
    let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for folder in [&one, &other] {
        write_documents(folder.path(), 20, 9)?;
    }
    let settings = settings(1, Ranking::Bm25);
    let id = |folder: &Path| Shards::build(folder, settings, &IndexStorage::Memory).held[&ShardId(0)].snapshot.id;
    assert_eq!(id(one.path()), id(other.path()));
    fs::rename(other.path().join("part-0/0.md"), other.path().join("part-0/moved.md"))?;
    assert_ne!(id(one.path()), id(other.path()));
    Ok(())
}

#[test]
fn files_that_were_only_touched_keep_their_snapshot() -> TestResult {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.txt");
    fs::write(&path, "old text")?;
    let (_data, storage) = disk()?;
    let settings = settings(1, Ranking::Bm25);
    let before = Shards::build(folder.path(), settings, &storage).held.remove(&ShardId(0)).expect("it was built");

    fs::File::open(&path)?.set_modified(SystemTime::now() - Duration::from_secs(1000))?;
    let files = &files(folder.path(), settings)[&ShardId(0)];
    let documents = folder.path().to_owned();
    let input = BuildInput { documents: &documents, settings, shard: ShardId(0), files };
    let touched = build(input, Some(&before), &storage)?;
    assert!(Arc::ptr_eq(&touched.snapshot, &before.snapshot));
    let loaded = storage.load(settings, ShardId(0)).expect("the index is whole");
    assert!(super::manifest::unchanged(&loaded.files, files));

    fs::write(&path, "new text")?;
    let changed = build(input, Some(&touched), &storage)?;
    assert_ne!(changed.snapshot.id, before.snapshot.id);
    Ok(())
}

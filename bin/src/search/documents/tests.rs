use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Charset, FolderError, Kind, Links, MAX_FILE_BYTES, SkipReason, Text, extract, read, scan};

type TestResult = Result<(), Box<dyn core::error::Error>>;

fn write(folder: &Path, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a path in a folder has a parent"))?;
    fs::write(path, contents)
}

fn html(page: &str) -> Text {
    extract(Kind::Html, "a/page.html", page.to_owned()).expect("the page is parsed")
}

#[test]
fn documents_are_found_in_the_order_of_their_paths() -> TestResult {
    let folder = tempfile::tempdir()?;
    for path in ["b.txt", "a/z.md", "a/b/deep.html", "a.txt", "README", ".git/config", "a-b.txt"] {
        write(folder.path(), path, "words")?;
    }
    let found = scan(folder.path(), SystemTime::now())?;
    let paths: Vec<_> = found.documents.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["README", "a-b.txt", "a.txt", "a/b/deep.html", "a/z.md", "b.txt"]);
    assert_eq!(found.skipped, []);
    Ok(())
}

#[test]
fn links_are_followed_to_files_and_folders() -> TestResult {
    let (folder, elsewhere) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write(elsewhere.path(), "book/deep/page.html", "words")?;
    symlink(elsewhere.path().join("book"), folder.path().join("linked"))?;
    symlink(elsewhere.path().join("book/deep/page.html"), folder.path().join("one.html"))?;
    let found = scan(folder.path(), SystemTime::now())?;
    let paths: Vec<_> = found.documents.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["one.html"], "the shorter path of the two");
    assert_eq!(found.links, Links { out: 2, loops: 0, again: 1 });
    assert_eq!(read(&folder.path().to_owned(), &found.documents[0])?.text, Ok(("words".to_owned(), Charset::UTF_8)));
    Ok(())
}

#[test]
fn files_that_are_not_documents_are_skipped_with_the_reason() -> TestResult {
    let folder = tempfile::tempdir()?;
    write(folder.path(), "code.js", "x")?;
    fs::File::create(folder.path().join("huge.txt"))?.set_len(2 << 30)?;
    symlink("nowhere", folder.path().join("dangling.txt"))?;
    fs::create_dir(folder.path().join("sub"))?;
    symlink("..", folder.path().join("sub/up"))?;
    symlink("round", folder.path().join("round"))?;
    write(folder.path(), OsStr::from_bytes(b"caf\xe9/inside.txt"), "x")?;
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket"))?;
    let found = scan(folder.path(), SystemTime::now())?;
    let skipped: Vec<_> = found.skipped.iter().map(|skipped| (skipped.path.as_str(), skipped.reason)).collect();
    assert_eq!(
        skipped,
        [
            ("caf\u{fffd}", SkipReason::NameNotUtf8),
            ("code.js", SkipReason::UnknownKind),
            ("dangling.txt", SkipReason::NotAFile),
            ("huge.txt", SkipReason::TooLarge),
            ("round", SkipReason::Unreadable),
            ("socket", SkipReason::NotAFile),
            ("sub/up", SkipReason::Loop),
        ]
    );
    Ok(())
}

#[test]
fn hidden_names_are_ignored_whatever_they_are() -> TestResult {
    let folder = tempfile::tempdir()?;
    write(folder.path(), ".hidden/inside.txt", "x")?;
    write(folder.path(), ".note.txt", "x")?;
    symlink("nowhere", folder.path().join(".#locked.txt"))?;
    symlink(".", folder.path().join(".loop"))?;
    write(folder.path(), "seen.txt", "x")?;
    let found = scan(folder.path(), SystemTime::now())?;
    let paths: Vec<_> = found.documents.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((paths, found.skipped), (vec!["seen.txt"], vec![]));
    Ok(())
}

#[test]
fn a_folder_may_be_hidden_or_linked_itself() -> TestResult {
    let folder = tempfile::tempdir()?;
    write(folder.path(), ".documents/a/page.txt", "x")?;
    symlink(".documents", folder.path().join("linked"))?;
    for root in [".documents", "linked", ".documents/", "linked/../.documents"] {
        let found = scan(&folder.path().join(root), SystemTime::now())?;
        let paths: Vec<_> = found.documents.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a/page.txt"], "{root}");
    }
    Ok(())
}

#[test]
fn an_unusable_folder_is_an_error_and_an_empty_one_is_not() -> TestResult {
    let folder = tempfile::tempdir()?;
    let now = SystemTime::now();
    assert!(matches!(scan(&folder.path().join("no"), now), Err(FolderError::Missing(_))));
    write(folder.path(), "file", "x")?;
    assert!(matches!(scan(&folder.path().join("file"), now), Err(FolderError::NotAFolder(_))));
    fs::remove_file(folder.path().join("file"))?;
    assert!(scan(folder.path(), now)?.documents.is_empty());
    Ok(())
}

#[test]
fn a_fresh_stamp_is_not_trusted_yet() -> TestResult {
    let folder = tempfile::tempdir()?;
    write(folder.path(), "a.txt", "x")?;
    let now = SystemTime::now();
    assert!(!scan(folder.path(), now)?.documents[0].settled);
    assert!(scan(folder.path(), now + Duration::from_secs(60))?.documents[0].settled);
    Ok(())
}

#[test]
fn contents_that_are_not_text_are_skipped() -> TestResult {
    let folder = tempfile::tempdir()?;
    write(folder.path(), "binary.txt", b"a\0b")?;
    write(folder.path(), "broken.txt", b"caf\xe9 \x02")?;
    write(folder.path(), "marked.txt", b"\xff\xfea\0b")?;
    write(folder.path(), "fine.txt", "café")?;
    write(folder.path(), "grown.txt", "")?;
    let found = scan(folder.path(), SystemTime::now())?;
    fs::File::create(folder.path().join("grown.txt"))?.set_len(MAX_FILE_BYTES + 1)?;
    let texts: Vec<_> = found
        .documents
        .iter()
        .map(|file| read(&folder.path().to_owned(), file).map(|read| read.text))
        .collect::<Result<_, _>>()?;
    assert_eq!(
        texts,
        [
            Err(SkipReason::Binary),
            Err(SkipReason::Binary),
            Ok(("café".to_owned(), Charset::UTF_8)),
            Err(SkipReason::TooLarge),
            Err(SkipReason::UnknownEncoding),
        ]
    );
    Ok(())
}

#[test]
fn titles_come_from_the_document_or_else_its_name() {
    let title = |kind, contents: &str| extract(kind, "a/file.x", contents.to_owned()).expect("it is parsed").title;
    assert_eq!(title(Kind::Text, "Hello"), "file.x");
    assert_eq!(title(Kind::Markdown, "intro\n# The  Title #\n"), "The Title");
    assert_eq!(title(Kind::Markdown, "Under\n=====\n"), "Under");
    assert_eq!(title(Kind::Markdown, "none"), "file.x");
    assert_eq!(title(Kind::Html, "<title>Fish &amp; chips</title><p>x"), "Fish & chips");
    assert_eq!(title(Kind::Html, &"<title>".repeat(3)), "<title><title>");
    assert_eq!(title(Kind::Markdown, &format!("# {}", "é".repeat(500))).chars().count(), 201);
}

#[test]
fn the_text_of_a_page_is_what_a_reader_sees() {
    let page = "<html><head><title>T</title><style>p{}</style></head><body><nav>Next</nav><p>One <b>t</b>wo</p><p>three\
                <script>if (a < b) { alert('</p>') }</script><svg><text>icon</text></svg> f&eacute;e<br>end</body>";
    assert_eq!(html(page).body, "One two three fée end");
    assert_eq!(html("<p>menu</p><main><h1>Real</h1> text</main><p>foot</p>").body, "Real text");
    assert_eq!(html("<nav>never closed <p>text").body, "never closed text");
    assert_eq!(html("no markup at all").body, "no markup at all");
}

#[test]
fn junk_never_panics_and_never_grows() {
    let size = 256 << 10;
    for junk in ["<", "<div>", "<nav>", "</nav>", "<main>", "<!--", "&#x", "<a b='", "<svg/>", "<title>", "\u{0301}"] {
        let page = junk.repeat(size / junk.len());
        let text = html(&page);
        assert!(text.body.len() <= 2 * page.len());
    }
}

/// Text and encoding of a file with these bytes.
fn decoded(name: &str, bytes: &[u8]) -> Result<(String, &'static str), SkipReason> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), name, bytes).expect("the folder can be written");
    let found = scan(folder.path(), SystemTime::now()).expect("the folder can be read");
    let contents = read(&folder.path().to_owned(), &found.documents[0]).expect("the file can be read");
    contents.text.map(|(text, charset)| (text, charset.name()))
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    assert_eq!(decoded("a", "\u{feff}word".as_bytes()), Ok(("word".to_owned(), "UTF-8")));
    for (bytes, name) in [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")] {
        assert_eq!(decoded("a", &utf_16("\u{feff}Wört 東京", bytes)), Ok(("Wört 東京".to_owned(), name)));
    }
}

#[test]
fn utf_16_is_read_without_a_mark_and_binaries_are_not() {
    for text in ["plain words\n", "Übergrößenträger und mehr", "東京に住む。\nここ", "мир и труд"] {
        for (bytes, name) in [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")] {
            assert_eq!(decoded("a", &utf_16(text, bytes)), Ok((text.to_owned(), name)));
        }
    }
    let executable = fs::read("/proc/self/exe").expect("the test itself is a file");
    for binary in
        [&executable[..4096], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\0\0\0\x01", b"PK\x03\x04\x14\0\x08\0", &[0; 64]]
    {
        assert_eq!(decoded("a", binary), Err(SkipReason::Binary));
    }
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert_eq!(decoded("a", &noise), Err(SkipReason::Binary));
}

#[test]
fn legacy_encodings_are_recognised() {
    let prose = [
        ("windows-1252", "Die Straße führt über die große Brücke, und „Übermut“ tut selten gut – so sagt man."),
        ("windows-1252", "Le café était déjà fermé à huit heures; où aller? Chez les élèves, peut-être."),
        ("Shift_JIS", "私は昨日、東京の図書館で日本語の本を三冊借りました。カタカナも読めます。"),
        ("GBK", "我们昨天在北京大学的图书馆借了三本中文书，今天已经读完了一本。"),
        ("windows-1251", "Вчера мы взяли в библиотеке три книги, и одну уже прочитали."),
    ];
    for (name, text) in prose {
        let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).expect("the encoding is known");
        let (bytes, _, lossy) = encoding.encode(text);
        assert!(!lossy, "{text}");
        assert_eq!(decoded("a.txt", &bytes), Ok((text.to_owned(), name)));
    }
    let latin_1: Vec<u8> = "Überall hört man schöne Töne".chars().map(|c| u8::try_from(c).expect("Latin-1")).collect();
    assert_eq!(decoded("a.txt", &latin_1).map(|(text, _)| text), Ok("Überall hört man schöne Töne".to_owned()));
}

#[test]
fn a_page_is_read_as_it_declares() {
    for page in [
        "<meta charset=\"iso-8859-2\"><p>ża",
        "<?xml version='1.0' encoding='iso-8859-2'?><p>ża</p>",
        "<meta http-equiv=content-type content='text/html; charset=ISO-8859-2'><p>ża",
    ] {
        let (bytes, ..) = encoding_rs::ISO_8859_2.encode(page);
        assert_eq!(decoded("a.html", &bytes), Ok((page.to_owned(), "ISO-8859-2")));
    }
    let wrong = "<meta charset=utf-8><p>Die große Straße führt über die Brücke";
    let (bytes, ..) = encoding_rs::WINDOWS_1252.encode(wrong);
    assert_eq!(decoded("a.html", &bytes), Ok((wrong.to_owned(), "windows-1252")), "what it declares cannot be");
}

#[test]
fn folders_with_links_to_each_other_are_walked_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    for own in 0..9 {
        write(folder.path(), format!("f{own}/{own}.txt"), "words")?;
        for other in (0..9).filter(|other| *other != own) {
            symlink(format!("../f{other}"), folder.path().join(format!("f{own}/to-{other}")))?;
        }
    }
    let found = scan(folder.path(), SystemTime::now())?;
    let paths: Vec<_> = found.documents.iter().map(|file| file.path.clone()).collect();
    assert_eq!(paths, (0..9).map(|own| format!("f{own}/{own}.txt")).collect::<Vec<_>>());
    assert_eq!(found.links, Links { out: 0, loops: 0, again: 72 });
    Ok(())
}

#[test]
fn a_file_has_its_shortest_path_and_of_two_as_short_the_one_without_links() -> TestResult {
    let folder = tempfile::tempdir()?;
    write(folder.path(), "deep/down/below/page.txt", "words")?;
    write(folder.path(), "deep/other.txt", "words")?;
    symlink("deep/down", folder.path().join("a"))?;
    symlink("other.txt", folder.path().join("deep/a.txt"))?;
    symlink("../deep/other.txt", folder.path().join("deep/b.bin"))?;
    symlink("../../deep", folder.path().join("deep/down/up"))?;
    let found = scan(folder.path(), SystemTime::now())?;
    let paths: Vec<_> = found.documents.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a/below/page.txt", "deep/other.txt"]);
    let skipped: Vec<_> = found.skipped.iter().map(|skipped| (skipped.path.as_str(), skipped.reason)).collect();
    assert_eq!(
        skipped,
        [
            ("a/up", SkipReason::Loop),
            ("deep/a.txt", SkipReason::SeenElsewhere),
            ("deep/b.bin", SkipReason::UnknownKind),
            ("deep/down", SkipReason::SeenElsewhere),
        ]
    );
    assert_eq!(found.links, Links { out: 0, loops: 1, again: 2 });
    Ok(())
}

#[test]
fn an_xhtml_page_is_read_as_xml() {
    let body = "<body><style/><script src=\"x.js\"/><p class=\"klass\">One<textarea/> two</p><iframe src=\"y\"/>\
                <p><![CDATA[three < four]]> f&eacute;e &#65;&amp;B</p></body>";
    let heads = [
        "<?xml version=\"1.0\"?><html>",
        "<html xmlns=\"http://www.w3.org/1999/xhtml\">",
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x\"><html xmlns='http://www.w3.org/1999/xhtml'>",
    ];
    for (head, path) in heads.into_iter().zip(["a.html", "a.htm", "a.html"]).chain([("<html>", "a.xhtml")]) {
        let page = format!("{head}<head><title/></head>{body}</html>");
        let text = extract(Kind::Html, path, page).expect("the page is parsed");
        assert_eq!(text.body, "One two three < four fée A&B", "{head}");
        assert_eq!(text.title, path);
    }
    let titled =
        "<?xml version='1.0'?><html><head><title>T</title></head><body><svg><title>icon</title></svg>x</body></html>";
    assert_eq!(html(titled), Text { title: "T".to_owned(), title_is_apart: true, body: "x".to_owned() });
}

#[test]
fn a_page_that_is_not_the_xml_that_it_says_is_read_as_html() {
    let page = "<?xml version='1.0'?><html><title/><body><p>One<br>two<script/> <b>three</body>";
    assert_eq!(html(page).body, "One two three");
    assert_eq!(html("<title/><style/><p class=x>One<iframe/> two").body, "One two");
}

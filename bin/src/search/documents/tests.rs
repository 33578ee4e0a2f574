use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{FolderError, Kind, MAX_FILE_BYTES, SkipReason, Text, extract, read, scan};

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
    assert_eq!(paths, ["linked/deep/page.html", "one.html"]);
    assert_eq!(read(&folder.path().to_owned(), &found.documents[0])?.text, Ok("words".to_owned()));
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
    write(folder.path(), "broken.txt", b"caf\xe9")?;
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
        [Err(SkipReason::Binary), Err(SkipReason::NotUtf8), Ok("café".to_owned()), Err(SkipReason::TooLarge)]
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

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let text = extract(Kind::Text, "a", "\u{feff}word".to_owned()).expect("it is parsed");
    assert_eq!(text.body, "word");
}

//! tantivy in this process, as its documentation uses it: one index, the default collector, its own snippets.

use std::fs;
use std::path::Path;
use std::time::Instant;

use tantivy::collector::{Count, TopDocs};
use tantivy::query::QueryParser;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::snippet::SnippetGenerator;
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, doc};

use crate::Outcome;
use crate::latencies::{Latencies, Load};
use crate::questions::Questions;
use crate::table::Row;

/// Memory of the writer in bytes.
const BUDGET: usize = 256 << 20;

/// Two rows: with the best ten alone, and with the number of all matches too, which every other engine here tells.
pub(crate) fn measure(documents: &Path, questions: &Questions, loads: &[Load]) -> Outcome<[Row; 2]> {
    let folder = tempfile::TempDir::new()?;
    let begun = Instant::now();
    let (searcher, text) = index(documents, folder.path())?;
    let indexing = begun.elapsed();
    let parser = QueryParser::for_index(searcher.index(), vec![text]);
    let row = |engine: &str, counts| -> Outcome<Row> {
        let unasked = questions.unasked();
        let ask = |question: &str| {
            ask(&searcher, &parser, text, question, counts).expect("tantivy answers");
        };
        let latencies =
            loads.iter().map(|&load| Latencies::on_threads(load, &unasked, &ask)).collect::<Outcome<_>>()?;
        let remarks = format!("in the process, {} segments", searcher.segment_readers().len());
        Ok(Row { engine: engine.to_owned(), indexing, copies: 1, latencies, remarks })
    };
    Ok([row("tantivy", false)?, row("tantivy, with the total", true)?])
}

fn index(documents: &Path, folder: &Path) -> Outcome<(Searcher, Field)> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("en_stem")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let path = schema.add_text_field("path", TextOptions::default().set_stored());
    let text = schema.add_text_field("text", TextOptions::default().set_stored().set_indexing_options(indexing));
    let index = Index::create_in_dir(folder, schema.build())?;
    let mut writer: IndexWriter = index.writer(BUDGET)?;
    for part in fs::read_dir(documents)? {
        for file in fs::read_dir(part?.path())? {
            let file = file?.path();
            writer.add_document(doc!(path => file.display().to_string(), text => fs::read_to_string(&file)?))?;
        }
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok((index.reader()?.searcher(), text))
}

fn ask(searcher: &Searcher, parser: &QueryParser, text: Field, question: &str, counts: bool) -> tantivy::Result<usize> {
    let query = parser.parse_query(question)?;
    let hits = searcher.search(&query, &TopDocs::with_limit(10).order_by_score())?;
    let total = if counts { searcher.search(&query, &Count)? } else { 0 };
    let generator = SnippetGenerator::create(searcher, &*query, text)?;
    let mut shown = 0;
    for (_, address) in hits {
        let document: TantivyDocument = searcher.doc(address)?;
        shown += generator.snippet_from_doc(&document).to_html().len();
    }
    Ok(core::hint::black_box(total + shown))
}

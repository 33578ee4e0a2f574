//! The measurements, as a table in Markdown.

use core::fmt;
use core::time::Duration;

use crate::latencies::Latencies;

/// The measurements of one engine.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) engine: String,
    /// Time to index the documents.
    pub(crate) indexing: Duration,
    /// Number of copies of every document that were indexed in that time.
    pub(crate) copies: u32,
    /// Answer times, one for each load.
    pub(crate) latencies: Vec<Latencies>,
    /// Remarks, such as memory and the use of the processor at rest.
    pub(crate) remarks: String,
}

/// All engines that were measured.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    documents: usize,
    clients: Vec<usize>,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(documents: usize, clients: &[usize]) -> Self {
        Self { documents, clients: clients.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, indexing, copies, latencies, remarks } = self;
        write!(formatter, "| {engine} | {:.1} s ({copies}) |", indexing.as_secs_f64())?;
        latencies.iter().try_for_each(|latencies| write!(formatter, " {latencies} |"))?;
        write!(formatter, " {remarks} |")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} documents; median / 99th percentile / queries a second:\n", self.documents)?;
        write!(formatter, "| engine | indexing (copies) |")?;
        for clients in &self.clients {
            let plural = if *clients == 1 { "" } else { "s" };
            write!(formatter, " {clients} client{plural} |")?;
        }
        writeln!(formatter, " |\n|{}", " --- |".repeat(3 + self.clients.len()))?;
        self.rows.iter().try_for_each(|row| writeln!(formatter, "{row}"))?;
        let Some((first, others)) = self.rows.split_first() else { return Ok(()) };
        for other in others {
            let pairs = other.latencies.iter().zip(&first.latencies);
            let ratios = pairs.map(|(other, first)| {
                let median = other.median.as_secs_f64() / first.median.as_secs_f64();
                format!("{median:.2} / {:.2}", other.per_second / first.per_second)
            });
            let ratios = ratios.collect::<Vec<_>>().join(", ");
            writeln!(formatter, "\n{} to {}, median / queries a second: {ratios}", other.engine, first.engine)?;
        }
        Ok(())
    }
}

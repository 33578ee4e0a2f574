"""SQLite's FTS5 with the Porter stemmer, ranked by BM25, with snippets."""

import os
import sqlite3

from asking import documents, run


def index(folder):
    database = sqlite3.connect(os.path.join(folder, "documents.db"))
    database.execute("CREATE VIRTUAL TABLE documents USING fts5(path UNINDEXED, text, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO documents VALUES (?, ?)", documents())
    database.execute("INSERT INTO documents(documents) VALUES ('optimize')")
    database.commit()


def connect(folder):
    database = sqlite3.connect(os.path.join(folder, "documents.db"))

    def ask(words):
        query = " OR ".join(f'"{word}"' for word in words)
        database.execute("SELECT count(*) FROM documents WHERE documents MATCH ?", (query,)).fetchall()
        return database.execute(
            "SELECT path, rank, snippet(documents, 1, '<mark>', '</mark>', '…', 30) FROM documents"
            " WHERE documents MATCH ? ORDER BY rank LIMIT 10",
            (query,),
        ).fetchall()

    return ask


run(sqlite3.sqlite_version, index, connect)

"""Xapian with the English stemmer, ranked by its BM25, with snippets."""

import os

import xapian

from asking import documents, run


def index(folder):
    database = xapian.WritableDatabase(os.path.join(folder, "index"), xapian.DB_CREATE_OR_OPEN)
    generator = xapian.TermGenerator()
    generator.set_stemmer(xapian.Stem("en"))
    for path, text in documents():
        document = xapian.Document()
        generator.set_document(document)
        generator.index_text(text)
        document.set_data(path + "\n" + text)
        database.add_document(document)
    database.commit()
    database.close()


def connect(folder):
    database = xapian.Database(os.path.join(folder, "index"))
    stemmer = xapian.Stem("en")
    parser = xapian.QueryParser()
    parser.set_stemmer(stemmer)
    parser.set_stemming_strategy(xapian.QueryParser.STEM_SOME)
    parser.set_default_op(xapian.Query.OP_OR)
    enquire = xapian.Enquire(database)

    def ask(words):
        enquire.set_query(parser.parse_query(" ".join(words)))
        # The number of all matches is exact only if all are looked at.
        found = enquire.get_mset(0, 10, database.get_doccount())
        hits = []
        for match in found:
            path, text = match.document.get_data().decode("utf-8").split("\n", 1)
            hits.append((path, match.weight, found.snippet(text, 200, stemmer)))
        return found.get_matches_estimated(), hits

    return ask


run(xapian.version_string(), index, connect)

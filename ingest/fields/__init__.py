"""Typed fields out of a document's text: one module a field; `read.read_fields` reads them all."""

"""Measurements of this machine against the targets: one module a benchmark, each with `run(settings, *, quick)`."""

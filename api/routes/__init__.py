"""HTTP routes, one module a concern; all plain `def`, run on the framework's threads."""

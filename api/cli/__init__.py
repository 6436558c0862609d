"""The command line: one module a command group. What is heavy is imported inside commands, so that help is quick."""

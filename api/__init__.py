"""The doors: HTTP and the command line. No logic here, only composition and translation."""

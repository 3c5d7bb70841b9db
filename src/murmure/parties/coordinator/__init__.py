"""The coordinator of a study: collects masked messages, publishes progress, results and a page."""

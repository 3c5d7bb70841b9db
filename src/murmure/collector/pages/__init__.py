"""Pages of the collector: templates, style sheet and modules of scripts, and the functions that write each page."""

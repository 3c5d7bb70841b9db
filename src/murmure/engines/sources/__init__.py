"""Where rows come from: files, frames and tables, read in batches; and where tables are written."""

"""Reports as pages: sections, words and HTML, in English and in French."""

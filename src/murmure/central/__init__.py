"""The curator slot: exact integers get discrete noise before they are shown. One noise per file."""

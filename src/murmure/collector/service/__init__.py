"""The collector without HTTP: surveys, analysts, links, public coins, results. Nothing here knows a socket."""

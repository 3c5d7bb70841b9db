"""From a formula and a schema to the columns of a design."""

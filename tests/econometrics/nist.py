"""The reference sets, where tests look for them."""

from murmure.econometrics.nist import BY_NAME, SETS, digits, parts_of, polynomial, schema_of

__all__ = ["BY_NAME", "SETS", "digits", "parts_of", "polynomial", "schema_of"]

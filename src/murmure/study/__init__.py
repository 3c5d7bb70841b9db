"""A study between organisations: a document that its coordinator signs, and that every party reads and approves."""

from murmure.study.document import Study

__all__ = ["Study"]

"""What tests of the answering page share: a browser, a small collector, and a person who visits."""

from tests.collector.pages.visits import collector, served, visit
from tests.pages.conftest import browser, open_page

__all__ = ["browser", "collector", "open_page", "served", "visit"]

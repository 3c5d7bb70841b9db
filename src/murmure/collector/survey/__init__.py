"""A survey as data: its texts in two languages, its questions, and the plan that randomises the answers."""

"""How a file is written, found out by looking at it. Only `murmure schema init` and `murmure schema check` look.

What they find goes into the schema's [file], out loud. Every release reads by the schema, or by the fixed default:
where a release looked for itself, one person's row could change how the rows of all others are read. So this package
is part of the two commands, above everything that reads tables, and a test checks that nothing else imports it.
"""

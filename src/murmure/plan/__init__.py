"""The plan: three slots as data, its reports, its JSON, and the rules that exact sums must keep."""

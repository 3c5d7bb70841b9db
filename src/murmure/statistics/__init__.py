"""One question per file. A statistic says what each person adds (`lift`) and what is made of the sum.

Questions that learners and econometric models ask are in learning/ and exact/. The machinery is below all of these:
expressions/, then base/, then estimates/ and conditions/. Imports point down only.
"""

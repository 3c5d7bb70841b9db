"""Laws and their samplers: few and deep. Every sampler and every compiled kernel lives here.

A *channel* is the integers of a law for every input at once; a *law* is a channel at given inputs.
"""

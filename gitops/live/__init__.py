"""Observation of the garden and the shoots with as few calls as possible.

Absent, forbidden and unreachable stay three different things: an observation is complete or it is an error.
"""

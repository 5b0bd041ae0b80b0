"""The rollout: a pure state machine that says what next, an executor that does it, and the gates between.

`step` decides for one shoot from what is observed alone, so progress lives in the clusters: a run that was killed is
resumed by the next one without any memory of it. `waves` decides for all shoots who may move. Only `executor` and
`effects` do I/O or read a clock.
"""

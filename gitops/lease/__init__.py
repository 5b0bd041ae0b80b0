"""One at a time: a Lease per overlay says whose turn it is, and a fence keeps everybody else from writing.

The rules are those of client-go's leader election (tools/leaderelection/leaderelection.go): who wants a lease that
another holds must have watched it unchanged for as long as it lasts, by a clock of its own. Wall clocks are written
down for people and never compared, so that a clock that is an hour off changes nothing.
"""

"""One process that runs for years: it is told of pushes, keeps the schedule, runs overlays, and shows how they fare.

    webhooks ──► Dispatch ◄── schedule
                  │     │
                scout  workers
    (looks into git)   (one run of one overlay each, by gitops.pipeline)

`dispatch` decides what is due and knows no thread; `scout` and `runner` do one look and one run; `process` gives them
threads, a listening socket and an end.
"""

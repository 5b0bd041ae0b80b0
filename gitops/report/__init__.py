"""Plan, progress, record, status and history as people and scripts read them. Values in, text out: nothing here writes.

Every function of this package returns text that ends with a line break, or no text at all. Texts from outside (values,
messages of servers, names in git) are shown so that they can neither steer a terminal nor pass for a line of ours.
"""

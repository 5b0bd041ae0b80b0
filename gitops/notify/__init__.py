"""Telling people how a rollout goes: commit statuses, a pull-request comment, webhooks, Events on the Shoot.

Nothing here holds up a rollout or makes it fail. What goes to the web is put into an outbox, whose thread delivers it;
what could not be delivered is told with its reason, which never holds a secret.
"""

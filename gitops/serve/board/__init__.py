"""The dashboard: what there is to see of every overlay, as pages that only read.

Board       hears of runs, and hands out views that never change
ViewAccess  who may look
routes      the pages, for a Starlette app
guarded     other routes, such as those of an API, for those only who may look
"""

from gitops.serve.board.access import (
    Everybody,
    PasswordFile,
    ThisMachine,
    TokenFile,
    TrustedProxy,
    ViewAccess,
    is_loopback,
)
from gitops.serve.board.board import Board
from gitops.serve.board.events import Streams
from gitops.serve.board.guard import guarded
from gitops.serve.board.pages import routes

__all__ = [
    "Board",
    "Everybody",
    "PasswordFile",
    "Streams",
    "ThisMachine",
    "TokenFile",
    "TrustedProxy",
    "ViewAccess",
    "guarded",
    "is_loopback",
    "routes",
]

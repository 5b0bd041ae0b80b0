"""When something must happen to a shoot that waits, if nothing else happens before."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from gitops.manifest import Target
from gitops.rollout.track import Phase, Track


class Timers:
    """Times by shoot. A time that its track no longer waits for is forgotten when it comes up."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, Target]] = []

    def set_for(self, track: Track) -> None:
        """Remember the times of a track that waits."""
        for time in (track.look_at, track.give_up_at):
            if time is not None:
                heapq.heappush(self._heap, (time, track.target))

    def earliest(self, tracks: Mapping[Target, Track]) -> datetime | None:
        """The first time that still counts; None when there is none."""
        while self._heap and not _counts(self._heap[0], tracks):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop_due(self, tracks: Mapping[Target, Track], now: datetime) -> Iterator[Target]:
        """The shoots whose time has come, in its order."""
        while (time := self.earliest(tracks)) is not None and time <= now:
            yield heapq.heappop(self._heap)[1]


def _counts(timer: tuple[datetime, Target], tracks: Mapping[Target, Track]) -> bool:
    time, target = timer
    track = tracks[target]
    return track.phase is Phase.WAITING and time in {track.look_at, track.give_up_at}


def pause(poll: timedelta, retry_after: float | None) -> timedelta:
    """Until the next look at something: as usual, or as long as its server asked for.

    Args:
        poll: as usual.
        retry_after: seconds; None where the server did not say.
    """
    return max(poll, timedelta(seconds=retry_after or 0))

"""Traces of random jobs: the same arguments always give the same trace. Pure."""

import math
import random
from collections.abc import Sequence
from typing import Literal

from tpuplane.tpu import Slice

from tpuplane_twin.rehearsal.trace import InvalidTrace, shape, team_name

Pattern = Literal["poisson", "day-night"]

_SWING = {"poisson": 0.0, "day-night": 0.8}
_PEAK_HOUR = 14
_MOST_JOBS = 10_000


def generate(
    seed: int, hours: float, jobs_per_hour: float, teams: Sequence[tuple[str, Slice]], pattern: Pattern = "poisson"
) -> str:
    """A trace as CSV. Each job is one slice, of a team and shape that are drawn from `teams` with equal chances.

    Arrivals are a Poisson process. "day-night" begins at midnight, and has 1.8 times the mean rate at 14:00 and 0.2
    times at 02:00. The time of work is log-normal: 60 minutes at the median, 22 to 163 minutes for two thirds of the
    jobs. Jobs have neither priorities nor checkpoints. Raises `InvalidTrace`.
    """
    if not (hours > 0 and 0 < hours * jobs_per_hour <= _MOST_JOBS):
        allowed = f"both above 0, in all at most {_MOST_JOBS:,} jobs"
        raise InvalidTrace(f"{hours:g} hours with {jobs_per_hour:g} jobs an hour; allowed: {allowed}")
    draw, swing, at = random.Random(seed), _SWING[pattern], 0.0  # noqa: S311 (no secret)
    lines = [f"# tpuplane-twin trace: seed {seed}, {hours:g} hours, {jobs_per_hour:g} jobs an hour, {pattern}"]
    lines.append("team,shape,slices,minutes,priority,at")
    # Thinning: arrivals at the highest rate, of which each remains with the probability of its hour.
    while (at := at + draw.expovariate(jobs_per_hour * (1 + swing))) < hours:
        if draw.random() * (1 + swing) < 1 + swing * math.cos((at - _PEAK_HOUR) / 24 * math.tau):
            team, wanted = draw.choice(teams)
            minutes = max(1, round(draw.lognormvariate(math.log(60), 1)))
            machine = "" if wanted == shape(str(wanted)) else f" {wanted.machine.name}"
            lines.append(f"{team},{wanted}{machine},1,{minutes},,{int(at * 3600)}")
    if len(lines) == 2:
        raise InvalidTrace(f"no job arrives within {hours:g} hours with seed {seed}; give more hours or more jobs")
    return "\n".join(lines) + "\n"


def team_and_shape(text: str) -> tuple[str, Slice]:
    """A team and the shape of its jobs, from a text such as `research=v6e-4x4`. Raises `InvalidTrace`."""
    team, _, wanted = text.partition("=")
    try:
        return team_name(team), shape(wanted)
    except ValueError as error:
        raise InvalidTrace(f"{text!r}: {error}; write TEAM=SHAPE, such as research=v6e-4x4") from None

"""Random cities for tests: walks on a coarse grid, so that meeting, standing and touching come often."""

from __future__ import annotations

from random import Random

from tests.berlinmod.made_city import Instant, MadeCity

from causeway.berlinmod.model.parameters import make_parameters

__all__ = ["random_city"]


def random_city(seed: int, vehicles: int = 12, units: int = 90, disturbed: bool = False) -> MadeCity:
    """Vehicles that stand, drive and pause between places that are 50 m apart, for three days."""
    chance = Random(seed)
    parameters = make_parameters(cars=1, days=1)
    first, begin, last = parameters.first_ms, parameters.begin_ms, parameters.last_ms
    histories = [_walk(chance, first, begin, last, units) for _ in range(vehicles)]

    def place() -> tuple[float, float]:
        return chance.randrange(12) * 50.0, chance.randrange(12) * 50.0

    def moment() -> int:
        # Often a moment at which something begins.
        return (
            chance.choice(chance.choice(histories))[0]
            if chance.random() < 0.3
            else chance.randrange(begin, begin + 7_200_000)
        )

    regions = []
    for _ in range(20):
        x, y = place()
        size = chance.choice([30.0, 75.0, 140.0])
        regions.append([(x + size, y), (x, y + size), (x - size, y), (x, y - size)])
    periods = []
    for _ in range(20):
        start = moment()
        periods.append((start, start + chance.choice([0, 60_000, 1_500_000, 4_000_000])))
    return MadeCity(
        histories=histories,
        types=[chance.choice(["passenger", "passenger", "truck", "bus"]) for _ in range(vehicles)],
        licences=[f"B-{chance.randrange(10**6):06d} {v}" for v in range(vehicles)],
        points=[place() for _ in range(24)],
        regions=regions,
        instants=[moment() for _ in range(20)],
        periods=periods,
        asked=[chance.randrange(vehicles) for _ in range(23)],
        nodes=sorted({place() for _ in range(60)} | {(0.0, 0.0)}),
        disturbed=disturbed,
    )


def _walk(chance: Random, first: int, begin: int, last: int, units: int) -> list[Instant]:
    x, y = chance.randrange(12) * 50.0, chance.randrange(12) * 50.0
    history: list[Instant] = [(first, x, y)]
    now = begin + chance.randrange(60) * 1000
    history.append((now, x, y))
    for _ in range(units):
        kind = chance.random()
        if kind < 0.1:
            stays = chance.choice([10_000, 60_000, 400_000])
            if history[-2][1:] != (x, y):
                now += stays
                history.append((now, x, y))
            continue
        x = min(max(x + chance.choice([-50.0, -25.0, 0.0, 25.0, 50.0]), 0.0), 600.0)
        y = min(max(y + chance.choice([-50.0, -25.0, 25.0, 50.0]), 0.0), 600.0)
        if (x, y) == history[-1][1:]:
            continue
        now += chance.choice([2000, 2000, 3571])
        history.append((now, x, y))
    if history[-2][1:] == history[-1][1:]:
        history.pop()
    return [*history, (last, x, y)]

"""How one driver follows another: the model of Krauß, Wagner and Gawron (1997), in feet and seconds.

S. Krauß, P. Wagner, C. Gawron: "Metastable states in a microscopic model of traffic flow", Physical
Review E 55, 5597 (1997). The model is made for steps of one second and free of collisions: a driver
takes the highest speed from which he can still stop behind the one ahead, should that one brake, and
now and then dawdles. Denser traffic is therefore slower.
"""

from __future__ import annotations

from causeway.runtime.compiled import inlined

__all__ = [
    "ACCELERATION",
    "DAWDLING",
    "DECELERATION",
    "REACTION_TIME",
    "RELAXATION",
    "STANDING_GAP",
    "VEHICLE_LENGTH",
    "following_speed",
    "safe_speed",
]

VEHICLE_LENGTH = 14.0
STANDING_GAP = 5.0
ACCELERATION = 8.5
DECELERATION = 14.8
REACTION_TIME = 0.57
DAWDLING = 0.1
RELAXATION = 0.5


@inlined
def safe_speed(gap: float, leader_speed: float, speed: float) -> float:
    """Highest speed (ft/s) from which a driver can stop behind a leader who brakes.

    `gap` is bumper to bumper, less the standing gap. The result is negative where the gap is already
    too short: the caller takes it as 0.
    """
    return leader_speed + (gap - leader_speed * REACTION_TIME) / (
        (leader_speed + speed) / (2.0 * DECELERATION) + REACTION_TIME
    )


@inlined
def following_speed(gap: float, leader_speed: float, leader_moves: float, speed: float) -> float:
    """Speed (ft/s) for the next second behind a leader who moves `leader_moves` feet in it.

    A driver whom a lane change has left with too short a gap lets it grow slowly instead of braking
    at once, as observed by Laval and Leclercq (2008). Whatever the gap, vehicles never overlap.
    """
    chosen = max(safe_speed(gap, leader_speed, speed), leader_moves - RELAXATION)
    return max(min(chosen, gap + leader_moves), 0.0)

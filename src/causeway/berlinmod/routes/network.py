"""Shortest paths by scipy's Dijkstra, as edges: from a few origins at a time, so that memory is bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.model.parameters import Distance
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["Network"]

_TREES_AT_A_TIME: Final = 64
"""Shortest-path trees in memory: 12 bytes for each and each node."""


@dataclass(frozen=True)
class Network:
    """The street graph of a road map with the cost of its edges."""

    nodes: int
    first: I32
    """Edges are sorted by origin, then target; those of node n begin at `first[n]`."""
    target: I32
    edge: I32
    """Number of each edge in the road map."""
    forward: csr_array
    backward: csr_array
    """The graph with all edges reversed."""

    @classmethod
    def of(cls, road_map: RoadMap, distance: Distance) -> Network:
        """The network in which edges cost seconds at the speed limit (fastest), or metres (shortest)."""
        cost: F64 = road_map.edge_seconds if distance == "fastest" else road_map.edge_length
        order = np.lexsort((road_map.edge_to, road_map.edge_from))
        origin, target = road_map.edge_from[order], road_map.edge_to[order]
        first = np.searchsorted(origin, np.arange(road_map.nodes + 1)).astype(np.int32)
        shape = (road_map.nodes, road_map.nodes)
        forward = csr_array((cost[order], target, first), shape=shape)
        return cls(
            road_map.nodes,
            first,
            target.astype(np.int32),
            order.astype(np.int32),
            forward,
            csr_array(forward.T.tocsr()),
        )

    def routes(self, root: I32, reverse: np.ndarray, far: I32) -> tuple[I64, I32]:
        """Offsets and edges of shortest paths from `root[i]` to `far[i]`, or back where `reverse[i]`.

        One Dijkstra is run for each root and direction, whatever the number of paths.
        """
        count = root.size
        sizes = np.zeros(count, np.int64)
        pieces: list[tuple[I64, I64, I32]] = []
        for backwards in (False, True):
            mine = np.flatnonzero((reverse == backwards) & (root != far))
            mine = mine[np.argsort(root[mine], kind="stable")]
            roots = np.unique(root[mine])
            graph = self.backward if backwards else self.forward
            for begin in range(0, roots.size, _TREES_AT_A_TIME):
                some = roots[begin : begin + _TREES_AT_A_TIME]
                low = np.searchsorted(root[mine], some[0])
                high = np.searchsorted(root[mine], some[-1], side="right")
                paths = mine[low:high]
                _, tree = dijkstra(graph, indices=some, return_predecessors=True)
                rows = np.searchsorted(some, root[paths]).astype(np.int64)
                lengths, edges = _walk(
                    tree, rows, some[rows], far[paths], backwards, self.first, self.target, self.edge
                )
                if lengths.size and lengths.min() < 0:
                    lost = int(paths[int(np.argmin(lengths))])
                    raise UserError(f"the map has no way between the nodes {root[lost]} and {far[lost]}")
                sizes[paths] = lengths
                pieces.append((paths, lengths, edges))
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        result = np.empty(offsets[-1], np.int32)
        for paths, lengths, edges in pieces:
            _place(result, offsets, paths, lengths, edges)
        return offsets, result


@kernel
def _walk(
    tree: I32, rows: I64, root: I32, far: I32, backwards: bool, first: I32, target: I32, edge: I32
) -> tuple[I64, I32]:
    """The edges of each path, from its start to its end; the length is -1 if there is none."""
    lengths = np.zeros(rows.size, np.int64)
    edges = np.empty(1024, np.int32)
    used = 0
    for path in range(rows.size):
        begin = used
        node = far[path]
        while node != root[path]:
            before = tree[rows[path], node]
            if before < 0:
                lengths[path] = -1
                used = begin
                break
            origin, goal = (node, before) if backwards else (before, node)
            slot = first[origin]
            while target[slot] != goal:
                slot += 1
            if used == edges.size:
                edges = np.concatenate((edges, np.empty(used, np.int32)))
            edges[used] = edge[slot]
            used += 1
            node = before
        if lengths[path] == 0:
            lengths[path] = used - begin
            if not backwards:
                edges[begin:used] = edges[begin:used][::-1].copy()
    return lengths, edges[:used]


@kernel
def _place(result: I32, offsets: I64, paths: I64, lengths: I64, edges: I32) -> None:
    used = 0
    for path in range(paths.size):
        begin = offsets[paths[path]]
        result[begin : begin + lengths[path]] = edges[used : used + lengths[path]]
        used += lengths[path]

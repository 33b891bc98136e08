"""[DM] Figure 5: the three Bayesian networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simplexdp.models.graph import topological_parents
from simplexdp.reproduce.data import structures
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.layered_layout import Layout, layered_layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

# Inches.
LETTER, PADDING, BOX, ROW, GAP = 0.068, 0.2, 0.24, 0.4, 0.42


def compute(settings: Settings) -> dict[str, Table]:
    """List nodes and edges, nodes in an order in which parents come first."""
    nodes, edges = [], []
    for name, structure in structures().items():
        parents = topological_parents(structure["edges"], structure["nodes"])
        layer = layered_layout(parents).layer
        nodes += [(name, node, len(above), layer[node]) for node, above in parents.items()]
        edges += [(name, parent, child) for child, above in parents.items() for parent in above]
    return {
        "nodes": Table.from_rows(("network", "node", "parents", "layer"), nodes),
        "edges": Table.from_rows(("network", "parent", "child"), edges),
    }


def draw(tables: Mapping[str, Table]) -> Plot:
    """Draw every network with arrows from left to right."""
    from matplotlib.figure import Figure as NewPlot

    nodes, edges = tables["nodes"], tables["edges"]
    laid: list[tuple[str, Layout, list[float], list[float]]] = []
    for name in nodes.distinct("network"):
        parents: dict[str, list[str]] = {node: [] for node in nodes.where(network=name)["node"]}
        part = edges.where(network=name)
        for parent, child in zip(part["parent"], part["child"], strict=True):
            parents[child].append(parent)
        layout = layered_layout(parents)
        widths = [0.0] * (max(layout.layer.values()) + 1)
        for node, index in layout.layer.items():
            widths[index] = max(widths[index], _width(node))
        centres = [sum(widths[:i]) + i * GAP + width / 2 for i, width in enumerate(widths)]
        laid.append((name, layout, widths, centres))
    heights = [_extent(layout)[1] - _extent(layout)[0] for _, layout, _, _ in laid]
    total = max(centres[-1] + widths[-1] / 2 for _, _, widths, centres in laid) + 0.2
    plot = NewPlot(figsize=(total, sum(heights) + 0.3 * len(laid)))
    axes = plot.subplots(len(laid), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, (name, layout, widths, centres) in zip(axes, laid, strict=True):
        low, high = _extent(layout)
        ax.set(xlim=(-0.1, total - 0.1), ylim=(high, low))
        ax.set_title(f"{name}: {len(layout.height)} nodes, {len(layout.bends)} edges", loc="left")
        ax.axis("off")
        _draw_network(ax, layout, widths, centres)
    return plot


def _extent(layout: Layout) -> tuple[float, float]:
    """Least and largest height in inches, with a margin."""
    every = [*layout.height.values(), *(y for bends in layout.bends.values() for y in bends)]
    return ROW * min(every) - BOX, ROW * max(every) + BOX


def _width(node: str) -> float:
    return LETTER * len(node) + PADDING


def _draw_network(ax: Any, layout: Layout, widths: list[float], centres: list[float]) -> None:
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path

    for (parent, child), bends in layout.bends.items():
        x = centres[layout.layer[parent]] + _width(parent) / 2
        y = ROW * layout.height[parent]
        points, codes = [(x, y)], [Path.MOVETO]
        stops = [
            (centres[layout.layer[parent] + 1 + i] - widths[layout.layer[parent] + 1 + i] / 2, ROW * bend)
            for i, bend in enumerate(bends)
        ]
        stops.append((centres[layout.layer[child]] - _width(child) / 2, ROW * layout.height[child]))
        for i, (end, level) in enumerate(stops):
            middle = (points[-1][0] + end) / 2
            points += [(middle, points[-1][1]), (middle, level), (end, level)]
            codes += [Path.CURVE4] * 3
            if i < len(bends):
                points.append((end + widths[layout.layer[parent] + 1 + i], level))
                codes.append(Path.LINETO)
        arrow = FancyArrowPatch(
            path=Path(points, codes), arrowstyle="-|>", mutation_scale=8, color="#5A6B7B", linewidth=0.9, zorder=1
        )
        ax.add_patch(arrow)
    for node, index in layout.layer.items():
        width, y = _width(node), ROW * layout.height[node]
        last = node == "class"
        ax.add_patch(
            FancyBboxPatch(
                (centres[index] - width / 2, y - BOX / 2),
                width,
                BOX,
                boxstyle="round,pad=0,rounding_size=0.07",
                facecolor="#FBE3D3" if last else "#E3EEF6",
                edgecolor="#D55E00" if last else "#0072B2",
                linewidth=0.9,
                zorder=2,
            )
        )
        ax.text(centres[index], y, node, ha="center", va="center", fontsize=8, zorder=3)


def finding(tables: Mapping[str, Table]) -> str:
    """Count nodes, edges and parents."""
    nodes, edges = tables["nodes"], tables["edges"]
    parts = []
    for name in nodes.distinct("network"):
        part = nodes.where(network=name)
        parts.append(
            f"{name} has {len(part)} nodes, {len(edges.where(network=name))} edges, at most {max(part['parents'])} "
            f"parents of a node and paths of up to {max(part['layer'])} edges"
        )
    text = "; ".join(parts)
    return (
        f"{text[0].upper()}{text[1:]}. The structures are those of the authors' experiments; that of germancredit "
        "leaves the class out."
    )


FIGURE = Figure(
    name="dm-figure-5",
    source="[DM] Figure 5",
    title="The three Bayesian networks",
    paper="Three networks, parts of larger published ones, over columns of adult, bank and germancredit.",
    compute=compute,
    draw=draw,
    finding=finding,
)

"""Columns of Arrow whose layout most of its own functions do not know, as ones of a layout that they do."""

from __future__ import annotations

from typing import Any

from simplexdp.exceptions import InvalidDataError

__all__ = ["in_plain_layout", "with_plain_layouts"]


def with_plain_layouts(table: Any) -> Any:
    """Return an Arrow table with each column in a layout whose rows can be taken."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        plain = in_plain_layout(column, name)
        if plain is not column:
            table = table.set_column(place, name, plain)
    return table


def in_plain_layout(values: Any, column: Any) -> Any:
    """Return a chunked array of views of text or bytes, or of runs, as one of the values themselves.

    Arrow has no function that takes rows of these; any other array is returned as it is.
    """
    import pyarrow as pa

    if pa.types.is_run_end_encoded(values.type):
        return _without_runs(values, column)
    kind = _kind_of_views(values.type)
    if kind is None:
        return values
    try:
        return values.cast(kind)
    except pa.ArrowNotImplementedError:  # before Arrow had casts of them
        return pa.chunked_array([pa.array(values.to_pylist(), kind)])


def _kind_of_views(kind: Any) -> Any:
    """Return the type of text or bytes that are stored together, for views; None for any other type."""
    import pyarrow as pa

    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else None


def _without_runs(values: Any, column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type.value_type
    wanted = kind.value_type if pa.types.is_dictionary(kind) else _kind_of_views(kind) or kind
    try:
        if wanted == kind:
            return pc.run_end_decode(values)
        chunks = [
            # A part of an array keeps the runs of all of it.
            pa.RunEndEncodedArray.from_arrays(chunk.run_ends, chunk.values.cast(wanted)).slice(chunk.offset, len(chunk))
            for chunk in values.chunks
        ]
        return pa.chunked_array([pc.run_end_decode(chunk) for chunk in chunks], type=wanted)
    except pa.ArrowNotImplementedError:
        pass
    # Not raised above: what Arrow says may hold values, and would be the context of this.
    raise InvalidDataError(f"column {column!r} must hold runs of numbers, text or times, got those of {kind}")

"""``simplexdp predict``: classes of records, from a classifier that was released."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from simplexdp.cli import options
from simplexdp.cli.counting import coded
from simplexdp.cli.files import Command
from simplexdp.cli.numeric import bin_codes
from simplexdp.cli.reading import Source, text_of
from simplexdp.cli.records import FORMATS, writer
from simplexdp.cli.writing import warn
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from simplexdp.frames import Domain

__all__ = ["predict"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp predict model.json new.csv | head -3
  simplexdp predict model.json new.csv --probabilities --out predicted.parquet
""",
)
@click.argument("model", type=click.Path(exists=True, dir_okay=False), metavar="MODEL.json")
@options.file_argument
@click.option("--probabilities", is_flag=True, help="Also the probability of every class, in columns of their names.")
@options.input_options
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="CSV or Parquet; else CSV is printed.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what the suffix of --out says.")
@click.option("--json", "as_json", is_flag=True, help="With --out: the summary as JSON. Else: the records, one a line.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on standard error.")
def predict(
    model: str,
    file: str,
    probabilities: bool,
    input_format: str | None,
    encoding: str,
    no_header: bool,
    delimiter: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Classify the records of FILE with MODEL.json: what fit-nb or PrivateCategoricalNB.save wrote.

    Using the model costs nothing: it holds released tables only. What is printed is about the records of FILE: it
    tells of their features what the classes tell.
    """
    write = writer(out, form, as_json)
    classifier = Classifier.read(model)
    names = [classifier.target, *(classifier.labels if probabilities else [])]
    if len(set(names)) < len(names):
        raise click.UsageError("--probabilities needs classes whose names differ from each other and from the target")
    source = options.source(file, input_format, encoding, no_header, delimiter)
    counter = Counter()
    levels = {name: [1.0] for name in names} | {classifier.target: classifier.model.classes_.tolist()}
    write(counter.of(classifier.chunks(source, probabilities=probabilities)), levels, out)
    if out is not None:
        if as_json:
            click.echo(json.dumps({"out": out, "size": counter.total, "columns": names}))
        elif not quiet:
            warn(f"wrote {counter.total} records to {out}")


class Counter:
    """Counts the records that pass."""

    total = 0

    def of(self, chunks: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the chunks."""
        for chunk in chunks:
            self.total += len(next(iter(chunk.values())))
            yield chunk


@dataclass(frozen=True)
class Feature:
    """How a file's values become the codes of one feature."""

    name: str
    domain: Domain
    edges: NDArray[np.float64] | None
    other: str | None
    null: str | None

    @cached_property
    def _codes(self) -> dict[str, int]:
        listed = self.domain.levels[: len(self.domain) - self.domain.other]
        return {text_of(value): code for code, value in enumerate(listed) if value is not None}

    @cached_property
    def _found(self) -> dict[str, int]:
        """The codes by the texts of values, as these are after cleaning."""
        from simplexdp.frames.cleaning import with_spellings

        return with_spellings(self._codes, self.domain.clean)

    @cached_property
    def _unseen(self) -> int:
        if self.domain.other:
            return len(self.domain) - 1
        return -1 if self.other is None else self._codes[self.other]

    @cached_property
    def _missing(self) -> int:
        if self.null is not None:
            return self._codes[self.null]
        levels = self.domain.levels
        return levels.index(None) if None in levels else len(levels) - 1 if self.domain.other else -1

    def encode(self, values: pa.Array) -> NDArray[np.int32]:
        """Return the codes of a batch of values."""
        if self.edges is not None:
            return bin_codes(self.name, values, self.edges, null=len(self.domain) > len(self.edges) + 1)
        found = coded(self.name, values, self._found, self._unseen, self._missing, self.domain.clean)
        if found.min(initial=0) < 0:
            raise InvalidDataError(f"column {self.name!r} has values that the model does not know (none is shown)")
        return found


@dataclass(frozen=True)
class Classifier:
    """A released classifier and the names of its columns."""

    model: Any
    target: str
    features: Sequence[Feature]

    @classmethod
    def read(cls, path: str) -> Classifier:
        """Read the file of a model."""
        from simplexdp.models import PrivateCategoricalNB
        from simplexdp.models.saved import text_of as read_text

        text = read_text(path)
        try:
            model = PrivateCategoricalNB.from_json(text)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{path}: {error}") from None
        levels = json.loads(text).get("levels", {})
        if not isinstance(levels, dict):
            raise InvalidParameterError(f"{path} must be what fit-nb wrote: levels must be an object")
        features = []
        for name, domain in zip(model.columns_, model.domains_, strict=True):
            if not isinstance(name, str):
                raise InvalidParameterError(f"{path} must name its features: fit the classifier on a frame")
            texts = {text_of(level) for level in domain.levels if level is not None}
            labels = [levels.get(kind) for kind in ("other", "null")]
            stated = [label if isinstance(label, str) and label in texts else None for label in labels]
            features.append(Feature(name, domain, model.bin_edges_.get(name), *stated))
        return cls(model, model.class_name_ or "class", features)

    @property
    def labels(self) -> list[str]:
        """The classes as text."""
        return [text_of(value) for value in self.model.classes_.tolist()]

    def chunks(self, source: Source, *, probabilities: bool) -> Iterator[dict[str, Any]]:
        """Yield the classes of the next records, and their probabilities if asked for."""
        for batch in source.batches([feature.name for feature in self.features]):
            codes = [feature.encode(values) for feature, values in zip(self.features, batch, strict=True)]
            log_probabilities = self.model.log_proba_of_codes(codes)
            columns = {self.target: self.model.classes_[np.argmax(log_probabilities, axis=1)]}
            if probabilities:
                columns |= dict(zip(self.labels, np.exp(log_probabilities).T, strict=True))
            yield columns

"""The inventory of the site states the version of the package: a hook of mkdocs, in mkdocs.yml."""

from pathlib import Path
from typing import Any


def on_post_build(config: Any, **_: Any) -> None:
    """Write the version where mkdocstrings leaves 0.0.0."""
    import simplexdp

    path = Path(config["site_dir"]) / "objects.inv"
    first, project, _version, rest = path.read_bytes().split(b"\n", 3)
    path.write_bytes(b"\n".join([first, project, f"# Version: {simplexdp.__version__}".encode(), rest]))

"""Take the folder of the build out of a wheel: ``python packaging/steady/settle.py WHEEL...``.

maturin's list of parts names crates of the tree by their absolute path. Here it becomes a path in the tree, `RECORD` is
told, and all else stays as it is, byte for byte.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def settled(parts: bytes, tree: Path) -> bytes:
    """Return a list of parts that names what is in the tree by its place there."""
    return parts.replace(f"path+{tree.as_uri()}/".encode(), b"path+file:///")


def recorded(record: bytes, changed: dict[str, bytes]) -> bytes:
    """Return the contents of RECORD with new sums of files that changed."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for name, digest, size in csv.reader(io.StringIO(record.decode())):
        if name in changed:
            sha = base64.urlsafe_b64encode(hashlib.sha256(changed[name]).digest()).rstrip(b"=").decode()
            writer.writerow([name, f"sha256={sha}", len(changed[name])])
        else:
            writer.writerow([name, digest, size])
    return written.getvalue().encode()


def settle(wheel: Path, tree: Path = TREE) -> None:
    """Rewrite a wheel in place."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    changed = {entry.filename: settled(data, tree) for entry, data in entries if "/sboms/" in entry.filename}
    if any(tree.as_posix().encode() in data for data in changed.values()):
        raise SystemExit(f"{wheel.name}: the list of parts still names the folder of the build")
    beside = wheel.with_suffix(".settled")
    with zipfile.ZipFile(beside, "w") as archive:
        for entry, data in entries:
            if entry.filename.endswith(".dist-info/RECORD"):
                data = recorded(data, changed)
            archive.writestr(entry, changed.get(entry.filename, data), entry.compress_type, 9)
    os.replace(beside, wheel)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        settle(Path(each))

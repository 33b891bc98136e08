"""What is done to a wheel after it was built: the folder of the build goes out of it, and nothing else changes."""

import base64
import csv
import hashlib
import importlib.util
import io
import json
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

TREE = Path(__file__).resolve().parents[2]
SBOM = "thing-1.dist-info/sboms/thing.cyclonedx.json"
RECORD = "thing-1.dist-info/RECORD"


def settle(wheel: Path, tree: Path) -> None:
    spec = importlib.util.spec_from_file_location("settle", TREE / "packaging" / "steady" / "settle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.settle(wheel, tree)


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def wheel_of(folder: Path, tree: str, parts: str = "path+file://{}/rust/py#thing@1") -> Path:
    """Write a wheel as it would be built in a tree, with its record."""
    files = {"thing.py": b"print(1)\n", SBOM: json.dumps({"bom-ref": parts.format(tree)}).encode()}
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items()) + f"{RECORD},,\n"
    folder.mkdir()
    with zipfile.ZipFile(folder / "thing.whl", "w") as archive:
        for name, data in {**files, RECORD: record.encode()}.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return folder / "thing.whl"


def test_wheels_of_two_folders_become_the_same_bytes(tmp_path):
    trees = ["/home/somebody/thing", "/somewhere/else"]
    wheels = [wheel_of(tmp_path / str(at), tree) for at, tree in enumerate(trees)]
    assert wheels[0].read_bytes() != wheels[1].read_bytes()
    for wheel, tree in zip(wheels, trees, strict=True):
        settle(wheel, Path(tree))
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_the_record_holds_for_every_file(tmp_path):
    wheel = wheel_of(tmp_path / "one", "/home/somebody/thing")
    settle(wheel, Path("/home/somebody/thing"))
    with zipfile.ZipFile(wheel) as archive:
        assert json.loads(archive.read(SBOM)) == {"bom-ref": "path+file:///rust/py#thing@1"}
        rows = list(csv.reader(io.StringIO(archive.read(RECORD).decode())))
        assert [row[0] for row in rows] == archive.namelist()
        for name, sha, size in rows[:-1]:
            assert (sha, int(size)) == (digest(archive.read(name)), len(archive.read(name)))


def test_a_folder_that_stays_in_the_wheel_is_an_error(tmp_path):
    wheel = wheel_of(tmp_path / "one", "/home/somebody/thing", "folder {}/rust")
    with pytest.raises(SystemExit, match="still names the folder"):
        settle(wheel, Path("/home/somebody/thing"))

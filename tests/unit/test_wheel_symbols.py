"""What a wheel's compiled core may need and export, on libraries that a compiler makes with known faults."""

import importlib.util
import os
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

TREE = Path(__file__).resolve().parents[2]
START = "SHOWN void *PyInit__core(void) { return 0; }\n"
PLATFORMS = {  # tag: (the compiler's target, another processor's or an older system's tag)
    "manylinux_2_17_x86_64": ("x86_64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "musllinux_1_2_aarch64": ("aarch64-linux-musl", "musllinux_1_2_x86_64"),
    "win_arm64": ("aarch64-windows-gnu", "win_amd64"),
    "macosx_11_0_arm64": ("aarch64-macos.11.0", "macosx_10_12_arm64"),
}


@pytest.fixture(scope="module")
def symbols():
    pytest.importorskip("ziglang", reason="`make wheels` brings the compiler for all platforms")
    spec = importlib.util.spec_from_file_location("symbols", TREE / "packaging/steady/symbols.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["symbols"] = module
    spec.loader.exec_module(module)
    return module


def compiled(folder: Path, target: str, code: str, *options: str, name: str = "core") -> Path:
    """Compile a library for a platform."""
    windows = "windows" in target
    shown = "__declspec(dllexport)" if windows else '__attribute__((visibility("default")))'
    source, out = folder / f"{name}.c", folder / f"{name}.{'dll' if windows else 'so'}"
    source.write_text(f"#define SHOWN {shown}\n{code}")
    plain = [] if "macos" in target else ["-nostdlib"]
    # Without a run-time library a DLL wants to be told where it starts.
    plain += [f"-Wl,--entry={'PyInit__core' if name == 'core' else 'another'}"] if windows else []
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-fPIC", "-O1", "-g0", *plain]
    subprocess.run([*command, source.name, *options, "-o", out.name], cwd=folder, check=True, capture_output=True)
    return out


def wheel(folder: Path, tag: str, libraries: dict[str, bytes], abi: str = "abi3") -> Path:
    path = folder / f"simplexdp-1.0-cp310-{abi}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("simplexdp/__init__.py", "")
        for name, data in libraries.items():
            archive.writestr(name, data)
    return path


def refusal(symbols, capsys, path: Path) -> str:
    """Return what is said of a refused wheel."""
    assert symbols.main([str(path)]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("tag", PLATFORMS)
def test_only_the_start_of_the_module_may_be_exported(symbols, tag, tmp_path, capsys):
    target, other = PLATFORMS[tag]
    good = compiled(tmp_path, target, START + "static int another(void) { return 1; }").read_bytes()
    assert symbols.main([str(wheel(tmp_path, tag, {"simplexdp/_core.so": good}))]) == 0
    assert "exports PyInit__core" in capsys.readouterr().out
    assert "core.so: it " in refusal(symbols, capsys, wheel(tmp_path, other, {"simplexdp/_core.so": good}))
    more = compiled(tmp_path, target, START + "SHOWN int another(void) { return 1; }").read_bytes()
    said = refusal(symbols, capsys, wheel(tmp_path, tag, {"simplexdp/_core.so": more}))
    assert "it exports PyInit__core, another" in said
    many = "".join(f"SHOWN int more{each}(void) {{ return 1; }}\n" for each in range(9))
    library = compiled(tmp_path, target, START + many).read_bytes()
    said = refusal(symbols, capsys, wheel(tmp_path, tag, {"simplexdp/_core.so": library}))
    assert "more6 and 2 more" in said
    assert "more7" not in said
    none = compiled(tmp_path, target, "SHOWN int another(void) { return 1; }", name="other").read_bytes()
    assert "it exports another" in refusal(symbols, capsys, wheel(tmp_path, tag, {"simplexdp/_core.so": none}))


@pytest.mark.parametrize("tag", PLATFORMS)
def test_a_library_that_the_platform_does_not_bring_is_refused(symbols, tag, tmp_path, capsys):
    target, _ = PLATFORMS[tag]
    other = compiled(tmp_path, target, "SHOWN int another(void) { return 1; }", name="other")
    code = "int another(void);\n" + START.replace("return 0", "return another() ? 0 : (void *)1")
    beside = "other.lib" if "windows" in target else other.name
    # A folder of libraries is refused too; Windows has none.
    folder = [] if "windows" in target else ["-Wl,-rpath,/somewhere/else"]
    library = compiled(tmp_path, target, code, beside, *folder).read_bytes()
    said = refusal(symbols, capsys, wheel(tmp_path, tag, {"simplexdp/_core.so": library}))
    assert re.search(r"it needs \S*other\.", said)
    assert ("looks for libraries in /somewhere/else" in said) == bool(folder)


def test_a_newer_system_than_the_tag_says_is_refused(symbols, tmp_path, capsys):
    newer = START.replace("return 0", "return getentropy(0, 0) ? 0 : (void *)1")
    code = "int getentropy(void *, unsigned long);\n" + newer
    library = compiled(tmp_path, "x86_64-linux-gnu.2.28", code, "-lc").read_bytes()
    path = wheel(tmp_path, "manylinux_2_17_x86_64.manylinux2014_x86_64", {"simplexdp/_core.so": library})
    assert "it asks for the system 2.25" in refusal(symbols, capsys, path)
    assert symbols.main([str(wheel(tmp_path, "manylinux_2_28_x86_64", {"simplexdp/_core.so": library}))]) == 0
    library = compiled(tmp_path, "x86_64-macos.13.3", START).read_bytes()
    path = wheel(tmp_path, "macosx_10_12_x86_64", {"simplexdp/_core.so": library})
    assert "it asks for the system 13.3" in refusal(symbols, capsys, path)


def test_a_wheel_for_both_kinds_of_mac_has_both(symbols, tmp_path, capsys):
    parts = [compiled(tmp_path, target, START).read_bytes() for target in ("x86_64-macos.10.12", "aarch64-macos.11.0")]
    # The header of a file for both, as Apple's <mach-o/fat.h> has it.
    start, table, body = 4096, b"", b""
    for processor, part in zip((0x01000007, 0x0100000C), parts, strict=True):
        table += struct.pack(">IIIII", processor, 0, start + len(body), len(part), 12)
        body += part + bytes(-len(part) % 4096)
    both = (b"\xca\xfe\xba\xbe" + struct.pack(">I", 2) + table).ljust(start, b"\0") + body
    tag = "macosx_10_12_x86_64.macosx_11_0_arm64.macosx_10_12_universal2"
    assert symbols.main([str(wheel(tmp_path, tag, {"simplexdp/_core.abi3.so": both}))]) == 0
    said = refusal(symbols, capsys, wheel(tmp_path, tag, {"simplexdp/_core.abi3.so": parts[0]}))
    assert "its processors are not those of the tag" in said


def test_other_compiled_files_and_unknown_platforms_are_refused(symbols, tmp_path, capsys):
    library = compiled(tmp_path, "x86_64-linux-gnu.2.17", START).read_bytes()
    files = {"simplexdp/_core.so": library, "simplexdp.libs/libother.so.1": library}
    assert "compiled files are" in refusal(symbols, capsys, wheel(tmp_path, "manylinux_2_17_x86_64", files))
    assert "compiled files are none" in refusal(symbols, capsys, wheel(tmp_path, "manylinux_2_17_x86_64", {}))
    said = refusal(symbols, capsys, wheel(tmp_path, "linux_x86_64", {"simplexdp/_core.so": library}))
    assert "it is elf for x86_64" in said


def test_without_a_wheel_it_says_how_it_is_called():
    program = TREE / "packaging/steady/symbols.py"
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
    assert (run.returncode, run.stdout) == (2, "")
    assert "usage" in run.stderr

"""List what the compiled core of a wheel needs and exports, and refuse what its tag does not promise.

``python packaging/steady/symbols.py WHEEL...`` prints a line for each processor: bytes of the wheel, libraries, the
newest system that is asked for, exported names. It exits with 1 where a wheel asks for a library that its platform does
not bring along or for a newer system than its tag says, exports anything but the start of the module, looks for
libraries in a folder, or is of another processor. ELF, PE and Mach-O are read here: no tool of a platform is needed.
"""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

EXPORTED = {"PyInit__core"}
LINKER = {"_mh_dylib_header", "__dso_handle"}
"""Names that zig adds to every library for macOS."""
MOST = 8
"""Names that a message lists."""
GNU = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"}
GNU |= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
WINDOWS = {"kernel32.dll", "ntdll.dll", "bcryptprimitives.dll", "advapi32.dll", "vcruntime140.dll"}
MAC = {"/usr/lib/libSystem.B.dylib", "/usr/lib/libiconv.2.dylib"}
PROCESSORS = {  # ELF, PE, Mach-O
    62: "x86_64",
    183: "aarch64",
    0x8664: "amd64",
    0xAA64: "arm64",
    0x01000007: "x86_64",
    0x0100000C: "arm64",
}


@dataclass
class Image:
    """What one compiled library says of itself."""

    kind: str
    processor: str
    needs: set[str] = field(default_factory=set)
    exports: set[str] = field(default_factory=set)
    system: tuple[int, int] = (0, 0)
    """The newest glibc or the oldest macOS that it asks for."""
    folders: set[str] = field(default_factory=set)
    """Where it looks for libraries besides the system's places."""


def text(data: bytes, at: int) -> str:
    """Return the text that ends with a zero."""
    return data[at : data.index(b"\0", at)].decode()


def elf(data: bytes) -> Image:
    """Read a library of Linux."""
    image = Image("elf", PROCESSORS.get(struct.unpack_from("<H", data, 18)[0], "unknown"))
    (start,), (size, count) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * each) for each in range(count)]
    for _, kind, _, _, offset, length, link, entries, _, _ in sections:
        names = sections[link][4] if link < count else 0
        if kind == 6:  # what the loader is told
            for tag, value in struct.iter_unpack("<QQ", data[offset : offset + length]):
                if tag == 0:
                    break
                if tag == 1:
                    image.needs.add(text(data, names + value))
                if tag in (15, 29):
                    image.folders.add(text(data, names + value))
        elif kind == 11:  # dynamic symbols
            for name, about, visible, section, _, _ in struct.iter_unpack("<IBBHQQ", data[offset : offset + length]):
                if section and about >> 4 and visible & 3 in (0, 3):
                    image.exports.add(text(data, names + name))
        elif kind == 0x6FFFFFFE:  # versions that are needed
            at = offset
            for _ in range(entries):
                _, parts, _, first, following = struct.unpack_from("<HHIII", data, at)
                part = at + first
                for _ in range(parts):
                    _, _, _, name, further = struct.unpack_from("<IHHII", data, part)
                    if found := re.fullmatch(r"GLIBC_(\d+)\.(\d+)[.\d]*", text(data, names + name)):
                        image.system = max(image.system, (int(found[1]), int(found[2])))
                    elif "GLIBC_" in text(data, names + name):
                        # GLIBC_PRIVATE, or a form that is not known here.
                        image.needs.add(text(data, names + name))
                    part += further
                at += following
    return image


def pe(data: bytes) -> Image:
    """Read a library of Windows."""
    (start,) = struct.unpack_from("<I", data, 60)
    machine, count = struct.unpack_from("<HH", data, start + 4)
    (size,) = struct.unpack_from("<H", data, start + 20)
    sections = [struct.unpack_from("<IIII", data, start + 24 + size + 40 * each + 8) for each in range(count)]
    directories = [struct.unpack_from("<II", data, start + 24 + 112 + 8 * each)[0] for each in range(16)]

    def place(address: int) -> int:
        for length, first, stored, offset in sections:
            if first <= address < first + max(length, stored):
                return int(offset + address - first)
        raise ValueError(f"no section has the address {address:#x}")

    image = Image("pe", PROCESSORS.get(machine, "unknown"))
    # Libraries that are loaded at once, and those that are loaded when first called.
    for which, step, column in ((1, 20, 12), (13, 32, 4)):
        at = place(directories[which]) if directories[which] else 0
        while at and (name := struct.unpack_from("<I", data, at + column)[0]):
            image.needs.add(text(data, place(name)).lower())
            at += step
    if directories[0]:
        at = place(directories[0])
        total, _, names = struct.unpack_from("<III", data, at + 24)
        for each in range(total):
            (name,) = struct.unpack_from("<I", data, place(names) + 4 * each)
            image.exports.add(text(data, place(name)))
    return image


def mach(data: bytes) -> Image:
    """Read a library of macOS, of one processor."""
    image = Image("mach", PROCESSORS.get(struct.unpack_from("<I", data, 4)[0], "unknown"))
    (count,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        (first,) = struct.unpack_from("<I", data, at + 8)
        if command in (0x0C, 0x80000018, 0x8000001F, 0x20):
            image.needs.add(text(data, at + first))
        elif command == 0x8000001C:
            image.folders.add(text(data, at + first))
        elif command in (0x24, 0x32):
            (version,) = struct.unpack_from("<I", data, at + (8 if command == 0x24 else 12))
            image.system = (version >> 16, version >> 8 & 255)
        elif command in (0x22, 0x80000022, 0x80000033):
            offset, length = struct.unpack_from("<II", data, at + (8 if command == 0x80000033 else 40))
            image.exports |= {name.removeprefix("_") for name in exported(data[offset : offset + length])}
        at += size
    return image


def exported(tree: bytes, at: int = 0, name: str = "") -> Iterator[str]:
    """Yield the names in the tree of exports of a library of macOS."""

    def number() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte = tree[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    if not tree:
        return
    if length := number():
        yield name
    at += length
    children = tree[at]
    at += 1
    for _ in range(children):
        part = text(tree, at)
        at += len(part) + 1
        yield from exported(tree, number(), name + part)


def images(data: bytes) -> list[Image]:
    """Return what a file of a wheel holds: libraries, or none if it is not compiled."""
    if data.startswith(b"\x7fELF\x02\x01"):
        return [elf(data)]
    if data.startswith(b"MZ"):
        return [pe(data)]
    if data.startswith(b"\xcf\xfa\xed\xfe"):
        return [mach(data)]
    if data.startswith(b"\xca\xfe\xba\xbe"):
        slices = struct.iter_unpack(">IIIII", data[8 : 8 + 20 * struct.unpack_from(">I", data, 4)[0]])
        return [mach(data[offset : offset + size]) for _, _, offset, size, _ in slices]
    return []


def promised(wheel: Path) -> tuple[str, str, dict[str, tuple[int, int]]]:
    """Return the ABI, the platform and, by processor, the system that the name of a wheel promises."""
    _, abi, platform = wheel.stem.rsplit("-", 2)
    systems = {}
    family = "unknown"
    for tag in platform.split("."):
        if found := re.fullmatch(r"(manylinux|musllinux|macosx)_(\d+)_(\d+)_(\w+)", tag):
            family = found[1]
            systems[found[4]] = int(found[2]), int(found[3])
        elif found := re.fullmatch(r"win_(\w+)", tag):
            family = "win"
            systems[found[1]] = (0, 0)
    if "universal2" in systems:
        both = systems.pop("universal2")
        systems = {"x86_64": both, "arm64": max(both, (11, 0))} | systems
    return abi, family, systems


def faults(image: Image, abi: str, family: str, systems: dict[str, tuple[int, int]]) -> list[str]:
    """Return what a library does that the tag of its wheel does not promise."""
    kind, allowed = {
        "manylinux": ("elf", GNU),
        "musllinux": ("elf", {"libc.so"}),
        "win": ("pe", WINDOWS | {"python3.dll" if abi == "abi3" else f"python{abi.removeprefix('cp')}.dll"}),
        "macosx": ("mach", MAC),
    }.get(family, ("", set()))
    found = []
    if image.kind != kind or image.processor not in systems:
        found.append(f"it is {image.kind} for {image.processor}")
    elif family != "musllinux" and image.system > systems[image.processor]:
        found.append("it asks for the system {}.{}".format(*image.system))
    others = {name for name in image.needs - allowed if not (family == "win" and name.startswith("api-ms-win-"))}
    if others:
        found.append(f"it needs {', '.join(sorted(others))}")
    if (exports := image.exports - (LINKER if kind == "mach" else set())) != EXPORTED:
        found.append(f"it exports {listed(exports) or 'nothing'}")
    if image.folders:
        found.append(f"it looks for libraries in {', '.join(sorted(image.folders))}")
    return found


def listed(names: set[str]) -> str:
    """Return the first names, and how many there are beyond them."""
    more = f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    return ", ".join(sorted(names)[:MOST]) + more


def look(wheel: Path) -> list[str]:
    """Print what a wheel holds and return its faults."""
    abi, family, systems = promised(wheel)
    wrong = []
    with zipfile.ZipFile(wheel) as archive:
        compiled = {name: images(archive.read(name)) for name in archive.namelist()}
    compiled = {name: found for name, found in compiled.items() if found}
    if [re.sub(r"\..*", "", name) for name in compiled] != ["simplexdp/_core"]:
        wrong.append(f"compiled files are {', '.join(compiled) or 'none'}")
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
    for name, each in compiled.items():
        for image in each:
            newest = "asks for {}.{}".format(*image.system) if any(image.system) else "asks for no version"
            needs, exports = ", ".join(sorted(image.needs)), listed(image.exports)
            print(f"  {image.processor}: needs {needs}; {newest}; exports {exports}")
            wrong += [f"{name}: {fault}" for fault in faults(image, abi, family, systems)]
        if {image.processor for image in each} != set(systems):
            wrong.append(f"{name}: its processors are not those of the tag")
    return wrong


def main(wheels: list[str]) -> int:
    """Look at wheels, and say which are refused and why."""
    if not wheels:
        print("usage: symbols.py WHEEL...", file=sys.stderr)
        return 2
    wrong = [f"{name}: {fault}" for name in wheels for fault in look(Path(name))]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

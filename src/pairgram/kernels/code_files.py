"""Machine code of kernels in files, and in memory."""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SUFFIX = ".code"
# Modules in memory must live as long as the process.
_KEPT: list[Any] = []


@dataclass(frozen=True)
class Code:
    """A compiled kernel.

    Attributes
    ----------
    symbol
        Its name in the object file.
    returns
        Type of its result as NumPy writes it, "" for none.
    data
        The object file.
    """

    symbol: str
    returns: str
    data: bytes


def read(name: str, kinds: tuple[Any, ...]) -> Code | None:
    """Code of a kernel for values of some kinds; None where none is kept or it is damaged."""
    try:
        head, _, data = path_of(name, kinds).read_bytes().partition(b"\n")
        found = json.loads(head)
        if found.pop("sha256") != sha256(data).hexdigest():
            return None
        return Code(data=data, **found)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write(name: str, kinds: tuple[Any, ...], code: Code) -> None:
    """Keep code; where it cannot be written, the next process compiles again."""
    path = path_of(name, kinds)
    head = {k: v for k, v in asdict(code).items() if k != "data"}
    head["sha256"] = sha256(code.data).hexdigest()
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(json.dumps(head).encode() + b"\n" + code.data)
        temporary.replace(path)
        for old in path.parent.glob(f"{path.name.rsplit('-', 1)[0]}-*{SUFFIX}"):
            if old != path:
                old.unlink(missing_ok=True)


def path_of(name: str, kinds: tuple[Any, ...]) -> Path:
    """File of a kernel for kinds of values, this processor and these sources."""
    shown = "_".join(str(kind) for kind in kinds)
    kind = sha256(f"{shown}{_processor()}".encode()).hexdigest()[:16]
    return folder() / f"{name}-{kind}-{_sources()}{SUFFIX}"


def keeps() -> bool:
    """Whether what one process compiles can be read by another."""
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        return os.access(folder(), os.W_OK)
    return False


def any_kept(name: str) -> bool:
    """Whether code of a kernel, made from these sources, is there for some kinds of values."""
    return any(folder().glob(f"{name}-*-{_sources()}{SUFFIX}"))


def folder() -> Path:
    """Where code is kept: where numba is told to keep its own, else beside the sources."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) / "pairgram"
    beside = Path(__file__).parent / "__pycache__"
    if os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pairgram"


@cache
def _sources() -> str:
    """Digest of all kernels and of the compilers' versions."""
    digest = sha256()
    # Asking for versions by name would import more than all the rest.
    compilers = (find_spec(name) for name in ("numba", "llvmlite"))
    homes = [Path(found.origin).parent for found in compilers if found and found.origin]
    for path in (
        *(home / "_version.py" for home in homes),
        *sorted(Path(__file__).parent.glob("*.py")),
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _processor() -> str:
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


@cache
def target_machine() -> Any:
    """The compiler's view of this processor."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


def address(code: Code) -> int:
    """Address of the kernel, its code mapped into memory."""
    from llvmlite import binding

    target = target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    engine.add_object_file(binding.ObjectFileRef.from_data(code.data))
    engine.finalize_object()
    _KEPT.append(engine)
    return int(engine.get_function_address(code.symbol))

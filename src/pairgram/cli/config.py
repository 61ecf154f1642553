"""`--config`: a YAML file that holds the names of a verb's flags."""

import json
from pathlib import Path
from typing import Any

import typer

from pairgram.errors import FileFormatError, ParameterError


def read_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Make the file's values the defaults of the verb's flags, so that given flags win."""
    if path is None or ctx.resilient_parsing:
        return path
    flags = _flag_names(ctx)
    defaults = {}
    for name, value in _read_mapping(path).items():
        flag = str(name).replace("_", "-")
        if flag not in flags:
            raise ParameterError(
                f"{path}: '{name}' is no flag of {ctx.info_name}. It has: {', '.join(flags)}."
            )
        if value is not None:
            defaults[flags[flag]] = _as_typed(value)
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    return path


def _flag_names(ctx: typer.Context) -> dict[str, str]:
    """Long name without dashes -> name of the function's argument."""
    names = {}
    for parameter in ctx.command.params:
        longest = max(parameter.opts, key=len)
        if parameter.name not in ("config", "help", None):
            names[longest.lstrip("-").replace("_", "-")] = str(parameter.name)
    return names


def _as_typed(value: Any) -> Any:
    """Return a value as it would be typed after its flag; switches stay bools."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _read_mapping(path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileFormatError(path, "no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(path, f"cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it does not parse"
        line = None if mark is None else mark.line + 1
        raise FileFormatError(path, f"is no YAML: {problem}.", line) from None
    if not isinstance(content, dict | None):
        raise FileFormatError(path, "must hold names and values, such as 'dim: 64'.")
    return content or {}

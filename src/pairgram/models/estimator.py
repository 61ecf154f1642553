"""Parameters of a model, the way scikit-learn expects them."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pairgram import params
from pairgram.errors import ParameterError


class Estimator:
    """Constructor stores, `fit` checks. Works with scikit-learn's `clone`, imports none of it."""

    constraints: ClassVar[Mapping[str, params.Constraint]] = {}

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as given to the constructor."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **values: Any) -> Self:
        """Change parameters; the next `fit` uses them."""
        known = self._parameter_names()
        for name in values:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter '{name}'. It has: {', '.join(known)}."
                )
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def set_shared(self, **values: Any) -> Self:
        """Change those of the parameters that this method has, such as `seed` or `threads`."""
        known = self._parameter_names()
        return self.set_params(**{name: v for name, v in values.items() if name in known})

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of a step of a pipeline; only it calls this."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        target, transformer = TargetTags(required=False), TransformerTags()
        return Tags(estimator_type=None, target_tags=target, transformer_tags=transformer)

    def _check_params(self) -> None:
        params.check(type(self).__name__, self.constraints, self.get_params())

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

"""Node ids as the kernels take them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def unsigned(ids: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The same memory as unsigned integers, which a compiled loop need not check for signs.

    >>> unsigned(np.array([3, 1], np.int32)).dtype
    dtype('uint32')
    """
    return ids.view(np.dtype(f"u{ids.dtype.itemsize}"))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory, not to be written.

    >>> frozen(np.zeros(2)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view

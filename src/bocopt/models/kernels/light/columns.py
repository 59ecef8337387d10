"""The numbers of one stream where those of 32 streams lie side by side, on a graphics processor.

Threads of a warp then read 32 neighbours at a time. A `column` is what kernels index as `memory`.
Its entries lie a constant 32 numbers apart in global memory, which the compiler is told: readings
need not wait for what was written elsewhere. As a slice of an array they do, four times as long.
Numbers are read as float64 whatever they are kept as.
"""

import operator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numba
from numba.core import types

cuda: Any = import_module("numba.cuda")
ir: Any = import_module("llvmlite.ir")
_config: Any = numba.config

#: Series side by side: as many as a warp has threads.
LANES = 32


def column(memory: Any, block: int, lane: int) -> Any:
    """Return the numbers (n) of a stream, of memory (blocks, n, LANES): in the simulator."""
    return memory.view()[block, :, lane]


class Column(types.Type):
    """The type of a column of 64-bit or 32-bit numbers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"column({dtype})")


def _pointer(dtype: Any) -> Any:
    number = ir.DoubleType() if dtype == types.float64 else ir.FloatType()
    return number.as_pointer(addrspace=1)  # of global memory


def _entry(context: Any, builder: Any, number_type: Any, pointer: Any, index: Any) -> Any:
    """Return the place of an entry: LANES numbers for each before it."""
    index = context.cast(builder, index, number_type, types.intp)
    return builder.gep(pointer, [builder.mul(index, ir.Constant(index.type, LANES))])


def _column(typing: Any, memory: Any, block: Any, lane: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        entries = builder.mul(arguments[1], builder.extract_value(array.shape, 1))
        first = builder.add(builder.mul(entries, ir.Constant(entries.type, LANES)), arguments[2])
        data = builder.addrspacecast(array.data, _pointer(memory.dtype))
        return builder.gep(data, [first])

    return Column(memory.dtype)(memory, block, lane), code


def _read(typing: Any, column: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _entry(context, builder, signature.args[1], arguments[0], arguments[1])
        return context.cast(builder, builder.load(place), column.dtype, types.float64)

    return types.float64(column, index), code


def _write(typing: Any, column: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = context.cast(builder, arguments[2], signature.args[2], column.dtype)
        place = _entry(context, builder, signature.args[1], arguments[0], arguments[1])
        builder.store(number, place)
        return context.get_dummy_value()

    return types.void(column, index, value), code


def _compiled(extending: Any) -> Any:
    """Return `column` for a graphics processor, once columns can be indexed there."""

    def model(manager: Any, number_type: Any) -> Any:
        return extending.models.PrimitiveModel(manager, number_type, _pointer(number_type.dtype))

    extending.register_model(Column)(model)
    read, write = extending.intrinsic(_read), extending.intrinsic(_write)

    def read_at(column: Any, index: Any) -> Any:
        return read(column, index)

    def write_at(column: Any, index: Any, value: Any) -> Any:
        write(column, index, value)

    def get(column: Any, index: Any) -> Any:
        return read_at if isinstance(column, Column) else None

    def put(column: Any, index: Any, value: Any) -> Any:
        return write_at if isinstance(column, Column) else None

    extending.overload(operator.getitem)(get)
    extending.overload(operator.setitem)(put)
    return extending.intrinsic(_column)


SIMULATED: bool = _config.ENABLE_CUDASIM
if not SIMULATED and find_spec("numba_cuda"):  # without it, nothing is played on a device
    column = _compiled(import_module("numba.cuda.extending"))

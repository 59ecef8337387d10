"""Optimal orders under scenarios: sorted demands, and a price of the shared capacity.

For a price p >= 0 of a unit of volume, each product is ordered for itself, up to the quantile of
its demand at a level that falls in p. The best price is found by bisection: at its upper end all
fits, at its lower end not. What is ordered between the two earns the same per volume, so the room
that is left goes to the products in their order.
"""

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import compiled, gufunc, inlined

HALVINGS = 100  # of the price: the largest, over 2^100, is below rounding
QUANTILE_TOLERANCE = 1e-12  # of weights: eighteen times 1/20 is 0.9 - 4e-16
REPAIRS = 40  # of an order that rounding puts above the capacity; each takes off more


@inlined
def dot(left: Array, right: Array) -> float:
    """Left to right, so that every caller gets the same bits."""
    total = 0.0
    for k in range(len(left)):
        total += left[k] * right[k]
    return total


@inlined
def quantile(demand: Array, up_to: Array, level: float) -> float:
    """The least of the sorted demands that is not exceeded with a weight of `level`."""
    low, high = 0, len(demand) - 1
    while low < high:
        middle = (low + high) // 2
        if up_to[middle] >= level - QUANTILE_TOLERANCE:
            high = middle
        else:
            low = middle + 1
    return float(demand[low])


@inlined
def order_at(
    price: float,
    demand: Array,
    up_to: Array,
    gain: Array,
    turn: Array,
    volume: Array,
    upper: Array,
    z: Array,
) -> None:
    """The best orders where a unit of volume costs `price`; of equal ones the smallest."""
    for j in range(len(z)):
        missed, weight = gain[j] - price * volume[j], up_to[j, -1]
        z[j] = 0.0
        if missed > 0.0:
            level = missed / turn[j] * weight
            z[j] = min(max(quantile(demand[j], up_to[j], level), 0.0), upper[j])


@inlined
def fill(z: Array, most: Array, volume: Array, capacity: float) -> None:
    """Raise z towards `most`, product by product, as far as the capacity goes."""
    room = capacity - dot(volume, z)
    for j in range(len(z)):
        if most[j] > z[j] and volume[j] > 0.0:
            step = min(most[j] - z[j], max(room, 0.0) / volume[j])
            z[j] += step
            room -= step * volume[j]


@inlined
def shrink_to_fit(z: Array, volume: Array, capacity: float) -> None:
    """Take off what rounding has put above the capacity."""
    share = 1e-16
    for _ in range(REPAIRS):
        if dot(volume, z) <= capacity:
            return
        share *= 2.0
        for j in range(len(z)):
            if volume[j] > 0.0:
                z[j] *= 1.0 - share


@compiled
def orders(
    demand: Array,
    up_to: Array,
    gain: Array,
    turn: Array,
    volume: Array,
    capacity: float,
    upper: Array,
    z: Array,
) -> None:
    """The optimal order of one instance, written to z.

    Demands (d, s) are sorted, `up_to` are their cumulative weights. A unit that is sold earns
    `gain`, and the slope of the cost rises by `turn` from where all is sold to where none is.
    """
    order_at(0.0, demand, up_to, gain, turn, volume, upper, z)
    if dot(volume, z) <= capacity:
        return
    most, low, high = z.copy(), 0.0, 0.0
    for j in range(len(z)):
        if volume[j] > 0.0:
            high = max(high, gain[j] / volume[j])
    high *= 1.0 + 1e-12  # above every product's gain, and so none that takes room is ordered
    for _ in range(HALVINGS):
        price = (low + high) / 2.0
        if not low < price < high:
            break
        order_at(price, demand, up_to, gain, turn, volume, upper, z)
        if dot(volume, z) <= capacity:
            high = price
        else:
            low = price
            most[:] = z
    order_at(high, demand, up_to, gain, turn, volume, upper, z)
    fill(z, most, volume, capacity)
    shrink_to_fit(z, volume, capacity)


@gufunc("void(f8[:], f8[:], i8[:], f8[:], f8[:])", "(s),(s),(s)->(s),(s)")
def arranged(demand: Array, w: Array, order: IntArray, out: Array, up_to: Array) -> None:
    """Demands in an order, and the weight up to each."""
    total = 0.0
    for k in range(len(order)):
        out[k] = demand[order[k]]
        total += w[order[k]]
        up_to[k] = total


@gufunc(
    "void(f8[:,:], f8[:,:], f8[:], f8[:], f8[:], f8, f8[:], f8[:])",
    "(d,s),(d,s),(d),(d),(d),(),(d)->(d)",
)
def solve(
    demand: Array,
    up_to: Array,
    gain: Array,
    turn: Array,
    volume: Array,
    capacity: float,
    upper: Array,
    z: Array,
) -> None:
    """Compute the optimal orders (d) for sorted demands and their cumulative weights (d, s)."""
    orders(demand, up_to, gain, turn, volume, capacity, upper, z)


@gufunc(
    "void(f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])",
    "(d),(d),(d),(d),(d),(d)->()",
)
def cost(
    z: Array, xi: Array, cost: Array, price: Array, salvage: Array, penalty: Array, out: Array
) -> None:
    """Compute the cost () of orders z (d) at demands xi (d)."""
    total = 0.0
    for j in range(len(z)):
        sold = min(z[j], xi[j])
        total += cost[j] * z[j] - price[j] * sold
        total += penalty[j] * (xi[j] - sold) - salvage[j] * (z[j] - sold)
    out[0] = total


@gufunc("void(f8[:], f8[:], f8, f8[:], f8[:])", "(d),(d),(),(d)->()")
def violation(z: Array, volume: Array, capacity: float, upper: Array, out: Array) -> None:
    """The excess over the capacity, or how far z is from its box."""
    worst = dot(volume, z) - capacity
    for j in range(len(z)):
        worst = max(worst, -z[j], z[j] - upper[j])
    out[0] = worst


@inlined
def paid(
    z: float, demand: float, unit_cost: float, price: float, salvage: float, penalty: float
) -> float:
    """Return the cost of one product."""
    sold = min(z, demand)
    return unit_cost * z - price * sold - salvage * (z - sold) + penalty * (demand - sold)


@inlined
def ordered(found: float, terms: tuple[float, ...]) -> float:
    """Return the order of one product from a quantile of its demand; terms: the most, prices."""
    return min(max(found, 0.0), terms[0])


@inlined
def charged(z: float, demand: float, terms: tuple[float, ...]) -> float:
    """Return the cost of one product, on the same terms."""
    return paid(z, demand, terms[1], terms[2], terms[3], terms[4])


@gufunc(
    "void(f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])",
    "(d),(d),(d),(d),(d),(d),(d),(d)->(),()",
)
def range_of_difference(
    z: Array,
    other: Array,
    fewest: Array,
    most: Array,
    unit_cost: Array,
    price: Array,
    salvage: Array,
    penalty: Array,
    low: Array,
    high: Array,
) -> None:
    """Compute the ends of cost(z) - cost(other), for demands from `fewest` to `most`.

    It is constant in a demand below z and the other, linear between the two, and constant above.
    """
    low[0], high[0] = 0.0, 0.0
    for j in range(len(z)):
        terms = unit_cost[j], price[j], salvage[j], penalty[j]
        least = largest = paid(z[j], fewest[j], *terms) - paid(other[j], fewest[j], *terms)
        for turn in (z[j], other[j]):
            demand = min(max(turn, fewest[j]), most[j])
            more = paid(z[j], demand, *terms) - paid(other[j], demand, *terms)
            least, largest = min(least, more), max(largest, more)
        low[0] += least
        high[0] += largest

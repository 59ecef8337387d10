"""The programs of `programs.py` as one would write them for SciPy: full, sparse, no tricks."""

from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse

from bocopt.core import Array

_optimise: Any = scipy.optimize  # their types are too narrow for sparse blocks
_sparse: Any = scipy.sparse
linprog, milp = _optimise.linprog, _optimise.milp
Bounds, LinearConstraint = _optimise.Bounds, _optimise.LinearConstraint
csr_array, eye_array, kron = _sparse.csr_array, _sparse.eye_array, _sparse.kron
block_diag, hstack, vstack = _sparse.block_diag, _sparse.hstack, _sparse.vstack


def newsvendor(cost: Array, price: Array, volume: Array, capacity: float, demand: Array) -> float:
    """min c'z - E p'(xi - t),  t >= xi - z,  volume'z <= capacity."""
    s, d = demand.shape
    above = hstack([-kron(np.ones((s, 1)), eye_array(d)), -eye_array(s * d)])
    room = csr_array(np.concatenate([volume, np.zeros(s * d)])[None])
    found = linprog(
        np.concatenate([cost, np.tile(price / s, s)]),
        A_ub=vstack([above, room]),
        b_ub=np.append(-demand.ravel(), capacity),
        bounds=[(0, 200)] * d + [(0, None)] * (s * d),
    )
    return float(found.fun - price @ demand.mean(axis=0))


def tail(returns: Array, held: Array, beta: float, fee: float, most: float) -> float:
    """Rockafellar and Uryasev's program of all scenarios, with |z - x| <= a."""
    s, d = returns.shape
    one, zero = eye_array(d), csr_array((d, 1 + s))
    rows = vstack(
        [
            hstack([-returns, np.full((s, d), fee), -np.ones((s, 1)), -eye_array(s)]),
            hstack([one, -one, zero]),
            hstack([-one, -one, zero]),
        ]
    )
    found = linprog(
        np.concatenate([np.zeros(2 * d), [1.0], np.full(s, 1 / s / (1 - beta))]),
        A_ub=rows.tocsr(),
        b_ub=np.concatenate([np.zeros(s), held, -held]),
        A_eq=np.concatenate([np.ones(d), np.zeros(d + 1 + s)])[None],
        b_eq=[1.0],
        bounds=[(0, most)] * d + [(0, None)] * d + [(None, None)] + [(0, None)] * s,
    )
    return float(found.fun)


def chance_knapsack(
    value: Array, weights: Array, capacity: float, alpha: float, upper: float, limit: float
) -> tuple[float, float]:
    """max v'z  s.t.  A_s z <= b + M_s q_s,  mean q <= 1 - alpha: the value and the gap."""
    s, r, d = weights.shape
    big = np.maximum(0, weights.sum(axis=2) * upper - capacity)  # (s, r), from the box alone
    rows = np.zeros((s * r + 1, d + s))
    rows[:-1, :d] = weights.reshape(s * r, d)
    rows[np.arange(s * r), d + np.repeat(np.arange(s), r)] = -big.ravel()
    rows[-1, d:] = 1 / s
    found = milp(
        np.concatenate([-value, np.zeros(s)]),
        integrality=np.ones(d + s),
        bounds=Bounds(0, np.repeat([upper, 1], [d, s])),
        constraints=LinearConstraint(
            csr_array(rows), ub=np.append(np.full(s * r, capacity), 1 - alpha + 1e-12)
        ),
        options={"time_limit": limit},
    )
    return -float(found.fun), float(found.mip_gap)


def facility(fixed: Array, ship: Array, room: float, unmet: float, demand: Array) -> float:
    """The full extensive form at a relative gap of 1e-3."""
    s, (sites, customers) = len(demand), ship.shape
    per = sites * customers + customers
    out = hstack([kron(eye_array(sites), np.ones((1, customers))), csr_array((sites, customers))])
    into = hstack([kron(np.ones((1, sites)), eye_array(customers)), eye_array(customers)])
    rows = vstack([out, -into])
    opened = vstack([-room * eye_array(sites), csr_array((customers, sites))])
    limits = np.concatenate([np.zeros((s, sites)), -demand], axis=1).ravel()
    every = np.concatenate([ship.ravel(), np.full(customers, unmet)]) / s
    found = milp(
        np.concatenate([fixed, np.tile(every, s)]),
        integrality=np.repeat([1, 0], [sites, s * per]),
        bounds=Bounds(0, np.concatenate([np.ones(sites), np.full(s * per, np.inf)])),
        constraints=LinearConstraint(
            hstack([kron(np.ones((s, 1)), opened), block_diag([rows] * s)]).tocsr(), ub=limits
        ),
        options={"mip_rel_gap": 1e-3},
    )
    return float(found.fun)


def knapsack(items: int, upper: float, capacity: float, xi: Array) -> float:
    """max v'z  s.t.  A z <= b, with xi = (v, A) of one scenario."""
    value, weights = xi[0, :items], xi[0, items:].reshape(-1, items)
    found = milp(
        -value,
        integrality=np.ones(items),
        bounds=Bounds(0, upper),
        constraints=LinearConstraint(weights, ub=np.full(len(weights), capacity)),
    )
    return float(found.fun)


def linear(rows: int, columns: int, xi: Array) -> float:
    """min c'z  s.t.  A z <= b, with xi = (A, b, c) of one scenario."""
    matrix, limit, cost = np.split(xi[0], [rows * columns, rows * columns + rows])
    found = linprog(cost, A_ub=matrix.reshape(rows, columns), b_ub=limit, bounds=(0, 10))
    return float(found.fun)


def shortest_path(incidence: Array, flow: Array, xi: Array) -> float:
    found = linprog(xi[0], A_eq=incidence, b_eq=flow, bounds=(0, 1))
    return float(found.fun)

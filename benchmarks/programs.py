"""Declared programs against SciPy (HiGHS) in the same run: CPU time, and the same values.

python benchmarks/programs.py        writes benchmarks/results/programs.{md,json}
"""

from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy_models
from bigm import UPPER, solve_big_m
from comparison import HEAD, Row, compared, cpu, line
from kernels import PROBLEM, predictions
from results_file import write, write_markdown

from bocopt import CVaR, Status, absolute, integer, maximise, minimise, pos, program, real
from bocopt.core import Array
from bocopt.problems import (
    Newsvendor,
    facility_location,
    grid,
    staffing,
)
from bocopt.problems.program import Program, strategies
from bocopt.problems.program.strategies import lattice

NOTHING = np.zeros(0)
RNG = np.random.default_rng(0)


def even(many: int) -> Array:
    return np.full(many, 1 / many)


def value_of(problem: Any, scenarios: Array, x: Array = NOTHING) -> float:
    return float(problem.solve(scenarios, even(len(scenarios)), x).value)


def linear() -> list[Row]:
    rows, columns = 50, 20

    @program(xi=rows * columns + rows + columns, z=real(columns, upper=10))
    def lp(xi: Any, z: Any) -> Any:
        limits, costs = xi[-rows - columns : -columns], xi[-columns:]
        return minimise(costs @ z), xi[: rows * columns].reshape(rows, columns) @ z <= limits

    low = np.repeat([0.0, 5.0, -1.0], [rows * columns, rows, columns])
    high = np.repeat([1.0, 10.0, 0.0], [rows * columns, rows, columns])
    data = list(RNG.uniform(low, high, (40, 1, len(low))))

    row = compared(
        f"LP {rows} x {columns}, all numbers new",
        ">= 4 x linprog, own overhead <= 0.1 ms",
        partial(value_of, lp),
        partial(scipy_models.linear, rows, columns),
        data,
    )
    return [row._replace(note=f"own overhead {overhead(lp, data):.3f} ms")]


def overhead(problem: Program, data: list[Array]) -> float:
    """What the declaration adds to HiGHS itself, in ms."""
    from bocopt.problems.program import highs
    from bocopt.problems.program.strategies import model

    whole = np.median([cpu(partial(value_of, problem, xi), 5)[0] for xi in data])
    alone = []
    for xi in data:
        form = problem.form(NOTHING, xi)
        linear = model.of_one(form, inside=False).linear
        alone.append(cpu(partial(highs.solve, linear), 5)[0])
    return float(whole - np.median(alone))


def integers() -> list[Row]:
    found = []
    for items, resources, kind in ((4, 3, "integer"), (20, 5, "integer"), (48, 1, "0-1")):
        upper = 1 if kind == "0-1" else 100

        @program(xi=items * (resources + 1), take=integer(items, upper=upper))
        def one(xi: Any, take: Any, items: int = items, resources: int = resources) -> Any:
            weights = xi[items:].reshape(resources, items)
            return maximise(xi[:items] @ take), weights @ take <= 60

        data = RNG.uniform(1, 10, (20, 1, items * (resources + 1)))
        found.append(
            compared(
                f"MILP {kind}, {items} x {resources}, one scenario",
                ">= 1.3 x milp",
                partial(value_of, one),
                partial(scipy_models.knapsack, items, upper, 60.0),
                list(data),
            )
        )
    return found


def paper() -> list[Row]:
    """The paper's program, declared; the lattice search, which is made for it, is left out."""
    value, capacity, salvage = (
        np.array(p) for p in (PROBLEM.value, PROBLEM.capacity, PROBLEM.salvage)
    )

    @program(xi=12, chance=0.9, infeasible_objective=0.0, take=integer(4, upper=UPPER))
    def declared(xi: Any, take: Any) -> Any:
        used = xi.reshape(3, 4) @ take
        return maximise(value @ take + salvage @ (capacity - used)), used <= capacity

    found, w = [], even(20)
    with Without(lattice):
        found.append(
            compared(
                "the paper's program, 20 scenarios, lattice off",
                ">= 15 x the paper's big M",
                partial(value_of, declared),
                lambda a: float(PROBLEM.cost(NOTHING, solve_big_m(PROBLEM, a, w), a) @ w),
                list(predictions(10, 20)),
            )
        )
        statuses = [declared.solve(a, even(100), NOTHING).status for a in predictions(10, 100)]
        times = [cpu(partial(value_of, declared, a), 1)[0] for a in predictions(10, 100)]
    proved = sum(int(status) == 0 for status in statuses)
    note = f"proved {proved} of {len(statuses)}, slowest {max(times):.1f} ms"
    name = "the paper's program, 100 scenarios, lattice off"
    found.append(Row(name, "proved in <= 1 s", float(np.median(times)), None, 0.0, note))
    print(found[-1].name, note, flush=True)
    return found


class Without:
    """The ways to solve, less one."""

    def __init__(self, way: Any) -> None:
        self.way = way

    def __enter__(self) -> None:
        self.before = strategies.STRATEGIES
        strategies.STRATEGIES = tuple(way for way in strategies.STRATEGIES if way is not self.way)

    def __exit__(self, *_: object) -> None:
        strategies.STRATEGIES = self.before


def chances() -> list[Row]:
    return [_chance(1, 4, ">= 20 x big M in milp, the same optimum"), _chance(3, 2, "none stated")]


def _chance(upper: int, instances: int, target: str) -> Row:
    items, resources, many = 20, 5, 50
    value = RNG.uniform(5, 15, items)

    @program(xi=items * resources, chance=0.9, take=integer(items, upper=upper))
    def knapsack(xi: Any, take: Any) -> Any:
        return maximise(value @ take), xi.reshape(resources, items) @ take <= 60

    gaps: list[float] = []
    statuses: list[str] = []

    def ours(weights: Array) -> float:
        solution = knapsack.solve(weights, even(many), NOTHING)
        statuses.append(Status(int(solution.status)).name)
        return float(solution.value)

    def theirs(weights: Array) -> float:
        found, gap = scipy_models.chance_knapsack(
            value, weights.reshape(many, resources, items), 60.0, 0.9, float(upper), 40.0
        )
        gaps.append(gap)
        return -found

    row = compared(
        f"chance knapsack {items} x {resources}, {many} scenarios, z <= {upper}",
        target,
        ours,
        theirs,
        [RNG.uniform(1, 10, (many, resources * items)) for _ in range(instances)],
        repeats=1,
    )
    gap = 100 * max(gaps)
    return row._replace(note=f"{', '.join(statuses)}; SciPy's largest gap after 40 s: {gap:.1f}%")


def orders() -> list[Row]:
    cost, volume = RNG.uniform(1, 3, 5), RNG.uniform(1, 2, 5)
    price = 2 * cost

    @program(xi=5, order=real(5, upper=200))
    def newsvendor(xi: Any, order: Any) -> Any:
        return minimise(cost @ order - price @ (xi - pos(xi - order))), volume @ order <= 300

    own = Newsvendor(
        unit_cost=list(cost), price=list(price), volume=list(volume), capacity=300, upper=200
    )
    data = [RNG.gamma(4, 15, (1000, 5)) for _ in range(5)]
    return [
        compared(
            f"newsvendor 5 x 1000, {name}",
            target,
            partial(value_of, problem),
            partial(scipy_models.newsvendor, cost, price, volume, 300.0),
            data,
        )
        for name, target, problem in (
            ("declared", ">= 8 x linprog, <= 10 ms", newsvendor),
            ("own class", ">= 150 x linprog", own),
        )
    ]


def tails() -> list[Row]:
    held = np.full(10, 0.1)

    @program(x=10, xi=10, risk=CVaR(0.95), hold=real(10, upper=0.4))
    def portfolio(x: Any, xi: Any, hold: Any) -> Any:
        return minimise(0.002 * absolute(hold - x).sum() - xi @ hold), hold.sum() == 1

    mean, mix = RNG.uniform(0, 0.02, 10), RNG.normal(0, 0.03, (10, 10))
    data = [mean + RNG.normal(size=(1000, 10)) @ mix for _ in range(5)]
    return [
        compared(
            "CVaR portfolio 10 x 1000",
            ">= 3.5 x linprog, <= 10 ms",
            lambda a: value_of(portfolio, a, held),
            lambda a: scipy_models.tail(a, held, 0.95, 0.002, 0.4),
            data,
        )
    ]


def shifts() -> list[Row]:
    hours = np.arange(24)
    covers = ((hours[:, None] - hours) % 24 < 8).astype(float)
    wage = 10 + 3 * (hours < 6) + RNG.uniform(0, 1, 24)
    level = 12 + 8 * np.sin(hours / 24 * 2 * np.pi) ** 2
    exact = staffing(wage=wage, covers=covers, gap=1e-6, node_limit=1_000_000)
    quick = staffing(wage=wage, covers=covers, time_limit=0.15)
    slower = staffing(wage=wage, covers=covers, time_limit=0.3)
    rows = []
    for many, problem, target in (
        (200, exact, "proved in <= 2 s"),
        (1000, quick, "within 5% in 150 ms with a valid bound"),
        (1000, slower, "the same in 300 ms, on a machine half as fast"),
    ):
        used, clock, gaps, proved = [], [], [], 0
        for _ in range(5):
            demand = RNG.poisson(level, (many, 24)).astype(float)
            start, wall = process_time(), perf_counter()
            solution = problem.solve(demand, even(many), NOTHING)
            used.append(1e3 * (process_time() - start))
            clock.append(1e3 * (perf_counter() - wall))
            gaps.append(float(solution.gap / solution.value))
            proved += int(solution.status) == 0
        note = (
            f"proved {proved} of 5; slowest {max(used):.0f} ms CPU, {max(clock):.0f} ms by the "
            f"clock; largest gap {100 * max(gaps):.2f}%"
        )
        limit = f", {problem.time_limit:g} s" if problem.time_limit else ""
        name = f"staffing, 24 intervals, {many} scenarios{limit}"
        rows.append(Row(name, target, float(np.median(used)), None, 0.0, note))
        print(name, note, flush=True)
    return rows


def deadlines() -> list[Row]:
    """How late answers are, by the clock."""
    hours = np.arange(24)
    covers = ((hours[:, None] - hours) % 24 < 8).astype(float)
    late: list[float] = []
    statuses: list[str] = []
    for limit in (0.05, 0.1, 0.3, 1.0):
        staff = staffing(wage=np.full(24, 10.0), covers=covers, time_limit=limit)
        sites = facility_location(
            fixed=np.full(6, 150.0),
            ship_cost=RNG.uniform(1, 5, (6, 10)),
            room=100.0,
            unmet_cost=25.0,
            time_limit=limit,
        )

        @program(
            xi=96, chance=0.9, infeasible_objective=0.0, time_limit=limit, take=integer(48, upper=1)
        )
        def knapsack(xi: Any, take: Any) -> Any:
            return maximise(xi[:48] @ take), xi[48:] @ take <= 60

        for problem, scenarios in (
            (staff, RNG.poisson(15, (1000, 24)).astype(float)),
            (sites, RNG.gamma(4, 11, (200, 10))),
            (knapsack, RNG.uniform(1, 10, (100, 96))),
        ):
            start = perf_counter()
            solution = problem.solve(scenarios, even(len(scenarios)), NOTHING)
            late.append(1e3 * (perf_counter() - start - limit))
            statuses.append(Status(int(solution.status)).name)
    found = ", ".join(f"{statuses.count(name)} {name}" for name in sorted(set(statuses)))
    note = f"largest {max(late):.0f} ms late, of {len(late)}: {found}"
    print("deadlines", note, [round(each) for each in late], flush=True)
    return [Row("limits of 0.05 to 1 s", "within 50 ms by the clock", max(late), None, 0.0, note)]


def sites() -> list[Row]:
    fixed, ship = RNG.uniform(100, 200, 6), RNG.uniform(1, 5, (6, 10))
    problem = facility_location(fixed=fixed, ship_cost=ship, room=100.0, unmet_cost=25.0, gap=1e-3)
    data = [RNG.gamma(4, 5, (200, 10)) for _ in range(3)]
    return [
        compared(
            "facility location 6 x 10, 200 scenarios, at a proved 0.1%",
            ">= 8 x milp on the extensive form",
            partial(value_of, problem),
            partial(scipy_models.facility, fixed, ship, 100.0, 25.0),
            data,
            repeats=1,
        )
    ]


def paths() -> list[Row]:
    own = grid(5, 5)
    edges = np.array(own.edges)
    incidence = np.zeros((25, len(edges)))
    incidence[edges[:, 0], np.arange(len(edges))] = 1
    incidence[edges[:, 1], np.arange(len(edges))] = -1
    flow = np.zeros(25)
    flow[own.source], flow[own.target] = 1, -1

    @program(xi=len(edges), take=real(len(edges), upper=1))
    def path(xi: Any, take: Any) -> Any:
        return minimise(xi @ take), incidence @ take == flow

    data = list(RNG.uniform(1, 10, (40, 1, len(edges))))
    reference = partial(scipy_models.shortest_path, incidence, flow)
    declared = compared(
        "shortest path, 5 x 5 grid, declared",
        ">= 8 x linprog",
        partial(value_of, path),
        reference,
        data,
    )
    batch = RNG.uniform(1, 10, (4000, 1, len(edges)))
    each = cpu(lambda: own.solve(batch, np.ones(1), NOTHING), 5)[0] / len(batch)
    differences = [value_of(own, a) - reference(a) for a in data]
    batched = Row(
        "shortest path, own class, in a batch",
        ">= 1000 x linprog",
        each,
        declared.scipy_ms,
        max(differences),
        f"{1e3 * each:.2f} us each",
    )
    return [declared, batched]


def main() -> None:
    parts = (linear, integers, paper, chances, orders, tails, shifts, deadlines, sites, paths)
    rows = [row for part in parts for row in part()]
    write("programs", {"rows": [row._asdict() | {"ratio": row.ratio} for row in rows]})
    write_markdown("programs", [*HEAD, *(line(row) for row in rows)])


if __name__ == "__main__":
    main()

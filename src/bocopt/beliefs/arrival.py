"""A belief after its particles were taken somewhere. The trials are the leading axis."""

from bocopt.beliefs.belief import Belief, different
from bocopt.beliefs.moves import MovingParticles
from bocopt.beliefs.space import Space
from bocopt.beliefs.target import NextStage


def arrived(
    flat: Belief, particles: MovingParticles, stage: NextStage, discount: float, space: Space
) -> Belief:
    """The belief after a stage, with what getting there took."""
    there = placed(flat, particles, space)
    return there._replace(
        total=discount * particles.before + particles.last,
        carried=discount * particles.carried,
        past=flat.past.append(stage.x, stage.xi, stage.t),
        info=there.info._replace(
            rejuvenated=particles.moves,
            acceptance=particles.acceptance,
            lam=flat.lam,
            evaluated=particles.evaluated,
            spared=particles.spared,
            unfinished=particles.unfinished,
            sweeps=particles.sweeps,
        ),
    )


def placed(flat: Belief, particles: MovingParticles, space: Space) -> Belief:
    """The belief with these particles, wherever they have been taken."""
    ancestors = different(particles.roots[..., 0])
    return flat._replace(
        u=particles.u,
        theta=space.theta(particles.u, flat.centre[:, None, :], flat.width[:, None, None]),
        log_w=particles.log_w,
        birth=particles.birth,
        carried=particles.carried,
        inherited=particles.inherited,
        roots=particles.roots,
        scale=particles.scale,
        info=flat.info._replace(ancestors=ancestors, left=particles.left),
    )

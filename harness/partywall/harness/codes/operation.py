"""PW9xx: how a deployment is run: what one owner's load does to others, and whether production watches itself."""

from ..plan.guarantee import Guarantee
from .code import Code

CODES = (
    Code(
        "PW901",
        "one owner's rush refused another",
        Guarantee.NONINTERFERENCE,
        "While one user sent more than may be sent at once, calls of another user or tenant, who had sent little, were "
        "refused as too many.",
        (
            "a rate limit keyed by address, by route or by the deployment",
            "a limit per tenant that a single user may use up",
        ),
        "Key the allowance by tenant and user, each with a bucket of its own, and the user's below the tenant's.",
    ),
    Code(
        "PW902",
        "session without a canary of its own",
        Guarantee.ISOLATION,
        "The target promises that every session keeps a canary of its own, and a turn asked the model without it: in "
        "production nothing would show whose context it was.",
        ("no key is set, so that none is minted", "the canary is kept with the user and not with the session"),
        "Mint one per session from the deployment key, keep it in the session layer, and put it into every context.",
    ),
)

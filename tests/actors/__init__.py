"""Those who act in a real landscape while the pipeline runs: gardenlet, and the policy agents on the nodes.

Ordinary API clients: they work on any API server that a `Client` reaches, and know nothing of the pipeline. Each is
driven in one of two ways: `step()` makes at most one transition per object and returns what it did, for tests that
decide the order; `run_in_background()` steps in a thread, for tests that run whole programs.

    gardenlet = Gardenlet(
        garden.client,
        garden.namespace,
        shoot_client=garden.shoot_client,               # without it, nothing happens inside shoots
        crds={"cri-resmgr-extension": crds.nri()},      # by extension type: come when it is enabled, go when it is not
        outcome=by_target({f"{garden.namespace}/one": Failed("no quota", codes=("ERR_INFRA_QUOTA_EXCEEDED",))}),
    )
    gardenlet.step()                # -> ["garden-x/one: Reconcile Processing", …]
    gardenlet.settle()              # steps until nothing is left to do: every Shoot reconciled and cared for
    gardenlet.open_window("garden-x/one")   # confineSpecUpdateRollout: the maintenance window comes

    agents = PolicyAgents(garden.shoot_client("one"), verdict=refuse("w1-0", "not enough CPUs"))
    agents.step()                   # -> ["w1-0: default 3 Failure"]

    cast = Cast([gardenlet], garden.shoot_clients)      # both, in every shoot
    with cast.run_in_background():
        …

A gardenlet that has a `shoot_client` also makes the Nodes: as many as `minimum` in every worker pool, named
`<pool>-<number>`, with the pool's labels. Others are made by `nodes.create(client, name, labels)`. A Shoot that the
pipeline itself creates gets an API server when its first operation succeeds.
"""

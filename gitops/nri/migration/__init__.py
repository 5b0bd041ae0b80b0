"""From cri-resource-manager to NRI policies (pure).

Sources: cri-resource-manager docs/migration-to-NRI.md and docs/policy/balloons.md, gardener-extension-cri-resmgr
pkg/configs/configs.go, and the fields of both. nri-plugins itself has no guide.
"""

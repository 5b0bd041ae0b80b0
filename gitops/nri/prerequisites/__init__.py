"""What NRI plugins need of a node, whether it is there, and how it is brought there (pure; `node.sh` runs on nodes)."""

#!/bin/sh
# A job of Slurm that carries out one lease of a fleet: sbatch --gres=gpu:1 slurm.sh LEASE
# The folder PAWL_AGENT holds agent.json, the key of the device, from the first enrollment (docs/how-to/fleet-batch.md).
#SBATCH --job-name=pawl
#SBATCH --time=02:00:00
#SBATCH --exclusive
set -eu
: "${PAWL_GATEWAY:?address of the gateway}" "${PAWL_AGENT:?folder with agent.json}"
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
install -m 600 "$PAWL_AGENT/agent.json" "$state/agent.json"
pawl-agent once --lease "$1" --server "$PAWL_GATEWAY" --state "$state"

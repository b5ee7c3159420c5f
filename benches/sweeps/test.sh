#!/bin/bash
# Runs the example sweep by npsim itself, by Snakemake on local cores, and by
# Snakemake on a Slurm of one node, and compares what they wrote.
#
#   benches/sweeps/test.sh [NPSIM]
#
# NPSIM is the command (default: target/release/npsim). What cannot be installed is
# skipped. SWEEPS_VENV names a folder with Snakemake to be used or made.
set -euo pipefail

cd "$(dirname "$0")/../.."
npsim=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/npsim}")
sweep=benches/sweeps/forward-load.toml
work=$(mktemp -d)
venv=${SWEEPS_VENV:-$work/venv}
slurm=
daemons=()

finish() {
    code=$?
    for pid in "${daemons[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    # They write their state when they end.
    for pid in "${daemons[@]}"; do
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    done
    if [ -n "$slurm" ]; then
        rm -f /etc/slurm/slurm.conf
    fi
    if [ "$code" = 0 ]; then rm -rf "$work"; else echo "left in $work" >&2; fi
}
trap finish EXIT

skip() { echo "skipped: $*"; }

# The files of a results folder that do not depend on who ran it.
same() {
    for file in results.json points.csv index.html figures; do
        diff -r "$1/$file" "$2/$file"
    done
    diff <(ls "$1/points" | grep json) <(ls "$2/points" | grep json)
    for point in "$1"/points/*.json; do
        cmp "$point" "$2/points/${point##*/}"
    done
}

echo "npsim itself"
"$npsim" sweep $sweep --out "$work/npsim" > "$work/measurements.txt"
cat "$work/measurements.txt"

if [ ! -x "$venv/bin/snakemake" ]; then
    if ! python3 -m venv "$venv" ||
        ! "$venv/bin/pip" install -q snakemake snakemake-executor-plugin-slurm; then
        skip "Snakemake cannot be installed"
        exit 0
    fi
fi
snakemake() {
    "$venv/bin/snakemake" -s benches/sweeps/Snakefile --quiet all "$@"
}

echo "Snakemake $("$venv/bin/snakemake" --version), local"
snakemake --cores "$(nproc)" --config npsim="$npsim" sweep=$sweep out="$work/local"
same "$work/npsim" "$work/local"
echo "  the same, byte for byte"

# How many points the last run of Snakemake ran, by what npsim said.
ran() { grep -c "^1 point: 1 run now" "$work/said.txt" || true; }

echo "Snakemake goes on after a break"
rm "$(ls "$work"/local/points/*.json | head -1)" "$work/local/results.json"
snakemake --cores 2 --config npsim="$npsim" sweep=$sweep out="$work/local" 2> "$work/said.txt"
same "$work/npsim" "$work/local"
[ "$(ran)" = 1 ]
echo "  one point run, the same, byte for byte"

echo "Snakemake with another load in the sweep"
sed 's/"4Mpps"\]/"4Mpps", "4.2Mpps"]/' $sweep > "$work/more.toml"
more() { snakemake --cores 2 --config npsim="$npsim" sweep="$work/more.toml" out="$work/local" options="--root $PWD"; }
more 2> "$work/said.txt"
[ "$(ran)" = 2 ]
"$npsim" sweep "$work/more.toml" --root "$PWD" --out "$work/local" 2>&1 > /dev/null | grep "0 run now, 14 from before"

if [ "$(id -u)" != 0 ]; then
    skip "Slurm needs root"
    exit 0
fi
if [ -e /etc/slurm/slurm.conf ]; then
    skip "this machine has a Slurm of its own"
    exit 0
fi
if ! command -v slurmctld > /dev/null &&
    ! apt-get install -y -q --no-install-recommends slurmctld slurmd slurm-client munge > "$work/apt.txt" 2>&1; then
    skip "Slurm cannot be installed"
    exit 0
fi

echo "Slurm: one node"
mkdir -p /run/munge /etc/slurm "$work/slurm/state" "$work/slurm/spool"
chown munge: /run/munge
# Unprivileged daemons and jobs have to reach what lies here.
chmod 755 "$work"
if ! munge -n 2> /dev/null | unmunge > /dev/null 2>&1; then
    su -s /bin/sh munge -c "/usr/sbin/munged"
    daemons+=("$(cat /run/munge/munged.pid)")
fi
munge -n | unmunge > /dev/null
slurm=yes
cat > /etc/slurm/slurm.conf << CONF
ClusterName=npsim
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool
SlurmctldPidFile=$work/slurm/slurmctld.pid
SlurmdPidFile=$work/slurm/slurmd.pid
SlurmctldLogFile=$work/slurm/slurmctld.log
SlurmdLogFile=$work/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld
slurmd -N localhost
for _ in $(seq 50); do
    [ -s "$work/slurm/slurmctld.pid" ] && [ -s "$work/slurm/slurmd.pid" ] && break
    sleep 0.2
done
daemons+=("$(cat "$work/slurm/slurmctld.pid")" "$(cat "$work/slurm/slurmd.pid")")
for _ in $(seq 100); do
    sinfo -h -o %t 2> /dev/null | grep -q idle && break
    sleep 0.2
done
sinfo

echo "Snakemake on Slurm, the same Snakefile"
snakemake --executor slurm --jobs 8 --cores "$(nproc)" --default-resources slurm_partition=main \
    --slurm-no-account --slurm-status-command squeue --group-components point=4 \
    --config npsim="$npsim" sweep=$sweep out="$work/cluster"
same "$work/npsim" "$work/cluster"
echo "  the same, byte for byte"

#!/bin/bash
# Runs the example sweep with npsim itself, with Snakemake on local cores, and on a Slurm cluster
# of one node with job arrays and with Snakemake; runs a study with job arrays, some tasks of
# which are killed; and compares the results.
#
#   benches/sweeps/test.sh [NPSIM]
#
# NPSIM is the command (default: target/release/npsim). What cannot be installed is
# skipped. SWEEPS_VENV names a virtual environment with Snakemake, which is made if it does not
# exist, SWEEPS_STUDY a study with options (default: `zhang --quick`).
set -euo pipefail

cd "$(dirname "$0")/../.."
npsim=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/npsim}")
sweep=benches/sweeps/forward-load.toml
study=${SWEEPS_STUDY:-zhang --quick}
work=$(mktemp -d)
venv=${SWEEPS_VENV:-$work/venv}
slurm=
daemons=()
jobs=()

finish() {
    code=$?
    for pid in "${daemons[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    # The daemons write their state when they end.
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

# Compares the files of two results folders that do not depend on which tasks ran them.
same() {
    for file in results.json points.csv rows.csv index.html figures tables parts; do
        [ ! -e "$1/$file" ] || diff -r "$1/$file" "$2/$file"
    done
    diff <(ls "$1/points" | grep json) <(ls "$2/points" | grep json)
    for point in "$1"/points/*.json; do
        cmp "$point" "$2/points/${point##*/}"
    done
    echo "  the same, byte for byte"
}

echo "npsim itself"
"$npsim" sweep $sweep --out "$work/npsim" > "$work/measurements.txt"
cat "$work/measurements.txt"

echo "npsim in shards that overlap, at the same time"
for shard in 1/3 2/3 3/3 1/2 2/2; do
    "$npsim" sweep $sweep --out "$work/shards" --shard $shard &
    jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
"$npsim" sweep $sweep --out "$work/shards" --merge > /dev/null
same "$work/npsim" "$work/shards"

snakemake=yes
if [ ! -x "$venv/bin/snakemake" ]; then
    if ! python3 -m venv "$venv" ||
        ! "$venv/bin/pip" install -q snakemake snakemake-executor-plugin-slurm; then
        skip "Snakemake cannot be installed"
        snakemake=
    fi
fi
snakemake() {
    "$venv/bin/snakemake" -s benches/sweeps/Snakefile --quiet all "$@"
}

# How many points the shards ran in Snakemake's last run, according to npsim's messages.
ran() { sed -n 's/^shard .*: \([0-9]*\) run now.*/\1/p' "$work/said.txt" | awk '{ n += $1 } END { print n + 0 }'; }

if [ -n "$snakemake" ]; then
    echo "Snakemake $("$venv/bin/snakemake" --version), local"
    local_run() {
        snakemake --cores "$(nproc)" --config npsim="$npsim" out="$work/local" "$@" 2> "$work/said.txt"
    }
    local_run sweep=$sweep
    same "$work/npsim" "$work/local"

    echo "Snakemake goes on after a break"
    rm "$(ls "$work"/local/points/*.json | head -1)" "$work/local/results.json"
    local_run sweep=$sweep
    same "$work/npsim" "$work/local"
    [ "$(ran)" = 1 ]
    echo "  one point run"

    echo "Snakemake with another load in the sweep"
    sed 's/"4Mpps"\]/"4Mpps", "4.2Mpps"]/' $sweep > "$work/more.toml"
    local_run sweep="$work/more.toml" options="--root $PWD"
    [ "$(ran)" = "$(("$("$npsim" sweep $sweep --list --format json | grep -c '"key"')" / 6))" ]
    "$npsim" sweep "$work/more.toml" --root "$PWD" --out "$work/local" 2>&1 > /dev/null |
        grep " 0 run now"
fi

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
# Unprivileged daemons and jobs have to reach the files in this folder.
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

# Waits until no job is left.
ended() {
    while [ -n "$(squeue -h)" ]; do sleep 0.3; done
}

echo "Slurm: job arrays that overlap, with the merge as a dependent job"
for shards in 3 4; do
    "$npsim" sweep $sweep --out "$work/array" --script slurm --shards $shards > "$work/array-$shards.sh"
    bash "$work/array-$shards.sh" --cpus-per-task=1
done
ended
same "$work/npsim" "$work/array"

echo "npsim reproduce $study, one machine"
time "$npsim" reproduce $study --out "$work/study" > "$work/study.txt" 2> "$work/study-said.txt"
tail -1 "$work/study-said.txt"

echo "Slurm: npsim reproduce $study in four shards, cancelled while two run"
"$npsim" reproduce $study --out "$work/study-slurm" --script slurm --shards 4 > "$work/study.sh"
bash "$work/study.sh" --cpus-per-task=1
# Until its first points are saved.
until grep -qs begun "$work/study-slurm/tasks/shard-2-of-4.json"; do sleep 0.1; done
sleep 1
scancel --name=npsim-"${study%% *}" --state=RUNNING
ended
merged=$(ls "$work"/study-slurm/log/merge-*.txt)
cat "$merged"
# A cancelled task says so if Slurm gives it the time.
grep -Eq "shard 2/4 \\(Slurm job .*\\) (was interrupted|began and has not ended)" "$merged"
[ ! -e "$work/study-slurm/results.json" ]

echo "The cancelled tasks once more"
bash "$work/study.sh" --cpus-per-task=1
ended
tail -qn 1 "$work"/study-slurm/log/shard-*.txt
same "$work/study" "$work/study-slurm"

if [ -z "$snakemake" ]; then exit 0; fi
echo "Snakemake on Slurm, the same Snakefile"
snakemake --executor slurm --jobs 8 --cores "$(nproc)" --default-resources slurm_partition=main \
    --slurm-no-account --slurm-status-command squeue \
    --config shards=4 npsim="$npsim" sweep=$sweep out="$work/cluster"
same "$work/npsim" "$work/cluster"

"""Threads, signals, forks, memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import npsim

LOAD = {"rate": 0.6, "time": "8ms"}

# Prints when it begins and when it is interrupted, then runs something else.
INTERRUPTED = """
import sys, time, npsim
{made}
print("begun", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    small = npsim.load("microcode/forward").run(load=0.1)
    print(small.ending, flush=True)
"""

LONG = {
    "run": ("it = npsim.load('microcode/forward')", "it.run(load={'rate': 0.3, 'time': '100s'})"),
    "chip": ("it = npsim.load('microcode/stress/dram.toml').chip()", "it.run_for('100000s')"),
    "debugger": (
        "it = npsim.load('microcode/forward').debug(load={'rate': 0.3, 'time': '100s'})",
        "it.goto('90s'); time.sleep(60)",
    ),
    "network": ("it = npsim.network('traces/networks/dumbbell-chip.toml')", "it.run()"),
    "sweep": ("it = npsim.sweep('baseline')", "it.run()"),
}


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_interrupts_long_operations(what: str) -> None:
    made, work = LONG[what]
    program = INTERRUPTED.format(made=made, work=work)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        told = process.stdout.readline()
        took = time.perf_counter() - sent
        print(f"\n{what}: interrupted after {took:.2f} s")
        assert told == "interrupted\n"
        assert took < 10
        # The process still works after the interrupt.
        assert process.stdout.readline() == "drained\n"
    finally:
        process.kill()
        process.wait()


def test_custom_signal_handler_is_called(forward: npsim.Project) -> None:
    class Alarm(Exception):
        pass

    def handler(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            forward.run(load={"rate": 0.3, "time": "100s"})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_importing_keeps_signal_handlers() -> None:
    program = (
        "import signal; before = signal.getsignal(signal.SIGINT); import npsim;"
        "npsim.load('microcode/forward').run(load=0.1);"
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_two_threads_give_the_results_of_one(forward: npsim.Project) -> None:
    def run(seed: int) -> str:
        return forward.run(load=LOAD, seed=seed).stats_json

    begun = time.perf_counter()
    one = [run(seed) for seed in (1, 2)]
    alone = time.perf_counter() - begun
    with ThreadPoolExecutor(2) as pool:
        begun = time.perf_counter()
        two = list(pool.map(run, (1, 2)))
        together = time.perf_counter() - begun
    print(f"\ntwo threads are {alone / together:.2f} times one")
    assert one == two
    assert one[0] != one[1]


def test_other_threads_continue_during_a_simulation(forward: npsim.Project) -> None:
    counted = 0
    over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.wait(0.005):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    forward.run(load=LOAD)
    over.set()
    thread.join()
    assert counted > 5


def test_chip_refuses_concurrent_use(forward: npsim.Project) -> None:
    chip = npsim.load("microcode/forward/arp.toml").chip()
    refused: list[str] = []
    begun = threading.Event()

    def ask() -> None:
        begun.wait()
        for _ in range(1_000):
            try:
                _ = chip.stats
            except npsim.Error as error:
                refused.append(str(error))
                return
            time.sleep(0.001)

    thread = threading.Thread(target=ask)
    thread.start()
    begun.set()
    for _ in range(200):
        if refused:
            break
        try:
            chip.feed(bytes(60))
            chip.run_for("20ms")
        except npsim.Error as error:
            refused.append(str(error))
    thread.join()
    assert refused and "in use by another call" in refused[0]
    # The chip can be used again.
    assert chip.stats["cycles"] == chip.now


def child(project: npsim.Project, sender: Connection) -> None:
    sender.send(project.run(load=0.2).stats_json)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_runs(forward: npsim.Project) -> None:
    expected = forward.run(load=0.2).stats_json
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(forward, sender))
    process.start()
    assert receiver.poll(60)
    assert receiver.recv() == expected
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_of_a_busy_process_does_not_hang() -> None:
    """The child does not have the thread that uses the chip, and must not wait for it."""
    chip = npsim.load("microcode/forward/arp.toml").chip()
    over = threading.Event()

    def feed() -> None:
        while not over.is_set():
            chip.feed(bytes(60))
            chip.run_for("20ms")

    thread = threading.Thread(target=feed)
    thread.start()
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            _ = chip.stats
            code = 0
        except npsim.Error as error:
            code = 0 if "in use" in str(error) else 2
        finally:
            os._exit(code)
    over.set()
    thread.join()
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the child waits")


def resident() -> int:
    """Resident memory of this process in kilobytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def many(count: int) -> None:
    """Does runs of all kinds, one after the other, which must not leak memory."""
    project = npsim.load("microcode/forward")
    load = {"rate": 0.3, "time": "20us"}

    def once(number: int) -> None:
        if number % 50 == 0:
            run = project.run(load=load, packets=True, report=True)
            run.packets.polars()
            run.report()
            chip = npsim.load("microcode/forward").chip()
            chip.feed(bytes(60))
            chip.run_for("10us")
            project.debug(load=load).goto("10us")
            return
        run = project.run(load=load, packets=number % 2 == 0)
        assert run.ending == "drained"

    for number in range(count // 3):
        once(number)
    before = resident()
    for number in range(count):
        once(number)
    grown = resident() - before
    print(f"\n{count} runs: {before} kB, {grown:+} kB")
    assert grown < 40_000


def test_memory_stays_flat() -> None:
    many(300)


@pytest.mark.slow
def test_memory_stays_flat_over_ten_thousand_runs() -> None:
    many(10_000)

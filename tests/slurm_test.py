"""scripts/slurm-sweep on a real Slurm: one node, one controller, started here and stopped afterwards. Run by scripts/test.

Where Slurm is not installed or cannot be started (it wants root), the tests skip and say why; with ATTNPROF_SLURM=required
they fail instead (.ci/run).
"""

import csv
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ATTNPROF = os.environ.get("ATTNPROF", str(ROOT / "build/attnprof"))
SWEEP = ["--device", "cpu", "--threads", "1", "--seqlen", "64,128,192", "--heads", "2", "--head-dim", "32,64", "--max-time", "0.02",
         "--min-samples", "6"]
# What a row says that does not depend on when it was measured.
SAME = ["device", "threads", "impl", "pass", "dtype", "batch", "heads", "kv_heads", "seqlen_q", "seqlen_kv", "head_dim", "causal",
        "window", "scale", "fill", "seed", "cache", "tile_m", "tile_n", "stages", "warps", "status", "hbm_read_bytes",
        "hbm_write_bytes", "bytes_source", "rel_err", "model_flops", "executed_flops", "model_hbm_bytes", "min_hbm_bytes",
        "workspace_bytes", "plan", "plan_row", "plan_rows", "command"]

CONF = """\
ClusterName=attnprof
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=1,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=300
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=node1 Default=YES OverSubscribe=NO MaxTime=5
"""


class Slurm:
    """Daemons of its own in a folder of its own. stop() ends all of them, whatever state they are in."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "ATTNPROF": ATTNPROF}
        for name in ("SBATCH_PARTITION", "SLURM_CLUSTERS", "SBATCH_ACCOUNT"):
            self.environment.pop(name, None)

    def start(self):
        folder = self.folder
        for name in ("state", "spool"):
            (folder / name).mkdir()
        folder.chmod(0o755)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        ports = [free_port(), free_port()]
        (folder / "slurm.conf").write_text(CONF.format(host=socket.gethostname().split(".")[0], folder=folder,
                                                       ctld_port=ports[0], slurmd_port=ports[1]))
        (folder / "cgroup.conf").write_text("")
        self.daemon("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
                    f"--pid-file={folder}/munge.pid", f"--seed-file={folder}/munge.seed", f"--log-file={folder}/munge.log")
        wait_until(lambda: (folder / "munge.socket").exists(), 10, self, "munged opens its socket")
        self.daemon("slurmctld", "-D", "-i", "-f", f"{folder}/slurm.conf")
        self.daemon("slurmd", "-D", "-N", "node1", "-f", f"{folder}/slurm.conf")
        wait_until(lambda: self.run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle", 40, self, "the node is idle")

    def daemon(self, *command):
        with open(self.folder / f"{command[0]}.out", "w") as log:
            self.daemons.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment,
                                                 cwd=self.folder, start_new_session=True))

    def run(self, *command, **options):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, env=self.environment, timeout=60, **options)

    def logs(self):
        return "\n".join(f"--- {path.name}\n" + path.read_text(errors="replace")[-1500:]
                         for path in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))

    def stop(self):
        if len(self.daemons) > 1:
            subprocess.run(["scancel", "--user=root"], env=self.environment, timeout=20, capture_output=True)
        for process in reversed(self.daemons):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(holds, seconds, slurm, what):
    end = time.monotonic() + seconds
    while not holds():
        dead = [p.args[0] for p in slurm.daemons if p.poll() is not None]
        if dead or time.monotonic() > end:
            raise RuntimeError(f"{what}: not after {seconds} s" + (f"; {', '.join(dead)} ended" if dead else ""))
        time.sleep(0.1)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    def unavailable(reason):
        (pytest.fail if os.environ.get("ATTNPROF_SLURM") == "required" else pytest.skip)(f"no Slurm here: {reason}")

    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]
    if missing:
        unavailable(f"{', '.join(missing)} not installed (Debian: slurmctld slurmd slurm-client munge)")
    if os.geteuid() != 0:
        unavailable("slurmd wants root")
    server = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        try:
            server.start()
        except (RuntimeError, OSError) as error:
            unavailable(f"{error}\n{server.logs()}")
        yield server
    finally:
        server.stop()


def rows(path, columns):
    with open(path, newline="") as file:
        return [[row[c] for c in columns] for row in csv.DictReader(file)]


def sweep(slurm, folder, *options, shards="3", arguments=SWEEP):
    return slurm.run(ROOT / "scripts/slurm-sweep", "-n", shards, "-o", folder / "rows.csv", "--sbatch", "--cpus-per-task=1", "--wait",
                     *options, "--", *arguments, cwd=folder)


def test_shards_on_slurm_merge_into_the_rows_of_one_run(slurm, tmp_path):
    one = subprocess.run([ATTNPROF, "sweep", *SWEEP, "--csv", tmp_path / "one.csv", "--quiet"], capture_output=True, text=True)
    assert one.returncode == 0, one.stderr
    result = sweep(slurm, tmp_path)
    assert result.returncode == 0, result.stderr + slurm.logs()
    assert rows(tmp_path / "rows.csv", SAME) == rows(tmp_path / "one.csv", SAME)
    assert len(rows(tmp_path / "rows.csv", SAME)) == 12
    assert {s for (s,) in rows(tmp_path / "rows.csv", ["shard"])} == {"1 of 3", "2 of 3", "3 of 3"}
    assert not (tmp_path / "rows.partial.csv").exists()

    # The same call again: its folder is not touched without --resume, and with it only what is missing is measured.
    again = sweep(slurm, tmp_path)
    assert again.returncode == 2 and "--resume continues it" in again.stderr
    other = sweep(slurm, tmp_path, "--resume", shards="4")
    assert other.returncode == 2 and "options of the call before" in other.stderr
    before = (tmp_path / "rows.csv").read_text()
    (tmp_path / "rows.csv.shards/shard-2.csv").unlink()
    resumed = sweep(slurm, tmp_path, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    after = (tmp_path / "rows.csv").read_text()
    assert after != before and rows(tmp_path / "rows.csv", SAME) == rows(tmp_path / "one.csv", SAME)
    kept = [c for c in before.splitlines() if "2 of 3" not in c]
    assert set(kept) < set(after.splitlines())


def test_a_shard_that_died_is_named_and_the_others_are_kept(slurm, tmp_path):
    # A program that dies in its second shard, as one that is out of time or memory would.
    fake = tmp_path / "attnprof"
    fake.write_text(f'#!/bin/bash\n[[ "$SLURM_ARRAY_TASK_ID $1" == "2 sweep" ]] && kill -9 $$\nexec {ATTNPROF} "$@"\n')
    fake.chmod(0o755)
    slurm.environment["ATTNPROF"] = str(fake)
    try:
        result = sweep(slurm, tmp_path)
    finally:
        slurm.environment["ATTNPROF"] = ATTNPROF
    assert result.returncode == 2, result.stderr
    assert "4 of the 12 rows" in result.stderr and "no row is of shard 2/3" in result.stderr
    assert not (tmp_path / "rows.csv").exists()
    assert len(rows(tmp_path / "rows.partial.csv", SAME)) == 8


@pytest.mark.parametrize("options, message", [
    ([], "-n ''"),
    (["-n", "0", "-o", "x.csv"], "-n '0'"),
    (["-n", "2"], "-o names no file"),
    (["-n", "2", "-o", "x.csv", "--", "--csv", "y.csv"], "--csv is chosen by this script"),
    (["-n", "2", "-o", "x.csv", "--", "--seqlen", "4k:1k:x2"], "4k:1k:x2"),
    (["-n", "2", "--seqlen", "64"], "options of the sweep come after --"),
])
def test_what_cannot_be_right_is_refused_before_a_job_is_submitted(slurm, tmp_path, options, message):
    result = slurm.run(ROOT / "scripts/slurm-sweep", *options, cwd=tmp_path)
    assert result.returncode == 2 and message in result.stderr
    assert not list(tmp_path.iterdir())

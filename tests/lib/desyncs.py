"""Logs and Flight Recorder dumps of many ranks, and what was planted in them. Synthetic: the records are those of torch 2.13's
_dump_nccl_trace() (version 2.10) and of its structured trace, as far as this question needs them.

    desyncs.py OUT RANKS PLANTED > planted.tsv         rank, collective, operator, guard: a line each
    desyncs.py --check planted.tsv collectives.json    is each named?

Ranks are in groups of eight (tp) and all in one (world). Each step asks for three collectives in its tp group and one in world. A planted
rank recompiles for a size that nobody else has, and then leaves out a collective, asks for another one or for another size; some of the
others had a recompile in common before. Its neighbours wait in their group, and all other groups wait in world for these."""
import hashlib
import json
import os
import pickle
import sys

STEPS, TP, SIZE = 60, 8, 1024


def record(out, text, payload=None):
    if payload is not None:
        text["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    out.append("V1121 08:00:%02d.%06d 4242 torch/_dynamo/x.py:1] %s" % (len(out) // 50 % 60, len(out), json.dumps(text)))
    if payload is not None:
        out.extend("\t" + line for line in payload.split("\n"))


def trace(rank, frames):
    out = []
    for frame, compile_id, reason, value in frames:
        at = {"rank": rank, "frame_id": frame, "frame_compile_id": compile_id, "attempt": 0}
        record(out, {"dynamo_start": {"stack": [{"line": 7, "name": "forward", "filename": 0, "loc": "x"}]}, **at})
        if reason:
            record(out, {"artifact": {"name": "recompile_reasons", "encoding": "json"}, **at}, reason)
            record(out, {"create_symbol": {"symbol": "s0", "val": str(value), "vr": "[2, int_oo]", "source": "L['x'].size()[0]",
                                           "user_stack": [], "stack": []}, **at})
        record(out, {"dynamo_output_graph": {"sizes": {}}, **at}, "class GraphModule: pass # %d" % frame)
    return "V1121 08:00:00.000000 4242 torch/_logging/x.py:1] {\"str\": [\"app/model.py\", 0]}\n" + "\n".join(out) + "\n"


def reason(value, frame):
    return f"{frame}/0: tensor 'x' size mismatch at index 0. expected 16, actual {value}"


def dump(rank, ranks, bad):
    """bad: None, or (step, kind): what happens in the second of a step's three collectives."""
    entries, seq = [], {"tp": 0, "world": 0}
    t = 1_795_000_000_000_000_000 + rank * 1000
    first = rank // TP * TP
    mates = range(first, first + TP)

    def ask(group, operator, size, done):
        nonlocal t
        seq[group] += 1
        t += 1_000_000
        entries.append({
            "frames": [{"name": operator, "filename": "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py", "line": 2806},
                       {"name": "forward", "filename": "app/model.py", "line": 33}],
            "record_id": len(entries), "pg_id": 1 if group == "tp" else 0,
            "process_group": (str(1 + first // TP), "tp") if group == "tp" else ("0", "default_pg"),
            "thread_name": "pt", "thread_id": "1", "collective_seq_id": seq[group], "p2p_seq_id": 0, "op_id": seq[group],
            "profiling_name": "nccl:" + operator, "time_created_ns": t, "input_sizes": [[size, 1024]], "input_dtypes": ["Float"],
            "output_sizes": [[size, 1024]], "output_dtypes": ["Float"], "state": "completed" if done else "started",
            "time_discovered_started_ns": t, "time_discovered_completed_ns": t if done else None, "retired": done, "timeout_ms": 600000,
            "is_p2p": False})

    for step in range(STEPS):
        hang = bad and step == bad[0]
        ask("tp", "all_reduce", SIZE, True)
        if not hang:
            ask("tp", "all_reduce", SIZE, True)
        elif rank != bad[2]:
            ask("tp", "all_reduce", SIZE, False)
            break
        elif bad[1] == "operator":
            ask("tp", "broadcast", SIZE, False)
            break
        elif bad[1] == "sizes":
            ask("tp", "all_reduce", 17, False)
            break
        else:
            ask("world", "all_reduce", 2, False)  # goes on without it
            break
        ask("tp", "all_reduce", SIZE, True)
        last = step == bad[0] - 0 if bad else step == BAD_STEP
        ask("world", "all_reduce", 2, not last)
        if last:
            break
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))},
              str(1 + first // TP): {"name": str(1 + first // TP), "desc": "tp", "ranks": str(list(mates))}}
    status = {str(k): {"last_enqueued_collective": seq[n], "last_started_collective": seq[n],
                       "last_completed_collective": seq[n] - (entries[-1]["pg_id"] == k)} for k, n in ((0, "world"), (1, "tp"))}
    return {"version": "2.10", "comm_lib_version": "2.27.5", "pg_config": config, "pg_status": status, "entries": entries}


BAD_STEP = 50


def plant(out, ranks, planted):
    os.makedirs(out)
    groups = ranks // TP
    bad = {}
    for i in range(planted):
        group = i * groups // planted
        bad[group] = (BAD_STEP, ("missed", "operator", "sizes")[i % 3], group * TP + i % TP)
    for rank in range(ranks):
        mine = bad.get(rank // TP)
        frames = [(i, 0, None, 0) for i in range(12)]
        if rank % 2:
            frames.append((3, 1, reason(99, 3), 99))  # nobody's fault
        culprit = mine and mine[2] == rank
        if culprit:
            value = 17 + rank
            frames.append((11, 1, reason(value, 11), value))
            print(rank, 3 * BAD_STEP + 2, "all_reduce", reason(value, 11).split(": ", 1)[1], sep="\t")
        with open(f"{out}/dedicated_log_torch_trace_rank_{rank}_x.log", "w") as f:
            f.write(trace(rank, frames))
        with open(f"{out}/nccl_trace_rank_{rank}", "wb") as f:
            pickle.dump(dump(rank, ranks, mine), f, protocol=2)


def check(planted, path):
    with open(path) as f:
        found = {c["rank"]: (d, c) for d in json.load(f)["collectives"]["desyncs"] if d["cause"] is None for c in d["culprits"]}
    lines = [line.rstrip("\n").split("\t") for line in open(planted)]
    named = 0
    for rank, seq, operator, guard in lines:
        d, c = found.get(int(rank), (None, None))
        if c and d["collective"] == int(seq) and d["operator"] == operator and guard in (c["guard"] or ""):
            named += 1
        else:
            print("rank", rank, "collective", seq, "is not named:", c and c["text"], file=sys.stderr)
    print(f"{named} of {len(lines)} named, {len(found) - named} others")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(sys.argv[2], sys.argv[3])
    else:
        plant(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

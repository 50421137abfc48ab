# logs: the rows of a document of --json (docs/formats/COMPILATION.md) log by log, with the attempt that each is of by its place among the log's own.
def own($rows; $l; $first):
  [$rows[] | select(.input == $l.input) | . + {compile_id: (if .attempt == null then null else .attempt - $first end)}];
def id($c; $n):
  if $c != null then $c.id else (if $n[0] == "-" then "" else "!" + $n[0] + "/" end) + ($n[1] // "-") + "/" + ($n[2] // "-") end;
def number: if . == null or . == "-" then null else tonumber end;
def logs:
  . as $d | [.logs[] | . as $l | $d.inputs[$l.input] as $in | (([$d.attempts[].input] | index($l.input)) // 0) as $first
    | own($d.failures; $l; $first) as $failures
    | $l + ($in | {path, rank, pid, start, seconds}) + {
      compile_ids: [$d.attempts | to_entries[] | select(.value.input == $l.input) | .key as $k | .value as $a
        | (if $a.dir == "unknown" then ["-", "-", "-"] else $a.dir / "_" end) as $n
        | $a + {id: id(if $a.compile == null then null else $d.compiles[$a.compile] end; $n), compiled_autograd_id: ($n[0] | number), frame_id: ($n[1] | number),
          frame_compile_id: ($n[2] | number), restarts: [$failures[] | select(.restart and .attempt == $k) | .reason]}],
      graph_breaks: own($d.graph_breaks; $l; $first), recompiles: own($d.recompiles; $l; $first), symbols: own($d.symbols; $l; $first),
      failures: [$failures[] | select(.restart | not)], restarts: [$failures[] | select(.restart)],
      specializations: [own($d.bounds; $l; $first)[] | select(.kind == "specialized")], cudagraph_skips: own($d.cudagraph_skips; $l; $first),
      unknown_keys: own($d.unknown_keys; $l; $first), damage: own($d.damage; $l; $first)}];

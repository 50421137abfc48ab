#!/bin/bash
# pt2 mcp with the reference client of the protocol: MCP_PYTHON is a Python that has it (pip install mcp).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
: "${MCP_PYTHON:=${PT2_PYTHON:-python3}}"
"$MCP_PYTHON" -c 'import mcp' 2>/dev/null || skip_all "no package mcp for $MCP_PYTHON"
mkdir in
cp "$DATA/graph_breaks.log" in/breaks.log
cp "$DATA/aoti/mlp.pt2" in/
tap_of "" timeout 300 "$MCP_PYTHON" "$ROOT/tests/live/mcp_client.py" in
done_testing

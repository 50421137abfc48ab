"""The reference client of the Model Context Protocol (PyPI: mcp) talks to `pt2 mcp` (tests/live/mcp.t): mcp_client.py FOLDER. As TAP lines."""
import asyncio, sys

import mcp.types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def ok(good, name, seen=None):
    print(f"{'ok' if good else 'not ok'} 1 - {name}", flush=True)
    if not good:
        print("#", repr(seen)[:1500], flush=True)


def text(result):
    return "".join(c.text for c in result.content)


def is_error(result):
    return result.is_error if hasattr(result, "is_error") else result.isError


async def session(folder):
    async with stdio_client(StdioServerParameters(command="pt2", args=["mcp", folder])) as (r, w), ClientSession(r, w) as s:
        about = await s.initialize()
        info = getattr(about, "server_info", None) or about.serverInfo
        ok(info.name == "pt2utils" and about.instructions, "initialize", about)
        tools = (await s.list_tools()).tools
        ok({t.name for t in tools} == {"explain", "check_call", "verify", "nan", "minify", "mend", "runs", "more"}, "list_tools", tools)
        got = await s.call_tool("explain", {"things": ["breaks.log"]})
        ok(not is_error(got) and "8 graph breaks" in text(got), "call_tool", got)
        got = await s.call_tool("explain", {"things": ["/etc/passwd"]})
        ok(is_error(got) and "outside" in text(got), "call_tool: refused", got)
        many = await asyncio.gather(*(s.call_tool("check_call", {"things": ["mlp.pt2"]}) for _ in range(8)))
        ok(all("f32[8,8]" in text(m) for m in many), "eight calls at once", many)
        resources = (await s.list_resources()).resources
        ok(any(str(r.uri).startswith("pt2://page/") for r in resources), "list_resources", resources)
        graphs = next(r.uri for r in resources if str(r.uri).startswith("pt2://graphs/"))
        names = (await s.read_resource(graphs)).contents[0].text.split("\n")
        graph = await s.read_resource(next(n for n in names if "dynamo_output_graph" in n))
        ok("class GraphModule" in graph.contents[0].text, "read_resource", graph)
        templates = await s.list_resource_templates()
        ok(len(getattr(templates, "resource_templates", None) or templates.resourceTemplates) == 4, "list_resource_templates", templates)
        if hasattr(s, "send_ping"):
            await s.send_ping()
            ok(True, "send_ping")


asyncio.run(session(sys.argv[1]))

#!/bin/sh
# Tries an installed Triplebeam in an empty folder, without the repository: the demo, the server with its page, and mcp.
# PYTHON is the interpreter of the environment it is installed in; `make release` runs this.
set -eu
cd "$(mktemp -d)"
triplebeam="$(dirname "$PYTHON")/triplebeam"

"$PYTHON" -c 'import triplebeam, sys; sys.exit("/src/" in triplebeam.__file__)'
"$triplebeam" --version
"$triplebeam" demo
mkdir data
printf '%s\n' 'Marie Curie was born in Warsaw.' > curie.txt
"$triplebeam" index data/my.index curie.txt

"$triplebeam" serve data --port 18431 2> serve.log &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
"$PYTHON" - <<'END'
import json, re, sys, time, urllib.error, urllib.parse, urllib.request

address = "http://127.0.0.1:18431"
for _ in range(120):
    try:
        page = urllib.request.urlopen(address).read().decode()
        break
    except urllib.error.URLError:
        time.sleep(0.5)
else:
    sys.exit("the server did not start: see serve.log")
script = re.search(r'src="([^"]*main\.js)"', page)[1]
assert urllib.request.urlopen(urllib.parse.urljoin(address, script)).status == 200
body = json.dumps({"question": "Where was Marie Curie born?"}).encode()
request = urllib.request.Request(f"{address}/api/indexes/my/search", body, {"Content-Type": "application/json"})
found = json.load(urllib.request.urlopen(request))
assert found["passages"][0]["document_id"].endswith("curie.txt"), found
END

"$PYTHON" - "$triplebeam" <<'END'
import json, subprocess, sys

hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "try", "version": "1"}}
lines = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]
command = [sys.argv[1], "mcp", "data/my.index"]
tools = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in lines:
    tools.stdin.write(json.dumps(line) + "\n")
tools.stdin.flush()
replies = [json.loads(tools.stdout.readline()) for _ in range(2)]
tools.kill()
names = [tool["name"] for tool in replies[1]["result"]["tools"]]
assert any("search" in name for name in names), names
print("The release works: demo, serve, page, search, mcp with", ", ".join(names))
END

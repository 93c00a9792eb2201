#!/bin/sh
# Installs a wheel and tries it as a new user has it: an empty folder, an empty home, no repository. First the package alone (the
# demo, and what it says without extras), then the extras (the server with its page, mcp, the adapters). `make release` runs this.
# PYTHON is the interpreter of an empty environment, WHEEL the wheel, RESEARCH that of the research package. The weights are downloaded into the empty home, unless
# TRIPLEBEAM_HOME says where they are.
set -eu
programs="$(cd "$(dirname "$0")/../examples" && pwd)"
scratch="$(mktemp -d)"
cd "$scratch"
mkdir home work
cp "$programs"/*_retriever.py work/
cd work
triplebeam="$(dirname "$PYTHON")/triplebeam"
quiet="--quiet --disable-pip-version-check"
"$PYTHON" -m pip install $quiet "$WHEEL"
unset PYTHONPATH XDG_CACHE_HOME XDG_CONFIG_HOME OPENAI_API_KEY OPENAI_BASE_URL
export HOME="$scratch/home" HAYSTACK_TELEMETRY_ENABLED=false

"$PYTHON" -c 'import triplebeam, sys; sys.exit("/src/" in triplebeam.__file__ or triplebeam.__version__ not in sys.argv[1])' "$WHEEL"
"$triplebeam" --version
"$triplebeam" doctor --install
"$triplebeam" demo
for lacking in server:serve mcp:mcp; do
  if "$triplebeam" "${lacking#*:}" demo.index 2> said.txt; then echo "it ran without its extra: $lacking"; exit 1; fi
  grep --quiet "triplebeam\[${lacking%:*}\]" said.txt || { cat said.txt; exit 1; }
done

if "$triplebeam" search demo.index "Uranus" --method late_interaction 2> said.txt; then echo "it ran without the research package"; exit 1; fi
grep --quiet "pip install triplebeam-research" said.txt || { cat said.txt; exit 1; }

"$PYTHON" -m pip install $quiet "$WHEEL[all]" "$RESEARCH"
"$triplebeam" research --help > printed.txt
grep --quiet experiment printed.txt || { cat printed.txt; exit 1; }
for program in *_retriever.py; do
  "$PYTHON" "$program" demo.index > printed.txt || { cat printed.txt; exit 1; }
  grep --quiet william-herschel printed.txt || { echo "$program did not find the second hop:"; cat printed.txt; exit 1; }
done

mkdir data
printf '%s\n' 'Marie Curie was born in Warsaw.' > curie.txt
"$triplebeam" index data/my.index curie.txt
"$triplebeam" serve data --port 18431 2> serve.log &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT
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
    sys.exit("the server did not start: " + open("serve.log").read())
for asset in re.findall(r'(?:src|href)="([^":]+)"', page):
    assert urllib.request.urlopen(urllib.parse.urljoin(address, asset)).status == 200, asset
body = json.dumps({"question": "Where was Marie Curie born?"}).encode()
request = urllib.request.Request(f"{address}/api/indexes/my/search", body, {"Content-Type": "application/json"})
found = json.load(urllib.request.urlopen(request))
assert found["passages"][0]["document_id"].endswith("curie.txt"), found
END

"$PYTHON" - "$triplebeam" <<'END'
import json, subprocess, sys

hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "try", "version": "1"}}
call = {"name": "search", "arguments": {"question": "Where was Marie Curie born?"}}
lines = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call},
]
command = [sys.argv[1], "mcp", "data/my.index"]
tools = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in lines:
    tools.stdin.write(json.dumps(line) + "\n")
tools.stdin.flush()
replies = {}
while len(replies) < 3:
    reply = json.loads(tools.stdout.readline())
    replies[reply.get("id")] = reply.get("result")
tools.kill()
names = [tool["name"] for tool in replies[2]["tools"]]
assert "Warsaw" in json.dumps(replies[3]), replies[3]
print("The release works: demo, extras that are missing, adapters, serve, page, search, mcp with", ", ".join(names))
END

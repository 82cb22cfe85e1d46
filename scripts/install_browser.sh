#!/usr/bin/env bash
# Install Debian's chromium, in which the tests of the report page run. Does nothing where there is a browser already.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then
        echo "browser: $(command -v "$name")"
        exit 0
    fi
done
if ! command -v apt-get > /dev/null; then
    echo "no chromium here, and no apt-get to install it with: install Chromium or Chrome by hand" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core

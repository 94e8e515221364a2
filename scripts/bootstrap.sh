#!/bin/sh
# Makes the project's Python environment as uv.lock says: ./.venv, or $UV_PROJECT_ENVIRONMENT.
# Quiet and quick when there is nothing to do. Needs Python 3.11 or newer, or uv, which can bring one.
set -eu
cd "$(dirname "$0")/.."

UV_VERSION=0.13.8   # installed where there is no uv, or one older than pyproject.toml's required-version
UV_MINIMUM=0.9

fail() {
    printf 'bootstrap: %s\n' "$1" >&2
    exit 1
}

# The tool cache, as tpuplane_twin.machine.paths has it.
if [ -n "${TPUPLANE_CACHE:-}" ]; then
    cache=$TPUPLANE_CACHE
elif [ "$(uname)" = Darwin ]; then
    cache=$HOME/Library/Caches/tpuplane
else
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/tpuplane
fi

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        candidate=$(command -v "$name") || continue
        # A name can be a shim that runs nothing, or an older Python.
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$candidate"
            return
        fi
    done
}

uv_works() {
    version=$("$1" --version 2>/dev/null | cut -d' ' -f2) || return 1
    [ "$(printf '%s\n%s\n' "$UV_MINIMUM" "$version" | sort -V | head -n 1)" = "$UV_MINIMUM" ]
}

install_uv() {
    [ -n "$python" ] || fail "Python 3.11 or newer is needed and not on PATH. Install it (apt install python3.11 \
python3.11-venv, brew install python@3.12, …) or install uv, which brings one: https://docs.astral.sh/uv/"
    printf 'Installing uv %s into %s\n' "$UV_VERSION" "$cache/uv" >&2
    mkdir -p "$cache"
    rm -rf "$cache/uv.new"
    # Debian's Python comes without venv and ensurepip unless asked for: then an installed pip will do.
    if "$python" -m venv "$cache/uv.new" >/dev/null 2>&1; then
        pip=$cache/uv.new/bin/python
        set --
    elif "$python" -m pip --version >/dev/null 2>&1; then
        pip=$python
        set -- --target "$cache/uv.new"
    else
        fail "$python has neither venv nor pip. Install them (apt install python3-venv) or uv: https://docs.astral.sh/uv/"
    fi
    "$pip" -m pip install --quiet --disable-pip-version-check "$@" "uv==$UV_VERSION" >&2 ||
        fail "uv $UV_VERSION cannot be installed from PyPI (pip says why above). Make PyPI reachable, or install uv"
    rm -rf "$cache/uv"
    mv "$cache/uv.new" "$cache/uv"
}

# Nothing can be downloaded without them, and neither pip nor uv names the variable.
for name in SSL_CERT_FILE REQUESTS_CA_BUNDLE; do
    file=$(printenv "$name") || continue
    [ -z "$file" ] || [ -e "$file" ] || fail "$name is $file, and this file does not exist. \
Open a new shell if this one was connected to a twin that is deleted; else correct or unset the variable"
done

python=$(find_python)
uv=$(command -v uv) || uv=
if [ -z "$uv" ] || ! uv_works "$uv"; then
    uv=$cache/uv/bin/uv
    uv_works "$uv" || install_uv
fi

# A fresh environment is made with the Python found above; without one, uv looks for one, or brings one.
if [ ! -e "${UV_PROJECT_ENVIRONMENT:-.venv}/pyvenv.cfg" ] && [ -n "$python" ]; then
    set -- --python "$python"
else
    set --
fi
"$uv" sync --frozen --all-packages --quiet "$@" ||
    fail "the project's Python packages cannot be installed (uv says why above)"
# For make: as new as what it was made from, and there only when all of it is.
touch "${UV_PROJECT_ENVIRONMENT:-.venv}/.installed"

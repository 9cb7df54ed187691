# Runs Holdfast with the interpreter that `holdfast setup` noted in its home; without one, the
# `holdfast` on the path.
home=${HOLDFAST_HOME:-$HOME/.holdfast}
if { read -r python && read -r flags; } 2>/dev/null <"$home/hooks/python" && [ -x "$python" ]; then
    exec "$python" $flags -m holdfast "$@"
fi
command -v holdfast >/dev/null 2>&1 && exec holdfast "$@"
echo "Holdfast is not installed. Install it, e.g. with pipx, then run: holdfast setup --plugin" >&2
exit 1

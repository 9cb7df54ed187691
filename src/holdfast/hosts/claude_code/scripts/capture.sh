# Holdfast, hook format 1. Writes one event into the inbox.
#
# Run by Claude Code as `sh capture.sh EVENT` with the event's payload on stdin. Whatever happens
# it exits 0 and, unless the event gets an answer, prints nothing. The payload is written to a folder
# in memory, never to a disk: it may hold secrets, which only the worker redacts.
# Only builtins are used, except for one `cat`: every other process would double the cost of a hook.
[ -z "$HOLDFAST_OFF" ] || exit 0
exec 2>/dev/null
umask 077
here=${0%/*}
home=${here%/*}
event=$1
session=$CLAUDE_CODE_SESSION_ID
case $session in '' | *[!A-Za-z0-9-]*) session=none ;; esac

read -r inbox <"$here/inbox" || exit 0
[ -d "$inbox" ] || mkdir "$inbox"
[ -O "$inbox" ] && [ ! -L "$inbox" ] || exit 0

# answer.py answers some events, and writes them to the inbox as well. If it cannot start, the
# payload was not read yet and is written here.
answer=
case $event in
SessionStart) answer=start ;;
PreToolUse) answer=file ;;
PostToolUseFailure) answer=error ;;
SubagentStart) [ ! -e "$home/briefs/subagents" ] || answer=subagent ;;
UserPromptSubmit)
    # Only the first real prompt of a session.
    [ -e "$home/marks/$session.goal" ] || answer=goal
    ;;
esac
if [ -n "$answer" ] && read -r python <"$here/python" && [ -x "$python" ]; then
    # As a module, whose bytecode Python keeps: to compile it takes 10 ms, which each hook would wait.
    run='import sys; sys.path.insert(0, sys.argv[1]); import answer; '
    run=$run'del sys.path[0], sys.argv[1]; answer.run()'
    "$python" -I -S -c "$run" "$here" "$answer" "$session"
    # 142: it wrote the event, and was then ended by its alarm.
    case $? in 0 | 142) exit 0 ;; esac
fi
[ "$event" != PreToolUse ] || exit 0

# Create a new file; with `set -C` an existing one is not overwritten.
set -C
file=$inbox/1.$event.$session.$$
n=0
until true >"$file"; do
    [ -e "$file" ] && [ $n -lt 99 ] || exit 0
    n=$((n + 1))
    file=$inbox/1.$event.$session.$$.$n
done
if [ ! -e "$here/names-only" ]; then
    # No room: keep an empty file; the text is in the transcript.
    cat >>"$file" || true >|"$file"
fi

case $event in Stop | SessionEnd | PreCompact) ;; *) exit 0 ;; esac
# The process of a pid file, with the start time that /proc has, so that a later process with the
# same number does not count.
runs() {
    { read -r number && read -r began; } <"$1" || return 1
    if [ -n "$began" ] && [ -d /proc/self ]; then
        read -r alive <"/proc/$number/stat" || return 1
        set -- ${alive##*) }
        [ "$1" != Z ] && [ "${20}" = "$began" ]
    else
        kill -0 "$number"
    fi
}
# A worker that is just being started will read the inbox as well.
runs "$here/worker.pid" && exit 0
runs "$here/nudged" && exit 0
{ read -r python && read -r flags; } <"$here/python" || exit 0
if [ ! -x "$python" ]; then
    # No worker can run: write only names from now on, until one runs again.
    true >|"$here/names-only"
    exit 0
fi
# The home is where this script is, whatever HOLDFAST_HOME says.
HOLDFAST_HOME=$home
export HOLDFAST_HOME
# Not in the user's folder, and in a session of its own, so that the worker survives the end of
# Claude Code and a closed terminal.
cd /
set -- "$python" $flags -m holdfast worker --nudged
if [ -x /usr/bin/setsid ]; then
    /usr/bin/setsid "$@" </dev/null >/dev/null 2>&1 &
else
    trap '' HUP INT
    "$@" </dev/null >/dev/null 2>&1 &
fi
# The worker removes this file when it runs.
if read -r alive <"/proc/$!/stat"; then
    set -- ${alive##*) }
    printf '%s\n' "$!" "${20}" >|"$here/nudged"
fi
exit 0

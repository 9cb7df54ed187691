# Holdfast, hook format 1. Puts one event into the inbox and gets out of the way.
#
# Run by Claude Code as `sh capture.sh EVENT` with the event's payload on stdin. Whatever happens
# it exits 0 and, unless an answer is due, prints nothing. The payload is written to a folder in
# memory, never to a disk: it may hold secrets, and only the worker can take them out.
# Builtins throughout, but for one `cat`: every other process would double what a hook costs.
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

# Where an answer is due, the script that answers captures as well. If it could not even start,
# the payload is still there to be captured here.
answer=
case $event in
SessionStart) answer=start ;;
PreToolUse) answer=file ;;
PostToolUseFailure) answer=error ;;
SubagentStart) [ ! -e "$home/briefs/subagents" ] || answer=subagent ;;
UserPromptSubmit)
    # The first prompt of a session, and of no session twice.
    [ -e "$home/marks/$session.goal" ] || answer=goal
    ;;
esac
if [ -n "$answer" ] && read -r python <"$here/python" && [ -x "$python" ]; then
    "$python" -I -S "$here/answer.py" "$answer" "$session"
    # 142: it has captured, and then took too long.
    case $? in 0 | 142) exit 0 ;; esac
fi
[ "$event" != PreToolUse ] || exit 0

# A new file, made by nobody else.
set -C
file=$inbox/1.$event.$session.$$
n=0
until true >"$file"; do
    [ -e "$file" ] && [ $n -lt 99 ] || exit 0
    n=$((n + 1))
    file=$inbox/1.$event.$session.$$.$n
done
if [ ! -e "$here/names-only" ]; then
    # No room: that it happened is kept, its words are in the transcript.
    cat >>"$file" || true >|"$file"
fi

case $event in Stop | SessionEnd | PreCompact) ;; *) exit 0 ;; esac
# A number alone may be another process by now; where the kernel tells, it must be as old as ours.
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
# One that is just being started will look at the inbox as well.
runs "$here/worker.pid" && exit 0
runs "$here/nudged" && exit 0
{ read -r python && read -r flags; } <"$here/python" || exit 0
if [ ! -x "$python" ]; then
    # Nobody will come for the words: from here on names must do, until a worker says otherwise.
    true >|"$here/names-only"
    exit 0
fi
# The home is where this script lies, whatever the settings of the one who started us.
HOLDFAST_HOME=$home
export HOLDFAST_HOME
# Away from the user's folder, and in a session of its own, so that neither the end of Claude Code
# nor a closed terminal takes the worker along.
cd /
set -- "$python" $flags -m holdfast worker --nudged
if [ -x /usr/bin/setsid ]; then
    /usr/bin/setsid "$@" </dev/null >/dev/null 2>&1 &
else
    trap '' HUP INT
    "$@" </dev/null >/dev/null 2>&1 &
fi
# It takes this away as soon as it is there.
if read -r alive <"/proc/$!/stat"; then
    set -- ${alive##*) }
    printf '%s\n' "$!" "${20}" >|"$here/nudged"
fi
exit 0

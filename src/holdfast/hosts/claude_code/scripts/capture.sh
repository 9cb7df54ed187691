# Holdfast, hook format 1. Puts one event into the inbox and gets out of the way.
#
# Run by Claude Code as `sh capture.sh EVENT` with the event's payload on stdin. Whatever happens
# it exits 0 and, unless an answer is due, prints nothing. The payload is written to a folder in
# memory, never to a disk: it may hold secrets, and only the worker can take them out.
[ -z "$HOLDFAST_OFF" ] || exit 0
umask 077
here=${0%/*}
home=${here%/*}
event=$1
session=$CLAUDE_CODE_SESSION_ID
case $session in '' | *[!A-Za-z0-9-]*) session=none ;; esac

read -r inbox 2>/dev/null <"$here/inbox" || exit 0
[ -d "$inbox" ] || mkdir "$inbox" 2>/dev/null
[ -O "$inbox" ] && [ ! -L "$inbox" ] || exit 0

# Where an answer is due, the script that answers captures as well.
answer=
case $event in
SessionStart) answer=start ;;
PreToolUse) answer=file ;;
PostToolUseFailure) answer=error ;;
UserPromptSubmit)
    # The first prompt of a session, and of no session twice.
    [ -e "$home/marks/$session.goal" ] || answer=goal
    ;;
esac
if [ -n "$answer" ] && { read -r python && read -r flags; } 2>/dev/null <"$here/python"; then
    [ -x "$python" ] && [ -f "$here/answer.py" ] && exec "$python" -I -S "$here/answer.py" "$answer" "$session"
fi
[ "$event" != PreToolUse ] || exit 0

set -C
file=$inbox/1.$event.$session.$$
n=0
while [ -e "$file" ] && [ $n -lt 99 ]; do
    n=$((n + 1))
    file=$inbox/1.$event.$session.$$.$n
done
if [ -e "$here/names-only" ]; then
    true 2>/dev/null >"$file"
elif ! cat 2>/dev/null >"$file"; then
    # No room: that it happened is kept, its words are in the transcript.
    set +C
    true 2>/dev/null >"$file"
fi

case $event in Stop | SessionEnd | PreCompact) ;; *) exit 0 ;; esac
if read -r worker 2>/dev/null <"$here/worker.pid"; then
    kill -0 "$worker" 2>/dev/null && exit 0
fi
{ read -r python && read -r flags; } 2>/dev/null <"$here/python" || exit 0
# The worker of this home, whatever home the session's environment names.
HOLDFAST_HOME=$home
export HOLDFAST_HOME
# In its own session, so that neither Claude Code's end nor a closed terminal takes it along.
set -- "$python" $flags -m holdfast worker --nudged
if [ -x /usr/bin/setsid ]; then
    /usr/bin/setsid "$@" </dev/null >/dev/null 2>&1 &
else
    "$@" </dev/null >/dev/null 2>&1 &
fi
exit 0

#!/bin/sh
# Stands in for ncu on a machine with a GPU, which a test has not: it runs the program,
# says $SAYS in its log and leaves the real report $REPORT. All else is the real one's, $NCU.
exporting=
for a in "$@"; do [ "$a" != --export ] || exporting=yes; done
[ -n "$exporting" ] || exec "$NCU" "$@"
[ -z "$SEEN" ] || echo "$*" >"$SEEN"
while [ $# -gt 0 ]; do
	case $1 in
	--export) to=$2; shift 2 ;;
	--log-file) log=$2; shift 2 ;;
	sh) break ;;
	*) shift ;;
	esac
done
"$@"
ended=$?
[ -z "$SAYS" ] || printf '%b' "$SAYS" >"$log"
[ -z "$REPORT" ] || cp "$REPORT" "$to.ncu-rep"
exit $ended

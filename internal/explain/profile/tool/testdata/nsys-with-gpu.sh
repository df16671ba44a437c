#!/bin/sh
# Stands in for nsys on a machine with a GPU, which a test has not: it runs the program and
# leaves a report. What it has traced is in the database $TRACE, which the real one, $NSYS, reads.
case $1 in
profile)
	[ "$2" != --help ] || exec "$NSYS" "$@"
	[ -z "$SEEN" ] || echo "$*" >"$SEEN"
	while [ "$1" != sh ]; do
		case $1 in --output=*) to=${1#--output=} ;; esac
		shift
	done
	"$@" || exit
	[ -n "$LEAVES_NOTHING" ] || : >"$to.nsys-rep"
	;;
stats)
	[ "$2" != --help-reports ] || exec "$NSYS" "$@"
	exec "$NSYS" stats --report "$3" --format csv --timeunit nsec --output - "$TRACE"
	;;
*) exec "$NSYS" "$@" ;;
esac

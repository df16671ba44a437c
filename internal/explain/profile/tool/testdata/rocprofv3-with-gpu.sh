#!/bin/sh
# Stands in for rocprofv3 on a machine with an AMD GPU, which a test has not: it runs the program and leaves the files
# of the folder $FILES, for counters in a folder below, as some releases do. The counters $REFUSED are not there:
# rocprofv3 then writes nothing, and ends well.
[ "$1" != --version ] || { printf '    version: 1.1.0\n    git_revision: 0\n'; exit; }
[ -z "$SEEN" ] || echo "$*" >>"$SEEN"
what=trace
while [ "$1" != -- ]; do
	case $1 in
	--pmc) what=$2 ;;
	--output-directory) to=$2 ;;
	esac
	shift
done
shift
"$@" || exit
case $what in
"$REFUSED") echo "counter $what not found" >&2 ;;
trace) mkdir -p "$to" && cp "$FILES/trace.csv" "$to/77_kernel_trace.csv" ;;
*) mkdir -p "$to/pass_1" && cp "$FILES/$what.csv" "$to/pass_1/77_counter_collection.csv" ;;
esac

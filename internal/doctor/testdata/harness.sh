#!/bin/sh
# A harness that answers and measures nothing. Its name and its timers come from the environment.
eval "exec 8<&$PAWL_IN 9>&$PAWL_OUT"
while read -r line <&8; do
	id=${line#*\"id\":}
	id=${id%%[,\}]*}
	case $line in
	*'"op":"hello"'*) echo "{\"id\":$id,\"op\":\"hello\",\"protocol\":${VERSION:-1},\"sdk\":\"sh 1\",\"timers\":[${TIMERS:-\"wall\"}]}" >&9 ;;
	*'"op":"cases"'*) echo "{\"id\":$id,\"op\":\"cases\",\"benchmarks\":[{\"name\":\"${BENCHMARK:-b}\",\"configs\":[{\"N\":1},{\"N\":2}]}]}" >&9 ;;
	*'"op":"bye"'*) echo "{\"id\":$id,\"op\":\"bye\"}" >&9; exit 0 ;;
	esac
done

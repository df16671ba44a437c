#!/bin/sh
# A harness that marks the run that counts, and runs nothing. It keeps what it was asked for in $ASKED.
eval "exec 8<&$PAWL_IN 9>&$PAWL_OUT"
while read -r line <&8; do
	[ -z "$ASKED" ] || echo "$line" >>"$ASKED"
	id=${line#*\"id\":}
	id=${id%%[,\}]*}
	case $line in
	*'"op":"hello"'*) echo "{\"id\":$id,\"op\":\"hello\",\"protocol\":1,\"sdk\":\"sh 1\",\"timers\":[\"wall\"],\"features\":[$FEATURES]}" >&9 ;;
	*'"op":"prepare"'*) echo "{\"id\":$id,\"op\":\"prepare\",\"timer\":\"wall\",\"quantum_ns\":1}" >&9 ;;
	*'"op":"profile"'*) echo "{\"id\":$id,\"op\":\"profile\",\"iterations\":1,\"launches\":[]}" >&9 ;;
	*'"op":"bye"'*) echo "{\"id\":$id,\"op\":\"bye\"}" >&9; exit "${ENDS:-0}" ;;
	esac
done

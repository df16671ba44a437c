// Package cli implements the pawl command. A folder holds each group of commands: start, bench, decide,
// explain, improve, share, ci and more. Beside them, command has what the commands of every program share, env
// what the commands of pawl share, progress shows how a run goes, and remote is the server that commands send to.
// This package puts them together and keeps the journal: sessions, lessons and the agents' interface.
//
// Commands parse flags, call other packages and print. Domain rules belong in the packages below.
package cli

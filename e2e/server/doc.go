// Package server kills pawld, its PostgreSQL and pawl push wherever that could hurt, and
// looks whether anything that was acknowledged is gone or there twice. Servers, databases
// and senders are real processes; what is sent and acknowledged is noted beside them. It
// has no code of its own beside its tests.
package server

// Package explain groups what says why a kernel is as fast as it is: profiles, diagnosis, machine code. It works on what
// was recorded and must not measure or judge.
package explain

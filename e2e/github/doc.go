// Package github runs the workflows that pawl init --github writes, as GitHub would: with
// act on this machine, real repositories, real builds and measurements, against a GitHub
// for tests. It has no code of its own beside its tests.
package github

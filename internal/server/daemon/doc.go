// Package daemon implements the command pawld: one file per command, the settings, and the wiring of
// store, blobs, queue and server. It knows processes, signals, listeners, metrics and traces. It must
// not know what a report means, nor how anything is stored or shown.
package daemon

// Package compare gives pawl and other benchmark tools the same two builds of a kernel and the same time, and counts
// their false alarms and the slowdowns they find. It has no code of its own beside its tests.
package compare

// Package seal shows whether a journal is as pawl wrote it, so that a killed run can be resumed from it.
//
// A run that is resumed believes a file in the results folder. That folder is part of the working tree, so the
// harness of the change can write to it. Nothing there can prove what pawl wrote: a key that pawl can read
// without a password, the harness can read too, since it runs as the same user. So the proof is a list of
// digests in pawl's cache, which is read-only for the sides of a run. Each line of the journal is listed
// before it is written. A line that is not in the list is not pawl's; only the last listed line may be
// missing or incomplete, because pawl may have been killed before it was written.
package seal

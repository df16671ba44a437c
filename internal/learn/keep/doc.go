// Package keep remembers what was made of the files of a folder, so that ten thousand of
// them are not read again because one is new.
//
// What it keeps it packs into one file, which is only to be faster: a file that is missing,
// broken or of another pawl costs a slow start and nothing else. Whoever can write that
// file can write those of the folder too.
package keep

package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// Every manylinux_2_17 machine has these, and versions of glibc up to this one.
var allowedLibraries = []string{"libc.so.6", "libdl.so.2", "libpthread.so.0"}

const newestGlibc = 17 // of 2.17

// checkLibraries returns an error if a binary needs more of a machine than its wheel's tag
// promises.
func checkLibraries(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("read the libraries of %s: %w", path, err)
	}
	for _, l := range libraries {
		if !slices.Contains(allowedLibraries, l) {
			return fmt.Errorf("the binary needs %s, which machines of manylinux_2_17 may lack", l)
		}
	}
	symbols, err := f.ImportedSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) { // a static binary has none
		return fmt.Errorf("read the symbols of %s: %w", path, err)
	}
	for _, s := range symbols {
		var major, minor int
		if s.Version == "" {
			continue // any version has it
		}
		if _, err := fmt.Sscanf(s.Version, "GLIBC_%d.%d", &major, &minor); err != nil || major != 2 || minor > newestGlibc {
			return fmt.Errorf("the binary needs %s of %s, which is newer than glibc 2.%d", s.Name, s.Version, newestGlibc)
		}
	}
	return nil
}

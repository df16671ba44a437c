package sides

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

// recipeFiles are a program that can be built in several ways, each giving other bytes.
const recipeFiles = `
-- .gitignore --
results/
kernel
other
linked
*.so
out/
-- Makefile --
CC = gcc
CFLAGS = -O1
kernel: kernel.c
	$(CC) $(CFLAGS) -g0 -o $@ $^
other: kernel.c
	$(CC) $(CFLAGS) -g0 -DMS=400 -o $@ $^
libextra.so: extra.c
	$(CC) $(CFLAGS) -g0 -shared -fPIC -o $@ $^
linked: kernel.c libextra.so
	$(CC) $(CFLAGS) -g0 -DMS='extra()' -o $@ kernel.c -L. -lextra
-- CMakeLists.txt --
cmake_minimum_required(VERSION 3.18)
project(kernel C)
add_executable(kernel kernel.c)
target_compile_options(kernel PRIVATE -O2 -g0)
-- extra.c --
int extra(void) { return 100; }
-- kernel.c --
#include <stdio.h>
#ifndef MS
#define MS 100
#endif
int extra(void);
int main(void) {
  printf("{\"results\":[{\"command\":\"kernel\",\"times\":[");
  for (int i = 0; i < 5; i++) printf("%s%.6f", i ? "," : "", MS / 1000.0 * (1 + 0.0001 * i));
  puts("]}]}");
}
-- pawl.yaml --
`

// howTo is a recipe: the build of a suite and the start of its harness.
type howTo struct {
	command string
	env     map[string]string
	outputs []string
	start   string
}

// suite writes the recipe as a suite.
func (h howTo) suite(t *testing.T) string {
	t.Helper()
	return "version: 1\nbuild: " + asJSON(t, map[string]any{"command": h.command, "env": h.env, "outputs": h.outputs}) +
		"\nharness: " + asJSON(t, map[string]any{"command": h.start, "format": "hyperfine"}) + "\n"
}

var usual = howTo{command: "make kernel", outputs: []string{"kernel"}, start: "./kernel"}

// Each side is built as its own commit says: the outputs have the digests of a clean build by hand.
// At night the other way round too, and from the cache.
func TestRecipes(t *testing.T) {
	beside(t)
	for _, test := range []struct {
		name   string
		change howTo
		needs  string
	}{
		{"compiler", howTo{"make kernel CC=clang-15", nil, usual.outputs, usual.start}, "clang-15"},
		{"flags", howTo{"make kernel CFLAGS=-O0", nil, usual.outputs, usual.start}, "gcc"},
		{"environment", howTo{"make -e kernel", map[string]string{"CFLAGS": "-O0"}, usual.outputs, usual.start}, "gcc"},
		{"target", howTo{"make other", nil, []string{"other"}, "./other"}, "gcc"},
		{"build system", howTo{"cmake -S . -B out && cmake --build out", nil, []string{"out/kernel"}, "out/kernel"}, "cmake"},
		{"list of outputs", howTo{"make kernel other", nil, []string{"kernel", "other"}, "./kernel"}, "gcc"},
		{"second library", howTo{"make linked", nil, []string{"linked", "libextra.so"}, "./linked"}, "gcc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			needs(t, test.needs)
			r := newRepository(t, recipeFiles+usual.suite(t))
			r.write(t, "-- pawl.yaml --\n"+test.change.suite(t))
			r.commit(t)
			r.compare(t, usual, test.change)
			if testrun.Nightly() {
				r.compare(t, usual, test.change) // from the cache
				r.git(t, "revert", "--no-edit", "HEAD")
				r.compare(t, test.change, usual)
			}
		})
	}
}

// compare measures HEAD beside its parent, and compares what was built with builds by hand.
func (r *repository) compare(t *testing.T, was, is howTo) {
	t.Helper()
	base, change := r.byHand(t, "HEAD~1", was), r.byHand(t, "HEAD", is)
	if maps.Equal(base, change) {
		t.Fatalf("both recipes build the same: %v", base)
	}
	r.pawl(t, ".", []int{0}, "bench", "--base", "HEAD~1", "--rounds", "1")
	record, err := measure.Load(filepath.Join(r.dir, "results/current.json"))
	must(t, err)
	for _, side := range record.Implementations {
		want := change
		if side.Name == "base" {
			want = base
		}
		got := digests(side.Build.Outputs)
		if !maps.Equal(got, want) {
			t.Errorf("%s was built as %v, by hand as %v", side.Name, got, want)
		}
	}
}

// byHand builds a commit in a clone of its own.
func (r *repository) byHand(t *testing.T, ref string, how howTo) map[string]string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	shell(t, r.dir, "git clone -q . "+clone+" && git -C "+clone+" checkout -q "+r.git(t, "rev-parse", ref))
	var env []string
	for k, v := range how.env {
		env = append(env, k+"="+v)
	}
	shell(t, clone, how.command, env...)
	list, err := build.Digests(clone, how.outputs)
	must(t, err)
	return digests(list)
}

func digests(list []measure.FileDigest) map[string]string {
	out := map[string]string{}
	for _, f := range list {
		out[f.Path] = f.Digest
	}
	return out
}

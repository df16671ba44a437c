package build_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

func TestNamed(t *testing.T) {
	tests := []struct {
		name, file, recipe, command string
		want                        []string
	}{
		{"command", "", "", "nvcc -O3 k.cu -o k", []string{"nvcc"}},
		{"part of a word", "", "", "./gcc-wrapper.sh mynvcc", []string{"gcc"}},
		{"make's variables", "Makefile", "k: k.c\n\t$(CC) -o k k.c\n", "make", []string{"cc"}},
		{"named by make", "Makefile", "NVCC ?= nvcc\n", "make", []string{"nvcc"}},
		{"a CMake project with CUDA", "CMakeLists.txt", "project(k LANGUAGES CXX\n  CUDA)", "cmake -B b", []string{"nvcc", "cmake"}},
		{"CUDA enabled later", "CMakeLists.txt", "enable_language(CUDA)", "cmake -B b -G Ninja && ninja -C b", []string{"nvcc", "cmake", "ninja"}},
		{"CUDA as a word", "CMakeLists.txt", "project(k LANGUAGES C)\n# no CUDA here", "cmake -B b", []string{"cmake"}},
		{"another file", "notes.txt", "nvcc", "make", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.file != "" {
				if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.recipe), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, build.Named(dir, tt.command)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

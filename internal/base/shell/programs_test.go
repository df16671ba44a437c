package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPrograms(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"", nil},
		{"make harness BLOCK=4", []string{"make"}},
		{"  CC=clang make -j8 # with clang", []string{"make"}},
		{"cmake -B build -G Ninja && ninja -C build harness", []string{"cmake", "ninja"}},
		{"mkdir -p b; cc -o b/gen gen.c && ./b/gen > out.c", []string{"mkdir", "cc"}},
		{"./build.sh && ./again.sh", []string{"./build.sh"}},
		{"/opt/bin/tool x", []string{"/opt/bin/tool"}},
		{"nvcc k.cu 2>&1 | tee log >/dev/null", []string{"nvcc", "tee"}},
		{"2>log prog", []string{"prog"}},
		{"<in prog && prog", []string{"prog"}},
		{"exec env A=1 python3 harness.py", []string{"python3"}},
		{"env -i prog", nil},
		{"time ! prog", []string{"prog"}},
		{"cd build && make", []string{"make"}},
		{"true", nil},
		{"(cd a && make)", []string{"make"}},
		{"'my tool' \"x y\"", []string{"my tool"}},
		{"python3 \\\n  harness.py", []string{"python3"}},
		{"# nothing\nprog", []string{"prog"}},
		{"echo 'a # b; c'", nil},

		// Only the shell knows.
		{"$CC -o k k.c", nil},
		{"${TOOL}/run && make", []string{"make"}},
		{"`which cc` k.c", nil},
		{"nvcc k.cu || gcc k.c", nil},
		{"if have nvcc; then nvcc k.cu; fi", nil},
		{"for i in 1 2; do run $i; done", nil},
		{"case $x in a) make;; b) ninja;; esac", nil},
		{"f() { nvcc; }; f", nil},
		{"cat <<EOF\nnvcc\nEOF", nil},
		{`my\ tool x`, nil},
		{`"unclosed`, nil},
		{"it's", nil},

		// What follows is found elsewhere.
		{"make && . ./env.sh && nvcc k.cu", []string{"make"}},
		{"source env && nvcc k.cu", nil},
		{"export PATH=/opt/cuda/bin:$PATH; nvcc k.cu", nil},
		{"PATH=/opt/cuda/bin nvcc k.cu && make", nil},
		{"module load cuda && nvcc k.cu", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Programs(tt.line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.line, diff)
		}
	}
}

// Commands made of plain words are read to the letter, whatever stands between them.
func TestProgramsOfPlainWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z][a-z0-9_.+-]{4,9}9`) // no word of the shell ends so
		var line strings.Builder
		var want []string
		for i := range rapid.IntRange(1, 4).Draw(t, "commands") {
			if i > 0 {
				line.WriteString(rapid.SampledFrom([]string{" && ", ";", " | ", "\n", " & "}).Draw(t, "separator"))
			}
			for range rapid.IntRange(0, 2).Draw(t, "settings") {
				line.WriteString("V=" + word.Draw(t, "value") + " ")
			}
			name := word.Draw(t, "program")
			if !slices.Contains(want, name) {
				want = append(want, name)
			}
			line.WriteString(name)
			for range rapid.IntRange(0, 3).Draw(t, "arguments") {
				line.WriteString(rapid.SampledFrom([]string{" ", "\t", " -o ", " 2>"}).Draw(t, "space") + word.Draw(t, "argument"))
			}
		}
		if got := Programs(line.String()); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", line.String(), got, want)
		}
	})
}

func FuzzPrograms(f *testing.F) {
	for _, line := range []string{"make && ./h", "a 'b c' \"d\" \\\n e", "x 2>&1 | y >> z", "(a; b) # c", "f() { x; }", "a=b c <d"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, name := range Programs(line) {
			if name == "" || strings.ContainsAny(name, shellSpecial) {
				t.Errorf("%q needs %q", line, name)
			}
		}
	})
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a/tool": 0o644, "b/tool": 0o755, "a/folder/x": 0o755, "run": 0o755, "plain": 0o644} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	s := Search{Dir: dir, Path: filepath.Join(dir, "none") + ":" + filepath.Join(dir, "a") + ":b"}
	tests := []struct {
		name, want string
		runs       bool
	}{
		{"tool", filepath.Join(dir, "b/tool"), true}, // one that may not be run is passed over
		{"folder", "", false},
		{"absent", "", false},
		{"./run", filepath.Join(dir, "run"), true},
		{filepath.Join(dir, "run"), filepath.Join(dir, "run"), true},
		{"./plain", filepath.Join(dir, "plain"), false},
		{"./absent", "", false},
	}
	for _, tt := range tests {
		if at, runs := s.Find(tt.name); at != tt.want || runs != tt.runs {
			t.Errorf("Find(%q) = %q, %v; want %q, %v", tt.name, at, runs, tt.want, tt.runs)
		}
	}
}

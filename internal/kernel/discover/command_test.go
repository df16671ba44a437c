package discover

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

func TestCommandScripts(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"bench.py": "print()", "sub/data.json": "{}", "program": "\x7fELF\x00", "out.json": "{}", "new.py": "print()", "od[d].py": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tracked := func(file string) bool { return file == "bench.py" || file == "sub/data.json" }
	for name, tt := range map[string]struct {
		args  []string
		built bool
		want  []string
	}{
		"a script and its input":          {args: []string{"python3", "bench.py", "--data", "sub/data.json", "out.json"}, want: []string{"bench.py", "sub/data.json"}},
		"a test in a script":              {args: []string{"pytest", "bench.py::TestSum::test_it[4]"}, want: []string{"bench.py"}},
		"the same script":                 {args: []string{"./bench.py"}, want: []string{"bench.py"}},
		"a program was built":             {args: []string{"./program", "out.json"}},
		"a script that is not tracked":    {args: []string{"python3", "new.py", "out.json"}, want: []string{"new.py"}},
		"a script that the build makes":   {args: []string{"./new.py"}, built: true},
		"a module":                        {args: []string{"python3", "-m", "pkg.bench"}},
		"a file outside":                  {args: []string{"sh", "/etc/passwd", "../x"}},
		"a folder":                        {args: []string{"go", "test", "-bench", ".", "sub"}},
		"a name that is no literal glob":  {args: []string{"python3", "od[d].py"}},
		"the same file twice counts once": {args: []string{"python3", "bench.py", "bench.py"}, want: []string{"bench.py"}},
	} {
		if diff := cmp.Diff(tt.want, CommandScripts(dir, tt.args, tt.built, tracked)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A suite says what was typed, whatever the shell or the suite could take it for.
func TestComposeCommand_KeepsWords(t *testing.T) {
	data, err := ComposeCommand(Command{
		Args: []string{"./my bench", "it's", "${HOME}", "$X", "a;b", ""}, Build: "make CC=${CC}", Format: "lines", Pattern: `a: (?<ms>\d+) # "x"`, Output: "o.json",
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := suite.Parse(SuiteFile, data)
	if err != nil {
		t.Fatal(err)
	}
	v := s.VariantsOf(suite.Candidate)[0]
	if want := `'./my bench' 'it'\''s' '${HOME}' '$X' 'a;b' ''`; v.Harness.Command != want {
		t.Errorf("command %s, want %s", v.Harness.Command, want)
	}
	if v.Build.Command != "make CC=${CC}" || v.Harness.Pattern != `a: (?<ms>\d+) # "x"` || v.Harness.Output != "o.json" || s.Name != "my bench" {
		t.Errorf("build %q, harness %+v, name %q", v.Build.Command, v.Harness, s.Name)
	}
}

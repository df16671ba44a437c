package discover

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// repository is the part of an archive that stands for one.
func repository(a *txtar.Archive) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			fsys[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return fsys
}

// Each archive in testdata is a small repository with what pawl has to say about it:
// the explanation, and the suite or the reason why there is none.
func TestRepositories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d repositories, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			survey, err := Scan(repository(archive))
			if err != nil {
				t.Fatal(err)
			}
			got := []txtar.File{{Name: "explanation", Data: []byte(survey.Explain())}}
			got = append(got, suiteOrReason(t, survey, name))
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return !strings.HasPrefix(f.Name, "repo/") })
			if i < 0 {
				i = len(archive.Files)
			}
			archive.Files = append(archive.Files[:i], got...)
			golden.File(t, path, string(txtar.Format(archive)))
		})
	}
}

func suiteOrReason(t *testing.T, survey Survey, name string) txtar.File {
	t.Helper()
	chosen, err := survey.Choose("", nil)
	if err != nil {
		return txtar.File{Name: "no suite", Data: []byte(err.Error() + "\n")}
	}
	data, err := Compose(name, chosen, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Parse("pawl.yaml", data); err != nil {
		t.Errorf("the suite is not valid: %v", err)
	}
	return txtar.File{Name: "pawl.yaml", Data: data}
}

package artifact

import (
	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/measure"
)

// File is one file of an artifact.
type File struct {
	Path string // relative to the artifact, with slashes
	Body []byte
}

// Files renders everything but the record and the manifest. The same record and the same
// pawl version give the same bytes. Record is the name of the record's file, pawl the
// version that does the analysis.
func Files(run *measure.Run, r *sweep.Result, record, pawl string) ([]File, error) {
	env, err := writeEnvironment(run)
	if err != nil {
		return nil, err
	}
	analysis, err := indented("sweep.json", r)
	if err != nil {
		return nil, err
	}
	drawn := figures(r)
	list := []File{
		{"README.md", writeReadme(run, r, drawn)},
		{"commands.txt", writeCommands(run, record, pawl)},
		{"environment.json", env},
		{"sweep.json", analysis},
	}
	for _, t := range tables(r) {
		list = append(list, File{"tables/" + t.name + ".csv", writeCSV(t)}, File{"tables/" + t.name + ".tex", writeLaTeX(t)})
	}
	for _, f := range drawn {
		list = append(list, File{f.path, f.body})
	}
	return list, nil
}

// Manifest is the name of the list of digests, in the format of sha256sum -c.
const Manifest = "MANIFEST"

package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// chartFolder is the chart of the server in the repository.
const chartFolder = "deploy/helm/"

// chart writes the chart as helm package does, with the version of the release.
func (r *release) chart(ctx context.Context) error {
	committed, err := repositoryFiles(ctx, chartFolder)
	if err != nil {
		return err
	}
	packed, err := packChart(r.version, committed)
	if err != nil {
		return err
	}
	return r.add("pawld-"+r.version+".tgz", packed)
}

// packChart returns the archive of a chart. The values in ci are for tests.
func packChart(version string, committed []file) ([]byte, error) {
	var list []file
	for _, f := range committed {
		name := strings.TrimPrefix(f.name, chartFolder)
		if strings.HasPrefix(name, "ci/") {
			continue
		}
		if name == "Chart.yaml" {
			before, after, ok := bytes.Cut(f.data, []byte("\nversion: 0.1.0\n"))
			if !ok {
				return nil, fmt.Errorf("%s has no line \"version: 0.1.0\", in place of which the version of the release stands", f.name)
			}
			f.data = fmt.Appendf(nil, "%s\nversion: %s\nappVersion: %q\n%s", before, version, version, after)
		}
		f.name = "pawld/" + name
		list = append(list, f)
	}
	return tarGz(list)
}

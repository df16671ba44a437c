package tool

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Import reads an ncu report (.ncu-rep) with ncu itself. It needs no GPU, but a
// release that is not older than the report.
func Import(ctx context.Context, o NcuOptions, report string) (*profile.Profile, error) {
	p, err := o.open(ctx)
	if err == nil {
		var found *profile.Profile
		if found, err = p.importReport(ctx, report); err == nil {
			return found, nil
		}
	}
	return nil, o.trouble("reading "+report, err)
}

// importReport merges two pages: the raw one has every number, the other has ncu's own findings. It
// asks for base units, because units of the raw page otherwise differ between launches.
func (p program) importReport(ctx context.Context, report string) (*profile.Profile, error) {
	raw, err := p.page(ctx, report, "--csv", "--print-units", "base", "--page", "raw")
	if err != nil {
		return nil, err
	}
	details, err := p.page(ctx, report, "--csv", "--print-units", "base", "--page", "details")
	if err != nil {
		return nil, err
	}
	numbers, err := profile.ReadRaw(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if len(numbers.Launches) == 0 {
		return nil, fmt.Errorf("the report has no launch")
	}
	rules, err := profile.ReadDetails(bytes.NewReader(details))
	if err != nil {
		return nil, err
	}
	found, err := profile.Merge(numbers, rules)
	if err != nil {
		return nil, err
	}
	found.Tool.Version = p.writer(ctx, report)
	return found, nil
}

// page returns one page of a report as printed by ncu.
func (p program) page(ctx context.Context, report string, how ...string) ([]byte, error) {
	var args []string
	if p.supports("--config-file") {
		args = append(args, "--config-file", "off")
	}
	if !filepath.IsAbs(report) {
		report = "." + string(filepath.Separator) + report // the name may start with a dash
	}
	return p.output(ctx, maxOutput, append(append(args, "--import", report), how...)...)
}

var writtenBy = lazyregexp.New(`(?m)^"Nsight Compute Target","(20\d\d(?:\.\d+)+)`)

// writer returns the release that made a report, which determines what was counted. A release
// without the session page cannot read newer reports, so its own version is the best guess.
func (p program) writer(ctx context.Context, report string) string {
	if p.supports("session:") {
		if said, err := p.page(ctx, report, "--csv", "--page", "session"); err == nil {
			if m := writtenBy.FindSubmatch(said); m != nil {
				return string(m[1])
			}
		}
	}
	return p.version
}

// text writes the display page beside a report.
func (p program) text(ctx context.Context, report, to string) error {
	said, err := p.page(ctx, report, "--page", "details")
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, said, 0o644); err != nil {
		return fmt.Errorf("cannot write the ncu page: %w", err)
	}
	return nil
}

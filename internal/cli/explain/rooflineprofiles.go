package explain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// maxProfiles is the maximum number of profiles that are used from a folder.
const maxProfiles = 500

// keptProfiles holds the profiles of a folder, by case.
type keptProfiles struct {
	files int
	Whys  []report.Why // in the order of the file names
	notes []string     // what was left out, and why
}

func (k *keptProfiles) has(name string) bool {
	return slices.ContainsFunc(k.Whys, func(w report.Why) bool { return w.Case == name })
}

// note records an error. A few are enough to show what is wrong.
func (k *keptProfiles) note(err error) {
	if len(k.notes) < 3 {
		k.notes = append(k.notes, words.Sanitize(err.Error()))
	}
}

// ReadProfiles reads the profile records in a folder. Profiles of another commit or device than the
// run's are outdated and left out. So is an unreadable file, so that it does not hide the others.
func ReadProfiles(folder string, run *measure.Run, wanted func(name, benchmark string) bool) (keptProfiles, error) {
	var kept keptProfiles
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, fmt.Errorf("cannot read profiles: %w", err)
	}
	old := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || kept.files == maxProfiles {
			continue
		}
		p, err := readProfile(filepath.Join(folder, e.Name()))
		if err != nil {
			kept.note(err)
			continue
		}
		benchmark, _, _ := strings.Cut(p.Subject.Case, "/")
		if p.Subject.Case == "" || !wanted(p.Subject.Case, benchmark) {
			continue
		}
		if run != nil && !matchesRun(p.Subject, run) {
			old++
			continue
		}
		if kept.add(p) {
			kept.files++
		}
	}
	if old > 0 {
		kept.notes = append(kept.notes, fmt.Sprintf("%s of another commit or device skipped", words.Plural(old, "profile")))
	}
	return kept, nil
}

func readProfile(path string) (*profile.Profile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read profile: %w", err)
	}
	defer file.Close()
	p, err := profile.ReadJSON(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// matchesRun reports whether a profile belongs to what the run measured, as far as both say.
func matchesRun(s profile.Subject, run *measure.Run) bool {
	if s.Device.Name != "" && run.Device.Name != "" && s.Device.Name != run.Device.Name {
		return false
	}
	for _, im := range run.Implementations {
		if im.Name == s.Side && im.Commit != "" && s.Commit != "" && im.Commit != s.Commit {
			return false
		}
	}
	return true
}

// add assigns a profile to its case and side. It ignores references, which have no place in the picture
// of a change.
func (k *keptProfiles) add(p *profile.Profile) bool {
	seen, err := diagnose.NewSubject(p, nil)
	if err != nil {
		k.note(err)
		return false
	}
	at := slices.IndexFunc(k.Whys, func(w report.Why) bool { return w.Case == p.Subject.Case })
	if at < 0 {
		at, k.Whys = len(k.Whys), append(k.Whys, report.Why{Case: p.Subject.Case})
	}
	switch p.Subject.Side {
	case measure.Base:
		k.Whys[at].Before = &seen
	case measure.Candidate, "":
		k.Whys[at].After = &seen
	default:
		return false
	}
	return true
}

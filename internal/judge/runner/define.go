package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// define finds where the suite, harness or oracle of the change differs from the base's. Both sides
// are then measured with the change's definition, and the report says so: a change could otherwise
// redefine its own test unnoticed. If the base has no suite yet, the change's definition is the
// only one, and its files are copied over the base.
func (r *Setup) define(base *side) (err error) {
	if r.Path == "" {
		return r.defineCommand(base)
	}
	if base.overlay, err = r.changedDefinitionFiles(*base); err != nil {
		return err
	}
	if r.baseHasNoSuite = errors.Is(base.ownErr, fs.ErrNotExist); r.baseHasNoSuite {
		base.overlay = r.withStart(*base, base.overlay)
		return nil
	}
	var d measure.Definition
	if was := base.own; was == nil {
		d.Changed = []string{filepath.Base(r.Path) + " (the base's cannot be read)"}
	} else {
		redefined := r.Suite.RedefinitionOf(was)
		d.Changed, d.Cases, r.missing = redefined.Changed, redefined.Cases, redefined.Missing
		r.baseSuite = was
		r.rebuilt = r.Suite.RecipeChanges(was)
	}
	if len(base.overlay) > 0 {
		d.Changed, d.Cases = append(d.Changed, base.overlay...), nil
	}
	if len(d.Changed) > 0 {
		r.definition = &d
	}
	return nil
}

// defineCommand does the same for a suite without a file: its definition is the script of a command. A script that the base
// lacks is no change of the question, because the base has no other.
func (r *Setup) defineCommand(base *side) (err error) {
	if base.overlay, err = r.changedDefinitionFiles(*base); err != nil {
		return err
	}
	var changed []string
	for _, file := range base.overlay {
		if _, err := os.Lstat(filepath.Join(base.dir, file)); errors.Is(err, fs.ErrNotExist) {
			r.added = append(r.added, file)
		} else {
			changed = append(changed, file)
		}
	}
	if len(changed) > 0 {
		r.definition = &measure.Definition{Changed: changed}
	}
	return nil
}

// changedDefinitionFiles returns the definition files that differ between the change and the tree of a side.
func (r *Setup) changedDefinitionFiles(s side) ([]string, error) {
	globs := r.Suite.Definition
	if s.own != nil {
		globs = slices.Concat(globs, s.own.Definition)
	}
	return otherFiles(s.dir, r.Dir, globs)
}

// withStart adds the files that the harness command names and that the base lacks.
func (r *Setup) withStart(base side, files []string) []string {
	h := r.variants(side{from: suite.Candidate})[0].Harness
	for word := range strings.FieldsSeq(h.Command) {
		word = filepath.Clean(word)
		_, err := os.Stat(filepath.Join(base.dir, word))
		info, ownErr := os.Stat(filepath.Join(r.Dir, word))
		if filepath.IsLocal(word) && errors.Is(err, fs.ErrNotExist) && ownErr == nil && info.Mode().IsRegular() && !slices.Contains(files, word) {
			files = append(files, word)
		}
	}
	return files
}

// otherFiles returns the files that match the globs in either folder and differ.
func otherFiles(was, is string, globs []string) ([]string, error) {
	digests := map[string][2]string{}
	for i, dir := range []string{was, is} {
		list, err := build.Digests(dir, globs)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			d := digests[f.Path]
			d[i] = f.Digest
			digests[f.Path] = d
		}
	}
	var files []string
	for path, d := range digests {
		if d[0] != d[1] {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files, nil
}

// define copies the change's definition files to a side.
func (s side) define(from string) error {
	for _, path := range s.overlay {
		if err := copyFile(from, s.dir, path); err != nil {
			return fmt.Errorf("cannot give %s the change's %s: %w", s.name, path, err)
		}
	}
	return nil
}

// copyFile copies a file from one folder to another, or removes it there if the source has none.
// Symbolic links cannot lead out of either folder.
func copyFile(from, to, path string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	info, err := source.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return target.Remove(path)
	}
	if err != nil {
		return err
	}
	text, err := source.ReadFile(path)
	if err != nil {
		return err
	}
	if err := target.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := target.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return target.WriteFile(path, text, info.Mode().Perm())
}

// noticeDefinition reports, before the first round, which definition the run is measured with.
func (r *Setup) noticeDefinition() {
	for _, glob := range r.Suite.Definition {
		if list, err := build.Digests(r.Dir, []string{glob}); err == nil && len(list) == 0 {
			r.Notice(device.Notice{Code: "definition_unmatched", Message: fmt.Sprintf("definition: %q matches no file here: a change to the intended files would go unnoticed", glob)})
		}
	}
	r.noticeBuild()
	base, _ := r.sideNamed(suite.Base)
	if r.baseHasNoSuite {
		text := "the base has no suite yet: it is built and measured as the change's suite defines"
		if len(base.overlay) > 0 {
			text += ", with the change's " + strings.Join(base.overlay, ", ")
		}
		r.Notice(device.Notice{Code: "definition", Message: text})
	}
	if len(r.added) > 0 {
		r.Notice(device.Notice{Code: "definition", Message: fmt.Sprintf("the base has no %s: it is measured with the change's", strings.Join(r.added, ", "))})
	}
	if r.definition == nil {
		return
	}
	text := "definition changed: " + strings.Join(r.definition.Changed, ", ")
	switch {
	case slices.Equal(r.definition.Changed, []string{"harness"}):
		text += "; each side is started as its own commit defines"
	case len(base.overlay) == 0 && slices.Contains(r.definition.Changed, "harness"):
		text += "; each side is started as its own commit defines, and the rest comes from the change on both sides"
	default:
		text += "; both sides are measured with the change's definition"
	}
	r.Notice(device.Notice{Code: "definition", Message: text})
}

// noticeBuild reports how the recipe of the change differs from its base's, and whether it also
// builds the harness: then the change affects the program that measures it.
func (r *Setup) noticeBuild() {
	if len(r.rebuilt) == 0 {
		return
	}
	text := "build changed: " + strings.Join(r.rebuilt, "; ") + "; each side is built by its own recipe"
	s := r.sides[0]
	program, _, _ := strings.Cut(r.variants(s)[0].Harness.Command, " ")
	if slices.ContainsFunc(s.impl.Build.Outputs, func(o measure.FileDigest) bool { return o.Path == strings.TrimPrefix(program, "./") }) {
		text += ", including its harness"
	}
	r.Notice(device.Notice{Code: "build", Message: text})
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// lessonAdd holds the flags of pawl lesson add.
type lessonAdd struct {
	lesson.Lesson
	edit bool
}

func newLessonAdd(f *lessonFlags, sub subcommand) {
	c := sub("add [FILE]", "Write a lesson", `Writes a lesson to .pawl/lessons, for git: from flags, from a file in the format of
docs/reference/lessons.md, or from your editor with --edit. A new lesson is always
proposed. A person confirms it with pawl lesson review, or its outcomes do.`,
		`  pawl lesson add --edit
  pawl lesson add --title 'Rows of 64 halves conflict' --class memory --symptom 'bank_conflict_pct > 20' \
    --cause 'a row is 128 bytes' --fix 'pad each row by 16 bytes' --source 'run 01JD0'
  pawl lesson add lesson.md`, cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error { return f.addLesson(ctx, args) })
	fl, a := c.Flags(), &f.add
	fl.StringVar(&a.Title, "title", "", "what it says, in one `sentence`")
	fl.StringVar(&a.Symptom, "symptom", "", "`condition` on facts; docs/reference/lessons.md lists them")
	fl.StringVar(&a.Class, "class", "", "what it is about: `memory`, compute, latency, launch, occupancy, build, correctness, ...")
	fl.StringVar(&a.Cause, "cause", "", "why the symptom occurs")
	fl.StringVar(&a.Fix, "fix", "", "what to do")
	fl.StringVar(&a.FixID, "fix-id", "", "the fix of a rule, if it is one: bank-conflicts/1")
	fl.StringArrayVar(&a.GPUs, "gpu", nil, "only on this `architecture`: sm_89, sm_9*, cpu; can be repeated")
	fl.StringArrayVar(&a.Kernels, "kernel", nil, "only for this `family`: attention, matmul, ...; can be repeated")
	fl.StringArrayVar(&a.Source, "source", nil, "a run, a session or a document that shows it; can be repeated")
	fl.Float64Var(&a.Claim, "claim", 0, "`share` of the time that it saves: 0.2 is a fifth")
	fl.BoolVar(&a.edit, "edit", false, "write it in your editor ($VISUAL, $EDITOR)")
}

func (f *lessonFlags) addLesson(ctx context.Context, args []string) error {
	_, root, err := f.openJournal()
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return err
	}
	l, err := f.newLesson(ctx, args)
	if err != nil {
		return err
	}
	if l.Author == "" {
		l.Author = words.Sanitize(page.Actor(f.actor(ctx, root)))
	}
	if l.Written.IsZero() {
		l.Written = f.now().UTC().Truncate(time.Second)
	}
	path, err := lesson.Folder{Root: root}.Add(l)
	if err != nil {
		return command.Usage(err)
	}
	if f.json {
		return command.WriteJSON(f.Out, map[string]string{"name": l.Name, "path": path})
	}
	_, err = fmt.Fprintf(f.Out, "%s\n  proposed as %s; commit it, and run `pawl session note --lesson %s` when you follow it\n", path, l.Name, l.Name)
	return err
}

// newLesson returns the lesson from a file, from flags, or from the editor.
func (f *lessonFlags) newLesson(ctx context.Context, args []string) (*lesson.Lesson, error) {
	a := &f.add
	switch {
	case len(args) == 1 && a.Title != "":
		return nil, command.Usage(errors.New("add a lesson from a file or from flags, not from both"))
	case len(args) == 1 && a.edit:
		return nil, command.Usage(errors.New("--edit starts from an empty lesson and takes no file: edit the file, then add it"))
	case len(args) == 1:
		return lessonFile(args[0])
	case a.edit:
		return f.editLesson(ctx)
	}
	var missing []string
	for _, n := range [][2]string{{"title", a.Title}, {"symptom", a.Symptom}, {"class", a.Class}, {"cause", a.Cause}, {"fix", a.Fix}, {"source", strings.Join(a.Source, "")}} {
		if strings.TrimSpace(n[1]) == "" {
			missing = append(missing, "--"+n[0])
		}
	}
	if len(missing) > 0 {
		return nil, command.Usage(fmt.Errorf("a lesson also needs %s\n  or use --edit to open your editor with a template", strings.Join(missing, ", ")))
	}
	return &a.Lesson, nil
}

func lessonFile(path string) (*lesson.Lesson, error) {
	text, err := disk.ReadRegular(path, lesson.MaxFile)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("cannot read the lesson: %w", err))
	}
	l, err := lesson.Parse(path, text)
	if err != nil {
		return nil, command.Usage(err)
	}
	return l, nil
}

const lessonTemplate = `---
title:
symptom:        # a condition: bank_conflict_pct > 20; docs/reference/lessons.md lists the facts
class:          # memory, compute, latency, launch, occupancy, build, correctness, environment, measurement, method
cause: >-

fix: >-

source: []      # runs, sessions or documents that show it
# fix_id: bank-conflicts/1
# gpus: [sm_89]
# kernels: [attention]
# claim: 0.2    # share of the time that it saves
# tests:        # examples
#   - {name: a column of a tile, want: speaks, facts: {bank_conflict_pct: 88}}
---
`

// editLesson opens the user's editor on a template. A text that cannot be parsed is kept.
func (f *lessonFlags) editLesson(ctx context.Context) (*lesson.Lesson, error) {
	editor := strings.Fields(f.Getenv("VISUAL"))
	if len(editor) == 0 {
		editor = strings.Fields(f.Getenv("EDITOR"))
	}
	if len(editor) == 0 {
		return nil, command.Usage(errors.New("--edit: neither $VISUAL nor $EDITOR is set"))
	}
	dir, err := os.MkdirTemp("", "pawl-lesson-")
	if err != nil {
		return nil, fmt.Errorf("cannot create a file for the editor: %w", err)
	}
	path := filepath.Join(dir, "lesson.md")
	if err := os.WriteFile(path, []byte(lessonTemplate), 0o600); err != nil {
		return nil, fmt.Errorf("cannot create a file for the editor: %w", err)
	}
	cmd := exec.CommandContext(ctx, editor[0], append(editor[1:], path)...) // the user's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f.In, f.Err, f.Err
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("cannot run the editor %s on %s: %w", editor[0], path, err)
	}
	l, err := lessonFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w\n  your text is kept: fix it and run `pawl lesson add %s`", err, path)
	}
	return l, os.RemoveAll(dir)
}

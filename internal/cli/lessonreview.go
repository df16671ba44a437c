package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

func newLessonReview(f *lessonFlags, sub subcommand) {
	c := sub("review NAME", "Confirm or refute a lesson", `Writes a person's word on a lesson beside it, for git. The last review decides the state
of the lesson, before what came of it. An agent, CI and a script cannot review.

Exit code: 0; 1 where a review is refused.`,
		`  pawl lesson review softmax-in-fp16 --confirm --because 'three kernels of ours had it'
  pawl lesson review narrow-loads --refute --because 'the compiler does it since 13.1'`, cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return f.review(ctx, args[0]) })
	c.Flags().BoolVar(&f.confirm, "confirm", false, "it is so")
	c.Flags().BoolVar(&f.refute, "refute", false, "it is not so")
	c.Flags().StringVar(&f.because, "because", "", "why, in a `sentence`; kept with your name")
}

func (f *lessonFlags) review(ctx context.Context, name string) error {
	reason := strings.Join(strings.Fields(f.because), " ")
	switch {
	case f.confirm == f.refute:
		return usageError{errors.New("say either --confirm or --refute")}
	case reason == "" || len(reason) > 1000:
		return usageError{errors.New("--because wants a reason of one to a thousand characters: whoever reads the lesson asks for it")}
	}
	b, root := f.loadLessons()
	s, err := b.Find(name)
	if err != nil {
		return usageError{err}
	}
	who := f.actor(ctx, root)
	if err := f.requirePerson(who, "reviews a lesson"); err != nil {
		return err
	}
	r := lesson.Review{Lesson: s.Name, State: lesson.Confirmed, Reason: reason, By: authorText(who), Time: f.now().UTC().Truncate(time.Second)}
	if r.By == "" {
		return usageError{errors.New("a review has the name of whoever gives it: git config user.name says none")}
	}
	if f.refute {
		r.State = lesson.Refuted
	}
	if s.Reviewed != nil && !r.Time.After(s.Reviewed.Time) {
		r.Time = s.Reviewed.Time.Add(time.Second) // another clock was ahead; the last review must win
	}
	path, err := lesson.Folder{Root: root}.Review(r)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(f.Out, r)
	}
	_, err = fmt.Fprintf(f.Out, "%s\n  %s is %s by %s; commit the file\n", path, s.Name, r.State, r.By)
	return err
}

// requirePerson refuses agents, CI and scripts.
func (f *lessonFlags) requirePerson(who journal.Actor, does string) error {
	if who.Kind != journal.Person {
		return exitError{exitFailed, fmt.Errorf("only a person %s, and this is %s: ask the person you work for", does, authorText(who))}
	}
	if in, ok := f.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return exitError{exitFailed, fmt.Errorf("only a person at a terminal %s, and the input of this command is none", does)}
	}
	return nil
}

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

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

func newLessonReview(f *lessonFlags, sub subcommand) {
	c := sub("review NAME", "Confirm or refute a lesson", `Writes a person's decision about a lesson next to it, for git. The last review decides the
state of the lesson and outranks its outcomes. Agents, CI and scripts cannot review.

Exit code: 0; 1 if the review is refused.`,
		`  pawl lesson review softmax-in-fp16 --confirm --because 'three kernels of ours had it'
  pawl lesson review narrow-loads --refute --because 'the compiler does it since 13.1'`, cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return f.review(ctx, args[0]) })
	c.Flags().BoolVar(&f.confirm, "confirm", false, "the lesson is right")
	c.Flags().BoolVar(&f.refute, "refute", false, "the lesson is wrong")
	c.Flags().StringVar(&f.because, "because", "", "the reason, in one `sentence`; recorded with your name")
}

func (f *lessonFlags) review(ctx context.Context, name string) error {
	reason := strings.Join(strings.Fields(f.because), " ")
	switch {
	case f.confirm == f.refute:
		return command.Usage(errors.New("use either --confirm or --refute"))
	case reason == "" || len(reason) > 1000:
		return command.Usage(errors.New("--because must be a reason of 1 to 1000 characters, for readers of the lesson"))
	}
	b, root := f.loadLessons()
	s, err := b.Find(name)
	if err != nil {
		return command.Usage(err)
	}
	who := f.actor(ctx, root)
	if err := f.requirePerson(who, "review a lesson"); err != nil {
		return err
	}
	r := lesson.Review{Lesson: s.Name, State: lesson.Confirmed, Reason: reason, By: authorText(who), Time: f.now().UTC().Truncate(time.Second)}
	if r.By == "" {
		return command.Usage(errors.New("a review needs the name of its author: git config user.name is not set"))
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
		return command.WriteJSON(f.Out, r)
	}
	_, err = fmt.Fprintf(f.Out, "%s\n  %s is %s by %s; commit the file\n", path, s.Name, r.State, r.By)
	return err
}

// requirePerson refuses agents, CI and scripts.
func (f *lessonFlags) requirePerson(who journal.Actor, does string) error {
	if who.Kind != journal.Person {
		return command.Exit(command.ExitFailed, fmt.Errorf("only a person can %s, but this is %s: ask the person you work for", does, authorText(who)))
	}
	if in, ok := f.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return command.Exit(command.ExitFailed, fmt.Errorf("only a person at a terminal can %s, but the input of this command is not a terminal", does))
	}
	return nil
}

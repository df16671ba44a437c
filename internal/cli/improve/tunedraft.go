package improve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// maxBodyBytes limits the text of a pull request, in bytes. A forge may accept no more than 65,536 characters.
const maxBodyBytes = 60_000

// openDraft commits the change to its own branch and opens a draft pull request, or updates the one that
// is open. The text is generated again from the measurements.
func (f *tuneApply) openDraft(ctx context.Context, s *suite.Suite, r *tune.Report, a applied, contents map[string][]byte) (string, error) {
	_, job, err := f.CurrentJob()
	if err != nil {
		return "", command.Usage(err)
	}
	may := map[string]string{"contents": "write", "pull_requests": "write"}
	c, _, err := f.AtForge("", may, func(format string, args ...any) { fmt.Fprintf(f.Err, format+"\n", args...) })
	if err != nil {
		return "", err
	}
	repo, err := build.Open(ctx, filepath.Dir(a.File))
	if err != nil {
		return "", err
	}
	head, _, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for name, content := range contents {
		file, err := repo.Inside(name)
		if err != nil {
			return "", err
		}
		files[file] = content
	}
	branch, title := "pawl/tune-"+slug(a.Case), fmt.Sprintf("perf: Tune %s, %s", words.Sanitize(a.Case), tune.SpeedupText(a.Speedup, 0, 0))
	_, err = c.Commit(ctx, forge.Change{
		Branch: branch, From: head, Message: title + "\n\n" + words.Sanitize(r.Proof.Sentence) + "\n", Files: files,
	})
	if err != nil {
		return "", err
	}
	base := s.Baseline.Main
	if name, ok := strings.CutPrefix(job.Ref, "refs/heads/"); ok {
		base = name
	}
	pull, err := c.OpenDraft(ctx, forge.Draft{Head: branch, Base: cmp.Or(base, "main"), Title: title, Body: draftBody(r, a)})
	return pull.URL, err
}

// slug turns the name of a case into a part of a branch name.
func slug(name string) string {
	mapped := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, name)
	return strings.Trim(mapped[:min(len(mapped), 80)], "-")
}

// draftBody returns the findings, as far as they fit into a pull request.
func draftBody(r *tune.Report, a applied) string {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n\n```diff\n%s```\n\n", words.MarkdownText(words.Sanitize(r.Proof.Sentence)), strings.ReplaceAll(a.Diff, "```", "'''"))
	text.WriteString("Judged again from the samples of the proof. Merge it when the check is green: the check measures this change like any other.\n\n")
	if len(r.Evaluations) == 0 {
		return text.String()
	}
	var all bytes.Buffer
	if err := tune.NewSuggestions(r).Markdown(&all); err == nil && text.Len()+all.Len() < maxBodyBytes {
		text.Write(all.Bytes())
	}
	return text.String()
}

// lineDiff returns the lines that changed, with the unchanged lines between them.
func lineDiff(before, after string) string {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for len(a) > from && len(b) > from && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	write := func(mark, line string) {
		out.WriteString(mark + strings.TrimRight(line, "\r\n") + "\n")
	}
	a, b = a[from:], b[from:]
	if len(a) != len(b) { // lines were added or removed
		for _, line := range a {
			write("-", line)
		}
		for _, line := range b {
			write("+", line)
		}
		return out.String()
	}
	for i := range a {
		if a[i] == b[i] {
			write(" ", a[i])
			continue
		}
		write("-", a[i])
		write("+", b[i])
	}
	return out.String()
}

package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/sections"
)

// GitHub's limits for a check.
const (
	annotationBatch  = 50
	maxAnnotations   = 500 // pawl's own limit
	annotationTitle  = 255
	annotationText   = 60_000
	checkSummaryMost = 65_000
)

var shaPattern = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// SetCheck sets the state of a named check on a commit and returns its URL. A completed
// check stays completed, unless the new one started after its end. That is another attempt
// and creates a new check run, as GitHub does.
func (c *Client) SetCheck(ctx context.Context, k forge.Check) (string, error) {
	if k.Name == "" || !shaPattern.MatchString(k.SHA) {
		return "", fmt.Errorf("a check needs a name and a full commit SHA, got %q on %q", forge.OneLine(k.Name), forge.OneLine(k.SHA))
	}
	if (k.Status == forge.Completed) != (k.Conclusion != "") {
		return "", fmt.Errorf("check %q has status %s and conclusion %q: a completed check must have a conclusion, any other must not", k.Name, k.Status, k.Conclusion)
	}
	if k.Started.IsZero() {
		k.Started = c.Now()
	}
	ctx = c.withBudget(ctx)
	address, err := c.setCheck(ctx, newCheck(k, c.Now()))
	return address, c.wrapError(err, "cannot set check %q on %.12s", k.Name, k.SHA)
}

func (c *Client) setCheck(ctx context.Context, k *check) (string, error) {
	for range 30 {
		runs, err := c.checkRuns(ctx, k)
		if err != nil {
			return "", err
		}
		if len(runs) == 0 || k.newAttempt(runs[len(runs)-1]) {
			err = c.createCheck(ctx, k)
		} else {
			var done bool
			if done, err = c.updateChecks(ctx, k, runs); done {
				return runs[len(runs)-1].GetHTMLURL(), nil
			}
		}
		switch {
		case err == nil, shouldRetry(err):
		case status(err) == http.StatusConflict:
			if err := c.Sleep(ctx, forge.FirstPause); err != nil {
				return "", err
			}
		default:
			return "", err
		}
	}
	return "", fmt.Errorf("%w: the check keeps changing", ErrBusy)
}

// check is a check to be set.
type check struct {
	forge.Check
	id      string // distinguishes pawl's check runs from a job with the same name
	ended   time.Time
	written map[int64]bool // runs that accepted pawl's text, which GitHub may have changed
	created bool           // in this call, so it is not an earlier attempt
}

func newCheck(k forge.Check, now time.Time) *check {
	k.Title = forge.OneLine(k.Title)
	if k.Title == "" {
		k.Title = k.Name
	}
	k.Summary = sections.Shorten(sections.Normalize(k.Summary), checkSummaryMost)
	if len(k.Annotations) > maxAnnotations {
		k.Annotations = k.Annotations[:maxAnnotations]
	}
	return &check{Check: k, id: "pawl:" + k.Name, ended: now, written: map[int64]bool{}}
}

// newAttempt reports whether an unfinished check follows a finished one.
func (k *check) newAttempt(newest *gh.CheckRun) bool {
	return k.Status != forge.Completed && newest.GetStatus() == string(forge.Completed) &&
		k.Started.After(newest.GetCompletedAt().Time) && !k.created
}

// checkRuns returns pawl's check runs with that name on that commit, newest last.
func (c *Client) checkRuns(ctx context.Context, k *check) ([]*gh.CheckRun, error) {
	runs, err := pages(10, func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		list, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, c.Repo.Owner, c.Repo.Name, k.SHA,
			&gh.ListCheckRunsOptions{CheckName: &k.Name, Filter: new("all"), ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return list.CheckRuns, resp, nil
	})
	runs = slices.DeleteFunc(runs, func(r *gh.CheckRun) bool { return r.GetExternalID() != k.id })
	slices.SortFunc(runs, func(a, b *gh.CheckRun) int { return cmp.Compare(a.GetID(), b.GetID()) })
	return runs, err
}

func (c *Client) createCheck(ctx context.Context, k *check) error {
	u := k.update(annotationsOf(k.Annotations[:min(len(k.Annotations), annotationBatch)]))
	r, _, err := c.api.Checks.CreateCheckRun(ctx, c.Repo.Owner, c.Repo.Name, gh.CreateCheckRunOptions{
		Name: k.Name, HeadSHA: k.SHA, ExternalID: &k.id, StartedAt: &gh.Timestamp{Time: k.Started.UTC()},
		Status: u.Status, Conclusion: u.Conclusion, CompletedAt: u.CompletedAt, DetailsURL: u.DetailsURL, Output: u.Output,
	})
	if err == nil {
		k.written[r.GetID()] = true
		k.created = true
	}
	return err
}

// updateChecks does one missing write, or reports that none is missing. Two runs of one
// attempt can exist if the response to the first was lost. The newest counts, and the
// others are completed too.
func (c *Client) updateChecks(ctx context.Context, k *check, runs []*gh.CheckRun) (done bool, err error) {
	newest := runs[len(runs)-1]
	if k.Status != forge.Completed && rank(newest.GetStatus()) > rank(string(k.Status)) {
		return true, nil
	}
	for _, r := range runs[:len(runs)-1] {
		if k.Status == forge.Completed && r.GetStatus() != string(forge.Completed) {
			return false, c.updateCheck(ctx, k, r, nil)
		}
	}
	missing, err := c.missing(ctx, k, newest)
	if err != nil {
		return false, err
	}
	if len(missing) == 0 && k.same(newest) {
		return true, nil
	}
	return false, c.updateCheck(ctx, k, newest, missing[:min(len(missing), annotationBatch)])
}

func (c *Client) updateCheck(ctx context.Context, k *check, r *gh.CheckRun, some []forge.Annotation) error {
	_, _, err := c.api.Checks.UpdateCheckRun(ctx, c.Repo.Owner, c.Repo.Name, r.GetID(), k.update(annotationsOf(some)))
	if err == nil {
		k.written[r.GetID()] = true
	}
	return err
}

func rank(status string) int {
	return slices.Index([]string{string(forge.Queued), string(forge.InProgress), string(forge.Completed)}, status)
}

func (k *check) update(some []*gh.CheckRunAnnotation) gh.UpdateCheckRunOptions {
	u := gh.UpdateCheckRunOptions{
		Name: k.Name, ExternalID: &k.id, Status: new(string(k.Status)),
		Output: &gh.CheckRunOutput{Title: &k.Title, Summary: &k.Summary, Annotations: some},
	}
	if k.URL != "" {
		u.DetailsURL = &k.URL
	}
	if k.Status == forge.Completed {
		u.Conclusion = new(string(k.Conclusion))
		u.CompletedAt = &gh.Timestamp{Time: k.ended.UTC()}
	}
	return u
}

func (k *check) same(r *gh.CheckRun) bool {
	state := r.GetStatus() == string(k.Status) && r.GetConclusion() == string(k.Conclusion)
	text := strings.TrimSpace(sections.Normalize(r.GetOutput().GetSummary())) == strings.TrimSpace(k.Summary) &&
		r.GetOutput().GetTitle() == k.Title && (k.URL == "" || r.GetDetailsURL() == k.URL)
	return state && (text || k.written[r.GetID()])
}

// missing returns the annotations that a check run lacks, because GitHub appends to
// existing ones.
func (c *Client) missing(ctx context.Context, k *check, r *gh.CheckRun) ([]forge.Annotation, error) {
	if len(k.Annotations) == 0 || r.GetOutput().GetAnnotationsCount() == 0 {
		return k.Annotations, nil
	}
	there, err := pages(20, func(o gh.ListOptions) ([]*gh.CheckRunAnnotation, *gh.Response, error) {
		return c.api.Checks.ListCheckRunAnnotations(ctx, c.Repo.Owner, c.Repo.Name, r.GetID(), &o)
	})
	if err != nil {
		return nil, err
	}
	has := map[string]int{}
	for _, a := range there {
		has[annotationID(a)]++
	}
	var missing []forge.Annotation
	for _, a := range k.Annotations {
		if id := annotationID(annotationsOf([]forge.Annotation{a})[0]); has[id] > 0 {
			has[id]--
			continue
		}
		missing = append(missing, a)
	}
	return missing, nil
}

func annotationID(a *gh.CheckRunAnnotation) string {
	return fmt.Sprintf("%s\x00%d\x00%d\x00%s\x00%s\x00%s", a.GetPath(), a.GetStartLine(), a.GetEndLine(), a.GetAnnotationLevel(),
		strings.TrimSpace(a.GetTitle()), strings.TrimSpace(a.GetMessage()))
}

func annotationsOf(some []forge.Annotation) []*gh.CheckRunAnnotation {
	var out []*gh.CheckRunAnnotation
	for _, a := range some {
		line := max(a.Line, 1)
		one := &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: new(line), EndLine: new(max(a.EndLine, line)),
			AnnotationLevel: new(string(a.Level)), Message: new(sections.Prefix(sections.Normalize(a.Message), annotationText)),
		}
		if a.Title != "" {
			one.Title = new(sections.Prefix(forge.OneLine(a.Title), annotationTitle))
		}
		out = append(out, one)
	}
	return out
}

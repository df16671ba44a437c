package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Run returns one workflow run.
func (c *Client) Run(ctx context.Context, id int64) (forge.Run, error) {
	r, _, err := c.api.Actions.GetWorkflowRunByID(c.withBudget(ctx), c.Repo.Owner, c.Repo.Name, id)
	if err != nil {
		return forge.Run{}, c.wrapError(err, "cannot read workflow run %d", id)
	}
	return runOf(r), nil
}

// Runs returns runs, newest first: at most the 1,000 that GitHub returns for a query.
func (c *Client) Runs(ctx context.Context, q forge.RunQuery) ([]forge.Run, error) {
	ctx = c.withBudget(ctx)
	o := &gh.ListWorkflowRunsOptions{HeadSHA: q.HeadSHA, ExcludePullRequests: true}
	found, err := c.listRuns(ctx, q.Workflow, o)
	if err != nil {
		return nil, c.wrapError(err, "cannot list the runs of workflow %q", q.Workflow)
	}
	var runs []forge.Run
	for _, r := range found {
		runs = append(runs, runOf(r))
	}
	return runs, nil
}

func (c *Client) listRuns(ctx context.Context, workflow string, o *gh.ListWorkflowRunsOptions) ([]*gh.WorkflowRun, error) {
	return pages(11, func(page gh.ListOptions) ([]*gh.WorkflowRun, *gh.Response, error) {
		o.ListOptions = page
		var found *gh.WorkflowRuns
		var resp *gh.Response
		var err error
		if workflow == "" {
			found, resp, err = c.api.Actions.ListRepositoryWorkflowRuns(ctx, c.Repo.Owner, c.Repo.Name, o)
		} else {
			found, resp, err = c.api.Actions.ListWorkflowRunsByFileName(ctx, c.Repo.Owner, c.Repo.Name, path.Base(workflow), o)
		}
		if err != nil {
			return nil, resp, err
		}
		return found.WorkflowRuns, resp, nil
	})
}

func runOf(r *gh.WorkflowRun) forge.Run {
	file, _, _ := strings.Cut(r.GetPath(), "@")
	head := r.GetHeadRepository().GetID()
	return forge.Run{
		ID: r.GetID(), Attempt: r.GetRunAttempt(), Workflow: file, Event: r.GetEvent(), Pull: r.GetEvent() == "pull_request",
		Head:   forge.Head{Repo: head, Branch: r.GetHeadBranch(), SHA: r.GetHeadSHA()},
		Fork:   head != r.GetRepository().GetID(),
		Status: r.GetStatus(), Conclusion: r.GetConclusion(), URL: r.GetHTMLURL(),
		Created: r.GetCreatedAt().Time,
	}
}

// Artifacts returns the artifacts of a run.
func (c *Client) Artifacts(ctx context.Context, run int64) ([]forge.Artifact, error) {
	ctx = c.withBudget(ctx)
	found, err := pages(20, func(o gh.ListOptions) ([]*gh.Artifact, *gh.Response, error) {
		list, resp, err := c.api.Actions.ListWorkflowRunArtifacts(ctx, c.Repo.Owner, c.Repo.Name, run, &o)
		return list.GetArtifacts(), resp, err
	})
	if err != nil {
		return nil, c.wrapError(err, "cannot list the artifacts of workflow run %d", run)
	}
	return artifactsOf(found, run), nil
}

// ArtifactsNamed returns the artifacts with that name of all runs, newest first.
func (c *Client) ArtifactsNamed(ctx context.Context, name string) ([]forge.Artifact, error) {
	ctx = c.withBudget(ctx)
	found, err := pages(50, func(o gh.ListOptions) ([]*gh.Artifact, *gh.Response, error) {
		list, resp, err := c.api.Actions.ListArtifacts(ctx, c.Repo.Owner, c.Repo.Name, &gh.ListArtifactsOptions{Name: &name, ListOptions: o})
		return list.GetArtifacts(), resp, err
	})
	if err != nil {
		return nil, c.wrapError(err, "cannot list the artifacts named %q", name)
	}
	return artifactsOf(found, 0), nil
}

func artifactsOf(found []*gh.Artifact, run int64) []forge.Artifact {
	var all []forge.Artifact
	for _, a := range found {
		one := forge.Artifact{
			ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Expired: a.GetExpired(),
			Run: run, Created: a.GetCreatedAt().Time,
		}
		if one.Run == 0 {
			one.Run = a.GetWorkflowRun().GetID()
		}
		all = append(all, one)
	}
	return all
}

// Download writes an artifact, which is a ZIP file, to w. If it is longer than limit bytes,
// it fails and writes nothing beyond the limit. An interrupted transfer is resumed.
func (c *Client) Download(ctx context.Context, a forge.Artifact, w io.Writer, limit int64) error {
	ctx = c.withBudget(ctx)
	if a.Size > limit {
		return fmt.Errorf("cannot download artifact %d: it has %d bytes, the max is %d", a.ID, a.Size, limit)
	}
	out := &bounded{w: w, left: limit}
	var err error
	for try := range 5 {
		if err = c.fetch(ctx, a, out); err == nil || out.err != nil || ctx.Err() != nil || status(err) != 0 {
			break
		}
		c.Log("download of artifact %d was interrupted after %d bytes: %v", a.ID, out.done, err)
		if sleepErr := c.Sleep(ctx, forge.FirstPause<<try); sleepErr != nil {
			return sleepErr
		}
	}
	return c.wrapError(err, "cannot download artifact %d", a.ID)
}

// fetch gets the download URL, which is valid for a minute and needs no token, and appends
// what out is missing.
func (c *Client) fetch(ctx context.Context, a forge.Artifact, out *bounded) error {
	address, _, err := c.api.Actions.DownloadArtifact(ctx, c.Repo.Owner, c.Repo.Name, a.ID, 2)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.web.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the artifact store returned %s", resp.Status)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, out.done); err != nil {
		return err
	}
	_, err = io.Copy(out, resp.Body)
	return err
}

// bounded passes on a limited number of bytes and counts them.
type bounded struct {
	w          io.Writer
	done, left int64
	err        error // error of w, or the limit: do not retry
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		b.err = fmt.Errorf("it is longer than the max of %d bytes", b.done+b.left)
		return 0, b.err
	}
	n, err := b.w.Write(p)
	b.done, b.left, b.err = b.done+int64(n), b.left-int64(n), err
	return n, err
}

// Job is a job that is running or waiting for a runner.
type Job struct {
	ID, RunID int64
	Labels    []string
	Created   time.Time
	Running   bool
	Runner    string // name of the runner that took it
}

// QueuedJobs returns the jobs that wait for a runner.
func (c *Client) QueuedJobs(ctx context.Context) ([]Job, error) {
	jobs, err := c.LiveJobs(ctx)
	return slices.DeleteFunc(jobs, func(j Job) bool { return j.Running }), err
}

// LiveJobs returns the jobs that are running or waiting for a runner. A job can wait in a
// run whose other jobs have started.
func (c *Client) LiveJobs(ctx context.Context) ([]Job, error) {
	ctx = c.withBudget(ctx)
	var jobs []Job
	seen := map[int64]bool{}
	for _, state := range []string{"queued", "in_progress"} {
		runs, err := c.listRuns(ctx, "", &gh.ListWorkflowRunsOptions{Status: state, ExcludePullRequests: true})
		if err != nil {
			return nil, c.wrapError(err, "cannot list the runs with status %s", state)
		}
		for _, r := range runs {
			if seen[r.GetID()] {
				continue
			}
			seen[r.GetID()] = true
			live, err := c.liveJobs(ctx, r.GetID())
			if errors.Is(err, ErrGone) {
				continue // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, live...)
		}
	}
	return jobs, nil
}

func (c *Client) liveJobs(ctx context.Context, run int64) ([]Job, error) {
	found, err := pages(10, func(o gh.ListOptions) ([]*gh.WorkflowJob, *gh.Response, error) {
		list, resp, err := c.api.Actions.ListWorkflowJobs(ctx, c.Repo.Owner, c.Repo.Name, run, &gh.ListWorkflowJobsOptions{Filter: "latest", ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return list.Jobs, resp, nil
	})
	if err != nil {
		return nil, c.wrapError(err, "cannot list the jobs of workflow run %d", run)
	}
	var jobs []Job
	for _, j := range found {
		if status := j.GetStatus(); status == "queued" || status == "in_progress" {
			jobs = append(jobs, Job{
				ID: j.GetID(), RunID: j.GetRunID(), Labels: j.Labels, Created: j.GetCreatedAt().Time,
				Running: status == "in_progress", Runner: j.GetRunnerName(),
			})
		}
	}
	return jobs, nil
}
